"""Processes that share a crawl's requests by the frontier: leases, crashes, parts, a dead Redis."""

from __future__ import annotations

import itertools
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("redis", reason="needs the extra redis")

import scrapy
from redis import Redis
from scrapy.http import Response, TextResponse

from noiseclean_scrapy.frontier.part import Part, Push
from noiseclean_scrapy.page.hashes import hash64
from noiseclean_scrapy.page.urls import site_name
from tests.support import crawling
from tests.support.crawl_site import NOISE, story, story_text
from tests.support.crawling import Crawled, Plan
from tests.support.databases import postgresql_schema, read_rows
from tests.support.redis_queues import PrivateRedis, private_redis
from tests.support.servers import Request, serving

pytestmark = [pytest.mark.services, pytest.mark.slow]

PAGES = 20
SITES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
DELAY = 0.1
LEASE = 3.0


class Visited(NamedTuple):
    """A line of the server's log: seconds, site, path and the process that asked."""

    when: float
    site: str
    path: str
    process: str


@dataclass
class Web:
    """Three sites of one server, whose pages link to two of their own site and to the next site."""

    port: int = 0
    pages: int = PAGES
    log: list[Visited] = field(default_factory=list)
    at: dict[int, Any] = field(default_factory=dict)

    def url(self, site: int, number: int) -> str:
        return f"http://{SITES[site]}:{self.port}/{number}"

    @property
    def urls(self) -> set[str]:
        return {
            self.url(site, number) for site in range(len(SITES)) for number in range(self.pages)
        }

    @property
    def fetched(self) -> list[str]:
        return [f"http://{visited.site}{visited.path}" for visited in self.log]

    def page(self, site: int, number: int) -> str:
        own = [self.url(site, (2 * number + turn) % self.pages) for turn in (1, 2)]
        links = [*own, self.url((site + 1) % len(SITES), number)]
        return story(number, f"{NOISE} {' '.join(f'<a href={url!r}>More</a>' for url in links)}")


@pytest.fixture
def web() -> Iterator[Web]:
    web = Web()
    lock = threading.Lock()

    def respond(request: Request) -> None:
        if request.path == "/":
            request.send_error(404)
            return
        host = request.headers["Host"]
        with lock:
            web.log.append(
                Visited(time.monotonic(), host, request.path, request.headers["User-Agent"])
            )
            event = web.at.pop(len(web.log), None)
        if event:
            event()
        number = SITES.index(host.split(":")[0])
        request.answer(web.page(number, int(request.path[1:])))

    with serving(respond, "0.0.0.0") as web.port:
        yield web


@pytest.fixture
def own_redis() -> Iterator[PrivateRedis]:
    with private_redis() as server:
        yield server


class ShareSpider(scrapy.Spider):
    """Follows all links; every process has the same first addresses."""

    name = "share"
    first: list[str]

    async def start(self) -> AsyncIterator[Any]:
        for url in self.first:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        yield {"url": response.url}
        yield from response.follow_all(css="a")


def run_together(
    folder: Path,
    web: Web,
    servers: list[str],
    url: str,
    parts: list[int],
    killed: Any = crawling.never,
    lease: float = LEASE,
) -> list[Crawled | None]:
    """Crawl by one process for each entry of `parts`; the first is killed when it is told."""

    settings = {
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": DELAY,
        "NOISECLEAN_BATCH_SECONDS": 0.5,
        "NOISECLEAN_DATABASE_URL": url,
        "NOISECLEAN_FIELDS": {"text": "text"},
        "NOISECLEAN_FRONTIER": servers,
        "NOISECLEAN_FRONTIER_LEASE_SECONDS": lease,
        "DOWNLOAD_DELAY_JITTER": 0,
    }
    first = {"first": [web.url(n, 0) for n in range(len(SITES))]}
    plans = []
    for number, part in enumerate(parts):
        own = {"NOISECLEAN_FRONTIER_PART": part, "USER_AGENT": f"process {number}"}
        plans.append(Plan(ShareSpider, settings | own, first))
    return [crawled for _, crawled in crawling.crawl_together(folder, plans, killed)]


def check_stored(url: str, web: Web) -> None:
    """Every page is there once, learned, and with its text."""
    rows = read_rows(url, "SELECT url, text FROM noiseclean_page WHERE learned_version IS NOT NULL")
    expected = {url: story_text(int(url.rsplit("/", 1)[1])) for url in web.urls}
    assert sorted(rows) == sorted(expected.items())


