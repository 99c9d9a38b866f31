"""What attributes say of pictures, lists and cells: addresses and numbers."""

from __future__ import annotations

import re

IMAGE_SOURCES = ("src", "data-src", "data-original", "data-lazy-src", "srcset", "data-srcset")
_PLACEHOLDER = "data:"
STARTS = {"ol": "start", "li": "value"}
SPANNING = frozenset({"td", "th"})
SPANS = ("colspan", "rowspan")
_COUNT = re.compile(r"\s*\+?(\d{1,5})", re.ASCII)


def image_sources(source: str | None, *others: str | None) -> tuple[str, str]:
    """Of the values of IMAGE_SOURCES the one that tells images apart, and that which is shown.

    That is what a script is to load later, if `source` is there for the time until then.

    >>> image_sources("data:image/gif,", "/fog.png", None, None, None, None)
    ('data:image/gif,', '/fog.png')
    """
    *later, candidates, later_candidates = others
    first = [(text or "").split(maxsplit=1)[:1] for text in (candidates, later_candidates)]
    sets = [name.rstrip(",") for found in first for name in found]
    is_placeholder = (source or _PLACEHOLDER).startswith(_PLACEHOLDER)
    known = [*filter(None, [*later, "" if is_placeholder else source, *sets])]
    shown = known[0] if known else source or ""
    return source or shown, shown


def count(value: str | None) -> int | None:
    """The number that an attribute gives, if any."""
    found = _COUNT.match(value or "")
    return int(found[1]) if found else None


def span(columns: str | None, rows: str | None) -> tuple[int, int]:
    """How many columns and rows a cell covers, one at least."""
    return count(columns) or 1, count(rows) or 1
