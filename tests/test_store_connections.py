"""Connections to PostgreSQL: options of the URL, and sessions that outlive what they began with."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import datetime, timezone

import pytest
from sqlalchemy import create_engine, make_url, text

from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store import PageRecord, Store
from noiseclean_scrapy.store.engine import create_store_engine

pytestmark = pytest.mark.services

PAGE = PageRecord("1", "a", "http://a/", "0", datetime(2025, 3, 1, tzinfo=timezone.utc), 1, "<p>")


def with_option(url: str, **option: str) -> str:
    return make_url(url).update_query_dict(option).render_as_string(hide_password=False)


def prepared(url: str) -> int:
    """How many statements the server has prepared after a dozen equal ones."""
    engine = create_store_engine(url, read_only=False)
    try:
        with engine.connect() as connection:
            for _ in range(12):
                connection.execute(text("SELECT 1"))
            query = text("SELECT count(*) FROM pg_prepared_statements")
            return int(connection.execute(query).scalar_one())
    finally:
        engine.dispose()


def test_the_server_prepares_nothing_unless_the_url_says_so(postgresql_url: str) -> None:
    assert prepared(postgresql_url) == 0
    assert prepared(with_option(postgresql_url, prepare_threshold="None")) == 0
    assert prepared(with_option(postgresql_url, prepare_threshold="0")) > 0
    assert prepared(with_option(postgresql_url, prepare_threshold="5")) == 1


def test_an_option_that_the_driver_refuses_is_one_sentence(postgresql_url: str) -> None:
    with pytest.raises(StoreError, match="an option of the database URL is refused"):
        Store(with_option(postgresql_url, prepare_threshold="never"))


@pytest.fixture
def own_database(postgresql_url: str) -> Iterator[str]:
    """URL of a database of the test's own."""
    server = make_url(postgresql_url).difference_update_query(["options"])
    url = server.set(database=f"noiseclean_test_{secrets.token_hex(8)}")
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {url.database} TEMPLATE template0"))
            try:
                yield url.render_as_string(hide_password=False)
            finally:
                connection.execute(text(f"DROP DATABASE {url.database} WITH (FORCE)"))
    finally:
        engine.dispose()


def test_a_database_that_was_read_only_for_a_moment_is_written_to_again(own_database: str) -> None:
    def let_write(is_allowed: bool) -> None:
        engine = create_engine(own_database, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("SET default_transaction_read_only = off"))
            value = "off" if is_allowed else "on"
            name = make_url(own_database).database
            alter = f"ALTER DATABASE {name} SET default_transaction_read_only = {value}"
            connection.execute(text(alter))
        engine.dispose()

    with Store(own_database) as store:
        let_write(False)
        store.close()  # its next session begins now
        with pytest.raises(StoreError, match="read-only transaction"):
            store.pages.write([PAGE], method="evidence")
        let_write(True)
        store.pages.write([PAGE], method="evidence")
        assert store.pages.count().pages == 1
