"""Evidence of the neighbours: what a first judgement says of the blocks around a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.feature_rows import Columns
from noiseclean_scrapy.methods.evidence_model.page_features import BITS, LONG, PageFeatures
from noiseclean_scrapy.methods.evidence_model.tree_index import (
    Floats,
    Integers,
    PageArrays,
    window_means,
)

_LEVELS = 5
_NEIGHBOURS = 3
_WINDOWS = (4, 12)
_MAIN_SHARE = 0.7
_GOOD = 0.5
_NOTHING = -0.1
_COMMENTS = BITS["x_comment"] | BITS["c_comment"]


def _names() -> Iterator[str]:
    yield "score"
    for step in (1, 2, 3):
        yield from (f"before{step}_p", f"after{step}_p")
    for reach in _WINDOWS:
        yield from (f"window{reach}_p_before", f"window{reach}_p_after")
    for level in range(_LEVELS + 1):
        yield from (f"up{level}_p", f"up{level}_mass_share")
    for item in ("siblings", "item", "outer"):
        yield from (f"{item}_p", f"{item}_mass_share", f"{item}_own_p")
    yield "place_p"
    yield from ("in_mass_main", "main_p", "mass_main_text_share", "levels_to_main")
    yield from ("comment_mass_share", "article_mass", "mass_before", "mass_after")
    yield from ("noise_since_good", "noise_until_good", "good_before", "good_after")
    for name in ("mass", "p", "doubt", "good_length", "good_links", "runs"):
        yield f"page_{name}"


CONTEXT = tuple(_names())
"""Names of the features of the context, in the order of the columns."""


def context_features(
    features: PageFeatures, score: Floats
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Names and matrix (blocks, features) of the context, from each block's log-odds `score`."""
    p = 1 / (1 + np.exp(-score))
    found = np.empty((len(CONTEXT), len(score)), dtype=np.float32)
    twin = ContextRows if kernels.blocks is None else kernels.blocks.ContextRows
    rows = twin(found, features.arrays, features.lengths, p)
    rows.add_neighbours(score, _NEIGHBOURS, _WINDOWS, _NOTHING)
    rows.add_containers(_LEVELS, features.arrays.repeated_items, _NOTHING)
    rows.add_extent(_MAIN_SHARE, features.above, _COMMENTS)
    rows.add_runs(_GOOD, LONG)
    rows.add_page(features.link_share, _GOOD)
    return CONTEXT, rows.matrix


