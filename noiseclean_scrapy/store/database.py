"""The database of a store: its transactions, and what all of them share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from noiseclean_scrapy.errors import RefusedValueError, StoreError
from noiseclean_scrapy.service_urls import shown_url
from noiseclean_scrapy.store import page_rows
from noiseclean_scrapy.store.damage import DamagedPage, DamageLog, is_corruption, refuses_value
from noiseclean_scrapy.store.engine import create_store_engine, is_in_memory, trouble_with_file
from noiseclean_scrapy.store.engine import writing as writing_engine
from noiseclean_scrapy.store.html_objects import HtmlObjects, with_objects
from noiseclean_scrapy.store.patience import Patience
from noiseclean_scrapy.store.preparing import needs_preparing, prepare_schema
from noiseclean_scrapy.store.records import PageRecord
from noiseclean_scrapy.store.search.terms import Analyzer
from noiseclean_scrapy.store.stored_blocks import StoredBlocks

Page = TypeVar("Page", PageRecord, "PageRecord | None")


class Database:
    """The tables of a store; see `Store` for the options.

    `indexer` is None where nothing is to be indexed, `objects` where HTML stays in its rows.
    `on_damage` is called when the database could not write since its file is damaged.
    """

    def __init__(
        self,
        url: str,
        *,
        read_only: bool,
        create: bool,
        store_html: bool,
        search: bool,
        html_store: str,
        patience: Patience | None,
    ) -> None:
        self._read_only = read_only
        self.shown_url = shown_url(url)
        self.shown = f"the database {self.shown_url}"
        self.store_html = store_html
        self.objects = HtmlObjects(html_store) if html_store else None
        if self.objects is not None and not read_only:
            self.objects.check()
        self._engine = with_objects(
            create_store_engine(url, read_only=read_only, patience=patience), self.objects
        )
        self._writing_engine = writing_engine(self._engine)
        self.analyzer = Analyzer()
        self.indexer = self.analyzer if search else None
        self.damage = DamageLog()
        self.on_damage: Callable[[], object] = bool
        # A database in memory is one connection, which cannot be in two transactions.
        self._lock: AbstractContextManager[object] = (
            threading.RLock() if self.in_memory else nullcontext()
        )
        try:
            if needs_preparing(self._engine, read_only=read_only, create=create):
                with patience.lifted() if patience else nullcontext():
                    prepare_schema(self._writing_engine)
        except SQLAlchemyError as error:
            self.close()
            running = ", that it is running," * (not self.is_sqlite)
            advice = trouble_with_file(url) or f"check its address{running} and your rights"
            raise StoreError(f"cannot open {self.shown}: {reason_of(error)}; {advice}") from error
        except BaseException:
            self.close()
            raise

    @property
    def in_memory(self) -> bool:
        """Whether it is in the memory of this process alone."""
        return is_in_memory(self._engine.url)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is SQLite's, else PostgreSQL's."""
        return self._engine.dialect.name == "sqlite"

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Connection]:
        """A connection until the commit; StoreError when the database refuses.

        RefusedValueError where it refuses a value that was to be written.
        """
        if write and self._read_only:
            raise StoreError("the store was opened read-only: open it without read_only to write")
        engine = self._writing_engine if write else self._engine
        with self._lock:
            try:
                with engine.begin() as connection:
                    yield connection
            except SQLAlchemyError as error:
                if write and is_corruption(error):
                    self.on_damage()
                kind = RefusedValueError if write and refuses_value(error) else StoreError
                raise kind(f"{self.shown} refused: {reason_of(error)}") from error

    @contextmanager
    def driver_connection(self) -> Iterator[Any]:
        """A connection of the driver, outside of any transaction."""
        with self._lock:
            try:
                connection = self._engine.raw_connection()
            except SQLAlchemyError as error:
                raise StoreError(f"{self.shown} refused: {reason_of(error)}") from error
            try:
                yield connection.driver_connection
            finally:
                connection.close()

    def with_blocks(self, page: Page) -> Page:
        """The page, whose blocks read its HTML from here when somebody looks at them."""
        blocks = page.cleaned.blocks if page is not None and page.cleaned is not None else None
        if page is not None and isinstance(blocks, StoredBlocks):
            blocks.read_html = partial(self._html_of_blocks, page.key)
        return page

    def _html_of_blocks(self, key: str) -> str | None:
        with self.transaction() as connection:
            html = page_rows.read_html(connection, key)
        if isinstance(html, DamagedPage):
            self.damage.note(html)
            return None
        return html


def reason_of(error: SQLAlchemyError) -> str:
    """What the driver said, without the statement and its values."""
    return str(getattr(error, "orig", None) or error).strip()
