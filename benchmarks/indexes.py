"""Stores that hold one text of each page, each in its own database, and their index in bytes."""

from __future__ import annotations

import secrets
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from pathlib import Path

from sqlalchemy import create_engine, make_url

from benchmarks.queries import Document
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import Cleaned, PageRecord, Store

FETCHED = datetime(2026, 1, 1, tzinfo=timezone.utc)
CHUNK_PAGES = 200


@contextmanager
def empty_database(postgresql: str | None) -> Iterator[str]:
    """URL of an empty database: an SQLite file, or a schema of its own on a PostgreSQL server."""
    if postgresql is None:
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/search.db"
        return
    schema = f"noiseclean_search_{secrets.token_hex(8)}"
    url = make_url(postgresql).set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    try:
        in_schema = url.update_query_dict({"options": f"-csearch_path={schema}"})
        yield in_schema.render_as_string(hide_password=False)
    finally:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
        engine.dispose()


def build_index(url: str, documents: Sequence[Document], row: str) -> dict[str, int]:
    """Store and index the texts of one row; their characters, and the bytes of the index."""
    with Store(url) as store:
        for first in range(0, len(documents), CHUNK_PAGES):
            chunk = documents[first : first + CHUNK_PAGES]
            store.pages.write(
                [_record(document, document.texts[row]) for document in chunk], method=row
            )
    characters = sum(len(document.texts[row]) for document in documents)
    return {"characters": characters, "bytes": index_bytes(url)}


def index_bytes(url: str) -> int:
    """Bytes of the tables that answer searches, packed; those of the pages are not counted."""
    if make_url(url).get_backend_name() == "sqlite":
        return _sqlite_index_bytes(Path(str(make_url(url).database)))
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("VACUUM FULL noiseclean_search")
        size = "SELECT pg_total_relation_size('noiseclean_search')"
        found: int = connection.exec_driver_sql(size).scalar_one()
    engine.dispose()
    return found


def _sqlite_index_bytes(database: Path) -> int:
    """What a packed copy of the database loses with the tables of the index."""
    copy = database.with_suffix(".copy")
    with closing(sqlite3.connect(database)) as connection:
        terms = "noiseclean_search_terms"
        connection.execute(f"INSERT INTO {terms} ({terms}) VALUES ('optimize')")
        connection.commit()
        connection.execute("VACUUM INTO ?", [str(copy)])
    whole = copy.stat().st_size
    with closing(sqlite3.connect(copy)) as connection:
        connection.executescript(f"DROP TABLE {terms}; DROP TABLE noiseclean_search; VACUUM")
    return whole - copy.stat().st_size


def _record(document: Document, text: str) -> PageRecord:
    return PageRecord(
        key=document.key,
        cluster=document.site,
        url="",
        body_hash="",
        fetched_at=FETCHED,
        cleaned=Cleaned("", text, (), 0, len(text), len(text)),
        metadata=Metadata("", None, document.language, "", ""),
    )
