"""Feeds that get the final texts when they are closed, and by `noiseclean refresh`."""

from __future__ import annotations

import csv
import gzip
import json
import marshal
import os
import pickle
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import scrapy
from itemloaders import ItemLoader
from lxml import etree
from scrapy.exporters import JsonLinesItemExporter
from scrapy.http import Response

from noiseclean_scrapy import PageItem
from noiseclean_scrapy.clusters.final_values import FINAL_VALUES, FinalValues, _may_be_ours
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.output.feeds import FeedError, FeedOptions, Fields, rewrite_feed
from noiseclean_scrapy.page.urls import item_address
from noiseclean_scrapy.store import Store
from noiseclean_scrapy.store.records import EARLIER_BODY
from tests.support import crawl_site, crawling
from tests.support.command_line import DemoCrawl, noiseclean
from tests.support.crawling import Crawled, Plan
from tests.support.databases import run_statement
from tests.support.training import learn_site

PAGES = 24
NOTICE = "Readers of this paper meet in the old harbour hall on every first Sunday of the month."
PLACES = "porto lisbon faro braga".split()
WORDS = "Grüße & “quotes”"
SETTINGS = {
    "NOISECLEAN_METHOD": "style-tree",
    "NOISECLEAN_DATABASE_URL": "sqlite:///feeds.db",
    "NOISECLEAN_SAMPLE_QUOTA": 8,
    "NOISECLEAN_BATCH_SIZE": 1,
    "CONCURRENT_REQUESTS": 1,
}
FORMATS = ("jsonlines", "json", "csv", "xml", "pickle", "marshal")
OWN = "the spider's own words"


def story(number: int) -> str:
    place = PLACES[number % len(PLACES)]
    notice = f"<section class={place}><p>{NOTICE} {place.title()} is next.</p></section>"
    page = crawl_site.story(number).replace("</div>", f"{notice}</div>")
    poem = f"<pre>{place}\n  {number} ferries</pre><p>rain<br>{number}</p>"
    return page.replace(f"Story {number}", f"Story {number}: {WORDS}").replace(
        "</h1>", "</h1>" + poem
    )


class StorySpider(scrapy.Spider):
    """One page after the other: most items are made before the site is known."""

    name = "stories"
    url: str

    async def start(self) -> Any:
        yield scrapy.Request(f"{self.url}/0", cb_kwargs={"number": 0})

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        yield {"number": str(number), "url": response.url, "title": "", "text": ""}
        yield {"number": "own", "url": response.url, "title": "", "text": OWN}
        yield {"number": "elsewhere", "url": "http://elsewhere.example/", "title": "t", "text": "x"}
        yield {"number": "nowhere", "url": "", "title": "t", "text": NOTICE}
        if number + 1 < PAGES:
            yield response.follow(f"/{number + 1}", cb_kwargs={"number": number + 1})


class PageItemSpider(StorySpider):
    name = "page_items"

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        yield PageItem(url=response.url)
        if number + 1 < PAGES:
            yield response.follow(f"/{number + 1}", cb_kwargs={"number": number + 1})


class LoaderSpider(StorySpider):
    """Items as Scrapy's ItemLoader makes them without output processors: each value is a list."""

    name = "loaded"

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        loader = ItemLoader({"title": None, "text": None}, response=response)
        loader.add_value("url", response.url)
        yield loader.load_item()
        if number + 1 < PAGES:
            yield response.follow(f"/{number + 1}", cb_kwargs={"number": number + 1})


class PollingSpider(StorySpider):
    """Visits one address again and again, which says something else each time."""

    name = "polling"

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        yield {"said": response.css("h1::text").get(), "url": response.url, "title": ""}
        if number < 3:
            yield scrapy.Request(
                f"{self.url}/0",
                dont_filter=True,
                cb_kwargs={"number": number + 1},
            )


class OwnExporter(JsonLinesItemExporter):
    """A format of the project's own."""


def read(path: Path, form: str) -> list[dict[str, Any]]:
    data = path.read_bytes()
    if form == "jsonlines":
        return [json.loads(line) for line in data.splitlines()]
    if form == "json":
        return list(json.loads(data))
    if form == "csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    if form == "xml":
        root = etree.fromstring(data)
        return [{str(part.tag): str(part.xpath("string()")) for part in item} for item in root]
    load = pickle.load if form == "pickle" else marshal.load
    found = []
    with path.open("rb") as file:
        while file.tell() < len(data):
            found.append(load(file))
    return found


