"""How fast several processes of one crawl visit one site, by the log of its server.

    python -m benchmarks.politeness --markdown

A made-up site of one server is crawled with DOWNLOAD_DELAY by three processes, whose requests are
shared by scrapy-redis, or by the frontier; and by one process alone. The server writes down when
each page is asked for. Needs the Redis and the PostgreSQL server of the tests.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from statistics import median
from typing import Any

import scrapy
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.exceptions import DontCloseSpider, ScrapyDeprecationWarning
from scrapy.http import Response, TextResponse

from benchmarks.corpora import environment
from benchmarks.distributed import own_database, own_keys
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from tests.support.redis_queues import REDIS_URL
from tests.support.servers import Request, serving

PAGES = 90
DELAY = 0.5
FIRST_SECONDS = 8
VERSIONS = ("noiseclean-scrapy", "scrapy", "scrapy-redis", "redis")
RUNS = (("frontier", 1), ("frontier", 3), ("scrapy-redis", 3))


class SiteSpider(scrapy.Spider):
    """Visits all pages of the site, with the same first address in every process."""

    def __init__(self, name: str, url: str) -> None:
        super().__init__(name)
        self.url = url
        self.started = time.monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> SiteSpider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.spider_idle, scrapy.signals.spider_idle)
        return spider

    def spider_idle(self) -> None:
        """With scrapy-redis a process that begins without a request is not to end."""
        if time.monotonic() < self.started + FIRST_SECONDS:
            raise DontCloseSpider

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.url}/0")

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        yield {"url": response.url}
        yield from response.follow_all(css="a")


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "politeness")
    args = parser.parse_args(argv)
    runs = {f"{kind}, {number}": measure(kind, number) for kind, number in RUNS}
    rows = [[name, *map(str, run.values())] for name, run in runs.items()]
    header = ["requests shared by, processes", *next(iter(runs.values()))]
    table = Table(f"One site, DOWNLOAD_DELAY = {DELAY}", header, rows)
    publish_figures(args, [table], {**environment(VERSIONS), "delay": DELAY, "runs": runs})
    return 0


def measure(kind: str, processes: int) -> dict[str, float]:
    """What the server's log says of one crawl."""
    with serve_site() as (url, times), own_database() as database, own_keys() as name:
        context = multiprocessing.get_context("spawn")
        arguments = (kind, name, url, database)
        crawlers = [context.Process(target=_crawl, args=arguments) for _ in range(processes)]
        for crawler in crawlers:
            crawler.start()
        for crawler in crawlers:
            crawler.join()
    times.sort()
    gaps = [later - earlier for earlier, later in pairwise(times)]
    return {
        "pages": len(times),
        "pages a second": round(len(gaps) / (times[-1] - times[0]), 2),
        "shortest gap, s": round(min(gaps), 3),
        "median gap, s": round(median(gaps), 3),
    }


@contextmanager
def serve_site() -> Iterator[tuple[str, list[float]]]:
    """The address of a site, and the times (seconds) at which its pages were asked for."""
    times: list[float] = []

    def respond(request: Request) -> None:
        times.append(time.monotonic())
        number = request.path[1:]
        links = "".join(f"<a href='/{n}'>Page {n}</a>" for n in range(PAGES))
        request.answer(f"<p>Page {number} of the site has this text.</p>{links}")

    with serving(respond) as port:
        yield f"http://127.0.0.1:{port}", times


def _crawl(kind: str, name: str, url: str, database: str) -> None:
    warnings.simplefilter("ignore", ScrapyDeprecationWarning)
    shared: dict[str, Any] = {"NOISECLEAN_FRONTIER": REDIS_URL}
    if kind == "scrapy-redis":
        shared = {
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "REDIS_URL": REDIS_URL,
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "SCHEDULER_PERSIST": True,
        }
    settings = {
        "ADDONS": {"noiseclean_scrapy.addon.Addon": 300},
        "DOWNLOAD_DELAY": DELAY,
        "DOWNLOAD_DELAY_JITTER": 0,
        "LOG_LEVEL": "ERROR",
        "NOISECLEAN_DATABASE_URL": database,
        "TELNETCONSOLE_ENABLED": False,
        **shared,
    }
    process = CrawlerProcess(settings)
    process.crawl(SiteSpider, name, url)
    process.start()


if __name__ == "__main__":
    sys.exit(main())
