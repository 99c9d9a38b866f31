"""Which page an item belongs to, where that is not the response that was seen last."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.crawler import Crawler
from scrapy.http import Response

from noiseclean_scrapy.store import Store
from tests.support import crawling
from tests.support.crawl_site import Answer, serve, story, story_text
from tests.support.crawling import Plan
from tests.support.databases import read_rows

PAGES = 40
STORIES = {f"/{number}": story(number) for number in range(PAGES)}
ONE_AFTER_ANOTHER = {"CONCURRENT_REQUESTS": 1, "NOISECLEAN_BATCH_SIZE": 10}
FEED = {"FEEDS": {"items.jsonl": {"format": "jsonlines"}}, "NOISECLEAN_FINAL_FEEDS": True}


def pages_with_text(folder: Path) -> list[str]:
    """The paths of the stored pages that have a text, sorted; once for each page."""
    query = "SELECT url FROM noiseclean_page WHERE text IS NOT NULL"
    rows = read_rows(f"sqlite:///{folder}/noiseclean.db", query)
    return sorted(f"/{url.rsplit('/', 1)[1]}" for (url,) in rows)


def check_titles(items: Sequence[dict[str, Any]]) -> None:
    """Each page has an item, with the title of the page whose address the item has."""
    assert len(items) == PAGES
    for item in items:
        assert item["title"] == f"Story {item['url'].rsplit('/', 1)[1]}"


class FormSpider(scrapy.Spider):
    """One address, and a page of it for each form that is sent."""

    name = "form"
    url: str

    async def start(self) -> AsyncIterator[Any]:
        for number in range(8):
            yield scrapy.FormRequest(f"{self.url}/form", formdata={"number": str(number)})

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"headline": response.css("h1::text").get(), "url": response.url}


def test_pages_of_one_address_keep_their_texts_in_final_feeds(tmp_path: Path) -> None:
    pages = {"/form": lambda request: story(request - 1)}
    crawling.crawl_pages(tmp_path, FormSpider, pages, {**ONE_AFTER_ANOTHER, **FEED})
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    # The server numbers its answers; one that got lost is asked for again.
    texts = {item["headline"]: item["text"] for item in items}
    assert len(texts) == 8
    assert texts.items() <= {(f"Story {n}", story_text(n)) for n in range(16)}


class CarryingSpider(scrapy.Spider):
    """An item begins on one page and is finished on another, when many others have been seen."""

    name = "carrying"
    url: str

    async def start(self) -> AsyncIterator[Any]:
        for number in range(PAGES):
            yield scrapy.Request(f"{self.url}/{number}", priority=1)

    def parse(self, response: Response) -> Iterator[Any]:
        arguments = {"address": response.url}
        yield response.follow(f"/more{response.url[-2:]}", self.finish, cb_kwargs=arguments)

    def finish(self, response: Response, address: str) -> Iterator[Any]:
        yield {"url": address}


@pytest.mark.parametrize("batch_size", [10, 1000])
@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_an_item_has_the_text_of_its_address(tmp_path: Path, kind: str, batch_size: int) -> None:
    more = {f"/more{path[-2:]}": Answer(story(100), type=kind) for path in STORIES}
    settings = {**ONE_AFTER_ANOTHER, "NOISECLEAN_BATCH_SIZE": batch_size}
    crawled = crawling.crawl_pages(tmp_path, CarryingSpider, {**STORIES, **more}, settings)
    check_titles(crawled.items)
    assert pages_with_text(tmp_path) == sorted(STORIES)
    assert "errors" not in crawled.ours


class ElsewhereSpider(CarryingSpider):
    """Its items have the addresses that links have, not those that the pages came from."""

    name = "elsewhere"
    spelling: str

    async def start(self) -> AsyncIterator[Any]:
        for number in range(PAGES):
            url = self.spelling.format(f"{self.url}/{number}", number, self.url)
            yield scrapy.Request(url, priority=1, cb_kwargs={"asked": url})

    def parse(self, response: Response, asked: str) -> Iterator[Any]:  # type: ignore[override]
        number = response.xpath("//h1/text()").get("").split()[-1]
        arguments = {"address": asked}
        yield response.follow(f"/more/{number}", self.finish, cb_kwargs=arguments)


class GuestSpider(CarryingSpider):
    """Visits each page twice, and begins an item at the second time."""

    name = "guest"

    async def start(self) -> AsyncIterator[Any]:
        for number in range(2 * PAGES):
            yield scrapy.Request(f"{self.url}/{number % PAGES}", priority=2 * PAGES - number)

    def parse(self, response: Response) -> Iterator[Any]:
        if not response.url.endswith("/guests"):
            yield from super().parse(response)


@pytest.mark.parametrize("spelling", ["{0}#top", "{0}?a=für", "{2}/moved/{1}"])
def test_an_address_may_be_spelled_as_links_spell_it(tmp_path: Path, spelling: str) -> None:
    more = {f"/more{path}": story(100) for path in STORIES}
    moved = {f"/moved{path}": Answer(status=301, headers={"Location": path}) for path in STORIES}
    asked = {f"{path}?a=f%C3%BCr": page for path, page in STORIES.items()}
    crawled = crawling.crawl_pages(
        tmp_path,
        ElsewhereSpider,
        {**STORIES, **more, **moved, **asked},
        ONE_AFTER_ANOTHER,
        spelling=spelling,
    )
    assert len(crawled.items) == PAGES
    for item in crawled.items:
        (number,) = re.findall(r"/(\d+)(?:[#?].*)?$", item["url"])
        assert item["title"] == f"Story {number}"


def test_an_address_that_led_elsewhere_at_first_has_its_own_page_later(tmp_path: Path) -> None:
    """Each page sends the crawler to a page for guests, until that was seen."""
    more = {f"/more{path[-2:]}": story(100) for path in STORIES}
    guests = Answer(status=302, headers={"Location": "/guests"})
    pages = {
        path: lambda request, page=page: guests if request == 1 else page
        for path, page in STORIES.items()
    }
    settings = {
        **ONE_AFTER_ANOTHER,
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    }
    crawled = crawling.crawl_pages(
        tmp_path, GuestSpider, {**pages, **more, "/guests": story(200)}, settings
    )
    check_titles(crawled.items)


def test_what_was_seen_and_cannot_be_had_is_not_another_page(tmp_path: Path) -> None:
    more = {f"/more{path[-2:]}": story(100) for path in STORIES}
    settings = {**ONE_AFTER_ANOTHER, "NOISECLEAN_READ_ONLY": True}
    with Store(f"sqlite:///{tmp_path / 'noiseclean.db'}"):
        pass  # an empty one
    crawled = crawling.crawl_pages(tmp_path, CarryingSpider, {**STORIES, **more}, settings)
    assert len(crawled.items) == PAGES
    for item in crawled.items:
        assert item.get("title") in {None, f"Story {item['url'].rsplit('/', 1)[1]}"}


def test_an_item_that_a_resumed_crawl_finishes_has_the_text_of_its_address(tmp_path: Path) -> None:
    more = {f"/more{path[-2:]}": story(100) for path in STORIES}
    settings = {**ONE_AFTER_ANOTHER, "JOBDIR": str(tmp_path / "job")}
    items = []
    with serve({**STORIES, **more}) as server:
        for extra in ({"CLOSESPIDER_PAGECOUNT": PAGES + 5}, {}):
            plan = Plan(CarryingSpider, {**settings, **extra}, {"url": server.url})
            (crawled,) = crawling.crawl(tmp_path, plan)
            items += crawled.items
    check_titles(items)


class FeedSpider(scrapy.Spider):
    """Visits pages by addresses of a feed; its items have the pages' own."""

    name = "feed"
    url: str
    query = "?from=rss"

    async def start(self) -> AsyncIterator[Any]:
        for number in range(PAGES):
            yield scrapy.Request(f"{self.url}/{number}{self.query}")

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url.partition("?")[0]}