def run(
    folder: Path,
    spider: type[scrapy.Spider],
    feeds: Mapping[str, Any],
    reactor: str = crawling.ASYNCIO,
    **more: Any,
) -> Crawled:
    pages = {f"/{number}": story(number) for number in range(PAGES)}
    settings = {**SETTINGS, "FEEDS": feeds, **more}
    result = crawling.crawl_pages(folder, spider, pages, settings, reactor=reactor)
    assert "errors" not in result.ours
    return result


def stored(folder: Path) -> dict[str, Any]:
    with Store(f"sqlite:///{folder}/feeds.db", read_only=True) as store:
        return {record.url: record for record in store.pages.with_text()}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Crawled]:
    """A crawl with a feed of each kind twice, one of them with options of its own."""
    folder = tmp_path_factory.mktemp("feeds")
    feeds: dict[str, Any] = {f"{form}.plain": {"format": form} for form in FORMATS}
    feeds |= {
        f"{form}.options": {"format": form, "encoding": "utf-8", "indent": 2} for form in FORMATS
    }
    feeds["csv.options"] |= {"item_export_kwargs": {"delimiter": ";"}}
    feeds["renamed.json"] = {"format": "json", "fields": {"url": "link", "text": "body"}}
    feeds["batches/%(batch_id)d.jsonl"] = {"format": "jsonlines", "batch_item_count": 10}
    feeds["packed.gz"] = {
        "format": "jsonlines",
        "postprocessing": ["scrapy.extensions.postprocessing.GzipPlugin"],
    }
    feeds["own.jsonl"] = {"format": "own"}
    feeds["texts.csv"] = {"format": "csv", "fields": ["title", "text"]}
    exporters = {"own": f"{OwnExporter.__module__}.{OwnExporter.__qualname__}"}
    result = run(folder, StorySpider, feeds, NOISECLEAN_FINAL_FEEDS=True, FEED_EXPORTERS=exporters)
    return folder, result