class ContextRows(Columns):
    """Fills `rows` (features, blocks), one method after the other in the order in which they stand.

    `p` (B) is the probability of each block; with it comes the expected content, `mass`.
    `kernels.blocks.ContextRows` is its twin.
    """

    def __init__(
        self, rows: NDArray[np.float32], arrays: PageArrays, lengths: Floats, p: Floats
    ) -> None:
        super().__init__(rows)
        self.arrays = arrays
        self.lengths = np.maximum(lengths, 1.0)
        self.p = p
        self.mass = self.p * self.lengths
        self.total = float(self.lengths.sum())
        self.all_mass = max(_in_order(self.mass), 1.0)
        self.below_mass, below_text = self.arrays.below(np.stack([self.mass, self.lengths]))
        self.below_text = np.maximum(below_text, 1.0)

    def add_neighbours(
        self, score: Floats, steps: int, windows: Sequence[int], nothing: float
    ) -> None:
        """The first judgement, and the probabilities of the blocks before and after."""
        self.add(score)
        count = len(self.p)
        around = np.full(count + 2 * steps, nothing)
        around[steps : steps + count] = self.p
        for step in range(1, steps + 1):
            before, after = steps - step, steps + step
            self.add(around[before : before + count], around[after : after + count])
        means = window_means(self.mass[None], self.lengths, windows)
        self.next(means.size // count)[:] = means.reshape(-1, count)

    def add_containers(self, levels: int, items: Integers, nothing: float) -> None:
        """The ancestors, like siblings, and the same place elsewhere on the page."""
        arrays, below_mass, below_text = self.arrays, self.below_mass, self.below_text
        at = arrays.ancestors(levels)
        others = below_text[at] - self.lengths
        mass = below_mass[at]
        p = np.where(others > 0, (mass - self.mass) / np.maximum(others, 1), nothing)
        self.add_by_place(np.stack([p, mass / self.all_mass]))
        group_mass = np.bincount(arrays.groups, weights=below_mass)
        group_text = np.bincount(arrays.groups, weights=below_text)
        groups = np.stack([group_mass / group_text, group_mass / self.all_mass])
        at = np.stack([arrays.element, *items])
        own = below_mass / below_text
        columns = np.empty((3, *at.shape))
        columns[:2], columns[2] = groups.take(arrays.groups[at], axis=1), own[at]
        self.add_by_place(columns)
        place = arrays.places[arrays.element]
        place_mass = np.bincount(place, weights=self.mass)
        self.add(place_mass[place] / np.bincount(place, weights=self.lengths)[place])

    def add_extent(self, share: float, above: Integers, comments: int) -> None:
        """The element of the content, comments (by their bits), and what is before and after."""
        arrays, mass, all_mass = self.arrays, self.mass, self.all_mass
        main = _main(self.below_mass, share)
        index = np.arange(len(mass))
        is_comment = above & comments != 0
        passed = np.cumsum(mass)
        self.add(
            (index >= arrays.first[main]) & (index < arrays.end[main]),
            self.below_mass[main] / self.below_text[main],
            self.below_text[main] / self.total,
            _levels_between(arrays, main),
            _in_order(mass[is_comment]) / all_mass,
            np.log1p(_in_order(mass[~is_comment])),
            (passed - mass) / all_mass,
            1 - passed / all_mass,
        )

    def add_runs(self, good_from: float, solid_from: float) -> None:
        """How far the next content is, and how many solid blocks of it are on either side."""
        good = self.p >= good_from
        noise = np.cumsum(np.where(good, 0.0, self.lengths))
        to_end = noise[-1] - noise
        since = noise - _last(noise, good)
        until = to_end - _last(to_end[::-1], good[::-1])[::-1]
        solid = good & (self.lengths >= solid_from)
        passed = np.cumsum(solid)
        runs = np.stack([since, until, passed - solid, passed[-1] - passed])
        self.next(len(runs))[:] = np.log1p(runs)

    def add_page(self, link_share: Floats, good_from: float) -> None:
        """How much content there is on the page, and how sure that is."""
        lengths, p, good = self.lengths, self.p, self.p >= good_from
        found = lengths[good]
        text = float(found.sum())
        linked = _in_order((lengths * link_share)[good])
        starts = np.count_nonzero(good[1:] & ~good[:-1])
        self.add_values(
            np.log1p(self.all_mass),
            self.all_mass / self.total,
            _in_order(lengths * p * (1 - p)) / self.total,
            np.log1p(text / max(len(found), 1)),
            linked / max(text, 1.0),
            np.log1p(starts),
        )


def _in_order(values: Floats) -> float:
    """The sum, one value after the other: numpy's own is of pairs."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _main(mass: Floats, share: float) -> int:
    """Deepest element that holds more than this share of the page's expected content."""
    enough = np.flatnonzero(mass >= share * mass[0])
    return int(enough[-1]) if len(enough) else 0


def _levels_between(arrays: PageArrays, main: int) -> Integers:
    """Levels from the main element up to the nearest element that also holds the block."""
    levels = np.full(len(arrays.parent), -1)
    here, level = main, 0
    while levels[here] < 0:
        levels[here] = level
        here, level = int(arrays.parent[here]), level + 1
    between: Integers = levels[arrays.nearest(levels >= 0)[arrays.element]]
    return between


def _last(values: Floats, wanted: NDArray[np.bool_]) -> Floats:
    """For each place the last wanted value up to it; 0 where there is none."""
    at = np.maximum.accumulate(np.where(wanted, np.arange(len(values)), -1))
    return np.where(at >= 0, values[at], 0.0)
