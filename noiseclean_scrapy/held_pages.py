"""Pages that are kept as they were read until the tree that covers them has cleaned them again."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from dataclasses import fields, replace
from itertools import starmap
from operator import attrgetter

from noiseclean_scrapy.page import Element, Page, TextBlock
from noiseclean_scrapy.store import PageRecord

ROOM = 32 << 20
"""Bytes that held pages may take, about; a page of a newspaper takes 60,000."""
_BLOCK_BYTES = 150
_ELEMENT_VALUES, _BLOCK_VALUES = (
    attrgetter(*(field.name for field in fields(kind))) for kind in (Element, TextBlock)
)


class HeldPages:
    """Pages by the key and the hash of the body that they come from, the oldest of which give way.

    What is not held is built again from the stored HTML. Several threads may use it; to another
    process it goes empty.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self._pages: OrderedDict[tuple[str, str], PackedPage] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[HeldPages], tuple[int]]:
        return HeldPages, (self.room,)

    def add(self, record: PageRecord, page: Page) -> None:
        """Hold the page of a record."""
        if not self.room:
            return
        packed = PackedPage(page)
        with self._lock:
            self._take(record)
            self._pages[record.key, record.body_hash] = packed
            self._size += packed.size
            while self._size > self.room:
                self._size -= self._pages.popitem(last=False)[1].size

    def take(self, record: PageRecord) -> Page | None:
        """The page of a record, which is held no longer; None where it is not the same page."""
        with self._lock:
            packed = self._take(record)
        return packed.unpack() if packed is not None and packed.url == record.url else None

    def _take(self, record: PageRecord) -> PackedPage | None:
        packed = self._pages.pop((record.key, record.body_hash), None)
        self._size -= packed.size if packed else 0
        return packed


class PackedPage:
    """A page, and what `evidence` read in it, in a few objects instead of a thousand.

    The garbage collector looks at every object in turn while all threads wait. `size` is in bytes,
    about.
    """

    __slots__ = ("_page", "_parts", "size")

    def __init__(self, page: Page) -> None:
        self._page = replace(page, elements=[], blocks=[])
        self._page.reading, self._page.keys = page.reading, page.keys
        self._parts = pickle.dumps(
            ([*map(_ELEMENT_VALUES, page.elements)], [*map(_BLOCK_VALUES, page.blocks)])
        )
        declared = len(page.declared.body) + len(page.declared.parts)
        self.size = len(self._parts) + declared + _BLOCK_BYTES * len(page.blocks)

    @property
    def url(self) -> str:
        """The page's address."""
        return self._page.url

    def unpack(self) -> Page:
        """The page as it was."""
        elements, blocks = pickle.loads(self._parts)
        self._page.elements = [*starmap(Element, elements)]
        self._page.blocks = [*starmap(TextBlock, blocks)]
        return self._page
