"""Text that a reader does not see: what hides an element, and which blocks are hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice

from noiseclean_scrapy.page.model import Element, Page

UNFOLDED = 0.5
"""Where hidden elements hold this share of a page's long text, a script is to show them."""
LONG = 80
"""Characters from which on a block is long text, unless half of it is links."""

_FAR = -500.0
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)")
_MAY_HIDE = re.compile(
    r"none|hidden|collapse|opacity|font-size|indent|absolute|fixed|clip|color", re.IGNORECASE
)
_FOLDED = re.compile(
    r"\btab(?!le)|[-_]tabs?\b|tabpanel|accordion|collaps|toggl|expand|slide|carousel|faq|fade|reveal",
    re.IGNORECASE,
)


def hides(attributes: Mapping[str, str]) -> bool:
    """Whether an element with these attributes is hidden by itself.

    >>> hides({"style": "display: none"}), hides({"style": "font-size:0"}), hides({"hidden": ""})
    (True, True, True)
    >>> hides({"style": "opacity: 0.5"}), hides({"style": "left:-5px; position:absolute"})
    (False, False)
    """
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style", "")
    return bool(style) and style_hides(style)


@lru_cache(maxsize=10_000)
def style_hides(style: str) -> bool:
    """Whether a style attribute hides the element that has it."""
    return bool(_MAY_HIDE.search(style)) and _hides(_declarations(style))


def hidden_blocks(page: Page) -> list[bool]:
    """For each block whether it stands in a hidden element and is nothing that a reader opens.

    The latter is what is called a tab, an accordion, a slide and so on. Nothing is hidden on a
    page most of whose long text is: a script shows it once it is loaded.
    """
    hidden = [False] * len(page.elements)
    if page.reads_hidden or not any(element.hidden for element in page.elements):
        return [False] * len(page.blocks)
    for element in page.elements:
        above = element.parent >= 0 and hidden[element.parent]
        hidden[element.index] = above or (element.hidden and not _is_folded(page, element))
    found = [hidden[block.element] for block in page.blocks]
    if any(found):
        long = [
            len(block.text)
            if len(block.text) >= LONG and 2 * block.link_characters < len(block.text)
            else 0
            for block in page.blocks
        ]
        out_of_sight = sum(n for n, here in zip(long, found, strict=True) if here)
        if out_of_sight >= UNFOLDED * sum(long) > 0:
            return [False] * len(found)
    return found


def _is_folded(page: Page, element: Element) -> bool:
    around = islice(page.path(element.index), 3)
    return any(_FOLDED.search(above.label) for above in around)


def _declarations(style: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in style.lower().split(";"))
    return {name.strip(): value.split("!")[0].strip() for name, _, value in pairs}


def _hides(style: Mapping[str, str]) -> bool:
    shown_none = style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse")
    nothing = any(_first(style.get(name, "")) == 0 for name in ("opacity", "font-size"))
    return shown_none or nothing or _is_moved_away(style) or _has_no_colour_of_its_own(style)


def _is_moved_away(style: Mapping[str, str]) -> bool:
    """Whether an element has no room, or stands beside the page."""
    sizes = ("width", "height", "max-width", "max-height")
    if style.get("overflow") == "hidden" and any(
        _first(style.get(name, "")) == 0 for name in sizes
    ):
        return True
    edges = ["text-indent"]
    if style.get("position") in ("absolute", "fixed"):
        if style.get("clip", "").startswith("rect(0") or "inset(100%" in style.get("clip-path", ""):
            return True
        edges += ["left", "right", "top", "bottom"]
    return any((_first(style.get(edge, "")) or 0.0) <= _FAR for edge in edges)


def _has_no_colour_of_its_own(style: Mapping[str, str]) -> bool:
    colour = style.get("color", "")
    behind = style.get("background-color", style.get("background", ""))
    return colour == "transparent" or (bool(colour) and colour == behind != "inherit")


def _first(value: str) -> float | None:
    number = _NUMBER.match(value)
    return float(number[0]) if number else None
