"""What the add-on costs a whole crawl: the same crawl bare, with it, and with trafilatura.

    python benchmarks/crawl.py --markdown
    python benchmarks/crawl.py --articles 40 --rounds 1 --candidate add-on --profile profile.out
    python -m benchmarks.crawl --before ../checkout-of-an-earlier-revision

Made-up newspapers with pages of 30 to 90 kB are served by a process of their own. The spider
yields an item with a few selections for each page and follows links, as most spiders do; with
`--list` it visits a list of addresses and hardly works at all. Each crawl has a process of its
own; candidates take turns, figures are medians over the rounds. With `--before` the add-on of
another checkout, compiled there, crawls as well.
"""

from __future__ import annotations

import cProfile
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse

from benchmarks.corpora import environment
from benchmarks.event_loop import LongestCallback
from benchmarks.loopback import serve
from benchmarks.measuring import in_new_process, peak_mib
from benchmarks.reporting import earlier_figures, publish_figures, report_parser
from benchmarks.tables import Table
from benchmarks.web import Newspapers

BARE = "bare"
CANDIDATES: dict[str, dict[str, Any]] = {
    BARE: {},
    "add-on": {"ADDONS": {"noiseclean_scrapy.addon.Addon": 300}},
    "add-on, writer process": {
        "ADDONS": {"noiseclean_scrapy.addon.Addon": 300},
        "NOISECLEAN_WRITER_PROCESS": True,
    },
    "trafilatura": {"ITEM_PIPELINES": {"benchmarks.crawl.TrafilaturaPipeline": 300}},
}
VERSIONS = ("noiseclean-scrapy", "scrapy", "twisted", "lxml", "numpy", "sqlalchemy", "trafilatura")
WARM_UP_PAGES = 50
"""Before these what Scrapy itself loads takes longer than a page."""
FIRST_PAGES = 100
"""After these a site has its first tree: each further page is cleaned, and again with the next."""
COLUMNS = {
    "pages": "pages",
    "pages_per_second": "pages a second",
    "share": "of the bare crawl's",
    "cpu_ms": "CPU ms a page",
    "later_cpu_ms": f"after {FIRST_PAGES} pages",
    "peak_mib": "peak MiB",
    "stored_kib": "database, KiB a page",
    "longest_ms": "longest block of the event loop, ms",
    "longest_cpu_ms": "in CPU ms",
    "longest_own_ms": "of it without the garbage collector",
}


@dataclass(frozen=True, slots=True)
class Task:
    """One crawl: the candidate, the proxy that stands for the web, where to begin."""

    candidate: str
    proxy: str
    urls: tuple[str, ...]
    follow: bool
    profile: Path | None
    checkout: Path | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "crawl")
    parser.add_argument("--sites", type=int, default=10)
    parser.add_argument("--articles", type=int, default=400, help="of each site; 90 more pages")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--candidate", action="append", choices=CANDIDATES, help="default: all")
    parser.add_argument("--before", type=Path, help="a checkout of an earlier revision")
    parser.add_argument("--list", action="store_true", help="visit a list, follow no links")
    parser.add_argument("--profile", type=Path, help="write cProfile's figures of the crawl")
    args = parser.parse_args(argv)
    names = args.candidate or list(CANDIDATES)
    web = Newspapers(args.sites, args.articles)
    urls = tuple(_all_pages(web) if args.list else (f"http://{host}/" for host in web.hosts))
    checkouts: dict[str, tuple[str, Path | None]] = {name: (name, None) for name in names}
    if args.before:
        ours = [name for name in names if "ADDONS" in CANDIDATES[name]]
        checkouts |= {f"{name}, before": (name, args.before.resolve()) for name in ours}
    names = list(checkouts)
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    with serve(web) as proxy:
        for turn in range(args.rounds):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                candidate, checkout = checkouts[name]
                task = Task(candidate, proxy, urls, not args.list, args.profile, checkout)
                rounds[name].append(in_own_process(crawl, task))
    figures = environment(VERSIONS) | {"rounds": args.rounds, "crawls": summary(rounds)}
    part = f"{'list' if args.list else 'links'}, {args.sites} sites of {args.articles} articles"
    title = f"Crawl of {args.sites} sites, {'a list of addresses' if args.list else 'links'}"
    rows = [[n, *(str(r.get(c, "")) for c in COLUMNS)] for n, r in figures["crawls"].items()]
    table = Table(title, ["", *COLUMNS.values()], rows)
    publish_figures(args, [table], {**earlier_figures(args), part: figures})
    return 0


