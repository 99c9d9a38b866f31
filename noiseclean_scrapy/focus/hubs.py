"""Hub pages: lists of links whose texts keep changing, and when to look at them again."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from noiseclean_scrapy.page.hashes import hash64

LEAST_LINKS = 5
"""Links in kept list blocks that make a page a list."""

_MEMORY = 0.9
_MOST_TEXTS = 200_000
_MOST_PLACES = 50
_LEAST_VALUE = 0.01
_LEAST_EXPECTED = 0.5


@dataclass(slots=True)
class Hub:
    """A page that lists links, and how its link texts have changed.

    `request` is what asked for it. At its revisits `changes` link texts were found in `watched`
    seconds that no hub had shown before; both fade by 0.9 a visit. `places` counts them by the
    place they stand at. `value` in [0, 1] is the mean promise of its links.

    `visited` and each `now` are seconds of a clock that does not jump.
    """

    address: str
    site: str
    request: Any
    visited: float
    value: float = 0.0
    visits: int = 0
    changes: float = 0.0
    watched: float = 0.0
    places: Counter[str] = field(default_factory=Counter)

    def visit(self, fresh: Sequence[str], value: float, now: float) -> None:
        """See the page at `now` seconds; `fresh` are the places of its new link texts."""
        if self.visits:
            self.changes = _MEMORY * self.changes + len(fresh)
            self.watched = _MEMORY * self.watched + max(0.0, now - self.visited)
            self.places.update(fresh)
            self.places = Counter(dict(self.places.most_common(_MOST_PLACES)))
        self.visits += 1
        self.visited = now
        self.value = value

    def miss(self, now: float) -> None:
        """Fail to see the page at `now` seconds: nothing new in all that time."""
        self.watched += max(0.0, now - self.visited)
        self.visited = now

    def rate(self, interval: float) -> float:
        """Expected new link texts a second: (changes + 1) / (watched + interval).

        That is the posterior mean of a Poisson process of which one change in `interval` seconds
        was expected. A list that never changes falls from 1 in `interval` to 1 in all that time, of
        which a fifth has faded.
        """
        return (self.changes + 1) / (self.watched + interval)

    def gain(self, interval: float, now: float) -> float:
        """What a visit at `now` would find: new link texts times the value of the page's links."""
        expected = self.rate(interval) * max(0.0, now - self.visited)
        return expected * (_LEAST_VALUE + self.value)


class Hubs:
    """The hubs of a crawl; above `most` the one that promises least is forgotten.

    `texts` are hashes of the link texts that hubs have shown.
    """

    def __init__(self, interval: float, most: int = 1_000) -> None:
        self.interval = interval
        self.most = most
        self.known: dict[str, Hub] = {}
        self.texts: OrderedDict[int, None] = OrderedDict()

    def __iter__(self) -> Iterator[Hub]:
        return iter(self.known.values())

    def visit(self, hub: Hub, links: Iterable[tuple[str, str]], value: float, now: float) -> int:
        """See a hub's list links (place, text) at `now` seconds.

        Gives how many of the texts are new, if this is a revisit: no hub has shown them before.
        """
        fresh = []
        for place, text in links:
            key = hash64(text)
            if key not in self.texts:
                fresh.append(place)
            self.texts[key] = None
            self.texts.move_to_end(key)
        while len(self.texts) > _MOST_TEXTS:
            self.texts.popitem(last=False)
        is_revisit = hub.visits > 0
        hub.visit(fresh, value, now)
        self.add(hub, now)
        return len(fresh) if is_revisit else 0

    def add(self, hub: Hub, now: float) -> None:
        """Remember a hub."""
        self.known[hub.address] = hub
        if len(self.known) > self.most:
            others = (other for other in self if other is not hub)
            del self.known[min(others, key=lambda other: self.urgency(other, now)).address]

    def next(self, now: float, busy: Collection[str]) -> Hub | None:
        """The most urgent hub that is due, of a site not in `busy`; None if there is none."""
        due = [hub for hub in self if hub.site not in busy and self.is_due(hub, now)]
        return max(due, key=lambda hub: (self.urgency(hub, now), hub.address), default=None)

    def is_due(self, hub: Hub, now: float) -> bool:
        """Whether `interval` seconds have gone by, and half a new link text or more is expected.

        So a list that never changes is left alone for two fifths of the time it has been watched.
        """
        elapsed = now - hub.visited
        return elapsed >= self.interval and hub.rate(self.interval) * elapsed >= _LEAST_EXPECTED

    def urgency(self, hub: Hub, now: float) -> float:
        """What hubs are ordered by; override for a policy of your own."""
        return hub.gain(self.interval, now)
