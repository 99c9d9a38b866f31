"""A real Redis for tests, and a spider that shares its requests by scrapy-redis."""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import redis
import scrapy
from scrapy.crawler import Crawler
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.http import Response, TextResponse
from scrapy_redis.queue import PriorityQueue
from scrapy_redis.spiders import RedisSpider

from tests.support.services import give_up

REDIS_URL = os.environ.get("NOISECLEAN_TEST_REDIS", "redis://127.0.0.1:6379/15")


@dataclass(frozen=True)
class Queue:
    """The keys of one crawl in Redis: they begin with the spider's `name`."""

    name: str
    server: redis.Redis

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of every process of the crawl."""
        return {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "SCHEDULER_PERSIST": True,
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "REDIS_URL": REDIS_URL,
            "MAX_IDLE_TIME_BEFORE_CLOSE": -1,  # as soon as nothing waits
        }

    def seed(self, urls: Sequence[str]) -> None:
        """Give the crawl its first requests."""
        spider = FollowSpider(name=self.name)
        requests = PriorityQueue(self.server, spider, "%(spider)s:requests")
        for url in urls:
            requests.push(scrapy.Request(url))

    def forget_requests(self) -> None:
        """Let all addresses be requested again."""
        self.server.delete(f"{self.name}:dupefilter")

    def waiting(self) -> int:
        """Number of requests that nobody has taken."""
        return int(self.server.zcard(f"{self.name}:requests"))


@contextmanager
def redis_queue() -> Iterator[Queue]:
    """Keys of the test's own, deleted afterwards.

    The server is the one of the environment variable NOISECLEAN_TEST_REDIS.
    """
    server = redis.Redis.from_url(REDIS_URL, socket_connect_timeout=3)
    try:
        server.ping()
    except redis.ConnectionError as error:
        give_up(f"no Redis answers at {REDIS_URL} (NOISECLEAN_TEST_REDIS): {error}")
    queue = Queue(f"noiseclean-test-{secrets.token_hex(8)}", server)
    try:
        yield queue
    finally:
        for key in server.scan_iter(f"{queue.name}:*"):
            server.delete(key)
        server.close()


class FollowSpider(RedisSpider):  # type: ignore[misc]
    """Follows all links, with an item for each page."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> FollowSpider:
        # scrapy-redis 0.9 calls methods of Scrapy that are deprecated.
        warnings.filterwarnings(
            "ignore", category=ScrapyDeprecationWarning, module=r"scrapy_redis\."
        )
        spider: FollowSpider = super().from_crawler(crawler, *args, **kwargs)
        return spider

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        yield {"url": response.url}
        yield from response.follow_all(css="a")
