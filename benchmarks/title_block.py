"""The block that training leaves out of the labels: the one with most of a title's words.

It is mostly the headline, which is kept anyway. The weights depend on it: with `find_headline`
in its place they are others, and no better.
"""

from __future__ import annotations

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.headline import SiteNames, split_title, squashed, title_blocks
from noiseclean_scrapy.page.words import LONGEST, page_words, word_counts, words


def find_title_block(page: Page) -> int | None:
    """Its number: of TITLE, else of another title that the page declares, else its only H1."""
    table, site = page.table, SiteNames(page)

    def may_show(number: int) -> bool:
        text = table.texts[number]
        return 0 < len(text) <= LONGEST and not site.is_name(text)

    def is_h1(number: int) -> bool:
        return table.tags[table.owners[number]] == "h1"

    for title in (page.title, *page.declared.titles):
        of_page = title is page.title
        counts = page_words(page) if of_page else word_counts(table.texts, {*words(title)})
        parts = split_title(title)
        last = squashed(parts[-1]) if len(parts) > 1 else ""
        ranks = [
            # The last part mostly names the site.
            (not last or squashed(table.texts[n]) != last, counts[1, n], is_h1(n), -n)
            for n in title_blocks(page, title, counts)
            if may_show(n)
        ]
        if ranks:
            return -max(ranks)[-1]
    headings = [n for n in range(len(table.owners)) if is_h1(n) and may_show(n)]
    return headings[0] if len(headings) == 1 else None
