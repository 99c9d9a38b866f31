"""From whatever a database holds to the tables of this version, or to a refusal."""

from __future__ import annotations

from sqlalchemy import (
    Connection,
    Engine,
    MetaData,
    bindparam,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.exc import OperationalError

from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store.migrations import MIGRATIONS
from noiseclean_scrapy.store.schema import (
    SCHEMA_VERSION,
    cluster_table,
    html_table,
    metadata,
    page_table,
    schema_table,
    tree_table,
)
from noiseclean_scrapy.store.search import fulltext, fulltext_postgresql
from noiseclean_scrapy.store.search.indexing import index_pages
from noiseclean_scrapy.store.search.terms import Analyzer

# Two processes that meet an empty PostgreSQL take turns on this number ("noisclea" in ASCII).
_PREPARATION_LOCK = 0x6E6F6973636C6561
_ENCODINGS = {"UTF8", "SQL_ASCII"}
"""Those in which PostgreSQL stores any page; the latter takes bytes as they are."""
_WRITTEN = [
    *(table.name for table in (cluster_table, html_table, page_table, tree_table)),
    fulltext_postgresql.TABLE,
]
"""What every crawl writes to; of an older version some may be missing."""
_LOCKED = text(
    """
    SELECT relname FROM pg_class WHERE relname IN :names AND pg_table_is_visible(oid) AND NOT
    (has_any_column_privilege(oid, 'INSERT') AND has_any_column_privilege(oid, 'UPDATE'))
    ORDER BY relname
    """
).bindparams(bindparam("names", expanding=True))


def needs_preparing(reader: Engine, *, read_only: bool, create: bool = True) -> bool:
    """Whether tables are to be created or migrated before this code can use the database.

    Raises StoreError for a schema that is incomplete, (``read_only``) of another version or
    absent, or (without ``create``) absent; and where one cannot write, but wants to.
    """
    with reader.begin() as connection:
        version = stored_version(connection)
        if not read_only:
            need_writable(connection, has_tables=version is not None)
    if version != SCHEMA_VERSION and (read_only or (version is None and not create)):
        _refuse_reading(version)
    return version != SCHEMA_VERSION


def prepare_schema(writer: Engine) -> None:
    """Create the tables in a database that has none of ours, or migrate them.

    Raises StoreError for a schema that is newer than this code, or older without a way to here.
    """
    with writer.begin() as connection:
        await_turn(connection)
        version = stored_version(connection)  # another process may have been faster
        if version is None:
            create_schema(connection)
        else:
            _migrate(connection, version)


def await_turn(connection: Connection) -> None:
    """Let no other process prepare the same PostgreSQL before the commit.

    Waiting and preparing may take longer than the statements of a crawl should.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(select(func.pg_advisory_xact_lock(_PREPARATION_LOCK)))


def need_writable(connection: Connection, *, has_tables: bool = False) -> None:
    """Raise StoreError for a database that will not store any page, or not in its tables.

    SQLite's own error where it is one of SQLite's.
    """
    if connection.dialect.name == "sqlite":
        if has_tables:
            _try_writing(connection)
        return
    encoding = connection.execute(text("SHOW server_encoding")).scalar()
    # pg8000 decodes as ASCII what the server calls so.
    if encoding not in (_ENCODINGS if connection.dialect.driver != "pg8000" else {"UTF8"}):
        raise StoreError(
            f"the database has the encoding {encoding}, which lacks letters of most pages: create "
            f"it with `createdb -T template0 -E UTF8`"
        )
    if connection.execute(text("SHOW transaction_read_only")).scalar() == "on":
        raise StoreError("the database is read-only, or opened as such")
    if has_tables and (locked := connection.execute(_LOCKED, {"names": _WRITTEN}).scalars().all()):
        raise StoreError(
            f"this role may not write to {', '.join(locked)}: grant it SELECT, INSERT, UPDATE and "
            f"DELETE on all tables of the schema"
        )


def _try_writing(connection: Connection) -> None:
    try:
        with connection.begin_nested() as trial:
            connection.execute(update(schema_table).values(version=schema_table.c.version))
            trial.rollback()
    except OperationalError as error:
        # One that reads already waits for no other process: that may write here, so may this one.
        if "locked" not in str(error.orig):
            raise


def create_schema(connection: Connection, tables: MetaData = metadata, *, by: str = "") -> None:
    """Create the tables and the search index, parted as `tables` and `by` say."""
    tables.create_all(connection, checkfirst=False)
    fulltext.backend(connection).create(connection, by)
    connection.execute(insert(schema_table).values(version=SCHEMA_VERSION))


def stored_version(connection: Connection) -> int | None:
    """The version of the tables of ours that are there, None without any; raises StoreError."""
    ours = set(inspect(connection).get_table_names()) & set(metadata.tables)
    if not ours:
        _need_schema(connection)
        return None
    if schema_table.name in ours:
        version: int | None = connection.execute(select(schema_table.c.version)).scalar()
        # A view in the place of a table may never end.
        if version == SCHEMA_VERSION and (missing := metadata.tables.keys() - ours):
            raise StoreError(
                f"the database has no table {', '.join(sorted(missing))}: restore it from a "
                f"backup, or use another database"
            )
        if version is not None:
            return version
    raise StoreError(
        f"the database has the tables {', '.join(sorted(ours))} but no schema version in "
        f"{schema_table.name}: restore it from a backup, or use another database"
    )


def _need_schema(connection: Connection) -> None:
    """Raise StoreError for a PostgreSQL connection that can neither have nor get tables."""
    if connection.dialect.name != "postgresql":
        return
    schema, path = connection.execute(
        select(func.current_schema(), func.current_setting("search_path"))
    ).one()
    if schema is None:
        raise StoreError(
            f"the connection's search_path, {path}, names no schema that is there and that this "
            f"role may use: create one, grant USAGE on it, or name another one in search_path"
        )


def _refuse_reading(version: int | None) -> None:
    if version is None:
        raise StoreError(
            "the database holds no noiseclean tables: run a crawl that writes it first"
        )
    if version < SCHEMA_VERSION:
        _check_steps(version)
        raise StoreError(
            f"the database has schema version {version}, this code reads version "
            f"{SCHEMA_VERSION}: `noiseclean index` migrates it"
        )
    _refuse_newer(version)


def _refuse_newer(version: int) -> None:
    raise StoreError(
        f"the database has schema version {version}, this code knows versions up to "
        f"{SCHEMA_VERSION}: upgrade noiseclean-scrapy, or use another database"
    )


def _check_steps(version: int) -> None:
    for older in range(version, SCHEMA_VERSION):
        if older not in MIGRATIONS:
            raise StoreError(
                f"the database has schema version {version}, this code needs version "
                f"{SCHEMA_VERSION} and has no migration from version {older}: read it with the "
                f"noiseclean-scrapy release that wrote it, or use another database"
            )


def _migrate(connection: Connection, version: int) -> None:
    if version > SCHEMA_VERSION:
        _refuse_newer(version)
    _check_steps(version)
    needs_index = False
    for older in range(version, SCHEMA_VERSION):
        needs_index |= MIGRATIONS[older](connection)
    if needs_index:
        # By the code that will search, once the tables are those that it knows.
        keys = select(page_table.c.key).where(page_table.c.text.is_not(None))
        index_pages(connection, Analyzer(), connection.execute(keys).scalars().all())
    connection.execute(update(schema_table).values(version=SCHEMA_VERSION))
