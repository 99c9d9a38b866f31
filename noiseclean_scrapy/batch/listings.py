"""The addresses that sitemaps (sitemaps.org) and feeds (RSS, Atom) list."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import NamedTuple

from lxml import etree
from scrapy.http import Response
from scrapy.utils.gz import gunzip, gzip_magic_number

from noiseclean_scrapy.batch.addresses import joined

LARGEST = 50 * 2**20
"""Bytes of a sitemap, unpacked, that its protocol allows."""
_MOST_ENTRIES = 50_000  # by the same protocol
_MOST_ELEMENTS = 20 * _MOST_ENTRIES
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
        entries = list(islice(_entries(body), _MOST_ENTRIES))
    except (etree.LxmlError, EOFError, OSError, ValueError, zlib.error):
        return Listing()
    entries.sort(key=lambda entry: entry.changed, reverse=True)
    sitemaps = (entry.address for entry in entries if entry.kind == "sitemap")
    pages = (entry.address for entry in entries if entry.kind != "sitemap")

    def absolute(addresses: Iterator[str]) -> tuple[str, ...]:
        return tuple(filter(None, (joined(response.url, address) for address in addresses)))

    return Listing(absolute(pages), absolute(sitemaps))


def _entries(body: bytes) -> Iterator[_Entry]:
    """The entries that have an address; each element is let go of once it is read."""
    events = etree.iterparse(
        BytesIO(body),
        ("end",),
        recover=True,
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
    )
    address = changed = ""
    for _, element in islice(events, _MOST_ELEMENTS):
        name, parent = _name(element), element.getparent()
        above = "" if parent is None else _name(parent)
        if name in _ADDRESSES:
            if address:
                yield _Entry(name, address, changed)
            address = changed = ""
        elif name == _ADDRESSES.get(above):
            # RSS has the address as text; Atom as an attribute, and links of other relations too.
            if not address and element.get("rel", "alternate") == "alternate":
                address = (element.get("href") or element.text or "").strip()
        elif name == "lastmod" and above in _ADDRESSES:
            changed = (element.text or "").strip()
        element.clear()
        if parent is not None:
            del parent[:-1]


def _name(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]
