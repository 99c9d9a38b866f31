"""The HTML pages of web archives: WARC (ISO 28500) and WACZ files, as streams."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from noiseclean_scrapy.batch.addresses import FolderHosts, made_up_host, made_up_url, web_host
from noiseclean_scrapy.batch.archived_page import ArchivedPage, ProblemLog
from noiseclean_scrapy.batch.streams import BUFFER_BYTES, PositionedStream, Reader, open_file
from noiseclean_scrapy.batch.unpacking import is_text, read_body
from noiseclean_scrapy.errors import ArchiveError, ArchiveReadError, ConfigurationError
from noiseclean_scrapy.page.characters import counted
from noiseclean_scrapy.page.days import read_time
from noiseclean_scrapy.page.sources import (
    HTML_TYPES,
    SNIFFED_BYTES,
    begins_as_html,
    content_type,
)

if TYPE_CHECKING:
    from noiseclean_scrapy.batch.archive_records import Record

UNTOLD_TYPES = ("", "application/octet-stream", "application/xml", "text/xml")
"""Content types that leave open whether the content is HTML."""
_SUCCESS = re.compile("2[0-9][0-9]")
DECODED = ("Content-Encoding", "Transfer-Encoding", "Content-Length")
"""Headers that describe the bytes on the wire and not the body they were decoded to."""
_ZIP_LENGTHS = 26
"""Where the header of a zip's member says how long its last two fields are."""
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What WACZ's members may be; the others unpack a few bytes to gigabytes."""


def read_warc(
    path: Path, problems: ProblemLog, most: int, hosts: FolderHosts
) -> Iterator[ArchivedPage]:
    """The HTML pages of a .warc or .warc.gz file, in its order; see `read_warc_stream`."""
    _check_warcio()
    stream = _opened(path)
    host_of = partial(hosts.of, path.resolve())
    pages = read_warc_stream(stream, path.name, problems, most, host_of=host_of)
    return _closing(stream, pages, path, problems)


def read_wacz(
    path: Path, problems: ProblemLog, most: int, hosts: FolderHosts
) -> Iterator[ArchivedPage]:
    """The HTML pages of all WARC files in a .wacz file, by the files' names."""
    _check_warcio()
    stream = _opened(path)
    try:
        _wacz_members(stream, path.name)
    except ArchiveError:
        stream.close()
        raise
    host_of = partial(hosts.of, path.resolve())
    pages = read_wacz_stream(stream, path.name, problems, most, host_of=host_of)
    return _closing(stream, pages, path, problems)


def read_warc_stream(
    stream: Reader,
    name: str,
    problems: ProblemLog,
    most: int,
    *,
    host_of: Callable[[str], str] = made_up_host,
    rewinds: bool = False,
) -> Iterator[ArchivedPage]:
    """The HTML pages of an opened .warc or .warc.gz file called `name`, in its order.

    Pages are ``response`` records with a status from 200 to 299 and ``resource`` and ``conversion``
    records, HTML by their header or, where that is silent, by their content; of each the first
    `most` bytes. What is damaged is left out. Those without a web address get one below
    `host_of(name)`. `rewinds` as in `Records`.
    """
    from noiseclean_scrapy.batch.archive_records import Records

    return iter(
        Records(
            stream,
            lambda record: _page(record, name, problems, most, host_of),
            lambda damage: problems.report("damaged", f"{name} is damaged: {damage}"),
            rewinds=rewinds,
        )
    )


def read_wacz_stream(
    stream: Reader,
    name: str,
    problems: ProblemLog,
    most: int,
    *,
    host_of: Callable[[str], str] = made_up_host,
) -> Iterator[ArchivedPage]:
    """The HTML pages of an opened .wacz file; raises ArchiveError where it is none."""
    package, members = _wacz_members(stream, name)
    for member in members:
        place = f"{name}/{member.filename}"
        try:
            with _opened_member(package, member, stream) as opened:
                rewinds = member.compress_type != zipfile.ZIP_STORED
                yield from read_warc_stream(
                    opened, place, problems, most, host_of=host_of, rewinds=rewinds
                )
        except (OSError, RuntimeError, ValueError, struct.error, zipfile.BadZipFile) as error:
            problems.report("damaged", f"Left out {place}: {error}")


def _opened(path: Path) -> Reader:
    try:
        return open_file(path)
    except OSError as error:
        raise ArchiveError(f"{str(path)!r} cannot be read: {error.strerror}.") from error


def _opened_member(package: zipfile.ZipFile, member: zipfile.ZipInfo, stream: Reader) -> Reader:
    if member.compress_type not in _PACKED:
        raise zipfile.BadZipFile("it is neither stored nor deflated")
    raw = cast(io.RawIOBase, package.open(member))
    if member.compress_type == zipfile.ZIP_STORED:
        # The checksum of the whole would take away its end, where those within take a record.
        raw.close()
        raw = _Stored(stream, member)
    return io.BufferedReader(raw, BUFFER_BYTES)


