"""A PostgreSQL that takes all and answers nothing: a crawl tells it, goes on, and can be ended."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, make_url, text

from noiseclean_scrapy.crawl.session import Crawl
from noiseclean_scrapy.store import Patience, Store
from noiseclean_scrapy.store.patience import SILENCE_SECONDS
from noiseclean_scrapy.store.preparing import await_turn
from tests.support.command_line import environment, run_module
from tests.support.crawl_site import Pages, serve, story
from tests.support.crawling import ASYNCIO, SELECT
from tests.support.databases import connected, read_rows
from tests.support.fault_points import PAGES, check_state, close, errors, open_crawl, see
from tests.support.silent_proxy import SilentProxy, silent_proxy

SHORT = 0.3
MOMENT = 0.05


@pytest.fixture
def proxy(postgresql_url: str) -> Iterator[SilentProxy]:
    """A proxy before an empty schema; psycopg waits two seconds for a connection at least."""
    url = make_url(postgresql_url).update_query_dict({"connect_timeout": "2"})
    with silent_proxy(url.render_as_string(hide_password=False)) as proxy:
        yield proxy


async def write_all(crawl: Crawl) -> None:
    """Try again until nothing waits."""
    while crawl.waiting:
        crawl._last_flush = 0
        await crawl.tick()
        await asyncio.sleep(MOMENT)


@pytest.mark.parametrize("takes_logins", [False, True])
def test_a_database_that_answers_nothing_is_told_and_pages_wait(
    proxy: SilentProxy, tmp_path: Path, caplog: pytest.LogCaptureFixture, *, takes_logins: bool
) -> None:
    patience = Patience()
    settings = {"NOISECLEAN_SPOOL": str(tmp_path / "spool")}
    crawl = open_crawl(proxy.url, settings, patience)
    crawl._pages.room = 2

    async def run() -> None:
        for number in range(5):
            await see(crawl, number)
        proxy.fall_silent(takes_logins=takes_logins)
        patience.seconds = SHORT
        for number in range(5, 9):
            await see(crawl, number)
            crawl._last_flush = 0
        assert crawl._pages.spool.pages >= 4
        proxy.speak()
        patience.seconds = SILENCE_SECONDS
        await asyncio.wait_for(write_all(crawl), 60)
        for number in range(9, PAGES):
            await see(crawl, number)
        await close(crawl)

    asyncio.run(run())
    (error,) = errors(caplog)
    assert error.endswith("the crawl goes on, its pages wait for the next try")
    assert (f"it has answered nothing for {SHORT} s" if takes_logins else "timeout") in error
    check_state(proxy.url)
    assert read_rows(proxy.url, "SELECT count(text) FROM noiseclean_page") == [(PAGES,)]


@pytest.mark.parametrize("moment", ["INSERT INTO noiseclean_page ", "UPDATE", "COMMIT"])
def test_silence_in_the_middle_of_a_write_loses_nothing(
    proxy: SilentProxy, tmp_path: Path, caplog: pytest.LogCaptureFixture, moment: str
) -> None:
    patience = Patience()
    settings = {
        "NOISECLEAN_SPOOL": str(tmp_path / "spool"),
        "NOISECLEAN_BATCH_SIZE": 100,
        "NOISECLEAN_SAMPLE_QUOTA": 100,
    }
    crawl = open_crawl(proxy.url, settings, patience)

    def fall_silent(*given: Any) -> None:
        if moment in ("COMMIT", *(one[: len(moment)] for one in given if isinstance(one, str))):
            patience.seconds = SHORT
            proxy.fall_silent()

    async def run() -> None:
        for number in range(PAGES):
            await see(crawl, number)
        name = "commit" if moment == "COMMIT" else "before_cursor_execute"
        event.listen(Engine, name, fall_silent)
        try:
            await crawl._flush()
        finally:
            event.remove(Engine, name, fall_silent)
        assert crawl.waiting == PAGES
        proxy.speak()
        patience.seconds = SILENCE_SECONDS
        await asyncio.wait_for(write_all(crawl), 60)
        await close(crawl)

    asyncio.run(run())
    (error,) = errors(caplog)
    assert f"it has answered nothing for {SHORT} s" in error
    assert not [record for record in caplog.records if record.name.startswith("psycopg")]
    check_state(proxy.url)
    assert read_rows(proxy.url, "SELECT count(text) FROM noiseclean_page") == [(PAGES,)]


def test_a_site_that_another_holds_for_too_long_is_tried_again(
    postgresql_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    patience = Patience()
    crawl = open_crawl(postgresql_url, {}, patience)

    async def run() -> None:
        for number in range(6):
            await see(crawl, number)
        with connected(postgresql_url) as other:
            other.execute(text("SELECT * FROM noiseclean_cluster FOR UPDATE"))
            patience.seconds = SHORT
            for number in range(6, PAGES):
                await see(crawl, number)
            assert crawl.waiting
        patience.seconds = SILENCE_SECONDS
        await asyncio.wait_for(write_all(crawl), 60)
        await close(crawl)

    asyncio.run(run())
    assert f"it has answered nothing for {SHORT} s" in errors(caplog)[0]
    check_state(postgresql_url)
    assert read_rows(postgresql_url, "SELECT count(text) FROM noiseclean_page") == [(PAGES,)]


def waiting_for_a_lock(connection: Connection) -> int:
    """How many sessions of the connection's user and schema wait for our turn to prepare it."""
    query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    number: int = connection.execute(text(query)).scalar_one()
    return number


