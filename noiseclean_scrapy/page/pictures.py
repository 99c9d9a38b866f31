"""Pictures: which of them are not shown, and what stands for one that is still to be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noiseclean_scrapy.page.attributes import IMAGE_SOURCES, image_sources, is_placeholder
from noiseclean_scrapy.page.hidden import shows_nothing

if TYPE_CHECKING:
    from lxml.etree import _Element

HIDING_PICTURES = ("hidden", "style", "width", "height", "alt", "srcset", "data-src")
"""What `hides_picture` is given."""
_MOST_SOURCES = 8
_OF_DOTS = frozenset({"0", "1", "0px", "1px"})


def hides_picture(
    hidden: str | None, style: str | None, width: str | None, height: str | None, *told: str | None
) -> bool:
    """Whether a picture with these attributes is not shown, or a dot that counts readers.

    A dot has no text and no further address (`told`): pages give such sizes to pictures that their
    style sheet lays out. A transparent colour hides none: Next.js gives it to all.

    >>> hides_picture(None, "top: 0; display: none", "9", "9"), hides_picture("", None, None, None)
    (True, True)
    >>> hides_picture(None, None, "1", "1", ""), hides_picture(None, None, "1", "1", "The quay")
    (True, False)
    """
    if hidden is not None or (style and shows_nothing(style)):
        return True
    return not any(told) and {width, height} <= _OF_DOTS


def fallback_source(image: _Element, skipped: frozenset[str]) -> str:
    """The address of what stands for an image with a placeholder: its first SOURCE, its NOSCRIPT.

    That is the only picture in the NOSCRIPT right behind it. Empty where there is none, or where
    NOSCRIPT is read itself.
    """
    if address := _first_source(image):
        return address
    behind = image.getnext()
    if behind is None or behind.tag != "noscript" or "noscript" not in skipped:
        return ""
    images = list(behind.iter("img"))
    if len(images) != 1 or hides_picture(*map(images[0].get, HIDING_PICTURES)):
        return ""
    return _address(images[0])


def _first_source(image: _Element) -> str:
    """The address of the first SOURCE before an image; libxml2 puts what follows one into it."""
    found, node = "", image
    for _ in range(_MOST_SOURCES):
        before = node.getprevious()
        above = before if before is not None else node.getparent()
        if above is None or above.tag != "source":
            break
        node = above
        found = _address(node) or found
    return found


def _address(picture: _Element) -> str:
    """The address that an IMG or a SOURCE shows; empty for a placeholder, or a script's to fill."""
    _, shown = image_sources(*map(picture.get, IMAGE_SOURCES))
    return "" if is_placeholder(shown) or "{" in shown else shown
