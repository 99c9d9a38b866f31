"""The few parts of a page that tell of its author, its date and the like, as a small document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, cast

from lxml import html
from lxml.etree import XPath

from noiseclean_scrapy import kernels
from noiseclean_scrapy.page.characters import writable
from noiseclean_scrapy.page.days import shown_days
from noiseclean_scrapy.page.document import LANGUAGE_ATTRIBUTES, named_elements
from noiseclean_scrapy.page.linked_data import (
    LONGEST_VALUE,
    is_json_ld,
    own_json,
    without_long_strings,
)
from noiseclean_scrapy.page.parse import document_roots, parse_html
from noiseclean_scrapy.page.sources import Html
from noiseclean_scrapy.page.tags import local_name
from noiseclean_scrapy.page.urls import LONGEST_ADDRESS

if TYPE_CHECKING:
    from lxml.etree import _Element

_NAMED_FOOTERS = XPath("descendant::div[contains(@class, '-footer')]")
_POST_FOOTER = re.compile("(?:post|entry|article)-footer")
TELLING_MARKS = ("class", "id", "itemprop", "property", "rel")
TELLING_TAGS = frozenset({"time", "abbr", "h1"})
LEADING_MARKS = ("class", "id")
ELSEWHERE_TAGS = frozenset({"aside", "footer", "nav", "form", "select"})
TELLS, LEADS_AWAY = 1, 2
"""Bits of a mark: that it tells of author or date; that what is in it is of other things."""
AUTHOR_MARK = "author(?!i[sz]|ing|ity|itat)"
"""What is in marks of authors, unlike `authorization` and `authoring`."""
_TELLING = re.compile(
    rf"{AUTHOR_MARK}|byl(?:ine)?\b|writer|journalist|screenname|posted|publish|submitted|date|time|fecha"
    r"|article.?info|post.?info|post.?meta|entry.?meta|source|zuozhe|bianji",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"comment|related|sidebar|footer|widget(?! Blog\b)|teaser",  # Blogger's posts are a widget
    re.IGNORECASE,
)
_CONTENT_TAGS = ("h1", "main")
_AUTHOR_AND_DATE = 2
_MOST_PARTS = 200
_RELATIONS = frozenset({"canonical", "image_src"})  # of LINK; most others load something
_MOST_TELLING = 40
_MOST_DESCENDANTS = 40
_LONGEST_PART = 500
LONGEST_LINE = 150
"""Characters of a line that tells who published when."""
_LONGEST_MARK = 1000
_MOST_JSON = 200_000
_MOST_LONG = 20  # values that are longer than most, as addresses may be
_MOST_UNREADABLE = 5_000
_PARAGRAPHS = frozenset({"p", "li", "dd", "blockquote"})
_SHORTEST_SENTENCE = 40  # characters; what is shorter may say who published when
_SENTENCE_END = re.compile(r"[.!?…。！？][^\w.!?…。！？]*$")
_PLAIN_NAME = re.compile(r"[a-z][\w.-]*", re.IGNORECASE | re.ASCII)
_LANGUAGE_CODE = re.compile(r"(?!utf)([a-z]{2,3})(?:[-_]|$)")
_NEW_CODES = {"iw": "he", "in": "id", "ji": "yi"}


def page_facts(source: Html) -> _Element:
    """A small document of what tells facts: META, LINK, JSON-LD, short parts marked as such.

    It is a copy, bounded in size, so that nobody changes the page, and no page takes long.
    """
    root = parse_html(source).root
    facts: _Element = html.Element("html", {"lang": _html_language(root)})
    head, body = html.Element("head"), html.Element("body")
    facts.extend([head, body])
    head.extend(_head_parts(root))
    body.extend(map(_copy, _telling_parts(root)))
    _drop_long_values(facts)
    return facts


def _drop_long_values(facts: _Element) -> None:
    """Leave out what is long in attributes, titles, JSON: libraries read it in quadratic time."""
    left = _MOST_LONG
    for node in facts.iter():
        for name, value in node.items():
            if len(value) > LONGEST_VALUE:
                left -= 1
                if left < 0 or len(value) > LONGEST_ADDRESS:
                    del node.attrib[name]
        if node.tag == "title" and len(text_of(node)) > LONGEST_ADDRESS:
            node.clear()
    for script in facts.iterfind("head/script"):
        script.text = without_long_strings(script.text or "")


def _copy(node: _Element) -> _Element:
    copy = deepcopy(node)
    name = local_name(node.tag)
    copy.tag, copy.tail = name if _PLAIN_NAME.fullmatch(name) else "div", None
    return copy


def _head_parts(root: _Element) -> Iterator[_Element]:
    """Copies of META, telling LINK, BASE, TITLE and JSON-LD, of this without what others wrote."""
    reviews = _reviews()
    left, json_left, unreadable = _MOST_PARTS, _MOST_JSON, _MOST_UNREADABLE
    # What JSON-LD says goes first, however many others there are.
    scripts = named_elements(root, ("script",))
    for node in chain(scripts, named_elements(root, ("base", "link", "meta", "title"))):
        text = own = None
        if local_name(node.tag) == "script":
            text = writable(node.text or "")
            if not is_json_ld(node) or len(text) > json_left:
                continue
            own = own_json(text)
            if own is not None:
                json_left -= len(text)
            else:
                # It is searched by expressions that take quadratic time.
                unreadable -= len(text)
                if unreadable < 0:
                    continue
        elif _is_others(node, reviews):
            continue
        part = _copy(node)
        if text is not None:
            part.text = text if own is None else own
        yield part
        left -= 1
        if not left:
            return


def _is_others(node: _Element, reviews: _Above) -> bool:
    """Whether a META is of a review, or a LINK loads something."""
    if local_name(node.tag) == "link":
        return _RELATIONS.isdisjoint(node.get("rel", "").lower().split())
    return bool(node.get("itemprop")) and reviews.nearest(node) is not None


def _telling_parts(root: _Element) -> Iterator[_Element]:
    """Short elements outside asides and comments whose tag or class tells of author or date."""
    chosen: set[_Element] = set()
    prose, reviews = _Prose(), _reviews()

    def candidates() -> Iterator[_Element]:
        around = around_content(root)
        yield from telling_elements(root, around)
        if sum(node.tag != "h1" for node in chosen) < _AUTHOR_AND_DATE:
            yield from _telling_in_footers(root, around)

    for node in candidates():
        if not _is_short(node) or node in prose or reviews.nearest(node) is not None:
            continue
        if _shows_code(node):
            continue
        if chosen.isdisjoint(node.iterancestors()):
            above = None if _shows_day(text_of(node)) else node.getparent()
            if above is not None and _is_byline(above) and chosen.isdisjoint(above.iter()):
                node = above  # the others in it come with it
            chosen.add(node)
            yield node
            if len(chosen) == _MOST_TELLING:
                return


def _shows_code(node: _Element) -> bool:
    """Whether code is what an element is marked for, as an option in a manual."""
    return node.tag not in TELLING_TAGS and any(True for _ in node.iter("code", "kbd", "samp"))


class _Above:
    """Finds what stands above elements; it is remembered by parent, since many have the same."""

    def __init__(self, is_wanted: Callable[[_Element], bool]) -> None:
        self.is_wanted = is_wanted
        self.known: dict[_Element, _Element | None] = {}

    def nearest(self, node: _Element) -> _Element | None:
        """The nearest element above that is a wanted one."""
        passed: list[_Element] = []
        found = None
        for above in node.iterancestors():
            if above in self.known:
                found = self.known[above]
                break
            passed.append(above)
            if self.is_wanted(above):
                found = above
                break
        self.known.update(dict.fromkeys(passed, found))
        return found


class _Prose:
    """Tells which elements are times that a sentence mentions."""

    def __init__(self) -> None:
        self._paragraphs = _Above(lambda node: node.tag in _PARAGRAPHS)
        self._known: dict[_Element, bool] = {}

    def __contains__(self, node: _Element) -> bool:
        if node.tag != "time" or node.get("pubdate") is not None or _is_marked(node):
            return False
        paragraph = self._paragraphs.nearest(node)
        if paragraph is None or _is_marked(paragraph):
            return False
        if paragraph not in self._known:
            self._known[paragraph] = _is_sentence(paragraph)
        return self._known[paragraph]


def _is_sentence(paragraph: _Element) -> bool:
    if not _is_short(paragraph):
        return local_name(paragraph.tag) == "p"  # others may hold a whole article
    return reads_as_sentence(" ".join(filter(None, _texts_but_times(paragraph))))


def reads_as_sentence(text: str) -> bool:
    """Whether a text is longer than most lines on author and day, and ends as sentences do."""
    return len(text) >= _SHORTEST_SENTENCE and bool(_SENTENCE_END.search(text))


def _texts_but_times(node: _Element) -> Iterator[str | None]:
    """The pieces of text in a short element that stand in no TIME."""
    yield node.text
    for child in node:
        if isinstance(child.tag, str) and child.tag != "time":
            yield from _texts_but_times(child)
        yield child.tail


def _reviews() -> _Above:
    """Finds the review above, in the page of a product, as its buyers write them."""
    products = _Above(lambda node: node.get("itemtype", "").endswith("/Product"))
    return _Above(
        lambda node: node.get("itemprop") == "review" and products.nearest(node) is not None
    )


def telling_elements(root: _Element, around: set[_Element]) -> Iterable[_Element]:
    """The elements in BODY whose tag or marks tell of author or date, in document order.

    None that stands in an aside, a comment and the like, unless that is `around` the content.
    """
    if kernels.nodes is not None:
        roots = document_roots(root.getroottree().getroot())
        return chain.from_iterable(
            kernels.nodes.telling(part, _read_mark, around) for part in roots
        )
    elements = chain.from_iterable(body.iter("*") for body in _outermost(root, "body"))
    elsewhere = _elsewhere(around)
    return (node for node in elements if _is_telling(node) and elsewhere.nearest(node) is None)


def _elsewhere(around: set[_Element]) -> _Above:
    """Finds what leads away above an element, but for what the content stands in."""
    return _Above(lambda node: _leads_away(node) and node not in around)


def around_content(root: _Element) -> set[_Element]:
    """The elements that hold an H1 or MAIN: their classes tell of what stands beside it."""
    around: set[_Element] = set()
    for part in document_roots(root.getroottree().getroot()):
        for node in named_elements(part, _CONTENT_TAGS):
            for above in node.iterancestors():
                if above in around:
                    break
                around.add(above)
    return around


def _outermost(root: _Element, name: str) -> Iterator[_Element]:
    """The elements of a name in the whole document that stand in none of the same name."""
    around = _Above(lambda node: node.tag == name)
    for part in document_roots(root.getroottree().getroot()):
        for node in named_elements(part, (name,)):
            if node.tag == name and around.nearest(node) is None:
                yield node


def _telling_in_footers(root: _Element, around: set[_Element]) -> Iterator[_Element]:
    """The elements that tell of author or date in the article's own footer, which is no aside."""
    for footer in _own_footers(root, around):
        elsewhere = _elsewhere(around)
        elsewhere.known.update(dict.fromkeys((footer, *_footers(footer))))
        for node in footer.iterdescendants("*"):
            if _is_telling(node) and elsewhere.nearest(node) is None:
                yield node


