"""The full-text index follows the pages, in the transactions that write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, bindparam, select, text

from noiseclean_scrapy.store.column_types import KeyText
from noiseclean_scrapy.store.schema import page_table
from noiseclean_scrapy.store.search import fulltext
from noiseclean_scrapy.store.search.terms import Analyzer, PageTerms

# Of so many pages the terms are in memory; databases bound the values of a statement as well.
_CHUNK_PAGES = 200

_Key = TypeVar("_Key")


_REMOVE = text("DELETE FROM noiseclean_search WHERE key IN :keys").bindparams(
    bindparam("keys", expanding=True, type_=KeyText)
)
_MISSING = text(
    """
    SELECT key FROM noiseclean_page AS page WHERE text IS NOT NULL AND key > :after
    AND NOT EXISTS (SELECT 1 FROM noiseclean_search WHERE noiseclean_search.key = page.key)
    ORDER BY key LIMIT :limit
    """
).bindparams(bindparam("after", type_=KeyText))


def index_pages(connection: Connection, analyzer: Analyzer | None, keys: Iterable[str]) -> None:
    """Index stored pages that the caller has locked; those without a text are left out.

    Without an analyzer they leave the index: what it had of them is not what is stored now.
    """
    # In one order, like all locks.
    backend = fulltext.backend(connection)
    for chunk in in_chunks(sorted(set(keys))):
        if analyzer is None:
            connection.execute(_REMOVE, {"keys": list(chunk)})
            continue
        pages = [_page_terms(row, analyzer) for row in _read_texts(connection, chunk)]
        if pages:
            backend.replace(connection, pages)


def find_missing(connection: Connection, after: str, *, limit: int = _CHUNK_PAGES) -> list[str]:
    """Keys above ``after``, in order, of pages that have a text and are not in the index."""
    found = connection.execute(_MISSING, {"after": after, "limit": limit})
    return list(found.scalars())


def in_chunks(keys: Sequence[_Key]) -> Iterator[Sequence[_Key]]:
    """The keys in parts that fit into one statement."""
    for start in range(0, len(keys), _CHUNK_PAGES):
        yield keys[start : start + _CHUNK_PAGES]


def _read_texts(connection: Connection, keys: Sequence[str]) -> Iterator[Row[Any]]:
    page = page_table.c
    query = select(page.key, page.title, page.text, page.language)
    query = query.where(page.key.in_(keys), page.text.is_not(None)).order_by(page.key)
    return iter(connection.execute(query))


def _page_terms(row: Row[Any], analyzer: Analyzer) -> PageTerms:
    title, words, language = map(as_text, (row.title, row.text, row.language))
    return PageTerms(row.key, analyzer.terms(title, language), analyzer.terms(words, language))


def as_text(value: object) -> str:
    """A text of a row, empty where there is none: SQLite may hold values of any type."""
    return value if isinstance(value, str) else ""
