"""The full-text index of SQLite: FTS5 over the terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Float, Select, bindparam, literal_column, select, text

from noiseclean_scrapy.store.column_types import KeyText
from noiseclean_scrapy.store.search.query import AnalyzedAlternative
from noiseclean_scrapy.store.search.terms import TITLE_WEIGHT, PageTerms, Phrase

_DDL = (
    # FTS5 numbers its rows; the row of a page has a number that VACUUM cannot change.
    """
    CREATE TABLE noiseclean_search (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE REFERENCES noiseclean_page (key) ON DELETE CASCADE
    )
    """,
    # This tokenizer parts at ASCII signs alone, and terms have none.
    """
    CREATE VIRTUAL TABLE noiseclean_search_terms USING fts5 (title, text, tokenize = 'ascii')
    """,
    """
    CREATE TRIGGER noiseclean_search_deleted AFTER DELETE ON noiseclean_search BEGIN
        DELETE FROM noiseclean_search_terms WHERE rowid = old.id;
    END
    """,
)
NOTHING_WRITTEN = (
    "REPLACE INTO noiseclean_search_terms_data (id, block) VALUES (10, x'00000000000000')"
)
"""The list of what FTS5 has written, empty: without one that can be read, it drops no table."""
ANEW = (
    "DROP TABLE IF EXISTS noiseclean_search",
    "DROP TABLE IF EXISTS noiseclean_search_terms",
    *_DDL,
)
"""Begins the index anew, whatever it holds."""
CHECK = "INSERT INTO noiseclean_search_terms (noiseclean_search_terms) VALUES ('integrity-check')"
"""Asks whether the index is what its own texts say; an error tells that it is not."""
COUNT_LOST = """
    SELECT count(*) FROM (
        SELECT id FROM noiseclean_search
        WHERE id NOT IN (SELECT id FROM noiseclean_search_terms_docsize)
        UNION ALL
        SELECT id FROM noiseclean_search_terms_docsize
        WHERE id NOT IN (SELECT id FROM noiseclean_search)
    )
"""
"""How many pages of the index have no terms there, or terms no page of it."""
_MOST_PLACES = 10_000
_NO_TERM = "\uf8ff"
_KEY = bindparam("key", type_=KeyText)
_NUMBER = text(
    "INSERT INTO noiseclean_search (key) VALUES (:key) ON CONFLICT (key) DO NOTHING"
).bindparams(_KEY)
_REPLACE = text(
    """
    INSERT OR REPLACE INTO noiseclean_search_terms (rowid, title, text)
    SELECT id, :title, :text FROM noiseclean_search WHERE key = :key
    """
).bindparams(_KEY)
_KEY_FOUND = literal_column("noiseclean_search.key", KeyText).label("key")
# bm25 is smaller for better matches.
_BM25 = f"-bm25(noiseclean_search_terms, {TITLE_WEIGHT}, 1.0)"
_SCORE = literal_column(_BM25, Float).label("score")
# In this order: else SQLite may go through all pages of a site and ask FTS5 for each.
_FOUND = text(
    """
    noiseclean_search_terms
    CROSS JOIN noiseclean_search ON noiseclean_search.id = noiseclean_search_terms.rowid
    """
)
_MATCHES = text("noiseclean_search_terms MATCH :match")


def create(connection: Connection, by: str = "") -> None:
    for statement in _DDL:
        connection.execute(text(statement))


def replace(connection: Connection, pages: Sequence[PageTerms]) -> None:
    connection.execute(_NUMBER, [{"key": page.key} for page in pages])
    rows = [
        {"key": page.key, "title": " ".join(page.title), "text": " ".join(_bounded(page.text))}
        for page in pages
    ]
    connection.execute(_REPLACE, rows)


def matches(alternatives: Sequence[AnalyzedAlternative]) -> Select[Any]:
    expression = " OR ".join(map(_alternative, alternatives))
    matched = _MATCHES.bindparams(bindparam("match", expression, unique=True))
    return select(_KEY_FOUND, _SCORE).select_from(_FOUND).where(matched)


def _bounded(terms: Sequence[str]) -> Iterable[str]:
    """The terms; from its 10,000th place on, each with a term in its place that nobody looks for.

    FTS5 visits all places of all phrases of a query, and a page may be one word a million times.
    """
    if len(terms) <= _MOST_PLACES:
        return terms
    places: Counter[str] = Counter()
    bounded = []
    for term in terms:
        places[term] += 1
        bounded.append(term if places[term] <= _MOST_PLACES else _NO_TERM)
    return bounded


def _alternative(alternative: AnalyzedAlternative) -> str:
    wanted = " AND ".join(map(_phrase, alternative.wanted))
    if not alternative.excluded:
        return f"({wanted})"
    return f"(({wanted}) NOT ({' OR '.join(map(_phrase, alternative.excluded))}))"


def _phrase(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.terms)}"' + " *" * phrase.open
