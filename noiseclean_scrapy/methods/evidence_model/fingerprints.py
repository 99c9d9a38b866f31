"""What a page shows as 64-bit keys: places in the layout, texts at places, its near-duplicates."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.evidence_page import EvidencePage
from noiseclean_scrapy.methods.evidence_model.near_duplicates import content_signature
from noiseclean_scrapy.methods.evidence_model.places import page_places, tag_paths
from noiseclean_scrapy.methods.evidence_model.text_features import FIELDS, text_table
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, page_arrays
from noiseclean_scrapy.page import Page, PageTable
from noiseclean_scrapy.page.hashes import hash64
from noiseclean_scrapy.page.outline import CELLS, ITEMS
from noiseclean_scrapy.page.tags import VERBATIM_TAGS
from noiseclean_scrapy.page.words import LETTER, words

QUANTUM = 2.0**20
"""Means of log-odds are multiples of 1 / QUANTUM, so that sums are exact."""

LONGEST_ROW = 200
"""Characters of a row of a data table; those of layouts are longer."""

_FIGURES = ITEMS | CELLS | VERBATIM_TAGS
_SEVERAL = re.compile(r"\d\D+\d")
_DATE_OR_TIME = re.compile(r"(?:19|20)\d\d|\d[:.]\d\d(?!\d)|\d[/.-]\d")
_ENDS_SENTENCE = list(FIELDS).index("ends_sentence")


class PageKeys:
    """The keys of a page of B blocks, given the blocks' log-odds `scores` (B) by the page alone.

    `places` (P) are the places of all blocks, ascending, and `means` (P) the mean log-odds there;
    `own` (B) and `around` (B) say which of them is that of each block and that around it. `texts`
    (B) stand for each block's text at its own path of tags, dates and counters masked. Pages of one
    `signature` are near-duplicates; `layout`, the min-wise hash of the places, is mostly equal on
    pages of one template.
    """

    def __init__(self, page: Page, scores: Floats) -> None:
        self.scores = scores
        places = page_places(page)
        self.places = array("Q", places.keys.tobytes())
        self.own, self.around = places.own, places.around
        self.means = np.round(places.means(scores) * QUANTUM) / QUANTUM + 0.0  # never -0.0
        self.texts = array("Q", (_text_keys(page) ^ tag_paths(page)).tobytes())
        self.layout = self.places[0] if self.places else 0
        content = content_signature(page.table.texts, scores)
        names = (self.layout, *words(page.title), content or self.texts.tolist())
        self.signature = hash64("\0".join(map(str, names)))


def _text_keys(page: Page) -> NDArray[np.uint64]:
    """Hashes (B) of the texts, digits masked where they are a date or a counter beside words.

    Figures say what is content, so no two are alike: "$129", "18 kg" in a table or a list, code, a
    sentence ("The match ended 3:1."), several in a paragraph ("Shots: 12 to 7"). A cell is that of
    its row: the 3 of another one is another figure.
    """
    measured, table = text_table(page), page.table
    is_sentence = measured.features[_ENDS_SENTENCE].tolist()
    tags = [table.tags[owner] for owner in table.owners]
    figures = [
        number
        for number in np.flatnonzero(measured.digits).tolist()
        if is_sentence[number]
        or tags[number] in _FIGURES
        or not LETTER.search(table.texts[number])
        or (tags[number] == "p" and _has_figures(table.texts[number]))
    ]
    keys = measured.keys.copy()
    keys[figures] = [hash64(table.texts[number]) for number in figures]
    if not CELLS.isdisjoint(page_arrays(page).label_tags):
        for row in _rows(table, tags):
            texts = [table.texts[number] for number in row]
            whole = "\0".join(texts)
            keys[row] = [hash64(f"{text}\0\0{whole}") for text in texts]
    return keys


def _has_figures(text: str) -> bool:
    """Whether a text has several numbers, none of which may be a part of a date or a time."""
    return bool(_SEVERAL.search(text)) and not _DATE_OR_TIME.search(text)


def _rows(table: PageTable, tags: Sequence[str]) -> list[list[int]]:
    """The blocks in the cells of each short row of several."""
    rows: dict[int, list[int]] = {}
    for number, owner in enumerate(table.owners):
        if tags[number] in CELLS and table.texts[number]:
            rows.setdefault(table.parents[owner], []).append(number)
    return [
        row
        for row in rows.values()
        if len(row) > 1 and sum(len(table.texts[number]) for number in row) <= LONGEST_ROW
    ]


def page_keys(page: Page, scores: Floats) -> PageKeys:
    """The keys of a page; made once, then kept with the page."""
    kept = EvidencePage.of(page)
    if kept.keys is None or kept.keys.scores is not scores:
        kept.keys = PageKeys(page, scores)
    return kept.keys
