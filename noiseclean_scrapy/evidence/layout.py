"""A page as arrays: which blocks stand below which element, and sums over them."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.page import Page

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


class PageArrays:
    """Index arrays of a page with B text blocks and E block-level elements.

    `parent` (E) is 0 for the root, `depth` (E) counts from 0; blocks `first[e]` to `end[e]` stand
    in element e or below it; `places` names elements with an equal label under an equal parent
    label alike; `group_numbers` (E) counts the siblings before that are labelled alike.
    """

    def __init__(self, page: Page) -> None:
        elements, blocks = page.elements, page.blocks
        self.element = np.array([b.element for b in blocks], dtype=np.int64)
        self.first, self.end = self._ranges(page)
        parents = [max(e.parent, 0) for e in elements]
        depth = [0] * len(elements)
        places: list[int] = []
        groups: list[int] = []
        numbers: list[int] = []
        place_of: dict[tuple[str, str], int] = {}
        group_of: dict[tuple[int, str], int] = {}
        sizes: list[int] = []
        for index, (element, parent) in enumerate(zip(elements, parents, strict=True)):
            depth[index] = depth[parent] + (index > 0)
            place = elements[parent].label, element.label
            places.append(place_of.setdefault(place, len(place_of)))
            group = group_of.setdefault((element.parent, element.label), len(sizes))
            if group == len(sizes):
                sizes.append(0)
            groups.append(group)
            numbers.append(sizes[group])
            sizes[group] += 1
        self.parent, self.depth, self.places, self.groups, self.group_numbers = (
            np.array(values, dtype=np.int64) for values in (parents, depth, places, groups, numbers)
        )
        self.group_sizes = np.array(sizes, dtype=np.int64)[self.groups]

    def ancestors(self, levels: int) -> list[Integers]:
        """For each block its element, that one's parent, and so on; the root again at the end."""
        found = [self.element]
        for _ in range(levels):
            found.append(self.parent[found[-1]])
        return found

    def below(self, values: Floats) -> Floats:
        """Sums of block values over each element and all below it."""
        sums = np.concatenate(([0.0], np.cumsum(values)))
        result: Floats = sums[self.end] - sums[self.first]
        return result

    def inherit(self, masks: Integers) -> Integers:
        """Bits of each element and all its ancestors."""
        inherited = masks.tolist()
        for index, parent in enumerate(self.parent.tolist()):
            inherited[index] |= inherited[parent]
        return np.array(inherited, dtype=np.int64)

    def repeated_item(self) -> Integers:
        """For each element the nearest one, itself or above, with like siblings; 0 without one."""
        nearest = [0] * len(self.parent)
        repeated = (self.group_sizes > 1).tolist()
        for index, parent in enumerate(self.parent.tolist()):
            nearest[index] = index if repeated[index] else nearest[parent]
        return np.array(nearest, dtype=np.int64)

    @cached_property
    def repeated_items(self) -> dict[str, Integers]:
        """For each block the nearest element with like siblings, and the nearest around that."""
        nearest = self.repeated_item()
        item = nearest[self.element]
        return {"item": item, "outer": nearest[self.parent[item]]}

    def _ranges(self, page: Page) -> tuple[Integers, Integers]:
        count = len(page.blocks)
        first, end = [count] * len(page.elements), [0] * len(page.elements)
        for block in page.blocks:
            first[block.element] = min(first[block.element], block.index)
            end[block.element] = max(end[block.element], block.index + 1)
        for element in reversed(page.elements[1:]):
            first[element.parent] = min(first[element.parent], first[element.index])
            end[element.parent] = max(end[element.parent], end[element.index])
        starts = np.minimum(np.array(first, dtype=np.int64), np.array(end, dtype=np.int64))
        return starts, np.array(end, dtype=np.int64)


def window_means(values: Floats, weights: Floats, reach: int) -> tuple[Floats, Floats]:
    """Sums of values by sums of weights over up to `reach` blocks before and after each block."""
    count = len(values)
    index = np.arange(count)
    sums = np.concatenate(([0.0], np.cumsum(values)))
    weighed = np.concatenate(([0.0], np.cumsum(weights)))
    low, high = np.maximum(index - reach, 0), np.minimum(index + 1 + reach, count)
    before = (sums[index] - sums[low]) / np.maximum(weighed[index] - weighed[low], 1)
    after = (sums[high] - sums[index + 1]) / np.maximum(weighed[high] - weighed[index + 1], 1)
    return before, after
