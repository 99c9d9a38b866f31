"""Evidence of the page: what a block's own text, its place and its surroundings look like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.evidence.layout import Floats, Integers, PageArrays, window_means
from noiseclean_scrapy.evidence.phrases import PHRASES, announced
from noiseclean_scrapy.evidence.text import HAN_KANA, text_columns
from noiseclean_scrapy.evidence.vocabulary import NAMES, element_bits
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.features import block_words, words
from noiseclean_scrapy.page.metadata import KINDS

LONG = 80
"""Weighted characters from which on a block is long text, unless half of it is links."""

_ANCESTORS = 5
_MASKS = ("own", "near", "any")
_PLACES = [
    (f"{mask}:{name}", number, bit)
    for bit, name in enumerate(NAMES)
    for number, mask in enumerate(_MASKS)
    if mask != "near" or name[:2] in ("c_", "r_", "x_")
]
_PLACE_NAMES = [name for name, _, _ in _PLACES]
_PLACE_MASKS, _PLACE_BITS = np.array([place[1:] for place in _PLACES], dtype=np.int64).T
_NEIGHBOURS = 3
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_WHOLE = 0.95
_MAIN_SHARE = 0.6
_HAN_WEIGHT = 1.5
_DECLARED, _LEAST_DECLARED = 40, 20
_FAR = 40


def block_lengths(page: Page) -> Floats:
    """Characters of each block; one of Han, Kana or Hangul counts 2.5, as it says so much more."""
    return np.array(
        [
            len(b.text)
            if b.text.isascii()
            else len(b.text) + _HAN_WEIGHT * len(HAN_KANA.findall(b.text))
            for b in page.blocks
        ],
        dtype=np.float64,
    )


class PageFeatures:
    """The features of a page's blocks by name; `matrix` is (blocks, features), float32."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.arrays = PageArrays(page)
        self.lengths = block_lengths(page)
        self._columns: dict[str, Floats] = {}
        self.matrix = np.zeros((0, 0), np.float32)
        if page.blocks:
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
            self.matrix = np.array(list(self._columns.values()), dtype=np.float32).T
        self.names = tuple(self._columns)

    def inside(self, group: str) -> NDArray[np.bool_]:
        """Which blocks stand in an element of a group of tags or class names."""
        inside: NDArray[np.bool_] = self._above >> NAMES.index(group) & 1 == 1
        return inside

    @property
    def cell_lengths(self) -> Floats:
        """Mean length of the blocks in the TABLE around each block; infinite without one."""
        nearest = [-1] * len(self.page.elements)
        for element in self.page.elements:
            above = nearest[element.parent] if element.index else -1
            nearest[element.index] = element.index if element.tag == "table" else above
        table = np.array(nearest, dtype=np.int64)[self.arrays.element]
        blocks = np.maximum(self.arrays.end - self.arrays.first, 1)
        means = self.arrays.below(self.lengths) / blocks
        return np.where(table >= 0, means[table], np.inf)

    def near(self, group: str) -> NDArray[np.bool_]:
        """Which blocks' own element, or one of the two above, belongs to a group."""
        near: NDArray[np.bool_] = self._near >> NAMES.index(group) & 1 == 1
        return near

    def _add_text(self) -> None:
        blocks = self.page.blocks
        found = block_words(self.page)
        text = text_columns([b.text for b in blocks], found, set(words(self.page.title)))
        length = np.maximum(self.lengths, 1.0)
        characters = np.maximum([len(b.text) for b in blocks], 1)
        linked = np.array([b.link_characters for b in blocks], dtype=np.float64)
        self.link_share = linked / characters
        self.sentences = text["sentences"]
        self.long = np.where((self.lengths >= LONG) & (self.link_share < 0.5), self.lengths, 0.0)
        in_description, declared = self._metadata(found)
        self._columns |= {
            "length": np.log1p(self.lengths),
            "words": np.log1p(text["words"]),
            "word_length": length / np.maximum(text["words"], 1),
            "links": np.array([len(b.links) for b in blocks], dtype=np.float64),
            "link_share": self.link_share,
            "sentences": text["sentences"],
            "ends_sentence": text["ends_sentence"],
            "pauses": text["pauses"] / length * 100,
            "digits": text["digits"] / length,
            "capitals": text["capitals"],
            "upper": text["upper"],
            "date": text["date"],
            "separators": text["separators"],
            "currency": text["currency"],
            "rights": text["rights"],
            "address": text["address"],
            "code": text["code"] / length,
            "quotes": text["quotes"],
            "lower_start": text["lower_start"],
            "colon": text["colon"],
            "images": np.array([len(b.images) for b in blocks], dtype=np.float64),
            "in_title": text["in_title"],
            "repeated_here": text["repeated_here"],
            "in_description": in_description,
            "declared": declared,
        }

    def _metadata(self, block_words: Sequence[Sequence[str]]) -> tuple[Floats, Floats]:
        """How far the description and the declared texts hold each block; -1 where unknown."""
        described = set(words(self.page.description))
        body, parts = (
            " ".join(words(text)) for text in (self.page.declared.body, self.page.declared.parts)
        )
        in_description = declared = np.full(len(block_words), -1.0)
        if described:
            in_description = np.array([_share(own, described) for own in block_words])
        if len(body) > LONG:
            declared = np.array([float(_stands_in(" ".join(own), body)) for own in block_words])
        if parts:
            stated = np.array([_stands_in(" ".join(own), parts) for own in block_words])
            declared = np.where(stated, 1.0, declared)
        return in_description, declared

    def _add_places(self) -> None:
        elements = self.page.elements
        arrays = self.arrays
        bits = np.array([element_bits(e.tag, e.label, e.hidden) for e in elements], dtype=np.int64)
        # What BODY and whole-page wrappers are called says nothing of a block.
        whole = arrays.end - arrays.first >= _WHOLE * len(self.page.blocks)
        local = np.where(whole, 0, bits)
        own = bits[arrays.element]
        parents = arrays.ancestors(3)
        self._near = own | local[parents[1]] | local[parents[2]]
        self._above = arrays.inherit(local)[arrays.element]
        masks = np.stack([own, self._near, self._above])
        answers = masks[_PLACE_MASKS] >> _PLACE_BITS[:, None] & 1
        self._columns |= zip(_PLACE_NAMES, answers.astype(np.float64), strict=True)
        self._columns["depth"] = arrays.depth[arrays.element].astype(np.float64)

    def _add_ancestors(self) -> None:
        arrays = self.arrays
        self._total = max(float(self.lengths.sum()), 1.0)
        self._text = text = arrays.below(self.lengths)
        self._linked = linked = arrays.below(self.lengths * self.link_share)
        self._long_below = arrays.below(self.long)
        self._sentences_below = arrays.below(self.sentences)
        all_long = max(float(self.long.sum()), 1.0)
        count = np.maximum(arrays.end - arrays.first, 1).astype(np.float64)
        at = np.stack(arrays.ancestors(_ANCESTORS))
        below, blocks = text[at], count[at]
        columns = {
            "text": np.log1p(below),
            "text_share": below / self._total,
            "long_share": self._long_below[at] / all_long,
            "link_share": linked[at] / np.maximum(below, 1),
            "block_length": below / blocks,
            "sentences": self._sentences_below[at] / blocks,
            "siblings": np.log1p(arrays.group_sizes[at]),
        }
        for level in range(len(at)):
            self._columns |= {f"up{level}_{name}": of[level] for name, of in columns.items()}

    def _add_repeated(self) -> None:
        """Repeated siblings: posts of a forum, cards of a listing, items of a menu."""
        group = self.arrays.groups
        sizes = np.bincount(group)
        text = np.bincount(group, weights=self._text)
        linked = np.bincount(group, weights=self._linked)
        sentences = np.bincount(group, weights=self._sentences_below)
        for name, at in self.arrays.repeated_items.items():
            of = group[at]
            self._columns |= {
                f"{name}_count": np.where(at > 0, np.log1p(sizes[of]), 0.0),
                f"{name}_text": np.log1p(self._text[at]),
                f"{name}_mean_text": np.log1p(text[of] / sizes[of]),
                f"{name}_link_share": linked[of] / np.maximum(text[of], 1),
                f"{name}_sentences": sentences[of] / sizes[of],
                f"{name}_text_share": text[of] / self._total,
                f"{name}_number": np.log1p(self.arrays.group_numbers[at]),
            }

    def _add_same_place(self) -> None:
        """Blocks whose element and parent are labelled alike, anywhere on the page."""
        place = self.arrays.places[self.arrays.element]
        size = np.bincount(place)
        text = np.bincount(place, weights=self.lengths)
        linked = np.bincount(place, weights=self.lengths * self.link_share)
        self._columns |= {
            "place_count": np.log1p(size[place]),
            "place_length": np.log1p((text / np.maximum(size, 1))[place]),
            "place_link_share": (linked / np.maximum(text, 1))[place],
            "place_text_share": text[place] / self._total,
        }

    def _add_main(self) -> None:
        """Where most of the long text stands."""
        arrays = self.arrays
        main = self._main()
        index = np.arange(len(self.lengths))
        count = len(index)
        first, end = arrays.first[main], arrays.end[main]
        direct = (arrays.parent[arrays.element] == main) + 2.0 * (arrays.element == main)
        self._columns |= {
            "in_main": ((index >= first) & (index < end)).astype(np.float64),
            "main_direct": direct,
            "before_main": np.maximum(first - index, 0) / count,
            "after_main": np.maximum(index - end + 1, 0) / count,
            "main_text_share": np.full(count, self._text[main] / self._total),
            "main_link_share": np.full(count, self._linked[main] / max(self._text[main], 1)),
        }

    def _main(self) -> int:
        """Deepest element with more than 60 % of the long text of its parent, from BODY on."""
        long = self._long_below
        here = 0
        children: dict[int, list[int]] = {}
        for index, parent in enumerate(self.arrays.parent.tolist()):
            if index:
                children.setdefault(parent, []).append(index)
        while below := children.get(here):
            best = max(below, key=lambda child: (long[child], -child))
            if long[best] <= _MAIN_SHARE * long[here] or not long[best]:
                break
            here = best
        return here

    def _add_neighbours(self) -> None:
        count = len(self.lengths)
        log = np.log1p(self.lengths)
        places = self.arrays.places[self.arrays.element]
        for step in range(1, _NEIGHBOURS + 1):
            for sign, side in ((-1, "before"), (1, "after")):
                index = np.arange(count) + sign * step
                there = (index >= 0) & (index < count)
                at = np.clip(index, 0, count - 1)
                name = f"{side}{step}"
                self._columns[f"{name}_length"] = np.where(there, log[at], -1.0)
                self._columns[f"{name}_link_share"] = np.where(there, self.link_share[at], -1.0)
                if step < _NEIGHBOURS:
                    same = there & (places[at] == places)
                    self._columns[f"{name}_sentences"] = np.where(there, self.sentences[at], -1.0)
                    self._columns[f"{name}_same_place"] = same.astype(np.float64)
        ones = np.ones(count)
        measured = {"length": log, "link_share": self.link_share, "long": np.log1p(self.long)}
        for reach in (5, 15):
            for name, values in measured.items():
                before, after = window_means(values, ones, reach)
                self._columns[f"window{reach}_{name}_before"] = before
                self._columns[f"window{reach}_{name}_after"] = after

    def _add_positions(self) -> None:
        count = len(self.lengths)
        index = np.arange(count)
        long = np.cumsum(self.long)
        all_long = max(float(long[-1]), 1.0)
        titled = self._columns["in_title"] * (self.lengths > 10)
        headline = [int(np.argmax(titled))] if titled.max() >= 0.6 else []
        h1 = np.zeros(count)
        h1[self._tagged("h1")] = 1.0
        self._columns |= {
            "position": index / count,
            "text_position": np.cumsum(self.lengths) / self._total,
            "from_start": np.log1p(index),
            "from_end": np.log1p(count - 1 - index),
            "long_before": (long - self.long) / all_long,
            "long_after": 1 - long / all_long,
            "from_h1": _distance(index, self._tagged("h1")),
            "from_title": _distance(index, headline),
            "h1_before": np.cumsum(h1),
        }

    def _add_sections(self) -> None:
        """What stands below the same heading."""
        index = np.arange(len(self.lengths))
        heading = np.zeros(len(index), dtype=bool)
        heading[self._tagged(*_HEADINGS)] = True
        last = np.maximum.accumulate(np.where(heading, index, -1))
        section = np.cumsum(heading)
        text = np.bincount(section, weights=self.lengths)
        linked = np.bincount(section, weights=self.lengths * self.link_share)
        since = np.where(last >= 0, np.minimum(index - last, 30), 40)
        self._columns |= {
            "since_heading": since.astype(np.float64),
            "section_length": np.log1p(text[section]),
            "section_link_share": linked[section] / np.maximum(text[section], 1),
        }

    def _add_announced(self) -> None:
        """How many blocks ago a line announced related stories, comments, and so on."""
        index = np.arange(len(self.lengths))
        said = [
            None if linked >= 0.5 else announced(block.text)
            for block, linked in zip(self.page.blocks, self.link_share.tolist(), strict=True)
        ]
        for name in PHRASES:
            last = np.maximum.accumulate([i if s == name else -_FAR for i, s in enumerate(said)])
            self._columns[f"since_{name}"] = np.minimum(index - last, _FAR).astype(np.float64)

    def _add_page(self) -> None:
        count = len(self.lengths)
        total = self._total
        long_blocks = int((self.long > 0).sum())
        characters = max(sum(len(b.text) for b in self.page.blocks), 1)
        paragraphs = float(sum(self.lengths[self._tagged("p")].tolist()))
        values = {
            "page_blocks": np.log1p(count),
            "page_text": np.log1p(total),
            "page_link_share": float((self.lengths * self.link_share).sum()) / total,
            "page_long_share": float(self.long.sum()) / total,
            "page_long_blocks": np.log1p(long_blocks),
            "page_long_length": np.log1p(float(self.long.sum()) / max(long_blocks, 1)),
            "page_paragraph_share": paragraphs / total,
            "page_headings": np.log1p(len(self._tagged(*_HEADINGS))),
            "page_h1": float(len(self._tagged("h1"))),
            "page_items": np.log1p(len(self._tagged("li"))),
            "page_cells": np.log1p(len(self._tagged("td"))),
            "page_han": float(self.lengths.sum() / characters),
            **{f"page_is_{kind}": float(kind in self.page.declared.kinds) for kind in KINDS},
        }
        self._columns |= {name: np.full(count, value) for name, value in values.items()}

    def _tagged(self, *tags: str) -> list[int]:
        """Indices of the blocks directly in an element of one of the tags."""
        elements = self.page.elements
        return [b.index for b in self.page.blocks if elements[b.element].tag in tags]


def _distance(index: Integers, starts: Sequence[int]) -> Floats:
    """Blocks since the first of `starts`, cut off; -100 where there is none."""
    if not starts:
        return np.full(len(index), -100.0)
    return np.clip(index - starts[0], -30, 60).astype(np.float64)


def _share(own: Sequence[str], described: set[str]) -> float:
    if described.isdisjoint(own):
        return 0.0
    known = set(own)
    return len(described & known) / len(known) if len(known) > 3 else 0.0


def _stands_in(text: str, body: str) -> bool:
    if len(text) < _LEAST_DECLARED:  # a short text may stand in any other
        return False
    return text[:_DECLARED] in body or text[-_DECLARED:] in body
