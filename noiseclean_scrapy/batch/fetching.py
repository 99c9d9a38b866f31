"""Fetching listed pages politely, by a crawl of its own, into a database that keeps their HTML."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.spidermiddlewares.httperror import HttpError

from noiseclean_scrapy.batch.addresses import is_web_address
from noiseclean_scrapy.batch.running import run_spider
from noiseclean_scrapy.batch.sampling import page_fingerprint
from noiseclean_scrapy.batch.two_pass import SourcePage
from noiseclean_scrapy.crawl.bounded import read_part
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page.hashes import digest
from noiseclean_scrapy.store import PageRecord, Store

if TYPE_CHECKING:
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

    from noiseclean_scrapy.config import Config


class FetchedPages:
    """The listed pages and a database of what has been fetched of them."""

    def __init__(self, urls: list[str], store: Store, config: Config) -> None:
        self.urls = urls
        self.store = store
        self.config = config

    def missing(self, *, retry: bool) -> list[str]:
        """The addresses not asked yet; with `retry` also those that gave no page."""
        return [url for url in self.urls if self._is_missing(url, retry)]

    def keep(self, url: str, response: HtmlResponse | None) -> bool:
        """Keep what an address gave; whether that is a page that the settings want."""
        site = None
        if response is not None and self.config.wants(response.url):
            site = self.config.cluster_by(response)
        html = None
        if response is not None and site:
            html = read_part(response, self.config.page_budget).text
        record = PageRecord(
            key=_key(url),
            cluster=site or "",
            url=response.url if response is not None else url,
            body_hash=digest((html or "").encode("utf-8", "replace")).hex(),
            fetched_at=datetime.now(timezone.utc),
            html=html,
        )
        self.store.pages.write([record], method=self.config.tree_kind)
        return html is not None

    def __iter__(self) -> Iterator[SourcePage]:
        """The pages in the order of the list."""
        for url in self.urls:
            record, html = self.store.pages.find(_key(url)), self.store.pages.html(_key(url))
            if record and html is not None:
                yield SourcePage(url, record.url, record.cluster, html, record.fetched_at)

    def _is_missing(self, url: str, retry: bool) -> bool:
        if self.store.pages.find(_key(url)) is None:
            return True
        return retry and self.store.pages.html(_key(url)) is None


def read_url_list(path: Path) -> list[str]:
    """The addresses in a text file, one a line, each once; empty lines and #... are left out.

    Raises ConfigurationError that names the first line with something else.
    """
    urls: dict[str, None] = {}
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            url = line.strip()
            if not url or url.startswith("#"):
                continue
            if not is_web_address(url):
                raise ConfigurationError(
                    f"{path}, line {number}: expected an address such as "
                    f"https://example.com/news, not {url[:80]!r}"
                )
            urls[url] = None
    return list(urls)


def fetch(
    urls: Iterable[str], pages: FetchedPages, settings: Settings, on_done: Callable[[], object]
) -> str:
    """Crawl the addresses; Scrapy's reason why the crawl ended. `on_done` is called for each."""
    arguments = {"urls": list(urls), "pages": pages, "on_done": on_done}
    # The pages are cleaned afterwards.
    stats = run_spider(UrlListSpider, settings, with_addon=False, **arguments)
    return str(stats.get_value("finish_reason"))


class UrlListSpider(Spider):
    """Asks for each address once, and keeps what comes."""

    name = "noiseclean"

    def __init__(
        self, urls: list[str], pages: FetchedPages, on_done: Callable[[], object], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.urls = urls
        self.pages = pages
        self.on_done = on_done

    async def start(self) -> AsyncIterator[Request]:
        for url in self.urls:
            yield Request(
                url, self.parse, errback=self.give_up, cb_kwargs={"listed": url}, dont_filter=True
            )

    def parse(self, response: Response, listed: str) -> None:
        page = response if isinstance(response, HtmlResponse) else None
        if not self.pages.keep(listed, page):
            self.logger.warning("Left out %s: it is not HTML, or the settings leave it out", listed)
        self.on_done()

    def give_up(self, failure: Failure) -> None:
        listed = failure.request.cb_kwargs["listed"]  # type: ignore[attr-defined]
        self.pages.keep(listed, None)
        self.logger.warning("Left out %s: %s", listed, reason_of(failure))
        self.on_done()


def reason_of(failure: Failure) -> str:
    """Why an address gave no page."""
    if isinstance(failure.value, HttpError):
        return f"the server answers with status {failure.value.response.status}"
    return failure.getErrorMessage() or repr(failure.value)


def _key(url: str) -> str:
    return page_fingerprint(url).hex()
