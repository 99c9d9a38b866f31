"""FitWatch: whether the pages of a site have stopped fitting what was learned of it."""

from __future__ import annotations

PAGES = 10
"""Pages after which a redesign is seen, at the soonest."""
_LEAST_FIT = 0.5


class FitWatch:
    """The mean fit of about the last ten pages, each in [0, 1]."""

    def __init__(self) -> None:
        self._mean, self._pages = 1.0, 0

    def note(self, fit: float) -> None:
        """Take note of how well a page fits."""
        self._pages += 1
        self._mean += (fit - self._mean) / min(self._pages, PAGES)

    @property
    def sees_redesign(self) -> bool:
        """Whether most of what ten pages or more show is new."""
        return self._pages >= PAGES and self._mean < _LEAST_FIT
