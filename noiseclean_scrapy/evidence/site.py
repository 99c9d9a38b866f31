"""Evidence of the site: what other pages hold at a block's place, and how many show its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.evidence.layout import Floats
from noiseclean_scrapy.evidence.places import page_places
from noiseclean_scrapy.evidence.text import text_table
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.site.counts import more_frequent_half, read_number
from noiseclean_scrapy.site.hashes import hash64, hash_name, read_hash

PLACE_WEIGHT = 0.4
"""How far a block's log-odds move towards the mean of its place on other pages, at full support."""
REPETITION = 5.0
"""Log-odds that a text loses by the share of the other pages that show it."""
COMMON = 0.3
"""Share of the other pages from which on a text is common."""
COMMON_REPETITION = 6.0
"""Log-odds that a common text loses besides."""
SUPPORT, COMMON_SUPPORT = 6.0, 3.0
"""Pages that give a place, and a common text, half of the full weight."""
CLIP = 6.0
"""Log-odds of single blocks and of places are cut off here."""

_SEEN = 0.5
_QUANTUM = 2.0**20


@dataclass(frozen=True, slots=True)
class SiteTerms:
    """What the site adds to each block's log-odds, and why.

    `place_pages` and `text_pages` count the other pages that have the block's place and text;
    `known` tells whether any page has the place, this one included if it was observed.
    """

    place: Floats
    repetition: Floats
    place_pages: Floats
    text_pages: Floats
    known: NDArray[np.bool_]

    @property
    def total(self) -> Floats:
        return self.place + self.repetition


