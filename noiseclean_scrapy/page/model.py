"""The page model that all methods share: block-level elements and the text blocks in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from noiseclean_scrapy.page.metadata import Declared

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


@dataclass(slots=True)
class Page:
    """Elements in document order (the first is BODY), text blocks in document order.

    `description` and `declared` are what the page's metadata says of its content: the summary for
    search engines, and the texts and kind of page in JSON-LD. `characters_lost` tells how much text
    the parser cut off (0: none that matters), `truncated` that the budget for one page did not
    suffice, `reads_hidden` that hidden text counts. `words`, `texts`, `arrays`, `reading`, `keys`
    are where `word_sets` and the method `evidence` keep what they found, for whoever asks next.
    """

    url: str
    title: str
    language: str
    elements: list[Element]
    blocks: list[TextBlock]
    description: str = ""
    declared: Declared = field(default_factory=Declared)
    characters_lost: int = 0
    truncated: bool = False
    reads_hidden: bool = False
    words: list[frozenset[str]] | None = field(default=None, init=False, repr=False, compare=False)
    texts: object = field(default=None, init=False, repr=False, compare=False)
    arrays: object = field(default=None, init=False, repr=False, compare=False)
    reading: object = field(default=None, init=False, repr=False, compare=False)
    keys: object = field(default=None, init=False, repr=False, compare=False)

    def path(self, element: int) -> Iterator[Element]:
        """The element and its ancestors, innermost first."""
        while element >= 0:
            here = self.elements[element]
            yield here
            element = here.parent

    def xpath(self, block: TextBlock) -> str:
        """Location of the block's element, as the parser numbers elements."""
        return "".join(reversed([element.step for element in self.path(block.element)]))

    @property
    def text(self) -> str:
        """All visible text, one line a block."""
        return "\n".join(block.text for block in self.blocks if block.text)
