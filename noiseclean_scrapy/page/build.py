"""An lxml element to a Page, in one pass without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from lxml import etree

from noiseclean_scrapy.page.labels import element_label
from noiseclean_scrapy.page.metadata import declared, description
from noiseclean_scrapy.page.model import Element, Page, Rule, TextBlock
from noiseclean_scrapy.page.parse import Html, inner_text, parse_html

if TYPE_CHECKING:
    from lxml.etree import _Element

Rules: TypeAlias = "Callable[[_Element], Mapping[_Element, Rule]]"
"""Given a document's root, the elements that a rule of the user names."""

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big blink br cite code data del dfn em font i img ins kbd label "
    "mark nobr picture q rb rp rt rtc ruby s samp small source span strike strong sub sup time tt "
    "u var wbr input".split()
)
_SKIPPED = frozenset(
    "script style template noscript iframe noembed noframes object applet embed svg canvas audio "
    "video select textarea datalist head title meta link base param map area dialog".split()
)
_IMAGE_SOURCES = ("src", "data-src", "data-original")
_LANGUAGE = ("lang", "xml:lang", "{http://www.w3.org/XML/1998/namespace}lang")
_READ = frozenset({"a", "img", "br"})
_ZERO_WIDTH = ("\u200b", "\ufeff")
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_XPATH_NAME = re.compile(r"[a-z_][\w-]*", re.IGNORECASE | re.ASCII)
_STYLING = frozenset("id class role bgcolor width align itemprop style hidden aria-hidden".split())
# What a node is to the page, as bits; 0 is inline content.
_IS_BLOCK, _IS_SKIPPED, _IS_LINK = 1, 2, 4


def build_page(
    source: Html, *, url: str = "", text: str | None = None, rules: Rules | None = None
) -> Page:
    """The page model of `source`; see `parse_html` for what it may be and for `text`.

    Never raises on any input: what is not HTML gives a page without blocks or a best-effort one.
    An element that `rules` names is block-level, and its blocks know the rule. Of the elements
    that are never read, scripts for example, a rule to keep opens the one that it names.

    >>> page = build_page("<title>News</title><h1>Flood</h1><p>The <a href=/r>river</a> rose.")
    >>> page.title, page.text
    ('News', 'Flood\\nThe river rose.')
    >>> page.xpath(page.blocks[1]), page.blocks[1].links
    ('/html[1]/body[1]/p[1]', ('/r',))
    """
    parsed = parse_html(source, text=text)
    ruled = rules(parsed.root) if rules else {}
    page = _Builder(parsed.root, url, _SKIPPED, ruled).build()
    # Some forums and picture galleries keep all they have in NOSCRIPT.
    if _fallback_length(parsed.root) > len(page.text):
        page = _Builder(parsed.root, url, _SKIPPED - {"noscript"}, ruled).build()
    page.description = description(parsed.root)
    page.declared = declared(parsed.root)
    page.characters_lost = parsed.characters_lost
    return page


class _Tags(dict[Any, tuple[str, str, int]]):
    """By the tag of a node: its name, its node test in an XPath, and what it is to the page."""

    def __init__(self, skipped: frozenset[str]) -> None:
        self.skipped = skipped

    def __missing__(self, tag: Any) -> tuple[str, str, int]:
        if not isinstance(tag, str):  # a comment, a processing instruction, an entity
            return self.setdefault(tag, ("", "", _IS_SKIPPED))
        name = _name(tag)
        kind = 0 if name in _INLINE else _IS_SKIPPED if name in self.skipped else _IS_BLOCK
        return self.setdefault(tag, (name, _node_test(tag), kind))


