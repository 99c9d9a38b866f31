"""Files that commands read and write, with errors in one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noiseclean_scrapy.errors import NoiseCleanError


class FileError(NoiseCleanError):
    """A file that was named cannot be read or written."""


def read_file(path: Path) -> bytes:
    with _explained("read", path):
        return path.read_bytes()


def write_file(path: Path, data: bytes) -> None:
    """Write a file; an older one is replaced when the new one is complete."""
    with new_file(path) as part:
        part.write_bytes(data)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Where to write what is to be at `path` in the end, once all of it is written."""
    part = path.with_name(f"{path.name}.part")
    with _explained("write", path):
        try:
            yield part
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def _explained(doing: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f"cannot {doing} {str(path)!r}: {error.strerror or error}") from error
