"""Evidence of the page: what a block's own text, its place and its surroundings look like."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.evidence.layout import Floats, PageArrays
from noiseclean_scrapy.evidence.vocabulary import NAMES, element_bits
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.features import words

_HAN_KANA = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_SENTENCE = re.compile(r"""[.!?…]["'”’»)\]]*(?:\s|$)|[。！？।؟]""")
_SENTENCE_END = re.compile(r"""[.!?…。！？।؟]["'”’»)\]」』]*$""")
_PAUSE = re.compile(r"[,;:，、；：،]")
_DIGIT = re.compile(r"\d")
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\d{1,2}[:./-]\d{1,2}")
_SEPARATOR = re.compile(r"[|›»•·→←▸►/]")
_CURRENCY = re.compile(r"[$€£¥₽]|\b(?:USD|EUR|GBP)\b")
_RIGHTS = re.compile(r"[©®™]|\ball rights\b|\bcopyright\b", re.IGNORECASE)
_ADDRESS = re.compile(r"\bhttps?:|www\.|@\w")
_CODE = re.compile(r"[{}<>=;_\\#$]")
_ANCESTORS = 5
_NEIGHBOURS = 3
_LONG = 80
_HAN_WEIGHT = 1.5
_DECLARED = 40

_TEXT_NAMES = (
    "length words word_length links link_share sentences ends_sentence pauses digits capitals "
    "upper date separators currency rights address code quotes lower_start colon images in_title "
    "repeated_here in_description declared".split()
)


