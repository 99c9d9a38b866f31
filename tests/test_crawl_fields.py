"""Every value that goes into fields of items, through every feed format of Scrapy."""

from __future__ import annotations

import csv
import io
import json
import marshal
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from scrapy.http import Response

from noiseclean_scrapy import PageItem
from noiseclean_scrapy.config import ITEM_VALUES
from noiseclean_scrapy.page.urls import site_name
from tests.support import crawl_site, crawling
from tests.support.crawling import Plan

PAGES = 3
FORMATS = ("csv", "json", "jsonlines", "marshal", "pickle", "xml")
PAGE = (
    '<html lang="en"><head><title>Fog {n}</title><link rel="canonical" href="/stories/{n}">'
    '<meta name="author" content="Ana Lima"><meta property="og:image" content="/{n}.jpg">'
    '<meta property="article:published_time" content="2021-07-0{n}T08:00:00+02:00"></head><body>'
    "<ul><li><a href=/>News</a><li>Sport &amp; more</ul><h1>Fog {n}</h1><p>The port was closed on "
    "Monday, said the harbour master,<br>since fog number {n} lay over <b>the "
    "water</b> all day.</p>"
    "<img src=/fog.png></body></html>"
)


class ValuesSpider(crawl_site.PagesSpider):
    """Gives a dict and a PageItem of every page."""

    paths = tuple(f"/{number}" for number in range(1, PAGES + 1))

    def parse(self, response: Response) -> Iterator[Any]:
        # Marshal knows no dates.
        yield {"at": response.url, "published": "never"}
        yield PageItem(response.url)


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("values")
    settings = {
        "FEEDS": {str(folder / f"items.{name}"): {"format": name} for name in FORMATS},
        "NOISECLEAN_FIELDS": {name: name for name in ITEM_VALUES},
        "NOISECLEAN_DATABASE_URL": "sqlite:///values.db",
    }
    pages = {f"/{n}": PAGE.replace("{n}", str(n)) for n in range(1, PAGES + 1)}
    with crawl_site.serve(pages) as server:
        (result,) = crawling.crawl(folder, Plan(ValuesSpider, settings, {"url": server.url}))
        assert result.lines("ERROR", "scrapy") == result.lines("ERROR") == []
        yield folder, server.url


def read_csv(path: Path) -> list[Any]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


def read_stream(load: Callable[[Any], Any]) -> Callable[[Path], list[Any]]:
    def read(path: Path) -> list[Any]:
        found = []
        with path.open("rb") as file:
            while file.peek(1):
                found.append(load(file))
        return found

    return read


def read_xml(path: Path) -> list[Any]:
    return [{part.tag: value(part) for part in item} for item in etree.parse(path).getroot()]


def value(node: etree._Element) -> Any:
    if {child.tag for child in node} == {"value"}:
        return [value(child) for child in node]
    return {child.tag: value(child) for child in node} if len(node) else node.text or ""


READERS: dict[str, Callable[[Path], list[Any]]] = {
    "csv": read_csv,
    "json": lambda path: list(json.loads(path.read_text(encoding="utf-8"))),
    "jsonlines": lambda path: list(map(json.loads, path.read_text("utf-8").splitlines())),
    "marshal": read_stream(marshal.load),
    "pickle": read_stream(pickle.load),
    "xml": read_xml,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_feeds_have_every_value(feeds: tuple[Path, str], name: str) -> None:
    folder, url = feeds
    items = READERS[name](folder / f"items.{name}")
    assert len(items) == 2 * PAGES
    named = {item["url"]: item for item in items if not item.get("at")}
    page = named[f"{url}/2"]
    assert page["published"] == "2021-07-02T08:00:00+02:00"
    item = next(item for item in items if item.get("at") == f"{url}/2")
    for found in (page, item):
        assert found["title"] == "Fog 2"
        assert [line.rstrip() for line in found["text"].splitlines()] == [
            "Fog 2",
            "The port was closed on Monday, said the harbour master,",
            "since fog number 2 lay over the water all day.",
        ]
        assert "<strong>the water</strong>" in found["html"]
        assert "**the water**" in found["markdown"]
        assert found["author"] == "Ana Lima"
        assert found["language"] == "en"
        assert found["canonical_url"] == f"{url}/stories/2"
        assert found["image"] == f"{url}/2.jpg"
        assert found["cluster"] == site_name(url)
        assert found["tree_version"] in (0, "0")
    if name == "csv":  # a cell holds one text
        return
    blocks = {block["text"]: block for block in item["blocks"]}
    assert blocks["News"]["kept"] in (False, "False")
    assert set(blocks["Fog 2"]) == set("text xpath tag kept score place rule hidden".split())
    weights = {weight["feature"]: float(weight["weight"]) for weight in item["weights"]}
    assert weights["fog"] > 0


ODD = (
    '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Fog \\ud83d at 1'
    '\\u001b[2J\\u0000", "author": {"name": "Ana \\ud800 Lima"}}</script><p>The port was closed on '
    "Monday, said the harbour master, since fog lay over the water."
)


@pytest.mark.slow
def test_no_feed_loses_an_item_of_a_page_whose_json_holds_no_characters(tmp_path: Path) -> None:
    written = ("csv", "jsonlines", "xml")
    settings = {
        "FEEDS": {str(tmp_path / f"items.{name}"): {"format": name} for name in written},
        "FEED_EXPORT_ENCODING": "utf-8",
        "NOISECLEAN_FIELDS": {"title": "title", "author": "author"},
    }
    with crawl_site.serve({f"/{n}": ODD for n in range(1, PAGES + 1)}) as server:
        (result,) = crawling.crawl(tmp_path, Plan(ValuesSpider, settings, {"url": server.url}))
    assert result.lines("ERROR", "scrapy") == result.lines("ERROR") == []
    for name in written:
        items = READERS[name](tmp_path / f"items.{name}")
        assert [(item["title"], item["author"]) for item in items] == 2 * PAGES * [
            ("Fog \ufffd at 1[2J", "Ana \ufffd Lima")
        ]


def test_the_documentation_names_every_value() -> None:
    text = Path(__file__).parents[1].joinpath("docs", "fields.md").read_text("utf-8")
    table = text.partition("| value |")[2].partition("\n\n")[0]
    named = [
        name for row in table.splitlines() for name in re.findall("`(\\w+)`", row.split("|")[1])
    ]
    assert sorted(named) == sorted(ITEM_VALUES)


class AboutOthersSpider(crawl_site.ChainSpider):
    """Of each page a PageItem, and an item about the first page, whose address is in `link`."""

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        *_, following = super().parse(response, number)
        yield PageItem(response.url)
        yield {"link": f"{self.url}/1", "of": response.url}
        if not isinstance(following, dict):
            yield following


@pytest.mark.slow
def test_other_names_of_fields(tmp_path: Path) -> None:
    pages = {f"/{n}": PAGE.replace("{n}", str(n)) for n in range(1, PAGES + 1)}
    settings = {"NOISECLEAN_FIELDS": {"link": "url", "body": "text"}}
    crawled = crawling.crawl_pages(tmp_path, AboutOthersSpider, pages, settings)
    for item in crawled.items:
        if "of" in item:
            assert item["body"].startswith("Fog 1\n")
        else:
            number = item["url"].rsplit("/", 1)[1]
            assert item["title"] == f"Fog {number}"
            assert item["text"].startswith(f"Fog {number}\n")
    assert len(crawled.items) == 2 * PAGES