def _own_footers(root: _Element, around: set[_Element]) -> list[_Element]:
    """The footers in the ARTICLE with most of the text; without one, that of the only post."""
    elsewhere = _elsewhere(around)
    footers = [node for node in _footers(root) if elsewhere.nearest(node) is None]
    articles = _Above(lambda node: node.tag == "article")
    inner = {node: articles.nearest(node) for node in footers}
    if any(article is not None for article in inner.values()):
        lengths = {node: len(text_of(node)) for node in _outermost(root, "article")}
        longest = max(lengths, key=lengths.__getitem__)
        is_main = 2 * lengths[longest] > sum(lengths.values())
        return [node for node in footers if is_main and inner[node] is longest]
    posts = [node for node in footers if node.tag != "footer"]
    return posts if len(posts) == 1 else []


def _footers(node: _Element) -> list[_Element]:
    if not _NAMED_FOOTERS(node):  # as most; no object is made of each DIV to see it
        return list(node.iterdescendants("footer"))
    return [
        part
        for part in node.iterdescendants("footer", "div")
        if part.tag == "footer" or _POST_FOOTER.search(part.get("class", ""))
    ]


def _shows_day(text: str) -> bool:
    # What shows days of numbers alone is not looked for: libraries misread them (2017/03/22).
    return any(True for _ in shown_days(text, numbers=False))


