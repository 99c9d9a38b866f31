"""Reading the HTML pages of web archives: WARC (ISO 28500) and WACZ files, as streams."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import quote

from noiseclean_scrapy.batch.addresses import made_up_url, slug, web_host
from noiseclean_scrapy.batch.archived_page import ArchivedPage, ProblemLog
from noiseclean_scrapy.errors import ArchiveError

RawStream: TypeAlias = BufferedReader | zipfile.ZipExtFile
HTML_TYPES = ("text/html", "application/xhtml+xml")
UNTOLD_TYPES = ("", "*/*", "application/octet-stream", "application/xml", "text/xml")
"""Content types that leave open whether the content is HTML."""
HTML_START = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
SNIFFED_BYTES = 1024
GZIP_MAGIC = b"\x1f\x8b"
DECODED = ("content-encoding", "transfer-encoding", "content-length")
"""Headers that describe the bytes on the wire and not the body they were decoded to."""


def read_warc(path: Path, problems: ProblemLog) -> Iterator[ArchivedPage]:
    """The HTML pages of a .warc or .warc.gz file, in its order; see `read_warc_stream`."""
    _check_warcio()
    return _read_opened(path, read_warc_stream, problems)


def read_wacz(path: Path, problems: ProblemLog) -> Iterator[ArchivedPage]:
    """The HTML pages of all WARC files in a .wacz file, by the files' names."""
    _check_warcio()
    try:
        with path.open("rb") as stream:
            _wacz_members(stream, path.name)
    except OSError as error:
        raise ArchiveError(f"{str(path)!r} cannot be read: {error.strerror}.") from error
    return _read_opened(path, read_wacz_stream, problems)


def read_warc_stream(stream: RawStream, name: str, problems: ProblemLog) -> Iterator[ArchivedPage]:
    """The HTML pages of an opened .warc or .warc.gz file called `name`, in its order.

    Pages are ``response`` records with status 200 and ``resource`` and ``conversion`` records, HTML
    by their header or, where that is silent, by their content. Where the file is damaged it ends.
    """
    yield from _read_records(stream, name, problems)


