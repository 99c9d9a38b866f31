"""The verdicts on a page's blocks without their texts, as they are stored beside the page's HTML.

One bit and one byte a block: the texts and their elements are read again from the HTML when they
are asked for, and a digest of the texts tells whether they are still those that were judged.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from noiseclean_scrapy.page.hashes import hash64

if TYPE_CHECKING:
    from typing_extensions import Self

    from noiseclean_scrapy.clean_page import CleanPage

_FORM = 1  # no zlib stream begins with it, nor any JSON
_HEAD = struct.Struct("<BI8sI")  # the form, the checksum of what follows, the digest, the number
_REST = struct.Struct("<8sI")
_STEPS = 255


@dataclass(frozen=True, slots=True)
class BlockVerdicts:
    """What was decided of each block with a text: `scores` are in [0, 1], in steps of 1 / 255."""

    digest: bytes
    kept: Sequence[bool]
    scores: Sequence[float]
    hidden: Sequence[bool]

    @classmethod
    def of(cls, page: CleanPage) -> Self:
        """The verdicts on a page's blocks that have a text."""
        texts = page.table.texts
        return cls(
            text_digest(list(filter(None, texts))),
            list(compress(page.kept, texts)),
            list(compress(page.scores, texts)),
            list(compress(page.hidden, texts)),
        )

    @classmethod
    def read(cls, packed: bytes) -> Self:
        """What `pack` wrote; raises ValueError for anything else."""
        if len(packed) < _HEAD.size:
            raise ValueError("the verdicts on the blocks of a page are cut off")
        form, checksum, digest, count = _HEAD.unpack_from(packed)
        bits = (count + 7) // 8
        length = _HEAD.size + 2 * bits + count
        if form != _FORM or len(packed) != length or zlib.crc32(packed[5:]) != checksum:
            raise ValueError("the verdicts on the blocks of a page are damaged")
        data = np.frombuffer(packed, np.uint8, offset=_HEAD.size)
        kept, hidden = (
            np.unpackbits(part, count=count).view(np.bool_).tolist()
            for part in (data[:bits], data[bits : 2 * bits])
        )
        scores = np.round(data[2 * bits :] / _STEPS, 4).tolist()
        return cls(digest, kept, scores, hidden)

    def pack(self) -> bytes:
        """The verdicts as bytes, with a checksum."""
        scores = np.clip(np.rint(np.array(self.scores) * _STEPS), 0, _STEPS).astype(np.uint8)
        bits = (np.packbits(np.array(part, np.bool_)) for part in (self.kept, self.hidden))
        data = b"".join([*(part.tobytes() for part in bits), scores.tobytes()])
        rest = _REST.pack(self.digest, len(self.kept)) + data
        return struct.pack("<BI", _FORM, zlib.crc32(rest)) + rest


def are_verdicts(packed: bytes) -> bool:
    """Whether bytes are, or were, packed verdicts."""
    return packed[:1] == bytes([_FORM])


def text_digest(texts: Sequence[str]) -> bytes:
    """What tells texts of blocks apart."""
    return hash64("\n".join(texts)).to_bytes(8, "big")
