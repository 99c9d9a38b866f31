"""Compressed bytes: Zstandard with a checksum; zlib's of earlier versions are read too."""

from __future__ import annotations

import struct
import sys
import zlib
from typing import Any

from noiseclean_scrapy.page.bounded_json import most

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Dictionary = zstd.ZstdDict

# Half the time of the usual level would make a tenth more bytes, twice of it a twentieth less.
_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 3,
    zstd.CompressionParameter.checksum_flag: 1,
}
_MAGIC = b"\x28\xb5\x2f\xfd"
_MOST_BYTES = 1 << 25, 100
"""So many at least, and so many for each compressed byte. A page of the default size has 20 MB."""
_UNREAD = struct.Struct("<II")
_UNREAD_MAGIC = 0x184D2A50  # of a frame that all readers of Zstandard leave out


def compress(text: str) -> bytes:
    """Text as bytes to be stored: every string comes back exactly, NUL and surrogates too."""
    return pack(text.encode("utf-8", "surrogatepass"))


def decompress(data: bytes) -> str:
    """The text that was compressed; raises ValueError for anything else."""
    return unpack(data).decode("utf-8", "surrogatepass")


def pack(data: bytes, dictionary: Dictionary | None = None) -> bytes:
    """Bytes made fewer, as far as `unpack` believes that they can be.

    Little is left of what is in the dictionary as well; `unpack` needs it again.
    """
    packed = zstd.compress(data, options=_OPTIONS, zstd_dict=_prefix(dictionary))
    if len(data) <= most(_MOST_BYTES, len(packed)):
        return packed
    unread = len(data) // _MOST_BYTES[1]
    return packed + _UNREAD.pack(_UNREAD_MAGIC, unread) + bytes(unread)


def unpack(data: bytes, dictionary: Dictionary | None = None) -> bytes:
    """What was packed; raises ValueError for anything else."""
    try:
        is_zstd = bytes(data[:4]) == _MAGIC
        unpacking: Any = (
            zstd.ZstdDecompressor(_prefix(dictionary)) if is_zstd else zlib.decompressobj()
        )
        unpacked: bytes = unpacking.decompress(data, most(_MOST_BYTES, len(data)))
    except (TypeError, zlib.error, zstd.ZstdError) as error:
        raise ValueError(f"no compressed text: {error}") from error
    if not unpacking.eof:
        raise ValueError("the compressed text is cut off, or too large to be one")
    return unpacked


def _prefix(dictionary: Dictionary | None) -> tuple[Dictionary, int] | None:
    return dictionary.as_prefix if dictionary else None  # a third faster than as it is
