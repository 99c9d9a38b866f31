"""What a page's metadata says of its content: summary, texts and kind of page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
_DEEPEST = 20
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Declared:
    """What JSON-LD and og:type declare.

    `body` is all of the content (an article's text), `parts` are some of it (a product's
    description, posts), one a line; empty where there is none or it cannot be read, cut off at
    100,000 characters. `kinds` are some of `KINDS`.
    """

    body: str = ""
    parts: str = ""
    kinds: frozenset[str] = frozenset()


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
    return max(descriptions, key=len, default=""), _declared(scripts, types)


def _declared(scripts: Iterable[_Element], types: list[str]) -> Declared:
    bodies: list[str] = []
    parts: list[str] = []
    for thing in _things(scripts):
        own = thing.get("@type")
        names = [name for name in (own if isinstance(own, list) else [own]) if type(name) is str]
        types += names
        bodies += _texts(thing, _BODIES)
        parts += _texts(thing, [_PARTS[name] for name in names if name in _PARTS])
    return Declared(
        body=_plain(max(bodies, key=len, default="")),
        parts="\n".join(dict.fromkeys(map(_plain, parts))),
        kinds=frozenset(_KIND_OF[name] for name in types if name in _KIND_OF),
    )


def _meta_names(node: _Element) -> tuple[str, str]:
    return node.get("name", "").strip().lower(), node.get("property", "").strip().lower()


def _things(scripts: Iterable[_Element]) -> Iterator[dict[str, Any]]:
    """All objects in the page's JSON-LD, outer ones first."""
    for node in scripts:
        if node.get("type", "").partition(";")[0].strip().lower() == "application/ld+json":
            try:
                yield from _objects(json.loads(node.text or "", strict=False), 0)
            except (ValueError, RecursionError):
                continue


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _objects(part, depth + 1)


def _texts(thing: dict[str, Any], names: Sequence[str]) -> list[str]:
    return [text for name in names if isinstance(text := thing.get(name), str)]


def _plain(text: str) -> str:
    return " ".join(unescape(text[:_LONGEST]).split())
