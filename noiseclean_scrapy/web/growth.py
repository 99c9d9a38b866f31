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

    def has_fallen(self, figures: Mapping[str, float]) -> bool:
        """Whether one is lower than at the last look, or gone: of counts, they began anew."""
        last = self._seen[-1][1] if self._seen else {}
        return any(figures.get(name, 0) < value for name, value in last.items())

    def a_minute(self, figures: Mapping[str, float]) -> dict[str, float]:
        """How much each figure, as it is now, grows a minute; what has fallen grows by 0."""
        now = monotonic()
        while self._seen and now - self._seen[0][0] > _SECONDS:
            self._seen.popleft()
        since, before = self._seen[0] if self._seen else (now, figures)
        self._seen.append((now, figures))
        minutes = max((now - since) / 60, 1 / 60)
        return {
            name: max(value - before.get(name, 0), 0) / minutes for name, value in figures.items()
        }
