"""Files that commands read and write, with errors in one sentence."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from noiseclean_scrapy.commands.output import need_stdout
from noiseclean_scrapy.errors import NoiseCleanError
from noiseclean_scrapy.replaced import replaced

STDIO = Path("-")
"""What stands for standard input or output where a file is expected."""
_OPEN_FILES = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")
"""What is open already, be it an ordinary file."""


class FileError(NoiseCleanError):
    """A file that was named cannot be read or written."""


def read_file(path: Path) -> bytes:
    with explained("read", path):
        return path.read_bytes()


def read_stdin(most: int) -> bytes:
    """What standard input holds, up to a number of bytes."""
    if sys.stdin is None:  # it was closed by who has started this
        raise FileError("cannot read '-': standard input is closed")
    with explained("read", STDIO):
        return sys.stdin.buffer.read(most)


def write_file(path: Path, data: bytes) -> None:
    """Write a file as `new_file` does."""
    with new_file(path) as file:
        file.write(data)


def is_replaced(path: Path) -> bool:
    """Whether what is written to `path` becomes an ordinary file, new or in the place of one.

    Devices and pipes, `-` for standard output among them, are written to as they are.
    """
    if path == STDIO or _OPEN_FILES.fullmatch(str(path.absolute())):
        return False
    return path.is_file() or not path.exists()


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Where to write what is to be at `path`.

    An ordinary file appears when all of it is written, in the place of an older one, whose mode it
    takes over; links are followed. See `is_replaced` for all else.
    """
    if path == STDIO:
        need_stdout()
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    with explained("write", path):
        if not is_replaced(path):
            with path.open("wb") as file:
                yield file
            return
        with replaced(path) as file:
            yield file


@contextmanager
def explained(doing: str, path: Path) -> Iterator[None]:
    """Errors of the system as FileError that names the file, but where a pipe's reader ends."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError(f"cannot {doing} {str(path)!r}: {error.strerror or error}") from error
