"""The block that training leaves out of the labels: the one with most of a title's words.

It is mostly the headline, which is kept anyway. The weights depend on it: with `find_headline`
in its place they are others, and no better.
"""

from __future__ import annotations

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.headline import SiteNames, last_part, squashed, title_blocks
from noiseclean_scrapy.page.words import word_counts, words


def find_title_block(page: Page) -> int | None:
    """Its number: of TITLE, else of another title that the page declares, else its only H1."""
    table, site = page.table, SiteNames(page.declared.site_names, page.url)

    def is_h1(number: int) -> bool:
        return table.tags[table.owners[number]] == "h1"

    for title in (page.title, *page.declared.titles):
        counts = word_counts(table.texts, {*words(title)})
        last = last_part(title)
        ranks = [
            (not last or squashed(table.texts[n]) != last, counts[1, n], is_h1(n), -n)
            for n in title_blocks(page, title, counts)
            if site.allows(table.texts[n])
        ]
        if ranks:
            return -max(ranks)[-1]
    headings = [n for n, text in enumerate(table.texts) if is_h1(n) and site.allows(text)]
    return headings[0] if len(headings) == 1 else None
