"""The table of features: what each is called, in words and in the model, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noiseclean_scrapy.page.characters import counted

Kind: TypeAlias = Literal["page", "neighbours"]
"""Whether a feature speaks of the block's own place on the page or of the blocks around it."""
Rows: TypeAlias = Iterator[ArrayLike]
"""A group's features in turn: rows (B), several at once (n, B), or one value for all blocks."""
Measures = TypeVar("Measures")


@dataclass(frozen=True, slots=True)
class Feature:
    """`words` name it for people; the ablation shuffles the features of a `family` together."""

    name: str
    words: str
    kind: Kind
    family: str


class FeatureTable(Generic[Measures]):
    """Groups of features, each with the function that computes it from a page's `Measures`."""

    def __init__(self) -> None:
        self.features: list[Feature] = []
        self._groups: list[tuple[int, Callable[[Measures], Rows]]] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in the order of the columns."""
        return tuple(feature.name for feature in self.features)

    def group(
        self, family: str, kind: Kind, words: Mapping[str, str]
    ) -> Callable[[Callable[[Measures], Rows]], Callable[[Measures], Rows]]:
        """Enter the features of the decorated function: their names, in words, in its order."""
        self.features += [Feature(name, told, kind, family) for name, told in words.items()]

        def enter(rows: Callable[[Measures], Rows]) -> Callable[[Measures], Rows]:
            self._groups.append((len(words), rows))
            return rows

        return enter

    def matrix(self, measures: Measures, blocks: int) -> NDArray[np.float32]:
        """All features of a page, (blocks, features); each is one piece of memory."""
        matrix = np.empty((len(self.features), blocks), dtype=np.float32)
        start = 0
        for size, rows in self._groups if blocks else ():
            at, start = start, start + size
            for row in rows(measures):
                count = len(row) if isinstance(row, np.ndarray) and row.ndim == 2 else 1
                matrix[at : at + count] = row
                at += count
            if at != start:
                raise ValueError(f"{rows.__name__} computes {at - start + size} of {size} features")
        return matrix.T


TERMS = {
    "p": "expected share of content",
    "own_p": "expected share of content in this one",
    "mass_share": "share of the page's expected content",
    "length": "length of text",
    "text": "length of text",
    "link_share": "share of links",
    "text_share": "share of the page's text",
    "long_share": "share of the page's long text",
    "long": "long text",
    "block_length": "mean length of blocks",
    "mean_text": "mean length of text",
    "count": "number of them",
    "number": "number of like ones before it",
}
"""What is told of several places, in words; what is missing here is its own name."""


ITEMS = {"item": "the repeated item around", "outer": "the outer repeated item"}
"""Repeated items around a block, in words."""
SAME_PLACE = "{} of the same place on the page"


def told(name: str, words: str, *terms: str) -> dict[str, str]:
    """Names and words of features that tell the same of several places.

    >>> told("up1_{}", "{} 1 level up", "link_share", "sentences")
    {'up1_link_share': 'share of links 1 level up', 'up1_sentences': 'sentences 1 level up'}
    """
    return {
        name.format(term): words.format(TERMS.get(term, term.replace("_", " "))) for term in terms
    }


def of_ancestors(levels: int, *terms: str) -> dict[str, str]:
    """Names and words of features of a block's element, its parent and so on, level by level."""
    return merged(
        told(
            f"up{level}_{{}}",
            "{} " + (f"{counted(level, 'level')} up" if level else "in its element"),
            *terms,
        )
        for level in range(levels + 1)
    )


def merged(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """One mapping of several, in their order."""
    return {name: words for part in parts for name, words in part.items()}
