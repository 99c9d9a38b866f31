"""An lxml element to a Page, in one pass without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from noiseclean_scrapy.page.budget import DEFAULT_BUDGET, PageBudget
from noiseclean_scrapy.page.document import (
    after_body,
    collapse,
    fallback_length,
    has_content_in_head,
    language,
    path,
    title,
)
from noiseclean_scrapy.page.hidden import hides, style_hides
from noiseclean_scrapy.page.labels import element_label
from noiseclean_scrapy.page.metadata import read_metadata
from noiseclean_scrapy.page.model import Element, Page, Rule, TextBlock
from noiseclean_scrapy.page.parse import Html, parse_html
from noiseclean_scrapy.page.tags import IS_BLOCK, IS_LINK, IS_SKIPPED, SKIPPED, Tags

if TYPE_CHECKING:
    from lxml.etree import _Element

Rules: TypeAlias = "Callable[[_Element], Mapping[_Element, Rule]]"
"""Given a document's root, the elements that a rule of the user names."""

_IMAGE_SOURCES = ("src", "data-src", "data-original")
_HIDDEN_INLINE = frozenset({"span", "font", "b", "i", "em", "strong", "small", "a"})
_READ = frozenset({"a", "img", "br"})
_STYLING = frozenset("id class role bgcolor width align itemprop style hidden aria-hidden".split())
_NOWHERE = 1 << 62
_DEEPEST = 100
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
    page = _Builder(parsed.root, url, SKIPPED, ruled, budget).build()
    # Some forums and picture galleries keep all they have in NOSCRIPT.
    if fallback_length(parsed.root) > len(page.text):
        page = _Builder(parsed.root, url, SKIPPED - {"noscript"}, ruled, budget).build()
    page.description, page.declared = read_metadata(parsed.root)
    page.characters_lost = parsed.characters_lost
    page.truncated |= parsed.truncated
    page.reads_hidden = budget.hidden
    return page


class _BudgetSpent(Exception):  # noqa: N818
    """The page has more elements or blocks than are read of one."""


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
        if has_content_in_head(root, skipped):
            self.body = root
            skipped = skipped - {"head"}
        self.tags = Tags(skipped)
        self.ruled = ruled
        # What those nodes are of which the tag does not tell.
        self.special = {self.body: IS_BLOCK}
        for node, rule in ruled.items():
            kind = self.tags[node.tag][2]
            self.special[node] = kind | IS_BLOCK if rule == "drop" else IS_BLOCK
        self.page = Page(url, title(root), language(root, self.body), [], [])
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
        self._walk(self.body, *path(self.body))
        if self.body is not self.root:
            self._add(self.body.tail)
        for part, test, number in after_body(self.body, self.root):
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
                if kind != IS_BLOCK:
                    if node in special:
                        kind = special[node]
                    elif has_children and not kind and len(stack) < inline:
                        if self._holds_block(node):
                            kind = IS_BLOCK
                        else:
                            inline = len(stack)
                if not kind and name in _HIDDEN_INLINE and self._is_hidden(node):
                    kind = IS_SKIPPED
                if test:
                    count += 1
                    number = numbers[test] = numbers.get(test, 0) + 1
                    if not kind & IS_SKIPPED:
                        if kind & IS_BLOCK:
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
                                kind |= IS_LINK
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
            if tags[below.tag][2] & IS_BLOCK or below in special:
                around: Any = below
                while around is not node:
                    special.setdefault(around, tags[around.tag][2] | IS_BLOCK)
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
        if kind & IS_BLOCK:
            if self.pieces or self.images or self.links or self.breaks:
                self._flush()
            if node is not self.body:  # what the parser put after BODY still belongs to it
                self.open.pop()
        if kind & IS_LINK:
            self.anchors.pop()
            if kind & IS_BLOCK:
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
            text = collapse(self.pieces)
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
        linked = min(len(collapse(self.linked)), len(text)) if self.linked else 0
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
