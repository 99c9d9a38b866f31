"""The records of a WARC file, each checked before it is given; after damage, the next intact one.

A *unit* is what stands or falls together: a gzip member, or a record that is not packed.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from warcio.digestverifyingreader import DigestChecker, DigestVerifyingReader
from warcio.recordloader import ArcWarcRecordLoader
from warcio.statusandheaders import StatusAndHeaders, StatusAndHeadersParser

from noiseclean_scrapy.batch.archived_page import ArchivedPage
from noiseclean_scrapy.batch.streams import Reader
from noiseclean_scrapy.batch.unpacking import GZIP_MAGIC
from noiseclean_scrapy.errors import ArchiveReadError

_PIECE_BYTES = 1 << 16
_MOST_HEAD_BYTES = 1 << 16
"""Of the header of a record, and of that of its HTTP response."""
_HELD_BYTES = 32 << 20
"""Pages of a gzip member that wait for its checksum; where there are more, they go unchecked."""
_MOST_LOST_BYTES = 1 << 30
"""Read in vain, from when on damage is not searched again for what may begin within it."""
_FREE_BYTES, _MOST_TIMES = 1 << 24, 16
"""The same of a small archive: so many bytes, and so many for each that lies before the damage."""
_MOST_DAMAGES = 1000
"""Records of a gzip member that are left out one by one; where there are more, its rest is."""
_MOST_TRIES = 100_000
"""Places at which a gzip member does not begin, though it looks like it."""
_BLANK = b"\r\n"
_BEGIN = b"WARC/"
# A gzip header as programs write it: without reserved flags, with a level and a system that exist.
_START = re.compile(
    rb"WARC/[01]\.[0-9]+\r?\n[\w-]+:|\x1f\x8b\x08[\x00-\x1f].{4}[\x00\x02\x04][\x00-\x0d\xff]",
    re.DOTALL,
)
_SNIFFED_BYTES = 4096
_ONCE = ("WARC-Type", "WARC-Record-ID", "WARC-Date", "WARC-Target-URI", "Content-Length")
"""What no record has twice: where it does, another one begins in its header."""

_WARC_HEADERS = StatusAndHeadersParser(ArcWarcRecordLoader.WARC_TYPES)
_HTTP_HEADERS = StatusAndHeadersParser(ArcWarcRecordLoader.HTTP_TYPES, verify=False)


class DamageError(Exception):
    """A record is not what the format wants; the text says why."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record's header, and its block, which is read once and never beyond its end."""

    headers: StatusAndHeaders
    block: DigestVerifyingReader

    def get(self, name: str) -> str:
        """A field of the header; empty where there is none."""
        return (self.headers.get_header(name) or "").strip()

    def read_http_headers(self) -> StatusAndHeaders:
        """The header of the HTTP response that the block begins with."""
        return _parse(_HTTP_HEADERS, _read_head(self.block))


