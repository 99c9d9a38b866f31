"""What the features of a page are computed from: lengths, links, names of elements, sums."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.naming import Naming
from noiseclean_scrapy.methods.evidence_model.text_features import FIELDS, text_table
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, Integers, page_arrays
from noiseclean_scrapy.methods.evidence_model.vocabulary import NAMES, element_bits
from noiseclean_scrapy.methods.evidence_model.wording import Wording
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.words import LONGEST, page_words

LONG = 80
"""Weighted characters from which on a block is long text, unless half of it is links."""
LEVELS = 5
"""Ancestors of a block's element that features look at."""
OWN, NEAR, ANY = range(3)
"""Rows of `PageMeasures.groups`."""

BITS = {name: 1 << bit for bit, name in enumerate(NAMES)}
"""The bit of each group of tags or class names."""

_LINKS = 0.5
_WHOLE = 0.95  # of a page's blocks: such an element's name says nothing of one
_MAIN_SHARE = 0.6
_SENTENCES = list(FIELDS).index("sentences")


class PageMeasures:
    """Of a page with B text blocks and E elements.

    `lengths` (B) are weighted characters; `linked` (B) those in links, `link_share` (B) their
    share, which is low where `is_plain` (B); `long` (B) is the length of long text, else 0.
    `wording` and `naming` are None while there are none yet.
    """

    def __init__(
        self, page: Page, wording: Wording | None = None, naming: Naming | None = None
    ) -> None:
        self.page = page
        self.wording = wording
        self.naming = naming
        self.arrays = page_arrays(page)
        self.texts = text_table(page)
        self.lengths = self.texts.lengths
        self.index = np.arange(len(self.lengths))
        anchors = np.array(page.table.link_characters, dtype=np.float64)
        self.link_share: Floats = anchors / np.maximum(self.texts.characters, 1)
        self.linked = self.lengths * self.link_share
        self.is_plain = self.link_share < _LINKS
        self.long: Floats = np.where((self.lengths >= LONG) & self.is_plain, self.lengths, 0.0)
        self.total = max(float(self.lengths.sum()), 1.0)
        self.all_long = max(float(self.long.sum()), 1.0)
        self.sentences = self.texts.features[_SENTENCES]

    def own(self, group: str) -> NDArray[np.bool_]:
        """Which blocks' own element belongs to a group of tags or class names."""
        return self._having(OWN, group)

    def near(self, group: str) -> NDArray[np.bool_]:
        """Which blocks' own element, or one of the two above, belongs to a group."""
        return self._having(NEAR, group)

    def inside(self, group: str) -> NDArray[np.bool_]:
        """Which blocks stand in an element of a group."""
        return self._having(ANY, group)

    def below_any(self, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which blocks stand in one of the marked elements (E), or below it."""
        inherited = self.arrays.inherit((marked & self.is_local).astype(np.int64))
        found: NDArray[np.bool_] = inherited[self.arrays.element] > 0
        return found

    @cached_property
    def is_local(self) -> NDArray[np.bool_]:
        """Which elements are not the whole page: what BODY is called says nothing of a block."""
        found: NDArray[np.bool_] = self.arrays.end - self.arrays.first < _WHOLE * len(self.lengths)
        return found

    @property
    def cell_lengths(self) -> Floats:
        """Mean length of the blocks in the TABLE around each block; infinite without one."""
        tables = self.arrays.tagged({"table"})
        table = self.arrays.nearest(tables)[self.arrays.element]
        blocks = np.maximum(self.arrays.end - self.arrays.first, 1)
        means = self.arrays.below(self.lengths) / blocks
        return np.where(tables[table], means[table], np.inf)

    @cached_property
    def groups(self) -> Integers:
        """Bits (3, B) of a block's own element, of this and the two above, of all above."""
        arrays = self.arrays
        labels = zip(arrays.label_tags, arrays.label_names, strict=True)
        bits = np.array([element_bits(tag, label) for tag, label in labels], dtype=np.int64)
        hidden = np.array(self.page.table.hidden) > 0
        bits = bits[arrays.labels] | hidden * BITS["hidden"]
        local = np.where(self.is_local, bits, 0)
        own = bits[self.ancestors[0]]
        near = own | local[self.ancestors[1]] | local[self.ancestors[2]]
        return np.array((own, near, arrays.inherit(local)[self.ancestors[0]]))

    @cached_property
    def ancestors(self) -> Integers:
        """Each block's element, and the LEVELS above it (LEVELS + 1, B)."""
        return self.arrays.ancestors(LEVELS)

    @cached_property
    def places(self) -> Integers:
        """Equal numbers (B) for blocks whose element and its parent are labelled alike."""
        places: Integers = self.arrays.places[self.ancestors[0]]
        return places

    @cached_property
    def below(self) -> Floats:
        """Text, text in links, long text and sentences (4, E) of each element and all below it."""
        values = np.array((self.lengths, self.linked, self.long, self.sentences))
        return self.arrays.below(values)

    @cached_property
    def main(self) -> int:
        """The element of the long text: from the root on down, where most of it is in one child."""
        long, parent = self.below[2], self.arrays.parent
        heavy = np.flatnonzero(long > _MAIN_SHARE * long[parent])
        here = 0
        for element, around in zip(heavy.tolist(), parent[heavy].tolist(), strict=True):
            if around == here:
                here = element
        return here

    @cached_property
    def in_title(self) -> Floats:
        """The share of each block's words that stand in the title; 0 for what is long."""
        found, wanted = page_words(self.page)[:2]
        return np.where(self.texts.characters < LONGEST, wanted / np.maximum(found, 1), 0.0)

    def _having(self, where: int, group: str) -> NDArray[np.bool_]:
        having: NDArray[np.bool_] = self.groups[where] & BITS[group] != 0
        return having
