"""Processes that share their requests by scrapy-redis, and what they learn by PostgreSQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scrapy_redis", reason="needs the extra redis")

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.config import Config
from tests.support import crawl_site, crawling
from tests.support.crawl_site import NOISE, PageServer, story, story_text
from tests.support.crawling import Crawled, Plan
from tests.support.databases import newest_tree, postgresql_schema, read_rows
from tests.support.redis_queues import FollowSpider, Queue, redis_queue

pytestmark = [pytest.mark.services, pytest.mark.slow]

PAGES = 60
AT_ONCE = 4
QUOTA = 30
SETTINGS = {
    "CONCURRENT_REQUESTS": AT_ONCE,
    "NOISECLEAN_BATCH_SIZE": 3,
    "NOISECLEAN_FIELDS": {"text": "text"},
    "NOISECLEAN_REFRESH_PAGES": 20,
    "NOISECLEAN_SAMPLE_QUOTA": QUOTA,
}


def page(number: int) -> str:
    """A story with links to two more, so that all are found from the first ones."""
    links = [f"<a href='/{(2 * number + turn) % PAGES}'>Another story</a>" for turn in (1, 2)]
    return story(number, f"{NOISE} {' '.join(links)}")


class Gate:
    """Lets no page out before all processes of a crawl have asked for their first ones."""

    def __init__(self) -> None:
        self._asked = threading.Condition()
        self.close(0)

    def close(self, processes: int) -> None:
        self._missing = AT_ONCE * processes

    def answer(self, number: int) -> str:
        with self._asked:
            self._missing -= 1
            self._asked.notify_all()
            self._asked.wait_for(lambda: self._missing <= 0, timeout=60)
        time.sleep(0.1)
        return page(number)


GATE = Gate()


@pytest.fixture(scope="module")
def site() -> Iterator[PageServer]:
    pages = {f"/{n}": lambda _visit, n=n: GATE.answer(n) for n in range(PAGES)}
    with crawl_site.serve(pages) as server:
        yield server


@contextmanager
def shared() -> Iterator[tuple[str, Queue]]:
    """A database and a queue of the test's own."""
    with postgresql_schema() as url, redis_queue() as queue:
        yield url, queue


def crawl_together(
    folder: Path,
    url: str,
    site: PageServer,
    queue: Queue,
    processes: int,
    killed: Callable[[str], bool] = crawling.never,
) -> list[tuple[list[str], Crawled | None]]:
    """The log and the result of each process; the first is killed when it is told."""
    settings = {**SETTINGS, **queue.settings, "NOISECLEAN_DATABASE_URL": url}
    plan = Plan(FollowSpider, settings, {"name": queue.name})
    GATE.close(processes)
    queue.seed([f"{site.url}/{n}" for n in range(AT_ONCE * processes)])
    return crawling.crawl_together(folder, [plan] * processes, killed)


def stored_pages(url: str) -> list[tuple[Any, ...]]:
    columns = "url, position, learned_version, clean_version, text"
    return read_rows(url, f"SELECT {columns} FROM noiseclean_page ORDER BY position")


def learned_alone(site: PageServer, urls: set[str]) -> bytes:
    """The tree of one cleaner that has learned these pages."""
    cleaner = SiteCleaner(**Config().all_method_options)
    for url in sorted(urls):
        cleaner.observe(page(int(url.removeprefix(f"{site.url}/"))), url=url)
    return cleaner.to_bytes()


def check(url: str, site: PageServer) -> set[str]:
    """All stored pages are learned once, and cleaned by a tree that knows them; the addresses.

    Not those of pages whose item was on its way when their process was killed: they have no text.
    """
    rows = stored_pages(url)
    learned = {row[0] for row in rows}
    assert [row[1] for row in rows] == list(range(1, len(learned) + 1))
    assert all(row[2] for row in rows)
    assert newest_tree(url) == learned_alone(site, learned)
    cleaned = {row[0]: row[4] for row in rows if row[4] is not None}
    assert all(row[3] >= row[2] for row in rows if row[0] in cleaned)
    expected = {f"{site.url}/{n}": story_text(n) for n in range(PAGES)}
    assert cleaned == {url: expected[url] for url in cleaned}
    return set(cleaned)


def test_three_processes_store_what_one_stores(tmp_path: Path, site: PageServer) -> None:
    found = []
    for processes in (1, 3):
        with shared() as (url, queue):
            done = crawl_together(tmp_path / str(processes), url, site, queue, processes)
            assert queue.waiting() == 0
            ours = [crawled.ours for _, crawled in done if crawled]
            assert len(ours) == processes
            assert all(crawl["pages/seen"] for crawl in ours)
            assert sum(crawl.get("pages/learned", 0) for crawl in ours) == PAGES
            assert not any("errors" in crawl or "store/errors" in crawl for crawl in ours)
            assert not any(crawled.lines("ERROR", "") for _, crawled in done if crawled)
            # The quota is the site's: no process has seen that many pages when there are three.
            first = read_rows(url, "SELECT pages FROM noiseclean_tree WHERE version = 1")
            assert QUOTA <= first[0][0] < PAGES
            assert len(check(url, site)) == PAGES
            texts = {row[0]: row[4] for row in stored_pages(url)}
            found.append((texts, newest_tree(url)))
    assert found[0] == found[1]


def test_what_a_killed_process_has_stored_is_finished_by_another(
    tmp_path: Path, site: PageServer
) -> None:
    keys = "Keys of stored pages: "

    def is_time(line: str) -> bool:
        return line.startswith(keys)

    with shared() as (url, queue):
        (lines, killed), (_, other) = crawl_together(tmp_path / "two", url, site, queue, 2, is_time)
        assert killed is None
        assert other is not None
        theirs = {key for line in filter(is_time, lines) for key in line.removeprefix(keys).split()}
        finished = "SELECT key FROM noiseclean_page WHERE learned_version IS NOT NULL"
        assert theirs <= {row[0] for row in read_rows(url, finished)}
        assert {item["url"] for item in other.items} <= check(url, site)
        # What the killed process had taken from the queue is fetched by the next crawl.
        queue.forget_requests()
        known = len(stored_pages(url))
        ((_, again),) = crawl_together(tmp_path / "again", url, site, queue, 1)
        assert again is not None
        assert again.ours.get("pages/learned", 0) == PAGES - known
        assert len(check(url, site)) == PAGES
