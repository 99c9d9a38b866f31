"""Faults around a crawl: what is stored stays, nothing is stored twice, all goes on."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from scrapy.http import HtmlResponse
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clusters import cleaning
from noiseclean_scrapy.clusters.maintenance import relearn
from noiseclean_scrapy.clusters.training import load_learner
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl import cluster_cache, visits
from noiseclean_scrapy.crawl import session as crawl_module
from noiseclean_scrapy.crawl.session import Crawl
from noiseclean_scrapy.crawl.spool import Spool
from noiseclean_scrapy.errors import NotStoredError, StoreError, UnknownMethodError
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.store import Cleaned, Store
from tests.support.crawl_site import story, story_text
from tests.support.databases import read_rows, run_statement
from tests.support.fault_points import (
    PAGES,
    PROCESSES,
    check_point,
    check_state,
    close,
    crawl_all,
    errors,
    open_crawl,
    reclean_until,
    result,
    run_until,
    see,
)
from tests.support.private_postgresql import PrivateServer
from tests.support.searching import page


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Any]:
    """Of a crawl that ran through: the number of points where it writes, and what it left."""
    url = f"sqlite:///{tmp_path_factory.mktemp('through')}/through.db"
    return run_until(url), result(url)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.02, 0.3, 0.55, 0.9])
def test_a_crawl_killed_at_a_write_is_ended_by_the_next(
    database_url: str, through: tuple[int, Any], part: float
) -> None:
    """Some of the points; all of them: python -m tests.support.fault_points."""
    points, expected = through
    check_point(database_url, round(points * part), expected)


def drive(crawl: Crawl, steps: Callable[[], Awaitable[None]]) -> None:
    """Take some steps of a crawl, and end it."""

    async def run() -> None:
        try:
            await steps()
        finally:
            await close(crawl)

    asyncio.run(run())


def check_all(url: str, expected: Any) -> None:
    check_state(url)
    rows = read_rows(url, "SELECT key, text FROM noiseclean_page ORDER BY key")
    assert rows == [(f"a.example{n:04}", story_text(n)) for n in range(PAGES)]
    # Batches, and so the versions of the tree, may have been others; what is learned is the same.
    assert result(url)[2] == expected[2]


@contextmanager
def full_disk(pages: int) -> Iterator[None]:
    """Every SQLite database refuses to grow beyond some pages of 4 kB."""

    def limit(connection: Any) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    event.listen(Engine, "begin", limit)
    try:
        yield
    finally:
        event.remove(Engine, "begin", limit)


@pytest.mark.slow
def test_a_full_disk_loses_nothing(
    sqlite_url: str, through: tuple[int, Any], caplog: pytest.LogCaptureFixture
) -> None:
    crawl = open_crawl(sqlite_url, {})

    async def steps() -> None:
        for number in range(6):
            await see(crawl, number)
        with full_disk(1):
            for number in range(6, 10):
                await see(crawl, number)
            assert crawl.waiting
        event.listen(Engine, "begin", _no_limit)
        for number in range(10, PAGES):
            await see(crawl, number)

    drive(crawl, steps)
    event.remove(Engine, "begin", _no_limit)
    assert errors(caplog) == [
        f"the database {sqlite_url} refused: database or disk is full; the crawl goes on, its "
        "pages wait for the next try"
    ]
    check_all(sqlite_url, through[1])


def _no_limit(connection: Any) -> None:
    connection.exec_driver_sql("PRAGMA max_page_count = 1000000")


def test_pages_wait_in_the_spool_for_the_next_crawl(
    sqlite_url: str, tmp_path: Path, through: tuple[int, Any], caplog: pytest.LogCaptureFixture
) -> None:
    spool = tmp_path / "spool.db"
    settings = {"NOISECLEAN_SPOOL": str(spool), "NOISECLEAN_BATCH_SIZE": 1}
    database = tmp_path / "noiseclean.db"
    first = open_crawl(f"{sqlite_url}?timeout=0.05", settings)
    first._pages.room = 2
    other = sqlite3.connect(database, isolation_level=None)

    async def steps() -> None:
        await see(first, 0)
        other.execute("BEGIN IMMEDIATE")
        for number in range(1, PAGES - 2):
            await see(first, number)
            first._last_flush = 0
            await first.tick()
            # What there is no room for in memory is in the file.
            assert len(first._pages._records) <= 2
        assert first.waiting == PAGES - 3

    drive(first, steps)
    assert "pages wait for the next try" in errors(caplog)[0]
    assert errors(caplog)[1] == (
        f"{PAGES - 3} pages could not be stored; they wait in {spool} for the next crawl with "
        "this database"
    )
    other.execute("ROLLBACK")
    other.close()
    assert read_rows(sqlite_url, "SELECT count(*) FROM noiseclean_page") == [(1,)]
    second = open_crawl(sqlite_url, settings)

    async def rest() -> None:
        for number in range(PAGES - 2, PAGES):
            await see(second, number)

    drive(second, rest)
    assert second.waiting == 0
    check_all(sqlite_url, through[1])


def test_without_a_spool_pages_wait_in_memory(
    sqlite_url: str, tmp_path: Path, through: tuple[int, Any], caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"NOISECLEAN_SPOOL": str(tmp_path / "no" / "such" / "folder" / "spool.db")}
    crawl = open_crawl(f"{sqlite_url}?timeout=0.05", settings)
    crawl._pages.room = 2
    other = sqlite3.connect(tmp_path / "noiseclean.db", isolation_level=None)

    async def steps() -> None:
        other.execute("BEGIN IMMEDIATE")
        for number in range(PAGES):
            crawl._last_flush = 0
            await see(crawl, number)
        other.execute("ROLLBACK")

    drive(crawl, steps)
    other.close()
    spool = settings["NOISECLEAN_SPOOL"]
    reason = f"the spool {spool} refused: No such file or directory"
    assert f"No spool for pages that wait: {reason}" in errors(caplog)
    parent = Path(spool).parent
    assert errors(caplog)[0] == f"There can be no spool {spool}: no such folder {parent}"
    check_all(sqlite_url, through[1])


@pytest.mark.parametrize("number", range(4))
def test_one_refusal_at_the_end_leaves_no_page_unlearned(sqlite_url: str, number: int) -> None:
    crawl = open_crawl(sqlite_url, {"NOISECLEAN_SAMPLE_QUOTA": 100, "NOISECLEAN_BATCH_SIZE": 100})
    begun: list[None] = []

    def refuse(_connection: Any) -> None:
        begun.append(None)
        if len(begun) == number + 1:
            raise OperationalError(None, None, sqlite3.OperationalError("gone for a moment"))

    async def run() -> None:
        for known in range(PAGES):
            await see(crawl, known)
        event.listen(Engine, "begin", refuse)
        try:
            await close(crawl)
        finally:
            event.remove(Engine, "begin", refuse)

    asyncio.run(run())
    assert crawl.stats.get_value("noiseclean/store/errors") == 1
    assert crawl.stats.get_value("noiseclean/pages/provisional") == 0
    query = "SELECT count(*), count(learned_version) FROM noiseclean_page"
    assert read_rows(sqlite_url, query) == [(PAGES, PAGES)]


def open_as_nobody(url: str, answer: Any) -> None:
    """Open a store for writing as a user whom permissions bind."""
    if os.geteuid() == 0:
        os.setuid(65534)
    try:
        Store(url).close()
    except StoreError as error:
        answer.send(str(error))
    answer.close()


def test_a_file_system_that_is_read_only_stops_the_start() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder}/noiseclean.db"
        run_until(url)
        before = result(url)
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        ours, theirs = PROCESSES.Pipe(duplex=False)
        process = PROCESSES.Process(target=open_as_nobody, args=(url, theirs))
        process.start()
        theirs.close()
        message = ours.recv()
        process.join()
        folder.chmod(0o755)
        assert message.startswith(f"cannot open the database {url}: ")
        assert "check its address and your rights" in message
        assert result(url) == before


def test_a_database_that_turns_read_only_keeps_what_it_has(
    sqlite_url: str, tmp_path: Path, through: tuple[int, Any], caplog: pytest.LogCaptureFixture
) -> None:
    crawl = open_crawl(sqlite_url, {})

    def forbid(connection: Any) -> None:
        is_main = str(connection.engine.url) == sqlite_url
        connection.exec_driver_sql(f"PRAGMA query_only = {int(is_main)}")

    async def steps() -> None:
        for number in range(5):
            await see(crawl, number)
        event.listen(Engine, "begin", forbid)
        for number in range(5, 9):
            await see(crawl, number)

    try:
        drive(crawl, steps)
    finally:
        event.remove(Engine, "begin", forbid)
    assert "attempt to write a readonly database; the crawl goes on" in errors(caplog)[0]
    assert "for the next crawl with this database" in errors(caplog)[1]
    check_state(sqlite_url)
    run_until(sqlite_url)
    check_all(sqlite_url, through[1])


def test_a_page_that_needs_too_much_memory_costs_itself(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    crawl = open_crawl(sqlite_url, {})

    def starved(*arguments: Any, url: str, **options: Any) -> Any:
        if url.endswith("/3"):
            raise MemoryError
        return build_page(*arguments, url=url, **options)

    monkeypatch.setattr(crawl_module, "build_page", starved)

    async def steps() -> None:
        for number in range(PAGES):
            if number == 3:
                with pytest.raises(MemoryError):
                    await see(crawl, number)
            else:
                await see(crawl, number)

    drive(crawl, steps)
    assert errors(caplog) == []
    check_state(sqlite_url)
    assert read_rows(sqlite_url, "SELECT count(text) FROM noiseclean_page") == [(PAGES - 1,)]


def test_a_page_that_a_tree_cannot_learn_does_not_stop_the_tree(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run_until(sqlite_url, 100)

    def starved(*arguments: Any, url: str, **options: Any) -> Any:
        if url.endswith("/1"):
            raise MemoryError
        return build_page(*arguments, url=url, **options)

    run_statement(sqlite_url, "DELETE FROM noiseclean_tree")
    run_statement(sqlite_url, "UPDATE noiseclean_page SET learned_version = NULL")
    run_statement(sqlite_url, "UPDATE noiseclean_cluster SET version = 0, covered = 0")
    monkeypatch.setattr(cleaning, "build_page", starved)
    crawl = open_crawl(sqlite_url, {})

    async def steps() -> None:
        for number in range(6, PAGES):
            await see(crawl, number)

    drive(crawl, steps)
    assert any("/1 could not be learned; the crawl goes on" in error for error in errors(caplog))
    waiting = "SELECT count(*) FROM noiseclean_page WHERE learned_version IS NULL"
    assert read_rows(sqlite_url, waiting) == [(0,)]


@pytest.mark.slow
@pytest.mark.parametrize("damaged", [1, 2])
def test_a_damaged_tree_is_learned_again(
    database_url: str, through: tuple[int, Any], damaged: int, caplog: pytest.LogCaptureFixture
) -> None:
    run_until(database_url)
    versions = "(3)" if damaged == 1 else "(2, 3)"
    run_statement(
        database_url,
        f"UPDATE noiseclean_tree SET tree = substr(tree, 1, 40) WHERE version IN {versions}",
    )
    crawl = open_crawl(database_url, {})

    async def steps() -> None:
        await see(crawl, 0)

    drive(crawl, steps)
    pages = {1: 4, 2: PAGES}[damaged]
    assert errors(caplog)[0] == (
        "Tree version 3 of a.example: the learned tree is damaged: its checksum does not match"
    )
    known = {1: 2, 2: 0}[damaged]
    assert errors(caplog)[-1] == (
        f"a.example goes on from its tree version {known}; {pages} pages are learned again"
    )
    check_all(database_url, through[1])


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.2, 0.7])
def test_cleaning_again_that_is_killed_can_be_done_again(
    database_url: str, tmp_path: Path, through: tuple[int, Any], part: float
) -> None:
    whole = f"sqlite:///{tmp_path}/whole.db"
    for url in (whole, database_url):
        run_until(url)
    points = reclean_until(whole)
    reclean_until(database_url, round(points * part))
    check_state(database_url)
    texts = dict(read_rows(database_url, "SELECT key, text FROM noiseclean_page"))
    assert len(texts) == PAGES
    assert all(texts.values())
    reclean_until(database_url)
    pages, _, tree = result(whole)
    again, _, same = result(database_url)
    assert same == tree
    # The tree of the first try may be there besides: what is cleaned is the same.
    assert [(row[0], row[6]) for row in again] == [(row[0], row[6]) for row in pages]


def test_a_crawl_that_reads_only_makes_no_tree(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(crawl_all(sqlite_url, {}))
    # As a crawl leaves it that is killed, or that is writing now.
    run_statement(sqlite_url, "UPDATE noiseclean_cluster SET learned = learned + 600")
    crawl = open_crawl(sqlite_url, {"NOISECLEAN_READ_ONLY": True})

    async def steps() -> None:
        for number in range(3):
            await see(crawl, number)
            await crawl.tick()
        assert [cluster.due for cluster in crawl.clusters] == [True]
        assert crawl.clusters[0].version > 0

    drive(crawl, steps)
    assert not errors(caplog)


def test_a_crawl_that_reads_only_goes_on_with_the_newest_tree_that_can_be_read(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    crawl = open_crawl(sqlite_url, {})

    async def write() -> None:
        for host in ("a.example", "b.example"):
            for number in range(PAGES):
                await see(crawl, number, host=host)

    drive(crawl, write)
    [(newest,)] = set(read_rows(sqlite_url, "SELECT version FROM noiseclean_cluster"))
    run_statement(
        sqlite_url,
        "UPDATE noiseclean_tree SET tree = substr(tree, 1, 40) "
        f"WHERE cluster = 'a.example' AND version = {newest}",
    )
    reading = open_crawl(sqlite_url, {"NOISECLEAN_READ_ONLY": True})

    async def read() -> None:
        await asyncio.gather(*(see(reading, number) for number in range(3)))
        await reading.tick()
        await reading.tick()
        await see(reading, 0, host="b.example")
        versions = {cluster.name: cluster.version for cluster in reading.clusters}
        assert versions == {"a.example": newest - 1, "b.example": newest}

    drive(reading, read)
    assert errors(caplog) == [
        f"Tree version {newest} of a.example: the learned tree is damaged: its checksum does not "
        "match"
    ]


@pytest.mark.slow
def test_a_damaged_tree_is_told_once_though_pages_come_together(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(crawl_all(sqlite_url, {}))
    run_statement(sqlite_url, "UPDATE noiseclean_tree SET tree = substr(tree, 1, 40)")
    crawl = open_crawl(sqlite_url, {})

    async def steps() -> None:
        await asyncio.gather(*(see(crawl, number) for number in range(8)))

    drive(crawl, steps)
    assert sum("goes on from its tree version 0" in error for error in errors(caplog)) == 1
    assert len(errors(caplog)) == len({*errors(caplog)})


def test_a_crawl_that_reads_only_comes_back_to_a_store_that_answers_again(
    sqlite_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(crawl_all(sqlite_url, {}))
    database = tmp_path / "noiseclean.db"
    url = f"{sqlite_url}?timeout=0.05"
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    crawl = open_crawl(url, {"NOISECLEAN_READ_ONLY": True})

    async def steps() -> None:
        other.execute("BEGIN EXCLUSIVE")
        await see(crawl, 0)
        assert [cluster.version for cluster in crawl.clusters] == [0]
        await crawl.tick()
        other.execute("ROLLBACK")
        await crawl.tick()
        await see(crawl, 1)
        assert crawl.clusters[0].version > 0

    drive(crawl, steps)
    other.close()
    assert "the crawl goes on" in errors(caplog)[0]


def test_a_clock_that_jumps_disturbs_nothing(
    sqlite_url: str, through: tuple[int, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Jumping(datetime):
        jump = timedelta(0)

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + cls.jump

    monkeypatch.setattr(visits, "datetime", Jumping)
    crawl = open_crawl(sqlite_url, {})

    async def steps() -> None:
        for number in range(PAGES):
            Jumping.jump = timedelta(days=400 if number % 2 else -400)
            await see(crawl, number)

    drive(crawl, steps)
    assert result(sqlite_url) == through[1]


def test_postgresql_killed_and_started_again(
    through: tuple[int, Any],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    postgresql_server: PrivateServer,
) -> None:
    server = postgresql_server
    settings = {"NOISECLEAN_SPOOL": str(tmp_path / "spool.db")}
    crawl = open_crawl(server.url, settings)
    crawl._pages.room = 2

    async def steps() -> None:
        for number in range(5):
            await see(crawl, number)
        server.kill()
        for number in range(5, 9):
            await see(crawl, number)
            crawl._last_flush = 0
        assert crawl.waiting >= 4
        server.start()
        crawl._last_flush = 0
        await crawl.tick()
        assert crawl.waiting == 0
        for number in range(9, PAGES):
            await see(crawl, number)

    drive(crawl, steps)
    (error,) = errors(caplog)
    assert error.endswith("the crawl goes on, its pages wait for the next try")
    check_all(server.url, through[1])


def test_postgresql_that_does_not_answer_for_a_while(
    through: tuple[int, Any], tmp_path: Path, postgresql_server: PrivateServer
) -> None:
    """NOISECLEAN_TEST_SECONDS says for how long."""
    settings = {"NOISECLEAN_SPOOL": str(tmp_path / "spool")}
    crawl = open_crawl(postgresql_server.url, settings)

    async def steps() -> None:
        for number in range(5):
            await see(crawl, number)
        with postgresql_server.stopped():
            waiting = asyncio.gather(*(see(crawl, number) for number in range(5, 9)))
            await asyncio.sleep(float(os.environ.get("NOISECLEAN_TEST_SECONDS", "1")))
        await waiting
        for number in range(9, PAGES):
            await see(crawl, number)

    drive(crawl, steps)
    assert crawl.waiting == 0
    check_all(postgresql_server.url, through[1])


def test_sites_that_left_memory_keep_their_trees(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_cache, "_CLUSTERS_IN_MEMORY", 1)
    crawl = open_crawl(sqlite_url, {})
    hosts = ["a.example", "b.example", "c.example"]

    async def steps() -> None:
        for number in range(7):
            for host in hosts:
                await see(crawl, number, host=host)

    drive(crawl, steps)
    query = "SELECT name, learned, covered FROM noiseclean_cluster ORDER BY name"
    assert read_rows(sqlite_url, query) == [(host, 7, 7) for host in hosts]
    trees = read_rows(
        sqlite_url,
        "SELECT tree.tree FROM noiseclean_tree AS tree JOIN noiseclean_cluster AS cluster "
        "ON cluster.name = tree.cluster AND cluster.version = tree.version",
    )
    assert [SiteCleaner.from_bytes(row[0]).pages for row in trees] == [7, 7, 7]


def test_the_sites_of_a_dead_crawl_get_their_trees(database_url: str) -> None:
    dead = open_crawl(database_url, {})

    async def begin() -> None:
        for number in range(3):
            await see(dead, number, host="dead.example")
            await see(dead, number, host="alive.example")
        await dead._flush()
        dead.writer.store.close()

    asyncio.run(begin())
    run_statement(
        database_url,
        "UPDATE noiseclean_page SET fetched_at = '2020-01-01 00:00:00' "
        "WHERE cluster = 'dead.example'",
    )
    run_until(database_url)
    query = "SELECT name, learned, covered FROM noiseclean_cluster ORDER BY name"
    assert read_rows(database_url, query) == [
        ("a.example", PAGES, PAGES),
        ("alive.example", 3, 0),
        ("dead.example", 3, 3),
    ]


def test_pages_of_the_spool_are_newer_than_those_of_a_clock_that_was_ahead(
    sqlite_url: str, tmp_path: Path
) -> None:
    settings = {"NOISECLEAN_SPOOL": str(tmp_path / "spool"), "NOISECLEAN_BATCH_SIZE": 1}
    asyncio.run(crawl_all(sqlite_url, settings))
    ahead = f"{datetime.now(timezone.utc) + timedelta(days=1):%Y-%m-%d %H:%M:%S}"
    run_statement(sqlite_url, f"UPDATE noiseclean_page SET fetched_at = '{ahead}'")
    crawl = open_crawl(f"{sqlite_url}?timeout=0.05", settings)
    other = sqlite3.connect(tmp_path / "noiseclean.db", isolation_level=None)

    async def steps() -> None:
        other.execute("BEGIN IMMEDIATE")
        response = HtmlResponse("http://a.example/0", body=story(1).encode(), encoding="utf-8")
        await crawl.observe("a.example0000", "a.example", response)
        visit = crawl.visits.of(response)
        assert visit
        await crawl.keep(visit)

    drive(crawl, steps)
    other.execute("ROLLBACK")
    other.close()
    asyncio.run(crawl_all(sqlite_url, settings, ()))
    query = f"SELECT count(*) FROM noiseclean_page WHERE fetched_at >= '{ahead}'"
    assert read_rows(sqlite_url, query) == [(PAGES - 1,)]


def test_a_tree_is_not_grown_for_an_idle_site_with_pages_on_their_way(sqlite_url: str) -> None:
    async def run() -> None:
        crawl = open_crawl(sqlite_url, {"NOISECLEAN_IDLE_SECONDS": 1e-6})
        trees = "SELECT count(*) FROM noiseclean_tree"
        await see(crawl, 0)
        await crawl._flush()
        await see(crawl, 1)
        await crawl._clusters.cover_idle()
        assert read_rows(sqlite_url, trees) == [(0,)]
        await crawl._flush()
        await crawl._clusters.cover_idle()
        assert read_rows(sqlite_url, trees) == [(1,)]
        await close(crawl)

    asyncio.run(run())


def test_an_idle_crawl_writes_what_waits(sqlite_url: str) -> None:
    crawl = open_crawl(sqlite_url, {"NOISECLEAN_BATCH_SIZE": 50})

    async def steps() -> None:
        await see(crawl, 0)
        await crawl.tick()
        assert crawl.waiting == 1
        crawl._last_flush -= 6
        await crawl.tick()
        assert crawl.waiting == 0

    drive(crawl, steps)


def check_what_comes_back(
    crawl: Crawl, url: str, take_away: Callable[[], object], put_back: Callable[[], object]
) -> None:
    """The database is away in the middle of a crawl; nothing stands in its place meanwhile."""
    file = Path(url.removeprefix("sqlite:///"))

    async def steps() -> None:
        for number in range(5):
            await see(crawl, number)
        take_away()
        for number in range(5, 9):
            await see(crawl, number)
            assert not file.exists()
        put_back()
        crawl._last_flush = 0
        for number in range(9, PAGES):
            await see(crawl, number)

    drive(crawl, steps)
    check_state(url)
    assert read_rows(url, "SELECT count(text) FROM noiseclean_page") == [(PAGES,)]


def test_a_crawl_takes_the_disk_that_is_gone(tmp_path: Path) -> None:
    """The folder of the database is moved away and put back in the middle of a crawl."""
    folder, away = tmp_path / "disk", tmp_path / "away"
    folder.mkdir()
    url = f"sqlite:///{folder}/noiseclean.db"
    crawl = open_crawl(url, {"NOISECLEAN_SPOOL": str(tmp_path / "spool.db")})
    check_what_comes_back(
        crawl, url, lambda: shutil.move(folder, away), lambda: shutil.move(away, folder)
    )


def test_a_crawl_takes_back_the_file_that_was_moved_away(tmp_path: Path) -> None:
    """The file alone: its folder stays, and a new one could be made there."""
    folder, away = tmp_path / "disk", tmp_path / "away"
    for one in (folder, away):
        one.mkdir()
    url = f"sqlite:///{folder}/noiseclean.db"
    spool = str(tmp_path / "spool.db")
    crawl = open_crawl(url, {"NOISECLEAN_SPOOL": spool, "NOISECLEAN_BATCH_SIZE": 1})
    check_what_comes_back(
        crawl, url, lambda: move_all(folder, away), lambda: move_all(away, folder)
    )


def move_all(folder: Path, there: Path) -> None:
    for file in list(folder.iterdir()):
        shutil.move(file, there)


def test_a_file_in_the_place_of_another_is_left_alone(tmp_path: Path) -> None:
    url, other = (f"sqlite:///{tmp_path}/{name}.db" for name in ("noiseclean", "other"))
    with Store(other) as store:
        store.pages.write([page("1", "fog")], method="evidence")
    with Store(url) as store:
        assert store.pages.count().pages == 0
        (tmp_path / "noiseclean.db").rename(tmp_path / "old.db")
        (tmp_path / "other.db").rename(tmp_path / "noiseclean.db")
        with pytest.raises(StoreError, match="is another one now"):
            store.pages.write([page("2", "mist")], method="evidence")
        (tmp_path / "noiseclean.db").rename(tmp_path / "other.db")
        (tmp_path / "old.db").rename(tmp_path / "noiseclean.db")
        store.pages.write([page("2", "mist")], method="evidence")
    for url_, key in ((url, "2"), (other, "1")):
        assert read_rows(url_, "SELECT key FROM noiseclean_page") == [(key,)]


def test_a_tree_of_other_options_is_learned_again(sqlite_url: str) -> None:
    settings: dict[str, Any] = {"NOISECLEAN_METHOD": "shingle-template"}
    asyncio.run(crawl_all(sqlite_url, {**settings, "NOISECLEAN_METHOD_OPTIONS": {"links": 3}}))
    settings["NOISECLEAN_METHOD_OPTIONS"] = {"links": 1}
    asyncio.run(crawl_all(sqlite_url, settings, range(PAGES, 2 * PAGES)))
    ((tree,),) = read_rows(
        sqlite_url, "SELECT tree FROM noiseclean_tree ORDER BY version DESC LIMIT 1"
    )
    assert SiteCleaner.from_bytes(tree, links=1).pages == 2 * PAGES


def test_a_database_that_is_deleted_loses_no_page_that_comes_later(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    crawl = open_crawl(url, {"NOISECLEAN_BATCH_SIZE": 1})

    async def steps() -> None:
        for number in range(5):
            await see(crawl, number)
        for file in tmp_path.glob("noiseclean.db*"):
            if file.is_file():
                file.unlink()
        for number in range(5, 9):
            await see(crawl, number)

    drive(crawl, steps)
    asyncio.run(crawl_all(url, {}, ()))
    assert read_rows(url, "SELECT count(text) FROM noiseclean_page") == [(4,)]


def test_a_site_of_a_method_that_is_not_here_holds_up_no_other(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    html = f"<html><body><p>{story_text(1)}</p></body></html>"
    with Store(sqlite_url, store_html=True) as store:
        for cluster, method in (("a.example", "my_package.Mine"), ("b.example", "evidence")):
            record = page(f"k-{cluster}", "Fog", cluster=cluster, html=html, position=1)
            store.pages.write([record], method=method)
    stats = asyncio.run(crawl_all(sqlite_url, {"NOISECLEAN_STORE_HTML": True}, ()))
    query = "SELECT name, covered FROM noiseclean_cluster ORDER BY name"
    assert read_rows(sqlite_url, query) == [("a.example", 0), ("b.example", 1)]
    assert stats["noiseclean/errors"] == 1
    [line] = errors(caplog)
    assert "a.example gets no tree" in line


def test_a_page_of_a_site_whose_method_is_not_here_is_one_error(sqlite_url: str) -> None:
    with Store(sqlite_url) as store:
        store.pages.write([page("k", "Fog", position=1)], method="my_package.Mine")
    crawl = open_crawl(sqlite_url, {})

    async def steps() -> None:
        response = HtmlResponse("http://a.example/0", body=story(0).encode(), encoding="utf-8")
        with pytest.raises(UnknownMethodError, match="name it in NOISECLEAN_METHOD"):
            await crawl.observe("k0", "a.example", response)
        assert "noiseclean/errors" not in crawl.stats.get_stats()  # whoever catches it counts it

    drive(crawl, steps)


def test_a_site_that_is_learned_by_a_method_of_elsewhere_meanwhile_holds_up_no_other(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    crawl = open_crawl(sqlite_url, {"NOISECLEAN_STORE_HTML": True})

    async def steps() -> None:
        for number in range(5):
            await see(crawl, number)
            await see(crawl, number, host="b.example")
        await crawl.tick()
        for table in ("cluster", "tree"):
            name = "name" if table == "cluster" else "cluster"
            run_statement(
                sqlite_url,
                f"UPDATE noiseclean_{table} SET method = 'my_package.Mine', version = version + 1 "
                f"WHERE {name} = 'a.example'",
            )
        await crawl.tick()
        for number in range(5, 8):
            await see(crawl, number, host="b.example")

    drive(crawl, steps)
    query = "SELECT name, learned, covered FROM noiseclean_cluster ORDER BY name"
    assert read_rows(sqlite_url, query)[1] == ("b.example", 8, 8)
    told = [line for line in errors(caplog) if "gets no tree" in line]
    assert len(told) == len(errors(caplog)) == 1


def test_a_text_that_has_lost_its_html_takes_the_place_of_an_older_body_only(
    sqlite_url: str, tmp_path: Path
) -> None:
    asyncio.run(crawl_all(sqlite_url, {"NOISECLEAN_STORE_HTML": True}))
    with Store(sqlite_url) as store:
        same, changed = islice(store.pages.with_text(), 2)
    assert same.cleaned
    poor = Cleaned("", "As the first pages are cleaned.", (), 0, 31, 31)
    bare = [replace(page, html=None, position=None, cleaned=poor) for page in (same, changed)]
    bare[1] = replace(bare[1], body_hash="other")
    Spool(tmp_path / "noiseclean.db-spool").add(bare)

    asyncio.run(crawl_all(sqlite_url, {"NOISECLEAN_STORE_HTML": True}, range(5, 7)))
    query = "SELECT text, clean_version FROM noiseclean_page ORDER BY key LIMIT 2"
    assert read_rows(sqlite_url, query) == [
        (same.cleaned.text, same.cleaned.clean_version),
        (poor.text, 0),
    ]
    html = read_rows(sqlite_url, "SELECT key FROM noiseclean_page_html ORDER BY key")
    assert (same.key,) in html
    assert (changed.key,) not in html


def test_a_page_that_comes_again_while_the_store_refuses_is_learned_once(sqlite_url: str) -> None:
    crawl = open_crawl(sqlite_url, {"NOISECLEAN_SAMPLE_QUOTA": 9})

    async def steps() -> None:
        await see(crawl, 0)
        await crawl.tick()
        for number in (0, 1, 0, 1):
            crawl._pages.refused = True
            await see(crawl, number)
        (cluster,) = crawl.clusters
        assert cluster.learner
        assert cluster.learner.cleaner.pages == 2

    drive(crawl, steps)


def test_pages_that_another_crawl_takes_from_the_spool_are_awaited_no_longer(
    sqlite_url: str,
) -> None:
    crawl = open_crawl(sqlite_url, {"NOISECLEAN_SAMPLE_QUOTA": 50})

    async def steps() -> None:
        for number in range(3):
            crawl._pages.refused = True
            await see(crawl, number)
        assert await crawl._pages.spill()
        await close(open_crawl(sqlite_url, {"NOISECLEAN_SAMPLE_QUOTA": 50}))
        crawl._pages.refused = False
        for number in range(3, 5):
            await see(crawl, number)
        (cluster,) = crawl.clusters
        assert (cluster.unwritten, cluster.learned) == (set(), 5)

    drive(crawl, steps)


def test_provisional_pages_alone_replace_no_tree(sqlite_url: str) -> None:
    asyncio.run(crawl_all(sqlite_url, {"NOISECLEAN_STORE_HTML": False}))
    with Store(sqlite_url) as store:
        new = [
            page(key, "Fog", html=story(50), position=PAGES + number)
            for number, key in enumerate(("x", "y"), 1)
        ]
        store.pages.write(new, method="evidence")
        before = store.clusters.find("a.example")
        assert before
        assert (before.covered, before.learned) == (PAGES, PAGES + 2)
        config = Config(database_url=sqlite_url, method="style-tree")
        with pytest.raises(NotStoredError, match=r"no HTML of .* is stored to learn from"):
            relearn(store, before, config, lambda: None)
        assert store.clusters.find("a.example") == before


def test_how_many_pages_are_learned_again_is_told(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(crawl_all(sqlite_url, {"NOISECLEAN_STORE_HTML": True}))
    kept = "SELECT key FROM noiseclean_page ORDER BY key LIMIT 3"
    run_statement(sqlite_url, f"DELETE FROM noiseclean_page_html WHERE key NOT IN ({kept})")
    with Store(sqlite_url, store_html=True) as store:
        cluster = store.clusters.find("a.example")
        assert cluster
        config = Config(database_url=sqlite_url, method="style-tree")
        relearn(store, cluster, config, lambda: None)
    [told] = [record.getMessage() for record in caplog.records if "again" in record.getMessage()]
    assert told == (
        f"a.example: 3 of its {PAGES} pages are learned again: of the others no HTML is stored"
    )


def test_a_tree_that_was_just_built_is_not_read_back(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def load(store: Store, name: str, config: Config) -> Any:
        loaded.append(name)
        return load_learner(store, name, config)

    monkeypatch.setattr(cluster_cache, "load_learner", load)
    stats = asyncio.run(crawl_all(sqlite_url, {}))
    assert stats["noiseclean/trees/built"] > 1
    assert loaded == []
