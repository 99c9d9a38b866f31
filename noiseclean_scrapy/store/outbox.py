"""The outbox: which pages external indexes have not been told of yet.

A row is written in the transaction that changes the page, and is deleted when its index has the
page as it then is. Whoever dies in between is told again.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, insert, select, text, true

from noiseclean_scrapy.store.database import Database
from noiseclean_scrapy.store.page_rows import read_pages
from noiseclean_scrapy.store.records import Change
from noiseclean_scrapy.store.schema import external_index_table, outbox_table, page_table


def enqueue(connection: Connection, condition: ColumnElement[bool], *indexes: str) -> None:
    """Let external indexes, all or those named, be told of the pages with a text.

    ``condition`` says of which; the caller has locked them.
    """
    names = indexes or _indexes(connection)
    if not names:
        return
    wanted = (condition, page_table.c.text.is_not(None))
    keys = select(page_table.c.key).where(*wanted)
    connection.execute(
        delete(outbox_table).where(
            outbox_table.c.page_key.in_(keys), outbox_table.c.index_name.in_(names)
        )
    )
    rows = (
        select(external_index_table.c.name, page_table.c.key)
        .join(page_table, true())
        .where(external_index_table.c.name.in_(names), *wanted)
        .order_by(page_table.c.key)
    )
    connection.execute(insert(outbox_table).from_select(["index_name", "page_key"], rows))


def _indexes(connection: Connection) -> list[str]:
    """The names of the external indexes."""
    query = select(external_index_table.c.name).order_by(external_index_table.c.name)
    return list(connection.execute(query).scalars())


class Outbox:
    """`Store.outbox`: what external indexes are told of changed pages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def indexes(self) -> list[str]:
        """The names of the external indexes that are told of changed pages."""
        with self._database.transaction() as connection:
            return _indexes(connection)

    def register(self, name: str) -> None:
        """Let an external index be told of all pages, now and whenever they change.

        A name that is known is told of all pages once more.
        """
        with self._database.transaction(write=True) as connection:
            _stop_writers(connection)
            if name not in _indexes(connection):
                connection.execute(insert(external_index_table).values(name=name))
            enqueue(connection, true(), name)

    def unregister(self, name: str) -> bool:
        """Tell an external index no more; whether it was known."""
        with self._database.transaction(write=True) as connection:
            _stop_writers(connection)
            known = external_index_table.c.name == name
            return connection.execute(delete(external_index_table).where(known)).rowcount > 0

    def changes(self, name: str, *, limit: int = 500) -> list[Change]:
        """The oldest changes that an external index has not been told of, with pages as they are.

        A page that cannot be read counts as deleted, until it is fetched again.
        """
        query = select(outbox_table).where(outbox_table.c.index_name == name)
        with self._database.transaction() as connection:
            rows = connection.execute(query.order_by(outbox_table.c.sequence).limit(limit)).all()
            found = read_pages(connection, [row.page_key for row in rows])
        readable = self._database.damage.sort_out(found)
        pages = {page.key: self._database.with_blocks(page) for page in readable}
        return [Change(row.sequence, row.page_key, pages.get(row.page_key)) for row in rows]

    def acknowledge(self, changes: Sequence[Change]) -> None:
        """Forget changes that an external index has taken in and will not lose.

        A page that has changed since stays among the changes.
        """
        sequences = [change.sequence for change in changes]
        told = select(outbox_table.c.sequence).where(outbox_table.c.sequence.in_(sequences))
        # A row that is locked is about to be replaced by a newer one: waiting could deadlock.
        ours = told.with_for_update(skip_locked=True)
        with self._database.transaction(write=True) as connection:
            connection.execute(delete(outbox_table).where(outbox_table.c.sequence.in_(ours)))


def _stop_writers(connection: Connection) -> None:
    """Wait until all that others have written is to be seen, and let them wait until the commit.

    A writer that has not seen a new index would not tell it of its pages. Every writer locks pages
    before anything of the outbox, which this mode forbids. SQLite has one writer anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE noiseclean_page IN EXCLUSIVE MODE"))