def _is_telling(node: _Element) -> bool:
    # Asked of every element of a page: a list of its attributes would take twice the time.
    return node.tag in TELLING_TAGS or _is_marked(node)


def _is_marked(node: _Element) -> bool:
    return any(_read_mark(value) & TELLS for name in TELLING_MARKS if (value := node.get(name)))


def _is_byline(node: _Element) -> bool:
    """Whether an element is one short line with a day, several times or a headline and its time."""
    if local_name(node.tag) == "body" or not _is_short(node):
        return False
    text = line_of(node)
    if len(text) > LONGEST_LINE:
        return False
    return _shows_day(text) or len(list(node.iter("time", "h1"))) > 1


def line_of(node: _Element) -> str:
    """All text in an element as one line."""
    return " ".join(text_of(node).split())


def text_of(node: _Element) -> str:
    """All text in an element, a blank between its pieces."""
    return " ".join(cast("Iterator[str]", node.itertext()))


def _leads_away(node: _Element) -> bool:
    name = local_name(node.tag)
    if name in ELSEWHERE_TAGS:
        return True
    marks = () if name == "body" else LEADING_MARKS
    return any(_read_mark(node.get(mark, "")) & LEADS_AWAY for mark in marks)


def _read_mark(mark: str) -> int:
    return _read_short(mark[:_LONGEST_MARK])


@lru_cache(maxsize=10_000)
def _read_short(mark: str) -> int:
    return TELLS * bool(_TELLING.search(mark)) | LEADS_AWAY * bool(_ELSEWHERE.search(mark))


def _is_short(node: _Element) -> bool:
    length = 0
    for number, part in enumerate(node.iter()):
        length += len(part.text or "") + len(part.tail or "")
        if number > _MOST_DESCENDANTS or length > _LONGEST_PART:
            return False
    return True


def _html_language(root: _Element) -> str:
    body = root.find("{*}body")
    nodes = (root,) if body is None else (root, body)
    codes = (language_code(node.get(key, "")) for node in nodes for key in LANGUAGE_ATTRIBUTES)
    return next(filter(None, codes), "")


def language_code(value: str) -> str:
    """The language of a tag such as `pt-BR`; empty where it is none.

    >>> language_code("pt-BR"), language_code("utf-8"), language_code("iw")
    ('pt', '', 'he')
    """
    match = _LANGUAGE_CODE.match(value.strip().lower())
    return _NEW_CODES.get(match[1], match[1]) if match else ""