class _Stored(PositionedStream):
    """The bytes of a member that is not packed, in the stream of its package."""

    def __init__(self, stream: Reader, member: zipfile.ZipInfo) -> None:
        super().__init__()
        stream.seek(member.header_offset + _ZIP_LENGTHS)
        name, extra = struct.unpack("<HH", stream.read(4))
        self._stream = stream
        self._start = member.header_offset + _ZIP_LENGTHS + 4 + name + extra
        self._size = member.compress_size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = offset + (0, self._position, self._size)[whence]
        return self._position

    def _next(self, most: int) -> bytes:
        self._stream.seek(self._start + self._position)
        return self._stream.read(min(most, max(0, self._size - self._position)))


def _closing(
    stream: Reader, pages: Iterator[ArchivedPage], path: Path, problems: ProblemLog
) -> Iterator[ArchivedPage]:
    has_pages = False
    with stream:
        for page in pages:
            has_pages = True
            yield page
    if not has_pages:
        records = counted(problems.records, "record")
        problems.warn(f"{path.name} has no page: {records}, none of them HTML")


def _wacz_members(stream: Reader, name: str) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """The package, and its WARC files by their names."""
    try:
        package = zipfile.ZipFile(stream)
    except ArchiveReadError:
        raise
    except Exception as error:  # of a damaged directory anything may come
        raise ArchiveError(f"{name!r} is not a WACZ file: {error}.") from error
    infos = package.infolist()
    members = sorted(
        (
            info
            for info in infos
            if info.filename.startswith("archive/")
            and info.filename.lower().endswith((".warc", ".warc.gz"))
        ),
        key=lambda info: info.filename,
    )
    if not members:
        raise ArchiveError(f"{name!r} holds no archive/*.warc.gz: it is not a WACZ file.")
    end = 0
    for info in sorted(members, key=lambda info: info.header_offset):
        if info.header_offset < end:  # a bomb: few bytes are many members
            raise ArchiveError(f"{name!r} has members that overlap: it is not a WACZ file.")
        end = info.header_offset + info.compress_size
    return package, members


def _page(
    record: Record, place: str, problems: ProblemLog, most: int, host_of: Callable[[str], str]
) -> ArchivedPage | None:
    """The page in the record; None if there is none in it."""
    problems.records += 1
    kind, status = record.get("WARC-Type"), 200
    if kind == "response":
        http = record.read_http_headers()
        code = http.get_statuscode()
        if not _SUCCESS.fullmatch(code):
            return None
        status, fields = int(code), http.headers
    elif kind in ("resource", "conversion"):
        named = record.get("Content-Type")
        fields = [("Content-Type", named)] if named else []
    else:
        return None
    if not record.block.limit:  # the answer to HEAD
        return None
    headers: dict[str, str] = {}
    for name, value in fields:
        headers.setdefault(name.title(), value)
    media_type = content_type(headers.get("Content-Type", ""))
    if media_type not in HTML_TYPES + UNTOLD_TYPES:
        return None
    transfer = _encodings(fields, "transfer-encoding")
    packed = [name for name in transfer if name != "chunked"]  # which is the last one
    body, is_unpacked, fault = read_body(
        record.block,
        chunked="chunked" in transfer,
        encodings=_encodings(fields, "content-encoding") + packed,
        most=most,
    )
    if media_type not in HTML_TYPES and not begins_as_html(body):
        return None
    uri = _printable(record.get("WARC-Target-URI").strip("<>"))
    page_id = _printable(record.get("WARC-Record-ID").strip("<>")) or uri
    if not is_unpacked and not is_text(body[:SNIFFED_BYTES]):
        problems.report("damaged", f"{place}: the body of {uri[:200]} cannot be unpacked")
        return None
    if fault:
        problems.report(
            "damaged", f"{place}: the body of {uri[:200]} is read up to damage: {fault}"
        )
    headers = {name: value for name, value in headers.items() if name not in DECODED}
    # A resource may have any URI (file:, urn:): its pages are grouped by the file they are in.
    url = uri if web_host(uri) else made_up_url(host_of(place), quote(uri or page_id, ""))
    return ArchivedPage(page_id, url, body, headers, status, fetched_at=_date(record))


def _encodings(fields: list[tuple[str, str]], field: str) -> list[str]:
    """What is in a field that lists encodings, in the order in which they were applied."""
    values = [value for name, value in fields if name.lower() == field]
    return [part.strip().lower() for value in values for part in value.split(",")]


def _printable(uri: str) -> str:
    return "".join(letter if letter.isprintable() else quote(letter) for letter in uri).replace(
        " ", "%20"
    )


def _date(record: Record) -> datetime | None:
    """The record's WARC-Date: ISO 8601 in UTC, with a fraction of a second or without."""
    date = read_time(record.get("WARC-Date"))
    try:
        return date and date.astimezone(timezone.utc)
    except OverflowError:
        return None


def _check_warcio() -> None:
    try:
        import warcio  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(
            'Reading WARC and WACZ files needs warcio: pip install "noiseclean-scrapy[warc]"'
        ) from error
