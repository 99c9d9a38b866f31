"""Which text block is the page's headline."""

from __future__ import annotations

from noiseclean_scrapy.page.features import LONGEST, title_words, words
from noiseclean_scrapy.page.model import Page

_COVERAGE = 0.8


def find_headline(page: Page) -> int | None:
    """The number of the block that shows the title, None where none is visible.

    It is the block whose words stand in TITLE and make up most of it, H1 first; without such a
    block it is the page's only H1.
    """
    title = len(set(words(page.title)))
    best: tuple[tuple[float, bool, int], int] | None = None
    headings = []
    table = page.table
    counts = zip(table.texts, *title_words(page).tolist(), strict=True)
    for index, (text, own, shared) in enumerate(counts):
        if not text or len(text) > LONGEST:
            continue
        is_h1 = table.tags[table.owners[index]] == "h1"
        if is_h1:
            headings.append(index)
        if not shared or shared < _COVERAGE * own or shared < min(3, title):
            continue
        rank = (shared / title, is_h1, -index)
        if best is None or rank > best[0]:
            best = (rank, index)
    if best:
        return best[1]
    return headings[0] if len(headings) == 1 else None
