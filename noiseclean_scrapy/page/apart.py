"""Whether two texts side by side in a block, without a blank, are two things to a reader."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from noiseclean_scrapy.page.inline_tokens import Token, plain_text

_ATTACHED = frozenset({"sub", "sup", "ruby", "rb", "rt", "rp"})
"""Elements that belong to what stands before them."""
_ENDINGS, _CURRENCIES = frozenset(".:;!?)•€"), frozenset("$€£")
_WITHIN_NUMBERS = frozenset(".:")
_MOST_AROUND = 20
"""Begins and ends of elements around an initial."""
_OPENING_QUOTES = "\"'“„‘‚«‹¡¿("


def stand_apart(before: str, between: Sequence[Token], after: str) -> bool:
    """Whether two texts, without a blank between them, are likely two things to a reader.

    One element ends and another begins, whose text begins with a capital letter or a digit: a
    label beside a link, two tags, two sentences. In the gold of ten corpora 586 of 614 such pairs
    are apart, 130 of 141 behind a stop, and 96 of 463 other places where an element ends or begins
    within a word: initials set large, syllables, exponents. So are what `_ends_label` finds.
    """
    ended, *begun = between
    if _ends_label(before, between, after):
        return True
    if ended.kind != "end" or not begun or any(token.value in _ATTACHED for token in between):
        return False
    last, first = before[-1:], after[0]
    ends_word = last.isdigit() or last.islower() or last.isupper() or last in _ENDINGS  # no Chinese
    if last in _WITHIN_NUMBERS and first.isdigit() and before[-2:-1].isdigit():
        return False  # a fraction, a time, a score
    return ends_word and (first.isupper() or first.isdigit() or first in _CURRENCIES)


def _ends_label(before: str, between: Sequence[Token], after: str) -> bool:
    """Whether a TIME ends before a letter, the CITE of a quotation before its text, a LABEL at one.

    All 120 such places of 4,000 pages are apart.
    """
    ended = {token.value for token in between if token.kind == "end"}
    is_letter = after[0].islower() or after[0].isupper()  # no Chinese
    if "cite" in ended:
        return is_letter and (before[-1:] == ":" or before[-1:].isdigit() or after[0].isupper())
    begins_label = any(token.kind == "begin" and token.value == "label" for token in between)
    return ("time" in ended and is_letter) or ("label" in ended and begins_label)


def is_initial(before: str, content: Sequence[Token], at: int, after: str) -> bool:
    """Whether the text before `at` is the initial of its block, set large before capitals.

    It is no letter of an alphabet, nor one before a name that begins with it (a picture's place).
    """
    initial = before.lstrip(_OPENING_QUOTES)
    if at > _MOST_AROUND or len(initial) != 1 or not initial.isupper():
        return False
    is_capitals = len(after.strip()) > 1 and after[0].isupper() and after[:2].isupper()
    is_first = before == "".join(map(plain_text, islice(content, at)))
    return is_first and is_capitals and after[0] != initial


def begins_line(before: str, between: Sequence[Token], after: str) -> bool:
    """Whether a SPAN right behind words of a heading is likely a second line of it.

    So are all 13 on 4,000 pages, not one of two that stand behind a single word ("SmartNews").
    """
    last, *begun = between
    is_letters = before[-2:].isalpha() and before[-1].islower() and after[:2].isalpha()
    is_second = last.kind == "text" and {token.value for token in begun} == {"span"}
    return is_second and is_letters and " " in before
