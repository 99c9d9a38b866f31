"""Small pieces of HTML for notebooks: what a cleaner knows, what became of a page."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from noiseclean_scrapy.report.survey import stripes
from noiseclean_scrapy.report.templating import render

if TYPE_CHECKING:
    from noiseclean_scrapy.clean_page import CleanPage
    from noiseclean_scrapy.cleaner import SiteCleaner

_BLOCKS = 200


def cleaner_fragment(cleaner: SiteCleaner) -> str:
    """A card with what a cleaner has learned, without scripts."""
    return render("cleaner_fragment.html.jinja", cleaner=cleaner)


def page_fragment(page: CleanPage) -> str:
    """A card with a page's clean text and the verdicts on its first blocks, without scripts."""
    entries = [{"text": b.text, "score": b.score, "kept": b.kept} for b in page.blocks]
    return render(
        "page_fragment.html.jinja",
        page=page,
        stripes=stripes(entries),
        blocks=list(islice(page.blocks, _BLOCKS)),
    )
