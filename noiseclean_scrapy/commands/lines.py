"""A file of JSON lines that can be continued where an earlier run stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from noiseclean_scrapy.batch.two_pass import SourcePage
from noiseclean_scrapy.commands.files import FileError, explained
from noiseclean_scrapy.commands.output import json_bytes

_SHOWN = 80


def continue_lines(
    path: Path, pages: Iterable[SourcePage], line: Callable[[SourcePage], bytes], content: str
) -> None:
    """Write a line a page to an ordinary file, `line` making that of a page.

    Lines that the file has already are checked and left as they are: each must belong to its page.
    The last complete one must be, byte for byte, what would be written now, and so must those
    whose `content` is empty: `line` is called for all of these, once for each. An incomplete one
    behind them is written again. Raises FileError where the file holds something else.
    """
    with explained("write", path):
        # Not to be truncated, and made where a link leads to nothing yet.
        path.open("ab").close()
        with path.open("r+b") as file:
            _LinesFile(path, file, line, content).continue_with(pages)


class _LinesFile:
    def __init__(
        self, path: Path, file: IO[bytes], line: Callable[[SourcePage], bytes], content: str
    ) -> None:
        self.path = path
        self._file = file
        self._line = line
        self._content = content
        self._is_empty = False  # the last one
        self._last: tuple[SourcePage, bytes] | None = None

    def continue_with(self, pages: Iterable[SourcePage]) -> None:
        is_reading = True
        for source in pages:
            is_reading = is_reading and self._has(source)
            if not is_reading:
                self._file.write(self._line(source))
                # What is done is kept, whatever happens next.
                self._file.flush()
        if is_reading:
            self._check_last()
            if self._file.readline():
                raise self._foreign("it goes on after the last page of the source")

    def _has(self, source: SourcePage) -> bool:
        """Whether the next line is there, and complete; it must be that of the page."""
        start = self._file.tell()
        found = self._file.readline()
        if found.endswith(b"\n"):
            is_empty = self._check_page(source, found)
            if self._is_empty:
                self._check_last()
            self._last, self._is_empty = (source, found), is_empty
            return True
        self._check_last()
        self._file.seek(start)
        self._file.truncate()
        return False

    def _check_page(self, source: SourcePage, found: bytes) -> bool:
        """Whether the line, which must be that of the page, has an empty content."""
        is_empty = False
        try:
            row = json.loads(found)
            # Names of files may hold what no JSON can.
            same = json.loads(json_bytes([source.id, source.url]))
            is_same = [row["id"], row["url"]] == same
            is_empty = not str(row[self._content]).strip()
        except (ValueError, KeyError, TypeError, RecursionError):
            is_same = False
        if not is_same:
            beginning = found[:_SHOWN].decode("utf-8", "replace").strip()
            raise self._foreign(f"where {source.id} is expected it has {beginning!r}")
        return is_empty

    def _check_last(self) -> None:
        if self._last and self._line(self._last[0]) != self._last[1]:
            raise self._foreign(f"{self._last[0].id} was cleaned otherwise")

    def _foreign(self, reason: str) -> FileError:
        return FileError(
            f"{str(self.path)!r} does not hold the beginning of this output ({reason}): "
            f"give another file with -o, or delete this one"
        )
