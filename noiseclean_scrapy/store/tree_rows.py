"""Trees to rows: a locked cluster gets a new tree, and its provisional pages are covered by it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from noiseclean_scrapy.store.cluster_rows import covered_pages
from noiseclean_scrapy.store.damage import DamageLog
from noiseclean_scrapy.store.page_rows import (
    StoredPage,
    provisional_place,
    read_in_chunks,
    read_provisional,
)
from noiseclean_scrapy.store.records import Cleaned, Holds, NewTree, PageRecord
from noiseclean_scrapy.store.schema import (
    cluster_table,
    has_own_text,
    html_table,
    is_provisional,
    page_table,
    tree_table,
)
from noiseclean_scrapy.store.search.terms import Analyzer
from noiseclean_scrapy.store.writing import lock_pages, renew_damaged, write_cleaned


def next_pages(connection: Connection, cluster: str, limit: int) -> tuple[int, list[str]]:
    """Of the first ``limit`` provisional pages with HTML the last position (or 0), the keys."""
    page = page_table.c
    rows = connection.execute(
        select(page.key, page.position)
        .join(html_table, html_table.c.key == page.key)
        .where(page.cluster == cluster, is_provisional)
        .order_by(page.position, page.key)
        .limit(limit)
    ).all()
    return rows[-1].position if rows else 0, [row.key for row in rows]


def read_pages(
    connection: Connection, cluster: str, upto: int, holds: Holds, damage: DamageLog
) -> Iterator[PageRecord]:
    """The provisional pages up to a position, by position, with HTML unless somebody holds them."""

    def read_chunk(after: tuple[int, str]) -> list[StoredPage]:
        return _read_chunk(connection, cluster, after, holds, page_table.c.position <= upto)

    return read_in_chunks(read_chunk, provisional_place, (0, ""), damage)


def _read_chunk(
    connection: Connection,
    cluster: str,
    after: tuple[int, str],
    holds: Holds,
    *conditions: ColumnElement[bool],
) -> list[StoredPage]:
    pages = read_provisional(connection, cluster, after, *conditions, html=False)
    keys = [page.key for page in pages if not (isinstance(page, PageRecord) and holds(page))]
    if not keys:
        return pages
    these = page_table.c.key.in_(keys)
    whole = {page.key: page for page in read_provisional(connection, cluster, after, these)}
    if whole and not whole.keys() >= set(keys):
        # What has found no room is for the next chunk.
        while pages[-1].key not in whole:
            pages.pop()
    return [whole.get(page.key, page) for page in pages]


def save_tree(
    connection: Connection,
    cluster: Row[Any],
    new: NewTree,
    *,
    version: int,
    upto: int,
    store_html: bool,
    analyzer: Analyzer | None,
    damage: DamageLog,
) -> list[str]:
    """Add a tree to a locked cluster; the provisional pages up to a position become covered by it.

    Those with a text and HTML are cleaned again; gives their keys, by position.
    """
    count_covered(connection, cluster, upto)
    _write_tree(connection, cluster, new, version)
    keys = _clean_again(connection, cluster.name, upto, new, analyzer, damage)
    _cover_pages(connection, cluster.name, upto, version, store_html=store_html)
    return keys


def replace_tree(connection: Connection, cluster: Row[Any], tree: bytes, known_version: int) -> int:
    """Let what is after ``known_version`` be learned again, on top of ``tree``, the next version.

    Gives the number of pages that have become provisional; those without HTML stay as they are.
    """
    again = connection.execute(
        update(page_table)
        .where(page_table.c.cluster == cluster.name, page_table.c.learned_version > known_version)
        .where(page_table.c.key.in_(select(html_table.c.key)))
        .values(learned_version=None)
    ).rowcount
    count_covered(connection, cluster, 0)
    new = NewTree(cluster.method, tree, lambda page: None)
    _write_tree(connection, cluster, new, cluster.version + 1)
    return again


def count_covered(connection: Connection, cluster: Row[Any], upto: int) -> None:
    """Set how many positions of a locked cluster are covered once those up to ``upto`` are."""
    covered = covered_pages(cluster.name, cluster_table.c.learned, upto)
    connection.execute(
        update(cluster_table).where(cluster_table.c.name == cluster.name).values(covered=covered)
    )


def _write_tree(connection: Connection, cluster: Row[Any], new: NewTree, version: int) -> None:
    """Add a version; only it and the one before keep their bytes."""
    this = cluster_table.c.name == cluster.name
    connection.execute(
        insert(tree_table).values(
            cluster=cluster.name,
            version=version,
            method=new.method,
            pages=select(cluster_table.c.covered).where(this).scalar_subquery(),
            created_at=datetime.now(timezone.utc),
            size=len(new.tree),
            tree=new.tree,
        )
    )
    connection.execute(
        update(tree_table)
        .where(tree_table.c.cluster == cluster.name, tree_table.c.tree.is_not(None))
        .where(tree_table.c.version.not_in([version, cluster.version]))
        .values(tree=None)
    )
    connection.execute(update(cluster_table).where(this).values(method=new.method, version=version))


def _clean_again(
    connection: Connection,
    cluster: str,
    upto: int,
    new: NewTree,
    analyzer: Analyzer | None,
    damage: DamageLog,
) -> list[str]:
    """Clean the provisional pages up to a position that have a text of their HTML; their keys."""
    wanted = (page_table.c.position <= upto, has_own_text)
    lock_pages(connection, page_table.c.cluster == cluster, is_provisional, wanted[0])

    cleaned: list[str] = []

    def clean(page: PageRecord) -> Cleaned | None:
        made = new.clean(page)
        if made is not None:
            cleaned.append(page.key)
        return made

    def clean_chunk(after: tuple[int, str]) -> list[StoredPage]:
        pages = _read_chunk(connection, cluster, after, new.holds, *wanted)
        found = renew_damaged(connection, pages, damage)
        write_cleaned(connection, found, clean, analyzer=analyzer)
        return pages

    for _ in read_in_chunks(clean_chunk, provisional_place, (0, ""), damage):
        pass
    return cleaned


def _cover_pages(
    connection: Connection, cluster: str, upto: int, version: int, *, store_html: bool
) -> None:
    """Mark the provisional pages up to a position as covered; their HTML has done its work."""
    covered = (page_table.c.cluster == cluster, is_provisional, page_table.c.position <= upto)
    if not store_html:
        keys = select(page_table.c.key).where(*covered)
        connection.execute(delete(html_table).where(html_table.c.key.in_(keys)))
    connection.execute(update(page_table).where(*covered).values(learned_version=version))
