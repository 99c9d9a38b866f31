"""Terms: the units in which texts are indexed and searched, alike in every index.

A word becomes its stem in the language of its page, in lower case and without accents. Scripts
that do not part their words by spaces (and Korean, which glues particles to them) are cut into
overlapping pairs of characters: what is searched for is found wherever it stands in a run.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple, cast

import snowballstemmer  # type: ignore[import-untyped]

from noiseclean_scrapy.page.characters import JOINERS
from noiseclean_scrapy.page.stemming import base_code, stemmer_name
from noiseclean_scrapy.store.search.letters import (
    MARKS,
    PAIRED,
    READING,
    is_spelled_alike,
    spelled_alike,
    without_readings,
)

_TURKISH_STEMMER = "turkish"
_STEMMERS_WITH_AE = {"danish", "norwegian"}
"""To these æ is a letter of its own."""
_TURKISH = str.maketrans("Iİ", "ıi")
"""Turkish has two letters where others have one; its stemmer follows their vowels."""
_PERSIAN_LETTERS = {"fa", "ur"}
_PERSIAN = dict(zip("يىكۀۂۓ", "ییکهہے", strict=True))
"""Arabic letters that stand for Persian and Urdu ones, and letters whose hamza may be missing."""
TITLE_WEIGHT = 5.0
"""A word of the title counts as much as so many of the text."""

# Apostrophes that Unicode counts among the letters, of Ukrainian, Uzbek, Hawaiian.
_APOSTROPHES = "\u02bb\u02bc"
_OTHER = f"\\W_{_APOSTROPHES}{PAIRED}"
_WORD = re.compile(
    f"[{PAIRED}]+(?:{READING}[{PAIRED}]*)*|[^{_OTHER}]+(?:[{MARKS}{JOINERS}]+[^{_OTHER}]*)*"
)
_WITHOUT_JOINERS = str.maketrans("", "", JOINERS)
_IS_PAIRED = re.compile(f"[{PAIRED}]")
_DIGITS = {
    sign: unicodedata.normalize("NFKC", sign)
    for sign in map(chr, range(0x3300))
    if unicodedata.category(sign) == "No"
}
"""Superscripts, subscripts, circled digits and fractions, and what they are read as."""
_FRACTIONS = {
    sign: re.findall(r"\d+", digits) for sign, digits in _DIGITS.items() if "\u2044" in digits
}
_SIGNS, _PARTED = "".join(_DIGITS), "".join(_FRACTIONS)
_IS_SIGNED = re.compile(f"[{_SIGNS}]")
_SEAM = rf"(?<=\d)(?=[{_SIGNS}])|(?<=[{_SIGNS}])(?=\d)"
# A fraction, or what stands up to the next one, or to where such signs meet common digits.
_PART = re.compile(f"[{_PARTED}]|[^{_PARTED}](?:(?!{_SEAM})[^{_PARTED}])*")
# The nukta of Devanagari as well, a dot that is often left out.
_ACCENTS = re.compile("[\u0300-\u036f\u093c]+")
_LIGATURES = {"æ": "ae", "œ": "oe"}
# The vowel points of Hebrew and Arabic, and the line that makes Arabic words longer.
_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0655\u0670]+"
)
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_UNDECOMPOSED = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", **_LIGATURES})

_TERM_CHARACTERS = 64
_WORD_CHARACTERS = 256
_PHRASE_TERMS = 100
_REMEMBERED_WORDS = 50_000


class Token(NamedTuple):
    """A term, and where in the text it stands."""

    term: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Phrase:
    """Terms to be found one after the other; of the last one its beginning is enough if `open`."""

    terms: tuple[str, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class PageTerms:
    """What is indexed of a page."""

    key: str
    title: tuple[str, ...]
    text: tuple[str, ...]


class Analyzer:
    """Cuts texts into terms; may be used by several threads.

    >>> analyzer = Analyzer()
    >>> analyzer.terms("Les Élections à l'Élysée", "fr")
    ('le', 'elect', 'a', 'l', 'elys')
    >>> analyzer.terms("新闻网 news", "zh")
    ('新闻', '闻网', '网', 'news')
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vocabularies: dict[tuple[str, bool], _Vocabulary] = {}

    def tokens(self, text: str, language: str) -> Iterator[Token]:
        """The terms of `text` in their order; `language` is its ISO 639 code, "" if unknown."""
        vocabulary = self._vocabulary(language)
        stems = vocabulary.stems
        for match in _WORD.finditer(text):
            term = stems.get(match[0])
            if term is None:
                yield from vocabulary.tokens(match[0], match.start())
            else:
                yield Token(term, match.start(), match.end())

    def terms(self, text: str, language: str) -> tuple[str, ...]:
        """The terms of `text` without their places, which takes half the time."""
        vocabulary = self._vocabulary(language)
        words: list[str] = _WORD.findall(text)
        known = list(map(vocabulary.stems.get, words))
        if None not in known:
            return tuple(cast("list[str]", known))
        found: list[str] = []
        for word, term in zip(words, known, strict=True):
            if term is not None:
                found.append(term)
            else:
                found += [token.term for token in vocabulary.tokens(word, 0)]
        return tuple(found)

    def phrase(self, text: str, language: str) -> Phrase:
        """What to look for where `text` is searched for; without terms when it has no words.

        The first 100 terms are enough.

        >>> Analyzer().phrase("新闻网", "zh"), Analyzer().phrase("网", "zh")
        (Phrase(terms=('新闻', '闻网'), open=False), Phrase(terms=('网',), open=True))
        """
        tokens = list(islice(self.tokens(without_readings(text), language), _PHRASE_TERMS))
        is_open = False
        if tokens and _IS_PAIRED.match(tokens[-1].term):
            # In the text the run may go on, and its last character is then the first of a pair.
            if len(tokens) > 1 and tokens[-2].end == tokens[-1].end:
                tokens.pop()
            else:
                is_open = True
        return Phrase(tuple(token.term for token in tokens), is_open)

    def _vocabulary(self, language: str) -> _Vocabulary:
        rules = stemmer_name(language), base_code(language) in _PERSIAN_LETTERS
        with self._lock:
            if rules not in self._vocabularies:
                self._vocabularies[rules] = _Vocabulary(*rules)
            return self._vocabularies[rules]


