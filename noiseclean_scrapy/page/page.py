"""The page model that all methods share: block-level elements and the text blocks in them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.page.declared import Declared
from noiseclean_scrapy.page.locations import xpath
from noiseclean_scrapy.page.tags import VERBATIM_TAGS

Rule: TypeAlias = Literal["keep", "drop", "title"]
"""What the user says of an element: its text is kept, left out, or the page's title."""


@dataclass(slots=True)
class Element:
    """A block-level element.

    `label` is its identity in the layout: tag and stable display attributes. `content` lists what
    it holds in document order: index >= 0 is a child element's, ~index a text block's. `hidden`
    tells that its own attributes hide it (a closed tab or dialogue).
    """

    index: int
    parent: int
    tag: str
    label: str
    node_test: str
    number: int
    content: list[int] = field(default_factory=list)
    hidden: bool = False

    @property
    def step(self) -> str:
        """The way from the parent to this element in an XPath."""
        return f"/{self.node_test}[{self.number}]"


@dataclass(slots=True)
class TextBlock:
    """A run of inline content directly in one block-level element.

    `link_characters` counts the characters of `text` that are anchor text. `images` and `links`
    are the sources and targets as they stand in the page. An image alone has an empty text. `rule`
    is that of the nearest element around it that has one.
    """

    index: int
    element: int
    text: str
    link_characters: int
    images: tuple[str, ...]
    links: tuple[str, ...]
    rule: Rule | None = None


def _integers() -> array[int]:
    return array("i")


@dataclass(slots=True)
class PageTable:
    """Elements and text blocks as columns: few objects, for there are thousands of them.

    The garbage collector looks at every object in turn while all threads wait.

    The first six are the elements', see `Element`; the others the text blocks', see `TextBlock`.
    `parents` is -1 for the first element, `owners` are the blocks' elements, `opened` counts the
    elements that began before each block.

    `sources` are the texts of some blocks with marks (see `page.inline`), by the block's number:
    those that hold inline elements, or whose white space counts. `details` are what marks refer to:
    the address of a link, the address and the alternative text of an image.

    Of some elements the markup says more: `starts` are the numbers that lists (OL) begin with,
    negative where they count down, and items (LI) show, `spans` how many columns and rows cells of
    tables cover, `languages` what the CODE in them is written in. `roles` are what others are to
    readers, whatever their tag: a heading (`h1` to `h6`), a list whose items show numbers (`ol`),
    one of these items (`numbered`).
    """

    parents: array[int] = field(default_factory=_integers)
    tags: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    node_tests: list[str] = field(default_factory=list)
    numbers: array[int] = field(default_factory=_integers)
    hidden: bytearray = field(default_factory=bytearray)
    owners: array[int] = field(default_factory=_integers)
    texts: list[str] = field(default_factory=list)
    link_characters: array[int] = field(default_factory=_integers)
    images: list[tuple[str, ...]] = field(default_factory=list)
    links: list[tuple[str, ...]] = field(default_factory=list)
    rules: list[Rule | None] = field(default_factory=list)
    opened: array[int] = field(default_factory=_integers)
    sources: dict[int, str] = field(default_factory=dict)
    details: list[str] = field(default_factory=list)
    starts: dict[int, int] = field(default_factory=dict)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    languages: dict[int, str] = field(default_factory=dict)
    roles: dict[int, str] = field(default_factory=dict)

    @property
    def characters(self) -> int:
        """Length of `Page.text`."""
        return max(sum([len(text) + 1 for text in self.texts if text]) - 1, 0)

    def is_verbatim(self, block: int) -> bool:
        """Whether the block stands in an element that keeps white space."""
        element = self.owners[block]
        while element >= 0 and self.tags[element] not in VERBATIM_TAGS:
            element = self.parents[element]
        return element >= 0

    def elements(self) -> list[Element]:
        """The elements in document order."""
        columns = (self.parents, self.tags, self.labels, self.node_tests, self.numbers)
        found = [
            Element(index, parent, tag, label, test, number, [], bool(hidden))
            for index, (parent, tag, label, test, number, hidden) in enumerate(
                zip(*columns, self.hidden, strict=True)
            )
        ]
        begun = 0
        for block, (owner, opened) in enumerate(zip(self.owners, self.opened, strict=True)):
            self._nest(found, begun, opened)
            found[owner].content.append(~block)
            begun = opened
        self._nest(found, begun, len(found))
        return found

    def blocks(self) -> list[TextBlock]:
        """The text blocks in document order."""
        columns = (self.owners, self.texts, self.link_characters, self.images, self.links)
        return [
            TextBlock(index, *values)
            for index, values in enumerate(zip(*columns, self.rules, strict=True))
        ]

    def add_element(
        self, parent: int, tag: str, label: str, node_test: str, number: int, hidden: int
    ) -> None:
        """Add the next element."""
        self.parents.append(parent)
        self.tags.append(tag)
        self.labels.append(label)
        self.node_tests.append(node_test)
        self.numbers.append(number)
        self.hidden.append(hidden)

    def add_block(
        self,
        owner: int,
        text: str,
        link_characters: int,
        images: tuple[str, ...],
        links: tuple[str, ...],
        rule: Rule | None = None,
    ) -> None:
        """Add the next text block."""
        self.owners.append(owner)
        self.texts.append(text)
        self.link_characters.append(link_characters)
        self.images.append(images)
        self.links.append(links)
        self.rules.append(rule)
        self.opened.append(len(self.tags))

    def _nest(self, elements: list[Element], start: int, end: int) -> None:
        for index in range(max(start, 1), end):
            elements[self.parents[index]].content.append(index)


@dataclass(slots=True)
class Page:
    """A page as it was read: its table, from which elements and blocks are made when asked for.

    `base` is the address that the page's links are relative to. `description` and `declared` are
    what the page's metadata says of its content: the summary for search engines, and the texts and
    kind of page in JSON-LD. `characters_lost` tells how much text the parser cut off (0: none that
    matters), `truncated` that the budget for one page did not suffice, `reads_hidden` that hidden
    text counts, `other` what was given where that is not HTML. `words` are what `page_words` found;
    `kept` is what a method keeps of the page.
    """

    url: str
    title: str
    language: str
    table: PageTable
    base: str = ""
    description: str = ""
    declared: Declared = field(default_factory=Declared)
    characters_lost: int = 0
    truncated: bool = False
    reads_hidden: bool = False
    other: str = ""
    words: NDArray[np.int64] | None = field(default=None, init=False, repr=False, compare=False)
    kept: object = field(default=None, init=False, repr=False, compare=False)
    _elements: list[Element] | None = field(default=None, init=False, repr=False, compare=False)
    _blocks: list[TextBlock] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def elements(self) -> list[Element]:
        """Block-level elements in document order; the first is BODY."""
        if self._elements is None:
            self._elements = self.table.elements()
        return self._elements

    @property
    def blocks(self) -> list[TextBlock]:
        """Text blocks in document order."""
        if self._blocks is None:
            self._blocks = self.table.blocks()
        return self._blocks

    def path(self, element: int) -> Iterator[Element]:
        """The element and its ancestors, innermost first."""
        while element >= 0:
            here = self.elements[element]
            yield here
            element = here.parent

    def xpath(self, block: TextBlock) -> str:
        """Location of the block's element, as the parser numbers elements."""
        return xpath(self.table, block.element)

    @property
    def text(self) -> str:
        """All visible text, one line a block."""
        return "\n".join(filter(None, self.table.texts))
