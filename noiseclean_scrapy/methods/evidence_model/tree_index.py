"""A page as arrays: which blocks stand below which element, and sums over them."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.evidence_page import EvidencePage
from noiseclean_scrapy.page import Page, PageTable

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)


class PageArrays:
    """Index arrays of a page with B text blocks and E block-level elements.

    `parent` (E) is 0 for the root, `depth` (E) counts from 0; blocks `first[e]` to `end[e]` stand
    in element e or below it; `labels` (E) numbers the distinct labels, which `label_names` and
    `label_tags` list; `places` (E) numbers elements with an equal label under an equal parent
    label alike, `groups` (E) siblings that are labelled alike, of which there are `group_sizes` (E)
    in all and `group_numbers` (E) before.
    """

    def __init__(self, page: Page) -> None:
        table = page.table
        if kernels.blocks is not None:
            names, arrays = kernels.blocks.index_page(
                table.parents, table.labels, table.tags, table.owners
            )
            self.label_names, self.label_tags = names
            self.labels, self.parent, self.element, self.depth, self.first, self.end = arrays[:6]
            self.places, self.groups, self.group_sizes, self.group_numbers = arrays[6:]
        else:
            self._index(table)

    def _index(self, table: PageTable) -> None:
        count = len(table.labels)
        tags = dict(zip(table.labels, table.tags, strict=True))
        self.label_names, self.label_tags = list(tags), list(tags.values())
        number = dict(zip(tags, range(len(tags)), strict=True))
        self.labels = _integers([number[name] for name in table.labels])
        self.parent = np.array(table.parents, dtype=np.int64)
        self.parent[0] = 0
        self.element = np.array(table.owners, dtype=np.int64)
        self.depth = self._depth()
        self.first, self.end = self._ranges(self.parent.tolist())
        self.places = _numbered(self.labels[self.parent] * len(tags) + self.labels)
        _, self.groups, sizes = np.unique(
            self.parent * (len(tags) + 1) + self.labels + (np.arange(count) > 0),
            return_inverse=True,
            return_counts=True,
        )
        self.group_sizes = sizes[self.groups]
        order = self.groups.argsort(kind="stable")
        starts = np.cumsum(sizes) - sizes
        self.group_numbers = np.empty_like(order)
        self.group_numbers[order] = np.arange(count) - starts[self.groups[order]]

    def ancestors(self, levels: int) -> Integers:
        """For each block (row 0) its element, (row 1) that one's parent, and so on to the root."""
        found = np.empty((levels + 1, len(self.element)), dtype=np.int64)
        found[0] = self.element
        for level in range(levels):
            self.parent.take(found[level], out=found[level + 1], mode="clip")
        return found

    def tagged(self, tags: Container[str]) -> NDArray[np.bool_]:
        """For each element whether its tag is one of these."""
        found: NDArray[np.bool_] = np.array([tag in tags for tag in self.label_tags])[self.labels]
        return found

    def named(self, is_wanted: Callable[[str, str], bool]) -> NDArray[np.bool_]:
        """For each element whether its tag and its label are wanted; each label is asked once."""
        found = np.array(list(map(is_wanted, self.label_tags, self.label_names)), dtype=bool)
        of_elements: NDArray[np.bool_] = found[self.labels]
        return of_elements

    def below(self, values: Floats) -> Floats:
        """Sums of block values (..., B) over each element and all below it (..., E)."""
        result: Floats
        if kernels.blocks is not None:
            rows = np.ascontiguousarray(np.atleast_2d(values), dtype=np.float64)
            result = kernels.blocks.below(rows, self.first, self.end)
            return result.reshape(*values.shape[:-1], len(self.end))
        sums = summed(values)
        result = sums.take(self.end, axis=-1) - sums.take(self.first, axis=-1)
        return result

    def inherit(self, masks: Integers) -> Integers:
        """Bits of each element and all its ancestors."""
        if kernels.blocks is not None:
            found: Integers = kernels.blocks.inherit(masks, self.parent)
            return found
        inherited, above = masks, self.parent
        for _ in range(self._doublings):
            inherited = inherited | inherited.take(above)
            above = above.take(above)
        return inherited

    def path_sums(self, values: Floats) -> Floats:
        """Sums of whole numbers (V, E) over each element and all its ancestors."""
        count = values.shape[-1]
        above = np.append(self.parent, count)  # behind the last element stands nothing
        above[0] = count
        sums = np.zeros((len(values), count + 1))
        sums[:, :count] = values
        for _ in range(self._doublings):
            sums = sums + sums.take(above, axis=1)
            above = above.take(above)
        return sums[:, :count]

    def nearest(self, marked: NDArray[np.bool_]) -> Integers:
        """For each element the nearest marked one, itself or above; the root without one."""
        nearest: Integers
        if kernels.blocks is not None:
            nearest = kernels.blocks.nearest(marked.view(np.uint8), self.parent)
            return nearest
        nearest = np.where(marked, np.arange(len(self.parent)), self.parent)
        for _ in range(self._doublings):
            nearest = nearest.take(nearest)
        return nearest

    @cached_property
    def repeated_items(self) -> Integers:
        """For each block the nearest element with like siblings, and the nearest around that."""
        nearest = self.nearest(self.group_sizes > 1)
        item = nearest[self.element]
        return np.stack((item, nearest[self.parent[item]]))

    def _depth(self) -> Integers:
        depth, above = np.ones(len(self.parent), dtype=np.int64), self.parent
        depth[0] = 0
        while above.any():
            depth = depth + depth.take(above)
            above = above.take(above)
        return depth

    @cached_property
    def _doublings(self) -> int:
        """How often to go twice as far up, until the root is reached from everywhere."""
        return int(self.depth.max()).bit_length()

    def _ranges(self, parents: list[int]) -> tuple[Integers, Integers]:
        last = list(range(len(parents)))  # of the elements below each, in document order
        for index in range(len(parents) - 1, 0, -1):
            parent = parents[index]
            if last[index] > last[parent]:
                last[parent] = last[index]
        count = len(self.element)
        own = summed(np.bincount(self.element, minlength=len(parents)))
        blocks = own[_integers(last) + 1] - own[:-1]
        # The first block in or behind the start of an element is in it, if it has any.
        first = np.full(len(parents), count)
        first[self.element[::-1]] = np.arange(count - 1, -1, -1)
        first = np.where(blocks > 0, np.minimum.accumulate(first[::-1])[::-1], 0)
        return first, first + blocks


