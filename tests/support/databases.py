"""Real databases for tests: an SQLite file, and a PostgreSQL schema of the test's own."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import OperationalError

POSTGRESQL_URL = os.environ.get(
    "NOISECLEAN_TEST_POSTGRESQL", "postgresql+psycopg://postgres@127.0.0.1:5432/test"
)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of an empty database, once for each kind of database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'noiseclean.db'}"
    else:
        yield from postgresql_schema()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """URL of an SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'noiseclean.db'}"


def postgresql_schema() -> Iterator[str]:
    """URL whose search path is a new schema, dropped afterwards; skips without a server, not in CI.

    The server is the one of the environment variable NOISECLEAN_TEST_POSTGRESQL.
    """
    url = make_url(POSTGRESQL_URL)
    schema = f"noiseclean_test_{secrets.token_hex(8)}"
    engine = create_engine(url, connect_args={"connect_timeout": 3})
    try:
        try:
            with engine.begin() as connection:
                connection.execute(text(f"CREATE SCHEMA {schema}"))
        except OperationalError as error:
            reason = f"no PostgreSQL answers at {url} (NOISECLEAN_TEST_POSTGRESQL): {error.orig}"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        yield url.update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(
            hide_password=False
        )
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    finally:
        engine.dispose()


def read_rows(url: str, query: str) -> list[tuple[Any, ...]]:
    """What a query gives, past the code under test."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]
    finally:
        engine.dispose()


def run_statement(url: str, statement: str) -> None:
    """Change the database, past the code under test."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            connection.execute(text(statement))
    finally:
        engine.dispose()
