"""What the elements around a block are called: scores of their tags, class names, ids and roles.

Names are hashed to weights, as the letters of a text are (see `wording`): thousands of sites call
their articles and their teasers alike, in more ways than a list made by hand has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, Integers, PageArrays
from noiseclean_scrapy.methods.evidence_model.vocabulary import WORD
from noiseclean_scrapy.methods.evidence_model.wording import BUCKETS

LEVELS = 3
"""Elements whose names are near: a block's own, its parent and that one's, each told apart."""
MOST_NAMES = 50
"""Names of one element that are read."""
LONGEST = 400.0
"""Weighted characters of a text that count in the page's mean."""

_NAME = re.compile(r"[.#\[][^.#\[\]]+")
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(65 - BUCKETS.bit_length())
_LEVEL_MIXERS = np.arange(LEVELS, dtype=np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True, slots=True, eq=False)
class Naming:
    """`near` and `around` (BUCKETS, int8) times a scale each are log-odds of content."""

    near: NDArray[np.int8]
    around: NDArray[np.int8]
    near_scale: float
    around_scale: float

    def score(self, arrays: PageArrays, lengths: Floats) -> Floats:
        """How much more like content B blocks are called than the text of the page on average.

        (2, B): by the names near a block, and by all names of the elements around it. What a site
        calls all of its text tells nothing, so only the difference counts.
        """
        sums = PageNames(arrays).sums(self.near, self.around)
        scores = (sums[:, 0] / np.sqrt(sums[:, 1])).take(arrays.element, axis=1)
        scales = np.array((self.near_scale, self.around_scale))
        found: Floats = relative(scores, lengths) * scales[:, None]
        return found


def relative(scores: Floats, lengths: Floats) -> Floats:
    """Scores (..., B) less their mean over the page's text."""
    weights = np.minimum(lengths, LONGEST) + 1
    means: Floats = (scores * weights).sum(axis=-1, keepdims=True) / weights.sum()
    differences: Floats = scores - means
    return differences


class PageNames:
    """The names on a page with L distinct labels and E elements.

    `hashes` (N) are those of the names of all labels; those of label l are `starts[l]` to
    `starts[l + 1]`. `near` (LEVELS, N) and `around` (N) are the buckets of the names.
    """

    def __init__(self, arrays: PageArrays) -> None:
        self.arrays = arrays
        parts = list(map(_hashes, arrays.label_names))
        self.hashes = np.frombuffer(b"".join(parts), dtype=np.uint64)
        self.starts = np.array([0, *map(len, parts)]).cumsum() // self.hashes.itemsize

    @property
    def near(self) -> Integers:
        return _buckets(self.hashes ^ _LEVEL_MIXERS[:, None])

    @property
    def around(self) -> Integers:
        return _buckets(self.hashes)

    @cached_property
    def first(self) -> tuple[Integers, Integers]:
        """Each element with each of its names that no element above it has: a name counts once.

        The elements, and the names as indices of `hashes`.
        """
        # Sorted: a table of their hashes could be flooded by a page that chooses its names.
        numbers = np.unique(self.hashes, return_inverse=True)[1].tolist()
        ranges = self.starts.tolist()
        elements: list[int] = []
        names: list[int] = []
        on_path: set[int] = set()
        path: list[tuple[int, list[int]]] = []  # elements, and the numbers that each was first with
        above_of = self.arrays.parent.tolist()
        for element, label in enumerate(self.arrays.labels.tolist()):
            while path and path[-1][0] != above_of[element]:
                on_path.difference_update(path.pop()[1])
            own = range(ranges[label], ranges[label + 1])
            first = [name for name in own if numbers[name] not in on_path]
            elements += [element] * len(first)
            names += first
            path.append((element, [numbers[name] for name in first]))
            on_path.update(path[-1][1])
        return np.array(elements, dtype=np.int64), np.array(names, dtype=np.int64)

    def sums(self, near: NDArray[np.int8], around: NDArray[np.int8]) -> Floats:
        """The weights (BUCKETS) of the names of each element, and how many names these are.

        (2, 2, E): of the names near it, and of those of itself and all above, each once.
        """
        arrays, near, around = self.arrays, near[self.near], around[self.around]
        found: Floats
        if kernels.blocks is not None:
            found = kernels.blocks.name_sums(
                arrays.parent, arrays.labels, self.starts, self.hashes, near, around
            )
            return found
        of_labels = np.add.reduceat(near, self.starts[:-1], axis=1, dtype=np.int64)
        sizes, labels = np.diff(self.starts), arrays.labels
        found = np.zeros((2, 2, len(labels)))
        for level in range(LEVELS):
            found[0] += of_labels[level][labels], sizes[labels]
            labels = labels[arrays.parent]
        elements, names = self.first
        for row, weights in enumerate((around[names], None)):
            found[1, row] = np.bincount(elements, weights, len(labels))
        found[1] = arrays.path_sums(found[1])
        return found


@lru_cache(maxsize=20_000)
def _hashes(label: str) -> bytes:
    """The hashes (uint64) of the names in a label: its tag, its names whole, and their words."""
    tag = label[: next((place for place, sign in enumerate(label) if sign in ".#["), len(label))]
    rest = label[len(tag) :]
    whole = (name[1:].lower() for name in _NAME.findall(rest))
    words = (f"w{word.lower()}" for word in WORD.findall(rest))
    names = list(dict.fromkeys((f"<{tag}", *whole, *words)))[:MOST_NAMES]
    hashes = [crc32(name.encode(errors="surrogatepass")) for name in names]
    return np.array(hashes, dtype=np.uint64).tobytes()


def _buckets(hashes: NDArray[np.uint64]) -> Integers:
    return (hashes * _MIXER >> _SHIFT).astype(np.int64)
