"""A page seen as presentation styles: which child sequence each element has, and what is a leaf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest

from noiseclean_scrapy.page.hashes import hash64
from noiseclean_scrapy.page.labels import without_inline_style
from noiseclean_scrapy.page.page import Page, TextBlock
from noiseclean_scrapy.page.words import block_features

_FOLDED_TAGS = frozenset({"li", "tr", "dt", "dd"})
TEXT_LABEL = "#text"
MOST_SPREAD = 5000
"""Features of a page that are counted in all elements around them, of which there may be many."""


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

    A `published` layout is that of the papers: no siblings are folded, BODY stands below a virtual
    root, and features are as they stand in the page. The page's budget has to have `display`.
    """

    def __init__(self, page: Page, *, published: bool = False) -> None:
        self.page = page
        self.published = published
        self.features = [block_features(block, published=published) for block in page.blocks]
        self.content = [element.content for element in page.elements]
        if published:
            self.content.append([0])
        self.top = len(self.content) - 1 if published else 0
        count = len(self.content)
        self._filled = [False] * count
        self._inner = [False] * count
        for index in self._upwards():
            for child in self.content[index]:
                if child < 0:
                    self._filled[index] = True
                elif self._filled[child]:
                    self._filled[index] = True
                    self._inner[index] = True
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
        for child in self.content[element]:
            if child >= 0 and not self._filled[child]:
                continue
            label = TEXT_LABEL if child < 0 else self._label(child)
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
                waiting.extend(reversed(self.content[content]))

    def feature_counts(self, contents: tuple[int, ...]) -> Counter[str]:
        """How often each feature occurs below the content references."""
        counts: Counter[str] = Counter()
        for content in contents:
            for block in self.blocks(content):
                counts.update(self.features[block.index])
        return counts

    def features_below(self, contents: tuple[int, ...]) -> set[str]:
        """The features that occur anywhere below the content references.

        Of a page with more than `MOST_SPREAD` of them a sample, the same words on each page.
        """
        if not self._features_below:
            self._features_below = self._collect_features()
        sets = [
            self._features_below[content] if content >= 0 else self._spread[~content]
            for content in contents
        ]
        return sets[0] if len(sets) == 1 else set().union(*sets)

    def _collect_features(self) -> list[set[str]]:
        below: list[set[str]] = [set() for _ in self.content]
        for index in self._upwards():
            sets = [below[n] if n >= 0 else self._spread[~n] for n in self.content[index]]
            below[index] = sets[0] if len(sets) == 1 else set().union(*sets)
        return below

    @cached_property
    def _spread(self) -> list[set[str]]:
        """The features of each block that are counted in all elements around it."""
        spread = list(map(set, self.features))
        every = set().union(*spread)
        if len(every) <= MOST_SPREAD:
            return spread
        chosen = set(nsmallest(MOST_SPREAD, every, key=hash64))
        return [features & chosen for features in spread]

    def _upwards(self) -> list[int]:
        """Everything that has content, children before their parents; the top is last."""
        return [*range(len(self.page.elements) - 1, -1, -1), *([self.top] if self.top else [])]

    def _label(self, element: int) -> str:
        label = self.page.elements[element].label
        return without_inline_style(label) if self.published else label

    def _folds(self, child: int) -> bool:
        if self.published:
            return False
        return child >= 0 and (self._inner[child] or self.page.elements[child].tag in _FOLDED_TAGS)