class PlainSpider(FeedSpider):
    name = "plain"
    query = ""


def test_a_page_of_an_earlier_crawl_is_none_of_a_job_that_begins(tmp_path: Path) -> None:
    later = {f"/{number}?from=rss": story(100 + number) for number in range(PAGES)}
    with serve({**STORIES, **later}) as server:
        for spider, extra in ((PlainSpider, {}), (FeedSpider, {"JOBDIR": str(tmp_path / "job")})):
            plan = Plan(spider, {**ONE_AFTER_ANOTHER, **extra}, {"url": server.url})
            (crawled,) = crawling.crawl(tmp_path, plan)
    for item in crawled.items:
        assert item["title"] == f"Story {100 + int(item['url'].rsplit('/', 1)[1])}"
    assert len(crawled.items) == PAGES


class InlineSpider(scrapy.Spider):
    """Downloads pages within one callback; its items are slow to pass."""

    name = "inline"
    url: str

    all_seen: asyncio.Event

    async def start(self) -> AsyncIterator[Any]:
        self.all_seen = asyncio.Event()
        yield scrapy.Request(f"{self.url}/0")

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        assert self.crawler.engine
        for number in range(1, PAGES):
            request = scrapy.Request(f"{self.url}/{number}")
            other = await self.crawler.engine.download_async(request)
            if number == PAGES - 1:
                self.all_seen.set()
            yield {"url": other.url}


