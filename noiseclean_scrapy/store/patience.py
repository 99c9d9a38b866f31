"""How long a store waits for a PostgreSQL that takes what it is told and answers nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic

SILENCE_SECONDS = 300.0
"""More than a crawl's longest statement takes, and than another one holds a site."""
CONNECTING_SECONDS = 10
"""For a new connection; and for what is asked first of a server that has kept silent."""
GIVEN_UP_SECONDS = 3
"""Once nobody wants to wait any longer: what is under way may end in this time."""


class Patience:
    """How long the connections of one store wait for an answer, all together.

    What a connection waits for is silence alone: each answer, be it a part of one, begins the time
    anew. `seconds` are for the first silence; until the server has answered again it is given as
    long as a new connection is.
    """

    def __init__(self, seconds: float = SILENCE_SECONDS) -> None:
        self.seconds = seconds
        self.has_given_up = False
        self._is_endless = False
        self._is_silent = False

    def give_up(self) -> None:
        """Let no wait, of those that are under way neither, last longer than a moment."""
        self.has_given_up = True

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Wait for as long as it takes, unless somebody gives up: tables are made or migrated."""
        self._is_endless = True
        try:
            yield
        finally:
            self._is_endless = False

    def begin(self) -> Wait:
        """Begin to wait."""
        return Wait(self)

    def limit(self) -> float:
        """How many seconds who begins to wait now may wait."""
        if self._is_endless:
            return inf
        return min(self.seconds, CONNECTING_SECONDS) if self._is_silent else self.seconds

    def note(self, *, is_silent: bool) -> None:
        """Note that the server has answered, or that it has not for as long as one waits."""
        self._is_silent = is_silent


class Wait:
    """One wait for an answer."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._limit = patience.limit()
        self._since = monotonic()

    def go_on(self, *, is_answer: bool) -> None:
        """Begin the time anew: something was sent, or has come."""
        self._since = monotonic()
        if is_answer:
            self._patience.note(is_silent=False)

    def why_over(self) -> str:
        """Why there is to be no more waiting; empty while there is."""
        has_given_up = self._patience.has_given_up
        limit = min(self._limit, GIVEN_UP_SECONDS) if has_given_up else self._limit
        if monotonic() < self._since + limit:
            return ""
        self._patience.note(is_silent=True)
        return f"it has answered nothing for {limit:g} s"
