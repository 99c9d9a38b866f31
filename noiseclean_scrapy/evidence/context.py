"""Evidence of the neighbours: what a first judgement says of the blocks around a block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.evidence.features import LONG, PageFeatures
from noiseclean_scrapy.evidence.layout import Floats, Integers, window_means

_LEVELS = 5
_NEIGHBOURS = 3
_MAIN_SHARE = 0.7
_GOOD = 0.5
_NOTHING = -0.1


def context_features(
    features: PageFeatures, score: Floats
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Names and matrix (blocks, features) of the context, from each block's log-odds `score`."""
    context = _Context(features, score)
    columns = {
        "score": score,
        **context.neighbours(),
        **context.containers(),
        **context.extent(),
        **context.runs(),
        **context.page(),
    }
    return tuple(columns), np.array(list(columns.values()), dtype=np.float32).T


class _Context:
    """A page's blocks with the probability `p` and the expected content `mass` of each."""

    def __init__(self, features: PageFeatures, score: Floats) -> None:
        self.features = features
        self.arrays = features.arrays
        self.lengths = np.maximum(features.lengths, 1.0)
        self.p = 1 / (1 + np.exp(-score))
        self.mass = self.p * self.lengths
        self.total = float(self.lengths.sum())
        self.all_mass = max(float(self.mass.sum()), 1.0)
        self.below_mass = self.arrays.below(self.mass)
        self.below_text = np.maximum(self.arrays.below(self.lengths), 1.0)
        self.good = self.p >= _GOOD

    def neighbours(self) -> dict[str, Floats]:
        """The blocks before and after."""
        columns: dict[str, Floats] = {}
        count = len(self.p)
        for step in range(1, _NEIGHBOURS + 1):
            for sign, side in ((-1, "before"), (1, "after")):
                at = np.arange(count) + sign * step
                there = (at >= 0) & (at < count)
                p = self.p[np.clip(at, 0, count - 1)]
                columns[f"{side}{step}_p"] = np.where(there, p, _NOTHING)
        for reach in (4, 12):
            before, after = window_means(self.mass, self.lengths, reach)
            columns |= {f"window{reach}_p_before": before, f"window{reach}_p_after": after}
        return columns

    def containers(self) -> dict[str, Floats]:
        """The ancestors, like siblings, and the same place elsewhere on the page."""
        arrays, below_mass, below_text = self.arrays, self.below_mass, self.below_text
        columns: dict[str, Floats] = {}
        for level, at in enumerate(arrays.ancestors(_LEVELS)):
            others = below_text[at] - self.lengths
            p = (below_mass[at] - self.mass) / np.maximum(others, 1)
            columns[f"up{level}_p"] = np.where(others > 0, p, _NOTHING)
            columns[f"up{level}_mass_share"] = below_mass[at] / self.all_mass
        group_mass = np.bincount(arrays.groups, weights=below_mass)
        group_text = np.bincount(arrays.groups, weights=below_text)
        for name, at in {"siblings": arrays.element, **arrays.repeated_items}.items():
            of = arrays.groups[at]
            columns[f"{name}_p"] = group_mass[of] / group_text[of]
            columns[f"{name}_mass_share"] = group_mass[of] / self.all_mass
            columns[f"{name}_own_p"] = below_mass[at] / below_text[at]
        place = arrays.places[arrays.element]
        mass = np.bincount(place, weights=self.mass)
        columns["place_p"] = mass[place] / np.bincount(place, weights=self.lengths)[place]
        return columns

    def extent(self) -> dict[str, Floats]:
        """The element of the content, the comments, and how much content is before and after."""
        arrays, mass, all_mass = self.arrays, self.mass, self.all_mass
        main = _main(self.below_mass)
        index = np.arange(len(mass))
        inside = (index >= arrays.first[main]) & (index < arrays.end[main])
        comments = self.features.inside("x_comment") | self.features.inside("c_comment")
        passed = np.cumsum(mass)
        return {
            "in_mass_main": inside.astype(np.float64),
            "main_p": self._all(self.below_mass[main] / self.below_text[main]),
            "mass_main_text_share": self._all(self.below_text[main] / self.total),
            "levels_to_main": _levels_between(arrays.parent, arrays.element, main),
            "comment_mass_share": self._all(float(mass[comments].sum()) / all_mass),
            "article_mass": self._all(np.log1p(float(mass[~comments].sum()))),
            "mass_before": (passed - mass) / all_mass,
            "mass_after": 1 - passed / all_mass,
        }

    def runs(self) -> dict[str, Floats]:
        """How far the next content is, and how many solid blocks of it are on either side."""
        noise = np.cumsum(np.where(self.good, 0.0, self.lengths))
        to_end = noise[-1] - noise
        since = noise - _last(np.where(self.good, noise, np.nan))
        until = to_end - _last(np.where(self.good, to_end, np.nan)[::-1])[::-1]
        solid = self.good & (self.lengths >= LONG)
        passed = np.cumsum(solid)
        return {
            "noise_since_good": np.log1p(since),
            "noise_until_good": np.log1p(until),
            "good_before": np.log1p(passed - solid),
            "good_after": np.log1p(solid.sum() - passed),
        }

    def page(self) -> dict[str, Floats]:
        """How much content there is on the page, and how sure that is."""
        lengths, p, good = self.lengths, self.p, self.good
        text = max(float(lengths[good].sum()), 1.0)
        linked = float((lengths * self.features.link_share)[good].sum())
        starts = np.diff(good.astype(np.int8)) == 1
        return {
            "page_mass": self._all(np.log1p(self.all_mass)),
            "page_p": self._all(self.all_mass / self.total),
            "page_doubt": self._all(float((lengths * p * (1 - p)).sum()) / self.total),
            "page_good_length": self._all(
                np.log1p(float(lengths[good].mean()) if good.any() else 0.0)
            ),
            "page_good_links": self._all(linked / text),
            "page_runs": self._all(np.log1p(float(starts.sum()))),
        }

    def _all(self, value: float) -> Floats:
        return np.full(len(self.p), value)


def _main(mass: Floats) -> int:
    """Deepest element that holds more than 70 % of the page's expected content."""
    enough = np.flatnonzero(mass >= _MAIN_SHARE * mass[0])
    return int(enough[-1]) if len(enough) else 0


def _levels_between(parents: Integers, elements: Integers, main: int) -> Floats:
    """Levels from the main element up to the nearest element that also holds the block."""
    known: dict[int, int] = {}
    here, level = main, 0
    while here not in known:
        known[here] = level
        here, level = int(parents[here]), level + 1
    levels = []
    for element in elements.tolist():
        trail = []
        while element not in known:
            trail.append(element)
            element = int(parents[element])
        for passed in trail:
            known[passed] = known[element]
        levels.append(known[element])
    return np.array(levels, dtype=np.float64)


def _last(values: Floats) -> Floats:
    """Each value, or the last one before it where it is NaN; 0 where there is none."""
    at = np.maximum.accumulate(np.where(np.isnan(values), -1, np.arange(len(values))))
    return np.where(at >= 0, values[at], 0.0)
