"""Which text block is the page's headline."""

from __future__ import annotations

import numpy as np

from noiseclean_scrapy.page.page import Page
from noiseclean_scrapy.page.words import LONGEST, title_words, words

_COVERAGE = 0.8


def find_headline(page: Page) -> int | None:
    """The number of the block that shows the title, None where none is visible.

    It is the block whose words stand in TITLE and make up most of it, H1 first; without such a
    block it is the page's only H1.
    """
    table = page.table
    title = len(set(words(page.title)))
    short = [0 < len(text) <= LONGEST for text in table.texts]
    counts = title_words(page)
    fitting = (counts[1] >= max(1, min(3, title))) & (counts[1] >= _COVERAGE * counts[0])
    best: tuple[tuple[int, bool, int], int] | None = None
    for index in np.flatnonzero(fitting).tolist():
        if short[index]:
            is_h1 = table.tags[table.owners[index]] == "h1"
            rank = (int(counts[1, index]), is_h1, -index)
            if best is None or rank > best[0]:
                best = (rank, index)
    if best:
        return best[1]
    h1 = {index for index, tag in enumerate(table.tags) if tag == "h1"}
    headings = [n for n, owner in enumerate(table.owners) if owner in h1 and short[n]]
    return headings[0] if len(headings) == 1 else None
