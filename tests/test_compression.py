"""Texts as they are stored: compressed, and read from what earlier versions wrote."""

from __future__ import annotations

import zlib
from contextlib import suppress

import pytest

from noiseclean_scrapy.store import compression
from noiseclean_scrapy.store.compression import compress, decompress

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


def test_no_more_is_unpacked_than_a_page_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = compress("x" * 3_000_000)
    monkeypatch.setattr(compression, "_LARGEST", 2_000_000)
    with pytest.raises(ValueError, match="too large"):
        decompress(packed)
