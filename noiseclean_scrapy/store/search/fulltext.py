"""The full-text index: FTS5 in SQLite, tsvector and GIN in PostgreSQL, the same terms in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy import Connection, Select

from noiseclean_scrapy.store.search import fulltext_postgresql, fulltext_sqlite
from noiseclean_scrapy.store.search.query import AnalyzedAlternative
from noiseclean_scrapy.store.search.terms import PageTerms


class Backend(Protocol):
    """What searching needs of a kind of database.

    What is indexed of a page goes with it: a foreign key deletes it.
    """

    def create(self, connection: Connection, by: str = "") -> None:
        """Create the index; `by` says how PostgreSQL is to part its table."""

    def replace(self, connection: Connection, pages: Sequence[PageTerms]) -> None:
        """Index stored pages, in the place of what was indexed of them before."""

    def matches(self, alternatives: Sequence[AnalyzedAlternative]) -> Select[Any]:
        """The pages that fulfil an alternative: columns `key` and `score`, greater is better."""


def backend(connection: Connection) -> Backend:
    """The index of the database that is connected."""
    return fulltext_postgresql if connection.dialect.name == "postgresql" else fulltext_sqlite
