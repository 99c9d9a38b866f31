"""Pages that are kept as they were read until the tree that covers them has cleaned them again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.store import PageRecord

ROOM = 24 << 20
"""Bytes that held pages may take, about; a page of a newspaper takes 100,000."""
_READINGS_ROOM = 16 << 20
_READ_BLOCK = 130  # what was read in a block
_ELEMENT, _BLOCK = 40, 250  # what the columns take, and with a block what was read in it
_STRING = 60


class _Reading(NamedTuple):
    """What a method keeps of a page of so many blocks."""

    kept: object
    blocks: int


class HeldPages:
    """Pages by the key and the hash of the body that they come from; the oldest are evicted.

    What is not held is built again from the stored HTML. Of evicted pages it is remembered for
    longer what the method keeps of them (`Page.kept`), which takes as much time to make. Several
    threads may use it; to another process it goes empty.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self._pages: OrderedDict[tuple[str, str], Page] = OrderedDict()
        self._size = 0
        self._readings: OrderedDict[tuple[str, str], _Reading] = OrderedDict()
        self._readings_size = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[HeldPages], tuple[int]]:
        return HeldPages, (self.room,)

    def add(self, record: PageRecord, page: Page) -> None:
        """Hold the page of a record."""
        if not self.room:
            return
        held = replace(page)  # without the objects that were made of it
        held.kept = page.kept
        with self._lock:
            self._take(record)
            self._pages[record.key, record.body_hash] = held
            self._size += size(held)
            while self._size > self.room:
                name, evicted = self._pages.popitem(last=False)
                self._size -= size(evicted)
                self._remember(name, evicted)

    def take(self, record: PageRecord) -> Page | None:
        """The page of a record, which is held no longer; None where it is not the same page."""
        with self._lock:
            page = self._take(record)
        return page if page is not None and page.url == record.url else None

    def complete(self, record: PageRecord, page: Page) -> None:
        """Give a page that was built anew what was read in it before it was evicted."""
        with self._lock:
            found = self._readings.pop((record.key, record.body_hash), None)
            if found is not None:
                self._readings_size -= _READ_BLOCK * found.blocks
                if found.blocks == len(page.table.texts):
                    page.kept = found.kept

    def _remember(self, name: tuple[str, str], page: Page) -> None:
        blocks = len(page.table.texts)
        if (known := self._readings.pop(name, None)) is not None:
            self._readings_size -= _READ_BLOCK * known.blocks
        self._readings[name] = _Reading(page.kept, blocks)
        self._readings_size += _READ_BLOCK * blocks
        while self._readings_size > _READINGS_ROOM:
            self._readings_size -= _READ_BLOCK * self._readings.popitem(last=False)[1].blocks

    def _take(self, record: PageRecord) -> Page | None:
        page = self._pages.pop((record.key, record.body_hash), None)
        self._size -= size(page) if page else 0
        return page


def size(page: Page) -> int:
    """Bytes that a held page takes, about."""
    table, declared = page.table, page.declared
    said = (page.title, page.description, declared.body, declared.parts, *declared.titles)
    texts = [*table.texts, *table.details, *table.sources.values(), *said]
    # How wide the characters of a text are is asked of ASCII alone: it knows that of itself.
    characters = sum([len(text) << (not text.isascii()) for text in texts])
    addresses = sum([len(text) for texts in (*table.images, *table.links) for text in texts])
    return (
        characters
        + addresses
        + _STRING * len(texts)
        + _ELEMENT * len(table.tags)
        + _BLOCK * len(table.texts)
    )
