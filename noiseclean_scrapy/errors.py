"""The errors of this package, one family."""


class NoiseCleanError(Exception):
    """Base of every error this package raises on purpose."""


class StoreError(NoiseCleanError):
    """The database cannot be opened, or refused a read or a write."""


class ArchiveError(NoiseCleanError):
    """A stored crawl cannot be read at all; damage inside one is only warned about."""


class ConfigurationError(NoiseCleanError):
    """A setting or an argument is unknown or has a value that cannot be used."""


class TreeDataError(NoiseCleanError):
    """Bytes that should hold a learned tree are foreign, damaged or of another version."""
