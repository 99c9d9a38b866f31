"""Memory of a crawl: sites leave it by the size of their trees, pages by what they take."""

from __future__ import annotations

import asyncio
import json
import platform
import sqlite3
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from benchmarks.measuring import resident_mib
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clusters import cluster
from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl import cluster_cache, write_queue
from noiseclean_scrapy.crawl.memory import trim_heap
from noiseclean_scrapy.report.inert import inert_document
from noiseclean_scrapy.report.survey import SiteSurvey
from noiseclean_scrapy.store import PageRecord, Store
from tests.support.costly_pages import costly_page
from tests.support.databases import read_rows
from tests.support.fault_points import close, open_crawl, see

KEYS = "SELECT key FROM noiseclean_page"
HOSTS = ("a.example", "b.example", "c.example")
NOON = datetime(2031, 5, 21, 12, tzinfo=timezone.utc)


def test_sites_leave_memory_by_the_size_of_their_trees(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        crawl = open_crawl(sqlite_url, {"NOISECLEAN_SAMPLE_QUOTA": 3})
        for host in HOSTS:
            for number in range(3):
                await see(crawl, number, host=host)
        await crawl._flush()
        sizes = {site.name: site.size for site in crawl.clusters}
        assert list(sizes) == list(HOSTS)
        query = "SELECT cluster, length(tree) FROM noiseclean_tree"
        assert sizes == dict(read_rows(sqlite_url, query))

        monkeypatch.setattr(cluster_cache, "_TREE_BYTES_IN_MEMORY", sum(sizes.values()))
        crawl._clusters.make_room()
        assert [site.name for site in crawl.clusters] == list(HOSTS)
        # The one that was not needed for longest goes, those with pages on their way stay.
        await see(crawl, 3, host="b.example")
        monkeypatch.setattr(cluster_cache, "_TREE_BYTES_IN_MEMORY", 1)
        crawl._clusters.make_room()
        assert [site.name for site in crawl.clusters] == ["b.example"]
        # A site that comes back has the size that it had.
        monkeypatch.setattr(cluster_cache, "_TREE_BYTES_IN_MEMORY", sum(sizes.values()))
        await see(crawl, 3, host="a.example")
        assert {site.name: site.size for site in crawl.clusters} == {
            name: sizes[name] for name in ("a.example", "b.example")
        }
        # The one that is in use stays, however large it is.
        await crawl._flush()
        monkeypatch.setattr(cluster_cache, "_TREE_BYTES_IN_MEMORY", 1)
        crawl._clusters.make_room()
        assert [site.name for site in crawl.clusters] == ["a.example"]
        await close(crawl)

    asyncio.run(run())


def test_a_site_without_a_tree_is_reckoned_by_its_pages(sqlite_url: str) -> None:
    async def run() -> None:
        crawl = open_crawl(sqlite_url, {})
        await see(crawl, 0)
        (site,) = crawl.clusters
        one = site.size
        await see(crawl, 1)
        assert 0 < 2 * one == site.size
        await close(crawl)

    asyncio.run(run())


def test_the_store_is_asked_for_pages_of_a_site_that_has_many(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_OWN_PAGES", 3)

    async def run() -> None:
        crawl = open_crawl(sqlite_url, {})
        for number in range(3):
            await see(crawl, number)
        await crawl._flush()
        [site] = crawl.clusters
        assert site.own == {row[0] for row in read_rows(sqlite_url, KEYS)}
        for number in (3, 4):
            await see(crawl, number)
        await crawl._flush()
        assert site.own is None
        for number in range(6):
            await see(crawl, number)
        assert site.own is None
        await close(crawl)

    asyncio.run(run())
    # None was learned twice.
    assert len(read_rows(sqlite_url, KEYS)) == 6
    positions = "SELECT position FROM noiseclean_page ORDER BY position"
    assert [row[0] for row in read_rows(sqlite_url, positions)] == list(range(1, 7))


def test_large_pages_go_to_the_spool_however_few_they_are(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_queue, "_BYTES_WAITING", 2000)

    async def run() -> None:
        crawl = open_crawl(f"{sqlite_url}?timeout=0.05", {"NOISECLEAN_BATCH_SIZE": 50})
        other = sqlite3.connect(tmp_path / "noiseclean.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for number in range(8):
            crawl._last_flush = 0
            await see(crawl, number)
        pages = crawl._pages
        assert pages._bytes == sum(record.size for record in pages._records.values())
        assert pages.spool.pages > 0
        spooled = pages.spool.read(9, room=1 << 20)
        assert set(pages._records).union(page.key for page, _ in spooled) == {
            f"a.example{number:04}" for number in range(8)
        }
        assert len(pages.spool.read(2, room=1 << 20)) == 2
        [large] = pages.spool.read(9, room=1)
        assert large in spooled
        other.execute("ROLLBACK")
        other.close()
        # What the spool holds is written in parts that are no larger than what may wait in memory.
        for _ in range(8):
            await crawl.tick()
            crawl._last_flush = 0
        assert (len(pages), pages._bytes) == (0, 0)
        await close(crawl)

    asyncio.run(run())
    assert read_rows(sqlite_url, "SELECT count(*) FROM noiseclean_page") == [(8,)]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has malloc_trim")
def test_what_was_freed_goes_back_to_the_system() -> None:
    # All but the last of many blocks of the C library's are freed: it keeps them for itself.
    blocks = [bytes(2000) for _ in range(30_000)]
    last = blocks.pop()
    del blocks
    before = resident_mib()
    assert trim_heap()
    assert before - resident_mib() > 30
    assert len(last) == 2000


@pytest.mark.slow
@pytest.mark.parametrize("store_html", [True, False])
def test_a_page_of_long_paths_takes_no_more_than_it_is_long(
    sqlite_url: str, *, store_html: bool
) -> None:
    """Each of its 2,000 blocks has a path of 6,000 characters, which makes 12 MB."""
    html = costly_page(1, 2000)
    cleaned = SiteCleaner("satisfiable-subtree").clean(html)
    page = PageRecord("1", "a.example", "http://a.example/", "0", NOON, 1, html)
    with Store(sqlite_url) as store:
        tracemalloc.start()
        page = replace(page, cleaned=to_record(cleaned, 1, Config(store_html=store_html)))
        held = tracemalloc.get_traced_memory()[0]
        store.pages.write([page], method="evidence")
        [stored] = store.pages.with_text()
        assert stored.cleaned
        *_, last = stored.cleaned.blocks
        shown = cleaned.blocks[-1]
        assert (last.xpath, last.place) == (shown.xpath, shown.place)
        survey = SiteSurvey()
        survey.add(stored)
        assert (cleaned.html, cleaned.markdown) == ("<h1>Page 1</h1>", "# Page 1")
        assert inert_document(html, cleaned.blocks).count("x y") == 2000
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert len(shown.xpath) > 6000
    assert held < page.size < 50_000
    assert peak < 8_000_000


@pytest.mark.night
@pytest.mark.slow
def test_a_crawl_of_costly_pages_stays_below_a_gibibyte() -> None:
    command = [sys.executable, "-m", "tests.support.costly_pages", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert (found["pages"], found["items"], found["errors"]) == (100, 100, 0)
    assert found["peak_mib"] < 1024
