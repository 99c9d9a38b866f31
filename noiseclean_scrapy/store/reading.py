"""Rows to records: the queries of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    and_,
    func,
    literal,
    null,
    select,
    tuple_,
)

from noiseclean_scrapy.store.columns import StorableText
from noiseclean_scrapy.store.records import (
    Cleaned,
    ClusterRecord,
    PageCounts,
    PageRecord,
    TreeVersionRecord,
)
from noiseclean_scrapy.store.schema import (
    cluster_table,
    html_table,
    is_provisional,
    page_table,
    tree_table,
)

# Pages with their HTML can be large: a chunk must fit into memory many times over.
CHUNK_PAGES = 50

Place = TypeVar("Place")


def read_in_chunks(
    read_chunk: Callable[[Place], list[PageRecord]], place: Callable[[PageRecord], Place], at: Place
) -> Iterator[PageRecord]:
    """Pages of one chunk after the other, each read after the ``place`` where the last ended."""
    while chunk := read_chunk(at):
        yield from chunk
        at = place(chunk[-1])


def read_cluster(connection: Connection, name: str) -> ClusterRecord | None:
    """The cluster with its newest tree."""
    newest = and_(
        tree_table.c.cluster == cluster_table.c.name,
        tree_table.c.version == cluster_table.c.version,
    )
    query = (
        select(cluster_table, tree_table.c.tree)
        .outerjoin(tree_table, newest)
        .where(cluster_table.c.name == name)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else _cluster_record(row, row.tree)


def read_clusters(connection: Connection) -> list[ClusterRecord]:
    """All clusters by name, without their trees."""
    rows = connection.execute(select(cluster_table).order_by(cluster_table.c.name))
    return [_cluster_record(row, None) for row in rows]


def read_tree_versions(connection: Connection, cluster: str) -> list[TreeVersionRecord]:
    """The saved trees of a cluster, oldest first."""
    columns = [column for column in tree_table.c if column is not tree_table.c.tree]
    query = select(*columns).where(tree_table.c.cluster == cluster).order_by(tree_table.c.version)
    return [TreeVersionRecord(**row._mapping) for row in connection.execute(query)]


def read_page(connection: Connection, key: str) -> PageRecord | None:
    """The page without its HTML."""
    row = connection.execute(_pages().where(page_table.c.key == key)).one_or_none()
    return None if row is None else _page_record(row)


def read_pages_with_text(
    connection: Connection, cluster: str | None, after: str
) -> list[PageRecord]:
    """The next chunk, by key, of the pages that have a text."""
    query = _pages().where(page_table.c.text.is_not(None), page_table.c.key > after)
    if cluster is not None:
        query = query.where(page_table.c.cluster == cluster)
    rows = connection.execute(query.order_by(page_table.c.key).limit(CHUNK_PAGES))
    return [_page_record(row) for row in rows]


def read_provisional(
    connection: Connection, cluster: str, after: tuple[int, str], *conditions: ColumnElement[bool]
) -> list[PageRecord]:
    """The next chunk, by position and key, of the provisional pages and their HTML."""
    here = tuple_(page_table.c.position, page_table.c.key)
    query = (
        _pages(html_table.c.html)
        .join(html_table, html_table.c.key == page_table.c.key)
        .where(page_table.c.cluster == cluster, is_provisional, *conditions)
        .where(here > tuple_(literal(after[0], Integer), literal(after[1], StorableText)))
        .order_by(page_table.c.position, page_table.c.key)
        .limit(CHUNK_PAGES)
    )
    return [_page_record(row) for row in connection.execute(query)]


def provisional_place(page: PageRecord) -> tuple[int, str]:
    """Where a provisional page stands in the order of ``read_provisional``."""
    return page.position or 0, page.key


def read_counts(connection: Connection, cluster: str | None) -> PageCounts:
    """Numbers of pages, of one cluster or of all."""
    query = select(
        func.count(),
        func.count(page_table.c.text),
        func.count().filter(is_provisional),
    ).select_from(page_table)
    if cluster is not None:
        query = query.where(page_table.c.cluster == cluster)
    pages, with_text, provisional = connection.execute(query).one()
    return PageCounts(pages, with_text, provisional)


def _pages(html: ColumnElement[Any] | None = None) -> Select[Any]:
    return select(page_table, (null() if html is None else html).label("html"))


def _cluster_record(row: Row[Any], tree: bytes | None) -> ClusterRecord:
    return ClusterRecord(row.name, row.method, row.version, row.learned, tree)


def _page_record(row: Row[Any]) -> PageRecord:
    cleaned = None
    if row.text is not None:
        cleaned = Cleaned(
            row.title,
            row.text,
            row.blocks,
            row.clean_version,
            row.visible_characters,
            row.kept_characters,
        )
    return PageRecord(
        row.key,
        row.cluster,
        row.url,
        row.body_hash,
        row.fetched_at,
        row.position,
        row.html,
        cleaned,
        row.learned_version,
    )
