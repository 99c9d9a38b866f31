"""The full-text index of PostgreSQL: a tsvector of the terms a page, and GIN over them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    Select,
    bindparam,
    cast,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from noiseclean_scrapy.store.column_types import KeyText
from noiseclean_scrapy.store.search.query import AnalyzedAlternative
from noiseclean_scrapy.store.search.terms import TITLE_WEIGHT, PageTerms, Phrase

# PostgreSQL refuses a tsvector of a megabyte.
_VECTOR_BYTES = 1_000_000
# It knows no later position: all words from the one before on share it, and follow nothing.
_LAST_POSITION = 16_383

TABLE = "noiseclean_search"
_DDL = (
    """
    CREATE TABLE noiseclean_search (
        key TEXT PRIMARY KEY REFERENCES noiseclean_page (key) ON DELETE CASCADE,
        terms TSVECTOR NOT NULL
    ) {by}
    """,
    "CREATE INDEX noiseclean_search_by_terms ON noiseclean_search USING GIN (terms)",
)
_REPLACE = text(
    """
    INSERT INTO noiseclean_search (key, terms) VALUES (:key, CAST(:terms AS TSVECTOR))
    ON CONFLICT (key) DO UPDATE SET terms = excluded.terms
    """
)
# Of D (the text), C, B and A (the title).
_WEIGHTS: ColumnElement[str] = literal_column(f"'{{{1 / TITLE_WEIGHT}, 0, 0, 1}}'")
_TERMS = literal_column("noiseclean_search.terms", TSVECTOR)
_KEY_FOUND = literal_column("noiseclean_search.key", KeyText).label("key")


def create(connection: Connection, by: str = "") -> None:
    for statement in _DDL:
        connection.execute(text(statement.format(by=by)))


def replace(connection: Connection, pages: Sequence[PageTerms]) -> None:
    rows = [{"key": page.key, "terms": _vector(page)} for page in pages]
    connection.execute(_REPLACE, rows)


def matches(alternatives: Sequence[AnalyzedAlternative]) -> Select[Any]:
    expression = " | ".join(map(_alternative, alternatives))
    wanted = cast(bindparam("match", expression, unique=True), TSQUERY)
    # 1 makes long pages count less.
    score = func.ts_rank_cd(_WEIGHTS, _TERMS, wanted, 1, type_=Float).label("score")
    return select(_KEY_FOUND, score).select_from(text(TABLE)).where(_TERMS.op("@@")(wanted))


def _vector(page: PageTerms) -> str:
    """The terms with their places and weights; what PostgreSQL has no room for is left out.

    >>> _vector(PageTerms("1", ("ferry",), ("ferry", "sails")))
    "'ferry':1A,3 'sails':4"
    """
    places: dict[str, list[str]] = {}
    size = 0
    # No phrase reaches from the title into the text.
    first = len(page.title) + 2
    numbered = chain(
        ((term, number, "A") for number, term in enumerate(page.title, 1)),
        ((term, number, "") for number, term in enumerate(page.text, first)),
    )
    for term, number, weight in numbered:
        size += len(term.encode()) + 8 if term not in places else 2
        if size > _VECTOR_BYTES:
            break
        place = number if number < _LAST_POSITION - 1 else _LAST_POSITION
        places.setdefault(term, []).append(f"{place}{weight}")
    return " ".join(f"'{term}':{','.join(numbers)}" for term, numbers in places.items())


def _alternative(alternative: AnalyzedAlternative) -> str:
    wanted = " & ".join(map(_phrase, alternative.wanted))
    excluded = "".join(f" & !{_phrase(phrase)}" for phrase in alternative.excluded)
    return f"({wanted}{excluded})"


def _phrase(phrase: Phrase) -> str:
    terms = " <-> ".join(f"'{term}'" for term in phrase.terms)
    return f"({terms}{':*' * phrase.open})"
