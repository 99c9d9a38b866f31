"""Running crawls in the workbench: what their metrics say, and what is said where none answer."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

pytest.importorskip("prometheus_client", reason="needs the extra prometheus")
pytest.importorskip("starlette", reason="needs the extra web")

from prometheus_client import CollectorRegistry, generate_latest

from noiseclean_scrapy.crawl.metrics import stat_metrics
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.web.crawl_watch import FIGURES, CrawlWatch
from tests.support import crawling, servers
from tests.support.command_line import DemoCrawl
from tests.support.crawl_site import story
from tests.support.workbench import Served, serving
from tests.test_metrics import AskingSpider, free_address
from tests.test_workbench_browser import window

pytestmark = pytest.mark.extras

STATS: dict[str, Any] = {
    "noiseclean/pages/seen": 1200,
    "noiseclean/pages/provisional": 34,
    "noiseclean/store/seconds": 12.3,
    "noiseclean/focus/harvest_rate": 0.25,
    "noiseclean/focus/histogram": [5, 0, 2],
    "downloader/response_count": 1300,
    "finish_reason": "not yet",
}


class Crawls:
    """Answers as `CrawlMetrics` does, with stats that may be changed."""

    def __init__(self) -> None:
        self.stats = dict(STATS)
        self.body: bytes | None = None
        self.status = 200
        self.url = ""

    def collect(self) -> Iterator[Any]:
        yield from stat_metrics(self.stats, "news")


@contextmanager
def metrics() -> Iterator[Crawls]:
    crawls = Crawls()
    registry = CollectorRegistry()
    registry.register(crawls)

    def respond(request: servers.Request) -> None:
        body = generate_latest(registry) if crawls.body is None else crawls.body
        request.answer(body, status=crawls.status, headers={"Location": "/elsewhere"})

    with servers.serving(respond) as port:
        crawls.url = f"http://127.0.0.1:{port}/metrics"
        yield crawls


def test_figures_are_those_of_the_stats() -> None:
    with metrics() as crawls:
        watch = CrawlWatch(crawls.url)
        state = watch.state.get()
        assert (state.url, state.problem, state.spider) == (crawls.url, "", "news")
        numbers = {k: v for k, v in STATS.items() if isinstance(v, (int, float))}
        assert state.stats == numbers
        assert state.histogram == (5, 0, 2)
        cells = {stat: (value, growth) for stat, _, value, growth in state.cells()}
        assert cells.keys() == FIGURES.keys()
        assert cells["noiseclean/pages/seen"] == ("1,200", "+0")
        assert cells["noiseclean/pages/provisional"] == ("34", "")
        assert cells["noiseclean/focus/harvest_rate"] == ("25 %", "")
        assert cells["noiseclean/frontier/pending"] == ("–", "")
        crawls.stats["noiseclean/pages/seen"] += 50
        watch.state.expire()
        watch.state.get()
        assert watch.state.get().a_minute["noiseclean/pages/seen"] > 0


def test_growth_begins_anew_where_a_crawl_does() -> None:
    with metrics() as crawls:
        watch = CrawlWatch(crawls.url)
        for seen, grows in ((5000, False), (5010, True), (10, False), (12, True)):
            crawls.stats["noiseclean/pages/seen"] = seen
            state = watch._read()
            assert (state.a_minute["noiseclean/pages/seen"] > 0) is grows, seen


def test_what_is_no_number_is_not_told() -> None:
    with metrics() as crawls:
        crawls.stats |= {"noiseclean/errors": math.nan, "noiseclean/pages/seen": math.inf}
        crawls.stats["noiseclean/focus/histogram"] = [math.inf, math.inf]
        state = CrawlWatch(crawls.url).state.get()
    assert not state.problem
    assert state.stats["noiseclean/store/seconds"] == 12.3
    assert not {"noiseclean/errors", "noiseclean/pages/seen"} & state.stats.keys()
    assert state.histogram == ()


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (200, b"<h1>It works</h1>", "invalid metric name"),
        (200, b"up 1\n", "no crawl of noiseclean"),
        (200, b"# " + b"x" * (1 << 21), "too long"),
        (302, b"", "it answers 302"),
        (404, b"", "it answers 404"),
    ],
)
def test_what_is_no_crawl_is_said(status: int, body: bytes, problem: str) -> None:
    with metrics() as crawls:
        crawls.status, crawls.body = status, body
        state = CrawlWatch(crawls.url).state.get()
    assert re.search(problem, state.problem), state.problem
    assert not state.stats


@pytest.mark.parametrize(
    "url",
    [
        "",
        "foo",
        "127.0.0.1:",
        "127.0.0.1:harbour",
        "file:///etc/passwd",
        "http://",
        "http://a:b/",
        "http://[/",
    ],
)
def test_an_address_that_cannot_be_asked_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="is no address of metrics"):
        CrawlWatch(url)


@pytest.mark.parametrize(
    ("begin", "drop"),
    [
        pytest.param(b"", b"X-More: 1\r\n", id="head"),
        pytest.param(b"Content-Length: 1000\r\n\r\n", b"up 1\n", id="body"),
    ],
)
def test_an_answer_that_comes_drop_by_drop_is_not_waited_for(begin: bytes, drop: bytes) -> None:
    done = threading.Event()

    def respond(request: servers.Request) -> None:
        with suppress(OSError):
            request.wfile.write(b"HTTP/1.1 200 OK\r\n" + begin)
            while not done.wait(0.5):
                request.wfile.write(drop)

    with servers.serving(respond) as port:
        state = CrawlWatch(f"127.0.0.1:{port}").state.get()
        done.set()
    assert state.problem == "its answer takes too long"


def test_host_and_port_are_enough() -> None:
    with metrics() as crawls:
        assert CrawlWatch(urlsplit(crawls.url).netloc).state.get().stats


def test_a_crawl_that_is_away_is_said_on_the_page(demo: DemoCrawl) -> None:
    away = f"http://user:secret@{free_address()}/metrics"
    with (
        metrics() as crawls,
        serving(demo.database.parent, "--metrics", crawls.url, "--metrics", away) as server,
    ):
        page = server.ask("/crawl")
        assert page.status == 200
        assert "news" in page.text
        assert "1,200" in page.text
        assert "Connection refused" in page.text
        assert "secret" not in page.text
        assert 'href="/crawl"' in server.ask("/").text
        here, gone = server.get("/api/crawls")["crawls"]
        assert here["stats"]["noiseclean/pages/seen"] == 1200
        assert (gone["stats"], gone["spider"]) == ({}, "No answer")


def test_without_an_address_there_is_no_view(demo: DemoCrawl) -> None:
    with serving(demo.database.parent) as server:
        assert 'href="/crawl"' not in server.ask("/").text
        assert server.get("/api/crawls") == {"crawls": []}


@pytest.mark.slow
def test_a_crawl_is_seen_while_it_runs(demo: DemoCrawl, tmp_path: Path) -> None:
    address = free_address()
    pages = {f"/{number}": story(number) for number in range(6)}
    folder = demo.database.parent
    with serving(folder, "--metrics", f"http://{address}/metrics") as server:
        asked, settings = f"{server.url}/api/crawls", {"NOISECLEAN_METRICS": address}
        crawled = crawling.crawl_pages(tmp_path, AskingSpider, pages, settings, metrics=asked)
        told = json.loads(crawled.items[-1]["metrics"])["crawls"][0]
    assert (told["spider"], told["problem"]) == ("asking", "")
    assert 1 <= told["stats"]["noiseclean/pages/seen"] <= 6
    assert len(crawled.items) == 6


def test_live_figures_come_as_events(demo: DemoCrawl) -> None:
    with metrics() as crawls, serving(demo.database.parent, "--metrics", crawls.url) as server:
        with urlopen(f"{server.url}/events", timeout=60) as stream:
            for line in stream:
                if line == b"event: crawl\n":
                    told = json.loads(next(stream).removeprefix(b"data: "))
                    break
        assert told["id"] == "0"
        assert told["noiseclean/pages/seen"] == "1,200"
        assert_names_are_those_of_the_view(server, told)


@pytest.mark.parametrize("width", [360, 1280])
def test_figures_change_in_the_browser(width: int, browser: Any, demo: DemoCrawl) -> None:
    away = f"http://{free_address()}/metrics"
    with (
        metrics() as crawls,
        serving(demo.database.parent, "--metrics", crawls.url, "--metrics", away) as server,
        window(browser, server, viewport={"width": width, "height": 900}) as bench,
    ):
        page = bench.page
        page.get_by_role("link", name="Crawl", exact=True).click()
        page.get_by_role("heading", name="news").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.get_by_text("Connection refused").is_visible()
        crawls.stats["noiseclean/pages/seen"] = 1234
        page.get_by_role("cell", name="1,234").wait_for()


def assert_names_are_those_of_the_view(server: Served, told: dict[str, str]) -> None:
    page = server.ask("/crawl").text
    assert all(f'data-part="{name}"' in page for name in told if name != "id")
