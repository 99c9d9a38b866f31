"""How long the callbacks of an asyncio event loop take: while one runs, nothing else does."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass


@dataclass(slots=True)
class LongestCallback:
    """The longest callback so far, in seconds on the clock and of its thread's processor time."""

    seconds: float = 0.0
    processor_seconds: float = 0.0

    def forget(self) -> None:
        """Begin anew."""
        self.seconds = self.processor_seconds = 0.0

    @classmethod
    def watch(cls) -> LongestCallback:
        """Time all callbacks that run in this process from now on."""
        found = cls()
        run = asyncio.Handle._run

        def timed(handle: asyncio.Handle) -> None:
            start, processor_start = time.perf_counter(), time.thread_time()
            run(handle)
            found.processor_seconds = max(
                found.processor_seconds, time.thread_time() - processor_start
            )
            found.seconds = max(found.seconds, time.perf_counter() - start)

        setattr(asyncio.Handle, "_run", timed)  # noqa: B010 (mypy refuses the assignment)
        return found