class Records:
    """The pages that `page_of` finds in the records of a stream, in its order.

    `on_damage` is told of every unit that is lost, where it begins, and why. `rewinds` says that
    going back in the stream means to read it from its beginning. Raises ArchiveReadError.
    """

    def __init__(
        self,
        stream: Reader,
        page_of: Callable[[Record], ArchivedPage | None],
        on_damage: Callable[[str], None],
        *,
        rewinds: bool = False,
    ) -> None:
        self._stream = stream
        self._page_of = page_of
        self._on_damage = on_damage
        self._rewinds = rewinds
        self._lost_bytes = 0
        self._passed_bytes = 0
        self._unzipped_bytes = 0

    def __iter__(self) -> Iterator[ArchivedPage]:
        is_left = True
        while is_left:
            start = self._stream.tell()
            try:
                if not _skip_blanks(self._stream):
                    return
                start = self._stream.tell()
                yield from self._unit()
            except ArchiveReadError:
                raise
            # A damaged file can make a reader raise anything, and run out of memory.
            except Exception as error:
                is_left = self._recover(start, error)

    def _unit(self) -> Iterator[ArchivedPage]:
        self._unzipped_bytes = 0
        is_zipped = self._stream.peek(1)[:1] == GZIP_MAGIC[:1]
        lines: Reader = self._stream
        if is_zipped:
            lines = io.BufferedReader(_Member(self), _PIECE_BYTES)
        held: list[tuple[ArchivedPage, bool]] = []
        held_bytes = damages = 0
        try:
            first_line = b""
            following = _skip_blanks(lines)
            while following:
                try:
                    page, is_checked = self._record(lines, first_line)
                    first_line, following = b"", _skip_blanks(lines)
                    if following not in (b"W", GZIP_MAGIC[:1], b"") and not is_checked:
                        raise DamageError(
                            "no other record follows where its length says that it ends"
                        )
                except DamageError as damage:
                    damages += 1
                    if not is_zipped or damages > _MOST_DAMAGES:
                        raise
                    first_line = following = _next_line(lines)
                    self._on_damage(f"a record of the member is left out: {damage}")
                    continue
                if page is not None:
                    held.append((page, is_checked))
                    held_bytes += len(page.body)
                if not is_zipped:
                    break
                if held_bytes > _HELD_BYTES:
                    yield from (page for page, _ in held)
                    held, held_bytes = [], 0
        except Exception:
            yield from (page for page, is_checked in held if is_checked)
            raise
        yield from (page for page, _ in held)

    def _record(self, lines: Reader, first_line: bytes) -> tuple[ArchivedPage | None, bool]:
        """The page in the next record, and whether its own digest says that it is intact."""
        headers = _parse(_WARC_HEADERS, _read_head(lines, first_line))
        names = Counter(name.lower() for name, _ in headers.headers)
        for name in _ONCE:
            if names[name.lower()] > 1:
                raise DamageError(f"another record begins in its header, {name} is there twice")
        length = (headers.get_header("Content-Length") or "").strip()
        if not re.fullmatch("[0-9]{1,18}", length):
            raise DamageError(f"no valid Content-Length in its header, got {length[:20]!r}")
        checker = DigestChecker()
        # What the payload's digest covers is told in different ways by different writers.
        digest = _digest(headers.get_header("WARC-Block-Digest") or "")
        kind = headers.get_header("WARC-Type")  # wget's "revisit" has the digest of the other one
        block = DigestVerifyingReader(lines, int(length), checker, kind, block_digest=digest)
        page = self._page_of(Record(headers, block))
        while block.read(_PIECE_BYTES):
            pass
        if block.limit:
            raise DamageError(f"it is cut off {block.limit} bytes before its end")
        if checker.problems:
            raise DamageError(checker.problems[0])
        return page, bool(checker.passed)

    def _recover(self, start: int, error: Exception) -> bool:
        """Go to where the next unit may begin; whether there is such a place."""
        end = self._stream.tell()
        self._lost_bytes += end - start + self._unzipped_bytes + start * self._rewinds
        self._passed_bytes += end - start
        is_patient = (
            self._lost_bytes <= _MOST_LOST_BYTES
            and self._passed_bytes <= _FREE_BYTES + _MOST_TIMES * end
        )
        found = None
        try:
            if is_patient:
                self._stream.seek(start + 1)
            if is_patient or not self._rewinds:
                found = _find_start(self._stream)
            end = self._stream.tell() if found is None else self._stream.seek(found)
        except ArchiveReadError:
            raise
        except Exception as ending:  # the file itself is packed, and damaged from here on
            error, found = ending, None
        reason = str(error).strip() or repr(error)
        self._on_damage(f"{end - start} bytes from byte {start} on are left out: {reason[:200]}")
        return found is not None