class _Vocabulary:
    """The words met in texts that one stemmer reads, and their terms."""

    def __init__(self, stemmer: str, has_persian_letters: bool = False) -> None:
        self.stems: dict[str, str] = {}
        self._is_turkish = stemmer == _TURKISH_STEMMER
        ligatures = {} if stemmer in _STEMMERS_WITH_AE else _LIGATURES
        variants = _PERSIAN if has_persian_letters else {}
        self._letters = str.maketrans({**ligatures, **variants})
        self._stemmer = snowballstemmer.stemmer(stemmer) if stemmer else None
        self._lock = threading.Lock()

    def tokens(self, word: str, start: int) -> Iterator[Token]:
        """The terms of a word, most often one, or of a run of characters that are paired.

        >>> [token.term for token in _Vocabulary("").tokens("10½", 0)]
        ['10', '1', '2']
        """
        if _IS_PAIRED.match(word):
            yield from _pairs(word, start)
        elif not _IS_SIGNED.search(word):
            yield Token(self.stem(word), start, start + len(word))
        else:
            for part in _PART.finditer(word):
                for number in _FRACTIONS.get(part[0], [part[0]]):
                    yield Token(self.stem(number), start + part.start(), start + part.end())

    def stem(self, word: str) -> str:
        seen = word[:_WORD_CHARACTERS].translate(_WITHOUT_JOINERS)
        if self._is_turkish:
            seen = seen.translate(_TURKISH)
        folded = unicodedata.normalize("NFKC", seen).casefold()
        # Of the Turkish capital with a dot, casefold leaves the dot as an accent.
        folded = folded.replace("i\u0307", "i")
        if not folded.isascii():
            folded = _POINTS.sub("", folded).replace("եւ", "եվ")  # NFKC takes և apart
            folded = _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), folded)
            folded = folded.translate(self._letters)
        folded = folded[:_TERM_CHARACTERS]
        with self._lock:
            # A stemmer holds the word that it works on, so threads take turns.
            stem = self._stemmer.stemWord(folded) if self._stemmer else folded
            if len(self.stems) >= _REMEMBERED_WORDS:
                self.stems.clear()
            # Some signs are a blank and a mark.
            term = _plain(stem) or "".join(folded.split()) or word[:_TERM_CHARACTERS]
            if len(word) <= _WORD_CHARACTERS:
                self.stems[word] = term
        return term


def _plain(stem: str) -> str:
    """A stem without accents and without what is no part of a word."""
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", stem)).translate(_UNDECOMPOSED)
    return "".join(_WORD.findall(unicodedata.normalize("NFC", bare)))


def _pairs(run: str, start: int) -> Iterator[Token]:
    """Each character with the one that follows, the last one alone."""
    if is_spelled_alike(run):
        for number in range(len(run)):
            pair = run[number : number + 2]
            yield Token(pair, start + number, start + number + len(pair))
        return
    for characters in spelled_alike(run, start):
        for this, following in pairwise(characters):
            yield Token(this.character + following.character, this.start, following.end)
        yield Token(*characters[-1])
