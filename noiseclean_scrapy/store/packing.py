"""A page as bytes of its own, with a checksum."""

from __future__ import annotations

import json
from base64 import b85decode, b85encode
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.page.hashes import DIGEST_SIZE, digest
from noiseclean_scrapy.store.compression import compress, decompress
from noiseclean_scrapy.store.records import Cleaned, PageRecord
from noiseclean_scrapy.store.stored_blocks import StoredBlocks

_MAGIC = b"noiseclean page 1\n"


def pack_page(page: PageRecord) -> bytes:
    """All that is known of a page."""
    values: dict[str, Any] = {}
    if page.cleaned is not None:
        blocks = StoredBlocks.of_blocks(page.cleaned.blocks)
        cleaned = asdict(replace(page.cleaned, blocks=()))
        values["cleaned"] = {**cleaned, "blocks": b85encode(blocks.packed).decode()}
    if page.metadata is not None:
        values["metadata"] = asdict(page.metadata)
    plain = asdict(replace(page, cleaned=None, metadata=None))
    payload = compress(json.dumps({**plain, **values}, default=datetime.isoformat))
    return _MAGIC + digest(payload) + payload


def unpack_page(data: bytes) -> PageRecord:
    """The page of `pack_page`; raises ValueError for anything else."""
    head = len(_MAGIC) + DIGEST_SIZE
    payload = data[head:]
    if data[:head] != _MAGIC + digest(payload):
        raise ValueError("it is damaged, or no page")
    try:
        values = json.loads(decompress(payload))
        values["fetched_at"] = datetime.fromisoformat(values["fetched_at"])
        if values["cleaned"] is not None:
            blocks = StoredBlocks(b85decode(values["cleaned"]["blocks"]))
            values["cleaned"] = Cleaned(**{**values["cleaned"], "blocks": blocks})
        if values["metadata"] is not None:
            published = values["metadata"]["published"]
            time = published and datetime.fromisoformat(published)
            values["metadata"] = Metadata(**{**values["metadata"], "published": time})
        page = PageRecord(**values)
        page.check()
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise ValueError(f"it holds no page: {error!r}") from error
    return page
