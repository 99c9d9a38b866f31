"""The errors of this package, one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

_LONGEST_MESSAGE = 500


class NoiseCleanError(Exception):
    """Base of every error this package raises on purpose."""


class StoreError(NoiseCleanError):
    """The database cannot be opened, or refused a read or a write."""


class RefusedValueError(StoreError):
    """The database takes no value of what was to be written, however often it is tried."""


class DamagedError(StoreError):
    """What was asked for is in the database and cannot be read."""


class QueryError(NoiseCleanError):
    """A search was asked for nothing, or with a limit or a time that cannot be."""


class NotStoredError(NoiseCleanError):
    """A site or a page that was asked for is not in the database, or not its HTML."""

    @classmethod
    def site(
        cls, name: str, where: str = "the database", known: Sequence[str] | None = None
    ) -> Self:
        """Of a site; of those that are there the first ten are told."""
        some = "" if known is None else f"; sites there: {', '.join(known[:10]) or 'none'}"
        return cls(f"there is no site {name!r} in {where}{some}")


class IndexingError(NoiseCleanError):
    """An external index cannot be opened or written, or its library is missing."""


class ArchiveError(NoiseCleanError):
    """A stored crawl cannot be read at all; damage inside one is only warned about."""


class ArchiveReadError(ArchiveError):
    """A disk, a network or an object store did not give what is there; it may do so later."""


class JobError(NoiseCleanError):
    """A batch job cannot clean, or failed at more of its pages than it may."""


class ConfigurationError(NoiseCleanError):
    """A setting or an argument is unknown or has a value that cannot be used."""


class TreeDataError(NoiseCleanError):
    """Bytes that should hold a learned tree are foreign, damaged or of another version.

    The message, in which parts of them may stand, is cut off at 500 characters.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message[:_LONGEST_MESSAGE])


class UnknownMethodError(TreeDataError):
    """A learned tree of a method that is not here: of another version, or a class of somebody's."""
