"""Replaying an archive as a crawl: the same middlewares and pipelines, in its order, no network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider, IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.utils.asyncio import run_in_thread

from noiseclean_scrapy.batch.addresses import FolderHosts
from noiseclean_scrapy.batch.archive import ArchivedPage, ProblemKind, read_archive
from noiseclean_scrapy.crawl.starting import config_of
from noiseclean_scrapy.crawl.visits import FETCHED_AT
from noiseclean_scrapy.errors import ArchiveError, NoiseCleanError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

META_KEY = "noiseclean_archive_page"
"""Number of the page in the archive; the page itself stays out of the request."""

REPLAY_SETTINGS: dict[str, Any] = {
    # One page at a time through the middlewares and the pipelines: what a page is cleaned with then
    # depends on the archive's order alone, and only one body is in memory.
    "CONCURRENT_REQUESTS": 1,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 0,
    "ROBOTSTXT_OBEY": False,
    "REDIRECT_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "RETRY_ENABLED": False,
    "COOKIES_ENABLED": False,
    "HTTPCACHE_ENABLED": False,
    "URLLENGTH_LIMIT": 0,
    # Bodies are not in the queue, so there is nothing to resume from: a replay begins again.
    "JOBDIR": None,
    # Should the middleware be lost, requests fail: there is nothing to download with.
    "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https", "ftp", "s3")),
}


class ReplayMiddleware:
    """Answers a replay's requests from the archive and refuses all others.

    It stands next to the downloader: its response passes the ``process_response`` of every other
    downloader middleware, as a downloaded one would.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ReplayMiddleware:
        if not issubclass(crawler.spidercls, ReplaySpider):
            raise NotConfigured(f"{crawler.spidercls.__name__} is not a ReplaySpider")
        return cls(crawler)

    def process_request(self, request: Request) -> Response:
        spider = self.crawler.spider
        assert isinstance(spider, ReplaySpider)
        page = spider.take_page(request)
        if page is None:
            self.crawler.stats.inc_value("noiseclean/archive/refused")
            raise IgnoreRequest(f"Not in the archive, and a replay uses no network: {request.url}")
        return page.response(request.url)


class ReplaySpider(Spider):
    """A spider that gets its pages from an archive, one item a page.

    ``parse`` is called with the response and with the page's ``page_id`` and ``site``. Spider
    argument ``source``: whatever `read_archive` takes, or several of these. ``custom_settings`` can
    change what `REPLAY_SETTINGS` sets. Without a readable archive the crawl ends at once, with one
    line in the log and the finish reason ``archive_error``.
    """

    name = "replay"

    def __init__(self, source: str | Path | Sequence[str | Path] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sources = [source] if isinstance(source, (str, Path)) else source
        self._in_flight: dict[int, ArchivedPage] = {}
        self._problems: list[ProblemKind] = []

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        settings.setdict(REPLAY_SETTINGS, priority="spider")
        super().update_settings(settings)
        # At the spider's priority: with a lower one CrawlerRunner.create_crawler puts the project's
        # middlewares back in place of these.
        middlewares = {**settings.getdict("DOWNLOADER_MIDDLEWARES"), ReplayMiddleware: 1000}
        settings.set("DOWNLOADER_MIDDLEWARES", middlewares, priority="spider")

    async def start(self) -> AsyncIterator[Any]:
        try:
            pages = await run_in_thread(self._open)
            for number in count():
                page = await self._next_page(pages)
                if page is None:
                    return
                self._in_flight[number] = page
                yield self._page_request(number, page)
        except NoiseCleanError as error:
            self.logger.error(str(error))
            raise CloseSpider("archive_error") from error

    def parse(self, response: Response, page_id: str, site: str) -> Iterator[Any]:
        yield {"id": page_id, "url": response.url, "site": site}

    def take_page(self, request: Request) -> ArchivedPage | None:
        """The page that the request stands for, once; None if it stands for none."""
        return self._in_flight.pop(request.meta.get(META_KEY, -1), None)

    def _open(self) -> Iterator[ArchivedPage]:
        if not self.sources or not all(self.sources):
            raise ArchiveError(
                f"Spider {self.name!r} needs an archive to replay: scrapy crawl {self.name} "
                f"-a source=PATH"
            )
        budget = config_of(self.crawler).page_budget
        read = partial(
            read_archive,
            on_problem=self._problems.append,
            budget=budget,
            hosts=FolderHosts(),
        )
        return chain.from_iterable(map(read, self.sources))

    async def _next_page(self, pages: Iterator[ArchivedPage]) -> ArchivedPage | None:
        """Reads on once the engine has room; Scrapy itself would queue the whole archive."""
        while self.crawler.engine.needs_backout():
            await self.crawler.signals.wait_for(signals.scheduler_empty)
        page = await run_in_thread(next, pages, None)
        if page is not None:
            self.crawler.stats.inc_value("noiseclean/archive/pages")
        while self._problems:
            self.crawler.stats.inc_value(f"noiseclean/archive/{self._problems.pop()}")
        return page

    def _page_request(self, number: int, page: ArchivedPage) -> Request:
        return Request(
            page.url,
            callback=self.parse,
            errback=self._forget_page,
            cb_kwargs={"page_id": page.id, "site": page.site},
            meta={META_KEY: number, FETCHED_AT: page.fetched_at},
            dont_filter=True,
        )

    def _forget_page(self, failure: Failure) -> None:
        """Another middleware has refused the page: let go of its body, and let Scrapy log it."""
        self.take_page(failure.request)  # type: ignore[attr-defined]
        failure.raiseException()
