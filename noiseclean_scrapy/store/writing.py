"""Records to rows: the statements inside the store's transactions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Table,
    bindparam,
    case,
    collate,
    delete,
    func,
    not_,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import cluster_rows, outbox, page_rows
from noiseclean_scrapy.store.column_types import storable_text
from noiseclean_scrapy.store.damage import DamagedPage, DamageLog
from noiseclean_scrapy.store.records import EARLIER_BODY, Cleaned, PageRecord, Written
from noiseclean_scrapy.store.schema import (
    cluster_table,
    has_own_text,
    html_table,
    is_provisional,
    page_table,
    tree_table,
)
from noiseclean_scrapy.store.search.indexing import in_chunks, index_pages
from noiseclean_scrapy.store.search.terms import Analyzer


def lock_cluster(connection: Connection, name: str, *, method: str, learned: int = 0) -> Row[Any]:
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
    row = connection.execute(upsert.returning(*cluster_table.c)).one()
    if cluster_rows.is_damaged_cluster(row):
        known = row.method if isinstance(row.method, str) and row.method else method
        return mend_cluster(connection, name, known)
    return row


def mend_cluster(connection: Connection, name: str, method: str) -> Row[Any]:
    """The row of a locked cluster, rebuilt from its trees and its pages."""
    newest = cluster_rows.newest_version(name)
    kind = (
        select(tree_table.c.method)
        .where(tree_table.c.cluster == name, tree_table.c.version == newest)
        .scalar_subquery()
    )
    learned = cluster_rows.highest_position(name)
    values = {
        "method": func.coalesce(kind, method),
        "version": newest,
        "learned": learned,
        "covered": cluster_rows.covered_pages(name, learned),
    }
    mend = update(cluster_table).where(cluster_table.c.name == name).values(values)
    return connection.execute(mend.returning(*cluster_table.c)).one()


def write_pages(
    connection: Connection,
    pages: Sequence[PageRecord],
    *,
    method: str,
    store_html: bool,
    analyzer: Analyzer | None,
    rewrite: Collection[str] = (),
) -> Written:
    """Upsert pages, what is known of them and their cleaning, and the HTML that is still needed."""
    # Every writer takes its locks in the same order, clusters first: no deadlock.
    pages = sorted(pages, key=lambda page: page.key)
    names = sorted({storable_text(page.cluster) for page in pages})
    clusters: dict[str, Row[Any]] = {}
    for name in sorted({*names, *_clusters_of(connection, rewrite)}):
        if name in names:
            clusters[name] = lock_cluster(connection, name, method=method)
        else:
            lock_clusters(connection, cluster_table.c.name == name)
    if rewrite:
        _delete_pages(connection, page_table.c.key.in_(sorted(rewrite)))
    positions = _new_positions(connection, pages, clusters)
    rows = [_page_row(page, positions.get(storable_text(page.key))) for page in pages]
    bodies = [
        {"page_key": page.key, "new_body": page.body_hash}
        for page in pages
        if not store_html or page.html is None
    ]
    if bodies:
        connection.execute(_FORGET_OTHER_HTML, bodies)
    connection.execute(_page_upsert(connection), rows)
    html = [
        {"page_key": page.key, "page_html": page.html} for page in pages if page.html is not None
    ]
    if html:
        connection.execute(_html_upsert(connection, store_html=store_html), html)
    stale = _stale(connection, pages)
    pages = [replace(page, cleaned=None) if page.key in stale else page for page in pages]
    _update_pages(connection, pages)
    told = [page.key for page in pages if page.cleaned is not None or page.metadata is not None]
    index_pages(connection, analyzer, told)
    for chunk in in_chunks([page.key for page in pages]):
        outbox.enqueue(connection, page_table.c.key.in_(chunk))
    states = cluster_rows.read_clusters(connection, cluster_table.c.name.in_(names))
    return Written(len(positions), tuple(states), stale)


def _clusters_of(connection: Connection, keys: Collection[str]) -> set[str]:
    """The clusters that pages are in now, as far as that can be read."""
    query = select(page_table.c.cluster).distinct()
    return {
        name
        for chunk in in_chunks(list(keys))
        for name in connection.execute(query.where(page_table.c.key.in_(chunk))).scalars()
        if isinstance(name, str)
    }


def _stale(connection: Connection, pages: Sequence[PageRecord]) -> frozenset[str]:
    """The keys of the pages whose text comes from a tree older than the one that covers them.

    Not the text of a new body that has lost its HTML on its way: there is no other.
    """
    versions = {page.key: page.cleaned.clean_version for page in pages if page.cleaned is not None}
    bare = {page.key for page in pages if page.html is None}
    stale: set[str] = set()
    columns = page_table.c
    query = select(columns.key, columns.learned_version, columns.clean_version)
    for chunk in in_chunks(list(versions)):
        covered = (columns.key.in_(chunk), columns.learned_version.is_not(None))
        for key, newest, stored in connection.execute(query.where(*covered)):
            is_wanted = key in bare and stored == EARLIER_BODY
            if versions.get(key, 0) < newest and not is_wanted:
                stale.add(key)
    return frozenset(stale)


def _new_positions(
    connection: Connection, pages: Sequence[PageRecord], clusters: Mapping[str, Row[Any]]
) -> dict[str, int]:
    """The positions of those pages that want one and have none in their (locked) cluster yet."""
    wishes = {
        storable_text(page.key): page
        for page in sorted(pages, key=lambda page: (page.position or 0, page.key), reverse=True)
        if page.position is not None
    }
    for chunk in in_chunks(list(wishes)):
        known = (page_table.c.key.in_(chunk), page_table.c.position.is_not(None))
        for key, cluster in connection.execute(
            select(page_table.c.key, page_table.c.cluster).where(*known)
        ):
            if cluster == storable_text(wishes[key].cluster):
                del wishes[key]
    highest = {name: cluster.learned for name, cluster in clusters.items()}
    positions: dict[str, int] = {}
    for key, page in reversed(wishes.items()):
        name = storable_text(page.cluster)
        highest[name] += 1
        positions[key] = highest[name]
    for name, cluster in clusters.items():
        if highest[name] > cluster.learned:
            connection.execute(
                update(cluster_table)
                .where(cluster_table.c.name == name)
                .values(learned=highest[name])
            )
    return positions


def write_cleaned(
    connection: Connection,
    pages: Sequence[PageRecord],
    clean: Callable[[PageRecord], Cleaned | None],
    describe: Callable[[PageRecord], Metadata] | None = None,
    *,
    analyzer: Analyzer | None,
) -> None:
    """Replace what cleaning gave for locked pages; a text that stays is not written or indexed.

    `describe` is given each page with its new text, and what it tells is written as well.
    """
    renewed = [replace(page, cleaned=clean(page), metadata=None) for page in pages]
    if describe is not None:
        renewed = [replace(page, metadata=describe(page)) for page in renewed]
    changed = [
        new
        for page, new in zip(pages, renewed, strict=True)
        if new.metadata is not None or not _is_same(page.cleaned, new.cleaned)
    ]
    _update_pages(connection, changed)
    _update_versions(connection, renewed)
    index_pages(connection, analyzer, [page.key for page in changed])
    outbox.enqueue(connection, page_table.c.key.in_([page.key for page in pages]))


def _is_same(old: Cleaned | None, new: Cleaned | None) -> bool:
    """Whether `new` took over what is stored, see `clusters.cleaning.to_record`."""
    return old is not None and new is not None and old.blocks is new.blocks


def _update_versions(connection: Connection, pages: Iterable[PageRecord]) -> None:
    rows = [
        {"page_key": page.key, "clean_version": found.clean_version, "fit": found.fit}
        for page in pages
        if (found := page.cleaned) is not None
    ]
    if rows:
        statement = update(page_table).where(page_table.c.key == bindparam("page_key"))
        connection.execute(statement, rows)


def _update_pages(connection: Connection, pages: Iterable[PageRecord]) -> None:
    """Replace what cleaning gave and what pages say of themselves, where that is known."""
    statement = update(page_table).where(page_table.c.key == bindparam("page_key"))
    # A row is long: it is written once where both are known, as they mostly are.
    alike: dict[tuple[bool, bool], list[dict[str, Any]]] = {}
    for page in pages:
        known = [record for record in (page.cleaned, page.metadata) if record is not None]
        values = {name: value for record in known for name, value in _values(record).items()}
        kind = page.cleaned is not None, page.metadata is not None
        alike.setdefault(kind, []).append({"page_key": page.key, **values})
    for (has_text, has_metadata), rows in alike.items():
        if has_text or has_metadata:
            connection.execute(statement, rows)


def _values(record: Cleaned | Metadata) -> dict[str, Any]:
    # Their fields have the names of the columns; asdict would copy the blocks.
    return {field.name: getattr(record, field.name) for field in fields(record)}


def clean_chunk(
    connection: Connection,
    cluster: str,
    after: str,
    clean: Callable[[PageRecord], Cleaned | None],
    describe: Callable[[PageRecord], Metadata] | None,
    *,
    analyzer: Analyzer | None,
    damage: DamageLog,
) -> tuple[int, str | None]:
    """Clean the next chunk, by key, of the pages that have a text and its HTML.

    Gives the number of those that were, and the last key, None where no page was left.
    """
    lock_clusters(connection, cluster_table.c.name == cluster)
    keys = lock_pages(
        connection,
        page_table.c.cluster == cluster,
        page_table.c.key > after,
        has_own_text,
        page_table.c.key.in_(select(html_table.c.key)),
        limit=page_rows.CHUNK_PAGES,
    )
    stored = page_rows.read_pages_with_html(connection, cluster, after, page_table.c.key.in_(keys))
    pages = renew_damaged(connection, stored, damage)
    write_cleaned(connection, pages, clean, describe, analyzer=analyzer)
    done = [page.key for page in stored] or keys
    return len(pages), done[-1] if done else None


def renew_damaged(
    connection: Connection, pages: Sequence[page_rows.StoredPage], damage: DamageLog
) -> list[PageRecord]:
    """Of locked pages those that can be read; the others lose their HTML, for the next visit."""
    forget_html(connection, [page.key for page in pages if isinstance(page, DamagedPage)])
    return damage.sort_out(pages)


def forget_html(connection: Connection, keys: Sequence[str]) -> None:
    """Delete the HTML of locked pages, which are to be learned at their next visit."""
    for chunk in in_chunks(keys):
        connection.execute(delete(html_table).where(html_table.c.key.in_(chunk)))
        unlearned = update(page_table).where(page_table.c.key.in_(chunk))
        connection.execute(unlearned.values(position=None, learned_version=None))


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
    name: ColumnElement[str] = cluster_table.c.name
    # That of Python, whatever the language of the database.
    order = collate(name, "C") if connection.dialect.name == "postgresql" else name
    query = select(name).where(condition).order_by(order)
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


_OF_VISIT = sorted(
    {field.name for field in fields(PageRecord)}
    & set(page_table.c.keys()) - {"key", "position", "learned_version"}
)
"""The columns that each visit of a page writes."""


_CHANGED = select(page_table.c.key).where(
    page_table.c.key == bindparam("page_key"),
    page_table.c.body_hash != bindparam("new_body"),
    not_(is_provisional),
)
_FORGET_OTHER_HTML = delete(html_table).where(html_table.c.key.in_(_CHANGED))
"""HTML of before that no tree waits for: what is cleaned again later would be an older page."""


def _page_row(page: PageRecord, position: int | None) -> dict[str, Any]:
    values = {name: getattr(page, name) for name in _OF_VISIT}
    return {"key": page.key, "position": position, **values}


def _page_upsert(connection: Connection) -> postgresql.Insert | sqlite.Insert:
    statement = _insert(connection, page_table)
    new = statement.excluded
    # A page that has moved to another cluster is to be learned there.
    stays = page_table.c.cluster == new.cluster
    version = page_table.c.clean_version
    is_same = or_(page_table.c.body_hash == new.body_hash, version.is_(None))
    return statement.on_conflict_do_update(
        index_elements=[page_table.c.key],
        set_={
            **{name: new[name] for name in _OF_VISIT},
            "position": case(
                (stays, func.coalesce(page_table.c.position, new.position)), else_=new.position
            ),
            "learned_version": case((stays, page_table.c.learned_version)),
            "clean_version": case((is_same, version), else_=EARLIER_BODY),
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
