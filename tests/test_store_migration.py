"""A database of schema version 1 becomes one of this version; whatever it held is still there."""

from __future__ import annotations

import ast
import inspect as inspect_module
import json
import zlib
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, make_url, text

from noiseclean_scrapy import Block
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import (
    SCHEMA_VERSION,
    Cleaned,
    ClusterRecord,
    PageRecord,
    Store,
    migrations,
)
from tests.support import databases
from tests.support.databases import connected

NOON = datetime(2025, 3, 1, 12, tzinfo=timezone.utc)
BLOCKS = ({"text": "Ferries sail", "kept": True},)
VERSION_1 = """
CREATE TABLE noiseclean_schema (version INTEGER NOT NULL, PRIMARY KEY (version));
CREATE TABLE noiseclean_cluster (
    name TEXT NOT NULL, method TEXT NOT NULL, version INTEGER NOT NULL, learned INTEGER NOT NULL,
    covered INTEGER NOT NULL, PRIMARY KEY (name)
);
CREATE TABLE noiseclean_tree (
    cluster TEXT NOT NULL, version INTEGER NOT NULL, method TEXT NOT NULL, pages INTEGER NOT NULL,
    created_at TIME_TYPE NOT NULL, size INTEGER NOT NULL, tree BYTES_TYPE,
    PRIMARY KEY (cluster, version),
    FOREIGN KEY (cluster) REFERENCES noiseclean_cluster (name) ON DELETE CASCADE
);
CREATE TABLE noiseclean_page (
    key TEXT NOT NULL, cluster TEXT NOT NULL, url TEXT NOT NULL, body_hash TEXT NOT NULL,
    fetched_at TIME_TYPE NOT NULL, position INTEGER, learned_version INTEGER, title TEXT, text TEXT,
    blocks BYTES_TYPE, clean_version INTEGER, visible_characters INTEGER, kept_characters INTEGER,
    PRIMARY KEY (key),
    FOREIGN KEY (cluster) REFERENCES noiseclean_cluster (name) ON DELETE CASCADE
);
CREATE INDEX noiseclean_page_by_cluster ON noiseclean_page (cluster, key);
CREATE INDEX noiseclean_page_provisional ON noiseclean_page (cluster, position, key)
    WHERE position IS NOT NULL AND learned_version IS NULL;
CREATE TABLE noiseclean_page_html (
    key TEXT NOT NULL, html BYTES_TYPE NOT NULL, PRIMARY KEY (key),
    FOREIGN KEY (key) REFERENCES noiseclean_page (key) ON DELETE CASCADE
);
INSERT INTO noiseclean_schema VALUES (1);
INSERT INTO noiseclean_cluster VALUES ('a', 'evidence', 1, 3, 1);
INSERT INTO noiseclean_tree VALUES ('a', 1, 'evidence', 1, '2025-03-01 12:00:00', 4, NULL);
"""


def write_version_1(url: str) -> None:
    """Three pages: cleaned and covered, cleaned and provisional, seen only."""
    is_sqlite = url.startswith("sqlite")
    types = ("DATETIME", "BLOB") if is_sqlite else ("TIMESTAMP WITH TIME ZONE", "BYTEA")
    script = VERSION_1.replace("TIME_TYPE", types[0]).replace("BYTES_TYPE", types[1])
    time: Any = "2025-03-01 12:00:00.000000" if is_sqlite else NOON
    blocks = zlib.compress(json.dumps(BLOCKS).encode())
    cleaned = ("Ferries", "Ferries sail to 新闻 ports", blocks, 1, 90, 26)
    rows = [
        ("1", "a", "http://a/1", "0", time, 1, 1, *cleaned),
        ("2", "a", "http://a/2", "0", time, 2, None, *cleaned),
        ("3", "a", "http://a/3", "0", time, 3, None, *[None] * 6),
    ]
    with connected(url) as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.execute(text(statement))
        names = [f":c{number}" for number in range(13)]
        for row in rows:
            values = {f"c{number}": value for number, value in enumerate(row)}
            connection.execute(
                text(f"INSERT INTO noiseclean_page VALUES ({', '.join(names)})"), values
            )
        html = {"html": zlib.compress(b"<p>2")}
        connection.execute(text("INSERT INTO noiseclean_page_html VALUES ('2', :html)"), html)


