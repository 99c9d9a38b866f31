"""The pages of a store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, func, select

from noiseclean_scrapy.errors import DamagedError, QueryError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import page_rows, writing
from noiseclean_scrapy.store.damage import DamagedPage
from noiseclean_scrapy.store.database import Database
from noiseclean_scrapy.store.page_rows import Place, StoredPage
from noiseclean_scrapy.store.records import Cleaned, PageCounts, PageLine, PageRecord, Written
from noiseclean_scrapy.store.schema import is_provisional, page_table
from noiseclean_scrapy.store.search.indexing import in_chunks
from noiseclean_scrapy.store.search.ranking import check_range

Cluster = TypeVar("Cluster", str, "str | None")

_FIT = func.coalesce(page_table.c.fit, 1.0).label("fit")  # none before schema version 2
ORDERS: Mapping[str, tuple[ColumnElement[Any], ...]] = {
    "newest": (page_table.c.fetched_at.desc(), page_table.c.key),
    "fit": (_FIT, page_table.c.key),
    "kept": (page_table.c.kept_characters, page_table.c.key),
}
"""What listings of pages are ordered by: the newest first, or those with the least of a figure."""


class Pages:
    """`Store.pages`: pages by key, with their clean text and, where it is stored, their HTML."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, key: str) -> PageRecord | None:
        """The page without its HTML, None when it is not stored."""
        with self._database.transaction() as connection:
            found = page_rows.read_page(connection, key)
        return self._database.with_blocks(self._database.damage.readable(found))

    def find_url(self, url: str) -> PageRecord | None:
        """The page last fetched from ``url``, without its HTML, None when none is stored."""
        with self._database.transaction() as connection:
            found = page_rows.read_url(connection, url)
        return self._database.with_blocks(self._database.damage.readable(found))

    def html(self, key: str) -> str | None:
        """The HTML of a page, None when it is not stored."""
        with self._database.transaction() as connection:
            found = page_rows.read_html(connection, key)
        return self._database.damage.readable(found)

    def intact_html(self, key: str) -> str | None:
        """The HTML of a page, None when it is not stored, or damaged: for what can do without."""
        try:
            return self.html(key)
        except DamagedError:
            return None

    def lines(
        self, cluster: str | None = None, *, order: str = "newest", limit: int = 50, offset: int = 0
    ) -> list[PageLine]:
        """A part of the pages that have a text, of one cluster or of all.

        ``order`` is "newest", or "fit" or "kept": those that fit least, or kept least, first; the
        latter without pages that show no text.
        Raises QueryError for an order that is none, and a limit or an offset that cannot be.
        """
        check_range(limit, offset)
        if order not in ORDERS:
            raise QueryError(f"pages have no order {order!r}; they have {', '.join(ORDERS)}")
        with self._database.transaction() as connection:
            columns = [
                _FIT if part.name == "fit" else page_table.c[part.name] for part in fields(PageLine)
            ]
            query = select(*columns).where(page_table.c.clean_version.is_not(None))
            if cluster is not None:
                query = query.where(page_table.c.cluster == cluster)
            if order == "kept":
                query = query.where(page_table.c.visible_characters > 0)
            rows = connection.execute(query.order_by(*ORDERS[order]).limit(limit).offset(offset))
            return list(filter(self._is_sound, (PageLine(**row._mapping) for row in rows)))

    def _is_sound(self, line: PageLine) -> bool:
        try:
            line.check()
        except ValueError as error:
            self._database.damage.note(DamagedPage(str(line.key), None, str(error)))
            return False
        return True

    def count(self, cluster: str | None = None) -> PageCounts:
        """Numbers of pages, of one cluster or of all."""
        with self._database.transaction() as connection:
            query = select(
                func.count(),
                func.count(page_table.c.text),
                func.count().filter(is_provisional),
            ).select_from(page_table)
            if cluster is not None:
                query = query.where(page_table.c.cluster == cluster)
            pages, with_text, provisional = connection.execute(query).one()
            return PageCounts(pages, with_text, provisional)

    def with_text(self, cluster: str | None = None) -> Iterator[PageRecord]:
        """The pages that have a text, without their HTML, by key; of one cluster or of all."""
        return self._in_chunks(page_rows.read_pages_with_text, cluster, page_rows.key_of, "")

    def with_html(self, cluster: str) -> Iterator[PageRecord]:
        """The pages of a cluster that have HTML, with it, by key."""
        return self._in_chunks(page_rows.read_pages_with_html, cluster, page_rows.key_of, "")

    def provisional(self, cluster: str) -> Iterator[PageRecord]:
        """The pages that the newest tree does not cover, with their HTML, by position.

        A page written with a position but never with HTML cannot be learned and is left out.
        """
        place = page_rows.provisional_place
        return self._in_chunks(page_rows.read_provisional, cluster, place, (0, ""))

    def write(
        self, pages: Sequence[PageRecord], *, method: str, rewrite: Collection[str] = ()
    ) -> Written:
        """Insert or update ``pages`` by key; the same call twice leaves the same rows.

        ``method`` names the cleaning method of clusters that are new here. Cluster, URL, body hash
        and time are always replaced. A position, once given, stays as long as the page stays in
        its cluster; ``cleaned``, ``metadata`` and ``html`` that are None leave what is stored. A
        text that comes from a tree older than the one that covers its page is not taken. HTML is
        stored for provisional pages only, unless ``store_html``; of others it goes with its body.
        What is stored of the pages whose keys are in ``rewrite`` is deleted first.
        """
        if not pages:
            return Written(0, ())
        if self._database.objects is not None:
            with self._database.transaction(write=True):
                pass  # a database that is away costs no objects
            pages = self._database.objects.put(pages)
        with self._database.transaction(write=True) as connection:
            written = writing.write_pages(
                connection,
                pages,
                method=method,
                store_html=self._database.store_html,
                analyzer=self._database.indexer,
                rewrite=rewrite,
            )
        self._database.damage.keys.difference_update(rewrite)
        return written

    def clean_again(
        self,
        cluster: str,
        clean: Callable[[PageRecord], Cleaned | None],
        describe: Callable[[PageRecord], Metadata] | None = None,
    ) -> Iterator[int]:
        """Clean all pages of a cluster again that have a text and HTML; the number done so far.

        Each chunk of pages is a transaction of its own, given to ``clean`` (which must not use this
        store) with their HTML: whoever stops keeps what is done. ``describe`` is then given each
        page with its HTML and its new text, and what it tells of the page is stored as well. What
        they raise comes through, and nothing of their chunk has changed.
        """
        done, after = 0, ""
        while True:
            with self._database.transaction(write=True) as connection:
                cleaned, last = writing.clean_chunk(
                    connection,
                    cluster,
                    after,
                    clean,
                    describe,
                    analyzer=self._database.indexer,
                    damage=self._database.damage,
                )
            if last is None:
                return
            done, after = done + cleaned, last
            yield done

    def delete(self, keys: Sequence[str]) -> int:
        """Delete pages by key; the number of those that were stored.

        Each chunk of pages is a transaction of its own: locks of several would be in no order.
        """
        deleted = 0
        for chunk in in_chunks(keys):
            with self._database.transaction(write=True) as connection:
                deleted += writing.delete_pages(connection, chunk)
        return deleted

    def damaged(self) -> Iterator[DamagedPage]:
        """All pages that cannot be read, or whose HTML cannot be."""
        at = ""
        while True:
            with self._database.transaction() as connection:
                chunk = page_rows.read_every_page(connection, at)
            if not chunk:
                return
            yield from (page for page in chunk if isinstance(page, DamagedPage))
            at = chunk[-1].key

    def forget_damaged(self, keys: Sequence[str]) -> None:
        """Forget what cannot be read of pages: their HTML, or the page where that is damaged."""
        for chunk in in_chunks(keys):
            with self._database.transaction(write=True) as connection:
                writing.lock_pages(connection, page_table.c.key.in_(chunk))
                writing.forget_html(connection, chunk)
                found = page_rows.read_pages(connection, chunk)
                rows = [page.key for page in found if isinstance(page, DamagedPage)]
            self.delete(rows)
            self._database.damage.keys.difference_update(chunk)

    def _in_chunks(
        self,
        read: Callable[[Connection, Cluster, Place], list[StoredPage]],
        cluster: Cluster,
        place: Callable[[StoredPage], Place],
        start: Place,
    ) -> Iterator[PageRecord]:
        """What `read` finds, chunk by chunk, each in a transaction of its own."""

        def read_chunk(after: Place) -> list[StoredPage]:
            with self._database.transaction() as connection:
                return read(connection, cluster, after)

        found = page_rows.read_in_chunks(read_chunk, place, start, self._database.damage)
        return map(self._database.with_blocks, found)
