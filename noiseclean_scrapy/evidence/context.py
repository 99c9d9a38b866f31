"""Evidence of the neighbours: what a first judgement says of the blocks around a block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.evidence.features import PageFeatures
from noiseclean_scrapy.evidence.layout import Floats, Integers

_LEVELS = 5
_NEIGHBOURS = 3
_MAIN_SHARE = 0.7


def context_features(
    features: PageFeatures, score: Floats
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Names and matrix (blocks, features) of the context, from each block's log-odds `score`."""
    arrays = features.arrays
    lengths = np.maximum(features.lengths, 1.0)
    p = 1 / (1 + np.exp(-score))
    mass = p * lengths
    count = len(p)
    index = np.arange(count)
    total = float(lengths.sum())
    all_mass = max(float(mass.sum()), 1.0)
    columns: dict[str, Floats] = {"score": score}
    for step in range(1, _NEIGHBOURS + 1):
        for sign, side in ((-1, "before"), (1, "after")):
            at = index + sign * step
            there = (at >= 0) & (at < count)
            columns[f"{side}{step}_p"] = np.where(there, p[np.clip(at, 0, count - 1)], -0.1)
    for reach in (4, 12):
        columns[f"window{reach}_p_before"], columns[f"window{reach}_p_after"] = _weighted_windows(
            mass, lengths, reach
        )
    below_mass, below_text = arrays.below(mass), np.maximum(arrays.below(lengths), 1.0)
    for level, at in enumerate(arrays.ancestors(_LEVELS)):
        others = below_text[at] - lengths
        columns[f"up{level}_p"] = np.where(
            others > 0, (below_mass[at] - mass) / np.maximum(others, 1), -0.1
        )
        columns[f"up{level}_mass_share"] = below_mass[at] / all_mass
    item = arrays.repeated_item()[arrays.element]
    outer = arrays.repeated_item()[arrays.parent[item]]
    for name, at in (("siblings", arrays.element), ("item", item), ("outer", outer)):
        group = arrays.groups
        group_mass = np.bincount(group, weights=below_mass)[group[at]]
        group_text = np.bincount(group, weights=below_text)[group[at]]
        columns[f"{name}_p"] = group_mass / group_text
        columns[f"{name}_mass_share"] = group_mass / all_mass
        columns[f"{name}_own_p"] = below_mass[at] / below_text[at]
    place = arrays.places[arrays.element]
    columns["place_p"] = (
        np.bincount(place, weights=mass)[place] / np.bincount(place, weights=lengths)[place]
    )
    main = _main(arrays.parent, below_mass)
    inside = (index >= arrays.first[main]) & (index < arrays.end[main])
    columns["in_mass_main"] = inside.astype(np.float64)
    columns["main_p"] = np.full(count, below_mass[main] / below_text[main])
    columns["mass_main_text_share"] = np.full(count, below_text[main] / total)
    columns["levels_to_main"] = _levels_between(arrays.parent, arrays.depth, arrays.element, main)
    in_comments = features.inside("x_comment") | features.inside("c_comment")
    columns["comment_mass_share"] = np.full(count, float(mass[in_comments].sum()) / all_mass)
    columns["article_mass"] = np.full(count, np.log1p(float(mass[~in_comments].sum())))
    columns["mass_before"] = (np.cumsum(mass) - mass) / all_mass
    columns["mass_after"] = 1 - np.cumsum(mass) / all_mass
    good = p >= 0.5
    noise = np.cumsum(np.where(good, 0.0, lengths))
    columns["noise_since_good"] = np.log1p(noise - _last(np.where(good, noise, np.nan), 0.0))
    from_end = noise[-1] - noise
    columns["noise_until_good"] = np.log1p(
        from_end - _last(np.where(good, from_end, np.nan)[::-1], 0.0)[::-1]
    )
    solid = good & (lengths >= 80)
    columns["good_before"] = np.log1p(np.cumsum(solid) - solid)
    columns["good_after"] = np.log1p(solid.sum() - np.cumsum(solid))
    for name, value in (
        ("page_mass", np.log1p(all_mass)),
        ("page_p", all_mass / total),
        ("page_doubt", float((lengths * p * (1 - p)).sum()) / total),
        ("page_good_length", np.log1p(float(lengths[good].mean()) if good.any() else 0.0)),
        (
            "page_good_links",
            float((lengths * features.link_share)[good].sum())
            / max(float(lengths[good].sum()), 1.0),
        ),
        ("page_runs", np.log1p(float((np.diff(good.astype(np.int8)) == 1).sum()))),
    ):
        columns[name] = np.full(count, value)
    return tuple(columns), np.stack(list(columns.values()), axis=1).astype(np.float32)


def _weighted_windows(mass: Floats, lengths: Floats, reach: int) -> tuple[Floats, Floats]:
    count = len(mass)
    index = np.arange(count)
    masses = np.concatenate(([0.0], np.cumsum(mass)))
    texts = np.concatenate(([0.0], np.cumsum(lengths)))
    low, high = np.maximum(index - reach, 0), np.minimum(index + 1 + reach, count)
    before = (masses[index] - masses[low]) / np.maximum(texts[index] - texts[low], 1)
    after = (masses[high] - masses[index + 1]) / np.maximum(texts[high] - texts[index + 1], 1)
    return before, after


def _main(parents: Integers, mass: Floats) -> int:
    """Deepest element that holds more than 70 % of the page's expected content."""
    enough = np.flatnonzero(mass >= _MAIN_SHARE * mass[0])
    return int(enough[-1]) if len(enough) else 0


def _levels_between(parents: Integers, depth: Integers, elements: Integers, main: int) -> Floats:
    """Levels from the main element up to the nearest element that also holds the block."""
    up = {}
    here, level = main, 0
    while here not in up:
        up[here] = level
        here, level = int(parents[here]), level + 1
    known: dict[int, int] = dict(up)
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


def _last(values: Floats, start: float) -> Floats:
    """Each value, or the last one before it where it is NaN."""
    at = np.maximum.accumulate(np.where(np.isnan(values), -1, np.arange(len(values))))
    return np.where(at >= 0, values[at], start)
