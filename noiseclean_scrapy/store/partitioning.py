"""PostgreSQL's tables of pages in parts, by the hash of a page's key, with room for updates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlalchemy import MetaData, text
from sqlalchemy.exc import SQLAlchemyError

from noiseclean_scrapy.errors import ConfigurationError, StoreError
from noiseclean_scrapy.service_urls import shown_url
from noiseclean_scrapy.store.database import reason_of
from noiseclean_scrapy.store.engine import create_store_engine
from noiseclean_scrapy.store.preparing import (
    await_turn,
    create_schema,
    need_writable,
    stored_version,
)
from noiseclean_scrapy.store.schema import html_table, metadata, page_table
from noiseclean_scrapy.store.search import fulltext_postgresql

MOST_PARTS = 1024
_BY_KEY = "HASH (key)"
_TABLES = (page_table.name, html_table.name, fulltext_postgresql.TABLE)
_STORAGE = re.compile(r"[a-z_.]+"), re.compile(r"[a-z0-9.]+")


def create_parts(url: str, parts: int, storage: Mapping[str, str]) -> None:
    """Create the tables of a store in an empty PostgreSQL database, those of pages in parts.

    Each part of the pages' table has the ``storage`` parameters, such as ``fillfactor``. Raises
    ConfigurationError for parameters or a number of parts that cannot be, StoreError for a database
    that is none of PostgreSQL, has tables of a store already, or refuses.
    """
    if not 1 <= parts <= MOST_PARTS:
        raise ConfigurationError(f"there may be 1 to {MOST_PARTS} parts, not {parts}")
    for name, value in storage.items():
        if not (_STORAGE[0].fullmatch(name) and _STORAGE[1].fullmatch(value)):
            raise ConfigurationError(f"{name}={value} is no storage parameter of PostgreSQL")
    engine = create_store_engine(url, read_only=False)
    try:
        if engine.dialect.name != "postgresql":
            raise StoreError(f"{shown_url(url)} cannot be parted: that is for PostgreSQL alone")
        with engine.begin() as connection:
            need_writable(connection)
            await_turn(connection)
            if stored_version(connection) is not None:
                raise StoreError(
                    f"{shown_url(url)} has tables of a store already: name an empty database, "
                    f"and move the rows there (docs/postgresql.md, Parts)"
                )
            create_schema(connection, _in_parts(), by=f"PARTITION BY {_BY_KEY}")
            for statement in _parts(parts, storage):
                connection.execute(text(statement))
    except SQLAlchemyError as error:
        raise StoreError(f"{shown_url(url)} refused: {reason_of(error)}") from error
    finally:
        engine.dispose()


def _in_parts() -> MetaData:
    """The tables of the schema; those of pages say how they are parted."""
    made = MetaData()
    for table in metadata.sorted_tables:
        copy = table.to_metadata(made)
        if table.name in _TABLES:
            copy.dialect_options["postgresql"]["partition_by"] = _BY_KEY
    return made


def _parts(parts: int, storage: Mapping[str, str]) -> Iterator[str]:
    options = ", ".join(f"{name} = {value}" for name, value in storage.items())
    for table in _TABLES:
        tail = f" WITH ({options})" if options and table == page_table.name else ""
        for number in range(parts):
            yield (
                f"CREATE TABLE {table}_{number} PARTITION OF {table} "
                f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {number}){tail}"
            )