def check_delays(web: Web) -> None:
    """By the server's log a site was visited no faster than one process may.

    Half of that: the machine may hold an answer back.
    """
    visits = defaultdict(list)
    for visited in web.log:
        visits[visited.site].append(visited.when)
    for times in visits.values():
        assert max(times) - min(times) > DELAY * (len(times) - 1) / 2


def test_a_site_belongs_to_one_process_at_a_time(
    tmp_path: Path, web: Web, own_redis: PrivateRedis
) -> None:
    with postgresql_schema() as url:
        done = run_together(tmp_path, web, [own_redis.url], url, [0, 0, 0])
        assert sorted(web.fetched) == sorted(web.urls)
        check_stored(url, web)
        check_delays(web)
    owners: dict[str, list[str]] = defaultdict(list)
    for visited in web.log:
        if visited.process not in owners[visited.site][-1:]:
            owners[visited.site].append(visited.process)
    # A site may be handed on when its requests run out, but two never share it.
    assert all(len(names) == len(set(names)) for names in owners.values()), owners
    for crawled in done:
        assert crawled
        assert not crawled.lines("ERROR", "")
        assert crawled.stats["finish_reason"] == "finished"
    server = Redis.from_url(own_redis.url)
    keys: Any = server.keys("share:*")
    left = {key.decode().split(":")[2] for key in keys}
    assert left <= {"seen", "counts", "sites"}
    assert server.hget("share:frontier:counts", "pending") == b"0"
    server.close()


def test_what_a_killed_process_had_is_done_by_the_others(
    tmp_path: Path, web: Web, own_redis: PrivateRedis
) -> None:
    def is_time(line: str) -> bool:
        return "Keys of stored pages" in line and len(web.log) > 15

    with postgresql_schema() as url:
        killed, *others = run_together(tmp_path, web, [own_redis.url], url, [0, 0, 0], is_time)
        assert killed is None
        assert all(others)
        assert set(web.fetched) == web.urls
        check_stored(url, web)
        check_delays(web)


def test_redis_that_is_away_costs_one_line(
    tmp_path: Path, web: Web, own_redis: PrivateRedis
) -> None:
    def away() -> None:
        own_redis.kill()
        threading.Timer(2.0, own_redis.start).start()

    web.at = {12: away, 40: away}
    with postgresql_schema() as url:
        done = run_together(tmp_path, web, [own_redis.url], url, [0, 0])
        assert not web.at
        assert set(web.fetched) == web.urls
        check_stored(url, web)
    for crawled in done:
        assert crawled
        errors = crawled.lines("ERROR", "")
        assert len(errors) == 2, errors
        assert all("does not answer" in line for line in errors)
        assert "Traceback" not in crawled.log


def test_redis_that_refuses_costs_one_line(
    tmp_path: Path, web: Web, own_redis: PrivateRedis
) -> None:
    def set_memory(most: int) -> None:
        redis = Redis.from_url(own_redis.url)
        redis.config_set("maxmemory", most)
        redis.close()

    def refuse() -> None:
        set_memory(1)
        threading.Timer(1.0, set_memory, [0]).start()

    web.at = {12: refuse}
    with postgresql_schema() as url:
        (crawled,) = run_together(tmp_path, web, [own_redis.url], url, [0])
        assert sorted(web.fetched) == sorted(web.urls)
        check_stored(url, web)
    assert crawled
    (line,) = crawled.lines("ERROR", "")
    assert "refuses" in line
    assert "Traceback" not in crawled.log


@pytest.mark.parametrize(
    ("login", "reason"),
    [("", "HELLO|uthentication"), (":no@", "invalid username-password"), (":yes@", "DB index")],
)
def test_redis_that_will_never_let_a_crawl_in_ends_it(
    tmp_path: Path, web: Web, own_redis: PrivateRedis, login: str, reason: str
) -> None:
    with Redis.from_url(own_redis.url) as redis:
        redis.config_set("requirepass", "yes")
    url = f"{own_redis.url.replace('://', f'://{login}')}?db=99"
    plan = Plan(ShareSpider, {"NOISECLEAN_FRONTIER": url}, {"first": [web.url(0, 0)]})
    (crawled,) = crawling.crawl(tmp_path, plan)
    assert crawled.stats["finish_reason"] == "noiseclean_frontier_error"
    (line,) = (*crawled.lines("ERROR", ""), *crawled.lines("WARNING", ""))
    assert re.search(f"refuses: .*({reason})", line)
    assert web.log == []


