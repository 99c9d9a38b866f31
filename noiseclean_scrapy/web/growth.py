"""How much figures have grown in the last minute."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from time import monotonic

_SECONDS = 60.0


class Growth:
    """Figures as they were lately, by name."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, Mapping[str, float]]] = deque(maxlen=64)

    def a_minute(self, figures: Mapping[str, float]) -> dict[str, float]:
        """How much each figure, as it is now, grows a minute.

        Where one has fallen a crawl has begun again, and so does the count.
        """
        now = monotonic()
        last = self._seen[-1][1] if self._seen else {}
        if any(figures.get(name, 0) < value for name, value in last.items()):
            self._seen.clear()
        while self._seen and now - self._seen[0][0] > _SECONDS:
            self._seen.popleft()
        since, before = self._seen[0] if self._seen else (now, figures)
        self._seen.append((now, figures))
        minutes = max((now - since) / 60, 1 / 60)
        return {name: (value - before.get(name, 0)) / minutes for name, value in figures.items()}
