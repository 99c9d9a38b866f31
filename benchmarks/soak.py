"""A long crawl of a web that is not kind: flat memory, no page lost, no error unhandled?

    python benchmarks/soak.py                # an hour
    python benchmarks/soak.py --minutes 2
    python benchmarks/soak.py --database postgresql://postgres@127.0.0.1/test

Sites are redesigned, answer with errors and with hostile pages; the database refuses now and then
(SQLite: another program locks it; PostgreSQL: connections are closed). The exit status is 1 if a
page with an item has no text in the database and waits in no spool either, if anything but refusals
of the database was logged as an error, or if memory grew in the second half: by more than a tenth,
below 20 minutes by more than a quarter.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from sqlalchemy import create_engine, make_url

from benchmarks.corpora import environment
from benchmarks.loopback import serve
from benchmarks.measuring import in_new_process, resident_mib
from benchmarks.memory import VERSIONS
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from benchmarks.troubled_web import NOT_HTML, TroubledWeb
from noiseclean_scrapy.crawl.spool import Spool
from noiseclean_scrapy.store import Store

BUSY_SECONDS = 1
WALKERS = 24
HICCUP_SECONDS, PAUSE_SECONDS = 4, 20
SAMPLES = 200
GROWTH, SHORT_GROWTH = 0.1, 0.25
LONG_MINUTES = 20
"""A shorter crawl is still filling its caches and trees: parsed pages that stay would show in two
minutes, a few kilobytes a page would not."""
# What Scrapy itself logs of servers that fail.
_OF_SERVERS = ("scrapy.downloadermiddlewares.retry", "scrapy.core.scraper")
_OF_DATABASES = ("the database", "goes on waiting")
# What holds no page is counted, not stored, and its item goes out.
_NO_PAGES = frozenset(answer.body for answer in NOT_HTML.values())


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a crawl came to.

    `spooled` pages wait in the spool for the next crawl, `lost` ones are nowhere.
    `samples` are (seconds, pages, MiB); `mib_per_hour` is the slope of a line through those of the
    second half, `growth` is from its first third to its last. `errors` are the messages of errors
    that nobody expected.
    """

    pages: int
    learned: int
    trees: int
    refusals: int
    spooled: int
    lost: list[str]
    errors: list[str]
    samples: list[tuple[float, int, float]]
    mib_per_hour: float
    growth: float


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "soak")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--tree-nodes", type=int, default=3000, help="reached in the first half")
    parser.add_argument("--database", help="an empty PostgreSQL database; default: an SQLite file")
    args = parser.parse_args(argv)
    web = TroubledWeb(args.sites)
    with tempfile.TemporaryDirectory() as folder, serve(web) as proxy:
        url = args.database or f"sqlite:///{folder}/soak.db?timeout={BUSY_SECONDS}"
        settings = {
            "NOISECLEAN_DATABASE_URL": url,
            "NOISECLEAN_MAX_TREE_NODES": args.tree_nodes,
            "NOISECLEAN_REFRESH_PAGES": 100,
            "NOISECLEAN_SAMPLE_QUOTA": 30,
            "NOISECLEAN_SPOOL": f"{folder}/spool",
        }
        with hiccups(url, 60 * args.minutes):
            arguments = (web.hosts, web.paths, 60 * args.minutes)
            stats, samples, errors = in_new_process(run_crawl, settings, proxy, folder, arguments)
        outcome = judge(url, Path(folder), stats, samples, errors)
    versions = environment(VERSIONS) | {"minutes": args.minutes, "sites": args.sites}
    publish_figures(args, [table(outcome, args.minutes)], versions | asdict(outcome))
    for message in [*outcome.lost, *outcome.errors][:20]:
        print(message, file=sys.stderr)
    is_flat = outcome.growth <= (GROWTH if args.minutes >= LONG_MINUTES else SHORT_GROWTH)
    return 0 if is_flat and not outcome.lost and not outcome.errors else 1


def run_crawl(
    settings: dict[str, Any], proxy: str, folder: str, arguments: tuple[Any, ...]
) -> tuple[dict[str, Any], list[tuple[float, int, float]], list[str]]:
    """Crawl until the time is over; the stats, the samples of memory, unexpected errors."""
    os.environ["http_proxy"] = proxy
    errors = _Errors()
    logging.getLogger().addHandler(errors)
    fixed = {
        "ADDONS": {"noiseclean_scrapy.addon.Addon": 300},
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "CRITICAL",
        "RETRY_TIMES": 1,
        "TELNETCONSOLE_ENABLED": False,
    }
    process = CrawlerProcess({**fixed, **settings})
    crawler = process.create_crawler(SoakSpider)
    process.crawl(crawler, *arguments, log=Path(folder, "pages"))
    process.start()
    assert crawler.stats
    assert isinstance(crawler.spider, SoakSpider)
    stats = {name: value for name, value in crawler.stats.get_stats().items() if type(value) is int}
    return stats, crawler.spider.samples, errors.messages


