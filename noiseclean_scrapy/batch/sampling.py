"""Which pages of a site are learned where it has more of them than are needed."""

from __future__ import annotations

import heapq


def page_fingerprint(url: str) -> bytes:
    """The fingerprint of a request for the page, as a crawl computes it; its key in the store."""
    from scrapy import Request
    from scrapy.utils.request import fingerprint

    return fingerprint(Request(url))


def sampling_key(url: str) -> int:
    """The beginning of the page's fingerprint, as a signed number of 64 bits.

    >>> sampling_key("http://a.org/#1") == sampling_key("http://a.org/")
    True
    """
    return int.from_bytes(page_fingerprint(url)[:8], "big", signed=True)


class SiteSample:
    """The `size` pages of a site with the least keys, each once (bottom-k sampling).

    Keys are hashes, so the sample is a random one; it depends on the pages alone, neither on their
    order nor on who has seen which of them. It holds `size` keys at most.

    >>> sample = SiteSample(2)
    >>> [sample.add(key) for key in (5, 7, 5, 9, 1)], sample.keys, sample.is_exceeded
    ([True, True, False, False, True], {1, 5}, True)
    """

    __slots__ = ("_heap", "is_exceeded", "keys", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.keys: set[int] = set()
        self.is_exceeded = False
        self._heap: list[int] = []

    def add(self, key: int) -> bool:
        """Offer a page; whether it is a new one that is in the sample now."""
        if key in self.keys:
            return False
        if len(self.keys) < self.size:
            self.keys.add(key)
            heapq.heappush(self._heap, -key)
            return True
        self.is_exceeded = True
        if key > -self._heap[0]:
            return False
        self.keys.remove(-heapq.heapreplace(self._heap, -key))
        self.keys.add(key)
        return True
