"""What the text of each block looks like: characters, words and marks, for all blocks at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.evidence_page import EvidencePage
from noiseclean_scrapy.methods.evidence_model.phrases import PHRASES, announced
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, Integers
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.hashes import hash64
from noiseclean_scrapy.page.words import mask_digits

DENSE_LETTERS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
"""Characters that say more than a letter: Han, Kana and Hangul."""

_KINDS = {
    "stop": r"[.!?…]",
    "whole stop": r"[。！？।؟]",
    "digit": r"\d",
    "separator": r"[|›»•·→←▸►/]",
    "han": DENSE_LETTERS.pattern,
}
_PHRASE_NUMBERS = {None: 0} | {name: number for number, name in enumerate(PHRASES, 1)}
_CHARACTERS = 0x20000  # behind it are ideographs that are of no kind
_CLOSE = "\"'”’»)]"  # may follow the stop of a sentence
_STOPS, _CLOSING = tuple(".!?…。！？।؟"), "\"'”’»)]」』"
_HAN_WEIGHT = 1.5


FIELDS = {
    "length": "length of text",
    "words": "number of words",
    "word_length": "word length",
    "sentences": "sentences",
    "ends_sentence": "ends like a sentence",
    "capitals": "share of words with a capital",
    "separators": "separators",
}
"""Features of the text alone and their names in words, in the order of `TextTable.features`."""

LONGEST_KEPT = 200
"""Characters of the longest text whose row is kept: longer ones are rarely on several pages."""
MOST_KEPT = 20_000
"""Rows that are kept of texts of any page; when there are so many, all are forgotten."""

_WEIGHED, _COUNTED, _DIGITS, _ANNOUNCED, _KEY = range(len(FIELDS), len(FIELDS) + 5)
_WIDTH = _KEY + 1
_BYTES = 8 * _WIDTH
_kept: dict[str, bytes] = {}


class TextTable:
    """What the texts of a page's B blocks say by themselves.

    `features` (FIELDS, B); `lengths` (B) are characters, one of Han, Kana or Hangul counting 2.5,
    as it says so much more, `characters` (B) just that, `digits` (B) those of them; `announced` (B)
    is the number of what a short line announces, from 1 in the order of `PHRASES`, else 0; `keys`
    (B) are hashes of the texts in lower case, digits masked.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        table = _rows(list(texts))
        columns = np.ascontiguousarray(table[:, :_KEY].T)
        self.features = columns[: len(FIELDS)]
        self.lengths, self.characters, self.digits, self.announced = columns[len(FIELDS) :]
        self.keys = table.view(np.uint64)[:, _KEY]


def text_table(page: Page) -> TextTable:
    """The table of a page's texts; made once, then kept with the page."""
    kept = EvidencePage.of(page)
    table = kept.texts  # which another thread may drop
    if table is None:
        table = kept.texts = TextTable(page.table.texts)
    return table


def _rows(texts: list[str]) -> Floats:
    """The rows (B, columns) of B texts; those of short texts are kept, for they come again."""
    table, unknown = _known_rows(texts)
    if unknown:
        new = [texts[number] for number in unknown]
        rows = _measure(new)
        rows[:, _ANNOUNCED] = [_PHRASE_NUMBERS[announced(text)] for text in new]
        table[unknown] = rows
        data = rows.tobytes()
        if len(_kept) + len(new) > MOST_KEPT:
            _kept.clear()
        for number, text in enumerate(new):
            if len(text) <= LONGEST_KEPT:
                _kept[text] = data[number * _BYTES : (number + 1) * _BYTES]
    return table


def _known_rows(texts: list[str]) -> tuple[Floats, list[int]]:
    """The rows of texts as far as they are kept, and the numbers of the others."""
    if kernels.texts is not None:
        found: tuple[Floats, list[int]] = kernels.texts.known_rows(texts, _kept, _WIDTH)
        return found
    kept = [_kept.get(text) for text in texts]
    data = bytearray().join(row or bytes(_BYTES) for row in kept)
    table = np.frombuffer(data, dtype=np.float64).reshape(len(texts), _WIDTH)
    return table, [number for number, row in enumerate(kept) if row is None]


