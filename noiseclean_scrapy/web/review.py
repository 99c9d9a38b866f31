"""Review: the pages that are most worth a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from noiseclean_scrapy.page.block import Block
from noiseclean_scrapy.page.characters import shortened
from noiseclean_scrapy.report.survey import SiteSurvey
from noiseclean_scrapy.store import Cleaned, PageLine, PageRecord, Store

QUEUE = 60
"""Most pages of the queue."""
OF_A_SITE = 4
"""Most of one site for one reason: a rule for one page often serves the others."""
SAMPLE_PAGES, SAMPLE_SITES = 60, 50
"""Pages of each site, of so many sites at most, on which blocks are looked at."""

_LEAST_FIT = 0.6
_DOUBT = 0.2  # the half of the scores that a method is unsure of, around its middle
_LEAST_DOUBT = 0.1
_LEAST_REPEATED = 200
_LONGEST_QUOTE = 80


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """A page, why it is worth a look (`reason`, in words `note`), and how much, in [0, 1]."""

    line: PageLine
    reason: str
    note: str
    worth: float


def review_queue(store: Store) -> list[ReviewPage]:
    """The queue, what is worth most first."""
    found = [*_empty(store), *_unfit(store)]
    for site in sorted(store.clusters.summaries(), key=lambda site: -site.pages)[:SAMPLE_SITES]:
        found += _sampled(
            list(map(_with_blocks, islice(store.pages.with_text(site.name), SAMPLE_PAGES)))
        )
    found.sort(key=lambda page: (-page.worth, page.line.key))
    queue: list[ReviewPage] = []
    keys: set[str] = set()
    of_kind: Counter[tuple[str, str]] = Counter()
    for page in found:
        kind = (page.line.cluster, page.reason)
        if page.line.key in keys or of_kind[kind] >= OF_A_SITE or len(queue) >= QUEUE:
            continue
        keys.add(page.line.key)
        of_kind[kind] += 1
        queue.append(page)
    return queue


def _empty(store: Store) -> Iterable[ReviewPage]:
    for line in store.pages.lines(order="kept", limit=QUEUE):
        if line.kept_characters <= len(line.title):
            left_out = line.visible_characters - line.kept_characters
            but = " but the headline" if line.kept_characters else ""
            note = f"all{but} was left out, {left_out:,} characters"
            worth = left_out / (left_out + 500)
            yield ReviewPage(line, "empty text", note, worth)


def _unfit(store: Store) -> Iterable[ReviewPage]:
    for line in store.pages.lines(order="fit", limit=QUEUE):
        if line.fit < _LEAST_FIT:
            note = f"{1 - line.fit:.0%} of its text stands at places that the site's tree is new to"
            yield ReviewPage(line, "low fit", note, 1 - line.fit)


def _sampled(records: list[PageRecord]) -> Iterable[ReviewPage]:
    """Pages of one site whose blocks tell that something is doubtful."""
    survey = SiteSurvey()
    for record in records:
        survey.add(record)
    repeated = {text.text: text.kept_pages for text in survey.kept_though_repeated(500)}
    for record in records:
        cleaned = record.cleaned
        if cleaned is None or not cleaned.visible_characters:
            continue
        line = _line(record, cleaned)
        share = _doubtful(cleaned.blocks) / cleaned.visible_characters
        if share > _LEAST_DOUBT:
            note = f"the method is unsure of {share:.0%} of its text"
            yield ReviewPage(line, "doubtful verdicts", note, min(1.0, 2 * share))
        texts = {block.text[:200] for block in cleaned.blocks if block.kept} & repeated.keys()
        characters = sum(map(len, texts))
        if characters > _LEAST_REPEATED:
            longest = max(texts, key=len)
            quote = shortened(longest, _LONGEST_QUOTE)
            note = (
                f"keeps what {repeated[longest]} of {len(records)} pages looked at keep: “{quote}”"
            )
            worth = characters / max(cleaned.kept_characters, 1)
            yield ReviewPage(line, "kept though repeated", note, min(1.0, worth))


def _with_blocks(record: PageRecord) -> PageRecord:
    """The page with its blocks read once: they are made of its HTML whenever they are asked for."""
    if record.cleaned is None:
        return record
    return replace(record, cleaned=replace(record.cleaned, blocks=list(record.cleaned.blocks)))


def _doubtful(blocks: Iterable[Block]) -> int:
    return sum(len(block.text) for block in blocks if abs(block.score - 0.5) < _DOUBT)


def _line(record: PageRecord, cleaned: Cleaned) -> PageLine:
    return PageLine(
        record.key,
        record.cluster,
        record.url,
        cleaned.title,
        record.fetched_at,
        cleaned.visible_characters,
        cleaned.kept_characters,
        cleaned.fit,
    )