def summary(rounds: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Medians over the rounds, and throughput as share of the bare crawl's, round by round."""
    rows = {}
    for name, found in rounds.items():
        row = {key: statistics.median(one[key] for one in found) for key in found[0]}
        if BARE in rounds:
            speeds = zip(found, rounds[BARE], strict=True)
            shares = [ours["pages_per_second"] / bare["pages_per_second"] for ours, bare in speeds]
            row["share"] = statistics.median(shares)
        rows[name] = {key: round(value, 2) for key, value in row.items()}
    return rows


def in_own_process(crawl: Callable[[Task], dict[str, float]], task: Task) -> dict[str, float]:
    """What the crawl took, by the package of the task's checkout."""
    if task.checkout is None:
        return in_new_process(crawl, task)
    path = list(sys.path)
    with tempfile.TemporaryDirectory() as folder:
        # Only the package is the earlier one, not the benchmark.
        Path(folder, "noiseclean_scrapy").symlink_to(task.checkout / "noiseclean_scrapy")
        sys.path.insert(0, folder)  # where the new process looks first
        here = Path.cwd()
        os.chdir(folder)  # and a process that it starts
        try:
            return in_new_process(crawl, task)
        finally:
            os.chdir(here)
            sys.path[:] = path


def crawl(task: Task) -> dict[str, float]:
    """Pages, seconds and memory of a crawl in this process."""
    os.environ["http_proxy"] = task.proxy
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            **CANDIDATES[task.candidate],
            "DOWNLOAD_DELAY": 0,
            "LOG_LEVEL": "WARNING",
            "NOISECLEAN_DATABASE_URL": f"sqlite:///{folder}/crawl.db",
            "ROBOTSTXT_OBEY": False,
            "TELNETCONSOLE_ENABLED": False,
        }
        process = CrawlerProcess(settings)
        crawler = process.create_crawler(NewsSpider)
        longest = LongestCallback.watch()
        process.crawl(crawler, task, longest)
        profile = cProfile.Profile()
        if task.profile:
            profile.enable()
        start, processor_start = time.perf_counter(), time.process_time()
        process.start()
        seconds, processor_seconds = (
            time.perf_counter() - start,
            time.process_time() - processor_start,
        )
        stored = sum(file.stat().st_size for file in Path(folder).iterdir())
        if task.profile:
            profile.disable()
            profile.dump_stats(task.profile)
    assert crawler.stats
    pages = crawler.stats.get_value("item_scraped_count", 0)
    assert isinstance(crawler.spider, NewsSpider)
    end = processor_start + processor_seconds
    later = end - (crawler.spider.first_pages_at or end)
    return {
        "pages": pages,
        "pages_per_second": pages / seconds,
        "cpu_ms": 1e3 * processor_seconds / pages,
        "later_cpu_ms": 1e3 * later / max(pages - FIRST_PAGES, 1),
        "peak_mib": peak_mib(),
        "stored_kib": stored / 1024 / pages,
        "longest_ms": 1e3 * longest.seconds,
        "longest_cpu_ms": 1e3 * longest.processor_seconds,
        "longest_own_ms": 1e3 * longest.own_seconds,
    }


class NewsSpider(scrapy.Spider):
    """An item with a few selections for each page, and all links within the sites."""

    name = "news"

    def __init__(self, task: Task, longest: LongestCallback) -> None:
        super().__init__()
        self.task = task
        self.longest = longest
        self.seen = 0
        self.first_pages_at = 0.0
        self.allowed_domains = sorted({urlsplit(url).netloc for url in task.urls})

    async def start(self) -> AsyncIterator[Any]:
        for url in self.task.urls:
            yield scrapy.Request(url)

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        self.seen += 1
        if self.seen == WARM_UP_PAGES:
            self.longest.forget()
        if self.seen == FIRST_PAGES:
            self.first_pages_at = time.process_time()
        item = {
            "url": response.url,
            "headline": response.css("h1::text").get(),
            "description": response.css("meta[name=description]::attr(content)").get(),
            "byline": response.css(".byline ::text").getall(),
            "section": response.css(".crumbs a::text").getall(),
        }
        if self.task.candidate == "trafilatura":
            item["html"] = response.text
        yield item
        if self.task.follow:
            yield from response.follow_all(css="a")


class TrafilaturaPipeline:
    """Fills an item's text as a pipeline of the user's would."""

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        from trafilatura import extract

        item["text"] = extract(item.pop("html"), url=item["url"])
        return item


def _all_pages(web: Newspapers) -> Iterator[str]:
    """All addresses, the first of each site, then the second of each."""
    longest = max(len(web.pages(host)) for host in web.hosts)
    sites = [[f"http://{host}{path}" for path in web.pages(host)] for host in web.hosts]
    return chain.from_iterable(site[turn : turn + 1] for turn in range(longest) for site in sites)


if __name__ == "__main__":
    sys.exit(main())
