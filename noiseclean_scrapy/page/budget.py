"""What one page may cost: how much of it is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from noiseclean_scrapy.errors import ConfigurationError

LARGEST = 10**9
"""The most that a bound may be: what is above it does not fit into a database, a time or C."""
_END = 10_000
_SHORT, _LONG = 20_000, 300_000
_MOST_ATTRIBUTES = 2000
_WIDE = 2 * _MOST_ATTRIBUTES  # characters that so many take at least
_SEPARATORS, _FEW = "= \t\n\r\f/", 1000  # each of them between two attributes at most
# Tags and attributes as HTML's tokenizer finds them, each read to its end and as a whole, so that
# no character is read twice. What looks like a tag in a script ends with it.
_NAME = r"(?: [^ \t\n\r\f/>=<] | <(?!/script) )"
_ATTRIBUTE = rf"""
    (?: =? {_NAME}+ | = )
    (?: [ \t\n\r\f]* = [ \t\n\r\f]* (?: "[^"]*" | '[^']*' | [^ \t\n\r\f>"'][^ \t\n\r\f>]* )? )?
"""
_ATTRIBUTES = re.compile(_ATTRIBUTE, re.IGNORECASE | re.VERBOSE)
_TAG = re.compile(
    rf"( <\0*/?\0*[a-z] (?: {_NAME} | = )* ) (?: (?= ( {_ATTRIBUTE} | [ \t\n\r\f/]+ ) ) \2 )* >?",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class PageBudget:
    """Bounds on one page; what is beyond them is cut off, and the page is marked `truncated`.

    `markup` is the most bytes that are read (characters, where the page comes as text); the default
    is what Common Crawl keeps of a page. `elements` is the most block-level elements, and the most
    text blocks. Tags with thousands of attributes are left out: the time that the parser takes for
    them grows with the square of their number. `hidden` tells whether text counts that the page's
    markup hides from readers, `display` that elements are told apart as the papers do, by their
    display attributes alone, `mended` that characters are put right (see `page.decoding.mended`)
    and `</br>` is a line break, and drawings and buttons part no sentence (see `page.sentences`).

    Raises ConfigurationError for bounds that are no whole numbers from 1 to a billion.
    """

    markup: int = 5 * 2**20
    elements: int = 25_000
    hidden: bool = False
    display: bool = False
    mended: bool = True

    def __post_init__(self) -> None:
        for name, bound in (("markup", self.markup), ("elements", self.elements)):
            if type(bound) is not int or not 1 <= bound <= LARGEST:
                raise ConfigurationError(
                    f"{name} must be a whole number from 1 to {LARGEST:,}, not {bound!r}"
                )

    def cut_bytes(self, data: bytes) -> bytes:
        """The bytes that are read: all, or those before the last tag within the budget."""
        if len(data) <= self.markup:
            return data
        end = data.rfind(b"<", max(0, self.markup - _END), self.markup)
        return data[: end if end > 0 else self.markup]

    def cut_text(self, text: str) -> str:
        """The text that is read; the very same object where nothing is cut.

        >>> PageBudget(markup=12).cut_text("<p>one</p><p>two</p>")
        '<p>one</p><p'
        """
        if len(text) > self.markup:
            text = text[: self.markup]
        if len(text) > _LONG or (len(text) > _SHORT and _may_have_wide_tag(text)):
            narrow = _TAG.sub(lambda tag: "" if _is_wide(tag) else tag[0], text)
            text = narrow if len(narrow) < len(text) else text
        return text


def _may_have_wide_tag(text: str) -> bool:
    """Whether thousands of attributes follow the beginning of a tag before the next `>`."""
    end = 0
    while end + _WIDE < len(text):
        last = text.rfind(">", end, end + _WIDE + 1)
        if last >= 0:
            end = last + 1
            continue
        following = text.find(">", end + _WIDE)
        part_end = following if following >= 0 else len(text)
        separators = sum(text.count(mark, end, part_end) for mark in _SEPARATORS)
        if separators > _FEW and any(map(_is_wide, _TAG.finditer(text, end, part_end))):
            return True
        end = part_end + 1
    return False


def _is_wide(tag: re.Match[str]) -> bool:
    if len(tag[0]) < _WIDE:
        return False
    attributes = _ATTRIBUTES.finditer(tag.string, tag.end(1), tag.end())
    return sum(1 for _ in islice(attributes, _MOST_ATTRIBUTES)) == _MOST_ATTRIBUTES


DEFAULT_BUDGET = PageBudget()
"""Enough for every page of our corpora, three times over."""
