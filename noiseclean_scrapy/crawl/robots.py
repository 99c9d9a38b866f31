"""Robots.txt, obeyed by requests as well that come while it is loading."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import DeferredLock

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser


LARGEST_ROBOTS = 500 * 2**10
"""Bytes of robots.txt that crawlers read at least (RFC 9309), and no more is read here."""


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's own, which in version 2.19 allows all that waits for a robots.txt but its first two.

    There they wait for one Deferred, whose result goes to the first that awaits it. Here they wait
    for each other. What is beyond `LARGEST_ROBOTS` is not parsed, which would stop the event loop.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._turns: defaultdict[str, DeferredLock] = defaultdict(DeferredLock)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        turn = self._turns[urlparse_cached(request).netloc]
        await maybe_deferred_to_future(turn.acquire())
        try:
            return await super().robot_parser(request)
        finally:
            turn.release()

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        if len(response.body) > LARGEST_ROBOTS:
            part = response.body[:LARGEST_ROBOTS]
            end = max(map(part.rfind, (b"\n", b"\r"))) + 1  # half a rule may be another one
            response = response.replace(body=part[:end])
        await super()._parse_robots(response, netloc, request)
