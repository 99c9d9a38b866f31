"""Pages that are kept as they were read until the tree that covers them has cleaned them again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import fields, replace
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from noiseclean_scrapy.page import Page, PageTable
from noiseclean_scrapy.store import PageRecord

ROOM = 48 << 20
"""Bytes that held pages may take, about; a page of a newspaper takes 100,000."""
_READINGS_ROOM = 16 << 20
_READ_BLOCK = 130  # what was read in a block
_ELEMENT, _BLOCK = 40, 270  # what the columns take, and with a block what was read in it
_STRING = 60

_COLUMNS = [column.name for column in fields(PageTable)]

Value = TypeVar("Value")
_Name: TypeAlias = "tuple[str, str]"


class _Reading(NamedTuple):
    """What a method keeps of a page of so many blocks."""

    kept: object
    blocks: int


class _Bounded(Generic[Value]):
    """Values by name, with their sizes; where they take more than `room`, the oldest go."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._values: OrderedDict[_Name, tuple[Value, int]] = OrderedDict()
        self._size = 0

    def put(self, name: _Name, value: Value, size: int) -> list[tuple[_Name, Value]]:
        """Add a value as the newest; those that are evicted."""
        self.pop(name)
        self._values[name] = value, size
        self._size += size
        evicted = []
        while self._size > self._room:
            oldest, (gone, taken) = self._values.popitem(last=False)
            self._size -= taken
            evicted.append((oldest, gone))
        return evicted

    def get(self, name: _Name) -> Value | None:
        """A value, which stays; None where it is not there."""
        value, _ = self._values.get(name, (None, 0))
        return value

    def pop(self, name: _Name) -> Value | None:
        """Take a value out; None where it is not there."""
        value, size = self._values.pop(name, (None, 0))
        self._size -= size
        return value


class PageCache:
    """Pages by the key and the hash of the body that they come from; the oldest are evicted.

    What is not held is built again from the stored HTML. Of evicted pages it is remembered for
    longer what the method keeps of them (`Page.kept`), which takes as much time to make. Several
    threads may use it; to another process it goes empty.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self._pages: _Bounded[Page] = _Bounded(room)
        self._readings: _Bounded[_Reading] = _Bounded(_READINGS_ROOM)
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[PageCache], tuple[int]]:
        return PageCache, (self.room,)

    def add(self, record: PageRecord, page: Page) -> None:
        """Hold the page of a record."""
        if not self.room:
            return
        held = _as(tuple, page)
        with self._lock:
            for name, evicted in self._pages.put(_name(record), held, size(held)):
                blocks = len(evicted.table.texts)
                self._readings.put(name, _Reading(evicted.kept, blocks), _READ_BLOCK * blocks)

    def note(self, record: PageRecord, page: Page) -> None:
        """Keep with a held page what has been read in it since."""
        with self._lock:
            held = self._pages.get(_name(record))
            if held is not None:
                held.words, held.kept = page.words, page.kept

    def take(self, record: PageRecord) -> Page | None:
        """The page of a record, which is held no longer; None where it is not the same page."""
        with self._lock:
            held = self._pages.pop(_name(record))
        if held is None or held.url != record.url:
            return None
        return _as(list, held)

    def complete(self, record: PageRecord, page: Page) -> None:
        """Give a page that was rebuilt what was read in it before it was evicted."""
        with self._lock:
            found = self._readings.pop(_name(record))
        if found is not None and found.blocks == len(page.table.texts):
            page.kept = found.kept


def _as(kind: type[list[Any]] | type[tuple[Any, ...]], page: Page) -> Page:
    """A copy of the page, its columns of strings as lists, or as tuples, without their objects.

    The garbage collector looks at each value of a list, and at a tuple of strings once.
    """
    columns = [getattr(page.table, name) for name in _COLUMNS]
    changed: list[Any] = [kind(c) if isinstance(c, (list, tuple)) else c for c in columns]
    copied = replace(page, table=PageTable(*changed))
    copied.words, copied.kept = page.words, page.kept
    return copied


def _name(record: PageRecord) -> _Name:
    return record.key, record.body_hash


def size(page: Page) -> int:
    """Bytes that a held page takes, about."""
    table, declared = page.table, page.declared
    said = (page.title, page.description, declared.body, declared.parts, *declared.titles)
    texts = [*table.texts, *table.details, *table.sources.values(), *said]
    # How wide the characters of a text are is asked of ASCII alone: it knows that of itself.
    characters = sum(map(len, texts)) + sum([len(text) for text in texts if not text.isascii()])
    addresses = sum(map(len, chain.from_iterable(chain(table.images, table.links))))
    return (
        characters
        + addresses
        + _STRING * len(texts)
        + _ELEMENT * (len(table.tags) + len(table.starts) + len(table.spans))
        + _BLOCK * len(table.texts)
    )
