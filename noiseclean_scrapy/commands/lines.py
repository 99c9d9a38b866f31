"""A file of JSON lines that can be continued where an earlier run stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from noiseclean_scrapy.batch.two_pass import SourcePage
from noiseclean_scrapy.commands.files import FileError
from noiseclean_scrapy.commands.output import write_bytes

_SHOWN = 80


class StandardOutput:
    """Lines to stdout; `line` makes that of a page."""

    def __init__(self, line: Callable[[SourcePage], bytes]) -> None:
        self._line = line

    def add(self, source: SourcePage) -> None:
        write_bytes(self._line(source))

    def end(self) -> None:
        """Nothing was there before."""

    def close(self) -> None:
        """Stdout stays open."""


class LinesFile:
    """Lines to a file; those that it has already are checked and left as they are.

    Each must belong to its page. The last complete one must be, byte for byte, what would be
    written now; an incomplete one behind it is written again. Raises FileError where the file holds
    something else.
    """

    def __init__(self, path: Path, line: Callable[[SourcePage], bytes]) -> None:
        self.path = path
        self._line = line
        try:
            self._file = path.open("r+b" if path.exists() else "x+b")
        except OSError as error:
            raise FileError(f"cannot write {str(path)!r}: {error.strerror}") from error
        self._is_reading = True
        self._last: tuple[SourcePage, bytes] | None = None

    def add(self, source: SourcePage) -> None:
        """Write the line of a page, unless the file has it."""
        if self._is_reading:
            self._read(source)
        if not self._is_reading:
            self._file.write(self._line(source))
            # What is done is kept, whatever happens next.
            self._file.flush()

    def end(self) -> None:
        """All pages were added; the file must hold no more than these."""
        if self._is_reading:
            self._check_last()
            if self._file.readline():
                raise self._foreign("it goes on after the last page of the source")

    def close(self) -> None:
        self._file.close()

    def _read(self, source: SourcePage) -> None:
        start = self._file.tell()
        found = self._file.readline()
        if found.endswith(b"\n"):
            self._check_page(source, found)
            self._last = source, found
            return
        self._check_last()
        self._file.seek(start)
        self._file.truncate()
        self._is_reading = False

    def _check_page(self, source: SourcePage, found: bytes) -> None:
        try:
            row = json.loads(found)
            is_same = (row["id"], row["url"]) == (source.id, source.url)
        except (ValueError, KeyError, TypeError):
            is_same = False
        if not is_same:
            beginning = found[:_SHOWN].decode("utf-8", "replace").strip()
            raise self._foreign(f"where {source.id} is expected it has {beginning!r}")

    def _check_last(self) -> None:
        if self._last and self._line(self._last[0]) != self._last[1]:
            raise self._foreign(f"{self._last[0].id} was cleaned otherwise")

    def _foreign(self, reason: str) -> FileError:
        return FileError(
            f"{str(self.path)!r} does not hold the beginning of this output ({reason}): "
            f"give another file with -o, or delete this one"
        )
