"""Pages that are kept parsed until the tree that covers them has cleaned them again."""

from __future__ import annotations

import threading
from collections import OrderedDict

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.store import PageRecord

ROOM = 32 << 20
"""Bytes that held pages may take, about; a page of a newspaper takes 150,000."""
_NODE_BYTES = 100


class HeldPages:
    """Pages by the key and the hash of the body that they come from, the oldest of which give way.

    What is not held is built again from the stored HTML. Several threads may use it; to another
    process it goes empty.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self._pages: OrderedDict[tuple[str, str], tuple[Page, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[HeldPages], tuple[int]]:
        return HeldPages, (self.room,)

    def add(self, record: PageRecord, page: Page) -> None:
        """Hold the page of a record that has its HTML."""
        size = _NODE_BYTES * (len(page.elements) + len(page.blocks)) + len(record.html or "")
        with self._lock:
            self._take(record)
            self._pages[record.key, record.body_hash] = page, size
            self._size += size
            while self._size > self.room:
                self._size -= self._pages.popitem(last=False)[1][1]

    def take(self, record: PageRecord) -> Page | None:
        """The page of a record, which is held no longer; None where it is not the same page."""
        with self._lock:
            page = self._take(record)
        return page if page is not None and page.url == record.url else None

    def _take(self, record: PageRecord) -> Page | None:
        page, size = self._pages.pop((record.key, record.body_hash), (None, 0))
        self._size -= size
        return page
