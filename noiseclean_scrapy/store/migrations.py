"""The steps from older schema versions to newer ones.

A step says what it does in SQL of its own: the tables of this code will have changed again by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlalchemy import Connection, text


def _step_from_1_to_2(connection: Connection) -> bool:
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
    for statement in _SEARCH_2[connection.dialect.name]:
        connection.execute(text(statement))
    return True


_SEARCH_2: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sqlite": (
            """
            CREATE TABLE noiseclean_search (
                id INTEGER PRIMARY KEY,
                key TEXT NOT NULL UNIQUE REFERENCES noiseclean_page (key) ON DELETE CASCADE
            )
            """,
            """
            CREATE VIRTUAL TABLE noiseclean_search_terms
            USING fts5 (title, text, tokenize = 'ascii')
            """,
            """
            CREATE TRIGGER noiseclean_search_deleted AFTER DELETE ON noiseclean_search BEGIN
                DELETE FROM noiseclean_search_terms WHERE rowid = old.id;
            END
            """,
        ),
        "postgresql": (
            """
            CREATE TABLE noiseclean_search (
                key TEXT PRIMARY KEY REFERENCES noiseclean_page (key) ON DELETE CASCADE,
                terms TSVECTOR NOT NULL
            )
            """,
            "CREATE INDEX noiseclean_search_by_terms ON noiseclean_search USING GIN (terms)",
        ),
    }
)


def _step_from_2_to_3(connection: Connection) -> bool:
    """Blocks without their texts: those of version 2 are read as they are, until cleaned again."""
    return False


MIGRATIONS: Mapping[int, Callable[[Connection], bool]] = MappingProxyType(
    {1: _step_from_1_to_2, 2: _step_from_2_to_3}
)
"""From each older version the step that leads to the next one; whether texts must be indexed."""
