"""Workbench: what the views and the API are given; everything in it is bounded."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from threading import Lock, Semaphore
from typing import Any

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.clusters.maintenance import StoredModel, load_stored_model
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError, NotStoredError
from noiseclean_scrapy.page.overrides import NO_OVERRIDES, Overrides
from noiseclean_scrapy.page.parse import parse_html
from noiseclean_scrapy.report.inert import inert_document
from noiseclean_scrapy.report.templating import minute, number, percent
from noiseclean_scrapy.store import PageRecord, SiteSummary, Store
from noiseclean_scrapy.web.boxes import SAMPLE, Level, PlaceCounts, levels
from noiseclean_scrapy.web.crawl_watch import CrawlWatch
from noiseclean_scrapy.web.growth import Growth
from noiseclean_scrapy.web.refreshing import Refreshing

SITES_ON_PAGE, PAGES_ON_PAGE, HITS_ON_PAGE = 50, 50, 10
"""Rows of the views."""
FITS = 60
"""Pages in the small picture of a site's drift."""

_NONE = "–"
_MODELS = 4
_COUNTS = 8
_AT_ONCE = 2  # pages that are judged at the same time


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A stored site in numbers, `rate` pages a minute in the last one."""

    summary: SiteSummary
    rate: float


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A stored page; `judged` and `html` are None where its HTML is not stored."""

    record: PageRecord
    judged: CleanPage | None
    html: str | None

    def need_html(self) -> tuple[CleanPage, str]:
        """The page as it was judged, and its HTML; raises NotStoredError where that is missing."""
        if self.judged is None or self.html is None:
            raise NotStoredError("the HTML of this page is not stored")
        return self.judged, self.html


@dataclass
class Workbench:
    """One open database.

    `rules_file` is the overrides file that is written to, `open_writer` gives the store that writes
    (None: nothing can be changed). `crawls` are the running crawls that are asked how far they are.
    """

    store: Store
    config: Config
    rules_file: Path | None = None
    open_writer: Callable[[], Store] | None = None
    crawls: Sequence[CrawlWatch] = ()
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __post_init__(self) -> None:
        self.sites = Refreshing(self._read_sites, seconds=1.0)
        self._models: OrderedDict[tuple[object, ...], StoredModel] = OrderedDict()
        self._counts: OrderedDict[tuple[object, ...], Future[PlaceCounts]] = OrderedDict()
        self._counting = ThreadPoolExecutor(1)
        self._lock = Lock()
        self._judging = Semaphore(_AT_ONCE)
        self._growth = Growth()
        self._rules: tuple[object, Overrides] = (None, NO_OVERRIDES)

    @property
    def can_teach(self) -> bool:
        """Whether rules can be written and pages cleaned again."""
        return self.open_writer is not None and self.rules_file is not None

    def settings(self) -> Config:
        """The settings with the overrides as they stand in the file now."""
        if self.rules_file is None:
            return self.config
        try:
            status = self.rules_file.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            return replace(self.config, overrides=NO_OVERRIDES)
        if stamp != self._rules[0]:
            self._rules = stamp, Overrides.read(self.rules_file)
        return replace(self.config, overrides=self._rules[1])

    def model(self, site: str) -> StoredModel:
        """What a site has taught, with the overrides of now; raises NotStoredError."""
        states = self.store.clusters.among([site])
        if not states:
            raise NotStoredError.site(site)
        config = self.settings()
        state = states[0]
        # The versions of a site that was forgotten and crawled again begin at 1 once more.
        made = [version.created_at for version in self.store.clusters.tree_versions(site)]
        key = (site, state.version, made[-1] if made else state.learned)
        with self._lock:
            found = self._models.get(key)
        if found is None:
            record = self.store.clusters.find(site)
            if record is None:
                raise NotStoredError.site(site)
            found = load_stored_model(self.store, record, config)
        with self._lock:
            _remember(self._models, key, found, _MODELS)
        return replace(found, config=replace(found.config, overrides=config.overrides))

    def record(self, key: str) -> PageRecord:
        """A page as it is stored, without its HTML; raises NotStoredError."""
        record = self.store.pages.find(key)
        if record is None:
            raise NotStoredError("there is no such page in the database")
        return record

    def page(self, key: str) -> StoredPage:
        """A page with its verdicts of now; raises NotStoredError."""
        record = self.record(key)
        html = self.store.pages.html(key)
        if html is None:
            return StoredPage(record, None, None)
        model = self.model(record.cluster)
        with self._judging:
            judged = model.judge(replace(record, html=html))
            _ = judged.blocks
        return StoredPage(record, judged, html)

    def document(self, page: StoredPage) -> str:
        """A page as it looked, marked by its verdicts; raises NotStoredError."""
        judged, html = page.need_html()
        with self._judging:
            return inert_document(html, judged.blocks)

    def levels(self, page: StoredPage, number: int) -> list[Level]:
        """The boxes around a block of a page, and on how many pages of the site each stands."""
        judged, html = page.need_html()
        if not 0 <= number < len(judged.blocks):
            raise NotStoredError(f"the page has no block {number}")
        counts = self.place_counts(page.record.cluster).result()
        with self._judging:
            return levels(parse_html(html).root, judged.blocks, number, counts)

    def place_counts(self, site: str) -> Future[PlaceCounts]:
        """On how many pages of a sample of the site each place stands; counted in the background.

        Who opens a page may soon point at a part of it.
        """
        summary = self.site(site).summary
        key = (site, summary.with_text, summary.version)
        with self._lock:
            found = self._counts.get(key)
            # What could not be counted may be now.
            if found is None or found.cancelled() or (found.done() and found.exception()):
                found = self._counting.submit(self._count_places, site)
            _remember(self._counts, key, found, _COUNTS)
        return found

    def _count_places(self, site: str) -> PlaceCounts:
        return PlaceCounts.count(islice(self.store.pages.with_text(site), SAMPLE))

    def close(self) -> None:
        """Begin nothing more."""
        self._counting.shutdown(wait=True, cancel_futures=True)

    def site(self, name: str) -> SiteRow:
        """A stored site in numbers; raises NotStoredError."""
        for row in self.sites.get():
            if row.summary.name == name:
                return row
        raise NotStoredError.site(name)

    def need_teaching(self) -> Path:
        """The overrides file; raises ConfigurationError where nothing can be written."""
        if self.open_writer is None:
            raise ConfigurationError("the workbench is read-only")
        if self.rules_file is None:
            raise ConfigurationError("start the workbench with --overrides FILE to write rules")
        return self.rules_file

    def _read_sites(self) -> list[SiteRow]:
        summaries = self.store.clusters.summaries()
        rates = self._growth.a_minute({summary.name: summary.pages for summary in summaries})
        return [SiteRow(summary, rates[summary.name]) for summary in summaries]


