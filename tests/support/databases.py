"""Real databases for tests: an SQLite file, and a PostgreSQL schema of the test's own."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

from noiseclean_scrapy.store import Store
from noiseclean_scrapy.store.partitioning import create_parts
from tests.support.services import give_up

KINDS = ("sqlite", pytest.param("postgresql", marks=pytest.mark.services))
"""For the parameters of a fixture: kinds of databases."""

POSTGRESQL_URL = os.environ.get(
    "NOISECLEAN_TEST_POSTGRESQL", "postgresql+psycopg://postgres@127.0.0.1:5432/test"
)


@contextmanager
def new_database(kind: str, folder: Path) -> Iterator[str]:
    """URL of an empty database: a file in the folder, or a schema of its own."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / f'{secrets.token_hex(4)}.db'}"
    else:
        with postgresql_schema() as url:
            yield url


@contextmanager
def postgresql_schema() -> Iterator[str]:
    """URL whose search path is a new schema, dropped afterwards.

    The server is the one of the environment variable NOISECLEAN_TEST_POSTGRESQL. With
    NOISECLEAN_TEST_PARTS the tables are there already, in so many parts.
    """
    url = make_url(POSTGRESQL_URL)
    parts = int(os.environ.get("NOISECLEAN_TEST_PARTS", "0"))
    schema = f"noiseclean_test_{secrets.token_hex(8)}"
    engine = create_engine(url, connect_args={"connect_timeout": 3})
    try:
        try:
            with engine.begin() as connection:
                connection.execute(text(f"CREATE SCHEMA {schema}"))
        except OperationalError as error:
            give_up(f"no PostgreSQL answers at {url} (NOISECLEAN_TEST_POSTGRESQL): {error.orig}")
        own = url.update_query_dict({"options": f"-csearch_path={schema}"})
        address = own.render_as_string(hide_password=False)
        if parts:
            create_parts(address, parts, {})
        yield address
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    finally:
        engine.dispose()


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A transaction, past the code under test."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def read_rows(url: str, query: str) -> list[tuple[Any, ...]]:
    """What a query gives."""
    with connected(url) as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def newest_tree(url: str) -> bytes:
    """The newest tree of all sites."""
    rows = read_rows(url, "SELECT tree FROM noiseclean_tree ORDER BY version DESC LIMIT 1")
    return bytes(rows[0][0])


def stored_texts(database: Path) -> dict[str, str]:
    """The texts of the pages in an SQLite file, by address."""
    with Store(f"sqlite:///{database}", read_only=True) as store:
        return {page.url: page.cleaned.text for page in store.pages.with_text() if page.cleaned}


def run_statement(url: str, statement: str) -> None:
    """Change the database."""
    with connected(url) as connection:
        connection.execute(text(statement))
