"""Features of the neighbours: what a first judgement says of the blocks around a block."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.features import (
    ITEMS,
    SAME_PLACE,
    FeatureTable,
    Rows,
    merged,
    of_ancestors,
    told,
)
from noiseclean_scrapy.methods.evidence_model.measures import LEVELS, LONG, PageMeasures
from noiseclean_scrapy.methods.evidence_model.tree_index import (
    Floats,
    Integers,
    group_sums,
    last_marked,
    shifted,
    window_means,
)
from noiseclean_scrapy.page.characters import counted

_REACHES = (4, 12)
_MAIN_SHARE = 0.7
_GOOD = 0.5
_NOTHING = -0.1


class ContextMeasures:
    """What a first judgement makes of a page.

    `score` (B) are log-odds, `p` (B) probabilities, `mass` (B) the expected content.
    """

    def __init__(self, page: PageMeasures, score: Floats) -> None:
        self.page = page
        self.arrays = page.arrays
        self.score = score
        self.p: Floats = 1 / (1 + np.exp(-score))
        self.lengths = np.maximum(page.lengths, 1.0)
        self.mass = self.p * self.lengths
        self.total = float(self.lengths.sum())
        self.all_mass = max(float(self.mass.sum()), 1.0)
        self.good = self.p >= _GOOD

    @cached_property
    def below(self) -> Floats:
        """Expected content and text (2, E) of each element and all below it."""
        below = self.arrays.below(np.array((self.mass, self.lengths)))
        np.maximum(below[1], 1.0, out=below[1])
        return below

    @cached_property
    def main(self) -> int:
        """The deepest element that holds more than a share of the page's expected content."""
        mass = self.below[0]
        return int(np.flatnonzero(mass >= _MAIN_SHARE * mass[0])[-1])


CONTEXT = FeatureTable[ContextMeasures]()
"""The features of what was thought of a page's blocks at first."""


def context_features(page: PageMeasures, score: Floats) -> NDArray[np.float32]:
    """`CONTEXT` (blocks, features) of a page, from each block's log-odds `score`."""
    return CONTEXT.matrix(ContextMeasures(page, score), len(score))


@CONTEXT.group("first judgement", "page", {"score": "first judgement of the block alone"})
def _score(context: ContextMeasures) -> Rows:
    yield context.score


@CONTEXT.group(
    "judgement of the blocks around",
    "neighbours",
    merged(
        told(f"{side}{step}_{{}}", f"{{}} {counted(step, 'block')} {side}", "p")
        for step in (1, 2, 3)
        for side in ("before", "after")
    )
    | merged(
        told(f"window{reach}_{{}}_{side}", f"{{}} in the {reach} blocks {side}", "p")
        for reach in _REACHES
        for side in ("before", "after")
    ),
)
def _around(context: ContextMeasures) -> Rows:
    for step in (1, 2, 3):
        yield shifted(context.p, -step, _NOTHING)
        yield shifted(context.p, step, _NOTHING)
    yield window_means(context.mass[None], context.lengths, _REACHES).reshape(4, -1)


@CONTEXT.group("judgement of the containers", "neighbours", of_ancestors(LEVELS, "p", "mass_share"))
def _ancestors(context: ContextMeasures) -> Rows:
    mass, text = context.below.take(context.page.ancestors, axis=1)
    others = text - context.lengths
    p = np.where(others > 0, (mass - context.mass) / np.maximum(others, 1), _NOTHING)
    share = mass / context.all_mass
    yield np.stack((p, share), axis=1).reshape(-1, len(context.p))


@CONTEXT.group(
    "judgement of the containers",
    "neighbours",
    merged(
        told(f"{item}_{{}}", f"{{}} of {words}", "p", "mass_share", "own_p")
        for item, words in ({"siblings": "like siblings"} | ITEMS).items()
    )
    | told("place_{}", SAME_PLACE, "p"),
)
def _alike(context: ContextMeasures) -> Rows:
    arrays, (mass, text) = context.arrays, context.below
    group_mass, group_text = group_sums(context.below, arrays.groups)
    p, share, own = group_mass / group_text, group_mass / context.all_mass, mass / text
    for item in (context.page.ancestors[0], *arrays.repeated_items):
        group = arrays.groups[item]
        yield p[group]
        yield share[group]
        yield own[item]
    place = context.page.places
    place_mass, place_text = group_sums(np.array((context.mass, context.lengths)), place)
    yield place_mass[place] / np.maximum(place_text[place], 1)


@CONTEXT.group(
    "extent of the content",
    "neighbours",
    {
        "in_mass_main": "in the main element of the content",
        "main_p": "expected share of content of the main element",
        "mass_main_text_share": "mass main text share",
        "levels_to_main": "levels up to the main element of the content",
        "comment_mass_share": "share of the expected content in comments",
        "article_mass": "expected content outside of comments",
        "mass_before": "share of the expected content that stands before",
        "mass_after": "share of the expected content that follows",
    },
)
def _extent(context: ContextMeasures) -> Rows:
    arrays, mass, main, index = context.arrays, context.mass, context.main, context.page.index
    is_comment = context.page.inside("x_comment") | context.page.inside("c_comment")
    passed = np.cumsum(mass)
    yield (index >= arrays.first[main]) & (index < arrays.end[main])
    yield context.below[0, main] / context.below[1, main]
    yield context.below[1, main] / context.total
    yield _levels_to(context, main)
    yield mass[is_comment].sum() / context.all_mass
    yield np.log1p(mass[~is_comment].sum())
    yield (passed - mass) / context.all_mass
    yield 1 - passed / context.all_mass


def _levels_to(context: ContextMeasures, main: int) -> Integers:
    """Levels from the main element up to the nearest element that also holds the block."""
    arrays = context.arrays
    levels = np.full(len(arrays.parent), -1)
    here, level = main, 0
    while levels[here] < 0:
        levels[here] = level
        here, level = int(arrays.parent[here]), level + 1
    between: Integers = levels[arrays.nearest(levels >= 0)[context.page.ancestors[0]]]
    return between


@CONTEXT.group(
    "extent of the content",
    "neighbours",
    {
        "noise_since_good": "noise since the last content",
        "noise_until_good": "noise until the next content",
        "good_before": "solid blocks of content before",
    },
)
def _runs(context: ContextMeasures) -> Rows:
    good = context.good
    noise = np.cumsum(np.where(good, 0.0, context.lengths))
    to_end = noise[-1] - noise
    solid = good & (context.lengths >= LONG)
    passed = np.cumsum(solid)
    yield np.log1p(noise - _last(noise, good))
    yield np.log1p(to_end - _last(to_end[::-1], good[::-1])[::-1])
    yield np.log1p(passed - solid)


def _last(values: Floats, wanted: NDArray[np.bool_]) -> Floats:
    """For each place the last wanted value up to it; 0 where there is none."""
    at = last_marked(wanted)
    return np.where(at >= 0, values[at], 0.0)


@CONTEXT.group(
    "judgement of the page",
    "neighbours",
    told("page_{}", "{} of the page", "mass", "p", "doubt", "good_length", "good_links", "runs"),
)
def _page(context: ContextMeasures) -> Rows:
    lengths, p, good = context.lengths, context.p, context.good
    text, count = float(lengths[good].sum()), int(np.count_nonzero(good))
    yield np.log1p(context.all_mass)
    yield context.all_mass / context.total
    yield (lengths * p * (1 - p)).sum() / context.total
    yield np.log1p(text / max(count, 1))
    yield (lengths * context.page.link_share)[good].sum() / max(text, 1.0)
    yield np.log1p(np.count_nonzero(good[1:] & ~good[:-1]))
