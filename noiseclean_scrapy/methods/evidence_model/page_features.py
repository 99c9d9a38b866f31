"""Evidence of the page: what a block's own text, its place and its surroundings look like."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.page_rows import PageRows
from noiseclean_scrapy.methods.evidence_model.phrases import LONGEST as LONGEST_LINE
from noiseclean_scrapy.methods.evidence_model.phrases import PHRASES, announced
from noiseclean_scrapy.methods.evidence_model.text_features import FIELDS, text_table
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, Integers, page_arrays
from noiseclean_scrapy.methods.evidence_model.vocabulary import NAMES, element_bits
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.declared import KINDS
from noiseclean_scrapy.page.words import LONGEST, title_words, word_counts, words

LONG = 80
"""Weighted characters from which on a block is long text, unless half of it is links."""
_LINKS = 0.5

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
_NEIGHBOURS = (-1, 1, -2, 2, -3, 3)
_SIDES = ("before", "after")
_CLOSE = 4  # of the neighbours, those of which more is told
_WINDOWS = (5, 15)
_ITEMS = ("item", "outer")
_WHOLE = 0.95
_MAIN_SHARE = 0.6
_DECLARED, _LEAST_DECLARED = 40, 20
_FAR = 40
_TITLED, _TITLE = 0.6, 10  # of a headline: the share of its words in the title; more characters
_DISTANCES = (-30, 60, -100)  # to a headline: the least, the greatest, and that of none
_SECTION, _NO_SECTION = 30, 40  # blocks below a heading, at most, and without one
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
    for number, step in enumerate(_NEIGHBOURS):
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
        self.matrix = np.empty((0, len(FEATURES)), dtype=np.float32)
        if page.table.texts:
            self._read_words()
            self._read_names()
            self.matrix = self._fill()

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
        counts = _counts if kernels.blocks is None else kernels.blocks.counts
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
        lines = np.flatnonzero((self.link_share < _LINKS) & (self.texts.characters <= LONGEST_LINE))
        said = np.zeros(len(texts), dtype=np.int64)
        said[lines] = [_PHRASE_NUMBERS[announced(texts[line])] for line in lines.tolist()]
        return said

    def _fill(self) -> NDArray[np.float32]:
        table, texts = self.page.table, self.texts
        found = np.empty((len(FEATURES), len(table.texts)), dtype=np.float32)
        twin = PageRows if kernels.blocks is None else kernels.blocks.PageRows
        rows = twin(found, self.arrays, texts)
        rows.add_text(texts.characters, table.link_characters, self._counts, LONG, _LINKS)
        self.link_share, self.long = rows.link_share, rows.long
        rows.add_places(self._bits, _PLACE_MASKS, _PLACE_BITS, _WHOLE * len(self.lengths))
        self._near, self.above = rows.near, rows.above
        rows.add_ancestors(_ANCESTORS, _SENTENCES)
        rows.add_repeated(self.arrays.repeated_items)
        rows.add_same_place()
        rows.add_main(_MAIN_SHARE)
        rows.add_neighbours(_NEIGHBOURS, _CLOSE, _WINDOWS)
        rows.add_positions(self._in_title, BITS["h1"], _TITLED, _TITLE, _DISTANCES)
        rows.add_sections(BITS["heading"], _SECTION, _NO_SECTION)
        rows.add_announced(self._said(), len(PHRASES), _FAR)
        bits = tuple(BITS[group] for group in ("p", "heading", "h1", "li"))
        cells = np.array([tag == "td" for tag in self.arrays.label_tags]).view(np.uint8)
        kinds = [kind in self.page.declared.kinds for kind in KINDS]
        rows.add_page(texts.characters, bits, cells[self.arrays.labels], kinds)
        matrix: NDArray[np.float32] = rows.matrix
        return matrix

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


def _having(masks: Integers, group: str) -> NDArray[np.bool_]:
    having: NDArray[np.bool_] = masks & BITS[group] != 0
    return having


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
