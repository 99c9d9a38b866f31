"""Crawls without a network that are killed at a chosen write, and what must be so afterwards.

    python -m tests.support.fault_points [EVERY] [sqlite|postgresql]

kills a crawl at every point of its life at which it writes (or at each EVERY-th), lets the next
crawl go on, and compares what is stored with a crawl that ran through.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler
from sqlalchemy import Engine, event

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clusters.maintenance import relearn
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.session import Crawl
from noiseclean_scrapy.crawl.writer import Writer
from noiseclean_scrapy.store import Patience, Store
from tests.support.crawl_site import story, story_text
from tests.support.databases import new_database, newest_tree, read_rows

PROCESSES: Any = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["tests.support.fault_points", "noiseclean_scrapy.methods.evidence"]
)

PAGES = 12
SETTINGS = {
    "NOISECLEAN_SAMPLE_QUOTA": 4,
    "NOISECLEAN_REFRESH_PAGES": 4,
    "NOISECLEAN_BATCH_SIZE": 2,
    "NOISECLEAN_METADATA": False,
}
_WRITES = ("INSERT", "UPDATE", "DELETE", "CREATE")


def open_crawl(url: str, settings: Mapping[str, Any], patience: Patience | None = None) -> Crawl:
    """A crawl as the pipeline opens it."""
    every = {**SETTINGS, "NOISECLEAN_DATABASE_URL": url, **settings}
    config = Config.from_settings(Settings(every))
    store = Store(url, read_only=config.read_only, patience=patience, **config.store_options)
    return Crawl(config, MemoryStatsCollector(get_crawler()), Writer(store))


async def see(crawl: Crawl, number: int, *, host: str = "a.example") -> None:
    """A page's response, and an item of it that passes all pipelines."""
    url = f"http://{host}/{number}"
    response = HtmlResponse(url, body=story(number).encode(), encoding="utf-8")
    await crawl.observe(f"{host}{number:04}", host, response)
    visit = crawl.visits.of(response)
    assert visit
    await crawl.keep(visit)


async def close(crawl: Crawl) -> None:
    """End a crawl, which may not take long."""
    await asyncio.wait_for(crawl.close(), 60)
    crawl.writer.store.close()


async def crawl_all(
    url: str,
    settings: Mapping[str, Any],
    numbers: Iterable[int] = range(PAGES),
    *,
    is_known: bool = False,
) -> dict[str, Any]:
    """A crawl of pages from its beginning to its end; its stats.

    Where the site `is_known`, every text must be right at once.
    """
    crawl = open_crawl(url, settings)
    for number in numbers:
        await see(crawl, number)
        visit = await crawl.visits.find(None, f"http://a.example/{number}")
        assert visit
        assert visit.kept
        assert visit.kept.text == story_text(number) or not is_known
    await close(crawl)
    stats: dict[str, Any] = crawl.stats.get_stats()
    return stats


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the log has told of errors."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@contextmanager
def at_writes(action: Callable[[], None]) -> Iterator[None]:
    """Call `action` before each statement that writes, before each commit, after each commit."""

    def before(_c: Any, _u: Any, statement: str, *_rest: Any) -> None:
        if statement.lstrip().startswith(_WRITES):
            action()

    def moment(_connection: Any) -> None:
        action()

    listeners: dict[str, Callable[..., None]] = {
        "before_cursor_execute": before,
        "commit": moment,
        "begin": moment,
    }
    for name, listener in listeners.items():
        event.listen(Engine, name, listener)
    try:
        yield
    finally:
        for name, listener in listeners.items():
            event.remove(Engine, name, listener)


def _crawl(url: str, **settings: Any) -> None:
    asyncio.run(crawl_all(url, settings))


def _reclean(url: str) -> None:
    """Learn the site again by another method, and clean its pages again."""
    config = Config(database_url=url, method="style-tree")
    with Store(url, store_html=True) as store:
        site = store.clusters.find("a.example")
        assert site
        model = relearn(store, site, config, lambda: None)
        list(store.pages.clean_again(site.name, model.clean))


def _run(action: Callable[..., None], url: str, options: Any, point: int, points: Any) -> None:
    def count() -> None:
        points.value += 1
        if points.value == point:
            os.kill(os.getpid(), signal.SIGKILL)

    with at_writes(count):
        action(url, **options)


def run_until(
    url: str, point: int = 0, action: Callable[..., None] = _crawl, **options: Any
) -> int:
    """A crawl in a process of its own, killed at a point (0: none); the points that it reached."""
    points = PROCESSES.Value("i", 0)
    process = PROCESSES.Process(target=_run, args=(action, url, options, point, points))
    process.start()
    process.join(120)
    assert process.exitcode == (-signal.SIGKILL if point else 0)
    reached: int = points.value
    return reached


def reclean_until(url: str, point: int = 0) -> int:
    """The same for cleaning all stored pages again by another method."""
    return run_until(url, point, _reclean)


def result(url: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], bytes]:
    """Pages, tree versions and the newest tree."""
    pages = read_rows(
        url,
        "SELECT key, url, position, learned_version, clean_version, title, text "
        "FROM noiseclean_page ORDER BY key",
    )
    trees = read_rows(url, "SELECT version, pages FROM noiseclean_tree ORDER BY version")
    return pages, trees, newest_tree(url)


def check_state(url: str) -> None:
    """What must be so at every moment: each page once, learned once, in the tree or provisional."""
    (tables,) = read_rows(url, _TABLES[url.startswith("sqlite")])
    if not tables[0]:
        return
    rows = read_rows(url, "SELECT position, learned_version FROM noiseclean_page ORDER BY position")
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    (cluster, *_) = [*read_rows(url, _CLUSTER), (0, 0, 0)]
    version, learned, covered = cluster
    assert learned == len(rows)
    assert covered == sum(row[1] is not None for row in rows)
    if version:
        query = f"SELECT tree FROM noiseclean_tree WHERE version = {version}"
        tree = bytes(read_rows(url, query)[0][0])
        assert SiteCleaner.from_bytes(tree).pages == covered


_CLUSTER = "SELECT version, learned, covered FROM noiseclean_cluster"
_TABLES = {
    True: "SELECT count(*) FROM sqlite_master WHERE name = 'noiseclean_cluster'",
    False: "SELECT count(*) FROM pg_tables WHERE tablename = 'noiseclean_cluster' "
    "AND schemaname = current_schema()",
}


def check_point(url: str, point: int, expected: object, **settings: Any) -> None:
    """Kill a crawl at a point, look at what is left, and let the next crawl end it."""
    run_until(url, point, **settings)
    check_state(url)
    run_until(url, **settings)
    check_state(url)
    assert result(url) == expected, point


def main(every: str = "1", kind: str = "sqlite") -> None:
    """Every point, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        with new_database(kind, Path(folder)) as url:
            points = run_until(url)
            expected = result(url)
        for point in range(1, points + 1, int(every)):
            with new_database(kind, Path(folder)) as url:
                check_point(url, point, expected)
            print(f"\rkilled at {point} of {points} points", end="", flush=True)
        print(": nothing lost, nothing twice")


if __name__ == "__main__":
    main(*sys.argv[1:3])
