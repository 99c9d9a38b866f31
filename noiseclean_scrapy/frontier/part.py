"""One part of a frontier: the requests of some sites, in one Redis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from noiseclean_scrapy.frontier import scripts

if TYPE_CHECKING:
    from redis import Redis, RedisError
    from scrapy import Request

_ANSWER_SECONDS = 5.0
_AT_ONCE = 500
_MOST_RETURNS, _MOST_TOGETHER = 5, 2


class Push(NamedTuple):
    """A request on its way to Redis; an empty `fingerprint` passes the duplicate filter."""

    site: str
    fingerprint: bytes
    priority: int
    data: bytes


class Counts(NamedTuple):
    """Requests that are not done, and requests pushed since the frontier began."""

    pending: int
    pushed: int


class Taken(NamedTuple):
    """What a process gets: its share of the sites, how many nobody has, and requests by site.

    And how many requests have been given up, and how many Redis has `lost`.
    """

    counts: Counts
    share: int
    free: int
    failed: int
    requests: dict[str, list[bytes]]
    lost: int


@dataclass
class Exchange:
    """What goes to Redis at one time, and what came back."""

    pushes: list[tuple[Push, Request]]
    done: list[tuple[str, bytes]]
    through: list[tuple[str, float]]
    wanted: list[tuple[str, int]]
    sites: int
    known: dict[str, list[bytes]]
    began: float = field(default_factory=monotonic)
    is_new: dict[int, bool] = field(default_factory=dict)
    taken: Taken | None = None
    others: tuple[Counts, ...] = ()
    trouble: RedisError | None = None  # of another part


class Part:
    """The sites of one Redis; a site and its requests belong to one process at a time.

    A process keeps what it has as long as it asks for more within its lease; afterwards all of it
    waits again. A request whose process died more than twice is done alone by the next ones, so
    that the one they die of is found; after more than five times it is given up (key `failed`).
    Every other method raises `redis.RedisError` where Redis does not answer within five seconds.
    """

    def __init__(self, url: str, name: str) -> None:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        # A step that is tried again by itself would take requests twice.
        self._redis: Redis = Redis.from_url(
            url,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=_ANSWER_SECONDS,
            socket_connect_timeout=_ANSWER_SECONDS,
        )
        self.name = f"{name}:frontier"
        self.born = b""  # when the frontier was, which an emptied Redis has forgotten

    def refusal(self) -> str:
        """Why Redis will never let this process in, empty where it may: password, database."""
        from redis import AuthenticationError, RedisError

        try:
            self._redis.ping()
        except RedisError as error:
            if isinstance(error, AuthenticationError) or "DB index" in str(error):
                return str(error)
        return ""

    def push(self, requests: Sequence[Push]) -> list[bool]:
        """Let requests wait; whether each was new."""
        return [
            bool(is_new)
            for some in _some(requests)
            for is_new in self._run(scripts.PUSH, chain.from_iterable(some))
        ]

    def finish(self, requests: Sequence[tuple[str, bytes]]) -> None:
        """Forget requests, with their sites, that are done."""
        for some in _some(requests):
            self._run(scripts.FINISH, chain.from_iterable(some))

    def release(self, process: str, sites: Sequence[tuple[str, float]]) -> None:
        """Leave sites to others, each after some seconds of rest."""
        for some in _some(sites):
            self._run(scripts.RELEASE, [process, *chain.from_iterable(some)])

    def leave(self, process: str) -> None:
        """Leave all that a process has to others."""
        self._run(scripts.LEAVE, [process])

    def keep(self, process: str, known: dict[str, list[bytes]]) -> None:
        """Leave what a process has without knowing of it, since an answer was lost, to others."""
        members: Any = self._redis.smembers(f"{self.name}:held:{process}")
        for site in (member.decode() for member in members):
            if site in known:
                self._run(scripts.KEEP, [process, site, *known[site]])
            else:
                self.release(process, [(site, 0.0)])

    def take(
        self,
        process: str,
        lease: float,
        *,
        is_known: bool,
        sites: int,
        each: int,
        wanted: Iterable[tuple[str, int]],
    ) -> Taken | None:
        """Extend the lease (seconds), and take requests: of `sites` new sites, `each` of one.

        Of own sites as many as are `wanted`. None where the process `is_known` and its lease has
        ended: others have what was its own, unless `born` is another time than before.
        """
        answer = self._run(
            scripts.TAKE,
            [
                *(process, lease, int(is_known), sites, each, _MOST_RETURNS, _MOST_TOGETHER),
                *chain.from_iterable(wanted),
            ],
        )
        if not answer[0]:
            self.born = answer[1]
            return None
        _, pending, pushed, share, free, failed, found, lost, self.born = answer
        requests = {site.decode(): data for site, data in zip(found[::2], found[1::2], strict=True)}
        return Taken(Counts(pending, pushed), share, free, failed, requests, lost)

    def counts(self) -> Counts:
        """How much is to be done."""
        pending, pushed = self._redis.hmget(f"{self.name}:counts", "pending", "pushed")
        return Counts(int(pending or 0), int(pushed or 0))

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()

    def _run(self, script: str, arguments: Iterable[Any]) -> Any:
        step = self._redis.register_script(scripts.COMMON + script)  # Redis gets the text once
        return step(keys=[self.name], args=list(arguments))


def is_refusal(error: RedisError) -> bool:
    """Whether Redis has answered."""
    from redis import AuthenticationError, ResponseError
    from redis.exceptions import AuthorizationError

    return isinstance(error, (ResponseError, AuthenticationError, AuthorizationError))


def _some(everything: Sequence[Any]) -> Iterable[list[Any]]:
    """The parts of a list, none so long that Redis would have others wait."""
    rest = iter(everything)
    while some := list(islice(rest, _AT_ONCE)):
        yield some
