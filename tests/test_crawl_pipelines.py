"""Other pipelines may replace, drop or fail on items, before ours or after it."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, Response
from scrapy.utils.trackref import live_refs

from noiseclean_scrapy.crawl import starting
from tests.support import crawl_site, crawling
from tests.support.crawl_site import ChainSpider, story, story_text
from tests.support.crawling import Crawled, Plan
from tests.support.databases import read_rows, run_statement

CASES = ["plain", "new before", "new before with url", "dropped before", "new after", "dropped"]
CASES += ["fails", "one of two dropped", "many replaced", "nothing before"]
MANY = 500


class Before:
    """Runs before the add-on's pipeline."""

    def process_item(self, item: Any) -> Any:
        if item["case"] == "dropped before":
            raise DropItem("before")
        if item["case"] == "nothing before":
            return None
        return dict(item) if item["case"].startswith("new before") else item


class After:
    """Runs after the add-on's pipeline, whose text it finds."""

    def process_item(self, item: Any) -> Any:
        if item is None:
            raise DropItem("nothing")
        if item["case"] == "fails":
            raise ValueError("after")
        if item["case"] == "dropped" or item.get("drop"):
            raise DropItem("after")
        if item["case"] in ("new after", "many replaced"):
            return {"case": item["case"], "length": len(item["text"])}
        return item


class CasesSpider(scrapy.Spider):
    name = "cases"
    url: str

    async def start(self) -> AsyncIterator[Any]:
        for number, case in enumerate(CASES):
            yield scrapy.Request(f"{self.url}/{number}", cb_kwargs={"case": case})

    def parse(self, response: Response, case: str) -> Iterator[Any]:
        if case == "one of two dropped":
            yield {"case": case, "drop": True}
        for _ in range(MANY if case == "many replaced" else 1):
            held = {"response": response} if case == "dropped before" else {}
            yield {"case": case, **({"url": response.url} if "url" in case else {}), **held}

    def closed(self, reason: str) -> None:
        gc.collect()
        assert self.crawler.stats
        self.crawler.stats.set_value("live_responses", len(live_refs[HtmlResponse]))


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[Crawled, dict[str, str | None]]:
    folder: Path = tmp_path_factory.mktemp("pipelines")
    pages = {f"/{number}": crawl_site.story(number) for number in range(len(CASES))}
    pipelines = {f"{__name__}.Before": 5, f"{__name__}.After": 300}
    with crawl_site.serve(pages) as server:
        plan = Plan(CasesSpider, {"ITEM_PIPELINES": pipelines}, {"url": server.url})
        (crawled,) = crawling.crawl(folder, plan)
    query = "SELECT url, text FROM noiseclean_page"
    rows = dict(read_rows(f"sqlite:///{folder}/noiseclean.db", query))
    return crawled, {case: rows[f"{server.url}/{n}"] for n, case in enumerate(CASES)}


def test_items_that_others_replace(crawl: tuple[Crawled, dict[str, str | None]]) -> None:
    crawled, texts = crawl
    items = {item["case"]: item for item in crawled.items}
    assert items["plain"]["text"]
    # Who replaces an item before the add-on sees it must leave it an address.
    assert items["new before"] == {"case": "new before"}
    assert items["new before with url"]["title"] == f"Story {CASES.index('new before with url')}"
    assert items["new after"]["length"] > 0
    for case in ("plain", "new before", "new before with url", "new after", "many replaced"):
        assert texts[case] == story_text(CASES.index(case))


def test_items_that_are_lost_leave_no_text(crawl: tuple[Crawled, dict[str, str | None]]) -> None:
    crawled, texts = crawl
    assert texts["dropped"] is texts["dropped before"] is texts["fails"] is None
    assert texts["one of two dropped"] == story_text(CASES.index("one of two dropped"))
    assert crawled.stats["item_dropped_count"] == 4
    assert crawled.ours["items/without_page"] == 2  # a new one without address, and none
    assert crawled.ours["pages/learned"] == len(CASES)
    assert "errors" not in crawled.ours


def test_no_response_is_held(crawl: tuple[Crawled, dict[str, str | None]]) -> None:
    crawled, _ = crawl
    assert crawled.stats["item_scraped_count"] == MANY + 5
    assert crawled.stats["live_responses"] == 0