@pytest.mark.parametrize("at", [3, 12])
def test_redis_that_was_emptied_is_told_and_filled_again(
    tmp_path: Path, web: Web, own_redis: PrivateRedis, at: int
) -> None:
    def empty() -> None:
        redis = Redis.from_url(own_redis.url)
        redis.flushall()
        redis.close()

    web.at = {at: empty}
    with postgresql_schema() as url:
        (crawled,) = run_together(tmp_path, web, [own_redis.url], url, [0])
        assert set(web.fetched) == web.urls
        check_stored(url, web)
    assert crawled
    (line,) = (*crawled.lines("ERROR", ""), *crawled.lines("WARNING", ""))
    assert line.startswith("Redis has lost the requests of this crawl")
    assert crawled.stats["finish_reason"] == "finished"


@pytest.mark.parametrize("how", ["killed", "hangs"])
def test_redis_away_for_six_seconds_costs_no_page_of_300(
    tmp_path: Path, web: Web, own_redis: PrivateRedis, how: str
) -> None:
    ends, begins = {
        "killed": (own_redis.kill, own_redis.start),
        "hangs": (own_redis.pause, own_redis.resume),
    }[how]

    def away() -> None:
        ends()
        threading.Timer(6.0, begins).start()

    web.pages, web.at = 100, {120: away}
    with postgresql_schema() as url:
        done = run_together(tmp_path, web, [own_redis.url], url, [0, 0], lease=60)
        assert sorted(web.fetched) == sorted(web.urls)
        check_stored(url, web)
    for crawled in done:
        assert crawled
        (line,) = (*crawled.lines("ERROR", ""), *crawled.lines("WARNING", ""))
        assert "does not answer" in line
        assert "Traceback" not in crawled.log


def test_links_to_another_part_go_to_its_redis(
    tmp_path: Path, web: Web, own_redis: PrivateRedis
) -> None:
    with private_redis() as other, postgresql_schema() as url:
        done = run_together(tmp_path, web, [own_redis.url, other.url], url, [0, 1, 1])
        assert all(done)
        assert sorted(web.fetched) == sorted(web.urls)
        check_stored(url, web)
        for number, server in enumerate((own_redis, other)):
            redis = Redis.from_url(server.url)
            processes = {"process 0"} if number == 0 else {"process 1", "process 2"}
            found = {visited for visited in web.log if visited.process in processes}
            homes = {visited.site for visited in found}  # each page links to "/" as well
            assert redis.scard("share:frontier:seen") == len(found) + len(homes)
            redis.close()


class LambdaSpider(ShareSpider):
    """Has callbacks that no other process could call."""

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        if response.url.endswith("/0"):
            yield response.follow("/1", callback=partial(self.parse))


def test_a_request_that_cannot_be_sent_stays(
    tmp_path: Path, web: Web, own_redis: PrivateRedis
) -> None:
    settings = {"NOISECLEAN_FRONTIER": own_redis.url}
    plan = Plan(LambdaSpider, settings, {"first": [web.url(0, 0)]})
    (crawled,) = crawling.crawl(tmp_path, plan)
    assert {item["url"] for item in crawled.items} == {web.url(0, 0), web.url(0, 1)}
    assert crawled.ours["frontier/unserializable"] == 1


class CircleSpider(LambdaSpider):
    """Two pages that link to each other, by requests that cannot be sent."""

    name = "circle"

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        for path in ("/0", "/1"):
            yield response.follow(path, callback=partial(self.parse))


class AwaySpider(LambdaSpider):
    """Follows three pages of its site, and one link to a site of another part."""

    name = "away"
    other: str

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        yield scrapy.Request(self.other)
        number = int(response.url[-1]) + 1
        if number < 3:
            yield response.follow(f"/{number}")


class BareSpider(scrapy.Spider):
    """Asks for one page."""

    name = "bare"
    first: list[str]

    async def start(self) -> AsyncIterator[Any]:
        for url in self.first:
            yield scrapy.Request(url)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}


class LocalStartSpider(BareSpider):
    """Asks for its first pages by requests that cannot be sent."""

    async def start(self) -> AsyncIterator[Any]:
        for url in self.first:
            yield scrapy.Request(url, callback=partial(self.parse))


@pytest.mark.parametrize("spider", [BareSpider, LocalStartSpider])
def test_a_first_address_that_fails_is_asked_again(
    tmp_path: Path, own_redis: PrivateRedis, spider: type[BareSpider]
) -> None:
    asked: list[str] = []

    def answer(request: Request) -> None:
        asked.append(request.path)
        request.answer(story(0), status=503 if len(asked) == 1 else 200)

    with serving(answer) as port:
        plan = Plan(
            spider,
            {"NOISECLEAN_FRONTIER": own_redis.url},
            {"first": [f"http://127.0.0.1:{port}/a"]},
        )
        (crawled,) = crawling.crawl(tmp_path, plan)
    assert asked == ["/a", "/a"]
    assert len(crawled.items) == 1


