"""SiteSurvey: all that the site report shows, gathered in one pass over the stored pages."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.methods.trees.counts import more_frequent_half
from noiseclean_scrapy.page.block import Block
from noiseclean_scrapy.page.characters import share_left_out
from noiseclean_scrapy.page.hashes import hash64
from noiseclean_scrapy.page.words import mask_digits
from noiseclean_scrapy.report.place_tree import Example, PlacedText, PlaceTree
from noiseclean_scrapy.store import Cleaned, PageRecord

BINS = 20
"""Columns of the histogram of importance."""
NEWEST = 60
"""Pages of the gallery."""

_MOMENTS = 1500
_TEXTS = 40_000
_STRIPES, _MOST_STRIPES = 48, 200


@dataclass(frozen=True, slots=True)
class Moment:
    """One page in the course of time: shares in [0, 1]."""

    fetched_at: datetime
    noise: float
    fit: float
    title: str


@dataclass(slots=True)
class RepeatedText:
    """A text, digits masked, that stands on several pages; `text` is one of its forms."""

    text: str
    place: str
    pages: int = 0
    dropped_pages: int = 0

    @property
    def kept_pages(self) -> int:
        """Pages that keep the text."""
        return self.pages - self.dropped_pages


@dataclass(frozen=True, slots=True)
class Stripe:
    """A part of a page in reading order: its share of the text, its mean importance."""

    share: float
    importance: float
    kept: bool


@dataclass(frozen=True, slots=True)
class GalleryPage:
    """One of the newest pages; `stripes` are its blocks, small neighbours of one verdict joined."""

    record: PageRecord
    cleaned: Cleaned
    stripes: tuple[Stripe, ...]

    @property
    def noise(self) -> float:
        """Share of the page's text that was left out."""
        return noise(self.cleaned)


class SiteSurvey:
    """Counts over the pages that it was given; its size does not grow with their number."""

    def __init__(self) -> None:
        self.tree = PlaceTree()
        self.histogram = [[0, 0] for _ in range(BINS)]
        self.visible = self.kept = 0
        self._moments: list[Moment] = []
        self._stride = 1
        self._texts: dict[int, RepeatedText] = {}
        self._newest: list[tuple[datetime, str, PageRecord]] = []

    @property
    def pages(self) -> int:
        """Number of pages."""
        return self.tree.pages

    @property
    def kept_share(self) -> float:
        """Share of all characters that were kept."""
        return self.kept / self.visible if self.visible else 0.0

    def add(self, record: PageRecord) -> None:
        """Count a page; one without a text is passed over."""
        if record.cleaned is None:
            return
        blocks = list(record.cleaned.blocks)
        self.tree.add_page(_placed_texts(record, record.cleaned.title, blocks))
        self.visible += record.cleaned.visible_characters
        self.kept += record.cleaned.kept_characters
        for block in blocks:
            column = min(int(block.score * BINS), BINS - 1)
            self.histogram[max(column, 0)][block.kept] += len(block.text)
        self._add_moment(record, record.cleaned)
        self._add_texts(blocks)
        entry = (record.fetched_at, record.key, record)
        if len(self._newest) < NEWEST:
            heapq.heappush(self._newest, entry)
        else:
            heapq.heappushpop(self._newest, entry)

    def moments(self) -> list[Moment]:
        """Pages in the order of time, an even sample where there are many."""
        return sorted(self._moments, key=lambda moment: moment.fetched_at)

    def removed(self, most: int) -> list[RepeatedText]:
        """The texts that were left out on most pages."""
        texts = [text for text in self._texts.values() if text.dropped_pages > 1]
        return sorted(texts, key=lambda text: (-text.dropped_pages, text.text))[:most]

    def kept_though_repeated(self, most: int) -> list[RepeatedText]:
        """The texts that were kept on more than two pages."""
        texts = [text for text in self._texts.values() if text.kept_pages > 2]
        return sorted(texts, key=lambda text: (-text.kept_pages, text.text))[:most]

    def gallery(self) -> list[GalleryPage]:
        """The newest pages, newest first."""
        return [
            GalleryPage(record, record.cleaned, stripes(record.cleaned.blocks))
            for _, _, record in sorted(self._newest, reverse=True)
            if record.cleaned is not None
        ]

    def _add_moment(self, record: PageRecord, cleaned: Cleaned) -> None:
        # Pages come by key, a hash: each n-th of them is a fair sample.
        if (self.pages - 1) % self._stride == 0:
            self._moments.append(
                Moment(record.fetched_at, noise(cleaned), cleaned.fit, cleaned.title[:120])
            )
        if len(self._moments) > _MOMENTS:
            self._moments = self._moments[::2]
            self._stride *= 2

    def _add_texts(self, blocks: Iterable[Block]) -> None:
        seen: dict[int, bool] = {}
        for block in blocks:
            key = hash64(mask_digits(block.text.lower()))
            if key not in self._texts:
                self._texts[key] = RepeatedText(block.text[:200], block.place)
            seen[key] = seen.get(key, False) or block.kept
        for key, kept in seen.items():
            self._texts[key].pages += 1
            self._texts[key].dropped_pages += not kept
        if len(self._texts) > _TEXTS:
            frequent = more_frequent_half({k: t.pages for k, t in self._texts.items()}, _TEXTS)
            self._texts = {key: self._texts[key] for key in frequent}


def stripes(blocks: Iterable[Block]) -> tuple[Stripe, ...]:
    """The blocks as stripes; neighbours of one verdict are joined while they are small.

    After many of them neighbours of any verdict are.
    """
    runs: list[list[tuple[int, float, bool]]] = []
    length = 0  # of the last run
    entries = [(len(b.text), b.score, b.kept) for b in blocks]
    total = sum(length for length, _, _ in entries) or 1
    small = total / _STRIPES
    for entry in entries:
        is_like = bool(runs) and (runs[-1][-1][2] == entry[2] or len(runs) >= _MOST_STRIPES)
        if is_like and length < small:
            runs[-1].append(entry)
            length += entry[0]
        else:
            runs.append([entry])
            length = entry[0]
    return tuple(_stripe(run, total) for run in runs)


def _stripe(run: list[tuple[int, float, bool]], total: int) -> Stripe:
    length = sum(entry[0] for entry in run)
    importance = sum(entry[0] * entry[1] for entry in run) / max(length, 1)
    kept = sum(entry[0] for entry in run if entry[2])
    return Stripe(length / total, importance, 2 * kept >= length)


def noise(page: Cleaned | CleanPage) -> float:
    """Share of a page's text that was left out."""
    return share_left_out(page.kept_characters, page.visible_characters)


def _placed_texts(record: PageRecord, title: str, blocks: Sequence[Block]) -> Iterator[PlacedText]:
    groups: dict[str, list[tuple[int, Block]]] = {}
    for number, block in enumerate(blocks):
        groups.setdefault(block.place, []).append((number, block))
    title = title or record.url
    for place, members in groups.items():
        here = [block for _, block in members]
        longest = max(here, key=lambda block: len(block.text))
        yield PlacedText(
            place,
            len(here),
            sum(len(block.text) for block in here),
            sum(len(block.text) for block in here if block.kept),
            sum(len(block.text) * block.score for block in here),
            sum(number for number, _ in members) / len(here) / len(blocks),
            Example(longest.text, longest.kept, title[:120], record.key),
        )
