"""Streams of archives that go on where a disk, a network or an object store failed for a while."""

from __future__ import annotations

import errno
import io
import time
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeAlias, TypeVar

from noiseclean_scrapy.errors import ArchiveReadError
from noiseclean_scrapy.page.logs import get_logger

logger = get_logger(__name__)

T = TypeVar("T")
Reader: TypeAlias = "io.BufferedReader[Any]"

WAITS = (0.5, 1.0, 2.0, 4.0)
"""Seconds before each new try of what may pass."""
BUFFER_BYTES = 1 << 16
_STAYS = frozenset(
    {
        errno.EACCES,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EPERM,
    }
)


def is_missing(error: OSError) -> bool:
    """Whether a file is not there or may not be read: trying again at once would not help."""
    return isinstance(error, (FileNotFoundError, PermissionError)) or error.errno in _STAYS


def open_file(path: Path) -> Reader:
    """A local file; raises OSError where it is missing, and ArchiveReadError while it is read."""

    def open_at(position: int) -> IO[bytes]:
        stream = path.open("rb", buffering=0)
        stream.seek(position)
        return stream

    return io.BufferedReader(ResumedStream(str(path), open_at), BUFFER_BYTES)


class PositionedStream(io.RawIOBase):
    """Bytes of something else, from a position on."""

    def __init__(self) -> None:
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._next(len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    @abstractmethod
    def _next(self, most: int) -> bytes:
        """What stands at the position, so many bytes at most."""


class ResumedStream(PositionedStream):
    """A stream that is opened again where it failed; `open_at` opens it at a position.

    Raises OSError at once where the file is missing (`is_missing`). What else goes wrong may pass:
    it is tried again after each of `WAITS`, and then it is an ArchiveReadError.
    """

    def __init__(self, name: str, open_at: Callable[[int], IO[bytes]]) -> None:
        super().__init__()
        self._name = name
        self._open_at = open_at
        self._stream: IO[bytes] | None = None
        self._patiently(self._opened)

    def _next(self, most: int) -> bytes:
        return self._patiently(lambda: self._opened().read(most))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            offset += self._patiently(lambda: self._opened().seek(0, io.SEEK_END))
        elif whence == io.SEEK_CUR:
            offset += self._position
        if offset < 0:
            raise OSError(errno.EINVAL, "there is nothing before the beginning")
        if offset != self._position or whence == io.SEEK_END:
            self._position = offset
            if self._stream is not None and self._stream.seekable():
                self._stream.seek(offset)
            else:
                self._drop()
        return offset

    def close(self) -> None:
        self._drop()
        super().close()

    def _opened(self) -> IO[bytes]:
        if self._stream is None:
            self._stream = self._open_at(self._position)
        return self._stream

    def _drop(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _patiently(self, action: Callable[[], T]) -> T:
        for wait in (*WAITS, None):
            try:
                return action()
            except OSError as error:  # noqa: PERF203
                is_first = self._stream is None and not self._position
                self._drop()
                if is_first and is_missing(error):
                    raise
                if wait is None:
                    raise ArchiveReadError(
                        f"{self._name!r} cannot be read at byte {self._position}, also after "
                        f"{len(WAITS)} more tries: {error}"
                    ) from error
                logger.info("%s: %s; trying again in %s s", self._name, error, wait)
                time.sleep(wait)
        raise AssertionError("the last try returns or raises")
