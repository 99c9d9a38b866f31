"""A crawl that is killed again and again ends where one that ran through ends."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from example_project.demo import DemoServer, DemoSite
from noiseclean_scrapy import SiteCleaner
from tests.support import crawling
from tests.support.crawl_site import ChainSpider
from tests.support.crawling import Plan
from tests.support.databases import newest_tree, read_rows

KILLS = 20
STORED = re.compile(r"Keys of stored pages: (.*)")
SETTINGS = {
    "CONCURRENT_REQUESTS": 1,
    "NOISECLEAN_SAMPLE_QUOTA": 15,
    "NOISECLEAN_REFRESH_PAGES": 20,
    "NOISECLEAN_BATCH_SIZE": 5,
}


def after(lines: int, delay: float) -> Callable[[str], bool]:
    """Says that it is time once, some seconds after a number of lines."""
    waiting = iter(range(lines))

    def is_time(line: str) -> bool:
        if next(waiting, None) is not None:
            return False
        time.sleep(delay)
        return True

    return is_time


def stored_keys(lines: list[str]) -> set[str]:
    """The keys of the pages that a crawl has said to be stored."""
    found = [match[1] for line in lines if (match := STORED.match(line))]
    return {key for keys in found for key in keys.split()}


def trees(url: str) -> list[tuple[Any, ...]]:
    return read_rows(url, "SELECT version, pages FROM noiseclean_tree ORDER BY version")


def check_state(url: str, reported: set[str]) -> None:
    """What must be so at every moment, however the last crawl ended."""
    rows = read_rows(url, "SELECT key, url, position, learned_version FROM noiseclean_page")
    assert reported <= {row[0] for row in rows}
    assert len({row[1] for row in rows}) == len(rows)
    assert sorted(row[2] for row in rows) == list(range(1, len(rows) + 1))
    assert trees(url) == [(v, 15 + 20 * (v - 1)) for v in range(1, len(trees(url)) + 1)]
    for version, pages in trees(url)[-1:]:
        assert SiteCleaner.from_bytes(newest_tree(url)).pages == pages
        assert {row[3] for row in rows if row[2] <= pages} == set(range(1, version + 1))


def result(url: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], bytes]:
    query = "SELECT url, position, clean_version, title, text FROM noiseclean_page ORDER BY url"
    return read_rows(url, query), trees(url), newest_tree(url)


@pytest.mark.slow
def test_a_crawl_killed_twenty_times_gives_the_same_texts_and_trees(tmp_path: Path) -> None:
    site = DemoSite(articles=60)
    paths = [page.path for page in site.pages.values() if page.kind == "article"]
    once, often = (f"sqlite:///{tmp_path / name}.db" for name in ("once", "often"))
    rng = random.Random(20)
    with DemoServer(site) as server:
        arguments = {"url": server.url, "paths": paths}

        def plan(url: str) -> Plan:
            return Plan(ChainSpider, {**SETTINGS, "NOISECLEAN_DATABASE_URL": url}, arguments)

        lines, finished = crawling.crawl_until(tmp_path, plan(once))
        assert finished is not None
        assert finished.ours["pages/learned"] == len(paths)
        per_page = sum(not STORED.match(line) for line in lines)
        reported: set[str] = set()
        for moment in sorted(rng.sample(range(per_page // 8, per_page * 9 // 10), KILLS)):
            is_time = after(moment, rng.uniform(0, 0.01))
            lines, crawled = crawling.crawl_until(tmp_path, plan(often), is_time)
            assert crawled is None
            reported |= stored_keys(lines)
            check_state(often, reported)
        lines, finished = crawling.crawl_until(tmp_path, plan(often))
    assert finished is not None
    assert finished.ours["trees/built"] >= 1
    assert len(reported | stored_keys(lines)) == len(paths)
    assert trees(often) == [(1, 15), (2, 35), (3, 55), (4, len(paths))]
    assert SiteCleaner.from_bytes(newest_tree(often)).pages == len(paths)
    assert result(often) == result(once)
