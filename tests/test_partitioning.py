"""Tables in parts: created in an empty PostgreSQL database, and then a database like any other."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from noiseclean_scrapy.errors import ConfigurationError, StoreError
from noiseclean_scrapy.store import Store
from noiseclean_scrapy.store.partitioning import create_parts
from tests.support.command_line import ROOT, noiseclean
from tests.support.databases import postgresql_schema, read_rows
from tests.support.fault_points import PAGES, check_state, crawl_all, result

SITE = "a.example"
PARTS = "SELECT relname, reloptions FROM pg_class WHERE relispartition AND relkind = 'r' " + (
    "AND relnamespace = CAST(current_schema() AS regnamespace) ORDER BY relname"
)
OF_THE_STORE = [f"tests/test_{name}.py" for name in ("store", "store_pages", "search", "index")]


def test_a_crawl_leaves_the_same_as_with_tables_in_one_piece(
    postgresql_url: str, tmp_path: Path
) -> None:
    create_parts(postgresql_url, 4, {"fillfactor": "70"})
    parts = read_rows(postgresql_url, PARTS)
    assert [name for name, _ in parts] == [
        f"{table}_{number}"
        for table in ("noiseclean_page", "noiseclean_page_html", "noiseclean_search")
        for number in range(4)
    ]
    assert {name for name, options in parts if options == ["fillfactor=70"]} == {
        f"noiseclean_page_{number}" for number in range(4)
    }
    plain = f"sqlite:///{tmp_path / 'plain.db'}"
    for url in (plain, postgresql_url):
        asyncio.run(crawl_all(url, {}))
    check_state(postgresql_url)
    assert result(postgresql_url) == result(plain)
    rows = [
        read_rows(postgresql_url, f"SELECT count(*) FROM ONLY noiseclean_page_{number}")[0][0]
        for number in range(4)
    ]
    assert sum(rows) == PAGES
    assert sum(map(bool, rows)) > 1
    with Store(postgresql_url, store_html=True) as store:
        assert store.search("story OR the").total == PAGES
        assert store.clusters.delete(SITE) == PAGES
    assert read_rows(postgresql_url, "SELECT count(*) FROM noiseclean_page_html") == [(0,)]
    assert read_rows(postgresql_url, "SELECT count(*) FROM noiseclean_search") == [(0,)]


@pytest.mark.night
def test_the_tests_of_the_store_hold_with_parts(postgresql_url: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-k", "postgresql", "-p"]
    done = subprocess.run(
        [*command, "no:cacheprovider", *OF_THE_STORE],
        cwd=ROOT,
        env={**os.environ, "NOISECLEAN_TEST_PARTS": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_the_command(postgresql_url: str, tmp_path: Path) -> None:
    where = ("--database", postgresql_url)
    storage = ("--storage", "fillfactor=80", "--storage", "autovacuum_vacuum_scale_factor=0.02")
    done = noiseclean(tmp_path, "partition", "--parts", "2", *storage, *where)
    assert done.stderr.endswith("has its tables in 2 parts.\n")
    [options] = {tuple(o) for name, o in read_rows(postgresql_url, PARTS) if o}
    assert options == ("fillfactor=80", "autovacuum_vacuum_scale_factor=0.02")
    done = noiseclean(tmp_path, "partition", *where, code=1)
    assert "has tables of a store already: name an empty database" in done.stderr


def test_what_cannot_be_parted_is_refused(postgresql_url: str, sqlite_url: str) -> None:
    with pytest.raises(StoreError, match="for PostgreSQL alone"):
        create_parts(sqlite_url, 4, {})
    with pytest.raises(StoreError, match='unrecognized parameter "mood"'):
        create_parts(postgresql_url, 4, {"mood": "70"})
    for name, value in (("fillfactor", "70); DROP TABLE a"), ("a b", "1"), ("", "")):
        with pytest.raises(ConfigurationError, match="no storage parameter"):
            create_parts(postgresql_url, 4, {name: value})
    for parts in (0, 5000):
        with pytest.raises(ConfigurationError, match="1 to 1024 parts"):
            create_parts(postgresql_url, parts, {})
    assert read_rows(postgresql_url, PARTS) == []  # nothing is left half made
    Store(postgresql_url).close()
    with pytest.raises(StoreError, match="has tables of a store already"):
        create_parts(postgresql_url, 4, {})


@pytest.fixture
def other_url() -> Iterator[str]:
    with postgresql_schema() as url:
        yield url


def test_rows_can_be_moved_into_parts(postgresql_url: str, other_url: str, tmp_path: Path) -> None:
    """As docs/postgresql.md says, by the programs of PostgreSQL."""
    if not shutil.which("pg_dump"):
        pytest.skip("there is no pg_dump")
    asyncio.run(crawl_all(postgresql_url, {}))
    create_parts(other_url, 4, {})
    urls = (postgresql_url, other_url)
    old, new = (str(make_url(url).query["options"]).removeprefix("-csearch_path=") for url in urls)
    address = make_url(postgresql_url).set(drivername="postgresql", query={})
    place = address.render_as_string(hide_password=False)
    left_out = ("-n", old, "-T", f"{old}.noiseclean_schema")
    dump = ["pg_dump", "--data-only", *left_out, place]
    dumped = subprocess.run(dump, capture_output=True, check=True)
    restore = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-1", place]
    rows = dumped.stdout.replace(old.encode(), new.encode())
    subprocess.run(restore, input=rows, capture_output=True, check=True)
    assert result(other_url) == result(postgresql_url)
    asyncio.run(crawl_all(other_url, {}))
    check_state(other_url)
