"""Bytes of any kind to text: charsets declared or guessed, characters put right."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from w3lib.encoding import (
    html_body_declared_encoding,
    html_to_unicode,
    read_bom,
    resolve_encoding,
    to_unicode,
)

from noiseclean_scrapy.page.sources import is_charset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from charset_normalizer import CharsetMatch, CharsetMatches

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
_WRITTEN_WITHOUT_BLANKS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d"
    "\u1780-\u17d3\u17d7"
)
"""Letters of Thai, Lao, Burmese and Khmer, and the marks on them."""
# It begins with a character, not with what stands before it: a search takes a tenth of the time.
_WITHIN_PHRASE = re.compile(
    f"\u200b(?<=[{_WRITTEN_WITHOUT_BLANKS}]\u200b)\u200b*(?=[{_WRITTEN_WITHOUT_BLANKS}])"
)
_SHIFTS = (b"\0", b"\x1b", b"~{")
"""What charsets that need seven bits have besides ASCII: UTF-16, ISO-2022-JP and its kin, HZ."""
_DAMAGED = re.compile("[\x80-\x9f\xc2\xc3]")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_MOST_TIMES, _SHORT_RUN = 3, 8


def decode(data: bytes) -> str:
    """Text of `data`: UTF-8 where it is that, else in the declared charset, else the best guess.

    >>> page = '<meta charset="windows-1251">Привет'
    >>> decode(page.encode("cp1251")) == decode(page.encode()) == page
    True
    """
    if (text := whole_utf8(data)) is not None:
        return text
    if data.isascii() and not any(shift in data for shift in _SHIFTS):
        return data.decode("ascii")  # as in each charset of the web
    name = "utf-8" if is_utf8(data) else _declared(data)
    if name and not is_charset(name):
        return to_unicode(data, guessed_charset(data))
    header = f"charset={name}" if name else None
    return html_to_unicode(header, data, auto_detect_fun=guessed_charset)[1]


def whole_utf8(data: bytes) -> str | None:
    """The text of bytes that are UTF-8 to the last one; None for plain ASCII and after a mark.

    >>> whole_utf8("Fog über Porto".encode()), whole_utf8(b"Fog")
    ('Fog über Porto', None)
    """
    if data.isascii() or data.startswith(codecs.BOM_UTF8):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


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


def without_hidden_blanks(text: str) -> str:
    """The text without blanks of no width (U+200B) between letters of Khmer and the like.

    These languages have no blanks between words: such a one is where a line may end.
    """
    return _WITHIN_PHRASE.sub("", text) if "\u200b" in text else text


def mended(text: str, data: bytes | None = None) -> str:
    """The text with the letters and signs that stand behind control characters, if there are any.

    They come from UTF-8 that was encoded twice, and from bytes of cp1252 taken for Latin-1.
    Words of Khmer and the like, which have no blanks between them, have none without width either.
    Addresses stay those that a browser asks for. `data` are the bytes of UTF-8 that the text was
    decoded from, if it was: it takes ten times as long to make them.

    >>> mended("the city\x92s fog"), mended("the cityâ\x80\x99s fog")
    ('the city’s fog', 'the city’s fog')
    """
    if (joined := without_hidden_blanks(text)) != text:
        text, data = joined, None
    for _ in range(_MOST_TIMES):
        if not _has_control(text, data):
            return text
        data = None
        text = _ADDRESS.sub(_quoted, text)
        once = _ENCODED_TWICE.sub(_decoded_run, text)
        if once == text:
            break
        text = _LATIN_TWICE.sub(lambda pair: _decoded_short(pair[0]), once)
    for character, meant in _WINDOWS.items():
        text = text.replace(character, meant)
    return text


def _has_control(text: str, data: bytes | None) -> bool:
    """Whether there is a control character of C1; bytes take a tenth of the time that text does."""
    if text.isascii():
        return False
    data = text.encode("utf-8", "replace") if data is None else data
    return b"\xc2" in data and bool(_CONTROL.search(data))


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
