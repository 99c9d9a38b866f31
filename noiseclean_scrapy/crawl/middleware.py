"""Response to page cluster and sample, and the tie between an item and its page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from itemadapter import is_item
from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.datatypes import SequenceExclude
from scrapy.utils.python import global_object_name

from noiseclean_scrapy.crawl.companions import PLACE
from noiseclean_scrapy.crawl.pipeline import CleanPipeline
from noiseclean_scrapy.crawl.session import Crawl, count_not_html
from noiseclean_scrapy.crawl.starting import config_of
from noiseclean_scrapy.crawl.visits import is_success
from noiseclean_scrapy.page.hashes import page_key
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.sources import other_than_html

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


logger = get_logger(__name__)


class CrawlComponent:
    """A component that works on the crawl that CleanPipeline has opened."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.config = config_of(crawler)
        self._pipeline: CleanPipeline | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not config_of(crawler).enabled:
            raise NotConfigured
        return cls(crawler)

    @property
    def pipeline(self) -> CleanPipeline | None:
        """The pipeline that holds the crawl, once components are built."""
        if self._pipeline is None:
            self._pipeline = self.crawler.get_item_pipeline(CleanPipeline)
        return self._pipeline

    @property
    def crawl(self) -> Crawl | None:
        """The crawl, once its store is open."""
        return self.pipeline.crawl if self.pipeline else None

    def count_error(self, doing: str, error: Exception) -> None:
        """Count an error and log its first occurrence; the crawl goes on."""
        if self.pipeline:
            self.pipeline.count_error(doing, error)


class ClusterMiddleware(CrawlComponent):
    """Offers every successful HTML response to its page cluster; the response stays as it is."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = super().from_crawler(crawler)
        crawler.signals.connect(middleware.spider_opened, signals.spider_opened)
        return middleware

    def spider_opened(self) -> None:
        if self.pipeline is None:
            logger.warning(
                "No page is learned: add %r to ITEM_PIPELINES, or name noiseclean_scrapy.Addon in "
                "ADDONS instead of its components",
                {global_object_name(CleanPipeline): PLACE},
            )

    async def process_response(self, request: Request, response: Response) -> Response:
        crawl = self.crawl
        if crawl and self.wants(request, response):
            assert isinstance(response, HtmlResponse)
            try:
                await self._observe(crawl, request, response)
            except Exception as error:
                self.count_error("learning a page", error)
        elif crawl and not isinstance(response, HtmlResponse):
            self._count_other(request, response)
        return response

    def wants(self, request: Request, response: Response) -> bool:
        """Whether a response is a page to learn from; override for a policy of your own."""
        return isinstance(response, HtmlResponse) and self._is_asked_for(request, response)

    async def _observe(self, crawl: Crawl, request: Request, response: HtmlResponse) -> None:
        cluster = self.config.cluster_by(response)
        if cluster:
            assert self.crawler.request_fingerprinter
            key = page_key(self.crawler.request_fingerprinter.fingerprint(request))
            await crawl.observe(key, cluster, response, request)

    def _is_asked_for(self, request: Request, response: Response) -> bool:
        asked = [response.url, *request.meta.get("redirect_urls", ())]
        return (
            is_success(response)
            and request.method != "HEAD"
            and request.meta.get("noiseclean") is not False
            and not any(url.endswith("/robots.txt") for url in asked)
            and "download_stopped" not in response.flags  # no page, but how one begins
            and not _is_file(request)
            and self.config.wants(response.url)
        )

    def _count_other(self, request: Request, response: Response) -> None:
        """Count what is no page; what is downloaded within a callback is not meant to be one."""
        if request.callback is not NO_CALLBACK and self._is_asked_for(request, response):
            assert self.crawler.stats
            count_not_html(self.crawler.stats, other_than_html(response.body))


def _is_file(request: Request) -> bool:
    """Whether a pipeline of Scrapy asks for a file or a picture, to see whatever is answered.

    Spiders name their callbacks, or the statuses that they want to see.
    """
    wanted = request.meta.get("handle_httpstatus_list")
    takes_all = request.meta.get("handle_httpstatus_all") or isinstance(wanted, SequenceExclude)
    return request.callback is NO_CALLBACK and bool(takes_all)


class ItemTieMiddleware(CrawlComponent):
    """Spider middleware that remembers which response every item came from.

    It also sees when a callback has ended, and so when what is parsed can go.
    """

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        try:
            for output in result:
                self._tie(output, response)
                yield output
        finally:
            self._release(response)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        try:
            async for output in result:
                self._tie(output, response)
                yield output
        finally:
            self._release(response)

    def _release(self, response: Response) -> None:
        if self.crawl:
            self.crawl.release(response)

    def _tie(self, output: Any, response: Response) -> None:
        # Most are requests, which `is_item` takes long to tell.
        if not isinstance(output, Request) and self.pipeline and is_item(output):
            self.pipeline.tie(output, response)