class FailsAtItsEnd:
    """Fails before Scrapy has asked the add-on's pipeline to close."""

    def close_spider(self) -> None:
        raise OSError("no more room")


class FailsAtItsEndLater:
    """Fails while the add-on's pipeline closes, for which Scrapy waits no longer then."""

    async def close_spider(self) -> None:
        await asyncio.sleep(0)
        raise OSError("no more room")


class StopsAtItsEnd:
    """Waits, within the end of the crawl, until the crawl has been stopped."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StopsAtItsEnd:
        starting._LONGEST_END_SECONDS = 1.0  # in the process of the crawl
        return cls(crawler)

    async def close_spider(self) -> None:
        await self.crawler.stop_async()


def test_an_end_that_waits_for_itself_does_not_last_for_ever(tmp_path: Path) -> None:
    """Scrapy takes the crawl for ended then, and its feed may be lost; but it ends."""
    settings = {"ITEM_PIPELINES": {f"{__name__}.{StopsAtItsEnd.__name__}": 300}}
    crawled = crawling.crawl_pages(tmp_path, ChainSpider, {"/": story(0)}, settings)
    assert "Closing spider (finished)" in crawled.log
    assert not crawled.lines("ERROR", "")


class DroppingSpider(ChainSpider):
    """Takes the database's pages away at its last page."""

    name = "dropping"

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        if number + 1 == len(self.paths):
            run_statement("sqlite:///noiseclean.db", "DROP TABLE noiseclean_page")
        return super().parse(response, number)


def crawl_to_a_failing_end(
    folder: Path, pipeline: type, spider: type[ChainSpider] = ChainSpider, **more: Any
) -> Crawled:
    pages = {f"/{number}": story(number) for number in range(5)}
    settings = {
        "ITEM_PIPELINES": {f"{__name__}.{pipeline.__name__}": 300},
        "NOISECLEAN_FIELDS": {"url": "url", "text": "text", "tree": "tree_version"},
        "NOISECLEAN_SAMPLE_QUOTA": 50,
        **more,
    }
    crawled = crawling.crawl_pages(folder, spider, pages, settings)
    assert "Scraper close failure" in crawled.log
    assert crawled.log.count("noiseclean: 5 pages seen") == 1
    return crawled


@pytest.mark.parametrize(
    ("pipeline", "in_process"),
    [
        (FailsAtItsEnd, False),
        pytest.param(FailsAtItsEndLater, False, marks=pytest.mark.slow),
        pytest.param(FailsAtItsEnd, True, marks=pytest.mark.slow),
        pytest.param(FailsAtItsEndLater, True, marks=pytest.mark.slow),
    ],
)
def test_all_is_stored_though_a_pipeline_fails_at_its_end(
    tmp_path: Path, pipeline: type, *, in_process: bool
) -> None:
    feed = tmp_path / "items.json"
    crawled = crawl_to_a_failing_end(
        tmp_path,
        pipeline,
        FEEDS={str(feed): {"format": "json"}},
        NOISECLEAN_FINAL_FEEDS=True,
        NOISECLEAN_WRITER_PROCESS=in_process,
    )
    assert crawled.ours["pages/learned"] == 5
    assert crawled.ours["pages/waiting"] == 0
    rows = read_rows(
        f"sqlite:///{tmp_path}/noiseclean.db",
        "SELECT url, text, clean_version FROM noiseclean_page",
    )
    assert sorted(text for _, text, _ in rows) == sorted(map(story_text, range(5)))
    assert {version for *_, version in rows} == {1}
    items = json.loads(feed.read_bytes())
    assert sorted((item["url"], item["text"], item["tree"]) for item in items) == sorted(rows)
    head, found, _ = crawled.log.partition("items.json have got their final texts")
    assert found
    assert "noiseclean: 5 pages seen" in head


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", [FailsAtItsEnd, FailsAtItsEndLater])
def test_all_waits_in_the_spool_though_a_pipeline_fails_at_its_end(
    tmp_path: Path, pipeline: type
) -> None:
    crawled = crawl_to_a_failing_end(tmp_path, pipeline, DroppingSpider)
    assert crawled.ours["pages/spooled"] == 5
    assert len(list((tmp_path / "noiseclean.db-spool").glob("*.page"))) == 5
