"""What a page shows as 64-bit keys: places in the layout, texts at places, its near-duplicates."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.evidence_page import EvidencePage
from noiseclean_scrapy.methods.evidence_model.near_duplicates import content_signature
from noiseclean_scrapy.methods.evidence_model.places import page_places
from noiseclean_scrapy.methods.evidence_model.text_features import FIELDS, text_table
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.hashes import hash64
from noiseclean_scrapy.page.outline import CELLS, ITEMS
from noiseclean_scrapy.page.words import LETTER, words

QUANTUM = 2.0**20
"""Means of log-odds are multiples of 1 / QUANTUM, so that sums are exact."""

_ENDS_SENTENCE = list(FIELDS).index("ends_sentence")


class PageKeys:
    """The keys of a page of B blocks, given the blocks' log-odds `scores` (B) by the page alone.

    `places` (P) are the places of all blocks, ascending, and `means` (P) the mean log-odds there;
    `own` (B) and `around` (B) say which of them is that of each block and that around it. `texts`
    (B) stand for each block's text at its own place, dates and counters masked. Pages of one
    `signature` are near-duplicates; `layout`, the min-wise hash of the places, is mostly equal on
    pages of one template.
    """

    def __init__(self, page: Page, scores: Floats) -> None:
        self.scores = scores
        if not page.table.texts:
            self.places, self.texts = array("Q"), array("Q")
            self.own = self.around = np.zeros(0, dtype=np.int64)
            self.means = np.zeros(0)
        else:
            places = page_places(page)
            self.places = array("Q", places.keys.tobytes())
            self.own, self.around = places.own, places.around
            self.means = np.round(places.means(scores) * QUANTUM) / QUANTUM + 0.0  # never -0.0
            self.texts = array("Q", (_text_keys(page) ^ places.keys[self.own]).tobytes())
        self.layout = self.places[0] if self.places else 0
        content = content_signature(page.table.texts, scores)
        names = (self.layout, *words(page.title), content or self.texts.tolist())
        self.signature = hash64("\0".join(map(str, names)))


def _text_keys(page: Page) -> NDArray[np.uint64]:
    """Hashes (B) of the texts, digits masked where they are a date or a counter beside words.

    Figures say what is content, so no two are alike: "$129", "18 kg" in a table or a list, and a
    sentence ("The match ended 3:1.").
    """
    measured, table = text_table(page), page.table
    is_sentence = measured.features[_ENDS_SENTENCE].tolist()
    tags = [table.tags[owner] for owner in table.owners]
    figures = [
        number
        for number in np.flatnonzero(measured.digits).tolist()
        if is_sentence[number]
        or tags[number] in ITEMS
        or tags[number] in CELLS
        or not LETTER.search(table.texts[number])
    ]
    keys = measured.keys.copy()
    keys[figures] = [hash64(table.texts[number]) for number in figures]
    return keys


def page_keys(page: Page, scores: Floats) -> PageKeys:
    """The keys of a page; made once, then kept with the page."""
    kept = EvidencePage.of(page)
    if kept.keys is None or kept.keys.scores is not scores:
        kept.keys = PageKeys(page, scores)
    return kept.keys
