"""Rows to records: the queries of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

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
from sqlalchemy.exc import NoResultFound

from noiseclean_scrapy.errors import DamagedError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store.column_types import StorableText
from noiseclean_scrapy.store.damage import DamagedPage, DamageLog, is_damage
from noiseclean_scrapy.store.html_objects import ObjectName, read_objects
from noiseclean_scrapy.store.records import (
    Cleaned,
    ClusterRecord,
    PageCounts,
    PageLine,
    PageRecord,
    SiteSummary,
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

# Of a site's newest pages the mean fit is told.
NEWEST_PAGES = 100

Place = TypeVar("Place")
StoredPage: TypeAlias = "PageRecord | DamagedPage"


def read_in_chunks(
    read_chunk: Callable[[Place], list[StoredPage]],
    place: Callable[[StoredPage], Place],
    at: Place,
    damage: DamageLog,
) -> Iterator[PageRecord]:
    """Pages of one chunk after the other, each read after the ``place`` where the last ended."""
    while chunk := read_chunk(at):
        yield from damage.sort_out(chunk)
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
    if row is None:
        return None
    record = cluster_record(row, _tree_bytes(row.tree))
    try:
        record.check()
    except ValueError as error:
        raise DamagedError(
            f"the stored site {name} is damaged: {error}; the next page that a crawl writes to it, "
            f"or `noiseclean check --repair`, mends it"
        ) from error
    return record


def read_clusters(connection: Connection, *conditions: ColumnElement[bool]) -> list[ClusterRecord]:
    """Clusters by name, all or those that the conditions admit, without their trees."""
    query = select(cluster_table).where(*conditions).order_by(cluster_table.c.name)
    return [
        cluster_record(row, None)
        for row in connection.execute(query)
        if not is_damaged_cluster(row)
    ]


def is_damaged_cluster(row: Row[Any]) -> bool:
    """Whether a cluster's row has values that no cluster can have."""
    try:
        cluster_record(row, None).check()
    except ValueError:
        return True
    return False


def read_damaged_clusters(connection: Connection) -> list[str]:
    """The names of the clusters with values that no cluster can have."""
    rows = connection.execute(select(cluster_table)).all()
    return [row.name for row in rows if is_damaged_cluster(row)]


def read_idle_clusters(connection: Connection, since: datetime) -> list[str]:
    """The names of clusters with provisional pages, all of these fetched before a time."""
    # Their index has the provisional pages alone: of a huge site no more than those are read.
    new = (
        select(page_table.c.key)
        .where(page_table.c.cluster == cluster_table.c.name, is_provisional)
        .where(page_table.c.fetched_at >= since)
        .exists()
    )
    query = select(cluster_table.c.name).where(
        cluster_table.c.learned > cluster_table.c.covered, ~new
    )
    return list(connection.execute(query.order_by(cluster_table.c.name)).scalars())


def read_methods(connection: Connection) -> set[str]:
    """The kinds of the clusters' trees."""
    methods = connection.execute(select(cluster_table.c.method).distinct()).scalars()
    return {method for method in methods if isinstance(method, str)}


def read_tree_versions(connection: Connection, cluster: str) -> list[TreeVersionRecord]:
    """The saved trees of a cluster, oldest first."""
    columns = [column for column in tree_table.c if column is not tree_table.c.tree]
    query = select(*columns).where(tree_table.c.cluster == cluster).order_by(tree_table.c.version)
    return [TreeVersionRecord(**row._mapping) for row in connection.execute(query)]


def read_trees(connection: Connection, cluster: str) -> list[tuple[int, bytes]]:
    """The trees of a cluster that still have their bytes, by version, newest first."""
    query = (
        select(tree_table.c.version, tree_table.c.tree)
        .where(tree_table.c.cluster == cluster, tree_table.c.tree.is_not(None))
        .order_by(tree_table.c.version.desc())
    )
    return [(row.version, _tree_bytes(row.tree) or b"") for row in connection.execute(query)]


def read_page(connection: Connection, key: str) -> StoredPage | None:
    """The page without its HTML."""
    return _read_one(connection, _pages().where(page_table.c.key == key))


def read_pages(connection: Connection, keys: Sequence[str]) -> list[StoredPage]:
    """Those of some pages that are stored, by key, without their HTML."""
    query = _pages().where(page_table.c.key.in_(keys)).order_by(page_table.c.key)
    return _read(connection, query)


def read_url(connection: Connection, url: str) -> StoredPage | None:
    """The page that was last fetched from ``url``, without its HTML."""
    newest = page_table.c.fetched_at.desc(), page_table.c.key
    return _read_one(connection, _pages().where(page_table.c.url == url).order_by(*newest).limit(1))


