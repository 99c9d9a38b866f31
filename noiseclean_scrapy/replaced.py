"""A file that takes another's place when all of it is written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import IO


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """What is written takes the place of `path` at the end, and its mode; links are followed.

    Where the block raises an error, `path` stays as it is.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{token_hex(8)}.part")  # of this writer alone
    try:
        with part.open("xb") as file:
            with suppress(FileNotFoundError):
                part.chmod(S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all, see `replaced`."""
    with replaced(path) as file:
        file.write(data)