class _Member(io.RawIOBase):
    """What is in the gzip member at which the stream stands; its checksum is checked at its end."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._stream = records._stream
        self._unzip = zlib.decompressobj(wbits=31)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._unzip.eof:
            packed = self._stream.peek(1)
            data = self._unzip.decompress(packed, len(buffer))
            # At the end of the member zlib may name the same bytes in both.
            unused = self._unzip.unused_data if self._unzip.eof else self._unzip.unconsumed_tail
            self._stream.read(len(packed) - len(unused))
            if data:
                buffer[: len(data)] = data
                self._records._unzipped_bytes += len(data)
                return len(data)
            if not packed:
                raise EOFError("its gzip member is cut off")
        return 0


def _digest(text: str) -> str | None:
    """A digest as warcio compares it, from any of the spellings of RFC 4648; None if it is none."""
    algorithm, _, value = "".join(text.split()).rstrip("=").partition(":")
    algorithm = algorithm.lower().replace("-", "")
    try:
        size = hashlib.new(algorithm).digest_size
        raw = {
            2 * size: lambda: base64.b16decode(value.upper()),
            -(-size * 8 // 5): lambda: base64.b32decode(value.upper() + "=" * (-len(value) % 8)),
            -(-size * 4 // 3): lambda: base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)),
        }[len(value)]()
    except (KeyError, ValueError):
        return None
    return f"{algorithm}:{base64.b32encode(raw).decode()}" if size else None


def _parse(parser: StatusAndHeadersParser, head: bytes) -> StatusAndHeaders:
    try:
        return parser.parse(io.BytesIO(head))
    except Exception as error:  # among them EOFError where there is nothing
        first = head.partition(b"\n")[0][:60]
        raise DamageError(f"its header begins with {first!r}") from error


def _read_head(lines: Any, first_line: bytes = b"") -> bytes:
    """A header with the blank line that ends it; `first_line` has been read already."""
    head = [first_line]
    left = _MOST_HEAD_BYTES
    while left > 0:
        line: bytes = lines.readline(left)
        head.append(line)
        left -= len(line)
        if not line.strip():
            return b"".join(head)
    raise DamageError(f"its header is longer than {_MOST_HEAD_BYTES} bytes")


def _skip_blanks(lines: Reader) -> bytes:
    """Go to the next byte that is no end of a line, and give it; empty at the end."""
    while ahead := lines.peek(1):
        text = ahead.lstrip(_BLANK)
        lines.read(len(ahead) - len(text))
        if text:
            return text[:1]
    return b""


def _next_line(lines: Reader) -> bytes:
    """The next line with which a record begins; empty where there is none."""
    is_begun = False
    while ahead := lines.peek(len(_BEGIN)):
        # Of what is ahead as much is passed over as holds no begin, not even of one.
        found = ahead.find(b"\n" + _BEGIN)
        passed = (found if found >= 0 else ahead.rfind(b"\n", 0, -len(_BEGIN))) + 1
        if passed and (is_begun or not ahead.startswith(_BEGIN)):
            lines.read(passed)
            is_begun = False
        line = lines.readline(_PIECE_BYTES)
        if not is_begun and line.startswith(_BEGIN):
            return line
        is_begun = not line.endswith(b"\n")
    return b""


def _find_start(stream: Reader) -> int | None:
    """The next place where a unit may begin; None where there is none."""
    place, data, piece, tries = stream.tell(), b"", b"-", 0
    while piece:
        piece = stream.read(_PIECE_BYTES)
        data += piece
        # What begins near the end is looked at together with the next piece.
        end = len(data) - _SNIFFED_BYTES * bool(piece)
        for found in _START.finditer(data):
            start = found.start()
            if start >= end:
                break
            is_zipped = found[0].startswith(GZIP_MAGIC)
            if not is_zipped or _begins_record(data[start : start + _SNIFFED_BYTES]):
                return place + start
            tries += 1
            if tries > _MOST_TRIES:
                return None
        place += max(0, end)
        data = data[max(0, end) :]
    return None


def _begins_record(packed: bytes) -> bool:
    try:
        return zlib.decompressobj(wbits=31).decompress(packed, len(_BEGIN)) == _BEGIN
    except zlib.error:
        return False
