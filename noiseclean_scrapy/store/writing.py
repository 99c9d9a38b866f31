"""Records to rows: the statements inside the store's transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Table,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    true,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import outbox, reading
from noiseclean_scrapy.store.columns import storable_text
from noiseclean_scrapy.store.indexing import in_chunks, index_pages
from noiseclean_scrapy.store.reading import (
    provisional_place,
    read_in_chunks,
    read_provisional,
)
from noiseclean_scrapy.store.records import Cleaned, PageRecord
from noiseclean_scrapy.store.schema import (
    cluster_table,
    html_table,
    is_provisional,
    page_table,
    tree_table,
)
from noiseclean_scrapy.store.terms import Analyzer


def lock_cluster(connection: Connection, name: str, *, method: str, learned: int) -> Row[Any]:
    """The cluster's row, created when missing, ``learned`` raised; ours until the commit."""
    statement = _insert(connection, cluster_table).values(
        name=name, method=method, version=0, learned=learned, covered=0
    )
    higher = case(
        (cluster_table.c.learned > statement.excluded.learned, cluster_table.c.learned),
        else_=statement.excluded.learned,
    )
    upsert = statement.on_conflict_do_update(
        index_elements=[cluster_table.c.name], set_={"learned": higher}
    )
    return connection.execute(upsert.returning(*cluster_table.c)).one()


def write_pages(
    connection: Connection,
    pages: Sequence[PageRecord],
    *,
    method: str,
    store_html: bool,
    analyzer: Analyzer,
) -> None:
    """Upsert pages, what is known of them and their cleaning, and the HTML that is still needed."""
    # Every writer takes its locks in the same order, clusters first: no deadlock.
    pages = sorted(pages, key=lambda page: page.key)
    learned: dict[str, int] = {}
    for page in pages:
        name = storable_text(page.cluster)
        learned[name] = max(learned.get(name, 0), page.position or 0)
    clusters = {
        name: lock_cluster(connection, name, method=method, learned=learned[name])
        for name in sorted(learned)
    }
    rows = [_page_row(page, clusters[storable_text(page.cluster)]) for page in pages]
    connection.execute(_page_upsert(connection), rows)
    html = [
        {"page_key": page.key, "page_html": page.html} for page in pages if page.html is not None
    ]
    if html:
        connection.execute(_html_upsert(connection, store_html=store_html), html)
    _update_pages(connection, pages)
    told = [page.key for page in pages if page.cleaned is not None or page.metadata is not None]
    index_pages(connection, analyzer, told)
    for chunk in in_chunks([page.key for page in pages]):
        outbox.enqueue(connection, page_table.c.key.in_(chunk))


def write_cleaned(
    connection: Connection, pages: Sequence[PageRecord], *, analyzer: Analyzer
) -> None:
    """Replace what cleaning gave for locked pages."""
    keys = [page.key for page in pages]
    _update_pages(connection, pages)
    index_pages(connection, analyzer, keys)
    outbox.enqueue(connection, page_table.c.key.in_(keys))


def _update_pages(connection: Connection, pages: Iterable[PageRecord]) -> None:
    """Replace what cleaning gave and what pages say of themselves, where that is known."""
    cleaned, metadata = [], []
    for page in pages:
        if page.cleaned is not None:
            cleaned.append({"page_key": page.key, **_values(page.cleaned)})
        if page.metadata is not None:
            metadata.append({"page_key": page.key, **_values(page.metadata)})
    statement = update(page_table).where(page_table.c.key == bindparam("page_key"))
    for rows in filter(None, (cleaned, metadata)):
        connection.execute(statement, rows)


def _values(record: Cleaned | Metadata) -> dict[str, Any]:
    # Their fields have the names of the columns; asdict would copy the blocks.
    return {field.name: getattr(record, field.name) for field in fields(record)}


def write_tree(
    connection: Connection, cluster: Row[Any], *, method: str, version: int, tree: bytes, pages: int
) -> None:
    """Add a tree version to a locked cluster; only it and the one before keep their bytes."""
    connection.execute(
        insert(tree_table).values(
            cluster=cluster.name,
            version=version,
            method=method,
            pages=pages,
            created_at=datetime.now(timezone.utc),
            size=len(tree),
            tree=tree,
        )
    )
    connection.execute(
        update(tree_table)
        .where(tree_table.c.cluster == cluster.name, tree_table.c.tree.is_not(None))
        .where(tree_table.c.version.not_in([version, cluster.version]))
        .values(tree=None)
    )
    connection.execute(
        update(cluster_table)
        .where(cluster_table.c.name == cluster.name)
        .values(method=method, version=version, covered=pages)
    )


def clean_again(
    connection: Connection,
    cluster: str,
    learned: int,
    clean: Callable[[PageRecord], Cleaned],
    *,
    analyzer: Analyzer,
) -> list[str]:
    """Clean the provisional pages up to ``learned`` that have a text; their keys, by position."""
    wanted = (page_table.c.position <= learned, page_table.c.text.is_not(None))
    lock_pages(connection, page_table.c.cluster == cluster, is_provisional, wanted[0])

    def clean_chunk(after: tuple[int, str]) -> list[PageRecord]:
        pages = read_provisional(connection, cluster, after, *wanted)
        write_cleaned(connection, [_cleaned(page, clean) for page in pages], analyzer=analyzer)
        return pages

    return [page.key for page in read_in_chunks(clean_chunk, provisional_place, (0, ""))]


