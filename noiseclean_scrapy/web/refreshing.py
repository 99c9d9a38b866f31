"""A value that is read again in the background once it is old."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread
from time import monotonic
from typing import Generic, TypeVar

from noiseclean_scrapy.errors import NoiseCleanError
from noiseclean_scrapy.page.logs import get_logger

logger = get_logger(__name__)
Value = TypeVar("Value")

_SHARE = 10  # reading takes a tenth of the time at most
_SHORT = 0.1


class Refreshing(Generic[Value]):
    """Gives the last value at once; the first one is waited for, and what is read in a moment.

    `read` runs in a thread, one at a time: no sooner than `seconds` after the last time, and ten
    times as long as that took. If it raises, the last value stays.
    """

    def __init__(self, read: Callable[[], Value], seconds: float) -> None:
        self._read = read
        self._seconds = seconds
        self._lock = Lock()
        self._first = Event()
        self._value: Value | None = None
        self.error: Exception | None = None  # of the last time
        self._is_reading = False
        self._read_at = -1e9
        self._took = 0.0

    def begin(self) -> bool:
        """Read the first value in the background, unless there is one; whether there is one."""
        if self._value is None:
            self._start()
        return self._value is not None

    def get(self) -> Value:
        """The value, which may be old; raises what reading the first one raised."""
        thread = self._start()
        if thread is not None and self._took < _SHORT:
            thread.join(_SHORT * 5)
        self._first.wait()
        if self._value is None and self.error is not None:
            raise self.error
        return self._value  # type: ignore[return-value]

    def expire(self) -> None:
        """What was read is old from now on."""
        with self._lock:
            self._read_at = -1e9

    def _start(self) -> Thread | None:
        with self._lock:
            age = monotonic() - self._read_at
            if self._is_reading or age < max(self._seconds, _SHARE * self._took):
                return None
            self._is_reading = True
        thread = Thread(target=self._refresh, daemon=True)
        thread.start()
        return thread

    def _refresh(self) -> None:
        started = monotonic()
        try:
            self._value, self.error = self._read(), None
        except Exception as error:
            if str(error) != str(self.error):  # while it lasts it is told once
                is_told = isinstance(error, NoiseCleanError)
                logger.warning("Could not be read: %s", error, exc_info=not is_told)
            self.error = error
        with self._lock:
            self._read_at = monotonic()
            self._took = self._read_at - started
            self._is_reading = False
        self._first.set()
