"""The add-on runs wherever Scrapy runs: with each kind of reactor, and without one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.http import Response

from tests.support import crawl_site, crawling
from tests.support.crawling import Plan
from tests.support.databases import read_rows

STORIES = 12


class StoriesSpider(scrapy.Spider):
    name = "stories"
    url: str

    async def start(self) -> AsyncIterator[Any]:
        for number in range(STORIES):
            yield scrapy.Request(f"{self.url}/{number}")

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"number": int(response.url.rpartition("/")[2])}


@pytest.mark.slow
@pytest.mark.parametrize(
    "reactor",
    [
        crawling.ASYNCIO,
        crawling.NO_REACTOR,
        pytest.param(crawling.SELECT, marks=pytest.mark.slow),
    ],
)
def test_every_reactor_learns_cleans_and_stores(tmp_path: Path, reactor: str) -> None:
    pages = {f"/{number}": crawl_site.story(number) for number in range(STORIES)}
    settings = {"NOISECLEAN_SAMPLE_QUOTA": 6, "NOISECLEAN_REFRESH_PAGES": 3}
    with crawl_site.serve(pages) as server:
        plan = Plan(StoriesSpider, settings, {"url": server.url})
        first, second = crawling.crawl(tmp_path, plan, plan, reactor=reactor)
    assert {item["number"] for item in first.items} == set(range(STORIES))
    assert first.ours["pages/learned"] == first.ours["items/cleaned"] == STORIES
    assert 2 <= first.ours["trees/built"] <= 3
    # All trees of the first crawl are known, so the second one's items are as clean as can be.
    assert second.ours["pages/seen"] == second.ours["items/cleaned"] == STORIES
    assert "pages/learned" not in second.ours
    texts = {item["number"]: item["text"] for item in second.items}
    assert texts == {number: crawl_site.story_text(number) for number in range(STORIES)}
    rows = read_rows(f"sqlite:///{tmp_path}/noiseclean.db", "SELECT text FROM noiseclean_page")
    assert {row[0] for row in rows} == set(texts.values())
    for crawled in (first, second):
        assert crawled.stats["finish_reason"] == "finished"
        assert crawled.stats.get("log_count/ERROR", 0) == 0
        assert "errors" not in crawled.ours
