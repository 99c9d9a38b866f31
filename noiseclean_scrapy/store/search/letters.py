"""The letters of scripts that do not part their words by spaces: a sign and what belongs to it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean; marks included, digits and signs not.
PAIRED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
    "\uf900-\ufaff\uff66-\uff9f\uffa0-\uffdc\U00020000-\U000323af"
)
# The vowel signs of many scripts are marks, which Python does not count among the word characters.
MARKS = "".join(
    character
    for character in map(chr, range(0x300, 0xFFFF))
    if unicodedata.category(character) in {"Mn", "Mc"}
)
READING = "(?<=[\u3005\u3400-\u4dbf\u4e00-\u9fff])[(（][\u3041-\u3096\u30fc]{1,20}[)）]"
"""How a Chinese character is read, in Hiragana: what RUBY becomes in a text."""

# Vowels of Thai and Lao, parts of Korean syllables, and half-width signs of sound are no marks.
_FOLLOWING = f"{MARKS}\u0e30\u0e32\u0e33\u0eb0\u0eb2\u0eb3\u1160-\u11ff\ud7b0-\ud7fb\uff9e\uff9f"
# Behind these signs of Burmese and Khmer a letter is written below the one before.
_BELOW = "(?<=[\u1039\u17d2])."
_INSIDE = re.compile(f"[{_FOLLOWING}\uffc2-\uffdc]|{_BELOW}", re.DOTALL)
_MOST_FOLLOWING = 30
_LETTER = re.compile(f".(?:{_INSIDE.pattern}){{0,{_MOST_FOLLOWING}}}", re.DOTALL)
_READING = re.compile(READING)
_HALF_WIDTH = re.compile("[\uff66-\uffdc]")
# AM in two parts, with the tone between them or before.
_PARTED_AM = re.compile("\u0e4d([\u0e48-\u0e4b]?)\u0e32|\u0ecd([\u0ec8-\u0ecb]?)\u0eb2")
_IS_SPELLED_OTHERWISE = re.compile(f"[(（]|{_HALF_WIDTH.pattern}|{_PARTED_AM.pattern}")
_PIECE_CHARACTERS = 1000


class Character(NamedTuple):
    """A character that is indexed, and where in the text its letter stands."""

    character: str
    start: int
    end: int


def is_spelled_alike(run: str) -> bool:
    """Whether the characters of a run are indexed as they stand, one by one."""
    size = _PIECE_CHARACTERS
    # In pieces: it takes quadratic time to put a run of marks in order.
    return not _IS_SPELLED_OTHERWISE.search(run) and all(
        unicodedata.is_normalized("NFC", run[at : at + size]) for at in range(0, len(run), size)
    )


def spelled_alike(run: str, start: int) -> Iterator[list[Character]]:
    """The characters of a run as all spellings of it have them, then those of each reading.

    `start` is where the run begins.

    >>> for part in spelled_alike("東(とう)京(きょう)ﾊﾞｽ", 0):
    ...     print([character for character, _, _ in part])
    ['東', '京', 'バ', 'ス']
    ['と', 'う']
    ['き', 'ょ', 'う']
    """
    readings = list(_READING.finditer(run))
    written: list[Character] = []
    place = 0
    for reading in readings:
        written += _characters(run, place, reading.start(), start)
        place = reading.end()
    yield [*written, *_characters(run, place, len(run), start)]
    for reading in readings:
        yield list(_characters(run, reading.start() + 1, reading.end() - 1, start))


def without_readings(text: str) -> str:
    """The text without how its characters are read.

    >>> without_readings("東(とう)京(きょう)(JR)")
    '東京(JR)'
    """
    return _READING.sub("", text)


def letter_start(text: str, place: int) -> int:
    """Where the letter begins in which a place of the text lies, at most 30 characters before.

    >>> letter_start("นํ้า", 2)
    0
    """
    first = max(place - _MOST_FOLLOWING, 0)
    while place > first and _INSIDE.match(text, place):
        place -= 1
    return place


def letter_end(text: str, place: int, end: int) -> int:
    """Where the letter ends that begins at a place, at most at `end`."""
    letter = _LETTER.match(text, place, end)
    return letter.end() if letter else end


def _characters(run: str, first: int, last: int, start: int) -> Iterator[Character]:
    for match in _LETTER.finditer(run, first, last):
        letter = match[0]
        # Half-width letters become what they stand for; Thai keeps its letters as they are.
        form = unicodedata.normalize("NFKC" if _HALF_WIDTH.search(letter) else "NFC", letter)
        characters = _PARTED_AM.sub(_joined_am, form)
        is_aligned = len(characters) == len(letter)
        for number, character in enumerate(characters, start + match.start()):
            if is_aligned:
                yield Character(character, number, number + 1)
            else:
                yield Character(character, start + match.start(), start + match.end())


def _joined_am(parts: re.Match[str]) -> str:
    thai, lao = parts.groups()
    return f"{thai}\u0e33" if lao is None else f"{lao}\u0eb3"
