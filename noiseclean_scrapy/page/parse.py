"""HTML of any kind to an lxml element: decoding, parsing, and what the parser lost."""

from __future__ import annotations

import codecs
import html
import re
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lxml import etree
from lxml.html import html_parser
from w3lib.encoding import (
    html_body_declared_encoding,
    html_to_unicode,
    read_bom,
    resolve_encoding,
    to_unicode,
)

from noiseclean_scrapy.page.budget import DEFAULT_BUDGET, PageBudget
from noiseclean_scrapy.page.sources import Html, is_charset, load, other_than_html
from noiseclean_scrapy.page.tags import local_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from charset_normalizer import CharsetMatch, CharsetMatches
    from lxml.etree import _Element

_FOLLOWS_HTML = etree.LIBXML_VERSION >= (2, 14)
_BLANKS = " \t\n\f\r"
_GAP = 1000
_CONTENT_LOST = 0.05
_CHARACTERS_LOST = 200
_MARKUP_MEASURED = 1_000_000
_LONG_REFERENCE = re.compile(r"&#\d{100,};?")
_MOST_DAMAGED = 0.1
"""Share of the other characters than ASCII; of those of Chinese in GB 18030 it is far more."""
_LEAST_WHOLE = 0.75
"""Share of the texts, in bytes, that a charset has to explain to the last byte."""
_CHARSET_BYTES = 1 << 16
_PIECE_BYTES = 2048
_TELLING_BYTES = 4096
_EAST_ASIAN = ["gb18030", "big5", "cp932", "euc_jp", "iso2022_jp", "cp949"]
_WEB_CHARSETS = [
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
    *("iso8859_2", "iso8859_5", "iso8859_7", "koi8_r", "koi8_u", "cp874"),
    *_EAST_ASIAN,
]
"""The charsets of the web (https://encoding.spec.whatwg.org), without those that are rare."""
_WESTERN = "cp1252"
_NOT_WESTERN = frozenset(
    "Bulgarian Croatian Czech Greek Hebrew Hungarian Latvian Lithuanian Polish Romanian Russian "
    "Slovak Slovene Turkish Vietnamese".split()
)
_CONTROL = re.compile(b"\xc2[\x80-\x9f]")
"""In UTF-8 one of the control characters that no page means: C1."""
_CAPITALS = "A-Z\xc0-\xde"
# A capital before a quotation mark, a dash or dots of Windows at the end of a word is no such pair.
_ENCODED_TWICE = re.compile(
    rf"(?:(?<![{_CAPITALS}])[\xc2-\xc5][\x80-\xbf]|[\xc2-\xc5][\x80-\x84\x86-\x90\x98-\xbf]"
    r"|[\xc2-\xc5][\x85\x91-\x97](?=[^\W\d_])|(?:[\xce-\xd9][\x80-\xbf]){2,}"
    r"|[\xe2\xef][\x80-\xbf]{2}|\xf0[\x80-\xbf]{3})+"
)
"""UTF-8 read as Latin-1: letters of Europe and the Near East, punctuation, signs, emoji."""
_LATIN_TWICE = re.compile(rf"\xc2[\xa0-\xbf]|(?<![{_CAPITALS}])\xc3[\xa0-\xbf]")
_C1 = re.compile("[\x80-\x9f]")
_WINDOWS = {
    character: meant
    for character in map(chr, {*range(0x80, 0xA0)} - {0x85})
    if (meant := character.encode("latin-1").decode("cp1252", "ignore"))
}
_ADDRESS = re.compile(
    r"""\b(?:href|src|srcset|action)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+)|https?://[^\s"'<>]+""",
    re.IGNORECASE,
)
_DAMAGED = re.compile("[\x80-\x9f\xc2\xc3]")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_MOST_TIMES, _SHORT_RUN = 3, 8
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
    is_whole = not text or (root is not given and _has_lost_nothing(root, text))
    return ParsedHtml(root, 0 if is_whole else characters_lost(root, text or ""))


