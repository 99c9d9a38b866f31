"""What attributes say of pictures, lists and cells: addresses and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from noiseclean_scrapy.page.outline import CELLS, LISTS, NUMBERED

IMAGE_SOURCES = (
    *("src", "data-src", "data-original", "data-lazy-src"),
    *("data-srcset", "data-lazy-srcset", "srcset"),
)
LONGEST_VALUE = 2000
"""Characters of a value that are read."""
_DATA = "data:"
_PLACEHOLDERS = frozenset(
    f"{name}.{kind}"
    for name in (
        *("1x1", "1x1.trans", "blank", "clear", "empty", "grey-placeholder", "lazy_placeholder"),
        *("loading", "pixel", "placeholder", "spacer", "trans", "transparent"),
    )
    for kind in ("gif", "png", "svg")
)
"""Files that show nothing."""
_OTHER_SOURCES = frozenset({"src", "data-cp-src"})
_FORMULAS = ("latex", "mimetex", "codecogs", "/math/render/", "cht=tx")
"""What addresses of pictures of formulas hold."""
STYLED = frozenset({"ul", "menu", "li"})
"""Lists and items whose style is looked at for numbers."""
_SHOWS_NUMBERS = re.compile(r"list-style(?:-type)?\s*:[^;:]*\bdecimal", re.IGNORECASE)
_LOWEST = 6
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
    *sets, now = map(_first, others[3:])
    candidates = (*others[:3], *sets, source, now)
    known = [address for address in candidates if address]
    fallback = known[0] if known else ""
    # What is in braces a script is to fill in.
    shown = next((a for a in known if "{" not in a and not is_placeholder(a)), fallback)
    return source or fallback, shown


def is_placeholder(source: str) -> bool:
    """Whether an address shows nothing, for the time until a script loads the picture.

    >>> is_placeholder("data:image/gif,"), is_placeholder("/a/Blank.gif?v=2"), is_placeholder("a")
    (True, True, False)
    """
    if source.startswith(_DATA):
        return True
    return source.rpartition("/")[2].partition("?")[0].lower() in _PLACEHOLDERS


def later_source(attributes: Iterable[tuple[str, str]]) -> str:
    """The address that an image with a placeholder has in an attribute of a script's own, if any.

    >>> later_source([("src", "/blank.gif"), ("nitro-lazy-srcset", "/fog-300.png 300w")])
    '/fog-300.png'
    """
    for name, value in attributes:
        if name.endswith(("src", "srcset")) and name not in _OTHER_SOURCES and name[0] != "{":
            address = _first(value) if name.endswith("srcset") else value.strip()
            if "/" in address and "{" not in address and not is_placeholder(address):
                return address
    return ""


def is_formula(source: str) -> bool:
    """Whether an image of this address shows a formula, which is its alternative text.

    >>> is_formula("https://wikimedia.org/api/rest_v1/media/math/render/svg/ab"), is_formula("a")
    (True, False)
    """
    return names_formula(source[:LONGEST_VALUE])


def names_formula(addresses: str) -> bool:
    """Whether a part that only addresses of formulas have stands in one or several of them."""
    lower = addresses.lower()
    return any(part in lower for part in _FORMULAS)


def _first(candidates: str | None) -> str:
    """The first address of a `srcset`."""
    names = (candidates or "").split(maxsplit=1)
    return names[0].rstrip(",") if names else ""


def count(value: str | None) -> int | None:
    """The number that an attribute gives, if any."""
    found = _COUNT.match(value or "")
    return int(found[1]) if found else None


def role_of(name: str, role: str | None, level: str | None, style: str | None) -> str:
    """What `PageTable.roles` has of an element of these attributes; empty where that is nothing.

    `style` is that of elements named in `STYLED`.

    >>> role_of("div", "heading", "3", None), role_of("li", None, None, "list-style: decimal")
    ('h3', 'numbered')
    """
    if role and role.strip().lower() == "heading":
        return f"h{min(count(level) or 2, _LOWEST)}"
    if style and _SHOWS_NUMBERS.search(style[:LONGEST_VALUE]):
        return "ol" if name in LISTS else NUMBERED
    return ""


def list_start(first: int | None, items: int) -> int:
    """What `PageTable.starts` has of a list (OL) that counts down from `first`, else to 1."""
    return -(items if first is None else first)


def span(columns: str | None, rows: str | None) -> tuple[int, int]:
    """How many columns and rows a cell covers, one at least."""
    height = count(rows)
    return count(columns) or 1, _TO_THE_END if height == 0 else height or 1
