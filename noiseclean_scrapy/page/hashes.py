"""64-bit hashes that stand for texts and places, and their names in a saved state."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

_NAME = re.compile(r"[0-9a-f]{16}", re.ASCII)


def hash64(text: str) -> int:
    """The hash of any text, the same on every machine."""
    data = text.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


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
