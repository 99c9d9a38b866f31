"""Kinds of text that are left out whatever the model says of them, most by an option."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.page_features import PageFeatures
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats
from noiseclean_scrapy.methods.evidence_model.vocabulary import asks_consent

DISCUSSION = 0.3
LITTLE = 200.0
"""A page is a discussion where the content outside of comments is below this share of theirs, or
is less than theirs and so little (weighted characters): a headline, and whose post it is."""
SHORT_CELL = 40.0
"""A table is one of data, not of layout, where a cell's text is shorter on average."""
LINK_LIST = 0.8
"""A block is a link where this share of its characters is anchor text."""


def comments(features: PageFeatures) -> NDArray[np.bool_]:
    """Readers' comments, unless the page declares itself a discussion."""
    inside = features.inside("x_comment")
    if "discussion" in features.page.declared.kinds:
        return np.zeros(len(inside), dtype=bool)
    return inside


def tables(features: PageFeatures) -> NDArray[np.bool_]:
    """Text of data tables."""
    inside = features.inside("cell")
    return inside & (features.cell_lengths < SHORT_CELL) if inside.any() else inside


def captions(features: PageFeatures) -> NDArray[np.bool_]:
    """Captions of images."""
    return features.near("x_caption") | features.inside("figure")


def link_lists(features: PageFeatures) -> NDArray[np.bool_]:
    """Blocks that are links."""
    linked: NDArray[np.bool_] = features.link_share > LINK_LIST
    return linked


def consent(features: PageFeatures) -> NDArray[np.bool_]:
    """Dialogs that ask for consent to cookies."""
    return features.below_any(features.arrays.named(asks_consent))


KINDS: dict[str, Callable[[PageFeatures], NDArray[np.bool_]]] = {
    function.__name__: function for function in (comments, tables, captions, link_lists, consent)
}
"""By its name: which blocks are of the kind."""


def excluded(
    names: Iterable[str], kinds: Mapping[str, NDArray[np.bool_]], lengths: Floats, scores: Floats
) -> dict[str, NDArray[np.bool_]]:
    """Which of B blocks (B) are left out as what, given the kinds (B), lengths and log-odds.

    Comments stay where they are what there is to read.
    """
    return {
        name: kinds[name]
        for name in names
        if name != comments.__name__ or not is_discussion(kinds[name], lengths, scores)
    }


def is_discussion(inside: NDArray[np.bool_], lengths: Floats, scores: Floats) -> bool:
    """Whether little of the content is outside of the comments."""
    kept = np.where(scores > 0, lengths, 0.0)
    outside, within = kept[~inside].sum(), kept[inside].sum()
    return bool(outside < DISCUSSION * within or outside < min(LITTLE, within))
