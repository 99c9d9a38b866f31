"""The page view: one page as it looked, every block tinted by its verdict, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.page.block import Block
from noiseclean_scrapy.report.inert import inert_document, verdict_of
from noiseclean_scrapy.report.reasons import MOST_BLOCKS, parts, reasons, verdict_in_words
from noiseclean_scrapy.report.survey import noise
from noiseclean_scrapy.report.templating import render


@dataclass(frozen=True, slots=True)
class PageView:
    """What the page view's template needs. `rows` are JSON values, one a shown block."""

    page: CleanPage
    document: str
    rows: list[dict[str, Any]]
    has_pictures: bool

    @property
    def noise(self) -> float:
        """Share of the page's text that was left out."""
        return noise(self.page)

    @property
    def kept_blocks(self) -> int:
        """Number of blocks that were kept."""
        return sum(block.kept for block in self.page.blocks)


def page_report(page: CleanPage, html: str) -> str:
    """An HTML document of its own that shows `page` and the evidence for each of its blocks.

    `html` is the source that the page was cleaned from. The document asks for nothing from the
    network, and nothing of the page runs in it.
    """
    return render("page.html.jinja", view=page_view(page, html))


def page_view(page: CleanPage, html: str, *, with_document: bool = True) -> PageView:
    """The view of a page that was cleaned from `html`; its document may come from elsewhere."""
    shown = page.blocks[:MOST_BLOCKS]
    rows = [_row(page, block) for block in shown]
    document = inert_document(html, page.blocks) if with_document else ""
    return PageView(page, document, rows, "<img" in html.lower())


def _row(page: CleanPage, block: Block) -> dict[str, Any]:
    headline = block is page.headline
    return {
        "text": page.shown_text(block),
        "tag": block.tag,
        "place": block.place,
        "verdict": verdict_of(block),
        "headline": headline,
        "score": round(block.score, 4),
        "sentence": verdict_in_words(block, headline=headline),
        "parts": [[kind, round(value, 2)] for kind, value in parts(block.evidence)],
        "log_odds": round(float(block.evidence.get("log_odds", 0)), 2),
        "needed": round(float(block.evidence.get("threshold", 0)), 2),
        "reasons": [
            [reason.kind, reason.words, round(reason.value, 3), reason.signed]
            for reason in reasons(block.evidence)
        ],
    }