def block_lengths(page: Page) -> Floats:
    """Characters of each block; one of Han, Kana or Hangul counts 2.5, as it says so much more."""
    return np.array(
        [
            len(b.text)
            if b.text.isascii()
            else len(b.text) + _HAN_WEIGHT * len(_HAN_KANA.findall(b.text))
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
        self._names: list[str] = []
        self._columns: list[Floats] = []
        if page.blocks:
            self._add_text()
            self._add_places()
            self._add_surroundings()
            self._add_neighbours()
            self._add_page()
        self.matrix = (
            np.stack(self._columns, axis=1).astype(np.float32)
            if page.blocks
            else np.zeros((0, 0), np.float32)
        )
        self.names = tuple(self._names)

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

    def _add(self, name: str, values: Floats) -> None:
        self._names.append(name)
        self._columns.append(values)

    def _add_text(self) -> None:
        title = set(words(self.page.title))
        block_words = [words(b.text) for b in self.page.blocks]
        seen: dict[str, int] = {}
        for block in self.page.blocks:
            seen[block.text] = seen.get(block.text, 0) + 1
        rows = [
            (*_text_row(b.text, own, title), len(b.images), seen[b.text], len(b.links))
            for b, own in zip(self.page.blocks, block_words, strict=True)
        ]
        table = np.array(rows, dtype=np.float64)
        length = np.maximum(self.lengths, 1.0)
        characters = np.maximum([len(b.text) for b in self.page.blocks], 1)
        linked = np.array([b.link_characters for b in self.page.blocks], dtype=np.float64)
        self.link_share = linked / characters
        (
            n_words, sentences, ends, pauses, digits, capitals, upper, dates, separators, currency,
            rights, address, code, quotes, lower, colon, in_title, images, repeated, links,
        ) = table.T  # fmt: skip
        self.sentences = sentences
        self.long = np.where((self.lengths >= _LONG) & (self.link_share < 0.5), self.lengths, 0.0)
        values = (
            np.log1p(self.lengths), np.log1p(n_words), length / np.maximum(n_words, 1), links,
            self.link_share, sentences, ends, pauses / length * 100, digits / length, capitals,
            upper, dates, separators, currency, rights, address, code / length, quotes, lower,
            colon, images, in_title, repeated, *self._metadata(block_words),
        )  # fmt: skip
        for name, value in zip(_TEXT_NAMES, values, strict=True):
            self._add(name, value)

    def _metadata(self, block_words: Sequence[Sequence[str]]) -> tuple[Floats, Floats]:
        """How far the description and the declared body hold each block; -1 where there is none."""
        described = set(words(self.page.description))
        body = " ".join(words(self.page.declared_body))
        in_description = declared = np.full(len(block_words), -1.0)
        if described:
            in_description = np.array([_share(set(own), described) for own in block_words])
        if len(body) > _LONG:
            declared = np.array([_stands_in(" ".join(own), body) for own in block_words])
        return in_description, declared

    def _add_places(self) -> None:
        elements = self.page.elements
        arrays = self.arrays
        bits = np.array([element_bits(e.tag, e.label, e.hidden) for e in elements], dtype=np.int64)
        # What BODY and whole-page wrappers are called says nothing of a block.
        whole = arrays.end - arrays.first >= 0.95 * len(self.page.blocks)
        local = np.where(whole, 0, bits)
        own = bits[arrays.element]
        parents = arrays.ancestors(3)
        self._near = near = own | local[parents[1]] | local[parents[2]]
        self._above = above = arrays.inherit(local)[arrays.element]
        for bit, name in enumerate(NAMES):
            for part, masks in (("own", own), ("near", near), ("any", above)):
                if part != "near" or name[:2] in ("c_", "r_", "x_"):
                    self._add(f"{part}:{name}", (masks >> bit & 1).astype(np.float64))
        self._add("depth", arrays.depth[arrays.element].astype(np.float64))

    def _add_surroundings(self) -> None:
        arrays = self.arrays
        total = max(float(self.lengths.sum()), 1.0)
        all_long = max(float(self.long.sum()), 1.0)
        text = arrays.below(self.lengths)
        linked = arrays.below(self.lengths * self.link_share)
        long = arrays.below(self.long)
        sentences = arrays.below(self.sentences)
        count = (arrays.end - arrays.first).astype(np.float64)
        for level, at in enumerate(arrays.ancestors(_ANCESTORS)):
            self._add(f"up{level}_text", np.log1p(text[at]))
            self._add(f"up{level}_text_share", text[at] / total)
            self._add(f"up{level}_long_share", long[at] / all_long)
            self._add(f"up{level}_link_share", linked[at] / np.maximum(text[at], 1))
            self._add(f"up{level}_block_length", text[at] / np.maximum(count[at], 1))
            self._add(f"up{level}_sentences", sentences[at] / np.maximum(count[at], 1))
            self._add(f"up{level}_siblings", np.log1p(arrays.group_sizes[at]))
        # Repeated siblings: posts of a forum, cards of a listing, items of a menu.
        item = arrays.repeated_item()[arrays.element]
        group = arrays.groups
        sizes = np.bincount(group)
        group_text = np.bincount(group, weights=text)
        group_linked = np.bincount(group, weights=linked)
        group_sentences = np.bincount(group, weights=sentences)
        for name, at in (("item", item), ("outer", arrays.repeated_item()[arrays.parent[item]])):
            of = group[at]
            self._add(f"{name}_count", np.where(at > 0, np.log1p(sizes[of]), 0.0))
            self._add(f"{name}_text", np.log1p(text[at]))
            self._add(f"{name}_mean_text", np.log1p(group_text[of] / sizes[of]))
            self._add(f"{name}_link_share", group_linked[of] / np.maximum(group_text[of], 1))
            self._add(f"{name}_sentences", group_sentences[of] / sizes[of])
            self._add(f"{name}_text_share", group_text[of] / total)
        # The same place anywhere on the page.
        place = arrays.places[arrays.element]
        size = np.bincount(place)
        self._add("place_count", np.log1p(size[place]))
        self._add(
            "place_length",
            np.log1p((np.bincount(place, weights=self.lengths) / np.maximum(size, 1))[place]),
        )
        self._add(
            "place_link_share",
            (
                np.bincount(place, weights=self.lengths * self.link_share)
                / np.maximum(np.bincount(place, weights=self.lengths), 1)
            )[place],
        )
        self._add("place_text_share", np.bincount(place, weights=self.lengths)[place] / total)
        # Where most of the long text stands: the deepest element with most of it.
        main = self._main(long)
        inside = (np.arange(len(self.lengths)) >= arrays.first[main]) & (
            np.arange(len(self.lengths)) < arrays.end[main]
        )
        self._add("in_main", inside.astype(np.float64))
        self._add(
            "main_direct",
            (arrays.parent[arrays.element] == main).astype(np.float64)
            + 2.0 * (arrays.element == main),
        )
        index = np.arange(len(self.lengths))
        self._add("before_main", np.maximum(arrays.first[main] - index, 0) / len(index))
        self._add("after_main", np.maximum(index - arrays.end[main] + 1, 0) / len(index))
        self._add("main_text_share", np.full(len(index), text[main] / total))
        self._add("main_link_share", np.full(len(index), linked[main] / max(text[main], 1)))

    def _main(self, long: Floats) -> int:
        """Deepest element with more than 60 % of the long text of its parent, from BODY on."""
        here = 0
        children: dict[int, list[int]] = {}
        for index, parent in enumerate(self.arrays.parent.tolist()):
            if index:
                children.setdefault(parent, []).append(index)
        while below := children.get(here):
            best = max(below, key=lambda child: (long[child], -child))
            if long[best] <= 0.6 * long[here] or not long[best]:
                break
            here = best
        return here

    def _add_neighbours(self) -> None:
        count = len(self.lengths)
        log = np.log1p(self.lengths)
        element = self.arrays.element
        places = self.arrays.places[element]
        for step in range(1, _NEIGHBOURS + 1):
            for sign, side in ((-1, "before"), (1, "after")):
                index = np.arange(count) + sign * step
                there = (index >= 0) & (index < count)
                at = np.clip(index, 0, count - 1)
                self._add(f"{side}{step}_length", np.where(there, log[at], -1.0))
                self._add(f"{side}{step}_link_share", np.where(there, self.link_share[at], -1.0))
                if step < 3:
                    self._add(f"{side}{step}_sentences", np.where(there, self.sentences[at], -1.0))
                    self._add(
                        f"{side}{step}_same_place",
                        np.where(there, places[at] == places, False).astype(np.float64),
                    )
        for reach in (5, 15):
            for name, values in (
                ("length", log), ("link_share", self.link_share), ("long", np.log1p(self.long)),
            ):  # fmt: skip
                before, after = _windows(values, reach)
                self._add(f"window{reach}_{name}_before", before)
                self._add(f"window{reach}_{name}_after", after)

    def _add_page(self) -> None:
        count = len(self.lengths)
        index = np.arange(count)
        total = max(float(self.lengths.sum()), 1.0)
        passed = np.cumsum(self.lengths)
        self._add("position", index / count)
        self._add("text_position", passed / total)
        self._add("from_start", np.log1p(index))
        self._add("from_end", np.log1p(count - 1 - index))
        long = np.cumsum(self.long)
        self._add("long_before", (long - self.long) / max(float(long[-1]), 1.0))
        self._add("long_after", 1 - long / max(float(long[-1]), 1.0))
        h1 = [b.index for b in self.page.blocks if self.page.elements[b.element].tag == "h1"]
        start = h1[0] if h1 else -1
        self._add(
            "from_h1",
            np.where(start >= 0, np.clip(index - start, -30, 60), -100).astype(np.float64),
        )
        in_title = self._columns[self._names.index("in_title")] * (self.lengths > 10)
        best = int(np.argmax(in_title)) if in_title.max() >= 0.6 else -1
        self._add(
            "from_title",
            np.where(best >= 0, np.clip(index - best, -30, 60), -100).astype(np.float64),
        )
        headings = np.array(
            [self.page.elements[b.element].tag in _HEADINGS for b in self.page.blocks]
        )
        last = np.maximum.accumulate(np.where(headings, index, -1))
        self._add(
            "since_heading",
            np.where(last >= 0, np.minimum(index - last, 30), 40).astype(np.float64),
        )
        section = np.cumsum(headings)
        in_section = np.bincount(section, weights=self.lengths)
        links = np.bincount(section, weights=self.lengths * self.link_share)
        self._add("section_length", np.log1p(in_section[section]))
        self._add("section_link_share", links[section] / np.maximum(in_section[section], 1))
        tags = [self.page.elements[b.element].tag for b in self.page.blocks]
        paragraphs = float(sum(n for n, tag in zip(self.lengths, tags, strict=True) if tag == "p"))
        for name, value in (
            ("page_blocks", np.log1p(count)),
            ("page_text", np.log1p(total)),
            ("page_link_share", float((self.lengths * self.link_share).sum()) / total),
            ("page_long_share", float(self.long.sum()) / total),
            ("page_long_blocks", np.log1p((self.long > 0).sum())),
            ("page_long_length", np.log1p(float(self.long.sum()) / max((self.long > 0).sum(), 1))),
            ("page_paragraph_share", paragraphs / total),
            ("page_headings", np.log1p(headings.sum())),
            ("page_h1", float(len(h1))),
            ("page_items", np.log1p(tags.count("li"))),
            ("page_cells", np.log1p(tags.count("td"))),
            (
                "page_han",
                float(self.lengths.sum() / max(sum(len(b.text) for b in self.page.blocks), 1)),
            ),
        ):
            self._add(name, np.full(count, value))


_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())


def _share(own: set[str], described: set[str]) -> float:
    return len(described & own) / len(own) if len(own) > 3 else 0.0


def _stands_in(text: str, body: str) -> float:
    return float(text[:_DECLARED] in body or text[-_DECLARED:] in body) if text else 0.0


def _text_row(text: str, block_words: Sequence[str], title: set[str]) -> tuple[float, ...]:
    split = text.split()
    own = set(block_words) if title and len(text) < 300 else set()
    capitals = sum(1 for word in split if word[0].isupper())
    return (
        len(split) if text.isascii() else max(len(split), len(_HAN_KANA.findall(text)) / 2),
        len(_SENTENCE.findall(text)),
        bool(_SENTENCE_END.search(text)),
        len(_PAUSE.findall(text)),
        len(_DIGIT.findall(text)),
        capitals / len(split) if split else 0.0,
        text.isupper(),
        bool(_DATE.search(text)),
        len(_SEPARATOR.findall(text)),
        bool(_CURRENCY.search(text)),
        bool(_RIGHTS.search(text)),
        bool(_ADDRESS.search(text)),
        len(_CODE.findall(text)),
        bool(re.search(r"[\"“”„«»「」]", text)),
        text[:1].islower(),
        text.endswith((":", "：")),
        len(own & title) / len(own) if own else 0.0,
    )


def _windows(values: Floats, reach: int) -> tuple[Floats, Floats]:
    """Means over up to `reach` blocks before and after each block; 0 where there are none."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    count = len(values)
    index = np.arange(count)
    low = np.maximum(index - reach, 0)
    high = np.minimum(index + 1 + reach, count)
    before = (sums[index] - sums[low]) / np.maximum(index - low, 1)
    after = (sums[high] - sums[index + 1]) / np.maximum(high - index - 1, 1)
    return before, after