class SoakSpider(scrapy.Spider):
    """Visits all pages of all sites, round after round, and writes down which gave an item."""

    name = "soak"

    def __init__(self, hosts: list[str], paths: list[str], seconds: float, log: Path) -> None:
        super().__init__()
        self.seconds = seconds
        self.samples: list[tuple[float, int, float]] = []
        self.seen = 0
        self.begun = time.monotonic()
        self.items = log.open("w", encoding="utf-8")
        self.addresses = (
            f"http://{host}{path}?round={turn}"
            for turn in count()
            for path in paths
            for host in hosts
        )

    async def start(self) -> AsyncIterator[Any]:
        for _ in range(WALKERS):
            yield self.following()

    def following(self) -> scrapy.Request | None:
        """The next address, as long as there is time."""
        if time.monotonic() - self.begun > self.seconds:
            return None
        return scrapy.Request(next(self.addresses), errback=self.failed, dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        self.seen += 1
        passed = time.monotonic() - self.begun
        if passed >= self.seconds * (len(self.samples) + 1) / SAMPLES:
            self.samples.append((round(passed, 1), self.seen, round(resident_mib(), 1)))
        if isinstance(response, scrapy.http.HtmlResponse):
            if response.body not in _NO_PAGES:
                self.items.write(f"{response.url}\n")
            yield {"url": response.url}
        yield self.following()

    def failed(self, failure: Any) -> Iterator[Any]:
        """A server that fails is none of our errors."""
        yield self.following()

    def closed(self, reason: str) -> None:
        self.items.close()


class _Errors(logging.Handler):
    """Keeps the messages of errors that are neither of servers nor refusals of the database."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.name.startswith(_OF_SERVERS) or any(part in message for part in _OF_DATABASES):
            return
        self.messages.append(f"{record.name}: {message} {record.exc_info or ''}"[:2000])


@contextmanager
def hiccups(url: str, seconds: float) -> Iterator[None]:
    """Let the database refuse for some seconds, again and again, but not at the crawl's end."""
    is_over = threading.Event()
    end = time.monotonic() + seconds - HICCUP_SECONDS

    def run() -> None:
        while not is_over.wait(PAUSE_SECONDS) and time.monotonic() < end:
            _lock(url, is_over) if url.startswith("sqlite") else _disconnect(url)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _lock(url: str, is_over: threading.Event) -> None:
    path = str(make_url(url).database)
    with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        is_over.wait(HICCUP_SECONDS)
        connection.execute("ROLLBACK")


def _disconnect(url: str) -> None:
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    engine.dispose()


def judge(
    url: str,
    folder: Path,
    stats: dict[str, Any],
    samples: list[tuple[float, int, float]],
    errors: list[str],
) -> Outcome:
    """Compare what gave an item with what is stored, and look at memory."""
    expected = set((folder / "pages").read_text(encoding="utf-8").split())
    stored = stored_addresses(url)
    waiting = Spool(folder / "spool")
    spooled = {page.url for page, _ in waiting.read(waiting.pages, sys.maxsize) if page.cleaned}
    ours = {name.removeprefix("noiseclean/"): n for name, n in stats.items()}
    ill = [name for name in ours if name == "errors" or name.startswith("spider_exceptions")]
    counted = [f"{name} in the stats: {ours[name]}" for name in ill]
    seconds, _, mib = np.array(samples[len(samples) // 2 :]).T
    slope, _ = np.polyfit(seconds, mib, 1)
    third = max(1, len(mib) // 3)
    growth = float(np.median(mib[-third:]) / np.median(mib[:third]) - 1)
    return Outcome(
        pages=len(expected),
        learned=ours.get("pages/learned", 0),
        trees=ours.get("trees/built", 0),
        refusals=ours.get("store/errors", 0),
        spooled=len((expected & spooled) - stored),
        lost=sorted(expected - stored - spooled),
        errors=[*errors, *counted],
        samples=samples,
        mib_per_hour=round(3600 * float(slope), 1),
        growth=round(growth, 3),
    )


def stored_addresses(url: str) -> set[str]:
    """The addresses of the pages that have a text in a database."""
    with Store(url, read_only=True) as store:
        return {page.url for page in store.pages.with_text()}


def table(outcome: Outcome, minutes: float) -> Table:
    """The outcome's figures."""
    middle, last = outcome.samples[len(outcome.samples) // 2], outcome.samples[-1]
    rows = {
        "pages with an item": outcome.pages,
        "pages learned": outcome.learned,
        "trees built": outcome.trees,
        "refusals of the database": outcome.refusals,
        "pages that wait in the spool": outcome.spooled,
        "lost pages": len(outcome.lost),
        "unhandled errors": len(outcome.errors),
        "memory in the middle, MiB": middle[2],
        "memory at the end, MiB": last[2],
        "slope of the second half, MiB an hour": outcome.mib_per_hour,
        "growth within it": f"{outcome.growth:.1%}",
    }
    return Table(f"Soak of {minutes:g} minutes", ["", ""], [[n, str(v)] for n, v in rows.items()])


if __name__ == "__main__":
    sys.exit(main())
