"""Store: the transactions in which a crawl keeps its pages and trees."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Engine, Row
from sqlalchemy.exc import SQLAlchemyError

from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.service_urls import shown_url
from noiseclean_scrapy.store import outbox, reading, tree_rows, writing
from noiseclean_scrapy.store.damage import DamagedPage, DamageLog, readable
from noiseclean_scrapy.store.engine import create_store_engine, is_in_memory
from noiseclean_scrapy.store.engine import writing as writing_engine
from noiseclean_scrapy.store.html_objects import HtmlObjects, with_objects
from noiseclean_scrapy.store.preparing import prepare_schema
from noiseclean_scrapy.store.reading import StoredPage
from noiseclean_scrapy.store.records import (
    Change,
    Cleaned,
    ClusterRecord,
    Growth,
    Holds,
    NewTree,
    PageCounts,
    PageLine,
    PageRecord,
    SiteSummary,
    TreeVersionRecord,
    Written,
)
from noiseclean_scrapy.store.schema import cluster_table, page_table
from noiseclean_scrapy.store.search.indexing import find_missing, in_chunks, index_pages
from noiseclean_scrapy.store.search.ranking import (
    SearchFilter,
    SearchResults,
    check_range,
    search_pages,
)
from noiseclean_scrapy.store.search.terms import Analyzer
from noiseclean_scrapy.store.stored_blocks import StoredBlocks

if TYPE_CHECKING:
    from typing_extensions import Self

Page = TypeVar("Page", PageRecord, "PageRecord | None")


class Store:
    """Pages, their clean text and the trees of their clusters, in SQLite or PostgreSQL.

    Every method is one transaction (the iterators: one a chunk) and may be called from any thread;
    several processes may share one database. What a returned call has written survives the death
    of the process. Every method raises StoreError when the database refuses. A page that is damaged
    raises DamagedError where it alone is asked for; listings leave it out, with a line in the log.

    ``url`` is an SQLAlchemy URL, ``sqlite:///noiseclean.db`` or ``postgresql://user@host/name``.
    ``read_only`` neither creates nor changes a database (SQLite may put its empty ``-wal`` and
    ``-shm`` files next to it). ``store_html`` keeps the HTML of all pages, not only of the
    provisional ones. Without ``search`` pages that are written leave the full-text index, or never
    get there, until `index_missing`. With an ``html_store``, a URL as fsspec has them, HTML is
    written there, before the rows that name it; StoreError is raised when it refuses as well.
    """

    def __init__(
        self,
        url: str,
        *,
        read_only: bool = False,
        store_html: bool = False,
        search: bool = True,
        html_store: str = "",
    ) -> None:
        self._read_only = read_only
        self._store_html = store_html
        self._objects = HtmlObjects(html_store) if html_store else None
        if self._objects is not None and not read_only:
            self._objects.check()
        self._engine = with_objects(create_store_engine(url, read_only=read_only), self._objects)
        self._writing_engine = writing_engine(self._engine)
        self._analyzer = Analyzer()
        self._indexer = self._analyzer if search else None
        self._damage = DamageLog()
        # A database in memory is one connection, which cannot be in two transactions.
        self._lock: AbstractContextManager[object] = (
            threading.RLock() if is_in_memory(self._engine.url) else nullcontext()
        )
        try:
            prepare_schema(self._engine, self._writing_engine, read_only=read_only)
        except SQLAlchemyError as error:
            self.close()
            raise StoreError(
                f"cannot open {_shown(self._engine)}: {_reason(error)}; check its "
                f"address, that it is running, and your rights"
            ) from error
        except BaseException:
            self.close()
            raise

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
        return is_in_memory(self._engine.url)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def cluster(self, name: str) -> ClusterRecord | None:
        """The cluster with its newest tree, None when it is not stored."""
        with self._transaction() as connection:
            return reading.read_cluster(connection, name)

    def clusters(self) -> list[ClusterRecord]:
        """All clusters by name, without their trees."""
        with self._transaction() as connection:
            return reading.read_clusters(connection)

    def methods(self) -> set[str]:
        """The kinds of the clusters' trees."""
        with self._transaction() as connection:
            return reading.read_methods(connection)

    def cluster_states(self, names: Sequence[str]) -> list[ClusterRecord]:
        """Those of some clusters that are stored, by name, without their trees."""
        with self._transaction() as connection:
            return [
                cluster
                for chunk in in_chunks(names)
                for cluster in reading.read_clusters(connection, cluster_table.c.name.in_(chunk))
            ]

    def idle_clusters(self, since: datetime) -> list[str]:
        """The clusters with provisional pages, the last of which was fetched before ``since``."""
        with self._transaction() as connection:
            return reading.read_idle_clusters(connection, since)

    def tree_versions(self, cluster: str) -> list[TreeVersionRecord]:
        """The saved trees of a cluster, oldest first."""
        with self._transaction() as connection:
            return reading.read_tree_versions(connection, cluster)

    def trees(self, cluster: str) -> list[tuple[int, bytes]]:
        """The trees of a cluster that still have their bytes, by version, newest first."""
        with self._transaction() as connection:
            return reading.read_trees(connection, cluster)

    def find(self, key: str) -> PageRecord | None:
        """The page without its HTML, None when it is not stored."""
        with self._transaction() as connection:
            found = reading.read_page(connection, key)
        if isinstance(found, DamagedPage):
            self._damage.note(found)
        return self._with_blocks(readable(found))

    def find_url(self, url: str) -> PageRecord | None:
        """The page last fetched from ``url``, without its HTML, None when none is stored."""
        with self._transaction() as connection:
            found = reading.read_url(connection, url)
        return self._with_blocks(readable(found))

    def html(self, key: str) -> str | None:
        """The HTML of a page, None when it is not stored."""
        with self._transaction() as connection:
            return readable(reading.read_html(connection, key))

    def site_summaries(self) -> list[SiteSummary]:
        """All clusters by name, in numbers."""
        with self._transaction() as connection:
            return reading.read_site_summaries(connection)

    def page_lines(
        self, cluster: str | None = None, *, order: str = "newest", limit: int = 50, offset: int = 0
    ) -> list[PageLine]:
        """A part of the pages that have a text, of one cluster or of all.

        ``order`` is "newest", or "fit" or "kept": those that fit least, or kept least, first.
        Raises QueryError for a limit or an offset that cannot be.
        """
        check_range(limit, offset)
        with self._transaction() as connection:
            return reading.read_page_lines(
                connection, cluster, order=order, limit=limit, offset=offset
            )

    def fits(self, clusters: Sequence[str], limit: int) -> list[list[tuple[datetime, float]]]:
        """For each cluster times and fits of a sample of its pages, in the order of time."""
        with self._transaction() as connection:
            return [reading.read_fits(connection, name, limit) for name in clusters]

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
        with self._transaction() as connection:
            return search_pages(
                connection, self._analyzer, query, pages, limit=limit, offset=offset
            )

    def count_pages(self, cluster: str | None = None) -> PageCounts:
        """Numbers of pages, of one cluster or of all."""
        with self._transaction() as connection:
            return reading.read_counts(connection, cluster)

    def pages(self, cluster: str | None = None) -> Iterator[PageRecord]:
        """The pages that have a text, without their HTML, by key; of one cluster or of all."""

        def read_chunk(after: str) -> list[StoredPage]:
            with self._transaction() as connection:
                return reading.read_pages_with_text(connection, cluster, after)

        pages = reading.read_in_chunks(read_chunk, lambda page: page.key, "", self._damage)
        return map(self._with_blocks, pages)

    def pages_with_html(self, cluster: str) -> Iterator[PageRecord]:
        """The pages of a cluster that have HTML, with it, by key."""

        def read_chunk(after: str) -> list[StoredPage]:
            with self._transaction() as connection:
                return reading.read_pages_with_html(connection, cluster, after)

        pages = reading.read_in_chunks(read_chunk, lambda page: page.key, "", self._damage)
        return map(self._with_blocks, pages)

    def provisional(self, cluster: str) -> Iterator[PageRecord]:
        """The pages that the newest tree does not cover, with their HTML, by position.

        A page written with a position but never with HTML cannot be learned and is left out.
        """

        def read_chunk(after: tuple[int, str]) -> list[StoredPage]:
            with self._transaction() as connection:
                return reading.read_provisional(connection, cluster, after)

        start = (0, "")
        pages = reading.read_in_chunks(read_chunk, reading.provisional_place, start, self._damage)
        return map(self._with_blocks, pages)

    @property
    def damaged(self) -> int:
        """Number of the pages that were met and could not be read."""
        return self._damage.met

    def damaged_pages(self) -> Iterator[DamagedPage]:
        """All pages that cannot be read, or whose HTML cannot be."""
        at = ""
        while True:
            with self._transaction() as connection:
                chunk = reading.read_every_page(connection, at)
            if not chunk:
                return
            yield from (page for page in chunk if isinstance(page, DamagedPage))
            at = chunk[-1].key

    def damaged_clusters(self) -> list[str]:
        """The names of the clusters whose rows have values that no cluster can have."""
        with self._transaction() as connection:
            return reading.read_damaged_clusters(connection)

    def mend_cluster(self, name: str) -> None:
        """Make the row of a damaged cluster anew, of its trees and its pages."""
        with self._transaction(write=True) as connection:
            writing.lock_cluster(connection, name, method="")

    def forget_damaged(self, keys: Sequence[str]) -> None:
        """Forget what cannot be read of pages: their HTML, or the page where that is damaged."""
        for chunk in in_chunks(keys):
            with self._transaction(write=True) as connection:
                writing.lock_pages(connection, page_table.c.key.in_(chunk))
                writing.forget_html(connection, chunk)
                found = reading.read_pages(connection, chunk)
                rows = [page.key for page in found if isinstance(page, DamagedPage)]
            self.delete_pages(rows)
            self._damage.keys.difference_update(chunk)

    def write(
        self, pages: Sequence[PageRecord], *, method: str, anew: Collection[str] = ()
    ) -> Written:
        """Insert or update ``pages`` by key; the same call twice leaves the same rows.

        ``method`` names the cleaning method of clusters that are new here. Cluster, URL, body hash
        and time are always replaced. A position, once given, stays as long as the page stays in
        its cluster; ``cleaned``, ``metadata`` and ``html`` that are None leave what is stored. A
        text that comes from a tree older than the one that covers its page is not taken. HTML is
        stored for provisional pages only, unless ``store_html``. What is stored of the pages whose
        keys are in ``anew`` is deleted first.
        """
        if not pages:
            return Written(0, ())
        if self._objects is not None:
            with self._transaction(write=True):
                pass  # a database that is away costs no objects
            pages = self._objects.put(pages)
        with self._transaction(write=True) as connection:
            written = writing.write_pages(
                connection,
                pages,
                method=method,
                store_html=self._store_html,
                analyzer=self._indexer,
                anew=anew,
            )
        self._damage.keys.difference_update(anew)
        return written

    def save_tree(
        self,
        cluster: str,
        *,
        method: str,
        version: int,
        tree: bytes,
        learned: int,
        clean: Callable[[PageRecord], Cleaned | None],
    ) -> list[str]:
        """Save a new tree and clean again what it covers, all or nothing.

        The provisional pages up to position ``learned`` become covered: those with a text and HTML
        are given to ``clean`` (which must not use this store; None leaves the page as it is), and
        their HTML is dropped unless ``store_html``. Returns the keys of the pages cleaned again, by
        position. Other writers of this cluster (SQLite: of this database) wait meanwhile.

        Raises StoreError when the cluster already has this version or a newer one: another process
        was faster. What ``clean`` raises comes through, and nothing has changed.
        """
        with self._transaction(write=True) as connection:
            row = writing.lock_cluster(connection, cluster, method=method, learned=learned)
            if version <= row.version:
                raise StoreError(
                    f"cluster {cluster!r} has tree version {row.version}, so version {version} is "
                    f"too old to save: read the stored tree, merge, save version {row.version + 1}"
                )
            new = NewTree(method, tree, clean)
            return self._save(connection, row, new, version=version, upto=learned)

    def grow_tree(
        self,
        cluster: str,
        *,
        method: str,
        limit: int,
        grow: Callable[[ClusterRecord, list[str], Iterator[PageRecord]], NewTree | None],
        holds: Holds = lambda page: False,
    ) -> Growth:
        """Give a cluster a new tree that covers its first ``limit`` provisional pages, or none.

        ``grow`` (which must not use this store) is given the cluster with its newest tree, the keys
        of these pages, and the pages with their HTML (unless `holds`, which is asked just before,
        says that it is not needed), to be read before it returns. The tree that
        it returns becomes the next version, and these pages are cleaned again, as by `save_tree`;
        None changes nothing. Until the end nobody else can write to this cluster (SQLite: to this
        database), so that a page is learned by one process, once.

        What ``grow`` raises comes through, and nothing has changed.
        """
        with self._transaction(write=True) as connection:
            row = writing.lock_cluster(connection, cluster, method=method)
            newest = reading.read_cluster(connection, cluster)
            assert newest
            upto, keys = tree_rows.next_pages(connection, cluster, limit)
            unread = DamageLog()
            new = grow(newest, keys, tree_rows.read_pages(connection, cluster, upto, holds, unread))
            writing.forget_html(connection, sorted(unread.keys))
            self._damage.take(unread)
            cleaned: list[str] = []
            if new is not None:
                cleaned = self._save(connection, row, new, version=row.version + 1, upto=upto)
            else:
                tree_rows.count_covered(connection, row, 0)
            (since,) = reading.read_clusters(connection, cluster_table.c.name == row.name)
            return Growth(since, tuple(cleaned))

    def replace_damaged_tree(
        self, cluster: str, *, version: int, tree: bytes, known_version: int
    ) -> int:
        """Put a tree in the place of the damaged newest one; the number of pages to learn again.

        ``tree`` has learned what the version ``known_version`` (0: none) had, and becomes the next
        version. Pages that newer trees have learned become provisional again, if their HTML is
        stored. Changes nothing when ``version`` is not the newest any more.
        """
        with self._transaction(write=True) as connection:
            row = writing.lock_cluster(connection, cluster, method="")
            if row.version != version:
                return 0
            return tree_rows.replace_tree(connection, row, tree, known_version)

    def _save(
        self, connection: Connection, row: Row[Any], new: NewTree, *, version: int, upto: int
    ) -> list[str]:
        return tree_rows.save_tree(
            connection,
            row,
            new,
            version=version,
            upto=upto,
            store_html=self._store_html,
            analyzer=self._indexer,
            damage=self._damage,
        )

    def clean_stored(
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
            with self._transaction(write=True) as connection:
                cleaned, last = writing.clean_chunk(
                    connection,
                    cluster,
                    after,
                    clean,
                    describe,
                    analyzer=self._indexer,
                    damage=self._damage,
                )
            if last is None:
                return
            done, after = done + cleaned, last
            yield done

    def index_missing(self) -> Iterator[int]:
        """Index all pages with a text that are not in the full-text index; the number done so far.

        Each chunk of pages is a transaction of its own: whoever stops keeps what is done.
        """
        done, after = 0, ""
        while True:
            with self._transaction(write=True) as connection:
                keys = find_missing(connection, after)
                own = writing.lock_pages(connection, page_table.c.key.in_(keys))
                index_pages(connection, self._analyzer, own)
            if not keys:
                return
            done, after = done + len(keys), keys[-1]
            yield done

    @property
    def is_indexed(self) -> bool:
        """Whether all pages with a text are in the full-text index."""
        with self._transaction() as connection:
            return not find_missing(connection, "", limit=1)

    def delete_pages(self, keys: Sequence[str]) -> int:
        """Delete pages by key; the number of those that were stored.

        Each chunk of pages is a transaction of its own: locks of several would be in no order.
        """
        deleted = 0
        for chunk in in_chunks(keys):
            with self._transaction(write=True) as connection:
                deleted += writing.delete_pages(connection, chunk)
        return deleted

    def delete_cluster(self, name: str) -> int:
        """Delete a cluster, its trees and its pages; the number of pages deleted."""
        with self._transaction(write=True) as connection:
            return writing.delete_pages_and_trees(connection, name)

    def external_indexes(self) -> list[str]:
        """The names of the external indexes that are told of changed pages."""
        with self._transaction() as connection:
            return outbox.read_indexes(connection)

    def register_index(self, name: str) -> None:
        """Let an external index be told of all pages, now and whenever they change.

        A name that is known is told of all pages once more.
        """
        with self._transaction(write=True) as connection:
            outbox.register(connection, name)

    def unregister_index(self, name: str) -> bool:
        """Tell an external index no more; whether it was known."""
        with self._transaction(write=True) as connection:
            return outbox.unregister(connection, name)

    def changes(self, name: str, *, limit: int = 500) -> list[Change]:
        """The oldest changes that an external index has not been told of."""
        with self._transaction() as connection:
            changes = outbox.read_changes(connection, name, limit, self._damage)
        for change in changes:
            self._with_blocks(change.page)
        return changes

    def acknowledge(self, changes: Sequence[Change]) -> None:
        """Forget changes that an external index has taken in and will not lose.

        A page that has changed since stays among the changes.
        """
        with self._transaction(write=True) as connection:
            outbox.acknowledge(connection, [change.sequence for change in changes])

    def _with_blocks(self, page: Page) -> Page:
        """The page, whose blocks read its HTML from here when somebody looks at them."""
        blocks = page.cleaned.blocks if page is not None and page.cleaned is not None else None
        if page is not None and isinstance(blocks, StoredBlocks):
            blocks.read_html = partial(self._html_of_blocks, page.key)
        return page

    def _html_of_blocks(self, key: str) -> str | None:
        with self._transaction() as connection:
            html = reading.read_html(connection, key)
        if isinstance(html, DamagedPage):
            self._damage.note(html)
            return None
        return html

    @contextmanager
    def _transaction(self, *, write: bool = False) -> Iterator[Connection]:
        if write and self._read_only:
            raise StoreError("the store was opened read-only: open it without read_only to write")
        engine = self._writing_engine if write else self._engine
        with self._lock:
            try:
                with engine.begin() as connection:
                    yield connection
            except SQLAlchemyError as error:
                raise StoreError(f"{_shown(engine)} refused: {_reason(error)}") from error


def _shown(engine: Engine) -> str:
    return f"the database {shown_url(engine.url.render_as_string(hide_password=False))}"


def _reason(error: SQLAlchemyError) -> str:
    """What the driver said, without the statement and its values."""
    return str(getattr(error, "orig", None) or error).strip()
