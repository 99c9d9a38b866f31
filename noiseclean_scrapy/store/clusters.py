"""The page clusters of a store, and the trees that were learned of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from math import isfinite
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, select

from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store import cluster_rows, tree_rows, writing
from noiseclean_scrapy.store.damage import DamageLog
from noiseclean_scrapy.store.database import Database
from noiseclean_scrapy.store.records import (
    MOST,
    Cleaned,
    ClusterRecord,
    Holds,
    NewTree,
    PageRecord,
    SiteSummary,
    TreeUpdate,
    TreeVersionRecord,
)
from noiseclean_scrapy.store.schema import cluster_table, is_provisional, page_table, tree_table
from noiseclean_scrapy.store.search.indexing import in_chunks

# Of a site's newest pages the mean fit is told.
NEWEST_PAGES = 100


class Clusters:
    """`Store.clusters`: page clusters by name, and the versions of their trees."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, name: str) -> ClusterRecord | None:
        """The cluster with its newest tree, None when it is not stored."""
        with self._database.transaction() as connection:
            return cluster_rows.read_cluster(connection, name)

    def all(self) -> list[ClusterRecord]:
        """All clusters by name, without their trees."""
        with self._database.transaction() as connection:
            return cluster_rows.read_clusters(connection)

    def among(self, names: Sequence[str]) -> list[ClusterRecord]:
        """Those of some clusters that are stored, by name, without their trees."""
        with self._database.transaction() as connection:
            found = [
                cluster_rows.read_clusters(connection, cluster_table.c.name.in_(chunk))
                for chunk in in_chunks(names)
            ]
        return [cluster for clusters in found for cluster in clusters]

    def methods(self) -> set[str]:
        """The kinds of the clusters' trees."""
        with self._database.transaction() as connection:
            methods = connection.execute(select(cluster_table.c.method).distinct()).scalars()
            return {method for method in methods if isinstance(method, str)}

    def idle(self, since: datetime) -> list[str]:
        """The clusters with provisional pages, all of these fetched before ``since``."""
        with self._database.transaction() as connection:
            # Their index has the provisional pages alone: of a huge site no more are read.
            new = (
                select(page_table.c.key)
                .where(page_table.c.cluster == cluster_table.c.name, is_provisional)
                .where(page_table.c.fetched_at >= since)
                .exists()
            )
            query = select(cluster_table.c.name).where(
                cluster_table.c.learned > cluster_table.c.covered, ~new
            )
            names = connection.execute(query).scalars()
            return sorted(name for name in names if isinstance(name, str))

    def summaries(self) -> list[SiteSummary]:
        """All clusters by name, in numbers."""
        with self._database.transaction() as connection:
            rows = connection.execute(_summaries())
            found = [_site_summary(row) for row in rows if isinstance(row.name, str)]
            return sorted(found, key=attrgetter("name"))

    def fits(self, clusters: Sequence[str], limit: int) -> list[list[tuple[datetime, float]]]:
        """For each cluster times and fits of a sample of its pages, in the order of time."""
        with self._database.transaction() as connection:
            return [_fits(connection, name, limit) for name in clusters]

    def tree_versions(self, cluster: str) -> list[TreeVersionRecord]:
        """The saved trees of a cluster, oldest first."""
        with self._database.transaction() as connection:
            columns = [column for column in tree_table.c if column is not tree_table.c.tree]
            query = (
                select(*columns)
                .where(tree_table.c.cluster == cluster)
                .order_by(tree_table.c.version)
            )
            found = [TreeVersionRecord(**row._mapping) for row in connection.execute(query)]
            return list(filter(_is_sound, found))

    def trees(self, cluster: str) -> list[tuple[int, bytes]]:
        """The trees of a cluster that still have their bytes, by version, newest first."""
        with self._database.transaction() as connection:
            query = (
                select(tree_table.c.version, tree_table.c.tree)
                .where(tree_table.c.cluster == cluster, tree_table.c.tree.is_not(None))
                .order_by(tree_table.c.version.desc())
            )
            return [
                (row.version, cluster_rows.tree_bytes(row.tree) or b"")
                for row in connection.execute(query)
            ]

    def save_tree(
        self,
        cluster: str,
        *,
        method: str,
        version: int,
        tree: bytes,
        learned: int,
        clean: Callable[[PageRecord], Cleaned | None],
    ) -> list[str]:
        """Save a new tree and clean again what it covers, all or nothing.

        The provisional pages up to position ``learned`` become covered: those with a text and HTML
        are given to ``clean`` (which must not use this store; None leaves the page as it is), and
        their HTML is dropped unless ``store_html``. Returns the keys of the pages cleaned again, by
        position. Other writers of this cluster (SQLite: of this database) wait meanwhile.

        Raises StoreError when the cluster already has this version or a newer one: another process
        was faster. What ``clean`` raises comes through, and nothing has changed.
        """
        with self._database.transaction(write=True) as connection:
            row = writing.lock_cluster(connection, cluster, method=method, learned=learned)
            if version <= row.version:
                raise StoreError(
                    f"cluster {cluster!r} has tree version {row.version}, so version {version} is "
                    f"too old to save: read the stored tree, merge, save version {row.version + 1}"
                )
            new = NewTree(method, tree, clean)
            return self._save(connection, row, new, version=version, upto=learned)

    def add_tree(
        self,
        cluster: str,
        *,
        method: str,
        limit: int,
        train: Callable[[ClusterRecord, list[str], Iterator[PageRecord]], NewTree | None],
        holds: Holds = lambda page: False,
    ) -> TreeUpdate:
        """Give a cluster a new tree that covers its first ``limit`` provisional pages, or none.

        ``train`` (which must not use this store) is given the cluster with its newest tree, the
        keys of these pages, and the pages with their HTML (unless `holds`, which is asked just
        before, says that it is not needed), to be read before it returns. The tree that it returns
        becomes the next version, and these pages are cleaned again, as by `save_tree`;
        None changes nothing. Until the end nobody else can write to this cluster (SQLite: to this
        database), so that a page is learned by one process, once.

        What ``train`` raises comes through, and nothing has changed.
        """
        with self._database.transaction(write=True) as connection:
            row = writing.lock_cluster(connection, cluster, method=method)
            newest = cluster_rows.read_cluster(connection, cluster)
            assert newest
            upto, keys = tree_rows.next_pages(connection, cluster, limit)
            unread = DamageLog()
            new = train(
                newest, keys, tree_rows.read_pages(connection, cluster, upto, holds, unread)
            )
            writing.forget_html(connection, sorted(unread.keys))
            self._database.damage.take(unread)
            cleaned: list[str] = []
            if new is not None:
                cleaned = self._save(connection, row, new, version=row.version + 1, upto=upto)
            else:
                tree_rows.count_covered(connection, row, 0)
            (since,) = cluster_rows.read_clusters(connection, cluster_table.c.name == row.name)
            return TreeUpdate(since, tuple(cleaned))

    def replace_damaged_tree(
        self, cluster: str, *, version: int, tree: bytes, known_version: int
    ) -> int:
        """Put a tree in the place of the damaged newest one; the number of pages to learn again.

        ``tree`` has learned what the version ``known_version`` (0: none) had, and becomes the next
        version. Pages that newer trees have learned become provisional again, if their HTML is
        stored. Changes nothing when ``version`` is not the newest any more.
        """
        with self._database.transaction(write=True) as connection:
            row = writing.lock_cluster(connection, cluster, method="")
            if row.version != version:
                return 0
            return tree_rows.replace_tree(connection, row, tree, known_version)

    def delete(self, name: str) -> int:
        """Delete a cluster, its trees and its pages; the number of pages deleted."""
        with self._database.transaction(write=True) as connection:
            return writing.delete_pages_and_trees(connection, name)

    def damaged(self) -> list[str]:
        """The names of the clusters whose rows have values that this cluster cannot have."""
        with self._database.transaction() as connection:
            return cluster_rows.damaged_clusters(connection)

    def mend(self, name: str) -> None:
        """Rebuild the row of a damaged cluster from its trees and its pages."""
        with self._database.transaction(write=True) as connection:
            row = writing.lock_cluster(connection, name, method="")
            writing.mend_cluster(connection, name, row.method)

    def _save(
        self, connection: Connection, row: Row[Any], new: NewTree, *, version: int, upto: int
    ) -> list[str]:
        return tree_rows.save_tree(
            connection,
            row,
            new,
            version=version,
            upto=upto,
            store_html=self._database.store_html,
            analyzer=self._database.indexer,
            damage=self._database.damage,
        )


