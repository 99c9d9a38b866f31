"""The forms in which pages are written: as text to read, or as rows for programs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from noiseclean_scrapy.commands.files import STDIO, is_replaced
from noiseclean_scrapy.commands.output import json_bytes
from noiseclean_scrapy.errors import ConfigurationError

Row: TypeAlias = Mapping[str, Any]

_SUFFIXES = {
    "text": (".txt", ".text"),
    "markdown": (".md", ".markdown"),
    "html": (".html", ".htm"),
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "csv": (".csv",),
    "parquet": (".parquet",),
}


def form_of(given: str | None, path: Path | None, known: Sequence[str], default: str) -> str:
    """The form that an option gives, or the name of the file; one of `known`.

    Raises ConfigurationError for a file whose name ends as that of no known form.
    """
    if given:
        return given
    suffix = path.suffix.lower() if path else ""
    if path is None or path == STDIO or not suffix or not is_replaced(path):
        return default
    for form in known:
        if suffix in _SUFFIXES.get(form, ()):
            return form
    names = ", ".join(suffix for form in known for suffix in _SUFFIXES.get(form, ()))
    raise ConfigurationError(
        f"the ending of {path.name!r} tells no format: give a name that ends with {names}, or "
        f"--format"
    )


def row_bytes(rows: Iterable[Row], form: str, columns: Iterable[str]) -> Iterator[bytes]:
    """Rows as one JSON document (`json`), as lines of JSON (`jsonl`) or as CSV with a head.

    >>> b"".join(row_bytes([{"a": 1, "b": "x, y"}, {"a": 2, "b": ""}], "csv", "ab")).decode()
    'a,b\\r\\n1,"x, y"\\r\\n2,\\r\\n'
    """
    return _ROW_FORMS[form](rows, columns)


def document_bytes(rows: Iterable[Row], content: str, *, one: bool) -> Iterator[bytes]:
    """The `content` of the rows (`text`, `markdown` or `html`), to read.

    Of several pages (not `one`) each stands below its address: in text as `head` writes the names
    of files, in Markdown with a line between pages, in HTML as an ARTICLE. A line of a text that
    looks like such an address has a blank before it.

    >>> rows = [{"url": "http://a.org/1", "text": "Fog"}, {"url": "http://a.org/2", "text": "Rain"}]
    >>> print(b"".join(document_bytes(rows, "text", one=False)).decode(), end="")
    ==> http://a.org/1 <==
    Fog
    <BLANKLINE>
    ==> http://a.org/2 <==
    Rain
    """
    for number, row in enumerate(rows):
        written = row[content] + "\n"
        if not one:
            between, frame = _FRAMES[content]
            address = quote(row["url"], safe=_SAFE)
            written = between * (number > 0) + frame(address, written)
        yield written.encode("utf-8", "replace")


_SAFE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "<>")
_HEAD = re.compile(r"^(?===> .* <==\s*$)", re.MULTILINE)
_FRAMES: dict[str, tuple[str, Callable[[str, str], str]]] = {
    "text": ("\n", lambda address, text: f"==> {address} <==\n{_HEAD.sub(' ', text)}"),
    "markdown": ("\n---\n\n", lambda address, text: f"<{address}>\n\n{text}"),
    "html": (
        "",
        lambda address, html: f"<article>\n<p>{escape(address)}</p>\n{html}</article>\n",
    ),
}


def _json(rows: Iterable[Row], columns: Iterable[str]) -> Iterator[bytes]:
    before = b"[\n"
    for row in rows:
        yield before + json_bytes(row)
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def _json_lines(rows: Iterable[Row], columns: Iterable[str]) -> Iterator[bytes]:
    for row in rows:
        yield json_bytes(row) + b"\n"


def _csv(rows: Iterable[Row], columns: Iterable[str]) -> Iterator[bytes]:
    line = io.StringIO()
    writer = csv.writer(line)
    for values in _csv_values(rows, tuple(columns)):
        writer.writerow(values)
        yield line.getvalue().encode("utf-8", "replace")
        line.seek(0)
        line.truncate()


def _csv_values(rows: Iterable[Row], columns: tuple[str, ...]) -> Iterator[Iterable[Any]]:
    yield columns
    for row in rows:
        values = (row[name] for name in columns)
        yield (value.isoformat() if isinstance(value, datetime) else value for value in values)


_ROW_FORMS = {"json": _json, "jsonl": _json_lines, "csv": _csv}
