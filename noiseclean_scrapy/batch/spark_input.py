"""Which archives a Spark job reads, and how its tasks open them."""

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from errno import EISDIR
from typing import IO, TYPE_CHECKING, cast

from noiseclean_scrapy.batch.archived_page import ArchivedPage, ProblemKind, ProblemLog
from noiseclean_scrapy.batch.streams import BUFFER_BYTES, Reader, ResumedStream
from noiseclean_scrapy.batch.unpacking import read_unzipped
from noiseclean_scrapy.batch.warc import read_wacz_stream, read_warc_stream
from noiseclean_scrapy.errors import ArchiveError, ArchiveReadError
from noiseclean_scrapy.page import DEFAULT_BUDGET, PageBudget
from noiseclean_scrapy.service_urls import shown_url

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

ARCHIVES = (".warc", ".warc.gz", ".wacz")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
_MOST_LIST_BYTES = 256 << 20
_BUFFER_BYTES = 4 << 20
"""Where files are far away, every read that the buffer cannot answer is a request."""


def list_archives(inputs: Iterable[str], *, base: str = "") -> list[str]:
    """The paths of all archives: those given, and those that given lists name, one a line.

    `base` goes before each path of a list, as in Common Crawl's `warc.paths.gz`. Local paths are
    absolute, since workers have folders of their own. Raises ArchiveError where a list cannot be
    read, or nothing is named.
    """
    archives: list[str] = []
    for path in inputs:
        archives += [path] if _is_archive(path) else _read_list(path, base)
    if not archives:
        raise ArchiveError("the lists name no archive: give .warc, .warc.gz or .wacz files")
    for path in archives:
        if path.encode("utf-8", "replace").decode() != path:
            raise ArchiveError(f"{shown_url(path)!a} is no name in UTF-8, as Spark needs it")
    return [path if _has_scheme(path) else os.path.abspath(path) for path in archives]


def pages_at(
    path: str,
    *,
    on_problem: Callable[[ProblemKind], None] | None = None,
    budget: PageBudget = DEFAULT_BUDGET,
) -> Iterator[ArchivedPage]:
    """The pages of one archive; one that is missing or broken is a problem and gives none.

    Raises ArchiveReadError where it is there, and cannot be read: that may pass.
    """
    problems = ProblemLog(on_problem)
    name = path.rpartition("/")[2]
    read = read_wacz_stream if path.lower().endswith(".wacz") else read_warc_stream
    try:
        with _open(path) as stream:
            yield from read(stream, name, problems, budget.markup + 1)
    except ArchiveReadError:
        raise
    except OSError as error:  # the others are ArchiveReadErrors
        problems.report("missing", f"Left out, it cannot be opened: {shown_url(path)} ({error})")
    except (ArchiveError, ValueError) as error:
        problems.report("damaged", f"Left out, it cannot be read: {shown_url(path)} ({error})")


def is_there(path: str) -> bool:
    """Whether an archive that was missing can be opened now."""
    try:
        _open(path).close()
    except (ArchiveReadError, OSError, ValueError):
        return False
    return True


def _is_archive(path: str) -> bool:
    return path.lower().endswith(ARCHIVES)


def _read_list(path: str, base: str) -> list[str]:
    try:
        with _open(path) as stream:
            data = read_unzipped(stream, _MOST_LIST_BYTES)
        if len(data) == _MOST_LIST_BYTES:
            raise ArchiveError(f"the list {shown_url(path)!r} is longer than {len(data)} bytes")
        text = data.decode("utf-8-sig")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ArchiveError(
            f"the list of archives {shown_url(path)!r} cannot be read: {error}"
        ) from error
    lines = filter(None, (line.strip() for line in text.splitlines()))
    archives = [base + line for line in lines if not line.startswith("#")]
    for archive in archives:
        if not _is_archive(archive):
            raise ArchiveError(
                f"{shown_url(path)!r} names {shown_url(archive)[:80]!r}: "
                f"expected .warc, .warc.gz or .wacz files"
            )
    return archives


def _open(path: str) -> Reader:
    system, place = _file_system(path)
    if system.type_name == "local" and os.path.isdir(place):
        raise IsADirectoryError(EISDIR, "it is a folder, give the files in it", place)
    # A package is not read from its beginning to its end, nor is what is opened again.
    is_stream = not path.lower().endswith(".wacz")

    def open_at(position: int) -> IO[bytes]:
        if is_stream and not position:
            opened = system.open_input_stream(place, compression=None, buffer_size=_BUFFER_BYTES)
        else:
            opened = io.BufferedReader(system.open_input_file(place), _BUFFER_BYTES)
            opened.seek(position)
        return cast("IO[bytes]", opened)

    return io.BufferedReader(ResumedStream(shown_url(path), open_at), BUFFER_BYTES)


def _has_scheme(path: str) -> bool:
    return _SCHEME.match(path) is not None


def _file_system(path: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem, LocalFileSystem

    if not _has_scheme(path):
        return LocalFileSystem(), path
    scheme, _, rest = path.partition(":")
    if not rest.startswith("//"):  # file:/data, as Hadoop writes it
        return LocalFileSystem(), rest
    # Hadoop's names of S3's file system are Arrow's s3.
    scheme = "s3" if scheme in ("s3a", "s3n") else scheme
    system, place = FileSystem.from_uri(f"{scheme}:{rest}")
    return system, place
