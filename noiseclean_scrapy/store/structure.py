"""What SQLite keeps beside the rows: indexes, and the full-text index. They can be made anew."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from sqlalchemy import text

from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.page.characters import counted
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store.database import Database
from noiseclean_scrapy.store.schema import metadata, page_table
from noiseclean_scrapy.store.search import fulltext_sqlite

logger = get_logger(__name__)

_MOST_REASONS = 100  # a line for each row that an index lacks
_NOTHING_WRONG = "ok"
_ORPHANS = (
    f"SELECT \"table\", rowid FROM pragma_foreign_key_check WHERE parent = '{page_table.name}'"
)
"""Rows that belong to pages which are not there."""
_ALONE = {"query_only": 0, "foreign_keys": 0, "writable_schema": 1}
"""FTS5 may be asked, and a row that an index lacks is deleted without what belongs to it."""
_COPIES = re.compile(r"UNIQUE constraint failed: (?P<columns>(?P<table>\w+)\..+)")


class Structure:
    """`Store.structure`: what SQLite itself finds wrong; a PostgreSQL server looks after its own.

    An index that lacks rows loses no page, but whoever asks by it does not find them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def damaged(self) -> list[str]:
        """What SQLite finds wrong in its file, at most a hundred things.

        That are also rows of pages that were deleted without their foreign keys.
        """
        if not self._database.is_sqlite:
            return []
        with self._database.transaction() as connection:
            rows = connection.execute(text(f"PRAGMA integrity_check({_MOST_REASONS})")).scalars()
            found = [" ".join(row.split()) for row in rows if row != _NOTHING_WRONG]
            if found:  # pages are looked for by their index
                return found
            orphans = Counter(connection.execute(text(_ORPHANS)).scalars())
        return [f"{counted(n, 'row')} of {table} without a page" for table, n in orphans.items()]

    def damaged_search(self) -> str:
        """What is wrong with the full-text index, empty where nothing is; writers wait meanwhile.

        Raises StoreError where the file, or its folder, is read-only.
        """
        if not self._database.is_sqlite:
            return ""
        with self._alone() as connection:
            return _damaged_terms(connection) or _lost_terms(connection)

    def mend(self) -> None:
        """Make all indexes anew but that for the search.

        A row that its index lacked may have been written a second time: the last one stays. Rows of
        pages that are not there go.
        """
        if not self._database.is_sqlite:
            return
        with self._alone() as connection:
            for _ in metadata.tables:
                try:
                    connection.execute("REINDEX")
                    break
                except sqlite3.IntegrityError as error:
                    copies = _COPIES.fullmatch(str(error))
                    if copies is None:
                        raise
                    connection.execute(_delete_copies(copies["table"], copies["columns"]))
            else:
                return
            for table, row in connection.execute(_ORPHANS).fetchall():
                connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))

    def clear_search(self) -> None:
        """Begin the full-text index anew, without any page."""
        with self._alone() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                with suppress(sqlite3.OperationalError):  # there is no such table
                    connection.execute(fulltext_sqlite.NOTHING_WRITTEN)
                for statement in fulltext_sqlite.ANEW:
                    connection.execute(statement)
                connection.execute("COMMIT")
            finally:
                connection.rollback()

    def clear_damaged_search(self) -> None:
        """Let a full-text index that is damaged keep nobody from writing pages: it is emptied."""
        with suppress(StoreError):
            with self._alone() as connection:
                reason = _damaged_terms(connection)
            if reason:
                self.clear_search()
                message = "The full-text index was damaged (%s) and is empty now: `%s` fills it"
                logger.error(message, reason, "noiseclean index")

    @contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        """A connection whose statements are transactions of their own, and may write.

        FTS5 is asked for its check by an INSERT, which changes nothing.
        """
        with self._database.driver_connection() as connection:
            before = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _ALONE}
            try:
                _set(connection, _ALONE)
                yield connection
            except sqlite3.Error as error:
                raise StoreError(f"{self._database.shown} refused: {error}") from error
            finally:
                _set(connection, before)


def _damaged_terms(connection: sqlite3.Connection) -> str:
    """What FTS5 finds wrong in its own table."""
    try:
        connection.execute(fulltext_sqlite.CHECK)
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return str(error)
        raise  # locked, or read-only
    except sqlite3.DatabaseError as error:
        return str(error)
    return ""


def _lost_terms(connection: sqlite3.Connection) -> str:
    """Whether a page of the index has no terms there, or terms no page of it."""
    (lost,) = connection.execute(fulltext_sqlite.COUNT_LOST).fetchone()
    return f"{counted(lost, 'page')} without terms, or terms without a page" if lost else ""


def _set(connection: sqlite3.Connection, values: Mapping[str, int]) -> None:
    for name, value in values.items():
        connection.execute(f"PRAGMA {name} = {value}")


def _delete_copies(table: str, columns: str) -> str:
    """The statement that leaves of rows with the same values the last; no index is asked."""
    last = f"SELECT max(rowid) FROM {table} NOT INDEXED GROUP BY {columns}"
    return f"DELETE FROM {table} NOT INDEXED WHERE rowid NOT IN ({last})"