def site_totals(rows: list[SiteRow]) -> dict[str, int]:
    """All sites in numbers; `rate` is in pages a minute."""
    return {
        "sites": len(rows),
        "pages": sum(row.summary.pages for row in rows),
        "provisional": sum(row.summary.provisional for row in rows),
        "rate": round(sum(row.rate for row in rows)),
    }


def shown_totals(rows: list[SiteRow]) -> dict[str, str]:
    """`site_totals` as the views show them."""
    return {name: number(value) for name, value in site_totals(rows).items()}


def shown_values(row: SiteRow) -> dict[str, str]:
    """What changes of a site, as the views show it."""
    site = row.summary
    shares = {"noise": site.noise, "fit": site.fit, "drift": site.drift}
    counts = {"pages": site.pages, "provisional": site.provisional, "empty": site.empty}
    return {
        "version": str(site.version or _NONE),
        "last_page": minute(site.last_fetch) if site.last_fetch else _NONE,
        **{name: _NONE if share is None else percent(share) for name, share in shares.items()},
        **{name: number(count) for name, count in counts.items()},
    }


def site_values(row: SiteRow) -> dict[str, Any]:
    """A site as JSON values, for the API."""
    site = row.summary
    return {
        "name": site.name,
        "method": site.method,
        "version": site.version,
        "pages": site.pages,
        "with_text": site.with_text,
        "provisional": site.provisional,
        "noise": site.noise,
        "fit": site.fit,
        "drift": site.drift,
        "empty": site.empty,
        "pages_a_minute": round(row.rate, 1),
        "last_page": site.last_fetch.isoformat() if site.last_fetch else None,
    }


SORTS: dict[str, Callable[[SiteRow], Any]] = {
    "name": lambda row: row.summary.name,
    "pages": lambda row: row.summary.pages,
    "version": lambda row: row.summary.version,
    "noise": lambda row: row.summary.noise or 0.0,
    "fit": lambda row: 1.0 if row.summary.fit is None else row.summary.fit,
    "drift": lambda row: row.summary.drift or 0.0,
    "last": lambda row: row.summary.last_fetch.timestamp() if row.summary.last_fetch else 0.0,
    "problems": lambda row: row.summary.empty,
}
"""What the table of sites can be sorted by."""


def chosen_sites(rows: list[SiteRow], words: str, sort: str, descending: bool) -> list[SiteRow]:
    """The sites whose names have all of some words, in an order of `SORTS`."""
    wanted = words.lower().split()
    found = [row for row in rows if all(word in row.summary.name.lower() for word in wanted)]
    return sorted(found, key=SORTS.get(sort, SORTS["name"]), reverse=descending)


def _remember(
    cache: OrderedDict[tuple[object, ...], Any], key: tuple[object, ...], value: Any, most: int
) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > most:
        cache.popitem(last=False)
