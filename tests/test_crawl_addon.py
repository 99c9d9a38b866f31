"""The add-on in a project: one line wires it, and it says what it did."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.settings import Settings
from typing_extensions import Self

from noiseclean_scrapy.addon import Addon
from noiseclean_scrapy.crawl.middleware import ClusterMiddleware
from noiseclean_scrapy.crawl.pipeline import CleanPipeline
from tests.support import crawl_site, crawling
from tests.support.command_line import run_scrapy
from tests.support.crawl_site import ChainSpider, PageServer, story, story_text
from tests.support.crawling import Crawled, Plan

PATHS = [f"/{number}" for number in range(6)]

STATS = {
    "pages/seen": "HTML responses looked at, those of earlier crawls included",
    "pages/learned": "pages that were given to a tree to learn in this crawl, each once",
    "pages/recleaned": "stored texts that were replaced because a new tree covers their page",
    "pages/truncated": "pages of which the parser lost text",
    "pages/addresses": "different addresses that were seen",
    "pages/waiting": "pages that wait in memory",
    "pages/spooled": "pages that wait in the spool",
    "pages/provisional": "pages of the sites in memory that no tree has learned",
    "trees/built": "tree versions, of all clusters",
    "clusters": "page clusters met",
    "items/cleaned": "items that got the fields of their page",
    "items/without_page": "items left alone: they belong to no page that was looked at",
    "characters/visible": "characters of text on the pages of items",
    "characters/kept": "characters of their clean texts",
    "store/batches": "writes to the database",
    "store/seconds": "time of these writes",
    "store/errors": "reads and writes that the database refused",
    "errors": "items and pages that failed; the crawl went on",
}
"""Every stat of the add-on, without the `noiseclean/` before it."""


class StatsSpider(ChainSpider):
    """Does what makes every stat count that a healthy store allows."""

    name = "stats"

    async def start(self) -> AsyncIterator[Any]:
        yield {"path": "none"}
        async for request in super().start():
            yield request

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        yield from super().parse(response, number)
        yield json.loads('{"path": "again"}')


class StubbornItem(scrapy.Item):
    path = scrapy.Field()
    text = scrapy.Field()

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "text":
            raise ValueError("no text wanted")
        super().__setitem__(key, value)


class StubbornSpider(ChainSpider):
    name = "stubborn"

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        yield StubbornItem(path="stubborn")
        yield from super().parse(response, number)


@pytest.fixture(scope="module")
def site() -> Iterator[PageServer]:
    pages = {path: story(number) for number, path in enumerate(PATHS)}
    deep = "<div>" * 3000 + "too deep to be found " * 100
    with crawl_site.serve(pages | {"/deep": f"<h1>Deep</h1>{deep}"}) as server:
        yield server


def crawl_one(folder: Path, spider: type[ChainSpider], site: PageServer, **more: Any) -> Crawled:
    arguments = {"url": site.url, "paths": more.pop("paths", PATHS)}
    (crawled,) = crawling.crawl(folder, Plan(spider, more, arguments))
    return crawled


@pytest.mark.slow
def test_all_stats_are_known(tmp_path: Path, site: PageServer) -> None:
    crawled = crawl_one(tmp_path, StatsSpider, site, paths=[*PATHS, "/deep"])
    assert set(crawled.ours) == set(STATS) - {"store/errors", "errors"}
    assert {name: crawled.ours[name] for name in STATS if name in crawled.ours} == {
        "pages/seen": 7,
        "pages/learned": 7,
        "pages/recleaned": 7,
        "pages/truncated": 1,
        "pages/addresses": 7,
        "pages/waiting": 0,
        "pages/spooled": 0,
        "pages/provisional": 0,
        "trees/built": 1,
        "clusters": 1,
        "items/cleaned": 14,
        "items/without_page": 1,
        "characters/visible": crawled.ours["characters/visible"],
        "characters/kept": crawled.ours["characters/kept"],
        "store/batches": 1,
        "store/seconds": crawled.ours["store/seconds"],
    }
    assert 0 < crawled.ours["characters/kept"] <= crawled.ours["characters/visible"]


def test_errors_are_counted_and_logged_once(tmp_path: Path, site: PageServer) -> None:
    crawled = crawl_one(tmp_path, StubbornSpider, site)
    assert crawled.ours["errors"] == len(PATHS)
    refused = (
        "Error while filling the field 'text' of a StubbornItem; the crawl goes on: "
        "ValueError: no text wanted"
    )
    assert crawled.lines("ERROR") == [refused]
    assert "Traceback" not in crawled.log
    assert crawled.ours["items/cleaned"] == len(PATHS)


def test_one_line_says_what_was_done(tmp_path: Path, site: PageServer) -> None:
    crawled = crawl_one(tmp_path, ChainSpider, site, NOISECLEAN_SAMPLE_QUOTA=4)
    (line,) = crawled.lines("INFO", "noiseclean_scrapy.crawl.pipeline")
    assert re.fullmatch(
        r"noiseclean: 6 pages seen in 1 cluster, 6 newly learned, 2 trees built, 6 items cleaned, "
        r"\d+% of their pages' characters removed; stored in sqlite:///noiseclean.db",
        line,
    )


def test_it_steps_aside(tmp_path: Path, site: PageServer) -> None:
    crawled = crawl_one(tmp_path, ChainSpider, site, NOISECLEAN_ENABLED=False)
    assert crawled.items == [{"path": path} for path in PATHS]
    assert not crawled.ours
    assert not crawled.lines("INFO")
    assert "WARNING" not in crawled.log
    assert not list(tmp_path.glob("*.db"))


@pytest.mark.slow
def test_components_that_the_project_placed_stay_and_work_without_the_add_on(
    tmp_path: Path, site: PageServer
) -> None:
    package = "noiseclean_scrapy"
    settings: dict[str, Any] = {
        "ITEM_PIPELINES": {f"{package}.pipeline.CleanPipeline": 777},
        "SPIDER_MIDDLEWARES": {f"{package}.middleware.ItemTieMiddleware": 60},
        "DOWNLOADER_MIDDLEWARES": {f"{package}.middleware.ClusterMiddleware": 999},
    }
    arguments = {"url": site.url, "paths": PATHS}
    plan = Plan(ChainSpider, settings, arguments)
    (placed,) = crawling.crawl(tmp_path, plan)
    (alone,) = crawling.crawl(tmp_path, plan, addons={})
    for crawled in (placed, alone):
        assert [item["title"] for item in crawled.items] == [f"Story {n}" for n in range(6)]
        for name in ("pipeline.CleanPipeline", "middleware.ItemTieMiddleware"):
            assert crawled.log.count(f"'{package}.{name}'") == 1
        # Behind all others, so first to see a response.
        head, _, tail = crawled.log.partition(f"'{package}.middleware.ClusterMiddleware'")
        assert "DownloaderStats" in head
        assert tail.startswith("]\n")
    switched_off = Plan(ChainSpider, settings | {"NOISECLEAN_ENABLED": False}, arguments)
    (off,) = crawling.crawl(tmp_path, switched_off, addons={})
    assert "WARNING" not in off.log
    assert off.items == [{"path": path} for path in PATHS]


@pytest.mark.extras
def test_settings_of_components_that_are_missing_are_told(tmp_path: Path, site: PageServer) -> None:
    pytest.importorskip("redis", reason="needs the extra redis")
    pytest.importorskip("prometheus_client", reason="needs the extra prometheus")
    package = "noiseclean_scrapy"
    settings: dict[str, Any] = {
        "ITEM_PIPELINES": {f"{package}.pipeline.CleanPipeline": 10},
        "SPIDER_MIDDLEWARES": {f"{package}.middleware.ItemTieMiddleware": 10},
        "DOWNLOADER_MIDDLEWARES": {f"{package}.middleware.ClusterMiddleware": 543},
        "NOISECLEAN_FRONTIER": "redis://127.0.0.1:1/0",
        "NOISECLEAN_METRICS": "127.0.0.1:0",
        "NOISECLEAN_REVISITS": 3,
        "NOISECLEAN_TOPIC": "fog",
        "NOISECLEAN_WARC": "warc",
    }
    plan = Plan(ChainSpider, settings, {"url": site.url, "paths": PATHS})
    (alone,) = crawling.crawl(tmp_path, plan, addons={})
    told = [line.partition(", or name noiseclean_scrapy.Addon") for line in alone.lines("WARNING")]
    assert [head for head, _, _ in told] == [
        "NOISECLEAN_TOPIC changes nothing: add "
        f"{{'{package}.focus.middleware.FocusMiddleware': 540}} to DOWNLOADER_MIDDLEWARES",
        "NOISECLEAN_TOPIC puts no link before another: add "
        f"{{'{package}.focus.middleware.FocusSpiderMiddleware': 20}} to SPIDER_MIDDLEWARES",
        "NOISECLEAN_REVISITS visits nothing again: add "
        f"{{'{package}.focus.revisits.HubRevisits': 500}} to EXTENSIONS",
        "NOISECLEAN_WARC writes no file: add "
        f"{{'{package}.crawl.warc_output.WarcOutput': 500}} to EXTENSIONS",
        "NOISECLEAN_METRICS shows nothing: add "
        f"{{'{package}.crawl.metrics.CrawlMetrics': 500}} to EXTENSIONS",
        "NOISECLEAN_FRONTIER shares nothing: set SCHEDULER to "
        f"'{package}.frontier.scheduler.FrontierScheduler'",
    ]
    assert not (tmp_path / "warc").exists()


class OddMiddleware(ClusterMiddleware):
    """Learns every other page."""

    def wants(self, request: Request, response: Response) -> bool:
        return super().wants(request, response) and response.url[-1] in "13579"


class LoudPipeline(CleanPipeline):
    """Marks what it has filled."""

    async def process_item(self, item: Any) -> Any:
        item = await super().process_item(item)
        return item | {"seen": item.get("seen", 0) + 1}


class TooEarly:
    """Sees items before they have a text, where it stands before the add-on's pipeline."""

    def process_item(self, item: Any) -> Any:
        item["early"] = "text" not in item
        return item


