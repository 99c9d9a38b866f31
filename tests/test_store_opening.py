"""Opening a store: what is created, what is left alone, what is refused and in which words."""

from __future__ import annotations

import secrets
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from threading import Barrier, Timer
from time import monotonic
from typing import Any, cast

import pytest
from scrapy.settings import Settings
from sqlalchemy import Connection, create_engine, make_url, text

from noiseclean_scrapy import Block
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError, StoreError
from noiseclean_scrapy.service_urls import shown_url
from noiseclean_scrapy.store import SCHEMA_VERSION, Cleaned, PageRecord, Store, preparing
from noiseclean_scrapy.store.engine import SQLITE_BUSY_SECONDS
from noiseclean_scrapy.store.partitioning import create_parts
from tests.support import databases

PAGE = PageRecord("1", "a", "http://a/", "0", datetime(2025, 3, 1, tzinfo=timezone.utc), 1, "<p>")
VERSION = "SELECT version FROM noiseclean_schema"


def refused(url: str, *, read_only: bool = False) -> str:
    with pytest.raises(StoreError) as caught:
        Store(url, read_only=read_only)
    return str(caught.value)


def set_version(url: str, version: int) -> None:
    Store(url).close()
    databases.run_statement(url, f"UPDATE noiseclean_schema SET version = {version}")


def test_lives_in_a_database_with_other_tables(database_url: str) -> None:
    databases.run_statement(database_url, "CREATE TABLE page (key INTEGER)")
    for _ in range(2):
        with Store(database_url) as store:
            store.pages.write([PAGE], method="evidence")
            assert store.pages.count().pages == 1
    assert databases.read_rows(database_url, VERSION) == [(SCHEMA_VERSION,)]
    assert databases.read_rows(database_url, "SELECT * FROM page") == []


def test_many_open_an_empty_database_at_once(database_url: str) -> None:
    together = Barrier(8)

    def open_store() -> None:
        together.wait()
        Store(database_url).close()

    with ThreadPoolExecutor(8) as threads:
        for opened in [threads.submit(open_store) for _ in range(8)]:
            opened.result(timeout=100)
    assert databases.read_rows(database_url, VERSION) == [(SCHEMA_VERSION,)]


def test_waits_for_who_begins_the_database_as_well(tmp_path: Path) -> None:
    path = tmp_path / "noiseclean.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    done = Timer(0.3, other.rollback)
    done.start()
    url = f"sqlite:///{path}?timeout=0"  # SQLite itself does not always wait
    Store(url).close()
    done.join()
    other.close()
    assert databases.read_rows(url, VERSION) == [(SCHEMA_VERSION,)]


def test_a_newer_schema_is_refused(database_url: str) -> None:
    set_version(database_url, 7)
    for read_only in (False, True):
        sentence = refused(database_url, read_only=read_only)
        assert "schema version 7" in sentence
        assert f"up to {SCHEMA_VERSION}: upgrade noiseclean-scrapy" in sentence


def test_an_older_schema_without_a_way_is_refused(database_url: str) -> None:
    set_version(database_url, 0)
    sentence = refused(database_url)
    assert f"schema version 0, this code needs version {SCHEMA_VERSION}" in sentence
    assert "read it with the noiseclean-scrapy release that wrote it" in sentence
    assert refused(database_url, read_only=True) == sentence
    assert databases.read_rows(database_url, VERSION) == [(0,)]


def test_what_only_reads_tells_what_migrates_an_older_schema(database_url: str) -> None:
    set_version(database_url, SCHEMA_VERSION - 1)
    assert "`noiseclean index` migrates it" in refused(database_url, read_only=True)


