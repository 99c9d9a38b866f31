"""Pages that are kept as they were read until the tree that covers them has cleaned them again."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from dataclasses import replace
from itertools import chain

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.store import PageRecord

ROOM = 32 << 20
"""Bytes that held pages may take, about; a page of a newspaper takes 60,000."""
_ELEMENT, _BLOCK = 40, 250  # what the columns take, and with a block what was read in it


class HeldPages:
    """Pages by the key and the hash of the body that they come from; the oldest are evicted.

    What is not held is built again from the stored HTML. Several threads may use it; to another
    process it goes empty.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self._pages: OrderedDict[tuple[str, str], Page] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[HeldPages], tuple[int]]:
        return HeldPages, (self.room,)

    def add(self, record: PageRecord, page: Page) -> None:
        """Hold the page of a record."""
        if not self.room:
            return
        held = replace(page)  # without the objects and tables that were made of it
        held.reading, held.keys = page.reading, page.keys
        with self._lock:
            self._take(record)
            self._pages[record.key, record.body_hash] = held
            self._size += size(held)
            while self._size > self.room:
                self._size -= size(self._pages.popitem(last=False)[1])

    def take(self, record: PageRecord) -> Page | None:
        """The page of a record, which is held no longer; None where it is not the same page."""
        with self._lock:
            page = self._take(record)
        return page if page is not None and page.url == record.url else None

    def _take(self, record: PageRecord) -> Page | None:
        page = self._pages.pop((record.key, record.body_hash), None)
        self._size -= size(page) if page else 0
        return page


def size(page: Page) -> int:
    """Bytes that a held page takes, about."""
    table, declared = page.table, page.declared
    named = chain(table.texts, set(table.labels), *table.images, *table.links)
    marked = chain(table.sources.values(), table.details)
    said = (page.title, page.description, declared.body, declared.parts, *declared.titles)
    return (
        sum(map(sys.getsizeof, chain(named, marked, said)))
        + _ELEMENT * len(table.tags)
        + _BLOCK * len(table.texts)
    )
