"""What attributes say of pictures, lists and cells: addresses and numbers."""

from __future__ import annotations

import re

from noiseclean_scrapy.page.outline import CELLS

IMAGE_SOURCES = (
    *("src", "data-src", "data-original", "data-lazy-src"),
    *("data-srcset", "data-lazy-srcset", "srcset"),
)
LONGEST_VALUE = 2000
"""Characters of a value that are read."""
_PLACEHOLDER = "data:"
STARTS = {"ol": "start", "li": "value"}
SPANNING = CELLS
SPANS = ("colspan", "rowspan")
_COUNT = re.compile(r"\s*\+?(\d{1,9})(?!\d)", re.ASCII)
_TO_THE_END = 65_534
"""Rows of a cell with a `rowspan` of 0, the most that HTML knows."""


def image_sources(source: str | None, *others: str | None) -> tuple[str, str]:
    """Of the values of IMAGE_SOURCES the one that tells images apart, and that which is shown.

    That is what a script is to load later, if `source` is there for the time until then.

    >>> image_sources("data:image/gif,", "/fog.png", None, None, "/fog-300.png 300w", None, None)
    ('data:image/gif,', '/fog.png')
    """
    if source and not any(others):
        return source, source
    is_placeholder = (source or _PLACEHOLDER).startswith(_PLACEHOLDER)
    *sets, now = map(_first, others[3:])
    candidates = (*others[:3], *sets, "" if is_placeholder else source, now, source)
    known = [address for address in candidates if address]
    fallback = known[0] if known else ""
    # What is in braces a script is to fill in.
    shown = next((address for address in known if "{" not in address), fallback)
    return source or fallback, shown


def _first(candidates: str | None) -> str:
    """The first address of a `srcset`."""
    names = (candidates or "").split(maxsplit=1)
    return names[0].rstrip(",") if names else ""


def count(value: str | None) -> int | None:
    """The number that an attribute gives, if any."""
    found = _COUNT.match(value or "")
    return int(found[1]) if found else None


def list_start(first: int | None, items: int) -> int:
    """What `PageTable.starts` has of a list (OL) that counts down from `first`, else to 1."""
    return -(items if first is None else first)


def span(columns: str | None, rows: str | None) -> tuple[int, int]:
    """How many columns and rows a cell covers, one at least."""
    height = count(rows)
    return count(columns) or 1, _TO_THE_END if height == 0 else height or 1
