"""The spool: a local database in which pages wait for a store that does not answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from noiseclean_scrapy.store import PageRecord, Store

_METHOD = "spool"


class Spool:
    """Pages by key, with their HTML, in an SQLite file that is made when it is first needed.

    Several processes may share it. Every method raises StoreError when the file refuses.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._store: Store | None = None
        self.pages = self._open().count_pages().pages if path.exists() else 0

    def add(self, pages: Sequence[PageRecord]) -> None:
        """Let pages wait here; what they leave None is kept from before."""
        self._open().write(pages, method=_METHOD)
        self.pages = self._open().count_pages().pages

    def read(self, limit: int, room: int) -> list[PageRecord]:
        """Up to `limit` of the pages, in the order in which they want to be learned.

        No more than one of them goes beyond `room` characters of HTML.
        """
        if not self.pages:
            return []
        store = self._open()
        found: list[PageRecord] = []
        for page in chain.from_iterable(store.pages_with_html(c.name) for c in store.clusters()):
            found.append(page)
            room -= len(page.html or "")
            if len(found) == limit or room <= 0:
                break
        return sorted(found, key=lambda page: (page.position or 0, page.key))

    def remove(self, keys: Sequence[str]) -> None:
        """Forget pages that are stored elsewhere."""
        self._open().delete_pages(keys)
        self.pages = self._open().count_pages().pages

    def close(self) -> None:
        """Close the file; it stays."""
        if self._store is not None:
            self._store.close()

    def _open(self) -> Store:
        if self._store is None:
            self._store = Store(f"sqlite:///{self.path}", store_html=True)
        return self._store
