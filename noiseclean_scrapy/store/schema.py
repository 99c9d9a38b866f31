"""The tables, their version, and what happens to a database of another version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    and_,
    func,
    insert,
    inspect,
    select,
    update,
)

from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store.columns import (
    CompressedMappings,
    CompressedText,
    StorableText,
    UTCDateTime,
)

SCHEMA_VERSION = 1

# From each older version the step that leads to the next one: {1: step_from_1_to_2}.
MIGRATIONS: Mapping[int, Callable[[Connection], None]] = MappingProxyType({})

# Two processes that meet an empty PostgreSQL take turns on this number ("noisclea" in ASCII).
_PREPARATION_LOCK = 0x6E6F6973636C6561

metadata = MetaData()

schema_table = Table(
    "noiseclean_schema",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
)

cluster_table = Table(
    "noiseclean_cluster",
    metadata,
    Column("name", StorableText, primary_key=True),
    Column("method", StorableText, nullable=False),
    Column("version", Integer, nullable=False),
    Column("learned", Integer, nullable=False),  # highest position of its pages
    Column("covered", Integer, nullable=False),  # highest position in its newest tree
)


def _cluster_column(*, primary_key: bool = False) -> Column[str]:
    reference = ForeignKey(cluster_table.c.name, ondelete="CASCADE")
    return Column("cluster", StorableText, reference, primary_key=primary_key, nullable=False)


tree_table = Table(
    "noiseclean_tree",
    metadata,
    _cluster_column(primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("method", StorableText, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("created_at", UTCDateTime, nullable=False),
    Column("size", Integer, nullable=False),
    Column("tree", LargeBinary),
)

page_table = Table(
    "noiseclean_page",
    metadata,
    Column("key", StorableText, primary_key=True),
    _cluster_column(),
    Column("url", StorableText, nullable=False),
    Column("body_hash", StorableText, nullable=False),
    Column("fetched_at", UTCDateTime, nullable=False),
    Column("position", Integer),
    Column("learned_version", Integer),
    Column("title", StorableText),
    Column("text", StorableText),
    Column("blocks", CompressedMappings),
    Column("clean_version", Integer),
    Column("visible_characters", Integer),
    Column("kept_characters", Integer),
)

html_table = Table(
    "noiseclean_page_html",
    metadata,
    Column("key", StorableText, ForeignKey(page_table.c.key, ondelete="CASCADE"), primary_key=True),
    Column("html", CompressedText, nullable=False),
)

is_provisional = and_(page_table.c.position.is_not(None), page_table.c.learned_version.is_(None))

Index("noiseclean_page_by_cluster", page_table.c.cluster, page_table.c.key)
Index(
    "noiseclean_page_provisional",
    page_table.c.cluster,
    page_table.c.position,
    page_table.c.key,
    sqlite_where=is_provisional,
    postgresql_where=is_provisional,
)


def prepare_schema(reader: Engine, writer: Engine, *, read_only: bool) -> None:
    """Create the tables in a database that has none of ours, migrate them, or refuse.

    Raises StoreError for a schema that is newer than this code, older without a way to here,
    incomplete, or (``read_only``) absent or older.
    """
    with reader.begin() as connection:
        version = _stored_version(connection)
    if version == SCHEMA_VERSION:
        return
    if read_only:
        _refuse_reading(version)
    with writer.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_PREPARATION_LOCK)))
        version = _stored_version(connection)  # another process may have been faster
        if version is None:
            metadata.create_all(connection, checkfirst=False)
            connection.execute(insert(schema_table).values(version=SCHEMA_VERSION))
        else:
            _migrate(connection, version)


def _stored_version(connection: Connection) -> int | None:
    ours = set(inspect(connection).get_table_names()) & set(metadata.tables)
    if not ours:
        return None
    if schema_table.name in ours:
        version: int | None = connection.execute(select(schema_table.c.version)).scalar()
        if version is not None:
            return version
    raise StoreError(
        f"the database has the tables {', '.join(sorted(ours))} but no schema version in "
        f"{schema_table.name}: restore it from a backup, or use another database"
    )


def _refuse_reading(version: int | None) -> None:
    if version is None:
        raise StoreError(
            "the database holds no noiseclean tables: run a crawl that writes it first"
        )
    if version < SCHEMA_VERSION:
        raise StoreError(
            f"the database has schema version {version}, this code reads version "
            f"{SCHEMA_VERSION}: open it once for writing, which migrates it"
        )
    _refuse_newer(version)


def _refuse_newer(version: int) -> None:
    raise StoreError(
        f"the database has schema version {version}, this code knows versions up to "
        f"{SCHEMA_VERSION}: upgrade noiseclean-scrapy, or use another database"
    )


def _migrate(connection: Connection, version: int) -> None:
    if version > SCHEMA_VERSION:
        _refuse_newer(version)
    for older in range(version, SCHEMA_VERSION):
        if older not in MIGRATIONS:
            raise StoreError(
                f"the database has schema version {version}, this code needs version "
                f"{SCHEMA_VERSION} and has no migration from version {older}: read it with the "
                f"noiseclean-scrapy release that wrote it, or use another database"
            )
        MIGRATIONS[older](connection)
    connection.execute(update(schema_table).values(version=SCHEMA_VERSION))
