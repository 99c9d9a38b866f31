"""Damage in the database: a damaged row is one damaged row, and all else goes on."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from noiseclean_scrapy.errors import DamagedError, StoreError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.report.site_report import site_report
from noiseclean_scrapy.store import NewTree, PageRecord, Store
from noiseclean_scrapy.store.pages import ORDERS
from noiseclean_scrapy.store.schema import page_table
from tests.support.command_line import noiseclean
from tests.support.crawl_site import story_text
from tests.support.databases import connected, newest_tree, read_rows, run_statement
from tests.support.fault_points import PAGES, crawl_all, errors, open_crawl, see
from tests.support.flipped_bits import SITE, damage, make_database, use
from tests.support.searching import page, write

KEY = f"{SITE}0003"
LARGEST = (1 << 31) - 1
"""What a column of PostgreSQL holds at most."""
BOMB = zlib.compress(b"<p>" + bytes(100_000_000))
GARBAGE = b"x\x9c no zlib at all"
BLOCKS: list[Any] = [
    [1],
    {"names": []},
    "text",
    [{"text": 5}],
    [{"score": 10**4000}],
    [{"score": float("nan")}],
]
# Of SQLite, whose columns take values of any type.
WRONG = [
    ("fetched_at", "long ago"),
    ("fetched_at", 5),
    ("position", "first"),
    ("learned_version", b"1"),
    ("learned_version", -1),
    ("visible_characters", (1 << 63) - 1),
    ("kept_characters", -1),
    ("clean_version", "new"),
    ("fit", "well"),
    ("title", b"T"),
    ("text", b"7"),
    ("language", b"en"),
    ("url", b"http"),
    *(("blocks", zlib.compress(json.dumps(value).encode())) for value in BLOCKS),
    ("blocks", GARBAGE),
    ("blocks", "text"),
    ("blocks", b""),
    ("blocks", 1 << 62),
    ("blocks", zlib.compress(b"[" + b"[]," * (1 << 23) + b"[]]")),
]

NOT_TOLD = {"key", "cluster", "published"}
"""Columns that have tests of their own, and a time that need not be there: what is none is None."""


def change(url: str, table: str, column: str, value: object, key: str = KEY) -> None:
    """Put a value into a row, past the code under test."""
    with connected(url) as connection:
        name = "name" if table == "noiseclean_cluster" else "key"
        statement = text(f"UPDATE {table} SET {column} = :value WHERE {name} = :key")
        assert connection.execute(statement, {"value": value, "key": key}).rowcount == 1


def crawl(url: str, *numbers: int) -> dict[str, Any]:
    """Visit pages of a site that is known; the stats."""
    return asyncio.run(crawl_all(url, {}, numbers, is_known=True))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with all kinds of rows."""
    return make_database(tmp_path_factory.mktemp("whole") / "whole.db")