def _measure(texts: list[str]) -> Floats:
    """The rows (B, columns) of B > 0 texts, whose white space is single blanks."""
    if kernels.texts is not None:
        table: Floats = _twin().measure(texts, _WIDTH)
        np.log1p(table[:, :2], out=table[:, :2])  # as below: another library's may differ by a bit
        return table
    joined = "\n".join(("", *texts, ""))
    lowered = joined.lower()
    lowered_texts = lowered.split("\n")[1:-1]
    count = _count_kinds(joined, texts)
    stops, digits = (count["stop"] + count["whole stop"]).tolist(), count["digit"].tolist()
    characters = np.array([len(text) for text in texts], dtype=np.float64)
    parts = np.array([text.count(" ") + 1 if text else 0 for text in texts], dtype=np.float64)
    words = np.maximum(parts, count["han"] / 2)
    lengths = characters + _HAN_WEIGHT * count["han"]
    divisor = np.maximum(lengths, 1.0)

    columns = np.empty((_WIDTH, len(texts)))
    values: dict[str, Any] = {
        "length": np.log1p(lengths),
        "words": np.log1p(words),
        "word_length": divisor / np.maximum(words, 1),
        "sentences": count["sentence"] + count["whole stop"],
        "ends_sentence": [
            n > 0 and text.rstrip(_CLOSING).endswith(_STOPS)
            for text, n in zip(texts, stops, strict=True)
        ],
        "capitals": count["initial"] / np.maximum(parts, 1),
        "separators": count["separator"],
    }
    for row, name in enumerate(FIELDS):
        columns[row] = values[name]
    columns[_WEIGHED], columns[_COUNTED], columns[_DIGITS] = lengths, characters, count["digit"]
    keys = [
        hash64(mask_digits(low) if n else low) for low, n in zip(lowered_texts, digits, strict=True)
    ]
    columns.view(np.uint64)[_KEY] = np.array(keys, dtype=np.uint64)
    return np.ascontiguousarray(columns.T)


def _count_kinds(joined: str, texts: Sequence[str]) -> dict[str, Floats]:
    """How many characters of each kind a text has; stops that end a sentence; initial capitals."""
    kind_of, members, closes = _kind_table()
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    known = np.minimum(codes, _CHARACTERS - 1)
    kinds = kind_of[known]
    special = np.flatnonzero(kinds)
    kinds = kinds[special]
    starts = np.cumsum([1, *[len(text) + 1 for text in texts]])
    text_of = np.searchsorted(starts, special, side="right") - 1
    size = len(texts) * len(members)
    counts = np.bincount(text_of * len(members) + kinds, minlength=size).reshape(len(texts), -1)
    found = dict(zip(_KINDS, (counts @ members).T, strict=False))

    def where(kind: int, places: Integers) -> Floats:
        """Characters of a kind with white space at these places."""
        there = codes[places]
        ends = members[kinds, kind] * ((there == ord(" ")) | (there == ord("\n")))
        return np.bincount(text_of, weights=ends, minlength=len(texts)).astype(np.float64)

    behind = special + 1
    closing = closes[known]
    if closing[behind].any():
        at = np.arange(len(codes))
        at[closing] = len(codes)
        behind = np.minimum.accumulate(at[::-1])[::-1][behind]
    return {**found, "sentence": where(0, behind), "initial": where(-1, special - 1)}


@lru_cache(maxsize=1)
def _kind_table() -> tuple[NDArray[np.uint8], Floats, NDArray[np.bool_]]:
    """For each character a number, and for each number (rows) of which kinds it is (0.0 or 1.0).

    Most characters are of none and have number 0. Last which characters may stand between the stop
    of a sentence and its end.
    """
    distinct, numbers = np.unique(_character_kinds(), return_inverse=True)
    members = distinct[:, None] >> np.arange(len(_KINDS) + 1) & 1
    return numbers.astype(np.uint8), members.astype(np.float64), _character_closes() & 1 > 0


@lru_cache(maxsize=1)
def _twin() -> Any:
    return kernels.texts.TextMeasure(
        _character_kinds(), _character_closes(), list(_KINDS), _HAN_WEIGHT, mask_digits
    )


@lru_cache(maxsize=1)
def _character_kinds() -> NDArray[np.uint16]:
    """Of which `_KINDS` each character is, as bits; the last kind is that of upper case letters."""
    characters = "".join(map(chr, range(_CHARACTERS)))
    bits = np.zeros(_CHARACTERS, dtype=np.uint16)
    for bit, pattern in enumerate(_KINDS.values()):
        bits[[found.start() for found in re.finditer(pattern, characters)]] |= 1 << bit
    upper = [code for code, character in enumerate(characters) if character.isupper()]
    bits[upper] |= 1 << len(_KINDS)
    return bits


@lru_cache(maxsize=1)
def _character_closes() -> NDArray[np.uint8]:
    """1 for characters that may follow the stop of a sentence, 2 for those of the last one."""
    closes = np.zeros(_CHARACTERS, dtype=np.uint8)
    for bit, characters in ((1, _CLOSE), (2, _CLOSING)):
        closes[[ord(character) for character in characters]] |= bit
    return closes