class SiteEvidence:
    """Sums over the pages of a site: additive, mergeable, bounded.

    For each place the number of pages that have it and the sum of their mean log-odds there; for
    each text, digits masked, the number of pages that show it. A place is named twice: as that of a
    block and as that of the block's surroundings. Above `max_entries` places or texts the more
    frequent half is kept (ties by key). A page with just the places and texts of an earlier one
    does not count.
    """

    def __init__(self, max_entries: int) -> None:
        self.max_entries = max_entries
        self.pages = 0.0
        self.places: dict[int, list[float]] = {}
        self.texts: dict[int, float] = {}
        self.seen: dict[int, float] = {}

    def observe(self, page: Page, scores: Floats) -> None:
        """Count a page whose blocks have these log-odds by the page alone."""
        keys = _place_keys(page)
        digest = _digest(page, keys)
        if self.seen.get(digest, 0.0) >= _SEEN:
            return
        self.pages += 1
        self.seen[digest] = self.seen.get(digest, 0.0) + 1
        for key, mean in _place_means(keys, scores).items():
            entry = self.places.setdefault(key, [0.0, 0.0])
            entry[0] += 1
            entry[1] += mean
        for key in set(_texts(page)):
            self.texts[key] = self.texts.get(key, 0.0) + 1
        self._prune()

    def terms(self, page: Page, scores: Floats) -> SiteTerms:
        """What the other pages of the site say of each block; zeros where there are none."""
        keys = _place_keys(page)
        own = self.seen.get(_digest(page, keys), 0.0)  # the page does not vote on itself
        others = self.pages - own
        count = len(page.blocks)
        known = np.array([block in self.places for block, _ in keys], dtype=bool)
        moved, support = np.zeros(count), np.zeros(count)
        if others <= 0:
            return SiteTerms(moved, np.zeros(count), support, np.zeros(count), known)
        means = _place_means(keys, scores)
        here = np.clip(scores, -CLIP, CLIP)
        for side, places in enumerate(zip(*keys, strict=True)):
            found = np.array([(*self.places.get(key, (0.0, 0.0)), means[key]) for key in places])
            pages = np.maximum(found[:, 0] - own, 0.0)
            mean = (found[:, 1] - own * found[:, 2]) / np.where(pages > 0, pages, 1.0)
            moved += PLACE_WEIGHT * _trust(pages) * (np.clip(mean, -CLIP, CLIP) - here)
            if side == 0:
                support = pages
        shown = np.array([max(self.texts.get(key, 0.0) - own, 0.0) for key in _texts(page)])
        share = np.minimum(shown / others, 1.0)
        lost = REPETITION * share * shown / (shown + 1)
        lost += np.where(share >= COMMON, COMMON_REPETITION * shown / (shown + COMMON_SUPPORT), 0)
        return SiteTerms(moved, -lost, support, shown, known)

    def merge(self, other: SiteEvidence) -> None:
        """Add what was learned from other pages, unless all of them are copies of known ones.

        So a page counts once, whether it is observed or merged.
        """
        if other.seen and all(self.seen.get(digest, 0.0) >= _SEEN for digest in other.seen):
            return
        self.pages += other.pages
        for key, votes in other.seen.items():
            self.seen[key] = self.seen.get(key, 0.0) + votes
        for key, (pages, total) in other.places.items():
            entry = self.places.setdefault(key, [0.0, 0.0])
            entry[0] += pages
            entry[1] += total
        for key, pages in other.texts.items():
            self.texts[key] = self.texts.get(key, 0.0) + pages
        self._prune()

    def decay(self, factor: float) -> None:
        """Let every page so far count `factor` of a page."""
        self.pages *= factor
        for entry in self.places.values():
            entry[0] *= factor
            entry[1] *= factor
        for counts in (self.texts, self.seen):
            for key in counts:
                counts[key] *= factor

    def state(self) -> dict[str, Any]:
        """All counts, as JSON values in a fixed order."""
        return {
            "pages": self.pages,
            "places": {hash_name(key): list(entry) for key, entry in sorted(self.places.items())},
            "texts": {hash_name(key): pages for key, pages in sorted(self.texts.items())},
            "seen": {hash_name(key): votes for key, votes in sorted(self.seen.items())},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned; raises KeyError, TypeError or ValueError on others."""
        pages = read_number(state["pages"])
        places = {read_hash(k): _read_place(v) for k, v in dict(state["places"]).items()}
        texts = {read_hash(key): read_number(n) for key, n in dict(state["texts"]).items()}
        seen = {read_hash(key): read_number(n) for key, n in dict(state["seen"]).items()}
        self.pages, self.places, self.texts, self.seen = pages, places, texts, seen
        self._prune()

    def _prune(self) -> None:
        limit = self.max_entries
        if len(self.places) > limit:
            pages = {key: entry[0] for key, entry in self.places.items()}
            self.places = {key: self.places[key] for key in more_frequent_half(pages, limit)}
        if len(self.texts) > limit:
            self.texts = more_frequent_half(self.texts, limit)
        if len(self.seen) > limit:
            self.seen = dict(sorted(self.seen.items())[: max(1, limit // 2)])


def _trust(pages: Floats) -> Floats:
    """Share of the full weight that a place has from so many other pages: few may all err alike.

    >>> _trust(np.array([3.0, 6.0, 18.0])).tolist()
    [0.2, 0.5, 0.9]
    """
    return pages**2 / (pages**2 + SUPPORT**2)


def _place_keys(page: Page) -> list[tuple[int, int]]:
    """For each block the keys of its element's place and of the place around that."""
    places = page_places(page)
    own, around = ([places.keys[n] for n in of.tolist()] for of in (places.own, places.around))
    return list(zip(own, around, strict=True))


def _place_means(keys: Sequence[tuple[int, int]], scores: Floats) -> dict[int, float]:
    """Mean log-odds of a page's blocks by place, on a grid so that sums are exact."""
    sums: dict[int, list[float]] = {}
    for score, places in zip(scores.tolist(), keys, strict=True):
        for key in places:
            entry = sums.setdefault(key, [0.0, 0.0])
            entry[0] += 1
            entry[1] += score
    return {key: round(total / n * _QUANTUM) / _QUANTUM for key, (n, total) in sums.items()}


def _texts(page: Page) -> list[int]:
    return text_table(page).keys


def _digest(page: Page, keys: Sequence[tuple[int, int]]) -> int:
    places = [f"{block}{around}" for block, around in keys]
    return hash64("\0".join([*places, *(block.text for block in page.blocks)]))


def _read_place(entry: Any) -> list[float]:
    pages, total = entry
    if type(total) not in (int, float) or not abs(total) < 2.0**80:
        raise ValueError(f"{total!r} is not a sum of log-odds")
    return [read_number(pages), float(total)]
