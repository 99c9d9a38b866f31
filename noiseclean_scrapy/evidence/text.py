"""What the text of each block looks like: characters, words and marks, for all blocks at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.evidence.layout import Floats, Integers

HAN_KANA = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
"""Characters that say more than a letter: Han, Kana and Hangul."""

_KINDS = {
    "stop": r"[.!?…。！？।؟]",
    "pause": r"[,;:，、；：،]",
    "digit": r"\d",
    "separator": r"[|›»•·→←▸►/]",
    "currency": r"[$€£¥₽]",
    "rights": r"[©®™]",
    "code": r"[{}<>=;_\\#$]",
    "quote": r"[\"“”„«»「」]",
    "han": HAN_KANA.pattern,
}
_UPPER = 1 << len(_KINDS)
_CHARACTERS = 0x20000  # behind it are ideographs that are of no kind
_SENTENCE = re.compile(r"""[.!?…]["'”’»)\]]*(?:\s|$)|[。！？।؟]""")
_STOPS, _CLOSING = tuple(".!?…。！？।؟"), "\"'”’»)]」』"
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\d{1,2}[:./-]\d{1,2}")
_CURRENCY = re.compile(r"\b(?:USD|EUR|GBP)\b")
_RIGHTS = re.compile(r"\ball rights\b|\bcopyright\b", re.IGNORECASE)
_ADDRESS = re.compile(r"\bhttps?:|www\.|@\w")
_TITLE_LIKE = 300


def text_columns(
    texts: Sequence[str], words: Sequence[Sequence[str]], title: set[str]
) -> dict[str, Floats]:
    """Counts and flags (0.0 or 1.0) of each of B > 0 texts, whose white space is single blanks.

    `words` are those of each text, `title` those of the page's title.
    """
    joined = "\n".join(("", *texts, ""))
    lowered = joined.lower()
    lowered_texts = lowered.split("\n")[1:-1]
    kinds = _CharacterKinds(joined, texts)
    count = kinds.count
    stops, digits = count["stop"].tolist(), count["digit"].tolist()
    n_words = np.array([text.count(" ") + 1 if text else 0 for text in texts], dtype=np.float64)
    seen = Counter(texts)

    def found(pattern: re.Pattern[str], *hints: str) -> NDArray[np.bool_]:
        """Where a pattern stands; it is looked for in texts with one of the hints alone."""
        if not any(hint in lowered for hint in hints):
            return np.zeros(len(texts), dtype=bool)
        return np.array(
            [
                any(hint in low for hint in hints) and bool(pattern.search(text))
                for text, low in zip(texts, lowered_texts, strict=True)
            ]
        )

    def flags(values: Sequence[bool]) -> Floats:
        return np.array(values, dtype=np.float64)

    return {
        "words": np.maximum(n_words, count["han"] / 2),
        "sentences": np.array(
            [len(_SENTENCE.findall(t)) if n else 0 for t, n in zip(texts, stops, strict=True)],
            dtype=np.float64,
        ),
        "ends_sentence": flags(
            [
                n > 0 and t.rstrip(_CLOSING).endswith(_STOPS)
                for t, n in zip(texts, stops, strict=True)
            ]
        ),
        "pauses": count["pause"],
        "digits": count["digit"],
        "capitals": kinds.capitals / np.maximum(n_words, 1),
        "upper": flags([text.isupper() for text in texts]),
        "date": flags(
            [n > 1 and bool(_DATE.search(t)) for t, n in zip(texts, digits, strict=True)]
        ),
        "separators": count["separator"],
        "currency": ((count["currency"] > 0) | found(_CURRENCY, "usd", "eur", "gbp")) * 1.0,
        # Without regard to case more letters are alike than lower() makes alike, but not these.
        "rights": ((count["rights"] > 0) | found(_RIGHTS, "ght")) * 1.0,
        "address": found(_ADDRESS, "http", "www.", "@") * 1.0,
        "code": count["code"],
        "quotes": (count["quote"] > 0) * 1.0,
        "lower_start": flags([text[:1].islower() for text in texts]),
        "colon": flags([text.endswith((":", "：")) for text in texts]),
        "in_title": np.array(
            [
                _share(own, title) if len(text) < _TITLE_LIKE else 0.0
                for text, own in zip(texts, words, strict=True)
            ]
            if title
            else np.zeros(len(texts))
        ),
        "repeated_here": np.array([seen[text] for text in texts], dtype=np.float64),
    }


class _CharacterKinds:
    """How many characters of each kind a text has: `count` by kind, and words with a `capital`."""

    def __init__(self, joined: str, texts: Sequence[str]) -> None:
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        kinds = _kind_table()[np.minimum(codes, _CHARACTERS - 1)]
        special = np.flatnonzero(kinds)
        kinds = kinds[special]
        starts = np.cumsum([1, *(len(text) + 1 for text in texts)])
        text_of = np.searchsorted(starts, special, side="right") - 1

        def per_text(chosen: NDArray[np.bool_]) -> Integers:
            return np.bincount(text_of[chosen], minlength=len(texts)).astype(np.float64)

        self.count = {name: per_text(kinds & 1 << bit > 0) for bit, name in enumerate(_KINDS)}
        before = codes[special - 1]
        initial = (before == ord(" ")) | (before == ord("\n"))
        self.capitals = per_text((kinds & _UPPER > 0) & initial)


@lru_cache(maxsize=1)
def _kind_table() -> NDArray[np.uint16]:
    """The kinds of each character, as bits."""
    characters = "".join(map(chr, range(_CHARACTERS)))
    table = np.zeros(_CHARACTERS, dtype=np.uint16)
    for bit, pattern in enumerate(_KINDS.values()):
        table[[found.start() for found in re.finditer(pattern, characters)]] |= 1 << bit
    table[[code for code, character in enumerate(characters) if character.isupper()]] |= _UPPER
    return table


def _share(own: Sequence[str], title: set[str]) -> float:
    if title.isdisjoint(own):
        return 0.0
    known = set(own)
    return len(known & title) / len(known)
