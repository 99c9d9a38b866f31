"""What the frontier costs its Redis: memory a request, and how many it takes in a second.

    python -m benchmarks.frontier --requests 10000000

Made-up addresses of many sites are pushed to a Redis server of its own in batches, as crawls do,
four of five of them for a second time; then a part of them is taken and finished.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from hashlib import sha1
from typing import Any

from redis import Redis

from benchmarks.corpora import environment
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from noiseclean_scrapy.frontier.part import Part, Push
from tests.support.redis_queues import private_redis

PAGES_OF_A_SITE = 100
BATCH = 500
TAKEN = 100_000


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "frontier")
    parser.add_argument("--requests", type=int, default=1_000_000, help="different addresses")
    args = parser.parse_args(argv)
    with private_redis() as server:
        figures = measure(server.url, args.requests)
    rows = [[name, f"{value:,}"] for name, value in figures.items()]
    table = Table("The frontier's Redis", ["figure", "value"], rows)
    versions = environment(["noiseclean-scrapy", "redis"])
    publish_figures(args, [table], {**versions, "figures": figures})
    return 0


def measure(url: str, requests: int) -> dict[str, int]:
    """Figures of one server, which holds nothing else."""
    part, redis = Part(url, "made-up"), Redis.from_url(url)
    empty = used(redis)
    began = time.monotonic()
    for batch in batches(requests):
        part.push(batch)
    pushing = time.monotonic() - began
    full = used(redis)
    again = [push for batch in batches(min(requests, 20 * BATCH)) for push in batch]
    began = time.monotonic()
    for _ in range(4):
        part.push(again)
    repeating = time.monotonic() - began
    began, done, wanted = time.monotonic(), 0, min(TAKEN, requests)
    held: list[tuple[str, int]] = []
    is_known = False
    while done < wanted:
        taken = part.take("p", 60, is_known=is_known, sites=100, each=16, wanted=held)
        assert taken
        is_known = True
        found = [(site, data) for site, some in taken.requests.items() for data in some]
        part.finish(found)
        part.release("p", [(site, 0.0) for site, some in taken.requests.items() if not some])
        held = [(site, 16) for site, some in taken.requests.items() if some]
        done += len(found)
    taking = time.monotonic() - began
    bare = redis.memory_usage("made-up:frontier:seen", samples=1000)
    seen: Any = bare
    redis.close()
    part.close()
    return {
        "requests": requests,
        "sites": requests // PAGES_OF_A_SITE,
        "bytes an address seen": round(seen / requests),
        "bytes a request that waits, its address included": round((full - empty) / requests),
        "new requests pushed a second": round(requests / pushing),
        "known ones pushed a second": round(4 * len(again) / repeating),
        "taken and finished a second": round(done / taking),
    }


def used(redis: Any) -> int:
    """Bytes that the server's data take."""
    return int(redis.info("memory")["used_memory"])


def batches(requests: int) -> Iterator[list[Push]]:
    """Different requests, those of one batch of different sites."""
    sites = max(1, requests // PAGES_OF_A_SITE)
    for start in range(0, requests, BATCH):
        yield [made_up(n, sites) for n in range(start, min(requests, start + BATCH))]


def made_up(number: int, sites: int) -> Push:
    """A request as the scheduler pushes it."""
    site = f"newspaper-{number % sites}.example"
    url = f"https://www.{site}/archive/2025/story-number-{number // sites}.html"
    data = {"url": url, "callback": "parse", "meta": {"depth": 3}}
    fingerprint = sha1(url.encode()).digest()
    return Push(site, fingerprint, 0, pickle.dumps(data, protocol=4))


if __name__ == "__main__":
    sys.exit(main())
