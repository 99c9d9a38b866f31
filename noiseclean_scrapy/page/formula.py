"""Formulas in MathML as one line of text: as TeX where the page has it, else symbol by symbol."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from lxml import etree

from noiseclean_scrapy.page.tags import local_name

if TYPE_CHECKING:
    from lxml.etree import _Element

_ROOT = "msqrt"
_SIGNS = {
    "mfrac": ("", "/"),
    "msup": ("", "^"),
    "msub": ("", "_"),
    "mover": ("", "^"),
    "munder": ("", "_"),
    "msubsup": ("", "_", "^"),
    "munderover": ("", "_", "^"),
    "mroot": ("", "^(1/"),
    "mfenced": ("", ","),
    "mtr": ("", ","),
    "mtable": ("", ";"),
}
"""What stands before the first part of an element, the second and so on, the last one repeated."""
_GROUPS = frozenset({"mrow", "mstyle", "mpadded", "mfrac", _ROOT})
_UNSEEN = dict.fromkeys(range(0x2061, 0x2065))
"""Operators without a sign: of functions, of products."""
_PRODUCT = re.compile("(?<=[0-9])\u2062(?=[(]*[0-9])")
"""One between two numbers, which would be another number without a sign."""
_LONGEST = 2000


def tex(math: _Element) -> str:
    """The formula as the page has it in TeX, empty where it has none."""
    for note in math.iter("{*}annotation"):
        if "tex" in (note.get("encoding") or "").lower():
            return _one_line(note.text or "")
    return _one_line(math.get("alttext") or "")


def symbols(math: _Element) -> str:
    """The formula's symbols in a line, as they are typed.

    >>> from lxml.html import fragment_fromstring
    >>> formula = "<msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup>"
    >>> symbols(fragment_fromstring(f"<math>{formula}</math>"))
    'x^(n+1)'
    >>> half = "<mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>"
    >>> symbols(fragment_fromstring(f"<math>{half}</math>"))
    '2 1/2'
    """
    pieces: list[str] = []
    last = ""  # character so far
    notes = 0  # how many open elements are no part of what is shown
    for event, node in etree.iterwalk(math, events=("start", "end")):
        if not isinstance(node.tag, str):
            continue
        name = local_name(node.tag)
        is_note = name.startswith("annotation")
        is_group = name in _GROUPS and len(node) > 1 and (name == _ROOT or _has_sign(node))
        if event == "start":
            notes += is_note
            if not notes:
                begin = _fence(node, name, "open") + "√" * (name == _ROOT) + "(" * is_group
                piece = _sign(node) + begin + _text(node, name)
                pieces.append(" " * (last.isdigit() and piece[:1].isdigit()) + piece)  # two numbers
        else:
            if not notes:
                pieces.append(")" * (is_group + (name == "mroot")) + _fence(node, name, "close"))
            notes -= is_note
        last = "".join(pieces[-1:])[-1:] or last
        if len(pieces) > _LONGEST:
            break
    return _one_line(_PRODUCT.sub("·", "".join(pieces)).translate(_UNSEEN))


def _fence(node: _Element, name: str, side: str) -> str:
    return (node.get(side) or {"open": "(", "close": ")"}[side]) * (name == "mfenced")


def _text(node: _Element, name: str) -> str:
    """What a node shows; white space counts in a text alone."""
    parts = (node.text or "").split()
    if name != "mtext":
        return "".join(parts)
    return f" {' '.join(parts)} " if parts else ""


def _sign(node: _Element) -> str:
    """What stands before a part of a formula."""
    parent = node.getparent()
    signs = _SIGNS.get(local_name(parent.tag), ()) if parent is not None else ()
    before = islice(node.itersiblings(preceding=True), len(signs))
    return signs[min(sum(1 for _ in before), len(signs) - 1)] if signs else ""


def _has_sign(node: _Element) -> bool:
    parent = node.getparent()
    return parent is not None and local_name(parent.tag) in _SIGNS


def _one_line(text: str) -> str:
    return " ".join(text[:_LONGEST].split())
