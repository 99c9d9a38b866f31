"""Evidence of the page: what a block's own text, its place and its surroundings look like."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import compiled
from noiseclean_scrapy.evidence.columns import Columns
from noiseclean_scrapy.evidence.layout import Floats, Integers, page_arrays, window_means
from noiseclean_scrapy.evidence.phrases import LONGEST as LONGEST_LINE
from noiseclean_scrapy.evidence.phrases import PHRASES, announced
from noiseclean_scrapy.evidence.text import FIELDS, text_table
from noiseclean_scrapy.evidence.vocabulary import NAMES, element_bits
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.features import LONGEST, title_words, word_counts, words
from noiseclean_scrapy.page.metadata import KINDS

LONG = 80
"""Weighted characters from which on a block is long text, unless half of it is links."""

BITS = {name: 1 << bit for bit, name in enumerate(NAMES)}
"""The bit of each group of tags or class names."""

_ANCESTORS = 5
_MASKS = ("own", "near", "any")
_PLACES = [
    (f"{mask}:{name}", number, bit)
    for bit, name in enumerate(NAMES)
    for number, mask in enumerate(_MASKS)
    if mask != "near" or name[:2] in ("c_", "r_", "x_")
]
_PLACE_MASKS = np.array([mask for _, mask, _ in _PLACES], dtype=np.int64)
_PLACE_BITS = np.array([bit for _, _, bit in _PLACES], dtype=np.int64)
_NEIGHBOURS = np.array([-1, 1, -2, 2, -3, 3])
_SIDES = ("before", "after")
_CLOSE = 4  # of the neighbours, those of which more is told
_WINDOWS = (5, 15)
_ITEMS = ("item", "outer")
_WHOLE = 0.95
_MAIN_SHARE = 0.6
_DECLARED, _LEAST_DECLARED = 40, 20
_FAR = 40
_SENTENCES = FIELDS.index("sentences")
_PHRASE_NUMBERS = {None: 0} | {name: number for number, name in enumerate(PHRASES, 1)}


def _names() -> Iterator[str]:
    yield from FIELDS[:3]
    yield from ("links", "link_share")
    yield from FIELDS[3:]
    yield from ("images", "in_title", "repeated_here", "in_description", "declared")
    yield from (name for name, _, _ in _PLACES)
    yield "depth"
    for level in range(_ANCESTORS + 1):
        for name in (
            *("text", "text_share", "long_share", "link_share", "block_length", "sentences"),
            "siblings",
        ):
            yield f"up{level}_{name}"
    for item in _ITEMS:
        for name in (
            *("count", "text", "mean_text", "link_share", "sentences", "text_share", "number"),
        ):
            yield f"{item}_{name}"
    yield from (f"place_{name}" for name in ("count", "length", "link_share", "text_share"))
    yield from ("in_main", "main_direct", "before_main", "after_main")
    yield from ("main_text_share", "main_link_share")
    for number, step in enumerate(_NEIGHBOURS.tolist()):
        told = ("length", "link_share", "sentences", "same_place")
        for name in told if number < _CLOSE else told[:2]:
            yield f"{_SIDES[step > 0]}{abs(step)}_{name}"
    for reach in _WINDOWS:
        for name in ("length", "link_share", "long"):
            yield from (f"window{reach}_{name}_{side}" for side in _SIDES)
    yield from ("position", "text_position", "from_start", "from_end", "long_before", "long_after")
    yield from ("from_h1", "from_title", "h1_before")
    yield from ("since_heading", "section_length", "section_link_share")
    yield from (f"since_{name}" for name in PHRASES)
    for name in (
        *("blocks", "text", "link_share", "long_share", "long_blocks", "long_length"),
        *("paragraph_share", "headings", "h1", "items", "cells", "han"),
        *(f"is_{kind}" for kind in KINDS),
    ):
        yield f"page_{name}"


FEATURES = tuple(_names())
"""Names of the features of a page's blocks, in the order of the columns."""


