"""Snippets: the part of a text that has most of what was searched for, with the matches marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from noiseclean_scrapy.store.terms import Phrase, Token

# Two characters that Unicode leaves to private use.
MATCH_START = "\ue000"
MATCH_END = "\ue001"

_CHARACTERS = 240
_BEFORE = 40
_WORD = 20
_ELLIPSIS = "…"
_SPACE = re.compile(rf"[\s{MATCH_START}{MATCH_END}]+")


class _Match(NamedTuple):
    start: int
    end: int
    phrase: Phrase


def make_snippet(text: str, tokens: Sequence[Token], phrases: Sequence[Phrase]) -> str:
    """About 240 characters of `text`, whose tokens are given, on one line.

    The part that is chosen has the most different phrases, then the most matches; without a match
    it is the beginning.
    """
    matches = list(_find(tokens, phrases))
    start = _start(text, _best(matches).start) if matches else 0
    end = _end(text, start + _CHARACTERS)
    parts = [_ELLIPSIS] if start else []
    place = start
    for match in matches:
        if match.start >= place and match.end <= end:
            parts += [_line(text[place : match.start]), MATCH_START]
            parts += [_line(text[match.start : match.end]), MATCH_END]
            place = match.end
    parts.append(_line(text[place:end]))
    if end < len(text):
        parts.append(_ELLIPSIS)
    return "".join(parts).strip()


def _find(tokens: Sequence[Token], phrases: Sequence[Phrase]) -> Iterator[_Match]:
    """Where the phrases stand, in the order of the text; longer ones first."""
    starting: dict[str, list[Phrase]] = {}
    for phrase in sorted(set(phrases), key=lambda phrase: len(phrase.terms), reverse=True):
        starting.setdefault(phrase.terms[0], []).append(phrase)
    for place, token in enumerate(tokens):
        # An open phrase may begin a pair with its one character.
        for first in dict.fromkeys((token.term, token.term[:1])):
            for phrase in starting.get(first, ()):
                found = tokens[place : place + len(phrase.terms)]
                if _fits(found, phrase):
                    yield _Match(token.start, _match_end(found[-1], phrase), phrase)


def _fits(tokens: Sequence[Token], phrase: Phrase) -> bool:
    terms = tuple(token.term for token in tokens)
    if terms == phrase.terms:
        return True
    *exact, last = phrase.terms
    return (
        phrase.open
        and len(terms) == len(phrase.terms)
        and terms[:-1] == tuple(exact)
        and terms[-1].startswith(last)
    )


def _match_end(token: Token, phrase: Phrase) -> int:
    return min(token.end, token.start + len(phrase.terms[-1])) if phrase.open else token.end


def _best(matches: Sequence[_Match]) -> _Match:
    """The match at which the best part of the text begins."""

    def worth(number: int) -> tuple[int, int]:
        inside = []
        for match in matches[number:]:
            if match.end > matches[number].start + _CHARACTERS - _BEFORE:
                break
            inside.append(match.phrase)
        return len(set(inside)), len(inside)

    return matches[max(range(len(matches)), key=worth)]


def _start(text: str, match: int) -> int:
    """A place shortly before a match, where a word begins if the script has spaces."""
    near = match - _BEFORE
    if near <= 0:
        return 0
    space = _SPACE.search(text, near, near + _WORD)
    return space.end() if space else near


def _end(text: str, near: int) -> int:
    """A place near `near` where a word ends, if the script has spaces."""
    if near >= len(text):
        return len(text)
    spaces = list(_SPACE.finditer(text, near - _WORD, near))
    return spaces[-1].start() if spaces else near


def _line(text: str) -> str:
    return _SPACE.sub(" ", text)
