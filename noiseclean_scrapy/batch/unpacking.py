"""Unpacking what is packed no further than it is read, so that a bomb costs what a page may."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, NamedTuple, Protocol, TypeAlias

# Scrapy needs both; the names are those that it imports.
try:
    import brotli
except ImportError:  # PyPy
    import brotlicffi as brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Pieces: TypeAlias = Iterable[bytes]
Decoder: TypeAlias = Callable[[Pieces], Iterator[bytes]]

__all__ = ["GZIP_MAGIC", "brotli", "read_body", "read_unzipped", "zstd"]

GZIP_MAGIC = b"\x1f\x8b"
PIECE_BYTES = 1 << 16
DAMAGE = (zlib.error, brotli.error, zstd.ZstdError)
_STEPS = (256, 1)
"""Bytes to unpack at a time right before damage: what comes with the error is lost."""
_PACKED_STEP = 512
"""Bytes that brotli and Zstandard get at a time; what of these is before the damage is lost."""
_GZIP, _ZLIB, _DEFLATE = 31, 15, -15
_CHUNK_HEAD_BYTES = 256
_MOST_ENCODINGS = 4
_MOST_MEMBERS, _MOST_CHUNKS = 10_000, 100_000
"""Of a body, which ends with the last of them: each takes time, be it empty."""
_TEXT_BYTES, _LEAST_TEXT_BYTES = 256, 64
"""Fewer packed bytes may look like text: one in a thousand does of so many."""
_ZSTD_WINDOW = 23
"""8 MiB, the most that RFC 9659 allows where zstd is a content encoding."""


class RecordBytes(Protocol):
    """The bytes of a record; an empty answer is its end."""

    def read(self, length: int) -> bytes: ...

    def readline(self, length: int) -> bytes: ...


class Body(NamedTuple):
    """A body's first bytes, whether they are without its encodings, and what broke off there."""

    data: bytes
    is_unpacked: bool
    fault: str


class _CutOffError(Exception):
    """What is packed ends before its end."""


def read_body(block: RecordBytes, *, chunked: bool, encodings: Sequence[str], most: int) -> Body:
    """The first `most` bytes of a body.

    `encodings` are in the order in which they were applied. A body that has none of its chunks or
    of its encodings, though the header says so, is given as it is, and so is one with encodings
    that nobody knows. Of one that is damaged or cut off comes what is before that.
    """
    left = [name for name in encodings if name not in ("", "identity")]
    pieces = _dechunked(block) if chunked else _pieces(block)
    undone: list[str] = []
    faults: list[str] = []
    for _ in range(_MOST_ENCODINGS):
        if left and left[-1] in _DECODERS:
            pieces = _first(_decoded(pieces, left.pop(), undone, faults), most)
    data = b"".join(_first(pieces, most))[:most]
    return Body(data, not left and not undone, "; ".join(faults))


def read_unzipped(stream: IO[bytes], most: int) -> bytes:
    """The first `most` bytes of a file, unzipped by what it is and not by its name.

    Raises EOFError, OSError or zlib.error where it is damaged within these.
    """
    head = stream.read(len(GZIP_MAGIC))
    stream.seek(0)
    if head != GZIP_MAGIC:
        return stream.read(most)
    with gzip.GzipFile(fileobj=stream) as unzipped:
        return unzipped.read(most)


def _pieces(block: RecordBytes) -> Iterator[bytes]:
    while piece := block.read(PIECE_BYTES):
        yield piece


def _dechunked(block: RecordBytes) -> Iterator[bytes]:
    """What is chunked (RFC 9112, 7.1); from where it is not, all as it is."""
    for _ in range(_MOST_CHUNKS):
        head = block.readline(_CHUNK_HEAD_BYTES)
        if not head:
            return
        try:
            left = int(head.partition(b";")[0], 16)
        except ValueError:
            left = -1
        if left < 0 or not head.endswith(b"\n"):
            yield head
            yield from _pieces(block)
        if left <= 0:
            return
        while left and (piece := block.read(min(left, PIECE_BYTES))):
            yield piece
            left -= len(piece)
        block.readline(2)


def _first(pieces: Pieces, most: int) -> Iterator[bytes]:
    """The pieces up to the one that makes `most` bytes full."""
    for piece in pieces:
        yield piece
        most -= len(piece)
        if most <= 0:
            return