def test_an_older_schema_is_migrated_step_by_step_or_not_at_all(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add_column(connection: Connection) -> bool:
        connection.execute(text("ALTER TABLE noiseclean_page ADD COLUMN mood TEXT"))
        return False

    Store(database_url).close()
    now, then = SCHEMA_VERSION, SCHEMA_VERSION + 1
    monkeypatch.setattr(preparing, "SCHEMA_VERSION", then + 1)
    monkeypatch.setattr(preparing, "MIGRATIONS", {now: add_column})
    assert f"no migration from version {then}" in refused(database_url)
    assert databases.read_rows(database_url, VERSION) == [(now,)]
    steps = {now: add_column, then: lambda connection: False}
    monkeypatch.setattr(preparing, "MIGRATIONS", steps)
    Store(database_url).close()
    assert databases.read_rows(database_url, VERSION) == [(then + 1,)]
    assert databases.read_rows(database_url, "SELECT mood FROM noiseclean_page") == []


def test_tables_without_a_version_are_refused(database_url: str) -> None:
    databases.run_statement(database_url, "CREATE TABLE noiseclean_page (key INTEGER)")
    assert "noiseclean_page but no schema version" in refused(database_url)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_view_in_the_place_of_a_table_is_refused(database_url: str, read_only: bool) -> None:
    Store(database_url).close()
    databases.run_statement(database_url, "ALTER TABLE noiseclean_outbox RENAME TO other")
    databases.run_statement(database_url, "CREATE VIEW noiseclean_outbox AS SELECT * FROM other")
    with pytest.raises(StoreError, match="has no table noiseclean_outbox: restore it"):
        Store(database_url, read_only=read_only)


def test_read_only_reads_and_refuses_to_write(database_url: str) -> None:
    with Store(database_url) as store:
        store.pages.write([PAGE], method="evidence")
    with Store(database_url, read_only=True) as store:
        assert list(store.pages.provisional("a")) == [PAGE]
        with pytest.raises(StoreError, match="opened read-only"):
            store.clusters.delete("a")


def test_read_only_sees_what_a_writer_adds(database_url: str) -> None:
    with Store(database_url) as writer, Store(database_url, read_only=True) as reader:
        assert reader.pages.count().pages == 0
        writer.pages.write([PAGE], method="evidence")
        assert reader.pages.count().pages == 1


def test_read_only_creates_nothing(database_url: str, tmp_path: Path) -> None:
    if database_url.startswith("sqlite"):
        assert "no database file" in refused(database_url, read_only=True)
        assert list(tmp_path.iterdir()) == []
    databases.run_statement(database_url, "CREATE TABLE page (key INTEGER)")
    assert "holds no noiseclean tables" in refused(database_url, read_only=True)
    with pytest.raises(Exception, match="noiseclean_schema"):
        databases.read_rows(database_url, VERSION)


def test_the_last_one_that_closes_leaves_one_complete_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'noiseclean.db'}"
    with Store(url) as writer:
        reader = Store(url, read_only=True)
        writer.pages.write([PAGE], method="evidence")
        assert reader.pages.count().pages == 1
    reader.close()
    assert [path.name for path in tmp_path.iterdir()] == ["noiseclean.db"]
    with Store(url, read_only=True) as reader:
        assert list(reader.pages.provisional("a")) == [PAGE]
    assert [path.name for path in tmp_path.iterdir()] == ["noiseclean.db"]


def test_odd_file_names(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a b#c%20d.db'}"
    with Store(url) as store:
        store.pages.write([PAGE], method="evidence")
    with Store(url, read_only=True) as store:
        assert store.pages.count().pages == 1


def test_what_cannot_be_reached_is_said(tmp_path: Path) -> None:
    missing = refused(f"sqlite:///{tmp_path / 'none' / 'noiseclean.db'}")
    assert "cannot open the database sqlite:///" in missing
    assert f"unable to open database file; there is no folder {tmp_path / 'none'}" in missing
    assert "unable to open database file; that is a folder" in refused(f"sqlite:///{tmp_path}")
    (tmp_path / "link.db").symlink_to("nowhere/noiseclean.db")
    linked = refused(f"sqlite:///{tmp_path / 'link.db'}")
    assert f"unable to open database file; there is no folder {tmp_path / 'nowhere'}" in linked
    (tmp_path / "text.db").write_text("no database " * 100)
    url = f"sqlite:///{tmp_path / 'text.db'}"
    for read_only in (False, True):
        assert refused(url, read_only=read_only) == (
            f"cannot open the database {url}: file is not a database; "
            "check its address and your rights"
        )
    nobody = refused("postgresql://user:secret@127.0.0.1:1/test")
    assert "cannot open the database postgresql://user:***@127.0.0.1:1/test" in nobody
    assert "secret" not in nobody


SECRETS = (
    "postgresql://user:%s@127.0.0.1:1/a",
    "postgresql://user@127.0.0.1:1/a?password=%s",
    "postgresql://user@127.0.0.1:1/a?sslmode=disable&sslpassword=%s&connect_timeout=1",
    "postgresql://user@127.0.0.1:1/a?p%%61ssword=%s",
    "postgresql://user:%s@127.0.0.1:port/a",
    "postgresql://user:%s@ss@127.0.0.1/a",
    "postgresql://user:1@%s@127.0.0.1/a?b=@",
    "postgresql://user:1@x/%s/@127.0.0.1/a",
    "postgresql://user:1@x:5/%s@127.0.0.1/a",
    "postgresql//user:%s@127.0.0.1/a",
    "user:%s@127.0.0.1/a",
    "mysql://user:%s@127.0.0.1/a",
    "postgresql+none://user:%s@127.0.0.1/a",
)


@pytest.mark.parametrize("url", [secret % "hush" for secret in SECRETS])
def test_what_is_secret_is_in_no_message(url: str) -> None:
    shown = refused(url)
    try:
        config = Config.from_settings(Settings({"NOISECLEAN_DATABASE_URL": url}))
        shown += config.display_url + repr(config)
    except ConfigurationError as error:
        shown += str(error)
    assert "hush" not in shown


def test_a_port_that_is_no_number_is_said() -> None:
    url = "postgresql://user@localhost:port/a"
    assert f"{url} is no database URL, its port is no number" in refused(url)
    with pytest.raises(ConfigurationError, match="its port is no number"):
        Config.from_settings(Settings({"NOISECLEAN_DATABASE_URL": url}))


def test_an_at_sign_before_a_slash_is_said() -> None:
    url = "postgresql://user:1@hush/hush@127.0.0.1/a"
    message = "an @ in a name or a password is written %40"
    assert f"postgresql://user:***@127.0.0.1/a is no database URL, {message}" in refused(url)
    with pytest.raises(ConfigurationError, match=message):
        Config.from_settings(Settings({"NOISECLEAN_DATABASE_URL": url}))


def test_other_urls_are_shown_without_secrets() -> None:
    assert shown_url("redis://:hush@localhost:6379/0") == "redis://:***@localhost:6379/0"
    assert shown_url("http://anna:hush@proxy:8080") == "http://anna:***@proxy:8080"
    assert shown_url("s3a://KEY:hush@bucket/a.warc.gz") == "s3a://KEY:***@bucket/a.warc.gz"
    assert shown_url("https://a.org/x.wacz?X-Amz-Signature=hush") == (
        "https://a.org/x.wacz?X-Amz-Signature=***"
    )
    for plain in ("/data/a.warc.gz", "sqlite:///a.db", "http://a.org:80/b?c=d", "s3://a/b=c"):
        assert shown_url(plain) == plain


def test_what_is_no_store_is_said() -> None:
    assert "expected sqlite:///file.db or postgresql://" in refused("noiseclean.db")
    assert "no store for the database 'mysql'" in refused("mysql://localhost/test")
    assert 'pip install "noiseclean-scrapy[postgresql]"' in refused("postgresql+none://localhost/a")
    assert "in memory" in refused("sqlite://", read_only=True)


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert 'pip install "noiseclean-scrapy[postgresql]"' in refused("postgresql://localhost/a")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (Block(cast("str", object()), "/p", "p", True, 0.5, {}), "not JSON serializable"),
        ({"text": "Fog", "xpath": "/p", "kept": True, "score": 0.5}, "no attribute 'to_dict'"),
    ],
)
def test_other_blocks_are_refused(sqlite_url: str, block: Any, message: str) -> None:
    cleaned = Cleaned("", "", (block,), 0, 0, 0)
    record = PageRecord("1", "a", "", "", PAGE.fetched_at, cleaned=cleaned)
    with Store(sqlite_url) as store, pytest.raises(StoreError, match=message):
        store.pages.write([record], method="evidence")