class _Builder:
    """The state of one pass over one document."""

    def __init__(
        self, root: _Element, url: str, skipped: frozenset[str], ruled: Mapping[_Element, Rule]
    ) -> None:
        self.root = root
        self.body = next(root.iter("{*}body"), root)
        if _has_content_in_head(root, skipped):
            self.body = root
            skipped = skipped - {"head"}
        self.tags = _Tags(skipped)
        self.ruled = ruled
        self.page = Page(url, _title(root), _language(root, self.body), [], [])
        self.open: list[int] = []  # indices of the open block-level elements
        self.numbers: list[dict[str, int]] = []  # how many children of each name these had so far
        self.rules: list[Rule | None] = []  # of each block-level element
        self.anchors: list[str] = []  # targets of the open anchors
        self.pieces: list[str] = []
        self.linked: list[str] = []  # those of the pieces that are anchor text
        self.images: list[str] = []
        self.links: list[str] = []
        self.breaks = False

    def build(self) -> Page:
        self._walk(self.body, _path(self.body))
        if self.body is not self.root:
            self._add(self.body.tail)
        for step, part in _after_body(self.body, self.root):
            if step:
                self._walk(part, step)
            self._add(part.tail)
        self._flush()
        return self.page

    def _walk(self, top: _Element, step: str) -> None:
        kinds, tags = self._kinds(top), self.tags
        path: list[_Element] = []  # the open elements
        for node, kind in kinds.items():
            parent = node.getparent()
            around = kinds.get(parent, 0)
            if around & _IS_SKIPPED:
                kinds[node] |= _IS_SKIPPED
                continue
            while path and path[-1] is not parent:
                closed = path.pop()
                self._close(closed, kinds[closed])
                self._add(closed.tail)
            name, test, _ = tags[node.tag]
            if around & _IS_BLOCK and test:
                numbers = self.numbers[-1]
                number = numbers[test] = numbers.get(test, 0) + 1
                step = f"/{test}[{number if test != '*' else sum(numbers.values())}]"
            if kind & _IS_SKIPPED:
                if node is not top:
                    self._add(node.tail)
                continue
            if kind & _IS_BLOCK:
                self._open_element(node, name, step)
            if name in _READ and self._open_inline(node, name):
                kinds[node] |= _IS_LINK
            self._add(node.text)
            path.append(node)
        for closed in reversed(path):
            self._close(closed, kinds[closed])
            if closed is not top:
                self._add(closed.tail)

    def _kinds(self, top: _Element) -> dict[Any, int]:
        """What each node is, in document order; what holds a block-level element is one."""
        tags, ruled = self.tags, self.ruled
        kinds: dict[Any, int] = {}
        for node in top.iter():
            _, test, kind = tags[node.tag]
            if node is self.body:
                kind = _IS_BLOCK
            elif ruled and test and node in ruled:
                kind = kind | _IS_BLOCK if ruled[node] == "drop" else _IS_BLOCK
            kinds[node] = kind
            if kind & _IS_BLOCK:
                around: Any = node.getparent()
                while not kinds.get(around, _IS_BLOCK) & _IS_BLOCK:
                    kinds[around] |= _IS_BLOCK
                    around = around.getparent()
        return kinds

    def _open_element(self, node: _Element, name: str, step: str) -> None:
        self._flush()
        index = len(self.page.elements)
        parent = self.open[-1] if self.open else -1
        label, hidden = _styling(name, tuple([a for a in node.items() if a[0] in _STYLING]))
        if node is self.body:
            label = name
        self.page.elements.append(Element(index, parent, name, label, step, hidden=hidden))
        self.rules.append(self._rule(node, parent))
        if parent >= 0:
            self.page.elements[parent].content.append(index)
        self.open.append(index)
        self.numbers.append({})

    def _rule(self, node: _Element, parent: int) -> Rule | None:
        if not self.ruled:
            return None
        if parent >= 0:
            return self.ruled.get(node, self.rules[parent])
        around = (node, *node.iterancestors())
        return next((self.ruled[part] for part in around if part in self.ruled), None)

    def _open_inline(self, node: _Element, name: str) -> bool:
        """Read an anchor, an image or a line break; whether it is an anchor with a target."""
        if name == "a" and (href := node.get("href")):
            self.anchors.append(href)
            self.links.append(href)
            return True
        if name == "img":
            self.images += [source for key in _IMAGE_SOURCES if (source := node.get(key))][:1]
        elif name == "br":
            if self.breaks:
                self._flush()
            else:
                self.pieces.append(" ")
                self.breaks = True
        return False

    def _close(self, node: _Element, kind: int) -> None:
        if kind & _IS_BLOCK:
            self._flush()
            if node is not self.body:  # what the parser put after BODY still belongs to it
                self.open.pop()
                self.numbers.pop()
        if kind & _IS_LINK:
            self.anchors.pop()
            if kind & _IS_BLOCK:
                self.links = self.anchors[-1:]

    def _add(self, text: str | None) -> None:
        if text and (self.pieces or not text.isspace()):
            self.pieces.append(text)
            if self.anchors:
                self.linked.append(text)
            if self.breaks and not text.isspace():
                self.breaks = False

    def _flush(self) -> None:
        """End the current run of inline content."""
        if self.pieces or self.images:
            text = _collapse(self.pieces)
            if text or self.images:
                self._add_block(text)
            self.pieces, self.linked, self.images = [], [], []
        self.links = self.anchors[-1:]  # an anchor may span several runs
        self.breaks = False

    def _add_block(self, text: str) -> None:
        index = len(self.page.blocks)
        element = self.page.elements[self.open[-1]]
        linked = min(len(_collapse(self.linked)), len(text)) if self.linked else 0
        images, links = tuple(self.images), tuple(self.links)
        rule = self.rules[element.index]
        block = TextBlock(index, element.index, text, linked, images, links, rule)
        self.page.blocks.append(block)
        element.content.append(~index)


