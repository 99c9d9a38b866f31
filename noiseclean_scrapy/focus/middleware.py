"""The components of a focused crawl: relevance of responses, budgets, priorities of requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urljoin

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import HtmlResponse, Response
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.job import job_dir
from w3lib.url import safe_url_string

from noiseclean_scrapy.crawl.bounded import base_of, read_part, selector_of
from noiseclean_scrapy.crawl.middleware import CrawlComponent
from noiseclean_scrapy.crawl.starting import config_of, count
from noiseclean_scrapy.crawl.visits import ByResponse
from noiseclean_scrapy.focus.focus import Focus, Reading
from noiseclean_scrapy.focus.job import load_focus, save_focus
from noiseclean_scrapy.focus.potential import PRIORITY_SCALE, UNKNOWN
from noiseclean_scrapy.page.characters import counted
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.urls import site_name
from noiseclean_scrapy.replaced import replace_file
from noiseclean_scrapy.topic import page_example

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = get_logger(__name__)

META_KEY = "noiseclean_focus"
"""Where a request carries why it has its priority, and a response how relevant its page is."""

_JOB_FILE = "noiseclean.focus"
_SECONDS_BETWEEN_SAVES = 60.0


class FocusMiddleware(CrawlComponent):
    """Downloader middleware: judges pages once they are learned, and keeps to the sites' budgets.

    Delays and concurrency stay Scrapy's. With JOBDIR, what was learned is kept in the job.
    """

    focus_class: ClassVar[type[Focus]] = Focus

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.focus = self.focus_class(self.config)
        self.readings: ByResponse[Reading] = ByResponse()
        folder = job_dir(crawler.settings)
        self._job = Path(folder) / _JOB_FILE if folder else None
        self._saved_at = monotonic()
        self._relevance = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if config_of(crawler).topic is None:
            raise NotConfigured("there is no NOISECLEAN_TOPIC")
        middleware = super().from_crawler(crawler)
        crawler.signals.connect(middleware.spider_opened, signals.spider_opened)
        crawler.signals.connect(middleware.spider_closed, signals.spider_closed)
        return middleware

    def spider_opened(self, spider: Spider) -> None:
        if self._job:
            try:
                load_focus(self.focus, self._job, spider)
            except Exception as error:
                self.count_error("reading the job's focus", error)

    async def spider_closed(self) -> None:
        await self._save()
        self._log_summary()

    async def process_request(self, request: Request) -> None:
        """Count a page against its site's budget; above it the request is dropped."""
        note = request.meta.get(META_KEY)
        budget = self.config.site_budget
        if not budget or not isinstance(note, dict) or note.get("counted"):
            return
        site = site_name(request.url)
        if self.focus.spent[site] >= budget and not note.get("start"):
            count(self.crawler, "focus/over_budget")
            raise IgnoreRequest(f"the budget of {site}, {budget} pages, is spent")
        self.focus.spent[site] += 1
        note["counted"] = True  # a retry or a redirect is the same page

    async def process_response(self, request: Request, response: Response) -> Response:
        try:
            await self._read(request, response)
        except Exception as error:
            self.count_error("judging the relevance of a page", error)
        return response

    def is_spent(self, url: str) -> bool:
        """Whether the budget of an address's site is spent."""
        budget = self.config.site_budget
        return bool(budget) and self.focus.spent[site_name(url)] >= budget

    async def fetch_examples(self) -> None:
        """Fetch the example pages of the topic, by Scrapy's own means and rules."""
        assert self.config.topic
        assert self.crawler.engine
        for address in self.config.topic.addresses:
            request = Request(address, meta={"noiseclean": False}, dont_filter=True)
            try:
                response = await self.crawler.engine.download_async(request)
                if not isinstance(response, HtmlResponse) or response.status != 200:
                    raise ValueError(f"{address} answers with {response!r}")
                page = selector_of(read_part(response, self.config.page_budget))
                example = page_example(page, url=response.url)
                self.focus.topic.add(example)
            except Exception as error:
                self.count_error("fetching an example page of the topic", error)
        if not self.focus.topic.vector(""):
            logger.error("No page of NOISECLEAN_TOPIC could be read: the crawl has no focus")

    async def _read(self, request: Request, response: Response) -> None:
        crawl = self.crawl
        visit = crawl.visits.of(response) if crawl else None
        if crawl is None or visit is None or not isinstance(response, HtmlResponse):
            return
        if request.meta.get("noiseclean") is False or visit.record.url != response.url:
            return
        note = request.meta.get(META_KEY)
        note = dict(note) if isinstance(note, dict) else {}
        read = read_part(response, self.config.page_budget)
        base = base_of(read)
        reading = self.focus.read(
            visit.page,
            await crawl.clean(visit),
            visit.record.cluster,
            root=selector_of(read).root,
            join=lambda link: safe_url_string(urljoin(base, link), read.encoding),
            before=note.get("inherited", 0.0),
            is_new="revisit" not in note,
        )
        self.readings.note(reading, response, request)
        self._note(reading)
        request.meta[META_KEY] = {
            **note,
            "relevance": round(reading.relevance, 4),
            "bound": self.focus.relevances.bound,
        }
        if self.config.revisits and request.method == "GET" and response.status == 200:
            site = site_name(request.url)
            fresh = self.focus.visit_hub(reading, request.url, site, request, monotonic())
            count(self.crawler, "focus/fresh_links", fresh)
            self._set("focus/hubs", len(self.focus.hubs.known))
        if monotonic() > self._saved_at + _SECONDS_BETWEEN_SAVES:
            await self._save()

    def _note(self, reading: Reading) -> None:
        count(self.crawler, "focus/pages")
        self._relevance += reading.relevance
        assert self.crawler.stats
        pages = self.crawler.stats.get_value("noiseclean/focus/pages")
        self._set("focus/mean_relevance", round(self._relevance / pages, 4))
        self.focus.relevances.add(reading.relevance)
        self._set("focus/bound", self.focus.relevances.bound)
        self._set("focus/harvest_rate", round(self.focus.relevances.harvest_rate, 4))
        self._set("focus/histogram", self.focus.relevances.histogram)

    async def _save(self) -> None:
        self._saved_at = monotonic()
        if self._job:
            try:
                assert self.crawler.spider
                data = save_focus(self.focus, self.crawler.spider)
                await run_in_thread(replace_file, self._job, data)
            except Exception as error:
                self.count_error("saving the job's focus", error)

    def _set(self, name: str, value: object) -> None:
        assert self.crawler.stats
        self.crawler.stats.set_value(f"noiseclean/{name}", value)

    def _log_summary(self) -> None:
        assert self.crawler.stats
        get = self.crawler.stats.get_value
        logger.info(
            "noiseclean: focus on the topic: %s judged, mean relevance %.2f, "
            "%.0f%% of them above the bound %.2f, %s weighed, %s over budget, %s, %s found %s",
            counted(get("noiseclean/focus/pages", 0), "page"),
            get("noiseclean/focus/mean_relevance", 0.0),
            100 * get("noiseclean/focus/harvest_rate", 0.0),
            get("noiseclean/focus/bound", 0.0),
            counted(get("noiseclean/focus/links", 0), "link"),
            counted(get("noiseclean/focus/over_budget", 0), "request"),
            counted(get("noiseclean/focus/hubs", 0), "hub"),
            counted(get("noiseclean/focus/revisits", 0), "revisit"),
            counted(get("noiseclean/focus/fresh_links", 0), "fresh link"),
        )


