"""What a page's metadata says of its content: the description, and the article in JSON-LD."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lxml.etree import _Element

_DESCRIPTIONS = frozenset({"description", "og:description", "twitter:description"})
_BODIES = ("articleBody", "reviewBody")
_DEEPEST = 20


def description(root: _Element) -> str:
    """The longest of the page's META descriptions.

    >>> from lxml.html import document_fromstring
    >>> description(document_fromstring('<meta name="description" content="A flood. "><p>It rose.'))
    'A flood.'
    """
    found = [
        " ".join(node.get("content", "").split())
        for node in root.iter("{*}meta")
        if (node.get("name") or node.get("property") or "").lower() in _DESCRIPTIONS
    ]
    return max(found, key=len, default="")


def declared_body(root: _Element) -> str:
    """The article's text as JSON-LD gives it; empty where there is none or it cannot be read.

    >>> from lxml.html import document_fromstring
    >>> page = '<script type="application/ld+json">{"articleBody": "It rose."}</script>'
    >>> declared_body(document_fromstring(page))
    'It rose.'
    """
    found: list[str] = []
    for node in root.iter("{*}script"):
        if node.get("type", "").lower() == "application/ld+json" and "Body" in (node.text or ""):
            try:
                value = json.loads(node.text or "", strict=False)
            except (ValueError, RecursionError):
                continue
            found += _bodies(value, 0)
    return " ".join(unescape(max(found, key=len, default="")).split())


def _bodies(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield from (text for key in _BODIES if isinstance(text := value.get(key), str))
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _bodies(part, depth + 1)
