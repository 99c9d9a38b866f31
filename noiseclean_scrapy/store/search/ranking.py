"""Searching the stored pages: from a query to the best pages, and what they say about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select, union_all

from noiseclean_scrapy.errors import QueryError
from noiseclean_scrapy.page.facts import language_code
from noiseclean_scrapy.store.schema import page_table
from noiseclean_scrapy.store.search import fulltext
from noiseclean_scrapy.store.search.indexing import as_text, in_chunks
from noiseclean_scrapy.store.search.query import (
    LanguageQuery,
    analyze_by_language,
    wanted_phrases,
)
from noiseclean_scrapy.store.search.snippet import MATCH_END, MATCH_START, make_snippet
from noiseclean_scrapy.store.search.terms import Analyzer

__all__ = [
    "MATCH_END",
    "MATCH_START",
    "Hit",
    "SearchFilter",
    "SearchResults",
    "read_languages",
    "search_pages",
]

_TOO_MANY = 1 << 63


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that was found.

    ``snippet`` is the part of its text that has most of what was searched for, each match between
    ``MATCH_START`` and ``MATCH_END``. ``score`` is greater for better pages, and comparable within
    one search only. ``language`` is "" and ``published`` None where the page does not tell.
    """

    key: str
    url: str
    title: str
    snippet: str
    score: float
    cluster: str
    language: str
    published: datetime | None

    def marked(self, before: str, after: str) -> str:
        """The snippet with other marks round the matches; the text itself is not escaped."""
        return self.snippet.replace(MATCH_START, before).replace(MATCH_END, after)


@dataclass(frozen=True, slots=True)
class SearchResults:
    """How many pages were found, and those asked for, best first."""

    total: int
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Which pages are searched: of a site, in a language, published (else fetched) in a time.

    Raises QueryError for times that are not aware.
    """

    site: str | None = None
    language: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        if self.language is not None:
            code = language_code(self.language) or self.language.lower()
            object.__setattr__(self, "language", code)
        for name in ("since", "until"):
            if (time := getattr(self, name)) is not None:
                object.__setattr__(self, name, _in_utc(name, time))

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        page = page_table.c
        time = func.coalesce(page.published, page.fetched_at)
        if self.site is not None:
            yield page.cluster == self.site
        if self.language is not None:
            is_same = page.language == self.language
            yield is_same if self.language else or_(is_same, page.language.is_(None))
        if self.since is not None:
            yield time >= self.since
        if self.until is not None:
            yield time <= self.until


def search_pages(
    connection: Connection,
    analyzer: Analyzer,
    query: str,
    pages: SearchFilter,
    *,
    limit: int,
    offset: int,
) -> SearchResults:
    """The pages that ``query`` finds; raises QueryError when it is empty."""
    check_range(limit, offset)
    languages = read_languages(connection) if pages.language is None else [pages.language]
    parts = analyze_by_language(query, analyzer, languages)
    if not parts:
        return SearchResults(0, ())
    matching = [_matching(connection, part, pages) for part in parts]
    # Without scores, which SQLite would work out to count the pages.
    keys = [part.with_only_columns(part.selected_columns.key) for part in matching]
    counting = select(func.count()).select_from(union_all(*keys).subquery())
    total = connection.execute(counting).scalar_one()
    found = union_all(*matching).subquery()
    best = select(found).order_by(found.c.score.desc(), found.c.key).limit(limit).offset(offset)
    hits = _read_hits(connection, analyzer, query, connection.execute(best).all())
    return SearchResults(total, tuple(hits))


def _matching(connection: Connection, query: LanguageQuery, pages: SearchFilter) -> Select[Any]:
    """Keys and scores of the pages that part of a query finds."""
    found = fulltext.backend(connection).matches(query.alternatives)
    language = page_table.c.language
    conditions = list(pages.conditions())
    if query.within:
        conditions.append(language.in_(query.within))
    if query.without:
        conditions.append(or_(language.is_(None), language.not_in(query.without)))
    if not conditions:
        return found
    page = select(page_table.c.key).where(page_table.c.key == found.selected_columns.key)
    # Before its score is asked for, which takes longest.
    return found.where(page.where(*conditions).exists())


def check_range(limit: int, offset: int) -> None:
    """Raises QueryError unless both are numbers that a database can count to."""
    for name, value in (("limit", limit), ("offset", offset)):
        if type(value) is not int or not 0 <= value < _TOO_MANY:
            raise QueryError(f"{name}={value!r}: give a number from 0 to 2^63 - 1")


def _in_utc(name: str, time: datetime) -> datetime:
    try:
        if time.tzinfo is None:
            raise ValueError("it has no time zone")
        return time.astimezone(timezone.utc)
    except (AttributeError, OverflowError, ValueError) as error:
        raise QueryError(f"{name}={time!r} is no aware time: {error}") from None


def read_languages(connection: Connection) -> Iterator[str]:
    """The languages of the pages, "" where one tells none.

    It is a step of the index for each, however many pages there are.
    """
    language = page_table.c.language
    # In order, so that PostgreSQL asks the index; both conditions in one would ask all pages.
    unknown = [
        select(language).where(condition).order_by(language).limit(1)
        for condition in (language.is_(None), language == "")
    ]
    if any(connection.execute(query).first() for query in unknown):
        yield ""
    found: Any = ""
    # In a damaged row of SQLite stands something else, which sorts before or behind all texts.
    while isinstance(
        found := connection.execute(select(func.min(language)).where(language > found)).scalar(),
        str,
    ):
        yield found


def _read_hits(
    connection: Connection,
    analyzer: Analyzer,
    query: str,
    scores: Sequence[Any],
) -> Iterator[Hit]:
    page = page_table.c
    columns = (page.key, page.url, page.title, page.text, page.cluster, page.language)
    pages = select(*columns, page.published)
    for chunk in in_chunks(scores):
        wanted = pages.where(page.key.in_([row.key for row in chunk]))
        rows = {row.key: row for row in connection.execute(wanted)}
        for key, score in chunk:
            if key in rows and _is_sound(rows[key]):
                yield _hit(rows[key], score, query, analyzer)


def _is_sound(row: Any) -> bool:
    """Whether a row has an address and a site: a column without types may hold anything."""
    return isinstance(row.url, str) and isinstance(row.cluster, str)


def _hit(row: Any, score: float, query: str, analyzer: Analyzer) -> Hit:
    title, text, language = map(as_text, (row.title, row.text, row.language))
    snippet = make_snippet(text, language, wanted_phrases(query, analyzer, language), analyzer)
    return Hit(row.key, row.url, title, snippet, score, row.cluster, language, row.published)
