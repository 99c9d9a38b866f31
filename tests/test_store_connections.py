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
from noiseclean_scrapy.store.partitioning import create_parts
from noiseclean_scrapy.store.preparing import await_turn
from tests.support import databases

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


def refused(url: str, *, read_only: bool = False) -> str:
    with pytest.raises(StoreError) as caught:
        Store(url, read_only=read_only)
    return str(caught.value)


def with_setting(url: str, setting: str) -> str:
    """The URL of a PostgreSQL schema whose connections have one setting more."""
    parsed = make_url(url)
    options = f"{parsed.query['options']} -c{setting}"
    own = parsed.update_query_dict({"options": options})
    return own.render_as_string(hide_password=False)


def test_a_postgresql_that_may_not_be_written_to_is_refused_at_the_start(
    postgresql_url: str,
) -> None:
    with Store(postgresql_url) as store:
        store.pages.write([PAGE], method="evidence")
    schema = str(make_url(postgresql_url).query["options"]).rpartition("=")[2]
    role = f"{schema}_reader"
    rights = (f"USAGE ON SCHEMA {schema}", f"SELECT ON ALL TABLES IN SCHEMA {schema}")
    databases.run_statement(postgresql_url, f"CREATE ROLE {role}")
    try:
        for right in rights:
            databases.run_statement(postgresql_url, f"GRANT {right} TO {role}")
        reading = with_setting(postgresql_url, f"role={role}")
        closed = with_setting(postgresql_url, "default_transaction_read_only=on")
        written = ("cluster", "page", "page_html", "search", "tree")
        names = ", ".join(f"noiseclean_{name}" for name in written)
        assert f"this role may not write to {names}: grant it SELECT, INSERT" in refused(reading)
        assert "the database is read-only" in refused(closed)
        for url in (reading, closed):
            with Store(url, read_only=True) as store:
                assert store.pages.count().pages == 1
        for name in written:
            assert f"may not write to noiseclean_{name}" in refused(reading)
            right = f"INSERT, UPDATE ON noiseclean_{name}"
            databases.run_statement(postgresql_url, f"GRANT {right} TO {role}")
        with Store(reading, store_html=True) as store:
            store.pages.write([PAGE], method="evidence")
    finally:
        databases.run_statement(postgresql_url, f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_search_path_without_a_schema_is_told(postgresql_url: str) -> None:
    nowhere = with_setting(postgresql_url, "search_path=nowhere")
    for read_only in (False, True):
        told = refused(nowhere, read_only=read_only)
        assert "the connection's search_path, nowhere, names no schema that is there" in told
    with pytest.raises(StoreError, match="search_path, nowhere, names no schema"):
        create_parts(nowhere, 2, {})


def test_no_timeout_of_statements_holds_while_tables_are_made(postgresql_url: str) -> None:
    engine = create_store_engine(
        with_setting(postgresql_url, "statement_timeout=30s"), read_only=False
    )
    shown = text("SHOW statement_timeout")
    try:
        with engine.connect() as connection:
            with connection.begin():
                await_turn(connection)
                assert connection.execute(shown).scalar_one() == "0"
            assert connection.execute(shown).scalar_one() == "30s"
    finally:
        engine.dispose()
