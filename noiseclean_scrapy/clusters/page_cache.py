"""Pages that are kept as they were read until the tree that covers them has cleaned them again."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store import PageRecord
from noiseclean_scrapy.store.compression import pack, unpack

logger = get_logger(__name__)

ROOM = 48 << 20
"""Bytes that held pages may take; a page of a newspaper takes 15,000 to 30,000."""

_Name: TypeAlias = "tuple[str, str]"


class _Held(NamedTuple):
    data: bytes
    is_read: bool  # whether it holds what a method keeps of the page


class PageCache:
    """Pages by the key and the hash of the body that they come from; the oldest are evicted.

    A page is held as bytes, with what was read in it: a fifth of its size, and nothing for the
    garbage collector. What is not held is built again from the stored HTML, which takes five times
    as long. Several threads may use it; to another process it goes empty.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self._pages: OrderedDict[_Name, _Held] = OrderedDict()
        self.size = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[PageCache], tuple[int]]:
        return PageCache, (self.room,)

    def add(self, record: PageRecord, page: Page) -> None:
        """Hold the page of a record."""
        held = _packed(page)
        if held is not None:
            with self._lock:
                self._put(_name(record), held)

    def note(self, record: PageRecord, page: Page) -> None:
        """Keep with a held page what has been read in it since."""
        name = _name(record)
        held = self._pages.get(name)
        if held is None or held.is_read or not page.kept:
            return
        held = _packed(page)
        with self._lock:
            if held is not None and name in self._pages:  # a thread may have taken it meanwhile
                self._put(name, held)

    def take(self, record: PageRecord) -> Page | None:
        """The page of a record, which is held no longer; None where it is not the same page."""
        with self._lock:
            held = self._pop(_name(record))
        if held is None:
            return None
        page: Page = pickle.loads(unpack(held.data))
        return page if page.url == record.url else None

    def _put(self, name: _Name, held: _Held) -> None:
        self._pop(name)
        self._pages[name] = held
        self.size += len(held.data)
        while self.size > self.room:
            self._pop(next(iter(self._pages)))

    def _pop(self, name: _Name) -> _Held | None:
        held = self._pages.pop(name, None)
        if held is not None:
            self.size -= len(held.data)
        return held


def _packed(page: Page) -> _Held | None:
    """A page without the objects made of it; None where a method keeps what cannot be copied."""
    copied = replace(page)
    copied.words, copied.kept = page.words, page.kept
    try:
        data = pickle.dumps(copied, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # what a method of the user keeps may be anything
        logger.debug("%s is not held: %s", page.url, error)
        return None
    return _Held(pack(data), bool(page.kept))


def _name(record: PageRecord) -> _Name:
    return record.key, record.body_hash
