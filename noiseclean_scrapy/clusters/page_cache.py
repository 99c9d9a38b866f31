"""Pages that are kept as they were read until the tree that covers them has cleaned them again."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, replace
from typing import NamedTuple

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store import PageRecord
from noiseclean_scrapy.store.compression import Dictionary, pack, unpack

logger = get_logger(__name__)

ROOM = 28 << 20
"""Bytes that held pages may take; a page of a newspaper takes 8,000 to 15,000."""
_DICTIONARY_PAYS_FROM = 8
_MOST_DICTIONARY_BYTES = 1 << 18


class _Name(NamedTuple):
    cluster: str
    key: str
    body_hash: str


class _Held(NamedTuple):
    data: bytes
    dictionary: Dictionary | None
    is_read: bool  # whether it holds what a method keeps of the page


@dataclass(slots=True)
class _Cluster:
    pages: int = 0
    dictionary: Dictionary | None = None


class PageCache:
    """Pages by the key and the hash of the body that they come from; the oldest are evicted.

    A page is held as bytes, with what was read in it: a tenth of its size, and nothing for the
    garbage collector. Of a cluster's pages one is the dictionary with which the others are
    compressed. What is not held is built again from the stored HTML, which takes five times as
    long. Several threads may use it; to another process it goes empty.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self._pages: OrderedDict[_Name, _Held] = OrderedDict()
        self._clusters: defaultdict[str, _Cluster] = defaultdict(_Cluster)
        self.size = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[PageCache], tuple[int]]:
        return PageCache, (self.room,)

    def add(self, record: PageRecord, page: Page) -> None:
        """Hold the page of a record."""
        name = _name(record)
        held = self._packed(name, page)
        if held is not None:
            with self._lock:
                self._put(name, held)

    def note(self, record: PageRecord, page: Page) -> None:
        """Keep with a held page what has been read in it since."""
        name = _name(record)
        held = self._pages.get(name)
        if held is None or held.is_read or not page.kept:
            return
        held = self._packed(name, page)
        with self._lock:
            if held is not None and name in self._pages:  # a thread may have taken it meanwhile
                self._put(name, held)

    def take(self, record: PageRecord) -> Page | None:
        """The page of a record, which is held no longer; None where it is not the same page."""
        with self._lock:
            held = self._pop(_name(record))
        if held is None:
            return None
        page: Page = pickle.loads(unpack(held.data, held.dictionary))
        return page if page.url == record.url else None

    def _packed(self, name: _Name, page: Page) -> _Held | None:
        """A page without the objects made of it; None where a method keeps what is not copied."""
        copied = replace(page)
        copied.words, copied.kept = page.words, page.kept
        try:
            data = pickle.dumps(copied, pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # what a method of the user keeps may be anything
            logger.debug("%s is not held: %s", page.url, error)
            return None
        dictionary = self._dictionary(name.cluster, data)
        return _Held(pack(data, dictionary), dictionary, bool(page.kept))

    def _dictionary(self, name: str, data: bytes) -> Dictionary | None:
        """The dictionary of a cluster; `data` becomes it once there are pages to save with it."""
        with self._lock:
            cluster = self._clusters.get(name)
            if cluster is None or cluster.pages < _DICTIONARY_PAYS_FROM:
                return None
            if cluster.dictionary is None:
                cluster.dictionary = Dictionary(data[:_MOST_DICTIONARY_BYTES], is_raw=True)
                self.size += len(cluster.dictionary)
            return cluster.dictionary

    def _put(self, name: _Name, held: _Held) -> None:
        self._pop(name)
        self._pages[name] = held
        self._clusters[name.cluster].pages += 1
        self.size += len(held.data)
        while self.size > self.room:
            self._pop(next(iter(self._pages)))

    def _pop(self, name: _Name) -> _Held | None:
        held = self._pages.pop(name, None)
        if held is not None:
            self.size -= len(held.data)
            cluster = self._clusters[name.cluster]
            cluster.pages -= 1
            if not cluster.pages:
                self.size -= len(cluster.dictionary or b"")
                del self._clusters[name.cluster]
        return held


def _name(record: PageRecord) -> _Name:
    return _Name(record.cluster, record.key, record.body_hash)