def read_html(connection: Connection, key: str) -> str | DamagedPage | None:
    """The HTML of a page."""
    query = select(html_table.c.html).where(html_table.c.key == key)
    try:
        html = connection.execute(query).scalar()
    except Exception as error:
        if not is_damage(error):
            raise
        return DamagedPage(key, None, str(error))
    if isinstance(html, ObjectName):
        found = read_objects(connection, [html])[html]
        return found if isinstance(found, str) else DamagedPage(key, None, str(found))
    return html


def read_pages_with_text(
    connection: Connection, cluster: str | None, after: str
) -> list[StoredPage]:
    """The next chunk, by key, of the pages that have a text."""
    query = _pages().where(page_table.c.text.is_not(None))
    return _read_chunk(connection, query, cluster, after)


def read_pages_with_html(
    connection: Connection, cluster: str, after: str, *conditions: ColumnElement[bool]
) -> list[StoredPage]:
    """The next chunk, by key, of the pages that have HTML, with it."""
    query = _pages(html_table.c.html).join(html_table, html_table.c.key == page_table.c.key)
    return _read_chunk(connection, query.where(*conditions), cluster, after)


def read_every_page(connection: Connection, after: str) -> list[StoredPage]:
    """The next chunk, by key, of all pages, with their HTML."""
    query = _pages(html_table.c.html).outerjoin(html_table, html_table.c.key == page_table.c.key)
    return _read_chunk(connection, query, None, after)


def _read_chunk(
    connection: Connection, query: Select[Any], cluster: str | None, after: str
) -> list[StoredPage]:
    if cluster is not None:
        query = query.where(page_table.c.cluster == cluster)
    query = query.where(page_table.c.key > after).order_by(page_table.c.key).limit(CHUNK_PAGES)
    return _read(connection, query)


def _read(connection: Connection, query: Select[Any]) -> list[StoredPage]:
    """The pages of a query, with HTML from wherever it is."""
    pages = _read_rows(connection, query)
    names = [
        page.html
        for page in pages
        if isinstance(page, PageRecord) and isinstance(page.html, ObjectName)
    ]
    if not names:
        return pages
    found = read_objects(connection, names)
    return [_with_html(page, found) for page in pages]


def _with_html(page: StoredPage, found: Mapping[str, str | ValueError]) -> StoredPage:
    if isinstance(page, DamagedPage) or not isinstance(page.html, ObjectName):
        return page
    html = found[page.html]
    if isinstance(html, str):
        return replace(page, html=html)
    return DamagedPage(page.key, page.position, str(html))


def _read_rows(connection: Connection, query: Select[Any]) -> list[StoredPage]:
    """The pages of a query; one by one where they cannot be read together."""
    try:
        return [_page_record(row) for row in connection.execute(query)]
    except Exception as error:
        if not is_damage(error):
            raise
    here = query.with_only_columns(
        page_table.c.key, page_table.c.position, maintain_column_froms=True
    )
    return [_read_alone(connection, query, row) for row in connection.execute(here).all()]


def _read_alone(connection: Connection, query: Select[Any], place: Any) -> StoredPage:
    try:
        return _page_record(connection.execute(query.where(page_table.c.key == place.key)).one())
    except Exception as error:
        if not (is_damage(error) or isinstance(error, NoResultFound)):
            raise
        return DamagedPage(place.key, place.position, str(error))


def _read_one(connection: Connection, query: Select[Any]) -> StoredPage | None:
    return next(iter(_read(connection, query)), None)


def read_provisional(
    connection: Connection,
    cluster: str,
    after: tuple[int, str],
    *conditions: ColumnElement[bool],
    html: bool = True,
) -> list[StoredPage]:
    """The next chunk, by position and key, of the provisional pages that have HTML, with it."""
    here = tuple_(page_table.c.position, page_table.c.key)
    query = (
        _pages(html_table.c.html if html else None)
        .join(html_table, html_table.c.key == page_table.c.key)
        .where(page_table.c.cluster == cluster, is_provisional, *conditions)
        .where(here > tuple_(literal(after[0], Integer), literal(after[1], StorableText)))
        .order_by(page_table.c.position, page_table.c.key)
        .limit(CHUNK_PAGES)
    )
    return _read(connection, query)


def provisional_place(page: StoredPage) -> tuple[int, str]:
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