class FocusComponent(CrawlComponent):
    """A component that works with the crawl's focus."""

    @property
    def middleware(self) -> FocusMiddleware | None:
        """The downloader middleware that holds the focus."""
        return self.crawler.get_downloader_middleware(FocusMiddleware)


class FocusSpiderMiddleware(FocusComponent):
    """Spider middleware: gives each request that a page yields the priority that it promises.

    The priority is added to the request's own. A request that cannot be judged goes on as it is.
    """

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        if self.middleware:
            await self.middleware.fetch_examples()
        async for output in start:
            if isinstance(output, Request):
                output.meta[META_KEY] = {"start": True}
                output.priority += PRIORITY_SCALE
            yield output

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        for output in result:
            if self._wants(output, response):
                yield output

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            if self._wants(output, response):
                yield output

    def _wants(self, output: Any, response: Response) -> bool:
        """Prioritise a request; False for one whose site has no budget left."""
        middleware = self.middleware
        if middleware is None or not isinstance(output, Request):
            return True
        try:
            # A request for the page itself is a retry, which has its priority.
            if output.meta.get("noiseclean") is False or self._is_retry(output, response):
                return True
            if middleware.is_spent(output.url):
                count(self.crawler, "focus/over_budget")
                logger.debug("No request for %s: its site's budget is spent", output.url)
                return False
            output.meta[META_KEY] = {}  # and nothing of another page's, whose meta may be copied
            reading = middleware.readings.of(response)
            if reading is None:
                output.priority += UNKNOWN.priority
            else:
                self._prioritise(output, reading, middleware.focus)
        except Exception as error:
            self.count_error("judging a request", error)
        return True

    def _is_retry(self, request: Request, response: Response) -> bool:
        """Whether a request asks for the page again, not a form for what follows at its address."""
        if request.url != response.url:
            return False
        fingerprinter = self.crawler.request_fingerprinter
        assert fingerprinter
        asked = response.request or request
        same = asked.replace(url=response.url)  # as a redirect has led to it
        return fingerprinter.fingerprint(request) == fingerprinter.fingerprint(same)

    def _prioritise(self, request: Request, reading: Reading, focus: Focus) -> None:
        potential, link = focus.potential(reading, request.url)
        request.meta[META_KEY] = {
            "priority": potential.priority,
            "page": round(potential.page, 4),
            "inherited": round(potential.inherited, 4),
            "anchor": round(potential.anchor, 4),
            "context": round(potential.context, 4),
            "terms": potential.terms,
            "importance": round(potential.importance, 4),
            "place": link.place if link else "",
        }
        request.priority += potential.priority
        count(self.crawler, "focus/links")
        if link is None:
            count(self.crawler, "focus/unplaced")
        logger.debug(
            "Priority %d of %s: page %.2f, inherited %.2f, anchor %.2f, context %.2f of %d terms, "
            "block %.2f at %s",
            potential.priority,
            request.url,
            potential.page,
            potential.inherited,
            potential.anchor,
            potential.context,
            potential.terms,
            potential.importance,
            link.place if link else "no place of the page",
        )