class SwitchedOff(TooEarly):
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        raise NotConfigured


class Behind(TooEarly):
    """Stands at the number of the add-on's pipeline, which comes first there."""


def test_a_component_made_of_ours_stands_in_its_place(tmp_path: Path, site: PageServer) -> None:
    here = __name__
    early = {f"{here}.{name}": number for name, number in (("TooEarly", 5), ("SwitchedOff", 6))}
    media = {"scrapy.pipelines.files.FilesPipeline": 1, f"{here}.Behind": 10}
    crawled = crawl_one(
        tmp_path,
        ChainSpider,
        site,
        DOWNLOADER_MIDDLEWARES={f"{here}.OddMiddleware": 600},
        ITEM_PIPELINES={f"{here}.LoudPipeline": 10, **early, **media},
        FILES_STORE=str(tmp_path / "files"),
    )
    assert crawled.ours["pages/seen"] == crawled.ours["items/cleaned"] == 3
    assert [item["seen"] for item in crawled.items] == [1] * len(PATHS)
    assert [item["early"] for item in crawled.items] == [True, False] * 3
    (line,) = crawled.lines("WARNING")
    assert line == (
        "Before 10, where CleanPipeline stands in ITEM_PIPELINES, items have no text yet: "
        f"{{'{here}.TooEarly': 5}}; what needs it must stand behind"
    )


