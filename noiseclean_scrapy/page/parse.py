"""HTML of any kind to an lxml element: decoding, parsing, and what the parser lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from lxml import etree, html
from parsel import Selector
from parsel.selector import create_root_node
from w3lib.encoding import html_to_unicode, resolve_encoding

if TYPE_CHECKING:
    from lxml.etree import _Element

Html: TypeAlias = "bytes | str | Selector | _Element"
"""What every public function of the project takes as a page."""

_CONTENT_LOST = 0.05
_CHARACTERS_LOST = 200
_MARKUP = re.compile(
    r"<!--.*?-->|<(script|style|noscript|title|textarea|svg)\b.*?</\1\s*>|<[a-zA-Z/!?][^>]*>|&\w+;",
    re.DOTALL | re.IGNORECASE,
)
_NOT_TEXT = ("script", "style", "noscript", "title", "textarea", "svg")
_WHITE_SPACE = re.compile(r"\s+")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


@dataclass(frozen=True, slots=True)
class ParsedHtml:
    """The document's root element, and how many characters of text the parser cut off (about)."""

    root: _Element
    characters_lost: int


def parse_html(source: Html, *, text: str | None = None) -> ParsedHtml:
    """Parse `source`; a parsed one (selector or element) is used as it is, never parsed again.

    Bytes are decoded as Scrapy does without headers: byte order mark, declared charset, UTF-8,
    Windows-1252. `text` is the source of an already parsed page, where the caller has it: with
    it, lost text is noticed. Never raises on any bytes, text, selector or element.
    """
    if isinstance(source, bytes):
        source = decode(source)
    if isinstance(source, str):
        root = _parse_text(source)
        return ParsedHtml(root, characters_lost(root, source))
    root = source.root if isinstance(source, Selector) else source
    if not etree.iselement(root):  # a selector of a text node, an attribute or of JSON
        return parse_html(root if isinstance(root, str) else "")
    return ParsedHtml(root, characters_lost(root, text) if text else 0)


def decode(data: bytes) -> str:
    """Text of `data`, its encoding found as in `scrapy.http.TextResponse` without headers."""
    return html_to_unicode(None, data, auto_detect_fun=_detect, default_encoding="utf-8")[1]


def characters_lost(root: _Element, text: str) -> int:
    """Characters of text in the source `text` that are missing in the tree; 0 for small losses.

    libxml2 drops whole parts of some broken pages, and all below its depth limit, in silence.
    The source is read by a regular expression, so small differences mean nothing.
    """
    expected = _length(_MARKUP.sub(" ", text))
    if expected < _CHARACTERS_LOST:
        return 0
    lost = expected - sum(map(_length, _texts(root)))
    return lost if lost >= max(_CHARACTERS_LOST, _CONTENT_LOST * expected) else 0


def _parse_text(text: str) -> _Element:
    # lxml refuses lone surrogates, and text with an XML encoding declaration in some paths.
    clean = _DECLARATION.sub("", text.encode("utf-8", "replace").decode("utf-8"))
    try:
        return create_root_node(clean, html.HTMLParser)
    except (etree.LxmlError, ValueError, AssertionError):
        return html.document_fromstring("<html><body></body></html>")


def _detect(data: bytes) -> str | None:
    for encoding in ("utf-8", "cp1252"):
        try:
            data.decode(encoding)
        except UnicodeError:
            continue
        return resolve_encoding(encoding)
    return None


def _texts(root: _Element) -> Iterator[str]:
    skipped = frozenset(_NOT_TEXT)
    for node in root.iter():
        if isinstance(node.tag, str) and node.text and node.tag not in skipped:
            yield node.text
        if node.tail and node is not root:
            parent = node.getparent()
            if parent is None or parent.tag not in skipped:
                yield node.tail


def _length(text: str) -> int:
    return len(_WHITE_SPACE.sub("", text))
