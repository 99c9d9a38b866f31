"""What a page may be given as, and what was given where that is no page."""

from __future__ import annotations

import codecs
import re
import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

if TYPE_CHECKING:
    from parsel import Selector
    from scrapy.http import Response
    from typing_extensions import TypeIs


class Parsed(Protocol):
    """An lxml element, as a type checker sees it with and without stubs."""

    def getroottree(self) -> Any: ...


class Readable(Protocol):
    """A file that is opened for reading, of bytes or of text."""

    def read(self, size: int = ..., /) -> bytes | str: ...


Html: TypeAlias = (
    "bytes | bytearray | memoryview | str | Path | Readable | Response | Selector | Parsed"
)
"""What every public function of the project takes as a page."""

HTML_TYPES = ("text/html", "application/xhtml+xml")
SNIFFED_BYTES = 1024
_HTML_START = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"[\w!#$%&'*+.^`|~-]+/[\w!#$%&'*+.^`|~-]+", re.ASCII)
_CODECS = frozenset({"idna", "punycode", "utf-7"})
"""Codecs of text that are no charset of a page; punycode takes quadratic time."""
_EXPECTED = (
    "a page is bytes, str, a Path, a file opened for reading, a Scrapy response, a parsel Selector "
    "or an lxml element"
)
_HEAD = 4096
_MEASURED = 1024
_CONTROLS = frozenset(map(chr, {*range(1, 32)} - {*b"\t\n\f\r\x1b"}))
_MOST_CONTROLS = 0.05  # of compressed data they are a tenth
_FEW_CONTROLS = 40
ADDRESS = "an address or file name"
"""What is given in place of a page now and then."""
_LONGEST_NAME = 2000
_NAME = re.compile(r"https?://[^\s<]+|[^\s<]+\.x?html?")
_UTF16 = (BOM_UTF16_LE, BOM_UTF16_BE)
# Decoded text is recognised as well: HIGH stands for what becomes of bytes above 127.
_SIGNATURES = {
    "PDF": r"\s{0,20}%PDF-",
    "PostScript": r"%!PS",
    "RTF": r"\{\\rtf",
    "PNG image": r"HIGHPNG\r\n\x1a",
    "JPEG image": r"\xff\xd8\xff|HIGH..(?:JFIF|Exif)",
    "GIF image": r"GIF8[79]a",
    "WebP image": r"RIFF.{4}WEBP",
    "TIFF image": r"II\*\0|MM\0\*",
    "BMP image": r"BM.{4}\0\0\0\0",
    "icon": r"\0\0[\x01\x02]\0",
    "AVIF or HEIC image": r".{4}ftyp(?:avif|hei|mif1|msf1)",
    "MP4 video": r".{4}ftyp",
    "Matroska video": r"\x1aEHIGH",
    "AVI video": r"RIFF.{4}AVI ",
    "WAVE audio": r"RIFF.{4}WAVE",
    "MP3 audio": r"ID3[\x02-\x04]\0",
    "Ogg audio or video": r"OggS\0",
    "FLAC audio": r"fLaC\0",
    "font": r"wOF[F2]\0|OTTO\0|\0\x01\0\0\0",
    "ZIP archive": r"PK(?:\x03\x04|\x05\x06)",
    "gzip archive": r"\x1fHIGH\x08",
    "bzip2 archive": r"BZh[1-9](?:1AY&SY|\x17rE)",
    "xz archive": r"HIGH7zXZ\0",
    "7z archive": r"7zHIGH'\x1c",
    "RAR archive": r"Rar!\x1a\x07",
    "tar archive": r"[^\0<]{1,100}\0.{156,256}ustar",
    "Office document": r"HIGH\x11HIGH\x1a",
}
# All in one: the first that matches counts, as if they were tried in turn.
_SIGNATURE = re.compile(
    "|".join(f"({signature})" for signature in _SIGNATURES.values()).replace(
        "HIGH", r"[^\0-\x7f]{1,5}"
    ),
    re.DOTALL,
)
_TAG = re.compile(r"\s*<[!?a-z]", re.IGNORECASE)
_FEEDS = {
    "rss": "RSS feed",
    "rdf": "RSS feed",
    "feed": "Atom feed",
    "urlset": "sitemap",
    "sitemapindex": "sitemap",
    "opml": "OPML",
}
_XML_ROOT = re.compile(
    r"""\s* (?: (?: <\?(?:(?!\?>).)*\?> | <!--(?:(?!-->).)*--> | <!doctype[^>]*> ) \s* )*
    <(?:\w{1,20}:)? (?: (FEEDS)[\s>/] | (svg)\s )""".replace("FEEDS", "|".join(_FEEDS)),
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_JSON_OBJECT = re.compile(r'\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}\s*\Z)', re.DOTALL)
_JSON_LIST = re.compile(r'\s*\[\s*(?:[\[\]{"]|-?\d[\d.eE+-]*\s*[,\]]|(?:true|false|null)\s*[,\]])')


def load(source: Html, most: int) -> bytes | str | Selector | Parsed:
    """The markup of files and responses, one character beyond `most`; what is parsed as it is.

    The text of a response is decoded as Scrapy does. Raises TypeError for what cannot be a page and
    OSError for a file that cannot be read.
    """
    if isinstance(source, (bytes, str)):
        return source
    if isinstance(source, (bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, Path):
        with source.open("rb") as file:
            return _read(file, most + 1)
    if is_response(source):
        return _text_of(source) if _is_a("scrapy.http", "TextResponse", source) else source.body
    if _is_a("parsel", "Selector", source) or hasattr(source, "getroottree"):
        return cast("Selector | Parsed", source)
    if hasattr(source, "getroot"):  # lxml's ElementTree
        root = source.getroot()
        return "" if root is None else cast("Parsed", root)
    if callable(getattr(source, "read", None)):
        return _read(cast("Readable", source), most + 1)
    hint = "; give its bytes (.content)" if hasattr(source, "content") else ""
    raise TypeError(f"{_EXPECTED}, not {_shown(source)}{hint}")


def is_charset(name: str) -> bool:
    """Whether pages may be in what is named, which may be any of Python's codecs, or nothing.

    >>> [is_charset(name) for name in ("koi8-r", "base64", "punycode", "martian")]
    [True, False, False, False]
    """
    try:
        b" ".decode(name, "replace")
    except (LookupError, ValueError):
        return False
    return codecs.lookup(name).name not in _CODECS


def _text_of(response: Any) -> bytes | str:
    is_readable = is_charset(response.encoding)
    return cast("str", response.text) if is_readable else cast("bytes", response.body)


def address(source: Html) -> str:
    """The address of a response; of nothing else is it known."""
    return source.url if is_response(source) else ""


def is_response(source: Any) -> TypeIs[Response]:
    """Whether the source is a Scrapy response. Whoever has one has imported Scrapy."""
    return _is_a("scrapy.http", "Response", source)


def content_type(header: str) -> str:
    """What browsers take a Content-Type for: the last that is one of a list; empty if none is.

    >>> content_type("Text/HTML,charset=utf-8"), content_type("text/html; a=b, image/png, */*")
    ('text/html', 'image/png')
    >>> content_type('"text/html"')
    ''
    """
    named = (part.partition(";")[0].strip().lower() for part in header.split(","))
    valid = [name for name in named if _MEDIA_TYPE.fullmatch(name) and name != "*/*"]
    return valid[-1] if valid else ""


def begins_as_html(data: bytes) -> bool:
    """Whether a body says itself that it is HTML, near its beginning."""
    return _HTML_START.search(data[:SNIFFED_BYTES]) is not None


def other_than_html(source: bytes | str) -> str:
    r"""What the source is if it is no page: PDF, JSON, an image, an archive, a feed; else empty.

    >>> other_than_html(b"%PDF-1.7 "), other_than_html("[{}]"), other_than_html("<p>Fog</p>")
    ('PDF', 'JSON', '')
    >>> other_than_html('<?xml version="1.0"?><rss version="2.0"><channel>')
    'RSS feed'
    """
    head = source[:_HEAD]
    if isinstance(head, bytes):
        if head.startswith(_UTF16):
            return ""
        head = head.removeprefix(BOM_UTF8).decode("latin-1")
    head = head.removeprefix("\ufeff")
    if signature := _SIGNATURE.match(head):
        return list(_SIGNATURES)[(signature.lastindex or 0) - 1]
    start = head[:_MEASURED]
    if not _TAG.match(head) and sum(map(start.count, _CONTROLS)) > max(
        _MOST_CONTROLS * len(start), _FEW_CONTROLS
    ):
        return "binary data"
    if root := _XML_ROOT.match(head):
        if root[1]:
            return _FEEDS[root[1].lower()]
        return "SVG image" if _ends_with(source, "</svg>") else ""
    if _JSON_OBJECT.match(head) or (_JSON_LIST.match(head) and _ends_with(source, "]")):
        return "JSON"
    if len(source) <= _LONGEST_NAME and _NAME.fullmatch(head.strip()):
        return ADDRESS
    return ""


def _ends_with(source: bytes | str, end: str) -> bool:
    last = source[-_HEAD:].rstrip()
    return last.endswith(end) if isinstance(last, str) else last.endswith(end.encode())


def _read(file: Readable, size: int) -> bytes | str:
    """So much of a file, or all of it: one that is not buffered may give less at a time."""
    pieces: list[Any] = [file.read(size)]
    if not isinstance(pieces[0], (bytes, str)):
        raise TypeError(f"{_EXPECTED}, not a file that gives {_shown(pieces[0])}")
    left = size - len(pieces[0])
    while pieces[-1] and left > 0:
        pieces.append(file.read(left))
        left -= len(pieces[-1])
    joined: bytes | str = type(pieces[0])().join(pieces)
    return joined


def _is_a(module: str, name: str, source: Any) -> bool:
    return isinstance(source, getattr(sys.modules.get(module), name, ()))


def _shown(source: Any) -> str:
    return "None" if source is None else type(source).__name__
