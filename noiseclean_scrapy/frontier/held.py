"""What a process has of the frontier: its sites, and their requests from waiting to done."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request

_TURN_SECONDS = 600.0


@dataclass
class HeldSite:
    """A site that belongs to this process; `rest` are the seconds others are to wait after it.

    Requests go from `waiting` to `under_way` and, when their callbacks and items are through, to
    `done`, with the page they may have left; there they stay until Redis has forgotten them.
    """

    name: str
    rest: float
    waiting: deque[bytes] = field(default_factory=deque)
    under_way: dict[Request, bytes] = field(default_factory=dict)
    done: list[tuple[bytes, str]] = field(default_factory=list)
    is_empty: bool = False
    gives_way: bool = False
    since: float = field(default_factory=monotonic)

    @property
    def data(self) -> list[bytes]:
        """All requests of it, as Redis has them."""
        return [*self.waiting, *self.under_way.values(), *(data for data, _ in self.done)]

    @property
    def is_through(self) -> bool:
        """Whether nothing of it is here, and nothing more is asked for."""
        return (self.is_empty or self.gives_way) and not self.data

    @property
    def had_its_turn(self) -> bool:
        """Whether other sites may come first."""
        return monotonic() > self.since + _TURN_SECONDS


class HeldSites:
    """The sites of a process, those with the fewest requests under way first."""

    def __init__(self, under_way: int, waiting: int) -> None:
        self.most_under_way = under_way
        self.most_waiting = waiting
        self._sites: dict[str, HeldSite] = {}

    def __len__(self) -> int:
        return len(self._sites)

    def __iter__(self) -> Iterator[HeldSite]:
        return iter(self._sites.values())

    def add(self, name: str, requests: list[bytes], rest: float) -> None:
        """Note what was taken of a site."""
        site = self._sites.setdefault(name, HeldSite(name, rest))
        site.waiting.extend(requests)
        site.is_empty = not requests

    def next(self) -> tuple[HeldSite, bytes] | None:
        """The request to do next, if there is one."""
        ready = [s for s in self if s.waiting and len(s.under_way) < self.most_under_way]
        if not ready:
            return None
        site = min(ready, key=lambda site: len(site.under_way))
        self._sites[site.name] = self._sites.pop(site.name)  # the others' turn
        return site, site.waiting.popleft()

    def wanted(self) -> list[tuple[str, int]]:
        """How many requests each site has room for."""
        return [
            (site.name, self.most_waiting - len(site.waiting))
            for site in self
            if not site.gives_way
            and not site.is_through
            and len(site.waiting) <= self.most_waiting // 2
        ]

    def give_way(self, share: int, free: int) -> None:
        """Let sites go: those above the process's share, and after a turn where others wait."""
        staying = [site for site in self if not site.gives_way]
        for number, site in enumerate(staying):
            is_excess = number < len(staying) - share
            site.gives_way = is_excess or (free > 0 and site.had_its_turn)

    def drop(self, names: list[str]) -> None:
        """Forget sites that are through."""
        for name in names:
            del self._sites[name]

    def lose(self) -> None:
        """Forget all that is not under way: it belongs to others now."""
        for site in self:
            site.waiting.clear()
            site.gives_way = True
