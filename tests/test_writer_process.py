"""The process that writes: the same database as without it, and nothing lost when it dies."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import Response

from noiseclean_scrapy.clusters.cluster import load_cluster
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.pipeline import CleanPipeline
from noiseclean_scrapy.crawl.writer import ProcessWriter, Writer
from noiseclean_scrapy.store import Store
from tests.support import crawl_site, crawling
from tests.support.crawl_site import ChainSpider, story
from tests.support.crawling import Plan
from tests.support.databases import read_rows, run_statement
from tests.support.training import SITE, learn_site

PATHS = [f"/{number}" for number in range(14)]
SETTINGS = {
    "CONCURRENT_REQUESTS": 1,
    "NOISECLEAN_BATCH_SIZE": 2,
    "NOISECLEAN_REFRESH_PAGES": 4,
    "NOISECLEAN_SAMPLE_QUOTA": 5,
    "NOISECLEAN_WRITER_PROCESS": True,
}
STATE = """
SELECT url, text, title, language, canonical_url, position IS NOT NULL, learned_version IS NOT NULL
FROM noiseclean_page ORDER BY url
"""


class KillingSpider(ChainSpider):
    """Kills the process that writes, at its sixth and at its twelfth page."""

    name = "killing"

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        if number in (5, 11):
            pipeline = self.crawler.get_item_pipeline(CleanPipeline)
            assert pipeline
            assert pipeline.crawl
            assert isinstance(pipeline.crawl.writer, ProcessWriter)
            assert pipeline.crawl.writer.pid
            os.kill(pipeline.crawl.writer.pid, signal.SIGKILL)
        yield from super().parse(response, number)


@pytest.mark.slow
def test_another_process_writes_the_same(tmp_path: Path) -> None:
    pages = {path: story(number) for number, path in enumerate(PATHS)}
    databases = {name: f"sqlite:///{tmp_path}/{name}.db" for name in ("thread", "own", "killed")}
    with crawl_site.serve(pages) as server:
        arguments = {"url": server.url, "paths": PATHS}
        spiders = {"thread": ChainSpider, "own": ChainSpider, "killed": KillingSpider}
        plans = []
        for name, spider in spiders.items():
            own = {
                "NOISECLEAN_DATABASE_URL": databases[name],
                "NOISECLEAN_WRITER_PROCESS": name != "thread",
            }
            plans.append(Plan(spider, SETTINGS | own, arguments))
        in_thread, in_process, killed = crawling.crawl(tmp_path, *plans)
    rows = {name: read_rows(url, STATE) for name, url in databases.items()}
    assert len(rows["thread"]) == len(PATHS)
    assert all(is_learned for *_, is_learned in rows["thread"])
    assert rows["own"] == rows["killed"] == rows["thread"]
    for crawled in (in_thread, in_process, killed):
        assert crawled.ours["pages/learned"] == len(PATHS)
        assert "errors" not in crawled.ours
        assert all(item["text"] for item in crawled.items)
        assert "store/errors" not in crawled.ours
    ended = "the process that writes has ended (exit status -9); it is started again"
    assert killed.lines("WARNING") == [ended, ended]
    assert not in_process.lines("WARNING")
    trees = [
        read_rows(url, "SELECT version, pages FROM noiseclean_tree")
        for url in (databases["thread"], databases["own"])
    ]
    assert trees[0][-1][1] == trees[1][-1][1] == len(PATHS)


class WanderingSpider(ChainSpider):
    """Changes the working directory when it starts."""

    name = "wandering"

    async def start(self) -> AsyncIterator[Any]:
        os.chdir("elsewhere")
        async for request in super().start():
            yield request


def test_relative_paths_are_those_of_the_start(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    paths = PATHS[:6]
    own = {
        "NOISECLEAN_DATABASE_URL": "sqlite:///pages.db",
        "NOISECLEAN_FINAL_FEEDS": True,
        "NOISECLEAN_FIELDS": {"text": "text", "address": "url"},
    }
    with crawl_site.serve({path: story(number) for number, path in enumerate(paths)}) as server:
        arguments = {"url": server.url, "paths": paths}
        [crawled] = crawling.crawl(tmp_path, Plan(WanderingSpider, SETTINGS | own, arguments))
    assert not list((tmp_path / "elsewhere").iterdir())
    rows = read_rows(f"sqlite:///{tmp_path}/pages.db", "SELECT text FROM noiseclean_page")
    assert {item["text"] for item in crawled.items} == {text for (text,) in rows}
    assert len(rows) == len(paths)
    assert not crawled.lines("ERROR")
    assert any(line.endswith("stored in sqlite:///pages.db") for line in crawled.lines("INFO"))


class TwoPartError(Exception):
    """Cannot be made again of its words alone, as pickle does."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")


def fail(store: Store, how: str) -> int:
    """Raise an error that pickle cannot make again, or cannot write."""

    class LocalError(Exception):
        pass

    if how == "two parts":
        raise TwoPartError("two", "parts")
    if how == "local":
        raise LocalError(how)
    return 42


@pytest.mark.parametrize("how", ["two parts", "local"])
def test_an_error_that_cannot_be_sent_is_one_in_words(sqlite_url: str, how: str) -> None:
    with Store(sqlite_url) as store:
        writer = ProcessWriter(store, sqlite_url)
        try:
            with pytest.raises(RuntimeError, match=f"Error: {how}"):
                asyncio.run(writer.run(fail, how))
            first = writer.pid
            assert asyncio.run(writer.run(fail, "")) == 42
            assert writer.pid == first
        finally:
            writer.close()


@pytest.mark.parametrize("in_process", [False, True])
def test_damage_is_counted_wherever_it_is_met(sqlite_url: str, in_process: bool) -> None:
    config = Config(method="style-tree")
    with Store(sqlite_url, store_html=True) as store:
        learn_site(store, config, range(1, 9))
        run_statement(sqlite_url, "UPDATE noiseclean_page SET learned_version = NULL")
        run_statement(sqlite_url, "UPDATE noiseclean_cluster SET covered = 0")
        run_statement(sqlite_url, "UPDATE noiseclean_page_html SET html = x'00' WHERE key = 'k5'")
        url = sqlite_url
        writer = ProcessWriter(store, url, store_html=True) if in_process else Writer(store)
        training = load_cluster(store, SITE, config).training(pages_due=1)
        result = asyncio.run(writer.train(training))
        writer.close()
        assert result.built
        assert len(result.cleaned) == 7
        assert store.damaged == 1
