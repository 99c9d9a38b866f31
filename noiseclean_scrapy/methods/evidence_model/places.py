"""Which blocks of a page stand at the same place of the site's layout, and the places' keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.tree_index import (
    Floats,
    PageArrays,
    page_arrays,
)
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.hashes import hash64

PLACE_LEVELS = 4
"""Labels, the innermost first, that name a place in the layout: an added wrapper far up moves
nothing."""

FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)
"""Odd factors of the labels' hashes, by level; the sum modulo 2^64 is the hash of the path."""
OWN, AROUND = 0x243F6A8885A308D3, 0x13198A2E03707344
"""What the path's hash is combined with in the key of a block's place, and of that around it."""

Keys = NDArray[np.uint64]
_FACTORS = np.array(FACTORS[:PLACE_LEVELS], dtype=np.uint64)


class PagePlaces:
    """The distinct places of a page's B blocks, P in all.

    `keys` (P) are their hashes, ascending; `own` (B) says which of them is that of a block's
    element, `around` (B) which is that of the element's surroundings.
    """

    def __init__(self, arrays: PageArrays) -> None:
        paths, element = _path_hashes(arrays, arrays.label_names), arrays.element
        own, around = paths[element], paths[arrays.parent[element]]
        marked = np.concatenate((own ^ np.uint64(OWN), around ^ np.uint64(AROUND)))
        self.keys, numbers = np.unique(_mixed(marked), return_inverse=True)
        self.own, self.around = numbers[: len(own)], numbers[len(own) :]

    def means(self, scores: Floats) -> Floats:
        """Means (P) of block scores (B) by place."""
        of = np.concatenate((self.own, self.around))
        return np.bincount(of, weights=np.concatenate((scores, scores))) / np.bincount(of)


def page_places(page: Page) -> PagePlaces:
    """The places of a page's blocks."""
    return PagePlaces(page_arrays(page))


def tag_paths(page: Page) -> Keys:
    """Hashes (B) of the places of a page's blocks by tags alone, whatever their classes are."""
    arrays = page_arrays(page)
    return _mixed(_path_hashes(arrays, arrays.label_tags)[arrays.element])


def _path_hashes(arrays: PageArrays, label_names: Sequence[str]) -> Keys:
    """Hashes (E) of the last `PLACE_LEVELS` labels of each element, which have these names."""
    names = np.array([_label_hash(name) for name in label_names], dtype=np.uint64)
    if kernels.blocks is not None:
        found: Keys = kernels.blocks.path_hashes(names, arrays.labels, arrays.parent, _FACTORS)
        return found
    labels = names[arrays.labels]
    at = np.arange(len(labels))
    hashes = np.zeros(len(labels), dtype=np.uint64)
    inside = np.ones(len(labels), dtype=np.uint64)
    for factor in _FACTORS:
        hashes += labels[at] * inside * factor
        inside = inside * (at > 0)
        at = arrays.parent[at]
    return hashes


def _mixed(hashes: Keys) -> Keys:
    """Each bit of a hash spread over all (the finalizer of SplitMix64, Steele et al. 2014)."""
    hashes = (hashes ^ hashes >> np.uint64(30)) * np.uint64(FACTORS[1])
    hashes = (hashes ^ hashes >> np.uint64(27)) * np.uint64(FACTORS[2])
    return hashes ^ hashes >> np.uint64(31)


@lru_cache(maxsize=50_000)
def _label_hash(label: str) -> int:
    return hash64(label)
