"""Reading stored pages one at a time: folders with or without a manifest, WARC, WACZ, one file."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from noiseclean_scrapy.batch.addresses import (
    FolderHosts,
    SiteAddress,
    address_hint,
    made_up_url,
    site_addresses,
    web_host,
)
from noiseclean_scrapy.batch.archived_page import ArchivedPage, ProblemKind, ProblemLog
from noiseclean_scrapy.batch.streams import is_missing, open_file
from noiseclean_scrapy.batch.unpacking import read_unzipped
from noiseclean_scrapy.batch.warc import read_wacz, read_warc
from noiseclean_scrapy.errors import ArchiveError, ArchiveReadError
from noiseclean_scrapy.page import DEFAULT_BUDGET, PageBudget

__all__ = ["ArchivedPage", "ProblemKind", "read_archive"]

MANIFEST = "manifest.jsonl"
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
_MOST_ROW_BYTES = 1 << 20
_SHOWN = 80


def read_archive(
    source: str | Path,
    *,
    on_problem: Callable[[ProblemKind], None] | None = None,
    budget: PageBudget = DEFAULT_BUDGET,
    hosts: FolderHosts | None = None,
) -> Iterator[ArchivedPage]:
    """The pages of an archive in its own order, read one at a time.

    ``source`` is a folder with a ``manifest.jsonl`` (rows: ``id``, ``site``, ``html`` and, where
    it is known, ``url``), a folder of HTML files, one HTML file, a WARC or a WACZ; files may be
    gzipped. Every site of a manifest gets a registrable domain of its own: where its real URLs
    would not give that, its pages get URLs under ``SLUG.invalid``; the manifest's URL stays in
    ``row``. The pages of other folders get URLs under a made-up host of the folder's name, those of
    a WARC without a web address under one of the file's; `hosts` keeps those apart that several
    folders or files of one name would share.

    A page that is missing or damaged is left out with a warning, and ``on_problem`` is called with
    the kind, ``"missing"`` or ``"damaged"``. Of a page that is larger than ``budget.markup`` one
    byte more is read, however much is packed in it. An archive that cannot be read at all, or a
    manifest with a broken row, raises ArchiveError in this call, before the first page. What may
    pass (a disk or network that fails) is tried again, and then it is an ArchiveReadError.
    """
    path = Path(source)
    problems = ProblemLog(on_problem)
    most = budget.markup + 1
    hosts = hosts or FolderHosts()
    name = path.name.lower()
    if not path.exists():
        raise ArchiveError(
            f"There is nothing at {str(source)!r}: no such file or folder"
            f"{address_hint(str(source))}."
        )
    if path.is_dir():
        return _read_folder(path, problems, most, hosts)
    if name.endswith((".warc", ".warc.gz")):
        return read_warc(path, problems, most, hosts)
    if name.endswith(".wacz"):
        return read_wacz(path, problems, most, hosts)
    if is_html_name(name):
        return _read_files(path.absolute().parent, [path.name], problems, most, hosts)
    raise ArchiveError(
        f"{str(path)!r} is no kind of archive that can be read: expected a folder with a "
        f"{MANIFEST}, a folder of HTML files, an HTML file, a .warc, .warc.gz or .wacz file."
    )


def _read_folder(
    folder: Path, problems: ProblemLog, most: int, hosts: FolderHosts
) -> Iterator[ArchivedPage]:
    if (folder / MANIFEST).is_file():
        # The addresses depend on all sites, so the rows are read twice; the pages only once.
        addresses = site_addresses(
            (row["site"], row.get("url")) for row in _manifest_rows(folder / MANIFEST)
        )
        return _read_manifest(folder, addresses, problems, most)
    names = sorted(_html_names(folder, problems))
    if not names:
        raise ArchiveError(
            f"The folder {str(folder)!r} holds neither a {MANIFEST} nor HTML files; "
            f"a WARC or WACZ file is given by its own path."
        )
    return _read_files(folder.resolve(), names, problems, most, hosts)


def _html_names(folder: Path, problems: ProblemLog) -> Iterator[str]:
    """The HTML files below a folder, by their paths in it; links to folders are not followed."""

    def leave_out(error: OSError) -> None:
        if not is_missing(error):
            raise ArchiveReadError(f"The folder {str(folder)!r} cannot be read: {error}") from error
        problems.report("missing", f"Folder left out, it cannot be read: {error}")

    links = 0
    for parent, folders, files in os.walk(folder, onerror=leave_out):
        for name in folders:
            path = os.path.join(parent, name)
            if os.path.islink(path):  # unlike Path's, it raises nothing
                links += 1
                if links == 1:
                    problems.warn(f"Links to folders are not followed, such as {path}")
        for name in filter(is_html_name, files):
            yield Path(parent, name).relative_to(folder).as_posix()


def _read_manifest(
    folder: Path, addresses: dict[str, SiteAddress], problems: ProblemLog, most: int
) -> Iterator[ArchivedPage]:
    is_told = False
    for row in _manifest_rows(folder / MANIFEST):
        page_id, given = str(row["id"]), row.get("url")
        body = _read_body(folder / row["html"], problems, most)
        if body is not None:
            url = addresses[row["site"]].page_url(page_id, given)
            if web_host(given) and url != given and not is_told:
                is_told = True
                problems.warn(
                    f"Addresses of sites that are not their pages' hosts are not used: a page of "
                    f"{_shown(row['site'])} gets {url}"
                )
            yield ArchivedPage(page_id, url, body, _headers(row["html"]), row=row)


def _read_files(
    folder: Path, names: list[str], problems: ProblemLog, most: int, hosts: FolderHosts
) -> Iterator[ArchivedPage]:
    host = hosts[folder]
    for name in names:
        body = _read_body(folder / name, problems, most)
        if body is not None:
            url = made_up_url(host, quote(name, errors="surrogateescape"))
            yield ArchivedPage(name, url, body, _headers(name))


def _manifest_rows(manifest: Path) -> Iterator[dict[str, Any]]:
    with open_file(manifest) as lines:
        for number in count(1):
            place = f"{manifest}, line {number}"
            line = lines.readline(_MOST_ROW_BYTES)
            if len(line) == _MOST_ROW_BYTES:
                raise ArchiveError(f"{place}: longer than {_MOST_ROW_BYTES} bytes.")
            if line.strip():
                yield _manifest_row(line, place)
            elif not line:
                return


def _manifest_row(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"{place}: not a row of JSON ({error}).") from error
    if not isinstance(row, dict):
        raise ArchiveError(f"{place}: expected a JSON object, got {type(row).__name__}.")
    for key in ("id", "site", "html"):
        if not (isinstance(row.get(key), str) and row[key]) and not (
            key == "id" and isinstance(row.get(key), int)
        ):
            raise ArchiveError(f"{place}: {key!r} must be a text, got {_shown(row.get(key))}.")
    if not isinstance(row.get("url"), (str, type(None))):
        raise ArchiveError(f"{place}: 'url' must be a text or null, got {_shown(row['url'])}.")
    html = PurePosixPath(row["html"])
    if html.is_absolute() or ".." in html.parts:
        raise ArchiveError(
            f"{place}: 'html' must lie in the archive's folder, got {_shown(row['html'])}."
        )
    return row


def _read_body(path: Path, problems: ProblemLog, most: int) -> bytes | None:
    """The file's first `most` bytes, unzipped; None where it cannot be read."""
    try:
        if path.is_file():  # a pipe or a device has no end
            with open_file(path) as stream:
                return read_unzipped(stream, most)
        problems.report("missing", f"Page left out, its file is missing: {path}")
    except ArchiveReadError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        kind: ProblemKind = "damaged"
        if isinstance(error, OSError) and is_missing(error):
            kind = "missing"
        problems.report(kind, f"Page left out, its file cannot be read: {error} ({path})")
    return None


def _shown(value: Any) -> str:
    """A value of a manifest in a message, which is never long."""
    return repr(value if not isinstance(value, str) else value[:_SHOWN])[: 2 * _SHOWN]


def is_html_name(name: str) -> bool:
    """Whether a file is taken for HTML, gzipped or not."""
    return name.lower().removesuffix(".gz").endswith(HTML_SUFFIXES)


def _headers(name: str) -> dict[str, str]:
    is_xhtml = name.lower().removesuffix(".gz").endswith(".xhtml")
    return {"Content-Type": "application/xhtml+xml" if is_xhtml else "text/html"}
