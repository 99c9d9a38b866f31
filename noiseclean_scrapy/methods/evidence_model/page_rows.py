"""Rows of features of a page's blocks, in numpy; `kernels.blocks.PageRows` is its twin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.feature_rows import Columns
from noiseclean_scrapy.methods.evidence_model.text_features import TextTable
from noiseclean_scrapy.methods.evidence_model.tree_index import (
    Floats,
    Integers,
    PageArrays,
    window_means,
)


class PageRows(Columns):
    """Fills `rows` (features, blocks), one method after the other in the order in which they stand.

    What a method finds stays here for the next ones: the share of links of each block, its
    characters if it is long text, and the groups of tags and names of its own element, of those
    near above, and of all above, as bits.
    """

    link_share: Floats
    long: Floats
    own: Integers
    near: Integers
    above: Integers

    def __init__(self, rows: NDArray[np.float32], arrays: PageArrays, texts: TextTable) -> None:
        super().__init__(rows)
        self.arrays = arrays
        self.texts = texts
        self.lengths = texts.lengths

    def add_text(
        self,
        characters: Floats,
        link_characters: Sequence[int],
        counts: Floats,
        long_from: float,
        links_from: float,
    ) -> None:
        """Of the text alone: `counts` are links, images and what is known of the words.

        Text is long from so many characters on, unless this share of it is links.
        """
        linked = np.array(link_characters, dtype=np.float64)
        self.link_share = linked / np.maximum(characters, 1)
        is_long = (self.lengths >= long_from) & (self.link_share < links_from)
        self.long = np.where(is_long, self.lengths, 0.0)
        self._linked_text = self.lengths * self.link_share
        self._log = self.texts.features[0]
        self.next(3)[:] = self.texts.features[:3]
        self.add(counts[0], self.link_share)
        self.next(len(self.texts.features) - 3)[:] = self.texts.features[3:]
        self.add(*counts[1:])

    def add_places(
        self, bits: Integers, masks: Integers, numbers: Integers, whole_from: float
    ) -> None:
        """Of tags and class names, as the `bits` (E) of each element say.

        Each row asks the bit of a number: of a block's own element where its mask is 0, of those
        near above where it is 1, of all above where it is 2.
        """
        arrays = self.arrays
        # What BODY and whole-page wrappers are called says nothing of a block.
        whole = arrays.end - arrays.first >= whole_from
        local = np.where(whole, 0, bits)
        self.own = bits[arrays.element]
        _, parent, above = arrays.ancestors(2)
        self.near = self.own | local[parent] | local[above]
        self.above = arrays.inherit(local)[arrays.element]
        answers = np.stack([self.own, self.near, self.above])[masks]
        answers >>= numbers[:, None]
        answers &= 1
        self.next(len(masks))[:] = answers
        self.add(arrays.depth[arrays.element])

    def add_ancestors(self, levels: int, sentences: int) -> None:
        """Of all text below a block's element, its parent and so on.

        `sentences` is the row of `TextTable.features` that counts these.
        """
        arrays = self.arrays
        self._ancestors = arrays.ancestors(levels)
        self._sentences = self.texts.features[sentences]
        self._total = max(float(self.lengths.sum()), 1.0)
        self._all_long = max(float(self.long.sum()), 1.0)
        values = np.stack([self.lengths, self._linked_text, self.long, self._sentences])
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
        self.add_by_place(columns.take(self._ancestors, axis=1))

    def add_repeated(self, items: Integers) -> None:
        """Of repeated siblings (posts of a forum, cards of a listing, items of a menu).

        `items` (2, B) are `PageArrays.repeated_items`.
        """
        arrays, group = self.arrays, self.arrays.groups
        sizes = np.bincount(group)
        text = np.bincount(group, weights=self._text)
        columns = np.empty((5, len(sizes)), dtype=np.float32)
        columns[0] = np.log1p(sizes)
        columns[1] = np.log1p(text / sizes)
        columns[2] = np.bincount(group, weights=self._linked) / np.maximum(text, 1)
        columns[3] = np.bincount(group, weights=self._sentences_below) / sizes
        columns[4] = text / self._total
        of = columns.take(group[items], axis=1)
        of[0] *= items > 0
        number = np.log1p(arrays.group_numbers[items])
        self.add_by_place(
            np.stack([of[0], self._log_text[items], *of[1:], number], dtype=np.float32)
        )

    def add_same_place(self) -> None:
        """Of blocks whose element and parent are labelled alike, anywhere on the page."""
        self._places = place = self.arrays.places[self.arrays.element]
        size = np.bincount(place)
        text = np.bincount(place, weights=self.lengths)
        linked = np.bincount(place, weights=self._linked_text)
        self.add(
            np.log1p(size)[place],
            np.log1p(text / np.maximum(size, 1))[place],
            (linked / np.maximum(text, 1))[place],
            text[place] / self._total,
        )

    def add_main(self, share: float) -> None:
        """Of the deepest element with more than this share of its parent's long text."""
        arrays = self.arrays
        main = self._main(share)
        index = np.arange(len(self.lengths))
        count = len(index)
        first, end = arrays.first[main], arrays.end[main]
        self.add(
            (index >= first) & (index < end),
            (self._ancestors[1] == main) + 2.0 * (arrays.element == main),
            np.maximum(first - index, 0) / count,
            np.maximum(index - end + 1, 0) / count,
            self._text[main] / self._total,
            self._linked[main] / max(self._text[main], 1),
        )

    def _main(self, share: float) -> int:
        long, parent = self._long_below, self.arrays.parent
        above = long[parent]
        heavy = np.flatnonzero((long > share * above) & (parent < np.arange(len(parent))))
        here = 0
        for element, around in zip(heavy.tolist(), parent[heavy].tolist(), strict=True):
            if around == here:
                here = element
        return here

    def add_neighbours(self, steps: Sequence[int], told: int, windows: Sequence[int]) -> None:
        """Of the blocks so many steps away; of the first `told` of these more is told."""
        count = len(self.lengths)
        at = np.arange(count) + np.array(steps)[:, None]
        there = (at >= 0) & (at < count)
        at = np.minimum(np.maximum(at, 0), count - 1)
        values = np.stack([self._log, self.link_share, self._sentences]).take(at, axis=1)
        values = np.where(there, values, -1.0)
        close = self.next(4 * told).reshape(told, 4, count)
        close[:, :3] = values[:, :told].transpose(1, 0, 2)
        close[:, 3] = there[:told] & (self._places[at[:told]] == self._places)
        far = self.next(2 * (len(at) - told)).reshape(-1, 2, count)
        far[:] = values[:2, told:].transpose(1, 0, 2)
        measured = np.stack([self._log, self.link_share, np.log1p(self.long)])
        means = window_means(measured, np.ones(count), windows)
        self.next(means.size // count)[:] = means.transpose(1, 0, 2, 3).reshape(-1, count)

    def add_positions(
        self,
        in_title: Floats,
        h1: int,
        titled_from: float,
        more_than: float,
        distances: tuple[int, int, int],
    ) -> None:
        """Of where on the page a block stands; `h1` is the bit of main headings.

        The headline has at least the share `titled_from` of its words in the title, and more than
        so many characters. `distances` are the least, the greatest, and that of what is not there.
        """
        count = len(self.lengths)
        index = np.arange(count)
        log = np.log1p(index)
        long = np.cumsum(self.long)
        titled = in_title * (self.lengths > more_than)
        headline = [int(np.argmax(titled))] if titled.max() >= titled_from else []
        is_h1 = self.own & h1 != 0
        self.add(
            index / count,
            np.cumsum(self.lengths) / self._total,
            log,
            log[::-1],
            (long - self.long) / self._all_long,
            1 - long / self._all_long,
            _distance(index, np.flatnonzero(is_h1)[:1].tolist(), *distances),
            _distance(index, headline, *distances),
            np.cumsum(is_h1),
        )

    def add_sections(self, heading: int, farthest: int, without: int) -> None:
        """Of what stands below the same heading, whose bit is given; how far below, at most."""
        index = np.arange(len(self.lengths))
        is_heading = self.own & heading != 0
        last = np.maximum.accumulate(np.where(is_heading, index, -1))
        section = np.cumsum(is_heading)
        text = np.bincount(section, weights=self.lengths)
        linked = np.bincount(section, weights=self._linked_text)
        self.add(
            np.where(last >= 0, np.minimum(index - last, farthest), without),
            np.log1p(text)[section],
            (linked / np.maximum(text, 1))[section],
        )

    def add_announced(self, said: Integers, kinds: int, far: int) -> None:
        """Of how many blocks ago a line announced each of so many kinds of text."""
        index = np.arange(len(self.lengths))
        for_each = said == np.arange(1, kinds + 1)[:, None]
        last = np.maximum.accumulate(np.where(for_each, index, -far), axis=1)
        self.next(kinds)[:] = np.minimum(index - last, far)

    def add_page(
        self,
        characters: Floats,
        bits: Sequence[int],
        cells: NDArray[np.uint8],
        kinds: Sequence[bool],
    ) -> None:
        """Of the whole page; `bits` are those of P, headings, H1 and LI, `cells` (E) tells TDs."""
        total = self._total
        long_blocks = int(np.count_nonzero(self.long))
        paragraph, heading, h1, item = (self.own & bit != 0 for bit in bits)
        self.add_values(
            np.log1p(len(self.lengths)),
            np.log1p(total),
            float(np.cumsum(self._linked_text)[-1]) / total,
            float(self.long.sum()) / total,
            np.log1p(long_blocks),
            np.log1p(float(self.long.sum()) / max(long_blocks, 1)),
            float(self.lengths[paragraph].sum()) / total,
            np.log1p(np.count_nonzero(heading)),
            np.count_nonzero(h1),
            np.log1p(np.count_nonzero(item)),
            np.log1p(np.count_nonzero(cells[self.arrays.element])),
            float(self.lengths.sum()) / max(float(characters.sum()), 1),
            *kinds,
        )


def _distance(
    index: Integers, starts: Sequence[int], least: int, greatest: int, without: int
) -> Floats:
    """Blocks since the first of `starts`, cut off."""
    if not starts:
        return np.full(len(index), float(without))
    return np.minimum(np.maximum(index - starts[0], least), greatest).astype(np.float64)
