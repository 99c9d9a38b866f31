"""The outbox: which pages external indexes have not been told of yet.

A row is written in the transaction that changes the page, and is deleted when its index has the
page as it then is. Whoever dies in between is told again.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, insert, select, text, true

from noiseclean_scrapy.store.damage import DamageLog
from noiseclean_scrapy.store.reading import read_pages
from noiseclean_scrapy.store.records import Change
from noiseclean_scrapy.store.schema import external_index_table, outbox_table, page_table


def enqueue(connection: Connection, condition: ColumnElement[bool], *indexes: str) -> None:
    """Let external indexes, all or those named, be told of the pages with a text.

    ``condition`` says of which; the caller has locked them.
    """
    names = indexes or read_indexes(connection)
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


def read_indexes(connection: Connection) -> list[str]:
    """The names of the external indexes."""
    query = select(external_index_table.c.name).order_by(external_index_table.c.name)
    return list(connection.execute(query).scalars())


def register(connection: Connection, name: str) -> None:
    """Add an external index and let it be told of all pages; a known one is told again of all."""
    _stop_writers(connection)
    if name not in read_indexes(connection):
        connection.execute(insert(external_index_table).values(name=name))
    enqueue(connection, true(), name)


def unregister(connection: Connection, name: str) -> bool:
    """Forget an external index; whether it was known."""
    _stop_writers(connection)
    known = external_index_table.c.name == name
    return connection.execute(delete(external_index_table).where(known)).rowcount > 0


def read_changes(connection: Connection, name: str, limit: int, damage: DamageLog) -> list[Change]:
    """The oldest changes that an index has not been told of, with the pages as they are now.

    A page that cannot be read counts as deleted, until it is fetched again.
    """
    query = select(outbox_table).where(outbox_table.c.index_name == name)
    rows = connection.execute(query.order_by(outbox_table.c.sequence).limit(limit)).all()
    found = read_pages(connection, [row.page_key for row in rows])
    pages = {page.key: page for page in damage.sort_out(found)}
    return [Change(row.sequence, row.page_key, pages.get(row.page_key)) for row in rows]


def acknowledge(connection: Connection, sequences: Sequence[int]) -> None:
    """Delete changes that an index has been told of, unless their pages have changed since."""
    told = select(outbox_table.c.sequence).where(outbox_table.c.sequence.in_(sequences))
    # A row that is locked is about to be replaced by a newer one: waiting could deadlock.
    ours = told.with_for_update(skip_locked=True)
    connection.execute(delete(outbox_table).where(outbox_table.c.sequence.in_(ours)))


def _stop_writers(connection: Connection) -> None:
    """Wait until all that others have written is to be seen, and let them wait until the commit.

    A writer that has not seen a new index would not tell it of its pages. Every writer locks pages
    before anything of the outbox, which this mode forbids. SQLite has one writer anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE noiseclean_page IN EXCLUSIVE MODE"))