def _parse_markup(source: bytes | str, budget: PageBudget) -> ParsedHtml:
    if other := other_than_html(source):
        return ParsedHtml(_nothing(), 0, other=other)
    if isinstance(source, bytes):
        data = budget.cut_bytes(source)
        parsed = _parse_markup(decode(data), budget)
        return replace(parsed, truncated=True) if data is not source else parsed
    part = budget.cut_text(source)
    read = mended(part) if budget.mended else part
    tree, is_verbatim = _parse_text(read)
    is_whole = is_verbatim and _has_lost_nothing(tree, read)
    lost = 0 if is_whole else characters_lost(tree, read)
    return ParsedHtml(tree, lost, len(part) < len(source))


def _nothing() -> _Element:
    return etree.fromstring("<html><body/></html>", etree.HTMLParser())


def decode(data: bytes) -> str:
    """Text of `data`: UTF-8 where it is that, else in the declared charset, else the best guess.

    >>> page = '<meta charset="windows-1251">Привет'
    >>> decode(page.encode("cp1251")) == decode(page.encode()) == page
    True
    """
    name = "utf-8" if is_utf8(data) else _declared(data)
    if name and not is_charset(name):
        return to_unicode(data, guessed_charset(data))
    header = f"charset={name}" if name else None
    return html_to_unicode(header, data, auto_detect_fun=guessed_charset)[1]


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are UTF-8, which may be cut off in a character, and not plain ASCII.

    No other encoding looks like it by chance, even if some of its characters are damaged. Pages
    that a browser or a program has saved are UTF-8, whatever their META still says.
    """
    try:
        return not codecs.utf_8_decode(data, "strict", False)[0].isascii()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        damaged = text.count("\ufffd")
        others = len(text) - len(text.encode("ascii", "ignore"))
        return damaged <= _MOST_DAMAGED * others


def _declared(data: bytes) -> str | None:
    """The charset that META or XML declares, as browsers take it, for what is no UTF-8."""
    if read_bom(data)[0]:
        return None
    # w3lib looks at 4096 bytes at a time; a declaration that one piece cuts is whole in the next.
    starts = range(0, min(len(data), _CHARSET_BYTES), _PIECE_BYTES)
    pieces = (data[start : start + 2 * _PIECE_BYTES] for start in starts)
    name = next(filter(None, map(html_body_declared_encoding, pieces)), None)
    return "utf-8" if name and is_wrongly_wide(name, data) else name


def is_wrongly_wide(charset: str, data: bytes) -> bool:
    """Whether a charset of two or four bytes a letter is named, which programs do that wrote text.

    Markup has letters of ASCII, and so bytes that are 0.
    """
    return charset.startswith(("utf-16", "utf-32")) and b"\0" not in data


def mended(text: str) -> str:
    """The text with the letters and signs that stand behind control characters, if there are any.

    They come from UTF-8 that was encoded twice, and from bytes of cp1252 taken for Latin-1.
    Addresses stay those that a browser asks for.

    >>> mended("the city\x92s fog"), mended("the cityâ\x80\x99s fog")
    ('the city’s fog', 'the city’s fog')
    """
    for _ in range(_MOST_TIMES):
        if not _has_control(text):
            return text
        text = _ADDRESS.sub(_quoted, text)
        once = _ENCODED_TWICE.sub(_decoded_run, text)
        if once == text:
            break
        text = _LATIN_TWICE.sub(lambda pair: _decoded_short(pair[0]), once)
    for character, meant in _WINDOWS.items():
        text = text.replace(character, meant)
    return text


def _has_control(text: str) -> bool:
    """Whether there is a control character of C1; bytes take a tenth of the time that text does."""
    return not text.isascii() and bool(_CONTROL.search(text.encode("utf-8", "replace")))


def _quoted(address: re.Match[str]) -> str:
    """An address with its bytes in UTF-8, where it holds what would be mended."""
    if not _DAMAGED.search(address[0]):
        return address[0]
    return _NOT_ASCII.sub(lambda part: quote(part[0], errors="replace"), address[0])


def _decoded_run(found: re.Match[str]) -> str:
    """What a run of bytes is in UTF-8, where a control character shows that it is none of text."""
    run = found[0]
    if not _C1.search(run):
        return run
    return _decoded_short(run) if len(run) <= _SHORT_RUN else _decoded(run)


def _decoded(run: str) -> str:
    try:
        return run.encode("latin-1").decode()
    except UnicodeDecodeError:
        return run


_decoded_short = lru_cache(maxsize=1000)(_decoded)


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

    libxml2 drops all below its depth limit, and the rest of a page after an unclosed
    quote, in silence. The source
    is read by a regular expression that follows HTML's tokenizer; white space does not count.
    Not measured (0) on pages with a million tags.

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


def _opens_value(text: str, at: int) -> bool:
    """Whether the quote at this position may follow a sign of equality."""
    before = text[max(0, at - _GAP) : max(0, at)]
    return before.rstrip(_BLANKS)[-1:] == "=" or (len(before) == _GAP and before.isspace())


def _parse_text(text: str) -> tuple[_Element, bool]:
    """The root, and whether the parser was given the text as it is."""
    try:
        try:
            return _root(text), True
        except UnicodeEncodeError:  # lxml refuses lone surrogates
            clean = text.encode("utf-8", "replace").decode()
            return _root(clean), False
    except (etree.LxmlError, ValueError, AssertionError):
        return _nothing(), False


def _root(text: str) -> _Element:
    """As `parsel.Selector` makes it."""
    data = text.strip().replace("\0", "").encode() or b"<html/>"
    parser = etree.HTMLParser(recover=True, encoding="utf-8", huge_tree=True)
    root = etree.fromstring(data, parser)
    return etree.fromstring(b"<html/>", parser) if root is None else root


def guessed_charset(data: bytes) -> str:
    """The charset of what is no UTF-8 and declares none: the best guess."""
    if data.isascii():
        return _WESTERN
    from charset_normalizer import from_bytes

    detect = partial(from_bytes, cp_isolation=_WEB_CHARSETS)
    texts = _telling(data)
    best = (matches := detect(b"\n".join(texts))).best() or _of_the_damaged(texts)
    best = best or (matches := detect(data)).best()
    # Where none explains a text, or several do so equally well, the one that most of the web had,
    # unless the language is written in another one.
    if best is None or (best.language not in _NOT_WESTERN and _explains(matches, best)):
        return _WESTERN
    return resolve_encoding(best.encoding) or _WESTERN


def _explains(matches: CharsetMatches, best: CharsetMatch) -> bool:
    """Whether the charset of the West explains a text as well as the best one."""
    return any(
        match.encoding == _WESTERN
        and abs(match.chaos - best.chaos) < 0.005
        and abs(match.coherence - best.coherence) <= 0.02
        for match in matches
    )


def _of_the_damaged(texts: Sequence[bytes]) -> CharsetMatch | None:
    """The best guess where most texts, but not all, are whole in a charset of East Asia.

    A byte that is missing or too much turns all of the page into letters of the West otherwise.
    """
    from charset_normalizer import from_bytes

    lines = [line for text in texts for line in text.splitlines()]
    least = _LEAST_WHOLE * sum(map(len, lines))
    found = []
    for charset in _EAST_ASIAN:
        whole = [line for line in lines if _is_whole(line, charset)]
        if sum(map(len, whole)) >= least:
            found.append(from_bytes(b"\n".join(whole), cp_isolation=[charset]).best())
    return min(filter(None, found), key=lambda match: match.chaos, default=None)


def _is_whole(text: bytes, charset: str) -> bool:
    try:
        text.decode(charset)
    except UnicodeDecodeError:
        return False
    return True


def _telling(data: bytes) -> list[bytes]:
    """The first texts that are not plain ASCII, or all where there are none."""
    found: list[bytes] = []
    size = 0
    for piece in data.split(b"<"):
        text = piece.rpartition(b">")[2]
        if not text.isascii():
            found.append(text)
            size += len(text)
            if size >= _TELLING_BYTES:
                break
    return found or [data]


def _text_length(root: _Element) -> int:
    hidden = sum([_length(inner_text(node)) for node in root.iter(*_RAW_TEXT)])
    return _length(inner_text(root)) - hidden


def _length(text: str) -> int:
    return len("".join(text.split())) - text.count("\0")  # which the parser leaves out