class PageFeatures:
    """The features of a page's blocks; `matrix` is (blocks, features), float32."""

    names = FEATURES

    def __init__(self, page: Page) -> None:
        self.page = page
        self.arrays = page_arrays(page)
        self.texts = text_table(page)
        self.lengths = self.texts.lengths
        self.sentences = self.texts.features[_SENTENCES]
        self._columns = Columns(len(FEATURES), len(page.table.texts))
        if page.table.texts:
            self._read_words()
            self._read_names()
            if compiled.blocks is None:
                self._fill()
            else:
                self._fill_compiled()
        self.matrix = self._columns.rows.T

    def inside(self, group: str) -> NDArray[np.bool_]:
        """Which blocks stand in an element of a group of tags or class names."""
        return _having(self.above, group)

    @property
    def cell_lengths(self) -> Floats:
        """Mean length of the blocks in the TABLE around each block; infinite without one."""
        tables = np.array([tag == "table" for tag in self.arrays.label_tags])[self.arrays.labels]
        table = self.arrays.nearest(tables)[self.arrays.element]
        blocks = np.maximum(self.arrays.end - self.arrays.first, 1)
        means = self.arrays.below(self.lengths) / blocks
        return np.where(tables[table], means[table], np.inf)

    def near(self, group: str) -> NDArray[np.bool_]:
        """Which blocks' own element, or one of the two above, belongs to a group."""
        return _having(self._near, group)

    def _read_words(self) -> None:
        """What is told by words, and counts of what is no text."""
        table = self.page.table
        in_title = _shares(title_words(self.page))
        in_title[self.texts.characters >= LONGEST] = 0.0
        in_description, declared = self._metadata()
        self._in_title = in_title
        counts = _counts if compiled.blocks is None else compiled.blocks.counts
        links, images, repeated = counts(table.links, table.images, table.texts)
        self._counts = np.stack([links, images, in_title, repeated, in_description, declared])

    def _read_names(self) -> None:
        """What tags and class names say of each element."""
        arrays = self.arrays
        labels = zip(arrays.label_tags, arrays.label_names, strict=True)
        bits = np.array([element_bits(tag, label) for tag, label in labels], dtype=np.int64)
        hidden = np.array(self.page.table.hidden, dtype=np.int64)
        self._bits = bits[arrays.labels] | hidden * BITS["hidden"]

    def _said(self) -> Integers:
        """The number of what each line announces: related stories, comments, and so on; else 0."""
        texts = self.page.table.texts
        lines = np.flatnonzero((self.link_share < 0.5) & (self.texts.characters <= LONGEST_LINE))
        said = np.zeros(len(texts), dtype=np.int64)
        said[lines] = [_PHRASE_NUMBERS[announced(texts[line])] for line in lines.tolist()]
        return said

    def _fill_compiled(self) -> None:
        table, texts = self.page.table, self.texts
        twin = compiled.blocks.PageFeatures(self._columns.rows, self.arrays, texts)
        twin.add_text(texts.characters, table.link_characters, self._counts, LONG)
        self.link_share, self.long = twin.link_share, twin.long
        twin.add_places(self._bits, _PLACE_MASKS, _PLACE_BITS, _WHOLE * len(self.lengths))
        self._near, self.above = twin.near, twin.above
        twin.add_ancestors(_ANCESTORS, _SENTENCES)
        twin.add_repeated(self.arrays.repeated_items)
        twin.add_same_place()
        twin.add_main(_MAIN_SHARE)
        twin.add_neighbours(tuple(_NEIGHBOURS.tolist()), _CLOSE, _WINDOWS, _SENTENCES)
        twin.add_positions(self._in_title, BITS["h1"])
        twin.add_sections(BITS["heading"])
        twin.add_announced(self._said(), len(PHRASES), _FAR)
        bits = tuple(BITS[group] for group in ("p", "heading", "h1", "li"))
        cells = np.array([tag == "td" for tag in self.arrays.label_tags]).view(np.uint8)
        kinds = [kind in self.page.declared.kinds for kind in KINDS]
        twin.add_page(texts.characters, bits, cells[self.arrays.labels], kinds)

    def _fill(self) -> None:
        self._add_text()
        self._add_places()
        self._add_ancestors()
        self._add_repeated()
        self._add_same_place()
        self._add_main()
        self._add_neighbours()
        self._add_positions()
        self._add_sections()
        self._add_announced()
        self._add_page()

    def _add_text(self) -> None:
        texts, counts = self.texts, self._counts
        linked = np.array(self.page.table.link_characters, dtype=np.float64)
        self.link_share = linked / np.maximum(texts.characters, 1)
        self.long = np.where((self.lengths >= LONG) & (self.link_share < 0.5), self.lengths, 0.0)
        self._linked_text = self.lengths * self.link_share
        self._log = texts.features[0]
        self._columns.next(3)[:] = texts.features[:3]
        self._columns.add(counts[0], self.link_share)
        self._columns.next(len(FIELDS) - 3)[:] = texts.features[3:]
        self._columns.add(*counts[1:])

    def _metadata(self) -> tuple[Floats, Floats]:
        """How far the description and the declared texts hold each block; -1 where unknown."""
        page, texts = self.page, self.page.table.texts
        described = frozenset(words(page.description))
        body, parts = (" ".join(words(text)) for text in (page.declared.body, page.declared.parts))
        in_description = declared = np.full(len(texts), -1.0)
        if described:
            in_description = _shares(word_counts(texts, described, sys.maxsize), more_than=3)
        if parts or len(body) > LONG:
            plain = [
                " ".join(words(text)) if len(text) >= _LEAST_DECLARED or not text.isascii() else ""
                for text in texts
            ]
            if len(body) > LONG:
                declared = np.array([float(_stands_in(text, body)) for text in plain])
            if parts:
                stated = np.array([_stands_in(text, parts) for text in plain])
                declared = np.where(stated, 1.0, declared)
        return in_description, declared

    def _add_places(self) -> None:
        arrays, bits = self.arrays, self._bits
        # What BODY and whole-page wrappers are called says nothing of a block.
        whole = arrays.end - arrays.first >= _WHOLE * len(self.lengths)
        local = np.where(whole, 0, bits)
        self._own = bits[arrays.element]
        self._ancestors = arrays.ancestors(_ANCESTORS)
        self._near = self._own | local[self._ancestors[1]] | local[self._ancestors[2]]
        self.above = arrays.inherit(local)[arrays.element]
        answers = np.stack([self._own, self._near, self.above])[_PLACE_MASKS]
        answers >>= _PLACE_BITS[:, None]
        answers &= 1
        self._columns.next(len(_PLACES))[:] = answers
        self._columns.add(arrays.depth[arrays.element])

    def _add_ancestors(self) -> None:
        arrays = self.arrays
        self._total = max(float(self.lengths.sum()), 1.0)
        self._all_long = max(float(self.long.sum()), 1.0)
        values = np.stack([self.lengths, self._linked_text, self.long, self.sentences])
        self._text, self._linked, self._long_below, self._sentences_below = arrays.below(values)
        count = np.maximum(arrays.end - arrays.first, 1).astype(np.float64)
        self._log_text = np.log1p(self._text)
        columns = np.empty((7, len(count)), dtype=np.float32)
        columns[0] = self._log_text
        columns[1] = self._text / self._total
        columns[2] = self._long_below / self._all_long
        columns[3] = self._linked / np.maximum(self._text, 1)
        columns[4] = self._text / count
        columns[5] = self._sentences_below / count
        columns[6] = np.log1p(arrays.group_sizes)
        self._columns.add_by_place(columns.take(self._ancestors, axis=1))

    def _add_repeated(self) -> None:
        """Repeated siblings: posts of a forum, cards of a listing, items of a menu."""
        arrays, group = self.arrays, self.arrays.groups
        sizes = np.bincount(group)
        text = np.bincount(group, weights=self._text)
        columns = np.empty((5, len(sizes)), dtype=np.float32)
        columns[0] = np.log1p(sizes)
        columns[1] = np.log1p(text / sizes)
        columns[2] = np.bincount(group, weights=self._linked) / np.maximum(text, 1)
        columns[3] = np.bincount(group, weights=self._sentences_below) / sizes
        columns[4] = text / self._total
        at = arrays.repeated_items
        of = columns.take(group[at], axis=1)
        of[0] *= at > 0
        number = np.log1p(arrays.group_numbers[at])
        self._columns.add_by_place(
            np.stack([of[0], self._log_text[at], *of[1:], number], dtype=np.float32)
        )

    def _add_same_place(self) -> None:
        """Blocks whose element and parent are labelled alike, anywhere on the page."""
        self._places = place = self.arrays.places[self.arrays.element]
        size = np.bincount(place)
        text = np.bincount(place, weights=self.lengths)
        linked = np.bincount(place, weights=self._linked_text)
        self._columns.add(
            np.log1p(size)[place],
            np.log1p(text / np.maximum(size, 1))[place],
            (linked / np.maximum(text, 1))[place],
            text[place] / self._total,
        )

    def _add_main(self) -> None:
        """Where most of the long text stands."""
        arrays = self.arrays
        main = self._main()
        index = np.arange(len(self.lengths))
        count = len(index)
        first, end = arrays.first[main], arrays.end[main]
        self._columns.add(
            (index >= first) & (index < end),
            (self._ancestors[1] == main) + 2.0 * (arrays.element == main),
            np.maximum(first - index, 0) / count,
            np.maximum(index - end + 1, 0) / count,
            self._text[main] / self._total,
            self._linked[main] / max(self._text[main], 1),
        )

    def _main(self) -> int:
        """Deepest element with more than 60 % of the long text of its parent, from BODY on."""
        long, parent = self._long_below, self.arrays.parent
        above = long[parent]
        heavy = np.flatnonzero((long > _MAIN_SHARE * above) & (parent < np.arange(len(parent))))
        here = 0
        for element, around in zip(heavy.tolist(), parent[heavy].tolist(), strict=True):
            if around == here:
                here = element
        return here

    def _add_neighbours(self) -> None:
        count = len(self.lengths)
        at = np.arange(count) + _NEIGHBOURS[:, None]
        there = (at >= 0) & (at < count)
        at = np.minimum(np.maximum(at, 0), count - 1)
        values = np.stack([self._log, self.link_share, self.sentences]).take(at, axis=1)
        values = np.where(there, values, -1.0)
        close = self._columns.next(4 * _CLOSE).reshape(_CLOSE, 4, count)
        close[:, :3] = values[:, :_CLOSE].transpose(1, 0, 2)
        close[:, 3] = there[:_CLOSE] & (self._places[at[:_CLOSE]] == self._places)
        far = self._columns.next(2 * (len(at) - _CLOSE)).reshape(-1, 2, count)
        far[:] = values[:2, _CLOSE:].transpose(1, 0, 2)
        measured = np.stack([self._log, self.link_share, np.log1p(self.long)])
        means = window_means(measured, np.ones(count), _WINDOWS)
        self._columns.next(means.size // count)[:] = means.transpose(1, 0, 2, 3).reshape(-1, count)

    def _add_positions(self) -> None:
        count = len(self.lengths)
        index = np.arange(count)
        log = np.log1p(index)
        long = np.cumsum(self.long)
        titled = self._in_title * (self.lengths > 10)
        headline = [int(np.argmax(titled))] if titled.max() >= 0.6 else []
        h1 = _having(self._own, "h1")
        self._columns.add(
            index / count,
            np.cumsum(self.lengths) / self._total,
            log,
            log[::-1],
            (long - self.long) / self._all_long,
            1 - long / self._all_long,
            _distance(index, np.flatnonzero(h1)[:1].tolist()),
            _distance(index, headline),
            np.cumsum(h1),
        )

    def _add_sections(self) -> None:
        """What stands below the same heading."""
        index = np.arange(len(self.lengths))
        heading = _having(self._own, "heading")
        last = np.maximum.accumulate(np.where(heading, index, -1))
        section = np.cumsum(heading)
        text = np.bincount(section, weights=self.lengths)
        linked = np.bincount(section, weights=self._linked_text)
        self._columns.add(
            np.where(last >= 0, np.minimum(index - last, 30), 40),
            np.log1p(text)[section],
            (linked / np.maximum(text, 1))[section],
        )

    def _add_announced(self) -> None:
        """How many blocks ago a line announced related stories, comments, and so on."""
        index, said = np.arange(len(self.lengths)), self._said()
        for_each = said == np.arange(1, len(PHRASES) + 1)[:, None]
        last = np.maximum.accumulate(np.where(for_each, index, -_FAR), axis=1)
        self._columns.next(len(PHRASES))[:] = np.minimum(index - last, _FAR)

    def _add_page(self) -> None:
        total = self._total
        long_blocks = int(np.count_nonzero(self.long))
        characters = max(float(self.texts.characters.sum()), 1)
        paragraphs = float(self.lengths[_having(self._own, "p")].sum())
        cells = np.array([tag == "td" for tag in self.arrays.label_tags])
        kinds = self.page.declared.kinds
        self._columns.add_values(
            np.log1p(len(self.lengths)),
            np.log1p(total),
            float(np.cumsum(self._linked_text)[-1]) / total,
            float(self.long.sum()) / total,
            np.log1p(long_blocks),
            np.log1p(float(self.long.sum()) / max(long_blocks, 1)),
            paragraphs / total,
            np.log1p(np.count_nonzero(_having(self._own, "heading"))),
            np.count_nonzero(_having(self._own, "h1")),
            np.log1p(np.count_nonzero(_having(self._own, "li"))),
            np.log1p(np.count_nonzero(cells[self.arrays.labels[self.arrays.element]])),
            float(self.lengths.sum()) / characters,
            *(kind in kinds for kind in KINDS),
        )


def _having(masks: Integers, group: str) -> NDArray[np.bool_]:
    having: NDArray[np.bool_] = masks & BITS[group] != 0
    return having


def _distance(index: Integers, starts: Sequence[int]) -> Floats:
    """Blocks since the first of `starts`, cut off; -100 where there is none."""
    if not starts:
        return np.full(len(index), -100.0)
    return np.minimum(np.maximum(index - starts[0], -30), 60).astype(np.float64)


def _counts(
    links: Sequence[tuple[str, ...]], images: Sequence[tuple[str, ...]], texts: Sequence[str]
) -> Floats:
    """Rows (3, B): how many links and images each block has, and how often its text is there."""
    seen = Counter(texts)
    rows = [[*map(len, links)], [*map(len, images)], [seen[text] for text in texts]]
    return np.array(rows, dtype=np.float64)


def _shares(counts: Integers, more_than: int = 0) -> Floats:
    """Shares of the words that are wanted (2, B); 0 where there are not `more_than` so many."""
    found, wanted = counts
    return np.where(found > more_than, wanted / np.maximum(found, 1), 0.0)


def _stands_in(text: str, body: str) -> bool:
    if len(text) < _LEAST_DECLARED:  # a short text may stand in any other
        return False
    return text[:_DECLARED] in body or text[-_DECLARED:] in body
