"""The add-on runs wherever Scrapy runs: with each kind of reactor, and without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import crawl_site, crawling
from tests.support.crawling import Plan
from tests.support.databases import read_rows

PAGES = {f"/{number}": crawl_site.story(number) for number in range(12)}


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
    settings = {"NOISECLEAN_SAMPLE_QUOTA": 6, "NOISECLEAN_REFRESH_PAGES": 3}
    with crawl_site.serve(PAGES) as server:
        plan = Plan(crawl_site.PagesSpider, settings, {"url": server.url, "paths": list(PAGES)})
        first, second = crawling.crawl(tmp_path, plan, plan, reactor=reactor)
    assert {item["path"] for item in first.items} == set(PAGES)
    assert first.ours["pages/learned"] == first.ours["items/cleaned"] == len(PAGES)
    assert 2 <= first.ours["trees/built"] <= 3
    # All trees of the first crawl are known, so the second one's items are as clean as can be.
    assert second.ours["pages/seen"] == second.ours["items/cleaned"] == len(PAGES)
    assert "pages/learned" not in second.ours
    texts = {item["path"]: item["text"] for item in second.items}
    assert texts == {path: crawl_site.story_text(number) for number, path in enumerate(PAGES)}
    rows = read_rows(f"sqlite:///{tmp_path}/noiseclean.db", "SELECT text FROM noiseclean_page")
    assert {row[0] for row in rows} == set(texts.values())
    for crawled in (first, second):
        assert crawled.stats["finish_reason"] == "finished"
        assert crawled.stats.get("log_count/ERROR", 0) == 0
        assert "errors" not in crawled.ours
