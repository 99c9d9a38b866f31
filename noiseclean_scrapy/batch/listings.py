"""The addresses that sitemaps (sitemaps.org) and feeds (RSS, Atom) list."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from lxml import etree
from scrapy.http import Response
from scrapy.utils.gz import gunzip, gzip_magic_number

from noiseclean_scrapy.batch.addresses import joined
from noiseclean_scrapy.page.tags import local_name
from noiseclean_scrapy.page.urls import LONGEST_ADDRESS

LARGEST = 50 * 2**20
"""Bytes of a sitemap, unpacked, that its protocol allows."""
_MOST_ENTRIES = 50_000  # by the same protocol
_MOST_ELEMENTS = 20 * _MOST_ENTRIES
_DEEPEST = 100
_ADDRESSES = {"url": "loc", "sitemap": "loc", "item": "link", "entry": "link"}
"""What entries of sitemaps, of RSS and of Atom have their address in."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Addresses of pages and of further sitemaps, the newest first where their dates are told."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


class _Entry(NamedTuple):
    kind: str
    address: str
    changed: str


def read_listing(response: Response) -> Listing:
    """What a sitemap or a feed lists, gzipped or not; nothing where it is neither, or damaged."""
    try:
        body = response.body
        if gzip_magic_number(response):
            body = gunzip(body, max_size=LARGEST)
    except (EOFError, OSError, ValueError, zlib.error):
        return Listing()
    entries = _entries(body)
    entries.sort(key=lambda entry: entry.changed, reverse=True)
    sitemaps = (entry.address for entry in entries if entry.kind == "sitemap")
    pages = (entry.address for entry in entries if entry.kind != "sitemap")

    def absolute(addresses: Iterator[str]) -> tuple[str, ...]:
        return tuple(filter(None, (joined(response.url, address) for address in addresses)))

    return Listing(absolute(pages), absolute(sitemaps))


def _entries(body: bytes) -> list[_Entry]:
    """The entries that have an address, up to what cannot be read."""
    entries: Any = _Entries()
    parser = etree.XMLParser(target=entries, recover=True, resolve_entities=False, no_network=True)
    with suppress(etree.LxmlError, ValueError):
        etree.fromstring(body, parser)
    found: list[_Entry] = entries.found
    return found


class _Entries:
    """A target of lxml's parser, which builds no tree then; `found` are those with an address.

    Of XML only elements and their text count; entities, which may stand for anything, do not.
    What is too large or too deep ends the reading with a ValueError.
    """

    def __init__(self) -> None:
        self.found: list[_Entry] = []
        self._open: list[str] = []
        self._elements = 0
        self._link: Mapping[str, str] = {}  # the attributes of the last address
        self._text: str | None = None  # of an address or a date
        self._address = self._changed = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._elements += 1
        if self._elements > _MOST_ELEMENTS or len(self._open) == _DEEPEST:
            raise ValueError
        name, above = local_name(tag), self._above
        self._open.append(name)
        is_told = above in _ADDRESSES and name in (_ADDRESSES[above], "lastmod")
        self._link, self._text = attributes, "" if is_told else None

    def data(self, text: str) -> None:
        if self._text is not None and len(self._text) <= LONGEST_ADDRESS:
            self._text += text[: LONGEST_ADDRESS + 1]

    def end(self, tag: str) -> None:
        name, text = self._open.pop(), _short(self._text or "")
        if name in _ADDRESSES:
            if self._address:
                self.found.append(_Entry(name, self._address, self._changed))
                if len(self.found) == _MOST_ENTRIES:
                    raise ValueError
            self._address = self._changed = ""
        elif name == _ADDRESSES.get(self._above):
            # RSS has the address as text; Atom as an attribute, and links of other relations too.
            if self._link.get("rel", "alternate") == "alternate":
                self._address = self._address or _short(self._link.get("href", "")) or text
        elif name == "lastmod" and self._above in _ADDRESSES:
            self._changed = text
        self._text = None

    def close(self) -> None:
        """Nothing is left to do."""

    @property
    def _above(self) -> str:
        return self._open[-1] if self._open else ""


def _short(text: str) -> str:
    return text.strip() if len(text) <= LONGEST_ADDRESS else ""
