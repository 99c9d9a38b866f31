"""Crawls the demo newspaper, or a site of yours: scrapy crawl newspaper -a start_urls=https://..."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import SETTINGS_PRIORITIES

from example_project.demo import DemoPage, DemoServer, DemoSite
from noiseclean_scrapy.items import PageItem

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

DEMO_DATABASE = "noiseclean-demo.db"
COMMON_SETTINGS: dict[str, Any] = {
    "LOG_LEVEL": "WARNING",
    "EXTENSIONS": {"example_project.display.CrawlDisplay": 500},
    # Breadth first: what the front page links to comes before old archives.
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}
DEMO_SETTINGS: dict[str, Any] = {
    "NOISECLEAN_DATABASE_URL": f"sqlite:///{DEMO_DATABASE}",
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


class NewspaperSpider(Spider):
    """One item a page; the add-on fills in its text and title.

    Without arguments it serves and crawls the embedded demo newspaper. Spider argument
    `start_urls`: addresses of live sites, separated by commas; links are followed within their
    domains. `known_pages` are the demo's pages with their known content, by URL.
    """

    name = "newspaper"
    custom_settings = COMMON_SETTINGS

    def __init__(self, start_urls: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [url.strip() for url in start_urls.split(",") if url.strip()]
        self.allowed_domains = [_host(url).removeprefix("www.") for url in self.start_urls]
        self.known_pages: dict[str, DemoPage] = {}
        self._links = LinkExtractor()
        self._running = ExitStack()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings = LIVE_SETTINGS if spider.start_urls else DEMO_SETTINGS
        crawler.settings.setdict(settings, priority="spider")
        priority = crawler.settings.getpriority("NOISECLEAN_DATABASE_URL")
        if not spider.start_urls and priority == SETTINGS_PRIORITIES["spider"]:
            _delete_demo_database()
        return spider

    async def start(self) -> AsyncIterator[Any]:
        if not self.start_urls:
            yield Request(self._serve_demo())
        for url in self.start_urls:
            if not _host(url):
                self.logger.error(
                    "start_urls must be web addresses such as https://example.com/news, not %r", url
                )
                raise CloseSpider("bad_start_url")
        for url in self.start_urls:
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Any]:
        if isinstance(response, HtmlResponse):
            yield PageItem(url=response.url)
            yield from response.follow_all(self._links.extract_links(response))

    def closed(self, reason: str) -> None:
        self._running.close()

    def _serve_demo(self) -> str:
        """Start the demo server; the address of its front page."""
        server = self._running.enter_context(DemoServer(DemoSite()))
        self.known_pages = {server.url + path: page for path, page in server.site.pages.items()}
        self.allowed_domains = ["127.0.0.1"]
        return f"{server.url}/"


def _host(url: str) -> str:
    """The host of a web address, empty when it is not one."""
    try:
        parts = urlsplit(url)
        is_complete = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:
        return ""
    return parts.hostname or "" if is_complete and not any(map(str.isspace, url)) else ""


def _delete_demo_database() -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(DEMO_DATABASE + suffix).unlink(missing_ok=True)