def test_a_look_at_a_page_takes_nothing_of_the_crawl(
    tmp_path: Path, web: Web, own_redis: PrivateRedis
) -> None:
    part = Part(own_redis.url, "default")  # as Scrapy calls a spider of no project
    part.push([Push("127.0.0.1", b"1", 0, b"1")])
    for command in (["fetch", web.url(0, 0)], ["shell", web.url(0, 0), "-c", "1"]):
        settings = {
            "ADDONS": '{"noiseclean_scrapy.Addon": 300}',
            "NOISECLEAN_FRONTIER": own_redis.url,
            "NOISECLEAN_DATABASE_URL": f"sqlite:///{tmp_path}/n.db",
        }
        options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", *command, *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
    assert web.fetched == [web.url(0, 0)] * 2
    assert part.counts() == (1, 1)
    part.close()


def take_again(part: Part, process: str) -> list[bytes]:
    """What a new process is given once the leases of others have ended."""
    while True:
        taken = part.take(process, 0.05, is_known=False, sites=5, each=5, wanted=())
        assert taken
        if taken.requests or not taken.counts.pending:
            return [data for found in taken.requests.values() for data in found]


def test_a_request_that_ends_every_process_is_given_up(own_redis: PrivateRedis) -> None:
    part = Part(own_redis.url, "poison")
    assert part.push([Push("a.org", b"1", 0, b"bad"), Push("a.org", b"1", 0, b"bad")]) == [1, 0]
    for turn in range(6):
        assert take_again(part, str(turn)) == [b"bad"]
    assert take_again(part, "last") == []
    server = Redis.from_url(own_redis.url)
    assert server.lrange("poison:frontier:failed", 0, -1) == [b"bad"]
    server.close()
    part.close()


def test_what_stood_beside_the_request_that_ends_processes_is_done(own_redis: PrivateRedis) -> None:
    part = Part(own_redis.url, "beside")
    everything = [b"a1", b"bad", b"a3", b"b1", b"b2"]
    part.push([Push(f"{data[:1].decode()}.org", data, 0, data) for data in everything])
    done: set[bytes] = set()
    for turn in itertools.count():
        process = str(turn)
        taken = part.take(process, 0.02, is_known=False, sites=5, each=5, wanted=())
        assert taken
        if not taken.counts.pending:
            break
        found = [(site, data) for site, some in taken.requests.items() for data in some]
        if "bad" not in str(found):
            part.finish(found)
            done.update(data for _, data in found)
    assert done == {*everything} - {b"bad"}
    assert taken
    assert taken.failed == 1
    part.close()


def test_a_request_pushed_again_while_it_is_under_way_is_one(own_redis: PrivateRedis) -> None:
    """As where the answer to the first push was lost."""
    part = Part(own_redis.url, "again")
    push = Push("a.org", b"", 0, b"1")
    part.push([push])
    assert part.take("p", 60, is_known=False, sites=1, each=2, wanted=())
    part.push([push])
    part.finish([("a.org", b"1")])
    assert part.counts().pending == 0
    part.close()


def test_a_site_rests_when_its_process_leaves(own_redis: PrivateRedis) -> None:
    part = Part(own_redis.url, "rest")
    part.push([Push("a.org", data, 0, data) for data in (b"1", b"2")])
    assert part.take("p", 60, is_known=False, sites=1, each=1, wanted=())
    part.release("p", [("a.org", 60.0)])
    part.leave("p")
    taken = part.take("q", 60, is_known=False, sites=1, each=1, wanted=())
    assert taken
    assert taken.requests == {}
    assert taken.counts.pending == 2
    part.close()


class Rank(IntEnum):
    """What a spider may give as a priority."""

    LAST = -1
    FIRST = 10


class RankedSpider(LambdaSpider):
    """Follows links of several priorities, which can be sent or not."""

    name = "ranked"
    stay: bool

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        if response.url.endswith("/0"):
            callback = partial(self.parse) if self.stay else None
            for number, priority in enumerate((Rank.LAST, 0, True, Rank.FIRST), 1):
                yield response.follow(f"/{number}", callback=callback, priority=priority)