@pytest.mark.parametrize(("column", "value"), WRONG)
def test_a_damaged_row_is_one_damaged_row(
    sqlite_url: str,
    tmp_path: Path,
    whole: bytes,
    caplog: pytest.LogCaptureFixture,
    column: str,
    value: object,
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    change(sqlite_url, "noiseclean_page", column, value)
    check_one_damaged_page(sqlite_url, caplog)


@pytest.mark.parametrize("column", sorted({*page_table.c.keys()} - NOT_TOLD))
def test_each_column_tells_a_value_of_another_type(
    sqlite_url: str, tmp_path: Path, whole: bytes, column: str
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    for name in {field.name for field in fields(Metadata)} - NOT_TOLD:
        change(sqlite_url, "noiseclean_page", name, "")
    with Store(sqlite_url) as store:
        assert list(store.pages.damaged()) == []
    change(sqlite_url, "noiseclean_page", column, b"\xff")
    with Store(sqlite_url) as store:
        assert [page.key for page in store.pages.damaged()] == [KEY]


def test_blocks_that_cannot_be_read_cost_their_page(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(crawl_all(database_url, {}))
    change(database_url, "noiseclean_page", "blocks", GARBAGE)
    check_one_damaged_page(database_url, caplog)


def check_one_damaged_page(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()
    with Store(url) as store:
        for _ in range(2):
            assert len(list(store.pages.with_text())) == PAGES - 1
        [said] = errors(caplog)
        assert said.startswith(f"The stored page {KEY} cannot be read")
        with pytest.raises(DamagedError, match=KEY):
            store.pages.find(KEY)
        assert [page.key for page in store.pages.damaged()] == [KEY]
        assert store.clusters.summaries()[0].pages == PAGES
        assert store.search("story OR the").total >= 0
        assert all(hit.text for hit in (page.cleaned for page in store.pages.with_text()) if hit)
        assert len(list(store.pages.with_html(SITE))) == PAGES - 1
    caplog.clear()
    stats = crawl(url, 2, 3, PAGES)
    assert [line for line in errors(caplog) if KEY in line] == errors(caplog)
    assert len(errors(caplog)) == 1
    assert stats["noiseclean/pages/damaged"] == 1
    with Store(url) as store:
        assert not list(store.pages.damaged())
        texts = [page.cleaned.text for page in store.pages.with_text() if page.cleaned]
        assert texts == [story_text(number) for number in range(PAGES + 1)]


@pytest.mark.parametrize("html", [GARBAGE, BOMB])
def test_html_that_cannot_be_read_is_fetched_again(
    database_url: str, caplog: pytest.LogCaptureFixture, html: bytes
) -> None:
    asyncio.run(crawl_all(database_url, {"NOISECLEAN_STORE_HTML": True}))
    change(database_url, "noiseclean_page_html", "html", html)
    with Store(database_url, store_html=True) as store:
        with pytest.raises(DamagedError, match=KEY):
            store.pages.html(KEY)
        assert len(errors(caplog)) == 1
        assert len(list(store.pages.with_html(SITE))) == PAGES - 1
        assert list(store.pages.clean_again(SITE, lambda page: page.cleaned)) == [PAGES - 1]
        assert len(errors(caplog)) == 1
        assert len(list(store.pages.with_text())) == PAGES
        assert store.pages.html(KEY) is None
    crawl(database_url, 3)
    with Store(database_url, store_html=True) as store:
        assert "<html" in (store.pages.html(KEY) or "")
        assert len(list(store.pages.with_html(SITE))) == PAGES


@pytest.mark.parametrize(
    "name", ["../../etc/x", f"site=../../{'0' * 32}.zst", f"site=*/{'0' * 32}"]
)
def test_what_names_no_object_of_ours_is_damage(
    sqlite_url: str, tmp_path: Path, whole: bytes, name: str
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    change(sqlite_url, "noiseclean_page_html", "html", f"object:{name}".encode())
    with Store(sqlite_url) as store:
        with pytest.raises(DamagedError, match=KEY):
            store.pages.html(KEY)
        assert [page.key for page in store.pages.damaged()] == [KEY]
        assert "names no object" in next(iter(store.pages.damaged())).reason


@pytest.mark.parametrize("key", [b"\xff\x41", b"a\0", b"\xf4\x90\x80\x80"])
def test_a_damaged_key_is_one_damaged_page(
    sqlite_url: str, tmp_path: Path, whole: bytes, key: bytes
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    with connected(sqlite_url) as connection:
        connection.execute(text("PRAGMA foreign_keys = OFF"))
        for table in ("noiseclean_page", "noiseclean_page_html", "noiseclean_search"):
            statement = text(f"UPDATE {table} SET key = CAST(:new AS TEXT) WHERE key = :key")
            connection.execute(statement, {"new": key, "key": KEY})
        connection.commit()
    with Store(sqlite_url) as store:
        # Others that begin alike come after it.
        others: dict[str, Any] = {"cluster": "b.example", "html": "<p>x"}
        write(store, *(page(f"a{n}", "", position=10 + n, **others) for n in range(60)))
        assert len(list(store.pages.with_text())) == PAGES - 1 + 60
        [found] = store.pages.damaged()
        assert found.key.encode() == key.decode("utf-8", "replace").encode()
        assert len(list(store.pages.with_html(SITE))) == PAGES - 1
        assert len(list(store.pages.provisional("b.example"))) == 60
        store.pages.forget_damaged([page.key for page in store.pages.damaged()])
        assert list(store.pages.damaged()) == []
        assert list(store.index_missing()) == []
    assert read_rows(sqlite_url, "SELECT count(*) FROM noiseclean_page") == [(PAGES + 59,)]


def test_a_tree_grows_over_html_that_cannot_be_read(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def provisional() -> None:
        running = open_crawl(database_url, {"NOISECLEAN_SAMPLE_QUOTA": 99})
        for number in range(5):
            await see(running, number)
        await running._flush()
        running.writer.store.close()

    asyncio.run(provisional())
    change(database_url, "noiseclean_page_html", "html", GARBAGE)
    crawl(database_url, 5)
    assert [line for line in errors(caplog) if KEY in line]
    query = "SELECT key FROM noiseclean_page WHERE learned_version IS NULL"
    assert read_rows(database_url, query) == [(KEY,)]
    crawl(database_url, 3)
    assert read_rows(database_url, query) == []
    assert read_rows(database_url, "SELECT count(text) FROM noiseclean_page") == [(6,)]


@pytest.mark.parametrize(
    ("column", "value"),
    [("version", "new"), ("learned", b"9"), ("covered", "all"), ("method", b"5"), ("learned", 1.5)],
)
def test_the_row_of_a_site_is_made_anew(
    sqlite_url: str, tmp_path: Path, whole: bytes, column: str, value: object
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    query = "SELECT * FROM noiseclean_cluster"
    before = read_rows(sqlite_url, query)
    change(sqlite_url, "noiseclean_cluster", column, value, SITE)
    with Store(sqlite_url) as store:
        with pytest.raises(DamagedError, match="is damaged"):
            store.clusters.find(SITE)
        assert (store.clusters.all(), store.clusters.damaged()) == ([], [SITE])
        store.clusters.mend(SITE)
        assert read_rows(sqlite_url, query) == before
    change(sqlite_url, "noiseclean_cluster", column, value, SITE)
    crawl(sqlite_url, 0, PAGES)
    with Store(sqlite_url) as store:
        [site] = store.clusters.all()
    assert (site.learned, site.covered) == (PAGES + 1, PAGES + 1)
    assert site.method == "evidence"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("learned", LARGEST),
        ("version", LARGEST),
        ("covered", LARGEST),
        ("learned", -LARGEST),
        ("learned", PAGES - 1),
        ("version", 1),
        ("version", 99),
    ],
)
def test_the_row_of_a_site_with_numbers_that_cannot_be_is_made_anew(
    database_url: str, tmp_path: Path, column: str, value: int
) -> None:
    asyncio.run(crawl_all(database_url, {}))
    query = "SELECT * FROM noiseclean_cluster"
    before = read_rows(database_url, query)
    command = ("check", "--database", database_url)
    change(database_url, "noiseclean_cluster", column, value, SITE)
    assert noiseclean(tmp_path, *command, code=1).stdout.startswith(f"site {SITE}: ")
    noiseclean(tmp_path, *command, "--repair")
    assert noiseclean(tmp_path, *command).stdout == ""
    assert read_rows(database_url, query) == before


@pytest.mark.parametrize("column", ["learned", "version", "covered"])
def test_a_site_with_a_number_that_cannot_be_costs_no_other_its_pages(
    database_url: str, column: str
) -> None:
    asyncio.run(crawl_all(database_url, {}))
    is_sqlite = database_url.startswith("sqlite")
    largest = (1 << 63) - 1 if is_sqlite else LARGEST
    change(database_url, "noiseclean_cluster", column, largest, SITE)
    with Store(database_url) as store:
        new = page("k", "Fog", cluster=SITE, position=1)
        write(store, new, page("l", "Fog", cluster="b.example", position=1))
        found = {site.name: (site.learned, site.covered) for site in store.clusters.all()}
    assert found == {SITE: (PAGES + 1, PAGES), "b.example": (1, 0)}
    change(database_url, "noiseclean_cluster", column, largest, SITE)
    before = newest_tree(database_url)
    crawl(database_url, *range(PAGES, PAGES + 6))
    assert newest_tree(database_url) != before


@pytest.mark.parametrize("position", [-1, LARGEST])
def test_a_position_that_cannot_be_counts_for_no_site(database_url: str, position: int) -> None:
    asyncio.run(crawl_all(database_url, {}))
    query = "SELECT * FROM noiseclean_cluster"
    before = read_rows(database_url, query)
    change(database_url, "noiseclean_page", "position", position)
    change(database_url, "noiseclean_cluster", "learned", LARGEST, SITE)
    with Store(database_url) as store:
        store.clusters.mend(SITE)
        assert [page.key for page in store.pages.damaged()] == [KEY]
    assert read_rows(database_url, query) == before


def test_positions_that_cannot_be_keep_no_site_from_a_tree(database_url: str) -> None:
    html = "<p>A ferry sails to the northern isles."
    with Store(database_url) as store:
        write(store, *(page(f"k{number}", "", position=number, html=html) for number in (1, 2, 3)))
        wrong = f"UPDATE noiseclean_page SET position = {LARGEST} WHERE key <> 'k1'"
        run_statement(database_url, wrong)
        store.clusters.mend("a.example")

        def train(_: object, keys: list[str], found: Iterator[PageRecord]) -> NewTree:
            assert ([page.key for page in found], keys) == (["k1"], ["k1"])
            return NewTree("evidence", b"tree", lambda page: page.cleaned)

        made = store.clusters.add_tree("a.example", method="evidence", limit=1, train=train)
        assert (made.cleaned, made.cluster.version, made.cluster.covered) == (("k1",), 1, 0)


def test_a_site_made_anew_waits_for_no_page_without_html(sqlite_url: str) -> None:
    html = "<p>A ferry sails to the northern isles."
    with Store(sqlite_url) as store:
        write(store, page("1", "", position=1, html=html), page("2", "", position=2, html=html))
        run_statement(sqlite_url, "DELETE FROM noiseclean_page_html WHERE key = '1'")
        run_statement(sqlite_url, "UPDATE noiseclean_cluster SET covered = 'all'")
        store.clusters.mend("a.example")
        [site] = store.clusters.all()
    assert (site.learned, site.covered) == (2, 1)


def test_check_lists_and_forgets_what_cannot_be_read(
    sqlite_url: str, tmp_path: Path, whole: bytes
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    command = ("check", "--database", sqlite_url)
    noiseclean(tmp_path, *command)
    change(sqlite_url, "noiseclean_page", "blocks", GARBAGE)
    change(sqlite_url, "noiseclean_page_html", "html", b"", key=f"{SITE}0004")
    run_statement(sqlite_url, "UPDATE noiseclean_tree SET tree = 'T' WHERE tree IS NOT NULL")
    done = noiseclean(tmp_path, *command, code=1)
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
        f"page {KEY}",
        f"page {SITE}0004",
        f"tree {SITE}",
    ]
    noiseclean(tmp_path, *command, "--repair")
    assert noiseclean(tmp_path, *command).stdout == ""
    with Store(sqlite_url) as store:
        assert {page.key for page in store.pages.with_text()} == {
            f"{SITE}{number:04}" for number in range(PAGES) if number != 3
        }


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits_raise_documented_errors_only(tmp_path: Path, whole: bytes, seed: int) -> None:
    """All of 200: python -m tests.support.flipped_bits."""
    chance = random.Random(seed)
    for _ in range(5):
        raised = use(tmp_path, damage(whole, chance))
        assert raised.keys() <= {"DamagedError", "StoreError", "TreeDataError"}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("fetched_at", "x"),
        ("fit", "x"),
        ("fit", inf),
        ("visible_characters", "x"),
        ("visible_characters", (1 << 63) - 1),
        ("kept_characters", -1),
        ("url", b"x"),
        ("title", b"x"),
        ("cluster", b"x"),
    ],
)
def test_listings_go_on_without_a_damaged_row(
    sqlite_url: str, tmp_path: Path, whole: bytes, column: str, value: object
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    change(sqlite_url, "noiseclean_page", column, value)
    with Store(sqlite_url) as store:
        lines = store.pages.lines()
        assert [line.key for line in lines if line.key != KEY] == [line.key for line in lines]
        assert len(lines) == PAGES - 1
        [site] = store.clusters.summaries()
        assert site.pages == PAGES - (column == "cluster")
        [fits] = store.clusters.fits([SITE], 99)
        assert len(fits) == PAGES - (column in {"fetched_at", "fit", "cluster"})
        for order in ORDERS:
            assert store.pages.lines(order=order)
        hits = store.search("story OR the", limit=99).hits
        assert {hit.cluster for hit in hits} <= {SITE}
        assert site_report(store, SITE)
    noiseclean(tmp_path, "search", "story", "--json", "--database", sqlite_url)
    noiseclean(tmp_path, "sites", "--database", sqlite_url)


@pytest.mark.parametrize(
    ("column", "value"),
    [("created_at", "x"), ("created_at", -1), ("pages", b"x"), ("size", "x"), ("cluster", "x")],
)
def test_a_damaged_row_of_a_tree_is_left_out_of_reports(
    sqlite_url: str, tmp_path: Path, whole: bytes, column: str, value: object
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    with connected(sqlite_url) as connection:
        connection.execute(text(f"UPDATE noiseclean_tree SET {column} = :value"), {"value": value})
    with Store(sqlite_url) as store:
        assert store.clusters.tree_versions(SITE) == [] or value == -1
        assert SITE in site_report(store, SITE)


def test_a_site_without_a_tree_keeps_its_method(sqlite_url: str) -> None:
    with Store(sqlite_url) as store:
        store.pages.write([page("k1", "Fog", cluster=SITE)], method="style-tree")
        run_statement(sqlite_url, "UPDATE noiseclean_cluster SET covered = 'x'")
        assert store.clusters.damaged() == [SITE]
        store.clusters.mend(SITE)
        found = store.clusters.find(SITE)
        assert found
        assert (found.method, found.version) == ("style-tree", 0)
        run_statement(sqlite_url, "UPDATE noiseclean_cluster SET method = ''")
        assert store.clusters.damaged() == [SITE]
        store.pages.write([page("k2", "Fog", cluster=SITE)], method="style-tree")
        assert store.clusters.damaged() == []


def test_the_sums_of_a_site_are_those_of_its_sound_pages(sqlite_url: str, tmp_path: Path) -> None:
    with Store(sqlite_url) as store:
        write(store, *(page(f"k{number}", "Fog") for number in range(4)))
        largest = "visible_characters = 9223372036854775807"
        run_statement(sqlite_url, f"UPDATE noiseclean_page SET {largest} WHERE key IN ('k1', 'k2')")
        [site] = store.clusters.summaries()
        assert (site.pages, site.visible_characters, site.kept_characters) == (4, 6, 6)
    noiseclean(tmp_path, "sites", "--database", sqlite_url)
    found = noiseclean(tmp_path, "check", "--database", sqlite_url, code=1).stdout.splitlines()
    assert [line.split(":")[0] for line in found] == ["page k1", "page k2"]


@pytest.mark.parametrize("time", ["infinity", "-infinity", "12000-01-01", "0044-03-15 BC"])
def test_a_time_that_python_does_not_know_is_one_damaged_page(
    postgresql_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, time: str
) -> None:
    asyncio.run(crawl_all(postgresql_url, {}))
    with Store(postgresql_url) as store:
        [site] = store.clusters.summaries()
    for column in ("fetched_at", "published"):
        set_time = f"UPDATE noiseclean_page SET {column} = '{time}' WHERE key = '{KEY}'"
        run_statement(postgresql_url, set_time)
    run_statement(postgresql_url, f"UPDATE noiseclean_tree SET created_at = '{time}'")
    with Store(postgresql_url) as store:
        [now] = store.clusters.summaries()
        assert now.first_fetch
        assert now.last_fetch
        assert site.first_fetch
        assert site.last_fetch
        assert site.first_fetch <= now.first_fetch <= now.last_fetch <= site.last_fetch
        assert len(store.pages.lines()) == PAGES - 1
        assert store.search("story OR the").hits
        assert SITE in site_report(store, SITE)
    noiseclean(tmp_path, "sites", "--database", postgresql_url)
    told = noiseclean(tmp_path, "export", "--database", postgresql_url, code=1).stderr
    assert told.endswith(f"{PAGES - 1} pages exported; 1 cannot be read, see `noiseclean check`\n")
    found = noiseclean(tmp_path, "check", "--database", postgresql_url, code=1).stdout
    assert found.startswith(f"page {KEY}: fetched_at ")
    check_one_damaged_page(postgresql_url, caplog)


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/New_York"])
def test_the_first_and_the_last_times_of_python_are_read_in_any_zone(
    postgresql_url: str, zone: str
) -> None:
    url = postgresql_url.replace("options=", f"options=-ctimezone%3D{zone.replace('/', '%2F')}+")
    with Store(url) as store:
        write(store, page("k1", "Fog"), page("k2", "Fog"), page("k3", "Fog"))
        for key, time in (("k1", "0001-01-01 00:00+00"), ("k2", "9999-12-31 23:59+00")):
            set_time = f"UPDATE noiseclean_page SET fetched_at = '{time}' WHERE key = '{key}'"
            run_statement(url, set_time)
        assert "k3" in {page.key for page in store.pages.with_text()}
        assert store.clusters.summaries()
        assert store.clusters.fits(["a.example"], 9)


def test_a_tree_of_a_method_that_is_not_here_stops_no_repair(
    sqlite_url: str, tmp_path: Path, whole: bytes
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    with Store(sqlite_url) as store:
        method = "my_methods.Mine"
        store.clusters.save_tree(
            "0.org", method=method, version=1, tree=b"", learned=0, clean=lambda _: None
        )
    run_statement(sqlite_url, "UPDATE noiseclean_tree SET tree = 'T' WHERE tree IS NOT NULL")
    command = ("check", "--database", sqlite_url)
    done = noiseclean(tmp_path, *command, "--repair", code=1)
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
        "tree 0.org",
        f"tree {SITE}",
    ]
    assert "0.org is left as it is: the tree is of the method 'my_methods.Mine'" in done.stderr
    left = noiseclean(tmp_path, *command, code=1).stdout
    assert left.startswith("tree 0.org: ")
    assert SITE not in left


def lose_rows(path: Path, index: str) -> None:
    """Let an index of SQLite have one row only, as a page of it that was written half would."""
    with closing(sqlite3.connect(path)) as database:
        ((size,),) = database.execute("PRAGMA page_size")
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        ((number,),) = database.execute(query, [index])
    with path.open("r+b") as file:
        file.seek((number - 1) * size)
        assert file.read(1) == b"\x0a"  # a leaf
        file.seek((number - 1) * size + 3)
        file.write(b"\0\1")


@pytest.mark.parametrize("index", ["sqlite_autoindex_noiseclean_page_1", "noiseclean_page_by_url"])
def test_check_finds_and_mends_an_index_that_lacks_rows(
    sqlite_url: str, tmp_path: Path, whole: bytes, index: str
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    lose_rows(tmp_path / "noiseclean.db", index)
    command = ("check", "--database", sqlite_url)
    told = noiseclean(tmp_path, *command, code=1).stdout
    assert f"file {sqlite_url}: row 2 missing from index {index}\n" in told
    assert noiseclean(tmp_path, *command, "--repair").stdout == told
    assert noiseclean(tmp_path, *command).stdout == ""
    with Store(sqlite_url) as store:
        assert len(list(store.pages.with_text())) == PAGES
        for number in range(PAGES):
            assert store.pages.find_url(f"http://{SITE}/{number}")


def test_export_tells_of_pages_that_it_does_not_find(
    sqlite_url: str, tmp_path: Path, whole: bytes
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    lose_rows(tmp_path / "noiseclean.db", "sqlite_autoindex_noiseclean_page_1")
    done = noiseclean(tmp_path, "export", "--database", sqlite_url, code=1)
    assert (len(done.stdout.splitlines()), done.stderr) == (
        1,
        f"1 of {PAGES} pages exported: the database is damaged, see `noiseclean check`\n",
    )


def test_pages_that_were_written_twice_since_an_index_lacked_them_are_there_once(
    sqlite_url: str, tmp_path: Path, whole: bytes
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    lose_rows(tmp_path / "noiseclean.db", "sqlite_autoindex_noiseclean_page_1")
    with Store(sqlite_url) as store:
        store.pages.write([page(KEY, "new", html="<p>new", position=1)], method="evidence")
        assert store.pages.count().pages == PAGES + 1
    noiseclean(tmp_path, "check", "--database", sqlite_url, "--repair")
    noiseclean(tmp_path, "check", "--database", sqlite_url)
    with Store(sqlite_url) as store:
        texts = {
            found.key: found.cleaned.text for found in store.pages.with_text() if found.cleaned
        }
    assert (len(texts), texts[KEY]) == (PAGES, "new")


def damage_search(path: Path) -> None:
    """Flip bits in all that FTS5 has of words."""
    with closing(sqlite3.connect(path)) as database, database:
        table = "noiseclean_search_terms_data"
        for number, block in database.execute(f"SELECT id, block FROM {table} WHERE id > 10"):
            changed = bytearray(block)
            changed[2] ^= 0x40
            changed[3] ^= 0x11
            database.execute(f"UPDATE {table} SET block = ? WHERE id = ?", (changed, number))


def test_check_finds_and_mends_a_damaged_index_of_words(
    sqlite_url: str, tmp_path: Path, whole: bytes
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    with Store(sqlite_url) as store:
        hits = store.search("story").hits
    damage_search(tmp_path / "noiseclean.db")
    command = ("check", "--database", sqlite_url)
    assert noiseclean(tmp_path, *command, code=1).stdout.startswith("index search: ")
    noiseclean(tmp_path, *command, "--repair")
    assert noiseclean(tmp_path, *command).stdout == ""
    with Store(sqlite_url) as store:
        assert store.is_indexed
        assert store.search("story").hits == hits


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("DELETE FROM noiseclean_page WHERE url LIKE '%/1'", "1 row of noiseclean_search without"),
        ("DELETE FROM noiseclean_search_terms WHERE rowid = 1", "search: 1 page without terms"),
        (
            "DROP TRIGGER noiseclean_search_deleted; DELETE FROM noiseclean_search",
            f"search: {PAGES} pages without terms, or terms without a page",
        ),
        ("DROP TABLE noiseclean_search_terms", "search: no such table: noiseclean_search_terms"),
    ],
)
def test_check_finds_an_index_of_words_that_is_not_of_the_pages(
    sqlite_url: str, tmp_path: Path, whole: bytes, statement: str, reason: str
) -> None:
    """As who changes the file by SQL leaves it, without SQLite's foreign keys."""
    (tmp_path / "noiseclean.db").write_bytes(whole)
    with closing(sqlite3.connect(tmp_path / "noiseclean.db")) as database:
        database.executescript(statement)
    command = ("check", "--database", sqlite_url)
    assert reason in noiseclean(tmp_path, *command, code=1).stdout
    noiseclean(tmp_path, *command, "--repair")
    assert noiseclean(tmp_path, *command).stdout == ""
    with Store(sqlite_url) as store:
        pages = store.pages.count().pages
        assert pages == PAGES - ("noiseclean_page" in statement)
        found = store.search("story", limit=PAGES)
        assert found.total == len(found.hits) == pages
        store.pages.delete([KEY])
    ((rows,),) = read_rows(sqlite_url, "SELECT count(*) FROM noiseclean_search_terms")
    assert rows == pages - 1


def test_a_damaged_index_of_words_keeps_no_page_from_being_stored(
    sqlite_url: str, tmp_path: Path, whole: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "noiseclean.db").write_bytes(whole)
    table = "noiseclean_search_terms_data"
    run_statement(sqlite_url, f"UPDATE {table} SET block = x'ffffffffffffffff' WHERE id = 10")
    with Store(sqlite_url) as store:
        with pytest.raises(StoreError, match="refused"):
            store.pages.delete([KEY])
        [said] = errors(caplog)
        assert said.startswith("The full-text index was damaged (")
        assert said.endswith(") and is empty now: `noiseclean index` fills it")
        assert store.pages.delete([KEY]) == 1
        assert list(store.index_missing()) == [PAGES - 1]
        assert store.search("story").total == PAGES - 1
