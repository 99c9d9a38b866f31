"""What a power cut leaves of an SQLite database: a state that the crawl has been in."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from noiseclean_scrapy.store import Store
from tests.support.databases import read_rows
from tests.support.fault_points import PAGES, at_writes, check_state, crawl_all, run_until


def test_sqlite_is_told_to_keep_a_log_and_to_synchronise_it(sqlite_url: str) -> None:
    with Store(sqlite_url) as store, store._database._engine.connect() as connection:
        told = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    # NORMAL: the log is synchronised before it goes into the file, not at every commit.
    assert told == ["wal", 1, 1]


@pytest.mark.slow
def test_what_was_not_synchronised_may_be_lost(sqlite_url: str, tmp_path: Path) -> None:
    """The file as it is at some writes of a crawl, and the log without its end."""
    chance = random.Random(1)
    file, copies = tmp_path / "noiseclean.db", tmp_path / "copies"
    copies.mkdir()
    points: list[Path] = []

    def copy() -> None:
        if not file.exists() or chance.random() > 0.15:
            return
        here = copies / f"{len(points)}.db"
        shutil.copy(file, here)
        log = Path(f"{file}-wal")
        if log.exists():
            data = log.read_bytes()
            Path(f"{here}-wal").write_bytes(data[: chance.randrange(len(data) + 1)])
        points.append(here)

    with at_writes(copy):
        asyncio.run(crawl_all(sqlite_url, {}))
    assert len(points) > 10
    pages = set()
    for here in points:
        with sqlite3.connect(here) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
        url = f"sqlite:///{here}"
        Store(url).close()
        check_state(url)
        [(count,)] = read_rows(url, "SELECT count(*) FROM noiseclean_page")
        pages.add(count)
    assert len(pages) > 3
    last = f"sqlite:///{points[len(points) // 2]}"
    run_until(last)
    check_state(last)
    assert read_rows(last, "SELECT count(text) FROM noiseclean_page") == [(PAGES,)]
