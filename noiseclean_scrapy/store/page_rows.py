"""Rows of pages to records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from math import inf
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    literal,
    null,
    select,
    tuple_,
)
from sqlalchemy.exc import NoResultFound

from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store.column_types import DamagedText, KeyText
from noiseclean_scrapy.store.damage import DamagedPage, DamageLog, is_damage
from noiseclean_scrapy.store.html_objects import ObjectName, read_objects
from noiseclean_scrapy.store.records import Cleaned, PageRecord
from noiseclean_scrapy.store.schema import html_table, is_provisional, page_table

CHUNK_PAGES, CHUNK_BYTES = 50, 1 << 26
"""Where a chunk ends, whichever it reaches first: it must fit into memory many times over."""

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
        (found,) = read_objects(connection, [html])
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
    return _read(connection, query, CHUNK_BYTES)


def _read(connection: Connection, query: Select[Any], room: float = inf) -> list[StoredPage]:
    """The pages of a query, the first that fill the room, with HTML from wherever it is."""
    pages = _read_rows(connection, query, room)
    names = [
        page.html
        for page in pages
        if isinstance(page, PageRecord) and isinstance(page.html, ObjectName)
    ]
    if not names:
        return pages
    found = read_objects(connection, names)
    return _filling(room, (_with_html(page, found) for page in pages))


def _with_html(page: StoredPage, found: Iterator[str | ValueError]) -> StoredPage:
    if isinstance(page, DamagedPage) or not isinstance(page.html, ObjectName):
        return page
    html = next(found)
    if isinstance(html, str):
        return replace(page, html=html)
    return DamagedPage(page.key, page.position, str(html))


def _filling(room: float, pages: Iterable[StoredPage]) -> list[StoredPage]:
    """The first of some pages, up to the one that fills the room (in bytes)."""
    found = []
    for page in pages:
        found.append(page)
        room -= page.size if isinstance(page, PageRecord) else 0
        if room <= 0:
            break
    return found


def _read_rows(connection: Connection, query: Select[Any], room: float) -> list[StoredPage]:
    """The pages of a query that fill the room; one by one where they cannot be read together."""
    try:
        with connection.execute(query) as rows:
            # Each is unpacked when its turn comes.
            return _filling(room, map(_page_record, rows))
    except Exception as error:
        if not is_damage(error):
            raise
    here = query.with_only_columns(
        page_table.c.key, page_table.c.position, maintain_column_froms=True
    )
    places = connection.execute(here).all()
    return _filling(room, (_read_alone(connection, query, place) for place in places))


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
        .where(here > tuple_(literal(after[0], Integer), literal(after[1], KeyText)))
        .order_by(page_table.c.position, page_table.c.key)
        .limit(CHUNK_PAGES)
    )
    return _read(connection, query, CHUNK_BYTES)


def key_of(page: StoredPage) -> str:
    """Where a page stands in the order of its key."""
    return page.key


def provisional_place(page: StoredPage) -> tuple[int, str]:
    """Where a provisional page stands in the order of ``read_provisional``."""
    return page.position or 0, page.key


def _pages(html: ColumnElement[Any] | None = None) -> Select[Any]:
    return select(page_table, (null() if html is None else html).label("html"))


def _page_record(row: Row[Any]) -> PageRecord:
    if isinstance(row.key, DamagedText):
        raise ValueError("its key is no text")
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
