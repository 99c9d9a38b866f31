"""HTML of any kind to an lxml element: parsing, and what the parser lost."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lxml import etree
from lxml.html import html_parser

from noiseclean_scrapy.page.budget import DEFAULT_BUDGET, PageBudget
from noiseclean_scrapy.page.decoding import decode, mended, whole_utf8
from noiseclean_scrapy.page.sources import Html, load, other_than_html
from noiseclean_scrapy.page.tags import local_name

if TYPE_CHECKING:
    from lxml.etree import _Element

_FOLLOWS_HTML = etree.LIBXML_VERSION >= (2, 14)
_BLANKS = " \t\n\f\r"
_STRIPPED = _BLANKS + "\v"
_GAP = 1000
_CONTENT_LOST = 0.05
_CHARACTERS_LOST = 200
_MARKUP_MEASURED = 1_000_000
_END_OF_BREAK = re.compile(r"(?:<br(?:[\s/][^<>]*)?>\s*)?</br[\s/]*>", re.IGNORECASE)
_LONG_REFERENCE = re.compile(r"&#\d{100,};?")
_RAW_TEXT = ("script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp")
_ATTRIBUTES = r"""(?:[^>=]+|=\s*(?:"[^"]*"|'[^']*'|[^\s>"'][^\s>]*)?)*>?"""
# No branch can fail once it has begun, so that the time is linear on any input. A SCRIPT in a
# comment in a SCRIPT does not end the outer one. The first branch is for speed: most tags are so.
_MARKUP = re.compile(
    r"""
      </? (?!script|RAW_TEXT) [a-z] [^<>"'=]* (?: ="[^"]*" [^<>"'=]* )* >
    | <!-- (?: -?> | .*? (?: --!?> | \Z ) )
    | <script (?=[\s/>]) ATTRIBUTES
      (?: [^<]+
        | <!-- (?: [^<>]+ | (?<!--)> | <(?!/?script[\s/>])
                 | <script[\s/>] (?: [^<>]+ | (?<!--)> | <(?!/script[\s/>]) )* (?: </script )?
               )* >?
        | <(?!/script[\s/>]|!--)
      )* (?: </script ATTRIBUTES )?
    | <(RAW_TEXT) (?=[\s/>]) ATTRIBUTES .*? (?: </\1 (?=[\s/>]) ATTRIBUTES | \Z )
    | </?[a-z] ATTRIBUTES
    | <[!?/] [^>]* >?
    """.replace("ATTRIBUTES", _ATTRIBUTES).replace("RAW_TEXT", "|".join(_RAW_TEXT[1:])),
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class ParsedHtml:
    """The document's root element, and how many characters of text the parser cut off.

    `truncated` tells that markup beyond the budget was not given to the parser, `other` what the
    source is where it is not HTML; nothing is read of it.
    """

    root: _Element
    characters_lost: int
    truncated: bool = False
    other: str = ""


def parse_html(
    source: Html, *, text: str | None = None, budget: PageBudget = DEFAULT_BUDGET
) -> ParsedHtml:
    """Parse `source`; a parsed one (selector or element) is used as it is, never parsed again.

    Bytes are decoded by `decode`: byte order mark, UTF-8 where they are that, declared charset,
    else the best guess. `text` is the source of an already parsed page, where the caller has it:
    with it, lost text is noticed. Of bytes and text no more than the budget is parsed. Never raises
    on any bytes, text, response, selector or element; see `load` for what else it may be.
    """
    given = load(source, budget.markup)
    if isinstance(given, (bytes, str)):
        return _parse_markup(given, budget)
    root: Any = getattr(given, "root", given)
    if isinstance(root, str):  # a selector of a text node or an attribute
        return _parse_markup(root, budget)
    if not etree.iselement(root) or not isinstance(root.tag, str):  # of JSON; a comment
        return ParsedHtml(_nothing(), 0, other="JSON" if isinstance(root, (dict, list)) else "")
    if other := other_than_html(text or f"<{local_name(root.tag)} "):
        return ParsedHtml(_nothing(), 0, other=other)
    # A selector has a parser of its own; that of an element may have read others since.
    has_own_parser = root is not given
    if text and has_own_parser and budget.mended and root.getparent() is None and _ends_break(root):
        return _parse_text(text, None, budget)
    is_whole = not text or (has_own_parser and _has_lost_nothing(root, text))
    return ParsedHtml(root, 0 if is_whole else characters_lost(root, text or ""))


def _parse_markup(source: bytes | str, budget: PageBudget) -> ParsedHtml:
    if other := other_than_html(source):
        return ParsedHtml(_nothing(), 0, other=other)
    if isinstance(source, str):
        return _parse_text(source, None, budget)
    data = budget.cut_bytes(source)
    text = whole_utf8(data)
    if text is None:
        parsed = _parse_text(decode(data), None, budget)
    else:
        parsed = _parse_text(text, data, budget)
    return replace(parsed, truncated=True) if data is not source else parsed


def _parse_text(text: str, data: bytes | None, budget: PageBudget) -> ParsedHtml:
    """Parse a text; `data` are its bytes in UTF-8, where they are at hand."""
    part = budget.cut_text(text)
    data = data if part is text else None
    read = mended(part, data) if budget.mended else part
    tree, is_verbatim = _tree(read, data if read is part else None)
    if budget.mended and _ends_break(tree):
        read = _END_OF_BREAK.sub("<br>", read)
        tree, is_verbatim = _tree(read, None)
    is_whole = is_verbatim and _has_lost_nothing(tree, read)
    lost = 0 if is_whole else characters_lost(tree, read)
    return ParsedHtml(tree, lost, len(part) < len(text))


def _nothing() -> _Element:
    return etree.fromstring("<html><body/></html>", etree.HTMLParser())


def document_roots(root: _Element) -> list[_Element]:
    """The document's root elements; `root` alone if it stands in the middle of a document.

    There are several where end tags in excess closed HTML: libxml2 puts what follows into another
    HTML element beside the first.
    """
    if root.getparent() is not None:
        return [root]
    return [root, *root.itersiblings(etree.Element)]


def inner_text(root: _Element) -> str:
    """All text in an element, that of scripts too."""
    if not len(root):
        return root.text or ""
    return etree.tostring(root, method="text", encoding="unicode", with_tail=False)


def unescape(text: str) -> str:
    """Character references replaced, by U+FFFD where the number has hundreds of digits."""
    try:
        return html.unescape(text)
    except ValueError:  # int() refuses them
        return html.unescape(_LONG_REFERENCE.sub("\ufffd", text))


def characters_lost(root: _Element, text: str) -> int:
    """Characters of text in the source `text` that are missing in the tree; 0 for small losses.

    libxml2 drops all below its depth limit, and the rest of a page after an unclosed quote, in
    silence. The source is read by a regular expression that follows HTML's tokenizer; white space
    does not count. Not measured (0) on pages with a million tags.

    >>> characters_lost(parse_html("<p>cut").root, "<p>cut" + " off" * 100)
    300
    """
    if len(text) > _MARKUP_MEASURED < max(map(text.count, "<>=")):
        # Each takes 100 bytes of memory.
        return 0
    expected = _length(unescape(_MARKUP.sub(" ", text)))
    if expected < _CHARACTERS_LOST:
        return 0
    lost = expected - sum(map(_text_length, document_roots(root.getroottree().getroot())))
    return lost if lost >= max(_CHARACTERS_LOST, _CONTENT_LOST * expected) else 0


def _has_lost_nothing(root: _Element, text: str) -> bool:
    """Whether it is certain, and cheaply found out, that the parser dropped no text.

    From 2.14 on libxml2 follows HTML's tokenizer, and drops text for two reasons: at its depth
    limit, which is a fatal error in the parser's log, and in silence where the source ends within
    a quoted attribute. There the last quote of its kind is the one that opens the value.
    """
    parser = root.getroottree().parser
    if not _FOLLOWS_HTML or not isinstance(parser, etree.HTMLParser) or parser is html_parser:
        return False  # the log of the parser that all share may be that of another document
    if not len(root) or "\0" in text or len(parser.error_log.filter_from_fatals()):
        return False
    return not any(_opens_value(text, text.rfind(quote)) for quote in "\"'")


def _ends_break(root: _Element) -> bool:
    """Whether the parser met an end tag of BR, which it drops; to browsers that is a BR.

    Its log tells that in a tenth of the time that it takes to look for one in the source.
    """
    parser = root.getroottree().parser
    if not isinstance(parser, etree.HTMLParser) or parser is html_parser:
        return False
    unexpected = parser.error_log.filter_types(etree.ErrorTypes.ERR_TAG_NAME_MISMATCH)
    return any(error.message.endswith(" : br") for error in unexpected)


def _opens_value(text: str, at: int) -> bool:
    """Whether the quote at this position may follow a sign of equality."""
    before = text[max(0, at - _GAP) : max(0, at)]
    return before.rstrip(_BLANKS)[-1:] == "=" or (len(before) == _GAP and before.isspace())


def _tree(text: str, data: bytes | None) -> tuple[_Element, bool]:
    """The root, and whether the parser was given the text as it is."""
    try:
        try:
            return _root(text, data), True
        except UnicodeEncodeError:  # lxml refuses lone surrogates
            clean = text.encode("utf-8", "replace").decode()
            return _root(clean), False
    except (etree.LxmlError, ValueError, AssertionError):
        return _nothing(), False


def _root(text: str, data: bytes | None = None) -> _Element:
    """As `parsel.Selector` makes it."""
    if data is None or _has_other_blanks(text):
        data = text.strip().encode()
    data = data.strip().replace(b"\0", b"") or b"<html/>"
    parser = etree.HTMLParser(recover=True, encoding="utf-8", huge_tree=True)
    root = etree.fromstring(data, parser)
    return etree.fromstring(b"<html/>", parser) if root is None else root


def _has_other_blanks(text: str) -> bool:
    """Whether white space that `bytes.strip` does not know begins or ends a text."""
    inner = text.strip(_STRIPPED)
    return inner[:1].isspace() or inner[-1:].isspace()


def _text_length(root: _Element) -> int:
    hidden = sum([_length(inner_text(node)) for node in root.iter(*_RAW_TEXT)])
    return _length(inner_text(root)) - hidden


def _length(text: str) -> int:
    return len("".join(text.split())) - text.count("\0")  # which the parser leaves out
