"""The tables and their version."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    and_,
)

from noiseclean_scrapy.store.column_types import (
    CompressedText,
    KeyText,
    PackedBlocks,
    StorableText,
    UTCDateTime,
)
from noiseclean_scrapy.store.records import EARLIER_BODY

SCHEMA_VERSION = 3
"""Raised with the form of tables and of trees: what earlier versions cannot read they refuse.

They would take a tree of another form for a damaged one, and put their own in its place.
"""

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
    Column("learned", Integer, nullable=False),  # highest position given to a page
    Column("covered", Integer, nullable=False),  # number of positions its newest tree covers
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
    Column("key", KeyText, primary_key=True),
    _cluster_column(),
    Column("url", StorableText, nullable=False),
    Column("body_hash", StorableText, nullable=False),
    Column("fetched_at", UTCDateTime, nullable=False),
    Column("position", Integer),
    Column("learned_version", Integer),
    # Small columns first: SQLite follows no overflow pages to read them.
    Column("author", StorableText),
    Column("published", UTCDateTime),
    Column("language", StorableText),
    Column("canonical_url", StorableText),
    Column("image", StorableText),
    Column("clean_version", Integer),
    Column("visible_characters", Integer),
    Column("kept_characters", Integer),
    Column("fit", Float),
    Column("title", StorableText),
    Column("text", StorableText),
    Column("blocks", PackedBlocks),
)

html_table = Table(
    "noiseclean_page_html",
    metadata,
    Column("key", KeyText, ForeignKey(page_table.c.key, ondelete="CASCADE"), primary_key=True),
    Column("html", CompressedText, nullable=False),
)

external_index_table = Table(
    "noiseclean_external_index",
    metadata,
    Column("name", StorableText, primary_key=True),
)

# What external indexes have not been told yet. A number is never used again, so a row that is
# replaced while its index is being told is another row.
outbox_table = Table(
    "noiseclean_outbox",
    metadata,
    Column("sequence", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column(
        "index_name",
        StorableText,
        ForeignKey(external_index_table.c.name, ondelete="CASCADE"),
        nullable=False,
    ),
    Column("page_key", KeyText, nullable=False),
    sqlite_autoincrement=True,
)

is_provisional = and_(page_table.c.position.is_not(None), page_table.c.learned_version.is_(None))
has_own_text = and_(page_table.c.text.is_not(None), page_table.c.clean_version != EARLIER_BODY)
"""Whether a page has a text, and of the body that it has now."""

Index("noiseclean_page_by_cluster", page_table.c.cluster, page_table.c.key)
# A URL may be longer than PostgreSQL's ordered indexes bear.
Index("noiseclean_page_by_url", page_table.c.url, postgresql_using="hash")
Index("noiseclean_page_by_language", page_table.c.language)
Index("noiseclean_outbox_by_page", outbox_table.c.page_key, outbox_table.c.index_name, unique=True)
Index(
    "noiseclean_page_provisional",
    page_table.c.cluster,
    page_table.c.position,
    page_table.c.key,
    sqlite_where=is_provisional,
    postgresql_where=is_provisional,
)
