"""What a crawl has left in the store: characters removed, texts scored, a page to show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from example_project.demo import DemoPage
from example_project.scoring import Score, score
from noiseclean_scrapy.store import Cleaned, PageRecord


@dataclass(frozen=True, slots=True)
class ScoredPage:
    """A page of known content: all its visible text and its clean text, scored."""

    page: DemoPage
    visible: Score
    cleaned: Score


@dataclass(slots=True)
class Outcome:
    """The final texts of a crawl's pages, added up.

    `sample` is a page with much content and much noise; of known pages, an English article.
    """

    pages: int = 0
    visible_characters: int = 0
    kept_characters: int = 0
    scored: list[ScoredPage] = field(default_factory=list)
    sample: PageRecord | None = None

    @property
    def removed(self) -> float:
        """Share of the pages' characters that cleaning has removed, in [0, 1]."""
        return removed_share(self.visible_characters, self.kept_characters)


def read_outcome(
    records: Iterable[PageRecord], urls: Collection[str], known: Mapping[str, DemoPage]
) -> Outcome:
    """Add up the stored pages at `urls`; `known` has the known content by URL."""
    outcome = Outcome()
    best = (False, 0)
    for record in records:
        if record.cleaned is None or record.url not in urls:
            continue
        outcome.pages += 1
        outcome.visible_characters += record.cleaned.visible_characters
        outcome.kept_characters += record.cleaned.kept_characters
        page = known.get(record.url)
        if page:
            outcome.scored.append(_score(page, record.cleaned))
        merit = _merit(record.cleaned, page)
        if outcome.sample is None or merit > best:
            outcome.sample, best = record, merit
    return outcome


def visible_lines(cleaned: Cleaned) -> list[tuple[str, bool]]:
    """All visible text of a page, one line a block, each with whether it was kept."""
    return [(block.text, block.kept) for block in cleaned.blocks]


def removed_share(visible: int, kept: int) -> float:
    """Share of the visible characters that were not kept, in [0, 1]."""
    return 1 - kept / visible if visible else 0.0


def _merit(cleaned: Cleaned, page: DemoPage | None) -> tuple[bool, int]:
    removed = cleaned.visible_characters - cleaned.kept_characters
    is_article = page is not None and (page.kind, page.language) == ("article", "en")
    return is_article, min(cleaned.kept_characters, removed)


def _score(page: DemoPage, cleaned: Cleaned) -> ScoredPage:
    visible = "\n".join(line for line, _ in visible_lines(cleaned))
    return ScoredPage(page, score(visible, page.gold), score(cleaned.text, page.gold))
