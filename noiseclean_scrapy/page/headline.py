"""Which text block is the page's headline."""

from __future__ import annotations

from noiseclean_scrapy.page.features import LONGEST, word_sets, words
from noiseclean_scrapy.page.model import Page

_COVERAGE = 0.8


def find_headline(page: Page) -> int | None:
    """The number of the block that shows the title, None where none is visible.

    It is the block whose words stand in TITLE and make up most of it, H1 first; without such a
    block it is the page's only H1.
    """
    title = set(words(page.title))
    best: tuple[tuple[float, bool, int], int] | None = None
    headings = []
    table = page.table
    for index, (text, own) in enumerate(zip(table.texts, word_sets(page), strict=True)):
        if not text or len(text) > LONGEST:
            continue
        is_h1 = table.tags[table.owners[index]] == "h1"
        if is_h1:
            headings.append(index)
        if title.isdisjoint(own):
            continue
        shared = len(own & title)
        if shared < _COVERAGE * len(own) or shared < min(3, len(title)):
            continue
        rank = (shared / len(title), is_h1, -index)
        if best is None or rank > best[0]:
            best = (rank, index)
    if best:
        return best[1]
    return headings[0] if len(headings) == 1 else None