def _fits(connection: Connection, cluster: str, limit: int) -> list[tuple[datetime, float]]:
    """Times and fits of some pages of a cluster in the order of time.

    Keys are hashes, so the first ones are a fair sample, and the index has them side by side.
    """
    page = page_table.c
    query = select(page.fetched_at, page.fit).where(page.cluster == cluster, page.fit.is_not(None))
    rows = connection.execute(query.order_by(page.key).limit(limit))
    return sorted(
        (row.fetched_at, row.fit)
        for row in rows
        if isinstance(row.fetched_at, datetime) and _number(row.fit) is not None
    )


def _number(value: object) -> float | None:
    """A stored number; None for what is none in a column without types."""
    return value if isinstance(value, (int, float)) and isfinite(value) else None


def _is_sound(record: TreeVersionRecord) -> bool:
    try:
        record.check()
    except ValueError:
        return False
    return True


def _summaries() -> Select[Any]:
    """All clusters by name, with numbers of their pages."""
    page = page_table.c
    characters = page.visible_characters, page.kept_characters
    # Values that no page has are left out: they would take the others of their site along.
    are_counts = and_(*(column.between(0, MOST) for column in characters))
    visible, kept = (func.sum(column).filter(are_counts) for column in characters)
    first, last = (time.replace(tzinfo=timezone.utc) for time in (datetime.min, datetime.max))
    is_time = page.fetched_at.between(first, last)
    counts = select(
        page.cluster,
        func.count().label("pages"),
        func.count(page.clean_version).label("with_text"),
        func.count().filter(is_provisional).label("provisional"),
        visible.label("visible_characters"),
        kept.label("kept_characters"),
        func.count().filter(page.kept_characters == 0, page.visible_characters > 0).label("empty"),
        func.min(page.fetched_at).filter(is_time).label("first_fetch"),
        func.max(page.fetched_at).filter(is_time).label("last_fetch"),
    )
    counted = counts.group_by(page.cluster).subquery()
    age = func.row_number().over(partition_by=page.cluster, order_by=page.fetched_at.desc())
    dated = select(page.cluster, page.fit, age.label("age")).where(page.fit.is_not(None)).subquery()
    newest = select(dated.c.cluster, func.avg(dated.c.fit).label("fit"))
    fitted = newest.where(dated.c.age <= NEWEST_PAGES).group_by(dated.c.cluster).subquery()
    return (
        select(cluster_table, counted, fitted.c.fit)
        .outerjoin(counted, counted.c.cluster == cluster_table.c.name)
        .outerjoin(fitted, fitted.c.cluster == cluster_table.c.name)
    )


def _site_summary(row: Row[Any]) -> SiteSummary:
    return SiteSummary(
        name=row.name,
        method=row.method if isinstance(row.method, str) else "",
        version=int(_number(row.version) or 0),
        learned=int(_number(row.learned) or 0),
        pages=row.pages or 0,
        with_text=row.with_text or 0,
        provisional=row.provisional or 0,
        visible_characters=int(_number(row.visible_characters) or 0),
        kept_characters=int(_number(row.kept_characters) or 0),
        fit=_number(row.fit),
        empty=row.empty or 0,
        first_fetch=row.first_fetch if isinstance(row.first_fetch, datetime) else None,
        last_fetch=row.last_fetch if isinstance(row.last_fetch, datetime) else None,
    )
