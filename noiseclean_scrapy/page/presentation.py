"""A page seen as presentation styles: which child sequence each element has, and what is a leaf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from noiseclean_scrapy.page.page import Page, TextBlock
from noiseclean_scrapy.page.words import block_features

_FOLDED_TAGS = frozenset({"li", "tr", "dt", "dd"})
TEXT_LABEL = "#text"


@dataclass(frozen=True, slots=True)
class Slot:
    """One place in a child sequence: its label, and the content references that stand there.

    A content reference is an element's index, or ~index of a text block (as in
    `Element.content`). Several stand in one slot when a run of like siblings was folded.
    """

    label: str
    members: tuple[int, ...]


class Layout:
    """The presentation styles of one page.

    Elements without any content are left out. Leaves, the paper's virtual leaves, are the parents
    of the actual leaf nodes: block-level elements that hold inline content only (inline markup is
    text), and inline content that stands directly in a higher element. Runs of like siblings are
    one slot where they are list items, table rows, or have block-level children of their own.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.features = [block_features(block) for block in page.blocks]
        count = len(page.elements)
        self._filled = [False] * count
        self._inner = [False] * count
        for element in reversed(page.elements):
            for child in element.content:
                if child < 0:
                    self._filled[element.index] = True
                elif self._filled[child]:
                    self._filled[element.index] = True
                    self._inner[element.index] = True
        self._features_below: list[set[str]] = []

    @property
    def empty(self) -> bool:
        """Whether the page has no content at all."""
        return not self.page.blocks

    def is_leaf(self, content: int) -> bool:
        """Whether the content reference is a leaf of the tree."""
        return content < 0 or not self._inner[content]

    def slots(self, element: int) -> list[Slot]:
        """The child sequence of an element."""
        found: list[tuple[str, list[int]]] = []
        for child in self.page.elements[element].content:
            if child >= 0 and not self._filled[child]:
                continue
            label = TEXT_LABEL if child < 0 else self.page.elements[child].label
            if found and found[-1][0] == label and self._folds(child):
                found[-1][1].append(child)
            else:
                found.append((label, [child]))
        return [Slot(label, tuple(members)) for label, members in found]

    def blocks(self, content: int) -> Iterator[TextBlock]:
        """The text blocks below a content reference, in document order."""
        waiting = [content]
        while waiting:
            content = waiting.pop()
            if content < 0:
                yield self.page.blocks[~content]
            else:
                waiting.extend(reversed(self.page.elements[content].content))

    def feature_counts(self, contents: tuple[int, ...]) -> Counter[str]:
        """How often each feature occurs below the content references."""
        counts: Counter[str] = Counter()
        for content in contents:
            for block in self.blocks(content):
                counts.update(self.features[block.index])
        return counts

    def features_below(self, contents: tuple[int, ...]) -> set[str]:
        """The features that occur anywhere below the content references."""
        if not self._features_below:
            self._features_below = self._collect_features()
        sets = [
            self._features_below[content] if content >= 0 else set(self.features[~content])
            for content in contents
        ]
        return sets[0] if len(sets) == 1 else set().union(*sets)

    def _collect_features(self) -> list[set[str]]:
        below: list[set[str]] = [set() for _ in self.page.elements]
        for element in reversed(self.page.elements):
            own = below[element.index]
            for child in element.content:
                own.update(below[child] if child >= 0 else self.features[~child])
        return below

    def _folds(self, child: int) -> bool:
        return child >= 0 and (self._inner[child] or self.page.elements[child].tag in _FOLDED_TAGS)