def clean_chunk(
    connection: Connection,
    cluster: str,
    after: str,
    clean: Callable[[PageRecord], Cleaned],
    *,
    analyzer: Analyzer,
) -> list[PageRecord]:
    """Clean the next chunk, by key, of the pages that have a text and HTML."""
    lock_clusters(connection, cluster_table.c.name == cluster)
    keys = lock_pages(
        connection,
        page_table.c.cluster == cluster,
        page_table.c.key > after,
        page_table.c.text.is_not(None),
        page_table.c.key.in_(select(html_table.c.key)),
        limit=reading.CHUNK_PAGES,
    )
    pages = reading.read_pages_with_html(connection, cluster, after, page_table.c.key.in_(keys))
    write_cleaned(connection, [_cleaned(page, clean) for page in pages], analyzer=analyzer)
    return pages


def _cleaned(page: PageRecord, clean: Callable[[PageRecord], Cleaned]) -> PageRecord:
    return replace(page, cleaned=clean(page), metadata=None)


def cover_pages(
    connection: Connection, cluster: str, learned: int, version: int, *, store_html: bool
) -> None:
    """Mark the provisional pages up to ``learned`` as covered; their HTML has done its work."""
    covered = (page_table.c.cluster == cluster, is_provisional, page_table.c.position <= learned)
    if not store_html:
        keys = select(page_table.c.key).where(*covered)
        connection.execute(delete(html_table).where(html_table.c.key.in_(keys)))
    connection.execute(update(page_table).where(*covered).values(learned_version=version))


def delete_pages_and_trees(connection: Connection, cluster: str) -> int:
    """Delete a cluster and all that belongs to it; the number of its pages."""
    lock_clusters(connection, cluster_table.c.name == cluster)
    deleted = _delete_pages(connection, page_table.c.cluster == cluster)
    connection.execute(delete(cluster_table).where(cluster_table.c.name == cluster))
    return deleted


def delete_pages(connection: Connection, keys: Sequence[str]) -> int:
    """Delete pages; the number of those that were there."""
    wanted = page_table.c.key.in_(keys)
    lock_clusters(connection, cluster_table.c.name.in_(select(page_table.c.cluster).where(wanted)))
    return _delete_pages(connection, wanted)


def _delete_pages(connection: Connection, condition: ColumnElement[bool]) -> int:
    keys = lock_pages(connection, condition)
    for chunk in in_chunks(keys):
        pages = page_table.c.key.in_(chunk)
        outbox.enqueue(connection, pages)
        connection.execute(delete(page_table).where(pages))
    return len(keys)


def lock_clusters(connection: Connection, condition: ColumnElement[bool]) -> None:
    """Lock clusters until the commit, in the order in which all do."""
    query = select(cluster_table.c.name).where(condition).order_by(cluster_table.c.name)
    connection.execute(query.with_for_update()).all()


def lock_pages(
    connection: Connection, *conditions: ColumnElement[bool], limit: int | None = None
) -> list[str]:
    """Lock pages until the commit, in the order in which all do, after their clusters; their keys.

    What follows must keep to these keys: a page that was deleted and written again while we waited
    is not ours.
    """
    query = select(page_table.c.key).where(*conditions).order_by(page_table.c.key).limit(limit)
    return list(connection.execute(query.with_for_update()).scalars())


def _insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def _page_row(page: PageRecord, cluster: Row[Any]) -> dict[str, Any]:
    is_covered = page.position is not None and page.position <= cluster.covered
    return {
        "key": page.key,
        "cluster": cluster.name,
        "url": page.url,
        "body_hash": page.body_hash,
        "fetched_at": page.fetched_at,
        "position": page.position,
        # A page that comes later than the tree that learned it must not be learned again.
        "learned_version": cluster.version if is_covered else None,
    }


def _page_upsert(connection: Connection) -> postgresql.Insert | sqlite.Insert:
    statement = _insert(connection, page_table)
    new = statement.excluded
    first_position = case((page_table.c.position.is_(None), new.learned_version))
    return statement.on_conflict_do_update(
        index_elements=[page_table.c.key],
        set_={
            "cluster": new.cluster,
            "url": new.url,
            "body_hash": new.body_hash,
            "fetched_at": new.fetched_at,
            "position": func.coalesce(page_table.c.position, new.position),
            "learned_version": func.coalesce(page_table.c.learned_version, first_position),
        },
    )


def _html_upsert(connection: Connection, *, store_html: bool) -> postgresql.Insert | sqlite.Insert:
    key = bindparam("page_key", type_=html_table.c.key.type)
    html = bindparam("page_html", type_=html_table.c.html.type)
    is_wanted = true() if store_html else is_provisional
    page = select(key, html).where(page_table.c.key == key, is_wanted)
    statement = _insert(connection, html_table).from_select(["key", "html"], page)
    return statement.on_conflict_do_update(
        index_elements=[html_table.c.key], set_={"html": statement.excluded.html}
    )
