"""Characters that are no text: a page may hold them, its text and what is shown do not."""

from __future__ import annotations

import re
from collections.abc import Mapping

# All of Unicode's class Cc but white space, which becomes blanks.
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
# Control characters but tab and newline; what turns the direction of what follows.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# libxml2 reads these in HTML, and lxml refuses to write them.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

ZERO_WIDTH = ("\u200b", "\ufeff")
SOFT_HYPHEN = "\u00ad"
JOINERS = f"{SOFT_HYPHEN}\u200c\u200d\u2060"
"""Soft hyphens and joiners, which stand in words and are no letters of them."""


def with_blanks(text: str) -> str:
    """The text with blanks for what is a blank without width.

    >>> with_blanks("Fog\\u200bcloses")
    'Fog closes'
    """
    if not text.isascii():
        for character in ZERO_WIDTH:
            text = text.replace(character, " ")
    return text


def without_controls(text: str) -> str:
    """The text without what steers terminals: escape sequences lose their beginning.

    Marks that direct bidirectional text stay: Arabic and Hebrew are written with them.

    >>> without_controls("Fog\\x1b]0;closes\\x07 the\\x9bport\\n")
    'Fog]0;closes theport\\n'
    """
    return _CONTROLS.sub("", text)


def paired(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which UTF-8 lacks.

    >>> paired("b\\ud800c"), paired("\\ud83d\\ude00") == "\\U0001f600"
    ('b\ufffdc', True)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        # Through UTF-16 the two halves of a split pair become their character again.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def one_line(text: str) -> str:
    """A text of metadata as it is given to users: JSON may hold what no file in UTF-8 can.

    >>> one_line("Heli\\u00adkopter\\x1b[2J\\n in\\ud800 the fog")
    'Helikopter[2J in\ufffd the fog'
    """
    return " ".join(paired(without_controls(text)).replace(SOFT_HYPHEN, "").split())


def inert(text: str) -> str:
    """The text without characters that steer a terminal, or turn the order of others.

    >>> inert("Fog\\x1b[2J\\tcloses\\u202e the port\\n")
    'Fog[2J\\tcloses the port\\n'
    """
    return _STEERING.sub("", text)


def writable(text: str) -> str:
    """The text without characters that an element of a tree cannot be given.

    >>> writable("Fog\\x0b closes\\n")
    'Fog closes\\n'
    """
    return _UNWRITABLE.sub("", text)


def share_left_out(kept: float, visible: float) -> float:
    """The share of visible characters that is not kept; of none, none.

    >>> share_left_out(30, 40), share_left_out(0, 0)
    (0.25, 0.0)
    """
    return 1 - min(kept / visible, 1.0) if visible else 0.0


def shortened(text: str, most: int) -> str:
    """The text, cut off behind so many characters with a sign for it.

    >>> shortened("Fog closes", 3), shortened("Fog", 3)
    ('Fog…', 'Fog')
    """
    return text if len(text) <= most else f"{text[:most]}…"


def counted(number: int, thing: str) -> str:
    """A number of things, in words.

    >>> counted(1, "page"), counted(2, "page")
    ('1 page', '2 pages')
    """
    return f"{number} {thing}{'s' * (number != 1)}"


def rounded(number: float) -> float:
    """A number with two decimals at most, a whole one without any.

    >>> rounded(12345.0), rounded(2.3456)
    (12345, 2.35)
    """
    found = round(number, 2)
    return int(found) if found == int(found) else found


def listed(numbers: Mapping[str, int]) -> str:
    """How many of each kind, in words, without those of which there are none.

    >>> listed({"missing": 2, "damaged": 0, "held": 1})
    '2 missing, 1 held'
    """
    return ", ".join(f"{number} {kind}" for kind, number in numbers.items() if number)
