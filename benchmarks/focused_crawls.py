"""Real crawls of the made-up newspapers, each in a process of its own."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

from benchmarks.focused_sites import newspapers
from benchmarks.focused_topics import TOPICS
from example_project.demo import DemoServer
from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.focus.focus import Focus, Reading
from noiseclean_scrapy.focus.links import LinkBlock, PageLink
from noiseclean_scrapy.focus.middleware import FocusMiddleware
from noiseclean_scrapy.focus.potential import PRIORITY_SCALE, Potential
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.words import words

FOCUS_SETTINGS: Mapping[str, Any] = {"ADDONS": {"noiseclean_scrapy.addon.Addon": 300}}
BREADTH_FIRST: Mapping[str, Any] = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
"""As Scrapy's documentation has it; depth first is its default."""


def _with(middleware: str) -> Mapping[str, Any]:
    return {
        **FOCUS_SETTINGS,
        "DOWNLOADER_MIDDLEWARES": {
            "noiseclean_scrapy.focus.middleware.FocusMiddleware": None,
            f"benchmarks.focused_crawls.{middleware}": 540,
        },
    }


STRATEGIES: Mapping[str, Mapping[str, Any]] = {
    "breadth first": BREADTH_FIRST,
    "depth first": {},
    "Shark-Search on raw text": _with("SharkSearchMiddleware"),
    "focus on raw text": _with("RawTextFocusMiddleware"),
    "focus on clean text": FOCUS_SETTINGS,
}
COMMON: Mapping[str, Any] = {
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "CONCURRENT_REQUESTS": 4,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 0,
}


class RawTextFocus(Focus):
    """The same focus without the site's knowledge: all text counts, wherever it stands."""

    def judge(self, page: Page, cleaned: CleanPage) -> list[LinkBlock]:
        return [LinkBlock(block, 1.0, True, "") for block in page.blocks if block.text]

    def weigh(
        self, page: Page, blocks: Sequence[LinkBlock], cluster: str, is_new: bool
    ) -> dict[str, float]:
        counted = Counter(word for block in blocks for word in words(block.source.text))
        return {word: float(count) for word, count in counted.items()}


class RawTextFocusMiddleware(FocusMiddleware):
    focus_class = RawTextFocus


@dataclass(frozen=True, slots=True)
class SharkPotential(Potential):
    """The potential score of Shark-Search (Hersovici et al. 1998): delta 0.5, beta 0.8, gamma 0.5.

    A child inherits 0.5 of its page's relevance, or of what the page inherited if it has none; its
    neighbourhood is 0.8 of the anchor's score and 0.2 of its context's, which is 1 where the anchor
    has any.
    """

    @property
    def inherited(self) -> float:
        return 0.5 * (self.page or self.before)

    @property
    def priority(self) -> int:
        context = 1.0 if self.anchor else self.context
        neighbourhood = 0.8 * self.anchor + 0.2 * context
        return round(PRIORITY_SCALE * (0.5 * self.inherited + 0.5 * neighbourhood))


class SharkSearch(RawTextFocus):
    """The published focus, on all text of a page."""

    def potential(self, reading: Reading, url: str) -> tuple[Potential, PageLink | None]:
        ours, link = super().potential(reading, url)
        values = {field.name: getattr(ours, field.name) for field in fields(ours)}
        return SharkPotential(**values), link


class SharkSearchMiddleware(FocusMiddleware):
    focus_class = SharkSearch


class FollowingSpider(scrapy.Spider):
    """Follows every link within the newspapers, and notes the order in which pages came."""

    name = "following"
    fronts: Sequence[str]
    fetched: list[str]

    async def start(self) -> AsyncIterator[Any]:
        self.allowed_domains = [urlsplit(front).hostname for front in self.fronts]
        self._links = LinkExtractor()
        for front in self.fronts:
            yield scrapy.Request(front)

    def parse(self, response: Response) -> Iterator[Any]:
        self.fetched.append(response.url)
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(self._links.extract_links(response))


def harvest(strategy: str, seed: int, articles: int, pages: int) -> dict[str, Any]:
    """Which of the first `pages` fetched pages are on the topic, with a strategy."""
    topic = TOPICS[seed % len(TOPICS)]
    papers = newspapers(articles, seed)
    with ExitStack() as running, tempfile.TemporaryDirectory() as folder:
        relevant: set[str] = set()
        fronts = []
        for number, paper in enumerate(papers, 1):
            server = running.enter_context(DemoServer(paper, host=f"127.0.0.{number}"))
            fronts.append(f"{server.url}/")
            relevant |= {server.url + path for path in paper.relevant(topic)}
        settings = {
            **COMMON,
            **STRATEGIES[strategy],
            "CLOSESPIDER_PAGECOUNT": pages,
        }
        if "ADDONS" in settings:
            settings["NOISECLEAN_TOPIC"] = topic.query
            settings["NOISECLEAN_DATABASE_URL"] = f"sqlite:///{Path(folder) / 'pages.db'}"
        fetched: list[str] = []
        process = CrawlerProcess(settings)
        crawler = process.create_crawler(FollowingSpider)
        process.crawl(crawler, fronts=fronts, fetched=fetched)
        process.start()
        assert crawler.stats
        return {
            "strategy": strategy,
            "seed": seed,
            "topic": topic.name,
            "relevant": len(relevant),
            "pages": sum(len(paper.pages) for paper in papers),
            "hits": [int(url in relevant) for url in fetched[:pages]],
            "errors": crawler.stats.get_value("noiseclean/errors", 0),
        }
