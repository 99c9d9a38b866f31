"""Several crawls on one database learn one tree: no page is lost, none counts twice."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.config import Config
from tests.support import crawl_site, crawling
from tests.support.crawl_site import ChainSpider, PageServer, PagesSpider, story, story_text
from tests.support.crawling import Crawled, Plan
from tests.support.databases import newest_tree, read_rows

PAGES = 60
QUOTA = 20
SETTINGS = {
    "NOISECLEAN_SAMPLE_QUOTA": QUOTA,
    "NOISECLEAN_REFRESH_PAGES": 12,
    "NOISECLEAN_BATCH_SIZE": 4,
    "NOISECLEAN_STORE_HTML": False,
    "NOISECLEAN_FIELDS": {"text": "text", "tree": "tree_version"},
}
STATE = "SELECT url, position, learned_version, clean_version FROM noiseclean_page"


@pytest.fixture(scope="module")
def site() -> Iterator[PageServer]:
    with crawl_site.serve({f"/{n}": story(n) for n in range(PAGES)}) as server:
        yield server


def crawl_at_once(
    folder: Path,
    url: str,
    site: PageServer,
    shares: Sequence[Sequence[int]],
    killed: Callable[[str], bool] = crawling.never,
) -> list[Crawled | None]:
    """One crawl a share of the pages, all at the same time; the first is killed when it is told."""
    settings = {**SETTINGS, "NOISECLEAN_DATABASE_URL": url}
    plans = [
        Plan(PagesSpider, settings, {"url": site.url, "paths": [f"/{n}" for n in share]})
        for share in shares
    ]
    return [crawled for _, crawled in crawling.crawl_together(folder, plans, killed)]


def learned_alone(site: PageServer, numbers: Sequence[int]) -> bytes:
    """The tree of one process that has learned these pages."""
    cleaner = SiteCleaner(**Config().all_method_options)
    for number in numbers:
        cleaner.observe(story(number), url=f"{site.url}/{number}")
    return cleaner.to_bytes()


def check(url: str, site: PageServer) -> None:
    """All pages are stored, and learned once, by the tree that one process would have."""
    rows = read_rows(url, f"{STATE} ORDER BY position")
    assert [row[1] for row in rows] == list(range(1, PAGES + 1))
    assert {row[0] for row in rows} == {f"{site.url}/{n}" for n in range(PAGES)}
    assert all(row[2] is not None for row in rows)
    assert all(row[3] is None or row[3] >= row[2] for row in rows)
    pages = [row[0] for row in read_rows(url, "SELECT pages FROM noiseclean_tree ORDER BY version")]
    assert pages[0] >= QUOTA
    assert pages[-1] == PAGES
    assert newest_tree(url) == learned_alone(site, range(PAGES))


@pytest.mark.slow
def test_crawls_of_the_same_pages_learn_one_tree(
    tmp_path: Path, database_url: str, site: PageServer
) -> None:
    everything = range(PAGES)
    shares = [everything, everything[::-1], range(PAGES // 3, PAGES)]
    crawls = crawl_at_once(tmp_path, database_url, site, shares)
    check(database_url, site)
    ours = [crawled.ours for crawled in crawls if crawled]
    assert len(ours) == len(shares)
    assert sum(crawl.get("pages/learned", 0) for crawl in ours) == PAGES
    assert [crawl["items/cleaned"] for crawl in ours] == [len(share) for share in shares]
    (versions,) = read_rows(database_url, "SELECT count(*) FROM noiseclean_tree")
    assert sum(crawl.get("trees/built", 0) for crawl in ours) == versions[0]
    assert not any("errors" in crawl or "store/errors" in crawl for crawl in ours)
    texts = read_rows(database_url, "SELECT url, text FROM noiseclean_page")
    assert dict(texts) == {f"{site.url}/{n}": story_text(n) for n in everything}


@pytest.mark.slow
@pytest.mark.parametrize("pages", [1, 20])
def test_the_pages_of_a_killed_crawl_are_learned_by_the_others(
    tmp_path: Path, database_url: str, site: PageServer, pages: int
) -> None:
    stored = 0

    def is_time(line: str) -> bool:
        nonlocal stored
        if found := re.match(r"Stored what is new of (\d+) pages", line):
            stored += int(found[1])
        return stored >= pages

    shares = [range(40), range(20, PAGES)]
    killed, other = crawl_at_once(tmp_path, database_url, site, shares, is_time)
    assert killed is None
    assert other is not None
    rows = read_rows(database_url, STATE)
    assert len(rows) >= 40
    # The other crawl may have ended before the first was killed.
    crawl_at_once(tmp_path / "again", database_url, site, [range(PAGES)])
    check(database_url, site)


class LateSpider(ChainSpider):
    """Notes which tree cleans a page that comes long after the others."""

    name = "late"


@pytest.mark.slow
def test_a_crawl_without_pages_adopts_the_tree_of_another(
    tmp_path: Path, database_url: str
) -> None:
    pages: dict[str, Any] = {f"/{n}": story(n) for n in range(PAGES)}

    adopted = Event()

    def listen(line: str) -> bool:
        if "adopted version 1" in line:
            adopted.set()
        return False

    def late(visit: int) -> str:
        adopted.wait(60)
        return story(PAGES)

    pages["/late"] = late
    folders = [tmp_path / name for name in ("idle", "busy")]
    settings = {**SETTINGS, "NOISECLEAN_DATABASE_URL": database_url}
    settings["NOISECLEAN_BATCH_SECONDS"] = 0.1
    with crawl_site.serve(pages) as site, ThreadPoolExecutor(2) as pool:
        idle, busy = (
            {"url": site.url, "paths": paths}
            for paths in (["/0", "/1", "/late"], [f"/{n}" for n in range(QUOTA)])
        )
        for folder in folders:
            folder.mkdir()
        # The first crawl never finds a tree due: it must adopt that of the second.
        patient = {**settings, "NOISECLEAN_SAMPLE_QUOTA": 1_000}
        plan = Plan(LateSpider, patient, idle)
        first = pool.submit(crawling.crawl_until, folders[0], plan, listen)
        while not site.requests["/late"]:
            time.sleep(0.05)
        crawling.crawl_until(folders[1], Plan(PagesSpider, settings, busy))
        crawled = first.result()[1]
    assert adopted.is_set()
    assert crawled is not None
    assert [item["tree"] for item in crawled.items] == [0, 0, 1]
    assert crawled.items[-1]["text"] == story_text(PAGES)
