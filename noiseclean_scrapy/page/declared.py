"""What a page's metadata says of its content: summary, texts and kind of page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.page.linked_data import (
    is_json_ld,
    is_wrapped,
    plain_line,
    read_article,
    read_damaged_documents,
    read_documents,
    things,
    type_names,
)
from noiseclean_scrapy.page.parse import unescape

if TYPE_CHECKING:
    from lxml.etree import _Element

_DESCRIPTIONS = frozenset({"description", "og:description", "twitter:description"})
_BODIES = ("articleBody", "reviewBody")
_PARTS = {"Product": "description", "ProductGroup": "description"} | dict.fromkeys(
    ("DiscussionForumPosting", "Question", "Answer"), "text"
)
"""Types whose text is content, but not all of it: the property that has it."""
KINDS = {
    "article": "Article NewsArticle BlogPosting TechArticle ReportageNewsArticle ScholarlyArticle",
    "discussion": "DiscussionForumPosting QAPage",
    "product": "Product ProductGroup product og:product product.item",
}
"""Types of JSON-LD and og:type by the kind of page that they declare."""
_KIND_OF = {name: kind for kind, names in KINDS.items() for name in names.split()}
_TITLES = ("og:title", "twitter:title")
_SITE_NAME = "og:site_name"
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Declared:
    """What JSON-LD and META declare.

    `body` is all of the content (an article's text), `parts` are some of it (a product's
    description, posts), one a line; empty where there is none or it cannot be read, cut off at
    100,000 characters. `kinds` are some of `KINDS`. `titles` are the page's: that of META, then
    that of the article in JSON-LD, `wrapped_title` is that of JSON-LD in a comment or CDATA, or
    of a damaged one; `site_names` are what the page calls its site.
    """

    body: str = ""
    parts: str = ""
    kinds: frozenset[str] = frozenset()
    titles: tuple[str, ...] = ()
    wrapped_title: str = ""
    site_names: tuple[str, ...] = ()


def read_metadata(nodes: Iterable[_Element]) -> tuple[str, Declared]:
    """The longest of the META descriptions, and what META and SCRIPT elements declare.

    >>> from lxml.html import document_fromstring
    >>> head = '<meta name="description" content="A flood. ">'
    >>> head += '<script type="application/ld+json">%s</script><p>It rose.'
    >>> data = '{"@type": "NewsArticle", "articleBody": "It rose."}'
    >>> root = document_fromstring(head % data)
    >>> description, declared = read_metadata(root.iter("meta", "script"))
    >>> description, declared.body, set(declared.kinds)
    ('A flood.', 'It rose.', {'article'})
    """
    descriptions: list[str] = []
    types: list[str] = []
    lines: dict[str, str] = {}
    scripts: list[_Element] = []
    for node in nodes:
        if node.tag.endswith("script"):
            scripts.append(node)
            continue
        names = _meta_names(node)
        if not _DESCRIPTIONS.isdisjoint(names):
            descriptions.append(" ".join(node.get("content", "").split()))
        if "og:type" in names:
            types.append(node.get("content", "").strip())
        for name in names:
            if name in _TITLES or name == _SITE_NAME:
                lines.setdefault(name, plain_line(node.get("content", "")))
    return max(descriptions, key=len, default=""), _declared(scripts, types, lines)


def _declared(scripts: Sequence[_Element], types: list[str], lines: Mapping[str, str]) -> Declared:
    bodies: list[str] = []
    parts: list[str] = []
    # The weights of `evidence` are fitted without what is wrapped or damaged: only a title.
    plain: list[_Element] = []
    wrapped: list[_Element] = []
    for script in filter(is_json_ld, scripts):
        (wrapped if is_wrapped(script.text or "") else plain).append(script)
    damaged: list[_Element] = []
    documents = list(read_documents(plain, damaged))
    others = (*read_documents(wrapped, damaged), *read_damaged_documents(damaged))
    for thing in things(documents):
        names = type_names(thing)
        types += names
        bodies += _texts(thing, _BODIES)
        parts += _texts(thing, dict.fromkeys(_PARTS[name] for name in names if name in _PARTS))
    article = read_article(documents)
    meta_title = next((lines[name] for name in _TITLES if lines.get(name)), "")
    site_names = (lines.get(_SITE_NAME, ""), article.publisher)
    return Declared(
        body=_plain(max(bodies, key=len, default="")),
        parts=_joined(parts),
        kinds=frozenset(_KIND_OF[name] for name in types if name in _KIND_OF),
        titles=tuple(filter(None, (meta_title, article.headline))),
        wrapped_title=read_article(others).headline if others else "",
        site_names=tuple(dict.fromkeys(filter(None, site_names))),
    )


def _meta_names(node: _Element) -> tuple[str, str]:
    return node.get("name", "").strip().lower(), node.get("property", "").strip().lower()


def _joined(parts: Iterable[str]) -> str:
    """Different texts, one a line, as far as all of them are read."""
    kept: dict[str, None] = {}
    length = 0
    for text in dict.fromkeys(parts):
        if length > _LONGEST:
            break
        kept[plain := _plain(text)] = None
        length += len(plain) + 1
    return "\n".join(kept)[:_LONGEST]


def _texts(thing: dict[str, Any], names: Iterable[str]) -> list[str]:
    return [text for name in names if isinstance(text := thing.get(name), str)]


def _plain(text: str) -> str:
    return " ".join(unescape(text[:_LONGEST]).split())
