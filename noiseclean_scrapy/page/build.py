"""An lxml element to a Page, in one pass without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from lxml import etree

from noiseclean_scrapy.page.budget import DEFAULT_BUDGET, PageBudget
from noiseclean_scrapy.page.hidden import hides, style_hides
from noiseclean_scrapy.page.labels import element_label
from noiseclean_scrapy.page.metadata import read_metadata
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
_HIDDEN_INLINE = frozenset({"span", "font", "b", "i", "em", "strong", "small", "a"})
_READ = frozenset({"a", "img", "br"})
_ZERO_WIDTH = ("\u200b", "\ufeff")
_XPATH_NAME = re.compile(r"[a-z_][\w-]{0,60}", re.IGNORECASE | re.ASCII)
_STYLING = frozenset("id class role bgcolor width align itemprop style hidden aria-hidden".split())
# What a node is to the page, as bits; 0 is inline content.
_IS_BLOCK, _IS_SKIPPED, _IS_LINK = 1, 2, 4
_NOWHERE = 1 << 62
_DEEPEST = 100
_LONGEST_NAME = 64
_LONGEST_VALUE = 2000


def build_page(
    source: Html,
    *,
    url: str = "",
    text: str | None = None,
    rules: Rules | None = None,
    budget: PageBudget = DEFAULT_BUDGET,
) -> Page:
    """The page model of `source`; see `parse_html` for what it may be and for `text`.

    Never raises on any input: what is not HTML gives a page without blocks or a best-effort one.
    What is beyond the budget is cut off. Elements below a hundred levels of others are not told
    apart: their blocks belong to the element at that depth, and rules for them do not count.
    An element that `rules` names is block-level, and its blocks know the rule. Of the elements
    that are never read, scripts for example, a rule to keep opens the one that it names.

    >>> page = build_page("<title>News</title><h1>Flood</h1><p>The <a href=/r>river</a> rose.")
    >>> page.title, page.text
    ('News', 'Flood\\nThe river rose.')
    >>> page.xpath(page.blocks[1]), page.blocks[1].links
    ('/html[1]/body[1]/p[1]', ('/r',))
    """
    parsed = parse_html(source, text=text, budget=budget)
    ruled = rules(parsed.root) if rules else {}
    page = _Builder(parsed.root, url, _SKIPPED, ruled, budget).build()
    # Some forums and picture galleries keep all they have in NOSCRIPT.
    if _fallback_length(parsed.root) > len(page.text):
        page = _Builder(parsed.root, url, _SKIPPED - {"noscript"}, ruled, budget).build()
    page.description, page.declared = read_metadata(parsed.root)
    page.characters_lost = parsed.characters_lost
    page.truncated |= parsed.truncated
    page.reads_hidden = budget.hidden
    return page


class _BudgetSpent(Exception):  # noqa: N818
    """The page has more elements or blocks than are read of one."""


class _Tags(dict[Any, tuple[str, str, int]]):
    """By the tag of a node: its name, its node test in an XPath, and what it is to the page."""

    def __init__(self, skipped: frozenset[str]) -> None:
        self.skipped = skipped

    def __missing__(self, tag: Any) -> tuple[str, str, int]:
        if not isinstance(tag, str):  # a comment, a processing instruction, an entity
            return self.setdefault(tag, ("", "", _IS_SKIPPED))
        return self.setdefault(tag, _tag(tag[:_LONGEST_NAME], self.skipped))


@lru_cache(maxsize=1000)
def _tag(tag: str, skipped: frozenset[str]) -> tuple[str, str, int]:
    name = _name(tag)
    kind = 0 if name in _INLINE else _IS_SKIPPED if name in skipped else _IS_BLOCK
    return name, _node_test(tag), kind


class _Builder:
    """The state of one pass over one document."""

    def __init__(
        self,
        root: _Element,
        url: str,
        skipped: frozenset[str],
        ruled: Mapping[_Element, Rule],
        budget: PageBudget,
    ) -> None:
        self.root = root
        self.most = budget.elements
        self.reads_hidden = budget.hidden
        self.body = next(root.iter("{*}body"), root)
        if _has_content_in_head(root, skipped):
            self.body = root
            skipped = skipped - {"head"}
        self.tags = _Tags(skipped)
        self.ruled = ruled
        # What those nodes are of which the tag does not tell.
        self.special = {self.body: _IS_BLOCK}
        for node, rule in ruled.items():
            kind = self.tags[node.tag][2]
            self.special[node] = kind | _IS_BLOCK if rule == "drop" else _IS_BLOCK
        self.page = Page(url, _title(root), _language(root, self.body), [], [])
        self.open: list[Element] = []  # the block-level elements around
        self.rules: list[Rule | None] = []  # of each block-level element
        self.anchors: list[str] = []  # targets of the open anchors
        self.pieces: list[str] = []
        self.linked: list[str] = []  # those of the pieces that are anchor text
        self.images: list[str] = []
        self.links: list[str] = []
        self.breaks = False

    def build(self) -> Page:
        try:
            self._read()
        except _BudgetSpent:
            self.page.truncated = True
        return self.page

    def _read(self) -> None:
        self._walk(self.body, *_path(self.body))
        if self.body is not self.root:
            self._add(self.body.tail)
        for part, test, number in _after_body(self.body, self.root):
            if number:
                self._walk(part, test, number)
            self._add(part.tail)
        self._flush()

    def _walk(self, top: _Element, top_test: str, top_number: int) -> None:
        """Read an element. What a node costs here is most of what a page costs."""
        tags, special, pieces, anchors = self.tags, self.special, self.pieces, self.anchors
        stack: list[tuple[_Element, int, Iterator[_Element], dict[str, int], int]] = []
        children = iter((top,))
        numbers: dict[str, int] = {}  # how many children of each name the open element had so far
        count = 0  # of all its children
        inline = _NOWHERE  # from this depth on nothing holds a block-level element
        while True:
            for node in children:
                name, test, kind = tags[node.tag]
                has_children = len(node) > 0
                if kind != _IS_BLOCK:
                    if node in special:
                        kind = special[node]
                    elif has_children and not kind and len(stack) < inline:
                        if self._holds_block(node):
                            kind = _IS_BLOCK
                        else:
                            inline = len(stack)
                if not kind and name in _HIDDEN_INLINE and self._is_hidden(node):
                    kind = _IS_SKIPPED
                if test:
                    count += 1
                    number = numbers[test] = numbers.get(test, 0) + 1
                    if not kind & _IS_SKIPPED:
                        if kind & _IS_BLOCK:
                            if not stack:
                                test, number = top_test, top_number
                            elif test == "*":
                                number = count
                            self._open_element(node, name, test, number)
                        if name in _READ:
                            if name != "a":
                                self._read_inline(node, name)
                            elif href := node.get("href"):
                                anchors.append(href)
                                self.links.append(href)
                                kind |= _IS_LINK
                        text = node.text
                        if text and (pieces or not text.isspace()):
                            self._add(text)
                        if has_children:
                            stack.append((node, kind, children, numbers, count))
                            children, numbers, count = iter(node), {}, 0
                            break
                        if kind:
                            self._close(node, kind)
                if stack:
                    text = node.tail
                    if text and (pieces or not text.isspace()):
                        self._add(text)
            else:
                if not stack:
                    return
                node, kind, children, numbers, count = stack.pop()
                if len(stack) == inline:
                    inline = _NOWHERE
                if kind:
                    self._close(node, kind)
                if stack:
                    self._add(node.tail)

    def _is_hidden(self, node: _Element) -> bool:
        """Whether inline content is hidden by its own style, and hidden text is not asked for."""
        style = node.get("style")
        found = style_hides(style[:_LONGEST_VALUE]) if style else node.get("hidden") is not None
        return found and not self.reads_hidden

    def _holds_block(self, node: _Element) -> bool:
        """Whether an inline element holds a block-level one, and so is one; notes what else is.

        In the elements before the one that is found there is none, so that no element is looked at
        more than twice.
        """
        tags, special = self.tags, self.special
        for below in node.iterdescendants():
            if tags[below.tag][2] & _IS_BLOCK or below in special:
                around: Any = below
                while around is not node:
                    special.setdefault(around, tags[around.tag][2] | _IS_BLOCK)
                    around = around.getparent()
                return True
        return False

    def _open_element(self, node: _Element, name: str, test: str, number: int) -> None:
        if self.pieces or self.images or self.links or self.breaks:
            self._flush()
        if len(self.open) >= _DEEPEST:
            self.open.append(self.open[-1])
            return
        elements = self.page.elements
        index = len(elements)
        if index >= self.most:
            raise _BudgetSpent
        parent = self.open[-1].index if self.open else -1
        attributes = tuple(
            [(key, value[:_LONGEST_VALUE]) for key, value in node.items() if key in _STYLING]
        )
        label, hidden = _styling(name, attributes) if attributes else (name, False)
        if node is self.body:
            label = name
        element = Element(index, parent, name, label, test, number, [], hidden)
        elements.append(element)
        if self.ruled:
            self.rules.append(self._rule(node, parent))
        if parent >= 0:
            self.open[-1].content.append(index)
        self.open.append(element)

    def _rule(self, node: _Element, parent: int) -> Rule | None:
        if parent >= 0:
            return self.ruled.get(node, self.rules[parent])
        around = (node, *node.iterancestors())
        return next((self.ruled[part] for part in around if part in self.ruled), None)

    def _read_inline(self, node: _Element, name: str) -> None:
        """Read an image or a line break."""
        if name == "img":
            source = next(filter(None, map(node.get, _IMAGE_SOURCES)), None)
            if source:
                self.images.append(source)
        elif self.breaks:
            self._flush()
        else:
            self.pieces.append(" ")
            self.breaks = True

    def _close(self, node: _Element, kind: int) -> None:
        if kind & _IS_BLOCK:
            if self.pieces or self.images or self.links or self.breaks:
                self._flush()
            if node is not self.body:  # what the parser put after BODY still belongs to it
                self.open.pop()
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
                self.images.clear()
            self.pieces.clear()
            self.linked.clear()
        self.links = self.anchors[-1:]  # an anchor may span several runs
        self.breaks = False

    def _add_block(self, text: str) -> None:
        index = len(self.page.blocks)
        if index >= self.most:
            raise _BudgetSpent
        element = self.open[-1]
        linked = min(len(_collapse(self.linked)), len(text)) if self.linked else 0
        images, links = tuple(self.images), tuple(self.links)
        rule = self.rules[element.index] if self.ruled else None
        block = TextBlock(index, element.index, text, linked, images, links, rule)
        self.page.blocks.append(block)
        element.content.append(~index)


@lru_cache(maxsize=20_000)
def _styling(name: str, attributes: tuple[tuple[str, str], ...]) -> tuple[str, bool]:
    """The label of an element, and whether its own attributes hide it."""
    values = dict(attributes)
    return element_label(name, values), hides(values)


def _has_content_in_head(root: _Element, skipped: frozenset[str]) -> bool:
    """Whether HEAD holds text of the page.

    Where HEAD and BODY have no tags of their own, libxml2 leaves NAV, ARTICLE and other elements
    that it does not know in HEAD.
    """
    parts = (part for part in root.iterfind("{*}head/*") if _name(part.tag) not in skipped)
    return any(inner_text(part).strip() for part in parts)


def _fallback_length(root: _Element) -> int:
    """Characters of text in NOSCRIPT, those of nested ones counted once."""
    length = 0
    seen = set()
    for node in root.iter("noscript"):
        seen.add(node)
        if next(node.iterancestors("noscript"), None) not in seen:
            length += len(_collapse([inner_text(node)]))
    return length


def _after_body(body: _Element, root: _Element) -> Iterator[tuple[_Element, str, int]]:
    """What the parser put behind BODY, and behind HTML on pages with end tags in excess.

    With each node come its node test in an XPath seen from BODY, and its number, 0 for a comment.
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
                yield sibling, f"{climb}following-sibling::*", number
            else:
                yield sibling, "", 0
        parent = node.getparent()
        if node is root or parent is None:
            return
        climb += "../"
        node = parent


def _path(node: _Element) -> tuple[str, int]:
    """Absolute XPath of an element: without the first slash and the last number, and that."""
    steps: list[str] = []
    for element in (node, *node.iterancestors()):
        test = _node_test(element.tag)
        siblings = element.itersiblings(etree.Element if test == "*" else test, preceding=True)
        number = 1 + sum(1 for _ in siblings)
        if not steps:
            found = number
        steps.append(f"{test}[{number}]" if steps else test)
    return "/".join(reversed(steps)), found


def _node_test(tag: str) -> str:
    """The tag, or `*` where it cannot stand in an XPath: namespaces, `<o:p>`, odd or long names."""
    return tag if _XPATH_NAME.fullmatch(tag) else "*"


def _name(tag: str) -> str:
    return tag.rpartition("}")[2]


def _collapse(pieces: Iterable[str]) -> str:
    text = "".join(pieces)
    if not text.isascii():
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
