"""The page report: one page as it looked, every block tinted by its verdict."""

from __future__ import annotations

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.report.page_view import page_view
from noiseclean_scrapy.report.templating import render


def page_report(page: CleanPage, html: str) -> str:
    """An HTML document of its own that shows `page` and the evidence for each of its blocks.

    `html` is the source that the page was cleaned from. The document asks for nothing from the
    network, and nothing of the page runs in it.
    """
    return render("page.html.jinja", view=page_view(page, html))
