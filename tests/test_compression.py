"""Texts as they are stored: compressed, and read from what earlier versions wrote."""

from __future__ import annotations

import sys
import zlib
from contextlib import suppress

import pytest

from noiseclean_scrapy.store.compression import Dictionary, compress, decompress, pack, unpack

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = "<p>Fog closes the port of Larkham.\0\ud800</p>" * 100


def test_every_text_comes_back() -> None:
    for text in (TEXT, "", "Fog"):
        assert decompress(compress(text)) == text
        assert decompress(zlib.compress(text.encode("utf-8", "surrogatepass"))) == text


def test_damage_is_noticed() -> None:
    packed = compress(TEXT)
    for at in range(len(packed)):
        flipped = bytes([*packed[:at], packed[at] ^ 16, *packed[at + 1 :]])
        with suppress(ValueError):  # a bit of a frame's head means nothing
            assert decompress(flipped) == TEXT
        with pytest.raises(ValueError, match="compressed"):
            decompress(packed[:at])


def test_no_more_is_unpacked_than_a_page_can_have() -> None:
    blanks = b" " * 100_000_000
    for packed in (zstd.compress(blanks), zlib.compress(blanks)):
        with pytest.raises(ValueError, match="too large"):
            unpack(packed)


@pytest.mark.parametrize("size", [5 << 20, 1 << 25, 100_000_000])
def test_whatever_is_packed_can_be_unpacked(size: int) -> None:
    data = b"<p>" + b" " * size
    packed = pack(data)
    assert unpack(packed) == data
    assert zstd.decompress(packed) == data  # by any reader
    assert len(packed) < size / 90


def test_little_is_left_of_what_the_dictionary_holds() -> None:
    data = bytes(range(256)) * 4
    dictionary = Dictionary(data, is_raw=True)
    packed = pack(data + b"Fog", dictionary)
    assert len(packed) < len(pack(data + b"Fog")) / 4
    assert unpack(packed, dictionary) == data + b"Fog"
    with pytest.raises(ValueError, match="no compressed text"):
        unpack(packed)
