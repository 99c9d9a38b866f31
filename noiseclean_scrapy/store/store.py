"""Store: the transactions in which a crawl keeps its pages and trees."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING

from noiseclean_scrapy.store import writing
from noiseclean_scrapy.store.clusters import Clusters
from noiseclean_scrapy.store.damage import DamageLog
from noiseclean_scrapy.store.database import Database
from noiseclean_scrapy.store.outbox import Outbox
from noiseclean_scrapy.store.pages import Pages
from noiseclean_scrapy.store.patience import Patience
from noiseclean_scrapy.store.schema import page_table
from noiseclean_scrapy.store.search.indexing import find_missing, index_pages
from noiseclean_scrapy.store.search.ranking import (
    SearchFilter,
    SearchResults,
    read_languages,
    search_pages,
)
from noiseclean_scrapy.store.structure import Structure

if TYPE_CHECKING:
    from typing_extensions import Self


class Store:
    """Pages, their clean text and the trees of their clusters, in SQLite or PostgreSQL.

    `pages`, `clusters`, `outbox` and `structure` have what is asked of these, and the store what
    concerns all. Every method is one transaction (the iterators: one a chunk) and may be called
    from any thread; several processes may share one database. What a returned call has written
    survives the death of the process. Every method raises StoreError when the database refuses. A
    page that is damaged raises DamagedError where it alone is asked for; listings leave it out,
    with a line in the log.

    ``url`` is an SQLAlchemy URL, ``sqlite:///noiseclean.db`` or ``postgresql://user@host/name``.
    ``read_only`` neither creates nor changes a database; without ``create`` one that has no tables
    of a store is refused. ``store_html`` keeps the HTML of all pages, not only of the provisional
    ones. Without ``search`` pages that are written leave the full-text index, or never get there,
    until `index_missing`. With an ``html_store``, a URL as fsspec has them, HTML is written there,
    before the rows that name it; StoreError is raised when it refuses as well. With ``patience``
    psycopg's connections wait no longer for a server that answers nothing, but while tables are
    made or migrated.
    """

    def __init__(
        self,
        url: str,
        *,
        read_only: bool = False,
        create: bool = True,
        store_html: bool = False,
        search: bool = True,
        html_store: str = "",
        patience: Patience | None = None,
    ) -> None:
        self._database = Database(
            url,
            read_only=read_only,
            create=create,
            store_html=store_html,
            search=search,
            html_store=html_store,
            patience=patience,
        )
        self.pages = Pages(self._database)
        self.clusters = Clusters(self._database)
        self.outbox = Outbox(self._database)
        self.structure = Structure(self._database)
        self._database.on_damage = self.structure.clear_damaged_search

    def __repr__(self) -> str:
        return f"Store({self._database.shown_url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def in_memory(self) -> bool:
        """Whether the database is in the memory of this process alone."""
        return self._database.in_memory

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    @property
    def damage(self) -> DamageLog:
        """The pages that were met and could not be read."""
        return self._database.damage

    @property
    def damaged(self) -> int:
        """Number of these pages."""
        return self.damage.met

    def search(
        self,
        query: str,
        *,
        site: str | None = None,
        language: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> SearchResults:
        """The pages whose title and text have what ``query`` asks for, best first.

        A query has words, "phrases", -excluded words and OR between alternatives. Words are found
        in all their forms, as the language of each page has them. ``site`` is the name of a
        cluster, ``language`` an ISO 639 code as stored; ``since`` and ``until`` (aware, inclusive)
        bound the time of publication, of the fetch where that is unknown.

        Raises QueryError when the query is empty, or a limit or a time cannot be.
        """
        pages = SearchFilter(site, language, since, until)
        with self._database.transaction() as connection:
            return search_pages(
                connection, self._database.analyzer, query, pages, limit=limit, offset=offset
            )

    def languages(self) -> list[str]:
        """Codes of the languages that stored pages are in."""
        with self._database.transaction() as connection:
            return list(filter(None, read_languages(connection)))

    def index_missing(self) -> Iterator[int]:
        """Index all pages with a text that are not in the full-text index; the number done so far.

        Each chunk of pages is a transaction of its own: whoever stops keeps what is done.
        """
        done, after = 0, ""
        while True:
            with self._database.transaction(write=True) as connection:
                keys = find_missing(connection, after)
                own = writing.lock_pages(connection, page_table.c.key.in_(keys))
                index_pages(connection, self._database.analyzer, own)
            if not keys:
                return
            done, after = done + len(keys), keys[-1]
            yield done

    @property
    def is_indexed(self) -> bool:
        """Whether all pages with a text are in the full-text index."""
        with self._database.transaction() as connection:
            return not find_missing(connection, "", limit=1)