@pytest.mark.parametrize("stay", [False, True])
def test_priorities_of_any_kind_count(
    tmp_path: Path, web: Web, own_redis: PrivateRedis, stay: bool
) -> None:
    settings = {"NOISECLEAN_FRONTIER": own_redis.url, "CONCURRENT_REQUESTS": 1}
    arguments = {"first": [web.url(0, 0)], "stay": stay}
    (crawled,) = crawling.crawl(tmp_path, Plan(RankedSpider, settings, arguments))
    assert [item["url"] for item in crawled.items] == [web.url(0, n) for n in (0, 4, 3, 2, 1)]
    assert "frontier/errors" not in crawled.ours


def test_requests_that_stay_pass_the_duplicate_filter(
    tmp_path: Path, web: Web, own_redis: PrivateRedis
) -> None:
    settings = {"NOISECLEAN_FRONTIER": own_redis.url, "CLOSESPIDER_PAGECOUNT": 20}
    plan = Plan(CircleSpider, settings, {"first": [web.url(0, 0)]})
    (crawled,) = crawling.crawl(tmp_path, plan)
    assert [item["url"] for item in crawled.items].count(web.url(0, 1)) == 1
    assert crawled.stats["finish_reason"] == "finished"
    assert crawled.ours["frontier/duplicates"] > 0


def test_another_part_that_is_away_stops_no_own_site(
    tmp_path: Path, web: Web, own_redis: PrivateRedis
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    servers = [own_redis.url, f"redis://127.0.0.1:{port}/0"]
    if _part_of_site(web.url(0, 0), 2):
        servers.reverse()
    settings = {
        "NOISECLEAN_FRONTIER": servers,
        "NOISECLEAN_FRONTIER_PART": servers.index(own_redis.url),
        "CLOSESPIDER_TIMEOUT": 4,
    }
    own = web.url(0, 0)
    part = _part_of_site(own, 2)
    others = (f"http://s{number}.test/" for number in range(100))
    other = next(url for url in others if _part_of_site(url, 2) != part)
    plan = Plan(AwaySpider, settings, {"first": [own], "other": other})
    (crawled,) = crawling.crawl(tmp_path, plan)
    assert [item["url"] for item in crawled.items] == [own, web.url(0, 1), web.url(0, 2)]


def _part_of_site(url: str, parts: int) -> int:
    return hash64(site_name(url)) % parts


def test_what_is_finished_twice_is_counted_once(own_redis: PrivateRedis) -> None:
    """As where Redis has done it, and its answer is lost."""
    part = Part(own_redis.url, "twice")
    part.push([Push("a.org", data, 0, data) for data in (b"1", b"2")])
    assert part.take("p", 60, is_known=False, sites=1, each=2, wanted=())
    for _ in range(2):
        part.finish([("a.org", b"1")])
        assert part.counts() == (1, 2)
    part.close()


def test_what_redis_has_lost_in_part_is_told_and_no_longer_waited_for(
    own_redis: PrivateRedis,
) -> None:
    part, redis = Part(own_redis.url, "torn"), Redis.from_url(own_redis.url)
    part.push([Push(site, site.encode(), 0, b"1") for site in ("a.org", "b.org", "c.org")])
    wanted: Any = {"is_known": True, "sites": 1, "each": 2, "wanted": ()}
    first = part.take("p", 60, **wanted | {"is_known": False})
    assert first
    assert first.lost == 0
    assert first.counts.pending == 3
    redis.delete(*redis.keys("torn:*waiting:*"))
    # The sites are there, and what the process has is under way.
    second = part.take("p", 60, **wanted)
    assert second
    assert (second.lost, second.counts.pending) == (0, 3)
    redis.delete(*redis.keys("torn:*taken:*"))
    part.release("p", [(site, 0.0) for site in first.requests])
    for lost in (3, 0):
        taken = part.take("p", 60, **wanted)
        assert taken
        assert (taken.lost, taken.counts.pending, taken.requests) == (lost, 0, {})
    redis.close()
    part.close()


def test_the_most_important_come_first_then_the_oldest(own_redis: PrivateRedis) -> None:
    part = Part(own_redis.url, "order")
    rng = random.Random(0)
    given = [(rng.randint(-2, 2), str(number).encode()) for number in range(30)]
    part.push([Push("a.org", data, priority, data) for priority, data in given])
    taken = part.take("p", 60, is_known=False, sites=1, each=30, wanted=())
    assert taken
    assert taken.requests["a.org"] == [data for _, data in sorted(given, key=lambda one: -one[0])]
    part.close()
