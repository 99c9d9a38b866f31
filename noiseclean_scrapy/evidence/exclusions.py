"""Kinds of text that options leave out, whatever the model says of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.evidence.features import PageFeatures
from noiseclean_scrapy.evidence.layout import Floats

DISCUSSION = 0.3
"""A page is a discussion where the content outside of comments is below this share of theirs."""
SHORT_CELL = 40.0
"""A table is one of data, not of layout, where a cell's text is shorter on average."""
LINK_LIST = 0.8
"""A block is a link where this share of its characters is anchor text."""


def comments(features: PageFeatures, scores: Floats) -> NDArray[np.bool_]:
    """Readers' comments, unless the page is a discussion or declares itself one."""
    inside = features.inside("x_comment")
    if "discussion" in features.page.declared.kinds:
        return np.zeros(len(scores), dtype=bool)
    kept = np.where(scores > 0, features.lengths, 0.0)
    if kept[~inside].sum() < DISCUSSION * kept[inside].sum():
        return np.zeros(len(scores), dtype=bool)
    return inside


def tables(features: PageFeatures, scores: Floats) -> NDArray[np.bool_]:
    """Text of data tables."""
    inside: NDArray[np.bool_] = features.inside("cell") & (features.cell_lengths < SHORT_CELL)
    return inside


def images(features: PageFeatures, scores: Floats) -> NDArray[np.bool_]:
    """Captions of images."""
    return features.near("x_caption") | features.inside("figure")


def links(features: PageFeatures, scores: Floats) -> NDArray[np.bool_]:
    """Blocks that are links."""
    linked: NDArray[np.bool_] = features.link_share > LINK_LIST
    return linked


EXCLUSIONS: dict[str, Callable[[PageFeatures, Floats], NDArray[np.bool_]]] = {
    function.__name__: function for function in (comments, tables, images, links)
}
"""By the name of the option: which blocks it leaves out, given the page and the log-odds."""
