"""Pages that are kept as they were read until the tree that covers them has cleaned them again."""

from __future__ import annotations

import logging
import pickle
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.store import PageRecord
from noiseclean_scrapy.store.compression import pack, unpack

logger = logging.getLogger(__name__)

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
        name = _name(record)
        try:
            held = _Held(
                pack(pickle.dumps(_as_read(page), pickle.HIGHEST_PROTOCOL)), bool(page.kept)
            )
        except Exception as error:  # what a method of the user keeps may be anything
            logger.debug("%s is not held: %s", record.url, error)
            return
        with self._lock:
            self._pop(name)
            self._pages[name] = held
            self.size += len(held.data)
            while self.size > self.room:
                _, oldest = self._pages.popitem(last=False)
                self.size -= len(oldest.data)

    def note(self, record: PageRecord, page: Page) -> None:
        """Keep with a held page what has been read in it since."""
        with self._lock:
            held = self._pages.get(_name(record))
        if held is not None and not held.is_read and page.kept:
            self.add(record, page)

    def take(self, record: PageRecord) -> Page | None:
        """The page of a record, which is held no longer; None where it is not the same page."""
        with self._lock:
            held = self._pop(_name(record))
        if held is None:
            return None
        page: Page = pickle.loads(unpack(held.data))
        return page if page.url == record.url else None

    def _pop(self, name: _Name) -> _Held | None:
        held = self._pages.pop(name, None)
        if held is not None:
            self.size -= len(held.data)
        return held


def _as_read(page: Page) -> Page:
    """A copy of the page without the objects that are made of it."""
    copied = replace(page)
    copied.words, copied.kept = page.words, page.kept
    return copied


def _name(record: PageRecord) -> _Name:
    return record.key, record.body_hash