@lru_cache(maxsize=20_000)
def _styling(name: str, attributes: tuple[tuple[str, str], ...]) -> tuple[str, bool]:
    """The label of an element, and whether its own attributes hide it."""
    values = dict(attributes)
    hidden = (
        "hidden" in values
        or values.get("aria-hidden") == "true"
        or bool(_HIDING.search(values.get("style", "")))
    )
    return element_label(name, values), hidden


def _has_content_in_head(root: _Element, skipped: frozenset[str]) -> bool:
    """Whether HEAD holds text of the page.

    Where HEAD and BODY have no tags of their own, libxml2 leaves NAV, ARTICLE and other elements
    that it does not know in HEAD.
    """
    parts = (part for part in root.iterfind("{*}head/*") if _name(part.tag) not in skipped)
    return any(inner_text(part).strip() for part in parts)


def _fallback_length(root: _Element) -> int:
    if next(root.iter("noscript"), None) is None:
        return 0
    walk = etree.iterwalk(root, events=("start",), tag="noscript")
    length = 0
    for _, node in walk:
        length += len(_collapse([inner_text(node)]))
        walk.skip_subtree()
    return length


def _after_body(body: _Element, root: _Element) -> Iterator[tuple[str, _Element]]:
    """What the parser put behind BODY, and behind HTML on pages with end tags in excess.

    With each node comes its XPath seen from BODY, none with a comment.
    """
    climb = ""
    node = body
    while True:
        if node is root and node.getparent() is not None:  # the middle of a document
            return
        number = 0
        for sibling in node.itersiblings():
            if isinstance(sibling.tag, str):
                number += 1
                yield f"{climb}/following-sibling::*[{number}]", sibling
            else:
                yield "", sibling
        parent = node.getparent()
        if node is root or parent is None:
            return
        climb += "/.."
        node = parent


def _path(node: _Element) -> str:
    """Absolute XPath of an element."""
    steps = []
    for element in (node, *node.iterancestors()):
        test = _node_test(element.tag)
        siblings = element.itersiblings(etree.Element if test == "*" else test, preceding=True)
        steps.append(f"/{test}[{1 + sum(1 for _ in siblings)}]")
    return "".join(reversed(steps))


def _node_test(tag: str) -> str:
    """The tag, or `*` where it cannot stand in an XPath: namespaces, `<o:p>`, broken names."""
    return tag if _XPATH_NAME.fullmatch(tag) else "*"


def _name(tag: str) -> str:
    return tag.rpartition("}")[2]


def _collapse(pieces: Iterable[str]) -> str:
    text = "".join(pieces)
    for character in _ZERO_WIDTH:
        text = text.replace(character, " ")
    return " ".join(text.split())


def _title(root: _Element) -> str:
    node = root.find(".//{*}head/{*}title")
    if node is None:
        node = root.find(".//{*}title")  # of a page without HEAD; in SVG, where there is no other
    return _collapse([inner_text(node)]) if node is not None else ""


def _language(root: _Element, body: _Element) -> str:
    values = (node.get(name, "").strip() for node in (root, body) for name in _LANGUAGE)
    return next(filter(None, values), "")
