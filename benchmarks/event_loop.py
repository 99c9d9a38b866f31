"""How long the callbacks of an asyncio event loop take: while one runs, nothing else does."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class LongestCallback:
    """The longest callback so far, in seconds: on the clock, and of its thread's processor time.

    `own_seconds` is the longest processor time without the turns of the garbage collector, which
    come to whoever makes the next object and take as long as there are objects.
    """

    seconds: float = 0.0
    processor_seconds: float = 0.0
    own_seconds: float = 0.0

    def forget(self) -> None:
        """Begin again."""
        self.seconds = self.processor_seconds = self.own_seconds = 0.0

    @classmethod
    def watch(cls) -> LongestCallback:
        """Time all callbacks that run in this process from now on."""
        found = cls()
        collector = _Collector(threading.get_ident())
        gc.callbacks.append(collector)
        run = asyncio.Handle._run

        def timed(handle: asyncio.Handle) -> None:
            start, processor_start = time.perf_counter(), time.thread_time()
            collected = collector.seconds
            run(handle)
            taken = time.thread_time() - processor_start
            found.processor_seconds = max(found.processor_seconds, taken)
            found.own_seconds = max(found.own_seconds, taken - collector.seconds + collected)
            found.seconds = max(found.seconds, time.perf_counter() - start)

        setattr(asyncio.Handle, "_run", timed)  # noqa: B010 (mypy refuses the assignment)
        return found


@dataclass(slots=True)
class _Collector:
    """Processor time of the garbage collector's turns in one thread."""

    thread: int
    seconds: float = 0.0
    _start: float = 0.0

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if threading.get_ident() == self.thread:
            now = time.thread_time()
            if phase == "start":
                self._start = now
            else:
                self.seconds += now - self._start