@pytest.mark.parametrize("options", ["plain", "options"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.slow
def test_each_format_ends_with_the_texts_of_the_database(
    crawled: tuple[Path, Crawled], form: str, options: str
) -> None:
    folder, _ = crawled
    path = folder / f"{form}.{options}"
    if form == "csv" and options == "options":
        with path.open(newline="", encoding="utf-8") as file:
            found: list[dict[str, Any]] = list(csv.DictReader(file, delimiter=";"))
    else:
        found = read(path, form)
    records = stored(folder)
    assert len(found) == 4 * PAGES
    assert [item["number"] for item in found[:4]] == ["0", "own", "elsewhere", "nowhere"]
    for item in found:
        if item["number"] == "own":
            assert item["text"] == OWN
        elif item["number"] == "elsewhere":
            assert (item["title"], item["text"]) == ("t", "x")
        elif item["number"] == "nowhere":
            assert item["text"] == NOTICE
        else:
            cleaned = records[item["url"]].cleaned
            assert (item["title"], item["text"]) == (cleaned.title, cleaned.text)
            assert NOTICE not in item["text"]
            assert WORDS in item["text"]


@pytest.mark.slow
def test_the_early_texts_were_others(crawled: tuple[Path, Crawled]) -> None:
    folder, result = crawled
    early = [json.loads(line) for line in (folder / "own.jsonl").read_text().splitlines()]
    assert sum(NOTICE in item["text"] for item in early if item["number"].isdigit()) >= 4
    assert result.ours["items/refreshed"] > 10 * 4


@pytest.mark.slow
def test_how_a_feed_is_written_stays(crawled: tuple[Path, Crawled]) -> None:
    folder, _ = crawled
    assert (folder / "json.plain").read_bytes().isascii()
    assert not (folder / "json.options").read_bytes().isascii()
    first = (folder / "json.options").read_text(encoding="utf-8").splitlines()
    assert first[:3] == ["[", "{", '  "number": "0",']
    assert list(folder.glob("*.part")) == []


@pytest.mark.slow
def test_renamed_fields_and_batches(crawled: tuple[Path, Crawled]) -> None:
    folder, _ = crawled
    records = stored(folder)
    renamed = json.loads((folder / "renamed.json").read_bytes())
    batches = sorted((folder / "batches").iterdir(), key=lambda path: int(path.stem))
    batched = [item for path in batches for item in read(path, "jsonlines")]
    assert len(renamed) == len(batched) == 4 * PAGES
    assert len(batches) == 10
    for items, link, body in ((renamed, "link", "body"), (batched, "url", "text")):
        texts = {item[link]: item[body] for item in items[::4]}
        assert texts == {url: record.cleaned.text for url, record in records.items()}


@pytest.mark.slow
def test_what_cannot_be_written_once_more_is_said(crawled: tuple[Path, Crawled]) -> None:
    folder, result = crawled
    warnings = result.lines("WARNING", "noiseclean_scrapy.crawl.final_feeds")
    assert len(warnings) == 3
    assert any("texts.csv" in line and "leaves out the field 'url'" in line for line in warnings)
    for name in ("packed.gz", "own.jsonl"):
        (line,) = [line for line in warnings if name in line]
        assert "keeps the texts of the moment: only jsonlines" in line
    with gzip.open(folder / "packed.gz") as file:
        assert len(file.read().splitlines()) == 4 * PAGES


@pytest.mark.slow
def test_page_items_get_html_markdown_and_version(tmp_path: Path) -> None:
    run(tmp_path, PageItemSpider, {"items.json": {"format": "json"}}, NOISECLEAN_FINAL_FEEDS=True)
    found = json.loads((tmp_path / "items.json").read_bytes())
    records = stored(tmp_path)
    assert len(found) == PAGES
    for item in found:
        cleaned = records[item["url"]].cleaned
        assert (item["text"], item["tree_version"]) == (cleaned.text, cleaned.clean_version)
        assert NOTICE not in item["html"] + item["markdown"]
        assert item["markdown"].startswith("# Story ")
        assert item["tree_version"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jsonlines", "csv", "xml"])
@pytest.mark.parametrize("at_once", [True, False])
def test_items_of_a_loader_get_the_final_texts(tmp_path: Path, form: str, *, at_once: bool) -> None:
    feeds = {f"items.{form}": {"format": form}}
    run(tmp_path, LoaderSpider, feeds, NOISECLEAN_FINAL_FEEDS=at_once)
    records = stored(tmp_path)
    if not at_once:
        done = noiseclean(tmp_path, "refresh", f"items.{form}", "--database", "feeds.db")
        assert "no stored page" not in done.stderr
    found = read(tmp_path / f"items.{form}", form)
    assert len(found) == PAGES
    for item in found:
        assert item["text"] == records[item_address(item["url"])].cleaned.text


@pytest.mark.slow
@pytest.mark.parametrize("reactor", [crawling.SELECT, crawling.NO_REACTOR])
def test_with_any_reactor(tmp_path: Path, reactor: str) -> None:
    feeds = {"items.json": {"format": "json"}}
    run(tmp_path, PageItemSpider, feeds, reactor, NOISECLEAN_FINAL_FEEDS=True)
    records = stored(tmp_path)
    found = json.loads((tmp_path / "items.json").read_bytes())
    assert {item["url"]: item["text"] for item in found} == {
        url: record.cleaned.text for url, record in records.items()
    }


@pytest.mark.slow
def test_what_was_in_a_feed_before_the_crawl_stays(tmp_path: Path) -> None:
    old = [{"url": f"http://old.example/{n}", "text": f"old {n}"} for n in range(3)]
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in old))
    run(tmp_path, StorySpider, {str(path): {"format": "jsonlines"}}, NOISECLEAN_FINAL_FEEDS=True)
    found = read(path, "jsonlines")
    assert found[:3] == old
    assert len(found) == 3 + 4 * PAGES
    assert not any(NOTICE in item["text"] for item in found[3::4])


@pytest.mark.slow
def test_a_database_in_memory_gives_no_final_texts(tmp_path: Path) -> None:
    feeds = {"items.jsonl": {"format": "jsonlines"}}
    settings: dict[str, Any] = {
        "NOISECLEAN_DATABASE_URL": "sqlite://",
        "NOISECLEAN_FINAL_FEEDS": True,
    }
    crawled = run(tmp_path, StorySpider, feeds, **settings)
    assert not crawled.lines("ERROR")
    [line] = [line for line in crawled.lines("WARNING") if line.startswith("Feeds keep")]
    assert line.endswith("NOISECLEAN_FINAL_FEEDS is for databases that are not in memory")


@pytest.mark.slow
def test_items_that_a_newer_tree_has_cleaned_keep_their_texts(tmp_path: Path) -> None:
    pages = {f"/{number}": story(number) for number in range(PAGES)}
    settings = {**SETTINGS, "NOISECLEAN_FINAL_FEEDS": True}
    feeds = [{str(tmp_path / name): {"format": "json"}} for name in ("0.json", "1.json")]
    with crawl_site.serve(pages) as server:
        crawling.crawl(
            tmp_path,
            *(
                Plan(PageItemSpider, settings | {"FEEDS": feed}, {"url": server.url})
                for feed in feeds
            ),
        )
    versions = [
        {item["tree_version"] for item in json.loads((tmp_path / name).read_bytes())}
        for name in ("0.json", "1.json")
    ]
    assert len(versions[0]) > 1
    assert versions[1] == {max(versions[0])}
    # Nor does `refresh` bring back the older ones, which the database keeps of unchanged pages.
    before = (tmp_path / "1.json").read_bytes()
    done = noiseclean(tmp_path, "refresh", "1.json", "--database", "feeds.db")
    assert done.stderr.startswith("0 of ")
    assert (tmp_path / "1.json").read_bytes() == before


@pytest.mark.slow
def test_refresh_does_the_same_afterwards(tmp_path: Path) -> None:
    feeds = {f"items.{form}": {"format": form} for form in FORMATS}
    run(tmp_path, StorySpider, feeds)
    records = stored(tmp_path)
    for form in FORMATS:
        path = tmp_path / f"items.{form}"
        before = read(path, form)
        done = noiseclean(tmp_path, "refresh", path.name, "--database", "feeds.db")
        after = read(path, form)
        assert "items got newer texts" in done.stderr
        assert [item["number"] for item in after] == [item["number"] for item in before]
        assert sum(old != new for old, new in zip(before, after, strict=True)) >= 4
        for old, new in zip(before, after, strict=True):
            if new["number"].isdigit():
                assert new["text"] == records[new["url"]].cleaned.text
            else:
                assert new == old
        again = noiseclean(tmp_path, "refresh", path.name, "--database", "feeds.db")
        assert again.stderr.startswith("0 of 96 items")


def test_the_encoding_of_xml_may_have_the_name_that_python_has(tmp_path: Path) -> None:
    path = tmp_path / "items.xml"
    head = '<?xml version="1.0" encoding="latin-1"?>'
    feed = f"{head}<items><item><url>a</url><text>é</text></item></items>"
    path.write_text(feed, encoding="latin-1")
    done = rewrite_feed(path, "xml", lambda _: {"text": "ü"}, FeedOptions("latin-1"))
    assert done.changed == 1
    assert read(path, "xml") == [{"url": "a", "text": "ü"}]


def test_xml_leaves_out_what_it_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "items.xml"
    path.write_text("<items><item><url>a</url><text>Fog</text></item></items>")
    rewrite_feed(path, "xml", lambda _: {"text": "Fog\ufffe closes\uffff the port"})
    assert read(path, "xml") == [{"url": "a", "text": "Fog closes the port"}]


def test_refresh_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text("")
    nameless = noiseclean(tmp_path, "refresh", "items.txt", code=2)
    assert "give --format, one of jsonlines, jsonl" in nameless.stderr
    missing = noiseclean(tmp_path, "refresh", "items.json", code=1)
    assert "there is no file 'items.json'" in missing.stderr
    for name in ("nope", "hex"):
        wrong = noiseclean(tmp_path, "refresh", "items.json", "--encoding", name, code=2)
        assert f"there is no encoding '{name}'" in wrong.stderr


@pytest.mark.parametrize("indent", [None, -1, 0])
def test_an_item_keeps_its_line(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "items.json"
    path.write_text('[\n{"url": "a", "text": "Fog"}\n]')
    rewrite_feed(path, "json", lambda item: {"text": "Sun"}, FeedOptions(indent=indent))
    assert path.read_text() == '[\n{"url": "a", "text": "Sun"}\n]'


def test_refresh_finds_a_front_page_without_its_slash(tmp_path: Path, demo: DemoCrawl) -> None:
    items = [{"url": f"http://{demo.site}", "text": ""}]
    (tmp_path / "items.json").write_text(json.dumps(items))
    done = noiseclean(tmp_path, "refresh", "items.json")
    assert done.stderr == "1 of 1 item got newer texts\n"
    for number, told in ((1, "1 item has"), (2, "2 items have")):
        away = [{"url": "http://away.example/", "text": ""}] * number
        (tmp_path / "items.json").write_text(json.dumps(items + away))
        done = noiseclean(tmp_path, "refresh", "items.json")
        assert done.stderr.endswith(f"got newer texts; {told} no stored page\n")


BROKEN: dict[str, tuple[str, bytes]] = {
    "json cut off": ("json", b'[{"url": "a", "text": "b"},{"url": "c", "te'),
    "csv cut off": ("csv", b'url,text\r\na,b\r\nc,"te'),
    "json of something else": ("json", b'["a", "b"]'),
    "line of something else": ("jsonlines", b'{"url": "a"}\n[1]\n'),
    "line of nothing": ("jsonlines", b"null\n"),
    "deep line": ("jsonlines", b'{"a":' * 100_000),
    "pickle of a length": ("pickle", b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f."),
    "pickle of too much": ("pickle", b"cbuiltins\nbytearray\n(I99999999999999\ntR."),
    "line cut off": ("jsonlines", b'{"url": "a", "text": "b"}\n{"url": '),
    "xml cut off": ("xml", b"<items><item><url>a</url><text>b</text></item><item>"),
    "xml twice": ("xml", b"<items></items><items></items>"),
    "pickle of a class": ("pickle", pickle.dumps({"url": "a"}) + pickle.dumps(Path("a"))),
    "pickle cut off": ("pickle", pickle.dumps({"url": "a"}) + pickle.dumps({"url": "b"})[:-3]),
    "marshal cut off": ("marshal", marshal.dumps({"url": "a"}) + marshal.dumps({"url": "b"})[:9]),
    "marshal of something else": ("marshal", marshal.dumps([1])),
    "utf-16": ("csv", "url,text\r\n".encode("utf-16")),
    "no format": ("yaml", b"- url: a"),
}


def test_a_text_is_ours_where_its_lines_make_whole_blocks() -> None:
    blocks = {"Fog closes the port.", "It rose.", "poem of four lines", "x"}
    for text, is_ours in (
        ("Fog closes the port.\nIt rose.", True),
        ("It rose.\npoem of\nfour  lines\n\nx", True),
        ("poem of\nfour\nlines of", False),
        ("poem of", False),
        ("It rose. x", False),
        ("", True),
    ):
        assert _may_be_ours("text", text, blocks) is is_ours, text


def test_what_the_spider_filled_in_is_not_ours() -> None:
    blocks = {"Fog closes the port.", "Fog"}
    for source in FINAL_VALUES:
        assert _may_be_ours(source, None, blocks)
        assert _may_be_ours(source, "", blocks)
    for source in set(FINAL_VALUES) - {"tree_version"}:
        for value in (0, False, 1.5, "   ", ["Fog"]):
            assert not _may_be_ours(source, value, blocks), (source, value)
    for html, is_ours in (
        ("<h1>Fog</h1>\n<p>Fog closes the port.</p>", True),
        ('<p>Fog closes <a href="http://a.example/?a=1&amp;b">the port</a>.</p>', True),
        ("<html><body><h1>Fog</h1><p>Fog closes the port.</p></body></html>", False),
        ("<h1>Fog</h1><p class=lead>Fog closes the port.</p>", False),
        ("<h1>Fog</h1><script>a()</script>", False),
        ("<!doctype html><h1>Fog</h1>", False),
        ("<h1>Fog</h1><p>Fog < the port.</p>", False),
    ):
        assert _may_be_ours("html", html, blocks) is is_ours, html


@pytest.mark.parametrize(("form", "data"), BROKEN.values(), ids=BROKEN)
def test_a_broken_feed_stays_as_it_is(tmp_path: Path, form: str, data: bytes) -> None:
    path = tmp_path / "feed"
    path.write_bytes(data)
    with pytest.raises(FeedError, match="feed"):
        rewrite_feed(path, form, lambda item: {"url": "changed"})
    assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("damage", [b'{"url": "b", "text": "c\n', b'{"url": "\xff"}\n', b"{}{}\n"])
def test_a_damaged_line_is_named_by_its_number(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "feed.jsonl"
    path.write_bytes(b'{"url": "a"}\n\n' + damage + b'{"url": "c"}\n')
    with pytest.raises(FeedError, match=r"stays as it is: line 3 cannot be read \((?!.*line)"):
        rewrite_feed(path, "jsonl", lambda item: {})


def test_csv_that_was_added_to_with_other_fields(tmp_path: Path) -> None:
    path = tmp_path / "feed.csv"
    path.write_text(
        "url,title\nhttp://a/1,One\nhttp://a/2,Two,extra\n"
        "url,title,price\nhttp://a/3,Three,42\ntitle,url\nFour,http://a/4\n"
    )
    done = rewrite_feed(path, "csv", lambda item: {"title": f"{item['title']}!"})
    assert (done.items, done.changed) == (4, 4)
    assert path.read_text().splitlines() == [
        *("url,title", "http://a/1,One!", "http://a/2,Two!,extra"),
        *("url,title,price", "http://a/3,Three!,42", "title,url", "Four!,http://a/4"),
    ]


def test_csv_that_was_added_to_with_a_field_less_and_another_more(tmp_path: Path) -> None:
    path = tmp_path / "feed.csv"
    path.write_text("url,title,price\nhttp://a/1,title,42\nurl,text,price\nhttp://a/2,Fog,43\n")
    done = rewrite_feed(
        path, "csv", lambda item: {n: "new" for n in ("title", "text") if n in item}
    )
    assert (done.items, done.changed) == (2, 2)
    assert path.read_text().splitlines() == [
        *("url,title,price", "http://a/1,new,42"),
        *("url,text,price", "http://a/2,new,43"),
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="who has a file open is told by Linux alone")
def test_a_feed_that_another_crawl_writes_to_stays(tmp_path: Path) -> None:
    path = tmp_path / "feed.jsonl"
    path.write_text('{"text": "old"}\n')
    with path.open("a") as other:
        with pytest.raises(FeedError, match="another crawl has it open"):
            rewrite_feed(path, "jsonl", lambda item: {"text": "new"})
        assert not rewrite_feed(path, "jsonl", lambda item: {}).changed
        other.write('{"text": "later"}\n')
    with path.open():  # a reader does no harm
        assert rewrite_feed(path, "jsonl", lambda item: {"text": "new"}).changed == 2
    assert [item["text"] for item in read(path, "jsonlines")] == ["new", "new"]


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_feed_that_changes_meanwhile_stays(tmp_path: Path, *, is_moved: bool) -> None:
    path = tmp_path / "feed.jsonl"
    path.write_text('{"text": "old"}\n')

    def change(item: Fields) -> Fields:
        if is_moved:
            path.rename(tmp_path / "moved")
            path.write_text("")
        elif item["text"] == "old":
            os.utime(path, (0, 0))  # a moment of its own, however coarse the clock is
            with path.open("a") as other:
                other.write('{"text": "later"}\n')
        return {"text": "new"}

    with pytest.raises(FeedError, match="has written to it meanwhile"):
        rewrite_feed(path, "jsonl", change)
    assert path.read_text() == "" if is_moved else '{"text": "old"}\n{"text": "later"}\n'


def test_what_lies_beside_a_feed_stays(tmp_path: Path) -> None:
    path, beside = tmp_path / "feed.jsonl", tmp_path / "feed.jsonl.part"
    path.write_text('{"text": "old"}\n')
    beside.write_text("mine")
    rewrite_feed(path, "jsonl", lambda item: {"text": "new"})
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {
        "feed.jsonl": '{"text": "new"}\n',
        "feed.jsonl.part": "mine",
    }


@pytest.mark.parametrize(
    ("encoding", "before", "after"),
    [
        (None, "One", r"\u00c9t\u00e9"),
        ("utf-8", "One", "Été"),
        ("utf-8", r"\u00c9", r"\u00c9t\u00e9"),
    ],
)
@pytest.mark.parametrize("form", ["json", "jsonlines"])
def test_letters_are_escaped_as_scrapy_does(
    form: str, encoding: str | None, before: str, after: str, tmp_path: Path
) -> None:
    path = tmp_path / "feed"
    frame = "[{}]" if form == "json" else "{}\n"
    path.write_text(frame.format(f'{{"title": "{before}"}}'), encoding="utf-8")
    rewrite_feed(path, form, lambda item: {"title": "Été"}, FeedOptions(encoding=encoding))
    assert path.read_text(encoding="utf-8") == frame.format(f'{{"title": "{after}"}}')


def test_csv_without_a_header_and_with_long_fields(tmp_path: Path) -> None:
    path = tmp_path / "feed.csv"
    long = "x" * 300_000
    path.write_text(f'a,"{long}"\r\nb,short\r\n', newline="")

    def change(item: Fields) -> Fields:
        return {"text": "new"} if item["url"] == "b" else {}

    bare = FeedOptions(export={"include_headers_line": False})
    with pytest.raises(FeedError, match="no header line"):
        rewrite_feed(path, "csv", change, bare)
    named = FeedOptions(columns=["url", "text"], export={"include_headers_line": False})
    done = rewrite_feed(path, "csv", change, named)
    assert (done.items, done.changed) == (2, 1)
    assert path.read_text() == f"a,{long}\nb,new\n"


def test_a_long_json_feed_is_read_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "feed.json"
    items = [{"url": str(n), "text": "ä" * 5000, "more": [n, {"deep": "]}"}]} for n in range(900)]
    path.write_text(json.dumps(items, ensure_ascii=False), encoding="utf-8")
    done = rewrite_feed(
        path, "json", lambda item: {"text": "new"} if item["url"] in {"7", "899"} else {}
    )
    assert (done.items, done.changed) == (900, 2)
    after = json.loads(path.read_bytes())
    assert [n for n, item in enumerate(after) if item["text"] == "new"] == [7, 899]
    assert [{**item, "text": ""} for item in after] == [{**item, "text": ""} for item in items]


@pytest.mark.slow
def test_an_item_keeps_what_its_page_said_at_its_visit(tmp_path: Path) -> None:
    feeds = {"FEEDS": {"items.jsonl": {"format": "jsonlines"}}, "NOISECLEAN_FINAL_FEEDS": True}
    crawling.crawl_pages(tmp_path, PollingSpider, {"/0": crawl_site.story}, {**SETTINGS, **feeds})
    items = read(tmp_path / "items.jsonl", "jsonlines")
    assert [item["said"] for item in items] == ["Story 1", "Story 2", "Story 3", "Story 4"]
    assert [item["title"] for item in items] == [item["said"] for item in items]


def test_a_site_whose_tree_is_damaged_keeps_what_needs_it(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    config = Config(method="style-tree")
    with Store(sqlite_url, store_html=True) as store:
        learn_site(store, config, range(1, 9))
        run_statement(sqlite_url, "UPDATE noiseclean_tree SET tree = x'00'")
        values = FinalValues(store, config)
        sources = {"text": "text", "html": "html", "markdown": "markdown"}
        item = dict.fromkeys(sources, "early")
        for key in ("k4", "k5"):
            record = values.record(key)
            assert record
            assert set(values.newer(record, item, sources)) == {"text"}
    assert values.has_unreadable_trees
    assert caplog.text.count("HTML and Markdown stay as they are: the tree of") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE noiseclean_page_html SET html = x'00' WHERE key = 'k5'",
        f"UPDATE noiseclean_page SET clean_version = {EARLIER_BODY} WHERE key = 'k5'",
    ],
)
def test_a_page_whose_html_is_damaged_or_not_of_its_text_keeps_what_needs_it(
    sqlite_url: str, statement: str
) -> None:
    config = Config(method="style-tree")
    with Store(sqlite_url, store_html=True) as store:
        learn_site(store, config, range(1, 9))
        run_statement(sqlite_url, statement)
        values = FinalValues(store, config)
        sources = {"text": "text", "markdown": "markdown"}
        item = {"text": "early", "markdown": "early"}
        for key, changed in (("k4", {"text", "markdown"}), ("k5", {"text"})):
            record = values.record(key)
            assert record
            assert set(values.newer(record, item, sources)) == changed
