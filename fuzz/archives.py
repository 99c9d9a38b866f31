"""What must hold of any archive: it is read to its end, in bounds, or an ArchiveError says why."""

from __future__ import annotations

import gzip
import io
import zipfile

import noiseclean_scrapy.batch.archive_records  # noqa: F401  (else the fuzzer would not follow it)
from noiseclean_scrapy.batch.archived_page import ProblemLog
from noiseclean_scrapy.batch.warc import read_wacz_stream, read_warc_stream
from noiseclean_scrapy.errors import ArchiveError, ArchiveReadError

MOST = 4000
_HTML = b"<!DOCTYPE html><title>Rain</title><p>The river rose by a metre in one night."
_PLACES = ("archive/a.warc.gz", "archive/b.warc")


def check(data: bytes) -> None:
    """Check all properties of the archive that `data` describes.

    The first byte chooses the kind: the rest is a WARC after one that is intact, the same before
    one, what is in the members of a WACZ, or a WACZ.
    """
    if not data:
        return
    kind, rest = data[0] % 4, data[1:]
    if kind == 0:
        assert _read(intact() + rest)[0] == _HTML
    elif kind == 1:
        _read(rest + intact())
    elif kind == 2:
        _read(package(rest), is_package=True)
    else:
        _read(rest, is_package=True)


def seeds() -> list[bytes]:
    """Small archives of all kinds, each with half a record at its end."""
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(_HTML), _HTML)
    packed = gzip.compress(b"x" * 100_000, mtime=0)
    records = (
        record(_HTML),
        intact(),
        record(gzip.compress(_HTML, mtime=0), b"Content-Encoding: gzip\r\n"),
        record(chunked, b"Transfer-Encoding: chunked\r\n"),
        record(packed, b"Content-Encoding: gzip, br\r\n"),
    )
    found = [bytes([n]) + each + each[: len(each) // 2] for n in range(3) for each in records]
    return [*found, b"\3" + package(intact())]


def record(body: bytes, headers: bytes = b"") -> bytes:
    """A response that is not packed."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + headers + b"\r\n" + body
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/\r\n"
    return b"%sContent-Length: %d\r\n\r\n%s\r\n\r\n" % (head, len(block), block)


def intact() -> bytes:
    return gzip.compress(record(_HTML), mtime=0)


def package(content: bytes) -> bytes:
    """A WACZ with two members, the second of them deflated."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as written:
        for name, method in zip(_PLACES, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), strict=True):
            written.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


def _read(data: bytes, *, is_package: bool = False) -> list[bytes]:
    problems: list[str] = []
    read = read_wacz_stream if is_package else read_warc_stream
    bodies = []
    try:
        stream = io.BufferedReader(io.BytesIO(data))
        for page in read(stream, "a", ProblemLog(problems.append), MOST):
            assert len(page.body) <= MOST
            assert f"{page.id}{page.url}".isprintable()
            bodies.append(page.body)
    except ArchiveReadError:
        raise
    except ArchiveError:
        assert is_package
    assert len(problems) <= 1 + len(data)
    return bodies
