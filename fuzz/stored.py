"""What must hold of bytes that others wrote: states, values of a database, spooled pages and so on.

Those of archives are in `archives`.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import cache
from pathlib import Path

from fuzz import archives
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.errors import ConfigurationError, QueryError, TreeDataError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.store import Cleaned, PageRecord, Store, StoredBlocks
from noiseclean_scrapy.store.compression import decompress
from noiseclean_scrapy.store.packing import pack_page, unpack_page
from noiseclean_scrapy.store.search.snippet import MATCH_END, MATCH_START

_FETCHED = datetime(2031, 5, 21, 12, tzinfo=timezone.utc)
PAGE = "<title>Fog</title><ul><li>News</ul><div><h1>Fog</h1><p>Fog closes the port.</p></div>"
URL = "https://site.example/fog"
STATE, SPOOLED = b"noiseclean 1\n", b"noiseclean page 1\n"


def sealed(magic: bytes, text: bytes) -> bytes:
    """Bytes with a checksum that is right, around any text."""
    payload = zlib.compress(text, 1)
    return magic + hashlib.blake2b(payload, digest_size=16).digest() + payload


def _page(cleaned: Cleaned) -> PageRecord:
    return PageRecord("1", "site.example", URL, "0", _FETCHED, 1, PAGE, cleaned)


def check_state(data: bytes) -> None:
    """A state is refused, or the cleaner works."""
    try:
        cleaner = SiteCleaner.from_bytes(sealed(STATE, data))
    except TreeDataError:
        return
    assert isinstance(cleaner.clean(PAGE).text, str)
    cleaner.observe(PAGE)
    again = SiteCleaner.from_bytes(cleaner.to_bytes())
    again.merge(cleaner)
    again.decay(0.25)
    assert isinstance(again.clean(PAGE).text, str)


def check_values(data: bytes) -> None:
    """A value of the database is refused, or each block of it can be read."""
    for value in (data, zlib.compress(data, 1)):
        with suppress(ValueError):
            assert isinstance(decompress(value), str)
        try:
            blocks = StoredBlocks(value)
        except ValueError:
            continue
        assert len([block.to_dict() for block in blocks]) == len(blocks)


def check_spooled(data: bytes) -> None:
    """A page of the spool is refused, or is one that can be written again."""
    try:
        page = unpack_page(sealed(SPOOLED, data))
    except ValueError:
        return
    assert unpack_page(pack_page(page)).key == page.key


def check_overrides(data: bytes) -> None:
    """Overrides are refused with a sentence, or hold on a page."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        try:
            overrides = Overrides.read(file.name)
        except ConfigurationError:
            return
    assert isinstance(SiteCleaner().clean(PAGE, url=URL, overrides=overrides).text, str)


def check_query(data: bytes) -> None:
    """A query finds pages or none, or is refused for being empty; hits are shown."""
    query = data.decode("utf-8", "surrogateescape")
    page = _page(Cleaned("Fog", f"Fog closes the port. {query}", (), 0, 0, 0))
    store = _store()
    store.pages.write([page], method="evidence")
    for asked in (query, f"fog OR {query}"):
        try:
            found = store.search(asked)
        except QueryError:
            continue
        assert found.total == len(found.hits)
        for hit in found.hits:
            assert hit.snippet.count(MATCH_START) == hit.snippet.count(MATCH_END)


@cache
def _store() -> Store:
    """One for all queries: to make it takes longer than to search it."""
    return Store("sqlite://")


CHECKS: dict[str, Callable[[bytes], None]] = {
    "states": check_state,
    "values": check_values,
    "spooled": check_spooled,
    "overrides": check_overrides,
    "queries": check_query,
    "archives": archives.check,
}


def seeds(name: str) -> list[bytes]:
    """What the fuzzer of that name starts from: small, and right."""
    if name == "overrides":
        rules = '["site.example"]\ndrop = ["ul > li", "p ~ p"]\ntitle = "h1"\n'
        return [f'{rules}[["site.example".pages]]\nurl = "/f[a-z]+"\nkeep = "p:not(.a)"\n'.encode()]
    if name == "archives":
        return archives.seeds()
    if name == "values":
        clean = SiteCleaner().clean(PAGE)
        packed = StoredBlocks.of(clean).packed
        block = {"text": "Fog", "xpath": "/p", "place": "p", "kept": True, "score": 0.5}
        verdicts = StoredBlocks.of_verdicts(clean).packed
        return [
            verdicts,
            packed,
            decompress(packed).encode(),
            json.dumps([block]).encode(),
            b"[" * 5000,
        ]
    if name == "queries":
        return ['fog -"the port" OR Häfen 新闻网'.encode()]
    if name == "spooled":
        clean = SiteCleaner().clean(PAGE)
        blocks = StoredBlocks.of(clean)
        page = _page(Cleaned(clean.title, clean.text, blocks, 1, 40, 20))
        packed = pack_page(replace(page, metadata=Metadata(author="A. Author", published=_FETCHED)))
        return [decompress(packed[len(SPOOLED) + 16 :]).encode()]
    found = []
    for method in METHODS:
        cleaner = SiteCleaner(method)
        for story in ("Fog", "Rain"):
            cleaner.observe(PAGE.replace("Fog", story))
        found.append(zlib.decompress(cleaner.to_bytes()[len(STATE) + 16 :]))
    return found