def page_arrays(page: Page) -> PageArrays:
    """The arrays of a page; made once, then kept with the page."""
    kept = EvidencePage.of(page)
    arrays = kept.arrays  # which another thread may drop
    if arrays is None:
        arrays = kept.arrays = PageArrays(page)
    return arrays


def group_sums(values: Floats, groups: Integers) -> Floats:
    """Sums (V, G) of values (V, N) over the members of G groups, given as numbers (N)."""
    if kernels.blocks is not None:
        sums: Floats = kernels.blocks.group_sums(values, groups)
        return sums
    return np.stack([np.bincount(groups, weights=row) for row in values])


def last_marked(marked: NDArray[np.bool_]) -> Integers:
    """For each place of (..., N) the last marked one up to it; -1 without one."""
    at = np.where(marked, np.arange(marked.shape[-1]), -1)
    found: Integers = np.maximum.accumulate(at, axis=-1)
    return found


def shifted(values: NDArray[T], step: int, outside: float) -> NDArray[T]:
    """The values (..., N) so many places further on; `outside` where there is no such place."""
    found = np.empty_like(values)
    found.fill(outside)
    if step < 0:
        found[..., -step:] = values[..., :step]
    else:
        found[..., : max(values.shape[-1] - step, 0)] = values[..., step:]
    return found


def bit_rows(masks: Integers, rows: Integers, bits: Integers) -> NDArray[np.uint8]:
    """For each of R rows (R) of the masks (M, N) whether its bit (R) is set: (R, N)."""
    if kernels.blocks is not None:
        found: NDArray[np.uint8] = kernels.blocks.bit_rows(masks, rows, bits)
        return found
    unpacked = np.unpackbits(masks.astype("<i8").view(np.uint8), axis=-1, bitorder="little")
    of_bits = unpacked.reshape(*masks.shape, 64).transpose(0, 2, 1).reshape(-1, masks.shape[-1])
    return of_bits.take(rows * 64 + bits, axis=0)


def summed(values: NDArray[np.generic]) -> NDArray[Any]:
    """Sums (..., n + 1) of the first 0, 1, ... n values (..., n)."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1), dtype=values.dtype)
    values.cumsum(axis=-1, out=sums[..., 1:])
    return sums


def window_means(values: Floats, weights: Floats, reaches: Sequence[int]) -> Floats:
    """Sums of values (V, B) by sums of weights (B) over up to `reach` blocks around each block.

    (reaches, V, 2, B): over the blocks before, and over those after.
    """
    count = values.shape[-1]
    if kernels.blocks is not None:
        means: Floats = kernels.blocks.window_means(values, weights, reaches)
        return means
    index = np.arange(count)
    sums = summed(np.vstack((values, weights)))
    means = np.empty((len(reaches), len(values), 2, count))
    for number, reach in enumerate(reaches):
        start, end = np.maximum(index - reach, 0), np.minimum(index + 1 + reach, count)
        before = sums[:, :-1] - sums.take(start, axis=1)
        after = sums.take(end, axis=1) - sums[:, 1:]
        means[number, :, 0] = before[:-1] / np.maximum(before[-1], 1)
        means[number, :, 1] = after[:-1] / np.maximum(after[-1], 1)
    return means


def _numbered(keys: Integers) -> Integers:
    return np.unique(keys, return_inverse=True)[1]


def _integers(values: list[int]) -> Integers:
    return np.array(values, dtype=np.int64)
