"""Smaller PNG files: one byte a pixel, the colours from a palette."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOURS = 256
_ALIKE = 150

Colour = tuple[int, ...]


def compact(png: bytes) -> bytes:
    """The picture in 256 colours; pixels of another colour take the nearest of them."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    if depth != 8 or kind not in (2, 6):
        return png
    size = 3 if kind == 2 else 4
    data = b"".join(content for name, content in _chunks(png) if name == b"IDAT")
    rows = list(_rows(zlib.decompress(data), width * size, size))
    pixels = [list(zip(row[::size], row[1::size], row[2::size], strict=True)) for row in rows]
    counts = Counter(pixel for row in pixels for pixel in row)
    palette = _palette(counts)
    numbers = {colour: _nearest(colour, palette) for colour in counts}
    lines = b"".join(b"\0" + bytes(map(numbers.__getitem__, row)) for row in pixels)
    return (
        _SIGNATURE
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + _chunk(b"PLTE", b"".join(map(bytes, palette)))
        + _chunk(b"IDAT", zlib.compress(lines, 9))
        + _chunk(b"IEND", b"")
    )


def _palette(counts: Counter[Colour]) -> list[Colour]:
    """The most frequent colours, of those that look alike only one: a rare outline has to stay."""
    palette: list[Colour] = []
    alike: list[Colour] = []
    for colour, _ in counts.most_common():
        near = any(_distance(colour, known) < _ALIKE for known in palette)
        (alike if near else palette).append(colour)
    return (palette[:_COLOURS] + alike)[:_COLOURS]


def _nearest(colour: Colour, palette: list[Colour]) -> int:
    return min(range(len(palette)), key=lambda number: _distance(colour, palette[number]))


def _distance(one: Colour, other: Colour) -> int:
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)


def _rows(data: bytes, length: int, size: int) -> Iterator[bytearray]:
    """The rows of pixels without the filters of the PNG specification."""
    above = bytearray(length)
    for start in range(0, len(data), length + 1):
        kind, row = data[start], bytearray(data[start + 1 : start + 1 + length])
        if kind:
            for at in range(length):
                left = row[at - size] if at >= size else 0
                corner = above[at - size] if at >= size else 0
                row[at] = (row[at] + _predicted(kind, left, above[at], corner)) & 255
        yield row
        above = row


def _predicted(kind: int, left: int, above: int, corner: int) -> int:
    if kind == 1:
        return left
    if kind == 2:
        return above
    if kind == 3:
        return (left + above) // 2
    near = left + above - corner
    return min((left, above, corner), key=lambda value: abs(near - value))
