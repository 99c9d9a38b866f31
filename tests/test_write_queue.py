"""Pages on their way into the store: what is put back does not hide what came later."""

from __future__ import annotations

import asyncio
import random
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler
from sqlalchemy import Engine, event

from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.spool import Spool
from noiseclean_scrapy.crawl.write_queue import WriteQueue
from noiseclean_scrapy.crawl.writer import Writer
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import Cleaned, PageRecord, Store
from noiseclean_scrapy.store.packing import unpack_page

NOON = datetime(2031, 5, 21, 12, tzinfo=timezone.utc)
BEFORE_ALL_TIMES = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
"""In UTC there is no such time."""
OLD = PageRecord("1", "a.example", "http://a.example/", "0", NOON, 1, "<p>old")
TEXT = Cleaned("", "old", (), 1, 3, 3)


@contextmanager
def open_queue(folder: Path) -> Iterator[WriteQueue]:
    with Store(f"sqlite:///{folder / 'noiseclean.db'}") as store:
        stats = MemoryStatsCollector(get_crawler())
        yield WriteQueue(Config(), stats, Writer(store), Spool(folder / "spool"))


def test_what_is_put_back_stands_below_what_came_since(tmp_path: Path) -> None:
    with open_queue(tmp_path) as pages:
        pages.put_back(OLD)
        assert asyncio.run(pages.find("1")) == OLD
        newer = replace(OLD, body_hash="1", html="<p>new", cleaned=replace(TEXT, text="new"))
        pages.add(newer)
        pages.put_back(replace(OLD, cleaned=TEXT))
        assert asyncio.run(pages.find("1")) == newer
        pages.add(replace(OLD, key="2"))
        pages.put_back(replace(OLD, key="2", cleaned=TEXT))
        assert asyncio.run(pages.find("2")) == replace(OLD, key="2", cleaned=TEXT)


def test_another_body_without_an_item_has_no_text_of_the_one_before(tmp_path: Path) -> None:
    with open_queue(tmp_path) as pages:
        pages.add(replace(OLD, cleaned=TEXT, metadata=Metadata("Ann", None, "en", "", "")))
        dropped = replace(OLD, body_hash="1", html="<p>new")
        pages.add(dropped)
        assert asyncio.run(pages.find("1")) == dropped


def test_a_page_that_comes_again_and_again_takes_room_once(tmp_path: Path) -> None:
    page = replace(OLD, html="x" * 2**20)
    with open_queue(tmp_path) as pages:
        for _ in range(200):
            pages.add(page)
        assert not pages.is_full
        for number in range(200):
            pages.add(replace(page, key=str(number)))
        assert pages.is_full
        asyncio.run(pages.write())
        assert not pages.is_full


def test_a_text_that_has_lost_its_html_is_learned_by_no_tree(tmp_path: Path) -> None:
    with open_queue(tmp_path) as pages:
        pages.room = 0
        pages.spool.path.write_bytes(b"")  # where a folder cannot be
        pages.add(replace(OLD, cleaned=TEXT))
        assert not asyncio.run(pages.spill())
        expected = replace(OLD, html=None, position=None, cleaned=TEXT)
        assert asyncio.run(pages.find("1")) == expected
        _, written = asyncio.run(pages.write())
        assert written.learned == 0


@contextmanager
def full_disk() -> Iterator[None]:
    """No file grows; what is there can be read."""
    limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))


def test_a_page_that_lacks_its_text_alone_is_not_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stored, changed, spooled, new = (replace(OLD, key=key) for key in "1234")
    with open_queue(tmp_path) as pages:
        pages.add(stored)
        pages.add(changed)
        asyncio.run(pages.write())
        pages.add(spooled)
        assert asyncio.run(pages.spill())
        for page in (stored, spooled, new, replace(changed, body_hash="1")):
            pages.add(replace(page, cleaned=TEXT))
        with full_disk():
            asyncio.run(pages.close())
        assert pages.stats.get_value("noiseclean/pages/lost") == 2
    assert caplog.messages[-3:-1] == [
        "2 pages could not be stored and are lost",
        "What came last of 2 pages, such as a text, could not be stored",
    ]


def test_a_page_that_is_written_while_the_store_is_asked_for_it_is_found(tmp_path: Path) -> None:
    asking, written = threading.Event(), threading.Event()

    def wait_after_reading(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        is_read = statement.startswith("SELECT") and "FROM noiseclean_page" in statement
        if is_read and not asking.is_set():
            asking.set()
            written.wait(30)

    async def ask_and_write(pages: WriteQueue) -> PageRecord | None:
        asked = asyncio.create_task(pages.find(OLD.key))
        await asyncio.to_thread(asking.wait, 30)
        pages.add(OLD)
        await pages.write()
        assert OLD.key not in pages
        written.set()
        return await asked

    with open_queue(tmp_path) as pages:
        event.listen(Engine, "after_cursor_execute", wait_after_reading)
        try:
            found = asyncio.run(ask_and_write(pages))
        finally:
            event.remove(Engine, "after_cursor_execute", wait_after_reading)
    assert found
    assert found.url == OLD.url


@pytest.mark.parametrize("from_spool", [False, True])
def test_a_page_whose_values_are_refused_costs_itself_alone(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, from_spool: bool
) -> None:
    bad = replace(OLD, key="4", url="http://b.example/", fetched_at=BEFORE_ALL_TIMES)
    if database_url.startswith("postgresql"):  # SQLite takes any key
        bad = replace(bad, key=random.Random(0).randbytes(2500).hex(), fetched_at=NOON)
    with Store(database_url) as store:
        stats = MemoryStatsCollector(get_crawler())
        pages = WriteQueue(Config(), stats, Writer(store), Spool(tmp_path / "spool"))
        for record in (*(replace(OLD, key=key) for key in "12356"), bad):
            pages.add(record)
        if from_spool:
            assert asyncio.run(pages.spill())
        _, written = asyncio.run(pages.write())
        assert written.learned == 5
        assert len(pages) == 0
        assert pages.stats.get_value("noiseclean/store/errors") == 1
        pages.add(replace(OLD, key="7"))
        asyncio.run(pages.write())
        assert store.pages.count().pages == 6
    (file,) = (tmp_path / "spool").iterdir()
    assert file.suffix == ".refused"
    assert unpack_page(file.read_bytes()) == bad
    (said,) = [line for line in caplog.messages if "could not be stored" in line]
    assert said.startswith(f"http://b.example/ could not be stored, and is now {file}: ")


def test_a_refused_page_that_cannot_be_kept_is_counted_as_lost(tmp_path: Path) -> None:
    with open_queue(tmp_path) as pages:
        pages.spool.path.write_bytes(b"")  # where a folder cannot be
        pages.add(OLD)
        pages.add(replace(OLD, key="2", fetched_at=BEFORE_ALL_TIMES))
        asyncio.run(pages.write())
        assert (len(pages), pages.stats.get_value("noiseclean/pages/lost")) == (0, 1)