@pytest.mark.parametrize("in_memory", [False, True])
def test_threads_share_a_store(sqlite_url: str, in_memory: bool) -> None:
    def write(store: Store, number: int) -> None:
        for step in range(20):
            key = f"{number}-{step}"
            record = PageRecord(key, "a", "", "", PAGE.fetched_at, step + 1, "<p>")
            store.pages.write([record], method="evidence")
            assert store.pages.find(key)

    with Store("sqlite://" if in_memory else sqlite_url) as store:
        with ThreadPoolExecutor(4) as threads:
            for written in [threads.submit(write, store, number) for number in range(4)]:
                written.result(timeout=100)
        assert store.pages.count().pages == 80
        assert len(list(store.pages.provisional("a"))) == 80


def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE t (x)")
    with pytest.raises(StoreError, match="holds no noiseclean tables"):
        Store(f"sqlite:///{path}", create=False)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]


def test_a_wrong_option_of_the_address_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is refused"):
        Store(f"sqlite:///{tmp_path}/n.db?timeout=abc")


def test_a_file_that_may_only_be_read_is_refused_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "noiseclean.db"
    Store(f"sqlite:///{path}").close()
    sentence = refused(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert "attempt to write a readonly database" in sentence


def test_a_file_that_somebody_writes_to_is_opened_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'noiseclean.db'}"
    Store(url).close()
    with closing(sqlite3.connect(tmp_path / "noiseclean.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        before = monotonic()
        Store(url).close()
        assert monotonic() - before < SQLITE_BUSY_SECONDS / 2


@pytest.mark.services
def test_encodings_of_postgresql(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the client is ours; a database in one that lacks letters is refused."""
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    with Store(postgresql_url, store_html=True) as store:
        page = replace(PAGE, url="http://a/“新闻”", html="<p>“新闻”")
        store.pages.write([page], method="evidence")
        assert [found.url for found in store.pages.with_html("a")] == [page.url]
    monkeypatch.delenv("PGCLIENTENCODING")
    server = make_url(postgresql_url).difference_update_query(["options"])
    for encoding, is_taken in (("LATIN1", False), ("SQL_ASCII", True)):
        name = f"noiseclean_test_{encoding.lower()}_{secrets.token_hex(4)}"
        made = f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'"
        url = server.set(database=name).render_as_string(hide_password=False)
        engine = create_engine(server, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                connection.execute(text(made))
                try:
                    if is_taken:
                        with Store(url, store_html=True) as store:
                            store.pages.write([page], method="evidence")
                            assert [p.html for p in store.pages.with_html("a")] == [page.html]
                    else:
                        assert "the database has the encoding LATIN1" in refused(url)
                        with pytest.raises(StoreError, match="LATIN1"):
                            create_parts(url, 2, {})
                finally:
                    connection.execute(text(f"DROP DATABASE {name}"))
        finally:
            engine.dispose()
