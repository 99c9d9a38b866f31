"""Snippets: the part of a text that has most of what was searched for, with the matches marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from noiseclean_scrapy.store.search.letters import letter_end, letter_start
from noiseclean_scrapy.store.search.terms import Analyzer, Phrase, Token

# Two characters that Unicode leaves to private use.
MATCH_START = "\ue000"
MATCH_END = "\ue001"

_LOOKED_AT = 500_000
_MOST_MATCHES = 10_000
_MOST_COMPARED = 2_000_000
_CHARACTERS = 240
_BEFORE = 40
_WORD = 20
_ELLIPSIS = "…"
_SPACE = re.compile(rf"[\s{MATCH_START}{MATCH_END}]+")


class _Match(NamedTuple):
    start: int
    end: int
    phrase: Phrase


def make_snippet(text: str, language: str, phrases: Sequence[Phrase], analyzer: Analyzer) -> str:
    """About 240 characters of `text` on one line.

    The part that is chosen has the most different phrases, then the most matches; without a match
    it is the beginning. What stands after 500,000 characters, 10,000 matches, or two million
    beginnings of phrases, is not looked at.
    """
    tokens = list(analyzer.tokens(text[:_LOOKED_AT], language))
    matches = list(islice(_find(text, tokens, phrases), _MOST_MATCHES))
    start = _start(text, _best(matches).start) if matches else 0
    end = _end(text, start + _CHARACTERS)
    parts = [_ELLIPSIS] if start else []
    place = start
    for match in matches:
        if place <= match.start < end:
            parts += [_line(text[place : match.start]), MATCH_START]
            place = min(match.end, end)
            parts += [_line(text[match.start : place]), MATCH_END]
    parts.append(_line(text[place:end]))
    if end < len(text):
        parts.append(_ELLIPSIS)
    return "".join(parts).strip()


def _find(text: str, tokens: Sequence[Token], phrases: Sequence[Phrase]) -> Iterator[_Match]:
    """Where the phrases stand, in the order of the text; longer ones first."""
    starting: dict[str, list[tuple[str, Phrase]]] = {}
    for phrase in sorted(set(phrases), key=lambda phrase: len(phrase.terms), reverse=True):
        written = " ".join(phrase.terms) + " " * (not phrase.open)
        starting.setdefault(phrase.terms[0], []).append((written, phrase))
    # Terms have no blanks, and comparing texts takes no time even for long phrases.
    terms = "".join([f"{token.term} " for token in tokens])
    offset, left = 0, _MOST_COMPARED
    for place, token in enumerate(tokens):
        # An open phrase may begin a pair with its one character.
        for first in dict.fromkeys((token.term, token.term[:1])):
            begun = starting.get(first, ())
            left -= len(begun)
            if left < 0:
                return
            for written, phrase in begun:
                if terms.startswith(written, offset):
                    last = tokens[place + len(phrase.terms) - 1]
                    end = letter_end(text, last.start, last.end) if phrase.open else last.end
                    yield _Match(token.start, end, phrase)
        offset += len(token.term) + 1


def _best(matches: Sequence[_Match]) -> _Match:
    """The match at which the best part of the text begins."""
    best, most = matches[0], (0, 0)
    inside: Counter[Phrase] = Counter()
    end = 0
    for number, match in enumerate(matches):
        while end < len(matches) and matches[end].end <= match.start + _CHARACTERS - _BEFORE:
            inside[matches[end].phrase] += 1
            end += 1
        if (worth := (len(inside), end - number)) > most:
            best, most = match, worth
        if end > number:
            inside[match.phrase] -= 1
            if not inside[match.phrase]:
                del inside[match.phrase]
        end = max(end, number + 1)
    return best


def _start(text: str, match: int) -> int:
    """A place shortly before a match, where a word begins if the script has spaces."""
    near = min(match - _BEFORE, len(text) - _CHARACTERS)
    if near <= 0:
        return 0
    space = _SPACE.search(text, near, near + _WORD)
    return space.end() if space else letter_start(text, near)


def _end(text: str, near: int) -> int:
    """A place near `near` where a word ends, if the script has spaces."""
    if near >= len(text):
        return len(text)
    spaces = list(_SPACE.finditer(text, near - _WORD, near))
    return spaces[-1].start() if spaces else letter_start(text, near)


def _line(text: str) -> str:
    return _SPACE.sub(" ", text)