def read_wacz_stream(stream: RawStream, name: str, problems: ProblemLog) -> Iterator[ArchivedPage]:
    """The HTML pages of an opened .wacz file; raises ArchiveError where it is none."""
    members = _wacz_members(stream, name)
    with zipfile.ZipFile(stream) as package:
        for member in members:
            place = f"{name}/{member}"
            try:
                opened = cast(zipfile.ZipExtFile, package.open(member))
            except (OSError, NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
                problems.report("damaged", f"Left out {place}: {error}")
                continue
            with opened:
                yield from _read_records(opened, place, problems)


def _read_opened(
    path: Path,
    read: Callable[[RawStream, str, ProblemLog], Iterator[ArchivedPage]],
    problems: ProblemLog,
) -> Iterator[ArchivedPage]:
    with path.open("rb") as stream:
        yield from read(stream, path.name, problems)


def _wacz_members(stream: RawStream, name: str) -> list[str]:
    try:
        with zipfile.ZipFile(stream) as package:
            names = package.namelist()
    except zipfile.BadZipFile as error:
        raise ArchiveError(f"{name!r} is not a WACZ file: {error}.") from error
    members = sorted(
        name
        for name in names
        if name.startswith("archive/") and name.lower().endswith((".warc", ".warc.gz"))
    )
    if not members:
        raise ArchiveError(f"{name!r} holds no archive/*.warc.gz: it is not a WACZ file.")
    return members


def _read_records(stream: RawStream, place: str, problems: ProblemLog) -> Iterator[ArchivedPage]:
    from warcio.archiveiterator import ArchiveIterator

    source = _TolerantStream(stream)
    records = ArchiveIterator(source)
    record = None
    count = 0
    damage = ""
    while not damage:
        try:
            following = next(records, None)
            if following is None:
                break
            record, count = following, count + 1
            page = _page(record, place)
        # A damaged file can make warcio raise anything (AttributeError without a target URI).
        except Exception as error:
            damage = str(error).strip() or repr(error)
            break
        damage = _damage(record) if page else ""
        if page and not damage:
            yield page
    damage = damage or source.damage or (_damage(record) if record else "")
    if damage:
        problems.report(
            "damaged",
            f"{place} is damaged at or after record {count}, the rest is left out: {damage}",
        )


def _page(record: Any, place: str) -> ArchivedPage | None:
    """The page in the record, read to the record's end; None if there is none in it."""
    is_response = record.rec_type == "response"
    if not is_response and record.rec_type not in ("resource", "conversion"):
        return None
    if is_response and (not record.http_headers or record.http_headers.get_statuscode() != "200"):
        return None
    headers = _headers(record)
    content_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if content_type not in HTML_TYPES + UNTOLD_TYPES:
        return None
    body: bytes = record.content_stream().read()
    record.raw_stream.read()
    if content_type not in HTML_TYPES and not HTML_START.search(body[:SNIFFED_BYTES]):
        return None
    uri = record.rec_headers.get_header("WARC-Target-URI") or ""
    page_id = (record.rec_headers.get_header("WARC-Record-ID") or uri).strip("<>")
    # A resource may have any URI (file:, urn:): its pages are grouped by the file they are in.
    url = uri if web_host(uri) else made_up_url(f"{slug(place)}.invalid", quote(uri or page_id, ""))
    return ArchivedPage(page_id, url, body, headers, fetched_at=_date(record))


def _date(record: Any) -> datetime | None:
    """The record's WARC-Date: ISO 8601 in UTC, with a fraction of a second or without."""
    written = record.rec_headers.get_header("WARC-Date") or ""
    try:
        date = datetime.fromisoformat(written.strip().replace("Z", "+00:00"))
        return (date if date.tzinfo else date.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None


def _headers(record: Any) -> dict[str, str]:
    """The headers that hold for the decoded body."""
    from warcio.bufferedreaders import BufferedReader as DecodingReader

    if not record.http_headers:
        content_type = record.rec_headers.get_header("Content-Type")
        return {"Content-Type": content_type} if content_type else {}
    encoding = (record.http_headers.get_header("Content-Encoding") or "").lower()
    dropped = DECODED if encoding in DecodingReader.get_supported_decompressors() else DECODED[1:]
    headers: dict[str, str] = {}
    for name, value in record.http_headers.headers:
        if name.lower() not in dropped:
            headers.setdefault(name.title(), value)
    return headers


def _damage(record: Any) -> str:
    """What is wrong with a record that has been read to its end, in words; mostly nothing."""
    length = record.rec_headers.get_header("Content-Length") or ""
    if not length.strip().isdigit():
        return f"no valid Content-Length in the record's header, got {length!r}"
    unread = getattr(record.raw_stream, "limit", 0)
    return f"the record is cut off {unread} bytes before its end" if unread else ""


class _TolerantStream:
    """Unzips a stream, ends where it cannot be read any further, and remembers why.

    warcio would print such damage and, in a file that is one gzip member for all records, give up.
    """

    def __init__(self, stream: RawStream) -> None:
        self.damage = ""
        self._stream: RawStream | gzip.GzipFile = stream
        if self._guarded(stream.peek, 2).startswith(GZIP_MAGIC):
            self._stream = gzip.GzipFile(fileobj=stream)

    def read(self, size: int) -> bytes:
        # read1: read would throw away what it holds already when it meets the damage.
        return self._guarded(self._stream.read1, size)

    def _guarded(self, read: Any, size: int) -> bytes:
        if self.damage:
            return b""
        try:
            return bytes(read(size))
        except (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
            self.damage = str(error)
            return b""


def _check_warcio() -> None:
    try:
        import warcio  # noqa: F401
    except ImportError as error:
        raise ArchiveError(
            'Reading WARC and WACZ files needs warcio: pip install "noiseclean-scrapy[warc]"'
        ) from error
