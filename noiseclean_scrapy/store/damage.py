"""Pages that cannot be read: each costs itself, and is named once."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy.exc import DataError, DBAPIError, SQLAlchemyError, StatementError

from noiseclean_scrapy.errors import DamagedError
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store.records import PageRecord

Found = TypeVar("Found")

logger = get_logger(__name__)

_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
    zlib.error,
)
_LIMIT_EXCEEDED = "54"  # PostgreSQL's class of errors


@dataclass(frozen=True, slots=True)
class DamagedPage:
    """A page whose row, or whose HTML, cannot be read, and why."""

    key: str
    position: int | None
    reason: str


class DamageLog:
    """The keys of the damaged pages that are not renewed yet; each is logged once.

    `met` counts those that were met.
    """

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.met = 0

    def sort_out(self, pages: Iterable[PageRecord | DamagedPage]) -> list[PageRecord]:
        """The pages that can be read; the others are noted."""
        found = []
        for page in pages:
            if isinstance(page, PageRecord):
                found.append(page)
            else:
                self.note(page)
        return found

    def take(self, other: DamageLog) -> None:
        """Take note of what another one has logged."""
        self.met += len(other.keys - self.keys)
        self.keys |= other.keys

    def note(self, page: DamagedPage) -> None:
        """Take note of a damaged page."""
        if page.key not in self.keys:
            self.keys.add(page.key)
            self.met += 1
            message = "The stored page %s cannot be read (%s): see `noiseclean check --repair`"
            logger.error(message, page.key, page.reason)

    def readable(self, found: Found | DamagedPage) -> Found:
        """What was found; where that cannot be read, it is noted and a DamagedError is raised."""
        if isinstance(found, DamagedPage):
            self.note(found)
            raise DamagedError(
                f"the stored page {found.key} is damaged: {found.reason}; let "
                f"`noiseclean check --repair` forget it, then crawl it again"
            )
        return found


def is_damage(error: Exception) -> bool:
    """Whether an error that came up while rows were read says that one of them is damaged."""
    if isinstance(error, DBAPIError):
        return isinstance(error.orig, sqlite3.DatabaseError) and "malformed" in str(error.orig)
    return isinstance(error, _ERRORS)


def refuses_value(error: SQLAlchemyError) -> bool:
    """Whether it is a value that is refused: it is too long, or no such value can be."""
    if not isinstance(error, DBAPIError):
        return isinstance(error, StatementError)  # of what turns a value into the database's
    state = getattr(error.orig, "sqlstate", None) or ""
    return isinstance(error, DataError) or state.startswith(_LIMIT_EXCEEDED)


def is_corruption(error: SQLAlchemyError) -> bool:
    """Whether SQLite says that what is in its file cannot be, and not that it is busy or full."""
    kind = type(getattr(error, "orig", None))
    return kind in (sqlite3.DatabaseError, sqlite3.IntegrityError)
