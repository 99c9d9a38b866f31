"""A replay sends archived pages through a real crawl: in order, one at a time, without network."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpora import read_manifest
from tests.support import crawl_site
from tests.support.archives import html, responses, row, warc, write_manifest
from tests.support.command_line import run_process
from tests.support.corpora import CORPORA, needs_corpora

REPLAY_SCRIPT = """
import asyncio, json, sys
from scrapy import Request
from scrapy.crawler import AsyncCrawlerProcess
from example_project.spiders.archive import ArchiveSpider

class Recorder:
    def __init__(self, crawler):
        self.crawler = crawler

    from_crawler = classmethod(lambda cls, crawler: cls(crawler))

    def process_response(self, request, response):
        stats = self.crawler.stats
        stats.inc_value("test/responses")
        stats.inc_value(f"test/{type(response).__name__}/{response.encoding}")
        ahead = stats.get_value("noiseclean/archive/pages") - stats.get_value("test/responses")
        stats.max_value("test/ahead", ahead)
        stats.max_value("test/queued", len(self.crawler.engine.scheduler))
        return response

class UnevenPipeline:
    pages = 0

    async def process_item(self, item):
        self.pages += 1
        await asyncio.sleep(0.01 * (self.pages % 7 == 1))
        return item

class FollowingSpider(ArchiveSpider):
    def parse(self, response, **kwargs):
        yield from super().parse(response, **kwargs)
        yield Request(self.follow)

arguments, settings, stats_path = json.loads(sys.argv[1])
process = AsyncCrawlerProcess({
    "DOWNLOADER_MIDDLEWARES": {Recorder: 543}, "ITEM_PIPELINES": {UnevenPipeline: 1},
    "TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "INFO", **settings,
})
crawler = process.create_crawler(FollowingSpider if "follow" in arguments else ArchiveSpider)
process.crawl(crawler, **arguments)
process.start()
with open(stats_path, "w") as file:
    json.dump(crawler.stats.get_stats(), file, default=str)
"""


class Replay:
    """One crawl of the archive spider in a process of its own: its items, stats and log."""

    def __init__(self, folder: Path, arguments: dict[str, str], **settings: Any) -> None:
        script, stats, feed = (folder / f"replay.{suffix}" for suffix in ("py", "json", "jsonl"))
        script.write_text(REPLAY_SCRIPT)
        settings["FEEDS"] = {str(feed): {"format": "jsonlines", "overwrite": True}}
        task = json.dumps([arguments, settings, str(stats)])
        command = (sys.executable, "-W", "error", str(script), task)
        self.log = run_process(folder, *command).stderr
        self.stats = json.loads(stats.read_text())
        self.items = [json.loads(line) for line in feed.read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("reactor", [True, False])
def test_replay_keeps_the_order_and_holds_one_page(tmp_path: Path, reactor: bool) -> None:
    rows = [row(f"{i}", f"site-{i % 3}", None, "html.gz") for i in range(300)]
    source = write_manifest(tmp_path / "corpus", *rows)
    (source / "html/7.html.gz").unlink()
    replay = Replay(tmp_path, {"source": str(source)}, TWISTED_REACTOR_ENABLED=reactor)
    del rows[7]
    assert replay.items == [
        {"id": row["id"], "url": f"http://{row['site']}.invalid/{row['id']}", "site": row["site"]}
        for row in rows
    ]
    assert replay.stats["test/responses"] == 299
    assert replay.stats["test/HtmlResponse/utf-8"] == 299
    assert replay.stats["noiseclean/archive/pages"] == 299
    assert replay.stats["noiseclean/archive/missing"] == 1
    assert replay.stats["test/ahead"] == 0
    assert replay.stats["test/queued"] == 0
    assert replay.stats["finish_reason"] == "finished"
    assert "noiseclean/archive/refused" not in replay.stats


def test_replay_follows_nothing_and_decodes_as_a_crawl_does(tmp_path: Path) -> None:
    refresh = html("moved").replace(b"<p>", b"<meta http-equiv=refresh content='0;url=/x'><p>")
    source = tmp_path / "pages.warc.gz"
    same = ("response", "http://a.org/same", "text/html", html("same"))
    source.write_bytes(
        warc(
            same,
            same,
            ("response", "http://a.org/" + "x" * 3000, "text/html", html("long address")),
            ("response", "http://a.org/refresh", "text/html", refresh),
            ("response", "http://a.org/meta", "text/html", html("nordic", "iso-8859-10")),
            ("response", "http://a.org/head", "text/html; charset=iso-8859-15", b"<p>\xe4"),
            (
                "resource",
                "http://a.org/xml",
                "text/xml",
                b"<?xml version='1.0'?><html><p>x</p></html>",
            ),
        )
        + warc(*responses(2))[:-30]
    )
    replay = Replay(tmp_path, {"source": str(source)}, ROBOTSTXT_OBEY=True, REDIRECT_ENABLED=True)
    assert len(replay.items) == replay.stats["test/responses"] == 8
    assert {item["site"] for item in replay.items} == {"a.org"}
    assert replay.stats["test/HtmlResponse/iso8859-10"] == 1
    assert replay.stats["test/HtmlResponse/iso8859-15"] == 1
    assert replay.stats["noiseclean/archive/damaged"] == 1


@pytest.mark.slow
def test_replay_uses_no_network(tmp_path: Path) -> None:
    with crawl_site.serve({}) as server:
        source = write_manifest(tmp_path / "corpus", row("1", "a.org"), row("2", "a.org"))
        replay = Replay(tmp_path, {"source": str(source), "follow": f"{server.url}/"})
    assert not server.requests
    assert len(replay.items) == 2
    assert replay.stats["noiseclean/archive/refused"] == 1


@pytest.mark.slow
def test_replay_stops_when_told_to(tmp_path: Path) -> None:
    rows = [row(f"{i}", "a.org") for i in range(50)]
    source = write_manifest(tmp_path / "corpus", *rows)
    replay = Replay(tmp_path, {"source": str(source)}, CLOSESPIDER_ITEMCOUNT=5)
    assert 5 <= len(replay.items) < 10
    assert replay.stats["finish_reason"] == "closespider_itemcount"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({}, "-a source=PATH"), ({"source": "nowhere.warc"}, "no such file or folder")],
)
def test_replay_without_an_archive_says_so_in_one_line(
    tmp_path: Path, arguments: dict[str, str], message: str
) -> None:
    replay = Replay(tmp_path, arguments)
    assert replay.stats["finish_reason"] == "archive_error"
    assert replay.stats["log_count/ERROR"] == 1
    assert message in replay.log
    assert replay.items == []


@pytest.mark.slow
@needs_corpora
def test_a_corpus_is_replayed_whole(tmp_path: Path) -> None:
    corpus = CORPORA / "cleanportaleval"
    replay = Replay(tmp_path, {"source": str(corpus)})
    assert [(item["id"], item["site"]) for item in replay.items] == [
        (row["id"], row["site"]) for row in read_manifest(corpus)
    ]
