"""Requests as the bytes that stand for them in Redis."""

from __future__ import annotations

import pickle
from secrets import token_bytes
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.utils.request import request_from_dict

if TYPE_CHECKING:
    from scrapy import Spider

_PLAIN = Request("data:,").to_dict()


def pack_request(request: Request, spider: Spider | None, *, is_filtered: bool) -> bytes:
    """A request without what all requests have; raises whatever keeps it from being sent."""
    values = request.to_dict(spider=spider)
    kept = {k: v for k, v in values.items() if k not in _PLAIN or v != _PLAIN[k]}
    if not is_filtered:
        kept["_id"] = token_bytes(8)  # two requests for one page are two requests
    return pickle.dumps(kept, protocol=4)


def unpack_request(data: bytes, spider: Spider | None) -> Request:
    """The request of `pack_request`; raises whatever is wrong with other bytes."""
    request = request_from_dict(pickle.loads(data), spider=spider)
    # It has been known as one: a retry, which copies the meta, is to be sent again.
    request.meta.pop("is_start_request", None)
    return request
