"""The spool: a folder in which pages wait for a store that does not answer."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.replaced import replace_file
from noiseclean_scrapy.store import PageRecord
from noiseclean_scrapy.store.packing import pack_page, unpack_page

logger = get_logger(__name__)

_PAGE, _DAMAGED, _REFUSED = ".page", ".damaged", ".refused"


class Spooled(NamedTuple):
    """A page that waits here, and the state of its file."""

    page: PageRecord
    state: tuple[int, int]


class Spool:
    """Pages by key, each in a file with a checksum, in a folder that is made when it is needed.

    Several processes may share it. What cannot be read is set aside under another name, with a
    line in the log. A file that the file system will not give, or not let go, is left alone from
    then on: a page that is written once more is the same page. `add` and `find` raise StoreError
    when the file system refuses.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Where it is `read_only`, what waits here is left to others, and not looked at."""
        self.path = path
        self.pages = 0
        self._left: set[Path] = set()
        self._keeps = False
        if not read_only:
            self._settle()

    def add(
        self, pages: Iterable[PageRecord], on_added: Callable[[PageRecord], object] = bool
    ) -> None:
        """Let pages wait here; what they leave None is kept from before, of the same body.

        Where the file system refuses one, those before it wait here: `on_added` is told of each.
        """
        with self._refusals():
            self.path.mkdir(exist_ok=True)
            try:
                for page in pages:
                    self._add(page)
                    on_added(page)
            finally:
                self.pages = len(self._files())

    def _add(self, page: PageRecord) -> None:
        known = self._find(page.key)
        path = self._file(page.key)
        replace_file(path, pack_page(completed(page, known) if known else page))
        self._left.discard(path)

    def set_aside(self, page: PageRecord) -> Path:
        """Keep a page that nobody is to write; the file that has it."""
        with self._refusals():
            self.path.mkdir(exist_ok=True)
            path = _free_name(self._file(page.key).with_suffix(_REFUSED))
            replace_file(path, pack_page(page))
            return path

    def find(self, key: str) -> PageRecord | None:
        """The page, None when it does not wait here."""
        with self._refusals():
            return self._find(key)

    def _find(self, key: str) -> PageRecord | None:
        path = self._file(key)
        known = self._read(path) if path not in self._left and path.exists() else None
        return known.page if known else None

    def read(self, limit: int, room: int) -> list[Spooled]:
        """Up to `limit` of the pages, in the order in which they want to be learned.

        No more than one of them goes beyond `room` bytes, as `PageRecord.size` counts them.
        """
        found: list[Spooled] = []
        for path in self._count() if self.pages else []:
            spooled = self._read(path)
            if spooled is not None:
                found.append(spooled)
                room -= spooled.page.size
            if len(found) == limit or room <= 0:
                break
        return sorted(found, key=lambda one: (one.page.position or 0, one.page.key))

    def remove(self, pages: Sequence[Spooled]) -> None:
        """Forget pages that are stored elsewhere, but those of which more has come since."""
        for page, state in pages:
            path = self._file(page.key)
            try:
                if _state(path) == state:
                    path.unlink(missing_ok=True)
            except OSError as error:
                if not self._keeps:
                    message = "Pages of the spool %s are stored, but cannot be removed from it: %s"
                    logger.error(message, self.path, error.strerror or error)
                self._keeps = True
                self._left.add(path)
        self._count()

    def _count(self) -> list[Path]:
        """The files of the pages, counted; none where the folder cannot be read, which is told."""
        files: list[Path] = []
        try:
            files = self._files()
        except OSError as error:
            logger.error("The spool %s cannot be read: %s", self.path, error.strerror or error)
        self.pages = len(files)
        return files

    def _file(self, key: str) -> Path:
        name = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return self.path / f"{name}{_PAGE}"

    def _files(self) -> list[Path]:
        try:
            names = os.listdir(self.path)
        except FileNotFoundError:
            return []
        paths = (self.path / name for name in sorted(names) if name.endswith(_PAGE))
        return [path for path in paths if path not in self._left]

    def _read(self, path: Path) -> Spooled | None:
        """The page of a file; None where another process has taken it, or it cannot be read."""
        try:
            state = _state(path)
            return Spooled(unpack_page(path.read_bytes()), state)
        except FileNotFoundError:
            return None
        except ValueError as error:
            self._set_aside(path, error)
        except OSError as error:
            self._leave(path, error)
        return None

    def _set_aside(self, path: Path, error: ValueError) -> None:
        aside = _free_name(path.with_suffix(_DAMAGED))
        try:
            path.replace(aside)
        except OSError as refusal:
            self._leave(path, refusal)
            return
        self.pages -= 1
        message = "A page in the spool %s cannot be read: %s; its file is now %s"
        logger.error(message, self.path, error, aside.name)

    def _leave(self, path: Path, error: OSError) -> None:
        self._left.add(path)
        self.pages -= 1
        message = "A page in the spool %s cannot be read: %s; %s is left as it is"
        logger.error(message, self.path, error.strerror or error, path.name)

    def _settle(self) -> None:
        """Set a file in the place of the folder aside, and count the pages."""
        if not self.path.parent.is_dir():  # or it is made for a name that is mistyped
            logger.error("There can be no spool %s: no such folder %s", self.path, self.path.parent)
        try:
            with self._refusals():
                if self.path.is_file():
                    aside = _free_name(self.path.with_name(f"{self.path.name}{_DAMAGED}"))
                    self.path.replace(aside)
                    logger.error("The spool %s is no folder; it is now %s", self.path, aside)
                self.pages = len(self._files())
        except StoreError as error:
            logger.error("The spool cannot be read: %s", error)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"the spool {self.path} refused: {error.strerror or error}") from error


def completed(record: PageRecord, known: PageRecord) -> PageRecord:
    """A record, and what it leaves None from an earlier one of the same body."""
    if record.body_hash != known.body_hash:
        return record
    return replace(
        record,
        position=record.position or known.position,
        html=record.html or known.html,
        cleaned=record.cleaned or known.cleaned,
        metadata=record.metadata or known.metadata,
    )


def _state(path: Path) -> tuple[int, int]:
    """What is another number for each file that takes the place of another one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns


def _free_name(path: Path) -> Path:
    """The path, with a number where something has this name already."""
    names = chain([path], (path.with_name(f"{path.name}-{number}") for number in count(2)))
    return next(name for name in names if not name.exists())