def test_tables_may_take_longer_to_be_made(postgresql_url: str) -> None:
    with ThreadPoolExecutor() as pool:
        with connected(postgresql_url) as other:
            await_turn(other)
            opening = pool.submit(Store, postgresql_url, patience=Patience(SHORT))
            while not opening.done() and not waiting_for_a_lock(other):
                sleep(MOMENT)
            sleep(3 * SHORT)
            assert not opening.done()
        opening.result().close()


SPIDER = """
import scrapy

class Chain(scrapy.Spider):
    name = "chain"
    custom_settings = {"ADDONS": {"noiseclean_scrapy.Addon": 300}}

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"text": None}
        yield from response.follow_all(css=".next")
"""

WAYS: dict[str, dict[str, Any]] = {
    "asyncio": {"TWISTED_REACTOR": ASYNCIO},
    "twisted": {"TWISTED_REACTOR": SELECT},
    "reactorless": {"TWISTED_REACTOR_ENABLED": False},
    "process": {"NOISECLEAN_WRITER_PROCESS": True},
}


def crawl_command(way: str, url: str, settings: dict[str, Any]) -> list[str]:
    """Module and arguments of a crawl by a spider, or by the add-on's own command."""
    settings = {**settings, **WAYS.get(way, {})}
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    if way == "command":
        given += ["-s", "AUTOTHROTTLE_ENABLED=0", "--delay", "0", "-L", "DEBUG"]
        return ["noiseclean_scrapy", "crawl", url, *given]
    return ["scrapy", "runspider", "chain.py", "-a", f"url={url}", *given]


@pytest.mark.slow
@pytest.mark.parametrize("takes_logins", [False, True])
@pytest.mark.parametrize("way", [*WAYS, "command"])
def test_a_second_interrupt_ends_a_crawl_whose_database_answers_nothing(
    proxy: SilentProxy, tmp_path: Path, way: str, *, takes_logins: bool
) -> None:
    """It ends long before the crawl would lose its patience, and the next one writes its pages."""
    (tmp_path / "chain.py").write_text(SPIDER)
    is_silent = Event()

    def third(_visit: int) -> str:
        is_silent.wait(60)
        return story(2)

    def before(number: int) -> str:
        link = f"<ul><a class='next' href='/{number + 1}'>Next</a>"
        return story(number).replace("<ul>", link)

    settings = {
        "NOISECLEAN_DATABASE_URL": proxy.url,
        "NOISECLEAN_SPOOL": str(tmp_path / "spool"),
        "NOISECLEAN_BATCH_SIZE": 3,
        "NOISECLEAN_BATCH_SECONDS": 600,
        "NOISECLEAN_METADATA": 0,
        "TELNETCONSOLE_ENABLED": 0,
    }
    pages: Pages = {"/0": before(0), "/1": before(1), "/2": third, "/3": story(3)}
    with serve(pages) as server:
        with crawling(tmp_path, crawl_command(way, f"{server.url}/0", settings)) as process:
            assert process.stderr
            assert any("Scraped from" in line and "/1>" in line for line in process.stderr)
            proxy.fall_silent(takes_logins=takes_logins)
            is_silent.set()
            told = interrupt(process, proxy, times=2)
        assert "wait in" in told
        proxy.speak()
        again = crawl_command(way, f"{server.url}/3", settings)
        run_module(tmp_path, *again)
    rows = read_rows(proxy.url, "SELECT url FROM noiseclean_page")
    assert {(f"{server.url}/{number}",) for number in (0, 1, 3)} <= set(rows)
    assert len(set(rows)) == len(rows)
    assert not list((tmp_path / "spool").iterdir())


@pytest.mark.slow
def test_an_interrupt_ends_a_crawl_that_waits_for_its_database_to_open(
    proxy: SilentProxy, tmp_path: Path
) -> None:
    """The first one does: Scrapy waits for no spider that is not opened yet."""
    (tmp_path / "chain.py").write_text(SPIDER)
    proxy.fall_silent(takes_logins=True)
    settings = {"NOISECLEAN_DATABASE_URL": proxy.url, "TELNETCONSOLE_ENABLED": 0}
    with crawling(tmp_path, crawl_command("asyncio", "http://127.0.0.1:1/", settings)) as process:
        interrupt(process, proxy, times=1)
    assert not (tmp_path / "spool").exists()


@contextmanager
def crawling(folder: Path, command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A crawl in a process of its own, which does not outlive a test that fails."""
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", *command],
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def interrupt(process: subprocess.Popen[str], proxy: SilentProxy, *, times: int) -> str:
    """Interrupt a crawl while it waits for an answer; its last lines, once it has ended."""
    assert process.stderr
    assert proxy.is_asked.wait(60)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        assert any("Received SIGINT" in line for line in process.stderr)
    told = process.communicate(timeout=60)[1]
    assert "Traceback" not in told
    return told