def _decoded(
    pieces: Pieces, encoding: str, undone: list[str], faults: list[str]
) -> Iterator[bytes]:
    pieces = iter(pieces)
    head = b"".join(_first(pieces, _TEXT_BYTES))
    if not head:
        return
    # Text is not packed, whatever the header says: of some, decoders find no fault.
    is_packed = len(head) < _LEAST_TEXT_BYTES or not is_text(head[:_TEXT_BYTES])
    fit = (decoder for decoder in _DECODERS[encoding] if is_packed and _unpacks(decoder, head))
    decoder = next(fit, None)
    if decoder is None:
        undone.append(encoding)
        yield from chain([head], pieces)
        return
    try:
        yield from decoder(chain([head], pieces))
    except (*DAMAGE, _CutOffError) as error:
        faults.append(f"{encoding}: {error}")


def _unpacks(decoder: Decoder, head: bytes) -> bool:
    """Whether a decoder makes something of a body's first bytes, or needs more of them."""
    try:
        next(decoder([head]), b"")
    except _CutOffError:
        pass
    except DAMAGE:
        return False
    return True


def is_text(data: bytes) -> bool:
    """Whether bytes may be text, with none of the signs that text has not."""
    # Reading one HTML file does without Scrapy, whose import takes longer.
    from scrapy.utils.python import binary_is_text

    return binary_is_text(data)


def _inflater(window: int) -> Decoder:
    def inflated(pieces: Pieces) -> Iterator[bytes]:
        unzip, members = zlib.decompressobj(window), 1
        for piece in pieces:
            left = piece
            while left:
                if unzip.eof:  # the content may be in several members (RFC 1952)
                    is_next = window == _GZIP and GZIP_MAGIC.startswith(left[:2])
                    if not is_next or members == _MOST_MEMBERS:
                        return
                    unzip, members = zlib.decompressobj(window), members + 1
                before = unzip.copy()
                try:
                    data = unzip.decompress(left, PIECE_BYTES)
                except zlib.error:
                    yield from _before_damage(before, left)
                    raise
                yield data
                left = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
        yield unzip.flush()
        _check_end(unzip.eof)

    return inflated


def _before_damage(unzip: zlib._Decompress, left: bytes) -> Iterator[bytes]:
    """What zlib unpacks before it raises its error, with which it gives nothing."""
    for step in _STEPS:
        while True:
            before = unzip.copy()
            try:
                data = unzip.decompress(left, step)
            except zlib.error:
                unzip = before
                break
            if data:
                yield data
            left = unzip.unconsumed_tail


def _check_end(is_reached: bool) -> None:
    if not is_reached:
        raise _CutOffError("it ends before its end")


def _small(pieces: Pieces) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), _PACKED_STEP):
            yield piece[start : start + _PACKED_STEP]


def _unbrotlied(pieces: Pieces) -> Iterator[bytes]:
    unpack = brotli.Decompressor()
    for piece in _small(pieces):
        left = piece
        while not unpack.is_finished() and (
            data := unpack.process(left, output_buffer_limit=PIECE_BYTES)
        ):
            yield data
            left = b""
    _check_end(unpack.is_finished())


def _unzstded(pieces: Pieces) -> Iterator[bytes]:
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW}
    unpack, members = zstd.ZstdDecompressor(options=options), 1
    for piece in _small(pieces):
        left = piece
        while left or not (unpack.needs_input or unpack.eof):
            if unpack.eof:  # the content may be in several frames (RFC 8878)
                if members == _MOST_MEMBERS:
                    return
                unpack, members = zstd.ZstdDecompressor(options=options), members + 1
            if data := unpack.decompress(left, PIECE_BYTES):
                yield data
            left = unpack.unused_data if unpack.eof else b""
    _check_end(unpack.eof)


_GUNZIP = [_inflater(_GZIP)]
_DECODERS: dict[str, list[Decoder]] = {
    "gzip": _GUNZIP,
    "x-gzip": _GUNZIP,
    # Servers send it with zlib's header, as it is meant, and without.
    "deflate": [_inflater(_ZLIB), _inflater(_DEFLATE)],
    "br": [_unbrotlied],
    "zstd": [_unzstded],
}
