"""Which archives a Spark job reads, and how its tasks open them."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from noiseclean_scrapy.batch.archived_page import ArchivedPage, ProblemKind, ProblemLog
from noiseclean_scrapy.batch.warc import GZIP_MAGIC, read_wacz_stream, read_warc_stream
from noiseclean_scrapy.errors import ArchiveError
from noiseclean_scrapy.urls import shown_url

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

ARCHIVES = (".warc", ".warc.gz", ".wacz")
_BUFFER_BYTES = 4 << 20
"""Where files are far away, every read that the buffer cannot answer is a request."""


def list_archives(inputs: Iterable[str], *, base: str = "") -> list[str]:
    """The paths of all archives: those given, and those that given lists name, one a line.

    `base` goes before each path of a list, as in Common Crawl's `warc.paths.gz`. Raises
    ArchiveError where a list cannot be read, or nothing is named.
    """
    archives: list[str] = []
    for path in inputs:
        archives += [path] if _is_archive(path) else _read_list(path, base)
    if not archives:
        raise ArchiveError("the lists name no archive: give .warc, .warc.gz or .wacz files")
    return archives


def read_pages(
    path: str, *, on_problem: Callable[[ProblemKind], None] | None = None
) -> Iterator[ArchivedPage]:
    """The pages of one archive; never raises: a file that is missing or broken is a problem."""
    problems = ProblemLog(on_problem)
    name = path.rpartition("/")[2]
    read = read_wacz_stream if path.lower().endswith(".wacz") else read_warc_stream
    try:
        with _open(path) as stream:
            yield from read(stream, name, problems)
    except FileNotFoundError:
        problems.report("missing", f"Left out, there is no such file: {shown_url(path)}")
    except (ArchiveError, OSError, ValueError) as error:
        problems.report("damaged", f"Left out, it cannot be read: {shown_url(path)} ({error})")


def _is_archive(path: str) -> bool:
    return path.lower().endswith(ARCHIVES)


def _read_list(path: str, base: str) -> list[str]:
    try:
        with _open(path) as stream:
            data = stream.read()
        text = (gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data).decode()
    except (OSError, EOFError, ValueError) as error:
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


def _open(path: str) -> io.BufferedReader:
    system, place = _file_system(path)
    if path.lower().endswith(".wacz"):  # a package is not read from its beginning to its end
        return io.BufferedReader(system.open_input_file(place), _BUFFER_BYTES)
    stream = system.open_input_stream(place, compression=None, buffer_size=_BUFFER_BYTES)
    return io.BufferedReader(stream, _BUFFER_BYTES)


def _file_system(path: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem, LocalFileSystem

    scheme, separator, rest = path.partition(":")
    if not separator or "/" in scheme:
        return LocalFileSystem(), path
    if not rest.startswith("//"):  # file:/data, as Hadoop writes it
        return LocalFileSystem(), rest
    # Hadoop's names of S3's file system are Arrow's s3.
    scheme = "s3" if scheme in ("s3a", "s3n") else scheme
    system, place = FileSystem.from_uri(f"{scheme}:{rest}")
    return system, place
