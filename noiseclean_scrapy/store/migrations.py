"""The steps from older schema versions to newer ones.

A step says what it does in SQL of its own: the tables of this code will have changed again by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlalchemy import Connection, select, text

from noiseclean_scrapy.store import fulltext
from noiseclean_scrapy.store.indexing import index_pages
from noiseclean_scrapy.store.schema import page_table
from noiseclean_scrapy.store.terms import Analyzer


def _step_from_1_to_2(connection: Connection) -> None:
    """Facts of pages, full-text search, the outbox of external indexes."""
    is_postgresql = connection.dialect.name == "postgresql"
    time = "TIMESTAMP WITH TIME ZONE" if is_postgresql else "DATETIME"
    number = "BIGSERIAL" if is_postgresql else "INTEGER"
    automatic = "" if is_postgresql else "AUTOINCREMENT"
    by_hash = "USING hash" if is_postgresql else ""
    for statement in (
        "ALTER TABLE noiseclean_page ADD COLUMN author TEXT",
        f"ALTER TABLE noiseclean_page ADD COLUMN published {time}",
        "ALTER TABLE noiseclean_page ADD COLUMN language TEXT",
        "ALTER TABLE noiseclean_page ADD COLUMN canonical_url TEXT",
        "ALTER TABLE noiseclean_page ADD COLUMN image TEXT",
        "ALTER TABLE noiseclean_page ADD COLUMN fit FLOAT",
        f"CREATE INDEX noiseclean_page_by_url ON noiseclean_page {by_hash} (url)",
        "CREATE INDEX noiseclean_page_by_language ON noiseclean_page (language)",
        "CREATE TABLE noiseclean_external_index (name TEXT NOT NULL PRIMARY KEY)",
        f"""
        CREATE TABLE noiseclean_outbox (
            sequence {number} NOT NULL PRIMARY KEY {automatic},
            index_name TEXT NOT NULL
                REFERENCES noiseclean_external_index (name) ON DELETE CASCADE,
            page_key TEXT NOT NULL
        )
        """,
        """
        CREATE UNIQUE INDEX noiseclean_outbox_by_page ON noiseclean_outbox (page_key, index_name)
        """,
    ):
        connection.execute(text(statement))
    fulltext.backend(connection).create(connection)
    keys = connection.execute(select(page_table.c.key).where(page_table.c.text.is_not(None)))
    index_pages(connection, Analyzer(), keys.scalars().all())


MIGRATIONS: Mapping[int, Callable[[Connection], None]] = MappingProxyType({1: _step_from_1_to_2})
"""From each older version the step that leads to the next one."""