class Slow:
    """A pipeline that all other pages overtake."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Slow:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        assert isinstance(self.crawler.spider, InlineSpider)
        await asyncio.wait_for(self.crawler.spider.all_seen.wait(), 60)
        return {**item, "is": "another object"}


def test_the_page_of_an_item_that_was_slow_is_stored(tmp_path: Path) -> None:
    settings = {"ITEM_PIPELINES": {f"{__name__}.Slow": 300}, "CONCURRENT_ITEMS": PAGES}
    crawled = crawling.crawl_pages(tmp_path, InlineSpider, STORIES, settings)
    assert {item["title"] for item in crawled.items} == {f"Story {n}" for n in range(1, PAGES)}
    assert pages_with_text(tmp_path) == sorted(set(STORIES) - {"/0"})


class Replacing:
    """A downloader middleware that gives the spider another response than it was given."""

    def process_response(self, request: scrapy.Request, response: Response) -> Response:
        return response.replace(url=f"{response.url}#seen")


class LateSpider(scrapy.Spider):
    """Its items come when many other pages have been seen."""

    name = "late"
    url: str

    async def start(self) -> AsyncIterator[Any]:
        self.seen, self.all_seen = 0, asyncio.Event()
        for number in range(PAGES):
            yield scrapy.Request(f"{self.url}/{number}")

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        self.seen += 1
        if self.seen == PAGES:
            self.all_seen.set()
        await asyncio.wait_for(self.all_seen.wait(), 60)
        yield {"of": response.url.partition("#")[0]}


def test_a_response_that_is_replaced_keeps_its_page(tmp_path: Path) -> None:
    settings = {
        "DOWNLOADER_MIDDLEWARES": {f"{__name__}.Replacing": 100},
        "CONCURRENT_REQUESTS": PAGES,
        "CONCURRENT_REQUESTS_PER_DOMAIN": PAGES,
    }
    crawled = crawling.crawl_pages(tmp_path, LateSpider, STORIES, settings)
    assert len(crawled.items) == PAGES
    for item in crawled.items:
        assert item["title"] == f"Story {item['of'].rsplit('/', 1)[1]}"
    assert pages_with_text(tmp_path) == sorted(STORIES)


class AgainSpider(scrapy.Spider):
    """Asks for a page three times: as it is, for its head alone, and to be left alone."""

    name = "again"
    url: str

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.url}/0")

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"case": "page", "url": response.url}
        yield scrapy.Request(response.url, self.parse_head, method="HEAD")
        meta = {"noiseclean": False}
        yield scrapy.Request(response.url, self.parse_alone, meta=meta, dont_filter=True)

    def parse_head(self, response: Response) -> Iterator[Any]:
        yield {"case": "head"}

    def parse_alone(self, response: Response) -> Iterator[Any]:
        yield {"case": "alone", "url": response.url}


def test_heads_and_pages_to_be_left_alone(tmp_path: Path) -> None:
    crawled = crawling.crawl_pages(tmp_path, AgainSpider, STORIES, ONE_AFTER_ANOTHER)
    items = {item["case"]: item for item in crawled.items}
    assert items["page"]["text"] == story_text(0)
    assert "text" not in items["alone"]
    assert crawled.ours["pages/seen"] == 1
    assert pages_with_text(tmp_path) == ["/0"]
