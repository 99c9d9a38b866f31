"""Hashes that stand for texts and places, their names in a saved state, and checksums."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

DIGEST_SIZE = 16
"""Bytes of a `digest`."""
_LONGEST_FINGERPRINT = 64
_NAME = re.compile(r"[0-9a-f]{16}", re.ASCII)
_DIGITS = re.compile(r"[0-9a-f]*", re.ASCII)


def hash64(text: str) -> int:
    """The hash of any text, the same on every machine."""
    data = text.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def digest(data: bytes) -> bytes:
    """16 bytes that tell these bytes from all others."""
    return blake2b(data, digest_size=DIGEST_SIZE).digest()


def page_key(fingerprint: bytes) -> str:
    """A page's key in the store: the fingerprint of its request, or a digest of a long one.

    Scrapy's own have 20 bytes; databases put a bound on keys.

    >>> page_key(b"fog"), len(page_key(b"fog" * 1000))
    ('666f67', 32)
    """
    return (fingerprint if len(fingerprint) <= _LONGEST_FINGERPRINT else digest(fingerprint)).hex()


def hash_name(value: int) -> str:
    """The hash as 16 hexadecimal digits."""
    return f"{value:016x}"


def read_hash(name: Any) -> int:
    """The hash that `hash_name` wrote; raises ValueError for anything else.

    >>> read_hash(hash_name(42))
    42
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a hash")
    return int(name, 16)


def read_hashes(names: Sequence[Any]) -> list[int]:
    """`read_hash` of many names, in one pass where there is nothing wrong with them."""
    if set(map(type, names)) <= {str} and set(map(len, names)) <= {16}:
        joined = "".join(names)
        if _DIGITS.fullmatch(joined):
            found: list[int] = np.frombuffer(bytes.fromhex(joined), dtype=">u8").tolist()
            return found
    return [read_hash(name) for name in names]
