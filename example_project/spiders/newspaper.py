"""Crawls the demo newspaper, or a site of yours: scrapy crawl newspaper -a start_urls=https://..."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request
from sqlalchemy import make_url

from example_project.demo import DemoPage, DemoServer, DemoSite
from example_project.settings import NOISECLEAN_DATABASE_URL
from noiseclean_scrapy.batch.site_spider import SiteSpider
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

HOST = "127.0.0.1"
COMMON_SETTINGS: dict[str, Any] = {
    **SiteSpider.custom_settings,
    "LOG_LEVEL": "WARNING",
    "EXTENSIONS": {"example_project.display.CrawlDisplay": 500},
}
DEMO_SETTINGS: dict[str, Any] = {
    # Small enough to see a tree grow through several versions.
    "NOISECLEAN_SAMPLE_QUOTA": 30,
    "NOISECLEAN_REFRESH_PAGES": 60,
    # The server is ours.
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    # One page at a time: trees learn in the same order, and the figures are the same, every time.
    "CONCURRENT_REQUESTS": 1,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 0,
}
LIVE_SETTINGS: dict[str, Any] = {"CLOSESPIDER_PAGECOUNT": 200}


class NewspaperSpider(SiteSpider):
    """Without arguments it serves and crawls the embedded demo newspaper, else live sites.

    `known_pages` are the demo's pages with their known content, by URL.
    """

    name = "newspaper"
    custom_settings = COMMON_SETTINGS  # type: ignore[misc]

    def __init__(self, start_urls: str = "", **kwargs: Any) -> None:
        super().__init__(start_urls, **kwargs)
        self.known_pages: dict[str, DemoPage] = {}
        self._running = ExitStack()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings = LIVE_SETTINGS if spider.start_urls else DEMO_SETTINGS
        crawler.settings.setdict(settings, priority="spider")
        is_own = crawler.settings["NOISECLEAN_DATABASE_URL"] == NOISECLEAN_DATABASE_URL
        if not spider.start_urls and is_own:
            _forget_earlier_demos(DemoSite().pages.keys())
        return spider

    async def start(self) -> AsyncIterator[Any]:
        if not self.start_urls:
            yield Request(self._serve_demo())
        async for request in super().start():
            yield request

    def closed(self, reason: str) -> None:
        self._running.close()

    def _serve_demo(self) -> str:
        """Start the demo server; the address of its front page."""
        server = self._running.enter_context(DemoServer(DemoSite()))
        self.known_pages = {server.url + path: page for path, page in server.site.pages.items()}
        self.allowed_domains = [HOST]
        return f"{server.url}/"


def _forget_earlier_demos(paths: Collection[str]) -> None:
    """Delete what earlier runs have stored, and nothing else: sites of this machine with its pages.

    A database that cannot be opened is left to the crawl, which says so.
    """
    if not Path(make_url(NOISECLEAN_DATABASE_URL).database or "").is_file():
        return
    with suppress(StoreError), Store(NOISECLEAN_DATABASE_URL) as store:
        for site in store.clusters.all():
            urls = [urlsplit(page.url) for page in store.pages.with_text(site.name)]
            if all(url.hostname == HOST and url.path in paths for url in urls):
                store.clusters.delete(site.name)
