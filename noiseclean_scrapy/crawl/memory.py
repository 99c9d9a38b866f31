"""Memory that was freed goes back to the system.

The C library of Linux keeps what a thread has freed in an arena of that thread. Pages are parsed,
written and learned in several threads, so that a process would come to hold the sum of what each
of them has ever needed at once, several times what is in use.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable


def _find_trim() -> Callable[[int], int] | None:
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not glibc
        return None
    return trim


_trim = _find_trim()


def trim_heap() -> bool:
    """Give free memory back (glibc's `malloc_trim`, elsewhere nothing); whether there was any."""
    return _trim is not None and bool(_trim(0))