def tables(url: str) -> dict[str, Any]:
    """Names, columns and indexes of all tables, in no particular order."""
    with connected(url) as connection:
        inspector = inspect(connection)
        return {
            table: (
                sorted(column(c) for c in inspector.get_columns(table)),
                sorted(str(index["column_names"]) for index in inspector.get_indexes(table)),
                sorted(str(k["constrained_columns"]) for k in inspector.get_foreign_keys(table)),
                inspector.get_pk_constraint(table)["constrained_columns"],
            )
            for table in inspector.get_table_names()
        }


def column(found: Any) -> tuple[str, str, bool]:
    return found["name"], str(found["type"]), found["nullable"]


def test_what_version_1_held_is_still_there_and_found(database_url: str) -> None:
    write_version_1(database_url)
    blocks = (Block("Ferries sail", "", "", True, 0.0, {}),)
    cleaned = Cleaned("Ferries", "Ferries sail to 新闻 ports", blocks, 1, 90, 26, 1.0)
    pages = [
        PageRecord("1", "a", "http://a/1", "0", NOON, 1, None, cleaned, 1),
        PageRecord("2", "a", "http://a/2", "0", NOON, 2, None, cleaned, None),
        PageRecord("3", "a", "http://a/3", "0", NOON, 3, None, None, None),
    ]
    for _ in range(2):
        with Store(database_url) as store:
            assert [store.pages.find(page.key) for page in pages] == pages
            assert store.pages.html("2") == "<p>2"
            assert store.clusters.find("a") == ClusterRecord("a", "evidence", 1, 3, covered=1)
            for query in ("ferries", "新闻", '"sail to"'):
                assert {hit.key for hit in store.search(query).hits} == {"1", "2"}
            assert store.clusters.summaries()[0].fit is None
            assert [line.fit for line in store.pages.lines(order="fit")] == [1.0, 1.0]
    with Store(database_url) as store:
        facts = Metadata("Ann", NOON, "en", "http://a/one", "")
        store.pages.write(
            [PageRecord(**{**as_dict(pages[0]), "metadata": facts})], method="evidence"
        )
        assert [hit.key for hit in store.search("ferry").hits] == ["1"]
        store.outbox.register("x")
        assert {change.key for change in store.outbox.changes("x")} == {"1", "2"}


def as_dict(page: PageRecord) -> dict[str, Any]:
    return {name: getattr(page, name) for name in page.__slots__}


def test_a_migrated_database_has_the_tables_of_a_new_one(database_url: str, tmp_path: Path) -> None:
    write_version_1(database_url)
    Store(database_url).close()
    kind = make_url(database_url).get_backend_name()
    with databases.new_database(kind, tmp_path) as url:
        Store(url).close()
        assert tables(database_url) == tables(url)


VERSION_2 = {
    "noiseclean_cluster": "covered learned method name version",
    "noiseclean_external_index": "name",
    "noiseclean_outbox": "index_name page_key sequence",
    "noiseclean_page": "author blocks body_hash canonical_url clean_version cluster fetched_at fit "
    "image kept_characters key language learned_version position published text title url "
    "visible_characters",
    "noiseclean_page_html": "html key",
    "noiseclean_schema": "version",
    "noiseclean_tree": "cluster created_at method pages size tree version",
}


def test_a_step_knows_no_table_of_today(database_url: str) -> None:
    """What it makes is version 2, whatever versions will follow."""
    tree = ast.parse(inspect_module.getsource(migrations))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert not [node for node in imports if "noiseclean" in ast.unparse(node)]
    write_version_1(database_url)
    with connected(database_url) as connection:
        assert migrations.MIGRATIONS[1](connection)
    found = {
        name: " ".join(entry[0] for entry in columns)
        for name, (columns, *_) in tables(database_url).items()
    }
    assert {name: found[name] for name in VERSION_2} == VERSION_2
    assert "noiseclean_search" in found


def test_a_migration_that_fails_changes_nothing(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_version_1(database_url)
    before = tables(database_url)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("noiseclean_scrapy.store.preparing.index_pages", fail)
    with pytest.raises(ZeroDivisionError):
        Store(database_url)
    assert tables(database_url) == before
    assert databases.read_rows(database_url, "SELECT version FROM noiseclean_schema") == [(1,)]
    monkeypatch.undo()
    Store(database_url).close()
    version = databases.read_rows(database_url, "SELECT version FROM noiseclean_schema")
    assert version == [(SCHEMA_VERSION,)]
