"""A real Redis for tests, and a spider that shares its requests by scrapy-redis."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
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


@dataclass
class PrivateRedis:
    """A Redis server that may be killed; it keeps what it has answered."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.folder / 'redis.sock'}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = ["--port", "0", "--unixsocket", f"{self.folder / 'redis.sock'}", "--save", ""]
        self.process = subprocess.Popen(
            ["redis-server", *options, "--appendonly", "yes", "--appendfsync", "always"],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        server = redis.Redis.from_url(self.url)
        while True:
            try:
                server.ping()
                break
            except redis.ConnectionError:
                assert self.process.poll() is None
                time.sleep(0.02)
        server.close()

    def pause(self) -> None:
        """Let it take connections, and answer nothing."""
        assert self.process
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after a pause."""
        assert self.process
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it as a crash does."""
        if self.process:
            self.process.kill()
            self.process.wait()


@contextmanager
def private_redis() -> Iterator[PrivateRedis]:
    """A Redis server of the test's own."""
    if not shutil.which("redis-server"):
        give_up("there is no redis-server")
    with tempfile.TemporaryDirectory() as folder:  # a socket's path is to be short
        server = PrivateRedis(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.kill()


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