def test_settings_of_a_focus_without_a_topic_are_told(caplog: pytest.LogCaptureFixture) -> None:
    for given, told in (({"NOISECLEAN_SITE_BUDGET": 5}, 1), ({"NOISECLEAN_TOPIC": "fog"}, 0)):
        caplog.clear()
        Addon().update_settings(Settings({**given, "NOISECLEAN_LIVE": False}))
        assert sum("without NOISECLEAN_TOPIC" in message for message in caplog.messages) == told


def test_a_wrong_setting_stops_the_crawl_and_is_named(tmp_path: Path, site: PageServer) -> None:
    wrong: list[dict[str, Any]] = [
        {"NOISECLEAN_SAMPLE_QUOTA": "lots"},
        {"NOISECLEAN_SAMPEL_QUOTA": 3},
    ]
    arguments = {"url": site.url, "paths": PATHS}
    plans = [Plan(ChainSpider, settings, arguments) for settings in wrong]
    value, name = crawling.crawl(tmp_path, *plans)
    assert value.error == (
        "ConfigurationError: NOISECLEAN_SAMPLE_QUOTA must be a whole number from 1 to "
        "1,000,000,000, not 'lots'"
    )
    assert name.error == (
        "ConfigurationError: there is no setting NOISECLEAN_SAMPEL_QUOTA; "
        "did you mean NOISECLEAN_SAMPLE_QUOTA?"
    )
    assert not value.items
    assert not name.items


SPIDER = """
import scrapy

class StoriesSpider(scrapy.Spider):
    name = "stories"

    async def start(self):
        for number in range(6):
            yield scrapy.Request(f"{self.url}/{number}")

    def parse(self, response):
        yield {"url": response.url}
"""


@pytest.mark.slow
def test_a_new_project_needs_one_line(tmp_path: Path, site: PageServer) -> None:
    run_scrapy(tmp_path, "startproject", "harbour")
    project = tmp_path / "harbour"
    with (project / "harbour" / "settings.py").open("a") as settings:
        settings.write('\nADDONS = {"noiseclean_scrapy.addon.Addon": 300}\nDOWNLOAD_DELAY = 0\n')
    (project / "harbour" / "spiders" / "stories.py").write_text(SPIDER)
    crawl = ("crawl", "stories", "-a", f"url={site.url}")
    quota = ("-s", "NOISECLEAN_SAMPLE_QUOTA=3", "-s", "NOISECLEAN_REFRESH_PAGES=1")
    run_scrapy(project, *crawl, *quota, "-O", "first.jsonl")
    log = run_scrapy(project, *crawl, "-O", "second.jsonl").stderr
    assert "noiseclean: 6 pages seen in 1 cluster, 0 newly learned, 0 trees built, 6 items" in log
    lines = (project / "second.jsonl").read_text().splitlines()
    items = {item["url"][-1]: item for item in map(json.loads, lines)}
    assert {key: item["text"] for key, item in items.items()} == {
        str(number): story_text(number) for number in range(6)
    }
    assert (project / "noiseclean.db").is_file()
