"""Rows of page clusters to records."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, ScalarSelect, and_, case, func, select

from noiseclean_scrapy.errors import DamagedError
from noiseclean_scrapy.store.records import MOST, ClusterRecord
from noiseclean_scrapy.store.schema import (
    cluster_table,
    html_table,
    is_provisional,
    page_table,
    tree_table,
)


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
    if row is None:
        return None
    record = _record(row, tree_bytes(row.tree))
    try:
        record.check()
    except ValueError as error:
        raise DamagedError(
            f"the stored site {name} is damaged: {error}; the next page that a crawl writes to it, "
            f"or `noiseclean check --repair`, mends it"
        ) from error
    return record


def covered_pages(cluster: str, learned: ColumnElement[int], upto: int = 0) -> ColumnElement[int]:
    """How many of the positions that are given no page beyond `upto` waits with."""
    waiting = _waiting_pages(cluster, upto)
    # More can wait than there are positions only where somebody else has written some.
    return case((waiting <= learned, learned - waiting), else_=0)


def _waiting_pages(cluster: str, upto: int) -> ScalarSelect[int]:
    """How many pages beyond the position `upto` wait for a tree; without HTML none does."""
    return (
        select(func.count())
        .join_from(page_table, html_table, html_table.c.key == page_table.c.key)
        .where(page_table.c.cluster == cluster, is_provisional, page_table.c.position > upto)
        .scalar_subquery()
    )


def read_clusters(connection: Connection, *conditions: ColumnElement[bool]) -> list[ClusterRecord]:
    """Clusters by name, all or those that the conditions admit, without their trees."""
    rows = connection.execute(select(cluster_table).where(*conditions))
    found = [_record(row, None) for row in rows if not is_damaged_cluster(row)]
    # Databases order names by their own language.
    return sorted(found, key=attrgetter("name"))


def damaged_clusters(connection: Connection) -> list[str]:
    """The names of the clusters that cannot be, as they are or beside their pages and trees."""
    name = cluster_table.c.name
    query = select(cluster_table, highest_position(name).label("highest"))
    rows = connection.execute(query.add_columns(newest_version(name).label("newest")))
    return [
        row.name
        for row in rows
        if is_damaged_cluster(row) or row.learned < row.highest or row.version != row.newest
    ]


def highest_position(cluster: str | ColumnElement[str]) -> ScalarSelect[int]:
    """The highest position of a cluster's pages, 0 without any."""
    return _highest(page_table.c.position, page_table.c.cluster == cluster)


def newest_version(cluster: str | ColumnElement[str]) -> ScalarSelect[int]:
    """The version of a cluster's newest tree, 0 without any."""
    return _highest(tree_table.c.version, tree_table.c.cluster == cluster)


def _highest(column: ColumnElement[int], condition: ColumnElement[bool]) -> ScalarSelect[int]:
    highest = select(func.coalesce(func.max(column), 0))
    return highest.where(condition, column.between(0, MOST)).scalar_subquery()


def is_damaged_cluster(row: Row[Any]) -> bool:
    """Whether a cluster's row has values that no cluster can have."""
    try:
        _record(row, None).check()
    except ValueError:
        return True
    return False


def tree_bytes(value: object) -> bytes | None:
    """A stored tree; what is none in a column without types is one that is damaged."""
    if value is None or isinstance(value, bytes):
        return value
    return bytes(value) if isinstance(value, memoryview) else b""


def _record(row: Row[Any], tree: bytes | None) -> ClusterRecord:
    return ClusterRecord(row.name, row.method, row.version, row.learned, tree, row.covered)
