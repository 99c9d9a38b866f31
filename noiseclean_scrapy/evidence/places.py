"""Which blocks of a page stand at the same place of the site's layout, and the places' keys."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from noiseclean_scrapy.evidence.layout import Floats, Integers, PageArrays, page_arrays
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.site.hashes import hash64

PLACE_LEVELS = 4
"""Labels, the innermost first, that name a place in the layout: an added wrapper far up moves
nothing."""


class PagePlaces:
    """The distinct places of a page's B blocks, P in all.

    `keys` (P) are their hashes; `own` (B) says which of them is that of a block's element, `around`
    (B) which is that of the element's surroundings. No place is both.
    """

    def __init__(self, arrays: PageArrays) -> None:
        places = _elements_alike(arrays)
        self.keys: list[int] = []
        self.own = self._add("=", arrays, places, arrays.element)
        self.around = self._add("^", arrays, places, arrays.parent[arrays.element])

    def means(self, scores: Floats) -> Floats:
        """Means (P) of block scores (B) by place."""
        of = np.concatenate((self.own, self.around))
        return np.bincount(of, weights=np.concatenate((scores, scores))) / np.bincount(of)

    def _add(self, kind: str, arrays: PageArrays, places: Integers, at: Integers) -> Integers:
        _, example, number = np.unique(places[at], return_index=True, return_inverse=True)
        found = arrays.ancestors(PLACE_LEVELS - 1, at[example])
        levels = np.minimum(arrays.depth[at[example]] + 1, PLACE_LEVELS).tolist()
        start = len(self.keys)
        for path, count in zip(arrays.labels[found].T.tolist(), levels, strict=True):
            names = [arrays.label_names[label] for label in path[:count]]
            self.keys.append(_key((kind, *names)))
        return number + start


def page_places(page: Page) -> PagePlaces:
    """The places of a page's blocks."""
    return PagePlaces(page_arrays(page))


def _elements_alike(arrays: PageArrays) -> Integers:
    """Numbers of the elements (E): the same where the last `PLACE_LEVELS` labels are the same."""
    two_up = arrays.parent[arrays.parent]
    levels = np.minimum(arrays.depth + 1, PLACE_LEVELS)
    alike: Integers = arrays.places * (arrays.places.max() + 1) + arrays.places[two_up]
    return alike * (PLACE_LEVELS + 1) + levels


@lru_cache(maxsize=50_000)
def _key(parts: tuple[str, ...]) -> int:
    return hash64("\0".join(parts))