def read_site_summaries(connection: Connection) -> list[SiteSummary]:
    """All clusters by name, in numbers."""
    page = page_table.c
    counts = select(
        page.cluster,
        func.count().label("pages"),
        func.count(page.clean_version).label("with_text"),
        func.count().filter(is_provisional).label("provisional"),
        func.sum(page.visible_characters).label("visible_characters"),
        func.sum(page.kept_characters).label("kept_characters"),
        func.count().filter(page.kept_characters == 0).label("empty"),
        func.min(page.fetched_at).label("first_fetch"),
        func.max(page.fetched_at).label("last_fetch"),
    )
    counted = counts.group_by(page.cluster).subquery()
    age = func.row_number().over(partition_by=page.cluster, order_by=page.fetched_at.desc())
    dated = select(page.cluster, page.fit, age.label("age")).where(page.fit.is_not(None)).subquery()
    newest = select(dated.c.cluster, func.avg(dated.c.fit).label("fit"))
    fitted = newest.where(dated.c.age <= NEWEST_PAGES).group_by(dated.c.cluster).subquery()
    query = (
        select(cluster_table, counted, fitted.c.fit)
        .outerjoin(counted, counted.c.cluster == cluster_table.c.name)
        .outerjoin(fitted, fitted.c.cluster == cluster_table.c.name)
        .order_by(cluster_table.c.name)
    )
    return [_site_summary(row) for row in connection.execute(query)]


ORDERS: Mapping[str, tuple[ColumnElement[Any], ...]] = {
    "newest": (page_table.c.fetched_at.desc(), page_table.c.key),
    "fit": (page_table.c.fit, page_table.c.key),
    "kept": (page_table.c.kept_characters, page_table.c.key),
}
"""What listings of pages are ordered by: the newest first, or those with the least of a figure."""


def read_page_lines(
    connection: Connection, cluster: str | None, *, order: str, limit: int, offset: int
) -> list[PageLine]:
    """A part of the pages that have a text, of one cluster or of all."""
    columns = [page_table.c[part.name] for part in fields(PageLine)]
    query = select(*columns).where(page_table.c.clean_version.is_not(None))
    if cluster is not None:
        query = query.where(page_table.c.cluster == cluster)
    rows = connection.execute(query.order_by(*ORDERS[order]).limit(limit).offset(offset))
    return [PageLine(**row._mapping) for row in rows]


def read_fits(connection: Connection, cluster: str, limit: int) -> list[tuple[datetime, float]]:
    """Times and fits of some pages of a cluster in the order of time.

    Keys are hashes, so the first ones are a fair sample, and the index has them side by side.
    """
    page = page_table.c
    query = select(page.fetched_at, page.fit).where(page.cluster == cluster, page.fit.is_not(None))
    rows = connection.execute(query.order_by(page.key).limit(limit))
    return sorted((row.fetched_at, row.fit) for row in rows)


def _site_summary(row: Row[Any]) -> SiteSummary:
    return SiteSummary(
        name=row.name,
        method=row.method,
        version=row.version,
        learned=row.learned,
        pages=row.pages or 0,
        with_text=row.with_text or 0,
        provisional=row.provisional or 0,
        visible_characters=row.visible_characters or 0,
        kept_characters=row.kept_characters or 0,
        fit=row.fit,
        empty=row.empty or 0,
        first_fetch=row.first_fetch,
        last_fetch=row.last_fetch,
    )


def _pages(html: ColumnElement[Any] | None = None) -> Select[Any]:
    return select(page_table, (null() if html is None else html).label("html"))


def cluster_record(row: Row[Any], tree: bytes | None) -> ClusterRecord:
    return ClusterRecord(row.name, row.method, row.version, row.learned, tree, row.covered)


def _tree_bytes(value: object) -> bytes | None:
    """A stored tree; what is none in a column without types is one that is damaged."""
    if value is None or isinstance(value, bytes):
        return value
    return bytes(value) if isinstance(value, memoryview) else b""


def _page_record(row: Row[Any]) -> PageRecord:
    page = PageRecord(**_values(row, _PAGE), cleaned=_cleaned(row), metadata=_metadata(row))
    page.check()
    return page


def _cleaned(row: Row[Any]) -> Cleaned | None:
    if row.text is None:
        return None
    values = _values(row, _CLEANED)
    if values["fit"] is None:
        values["fit"] = 1.0  # cleaned before schema version 2
    return Cleaned(**values)


def _metadata(row: Row[Any]) -> Metadata | None:
    return None if row.language is None else Metadata(**_values(row, _METADATA))


def _values(row: Row[Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


_CLEANED, _METADATA = ([field.name for field in fields(kind)] for kind in (Cleaned, Metadata))
_PAGE = [field.name for field in fields(PageRecord) if field.name not in ("cleaned", "metadata")]
