"""Index: what an external index must be able to do, and how it follows the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from noiseclean_scrapy.output.rows import page_row
from noiseclean_scrapy.store import PageRecord, Store

_BATCH_PAGES = 1000


@dataclass(frozen=True, slots=True)
class Document:
    """A stored page with a text, as an index gets it; `key` identifies it."""

    key: str
    url: str
    site: str
    title: str
    text: str
    fetched_at: datetime
    author: str
    published: datetime | None
    language: str
    canonical_url: str
    image: str

    @classmethod
    def of(cls, page: PageRecord) -> Document:
        """The document of a page, which must have a text."""
        if page.cleaned is None:
            raise ValueError(f"the page {page.key} has no text: only cleaned pages are indexed")
        row = page_row(page)
        return cls(**{name: row[name] for name in cls.__slots__})

    @property
    def time(self) -> datetime:
        """When the page was published, else when it was fetched."""
        return self.published or self.fetched_at


class Index(Protocol):
    """An index outside the store.

    Adding a document replaces the one of the same key. Doing anything twice leaves what doing it
    once leaves.
    """

    def add(self, documents: Sequence[Document]) -> None:
        """Take documents in."""

    def delete(self, keys: Sequence[str]) -> None:
        """Remove documents; those that are not there do not matter."""

    def commit(self) -> None:
        """Make all that was added and deleted last, even if this process is killed now."""


@dataclass(frozen=True, slots=True)
class Fed:
    """How many documents an index was given, and how many it was told to delete."""

    added: int
    deleted: int


def feed(store: Store, name: str, index: Index) -> Fed:
    """Tell the index that the store knows as `name` of all that has changed since the last time.

    An unknown name is registered, and its index told of all pages. A batch counts as told once the
    index has committed it, so a process that is killed tells it again. One process at a time may
    feed an index.
    """
    if name not in store.outbox.indexes():
        store.outbox.register(name)
    added = deleted = 0
    while changes := store.outbox.changes(name, limit=_BATCH_PAGES):
        pages = [change.page for change in changes if change.page is not None]
        gone = [change.key for change in changes if change.page is None]
        index.add([Document.of(page) for page in pages])
        index.delete(gone)
        index.commit()
        store.outbox.acknowledge(changes)
        added, deleted = added + len(pages), deleted + len(gone)
    return Fed(added, deleted)
