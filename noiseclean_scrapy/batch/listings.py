"""The addresses that sitemaps (sitemaps.org) and feeds (RSS, Atom) list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lxml import etree
from scrapy.http import Response
from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.sitemap import Sitemap

from noiseclean_scrapy.batch.addresses import joined

LARGEST = 50 * 2**20
"""Bytes of a sitemap, unpacked, that its protocol allows."""
_MOST_ENTRIES = 50_000  # by the same protocol


@dataclass(frozen=True, slots=True)
class Listing:
    """Addresses of pages and of further sitemaps, the newest first where their dates are told."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def read_listing(response: Response) -> Listing:
    """What a sitemap or a feed lists, gzipped or not; nothing where it is neither, or damaged."""
    try:
        body = response.body
        if gzip_magic_number(response):
            body = gunzip(body, max_size=LARGEST)
        kind, entries = _entries(body)
        urls = tuple(filter(None, (joined(response.url, url) for url in entries)))
    except (etree.LxmlError, OSError, StopIteration, ValueError):
        return Listing()
    return Listing(sitemaps=urls) if kind == "sitemapindex" else Listing(pages=urls)


def _entries(body: bytes) -> tuple[str, Iterator[str]]:
    sitemap = Sitemap(body)
    if sitemap.type in ("sitemapindex", "urlset"):
        entries = list(islice(sitemap, _MOST_ENTRIES))
        entries.sort(key=lambda entry: entry.get("lastmod", ""), reverse=True)
        return sitemap.type, (entry["loc"] for entry in entries)
    return sitemap.type, _feed_entries(body)


def _feed_entries(body: bytes) -> Iterator[str]:
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    root = etree.fromstring(body, parser)
    for entry in islice(root.iter("{*}item", "{*}entry"), _MOST_ENTRIES):
        for link in entry.iterchildren("{*}link"):
            # RSS has the address as text; Atom as an attribute, and links of other relations too.
            address = (link.get("href") or link.text or "").strip()
            if address and link.get("rel", "alternate") == "alternate":
                yield address
                break
