"""Hostile pages through all that is done with a page; what one page may cost; nothing raises."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from scrapy.http import Response

from benchmarks.hostile_pages import HOSTILE
from fuzz.property import BETWEEN_PAGES, check, check_page
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.commands.output import json_bytes
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.metadata import extract_metadata
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.page import PageBudget, budget, build_page
from noiseclean_scrapy.page.parse import parse_html
from noiseclean_scrapy.report import page_report, site_report
from noiseclean_scrapy.store import PageRecord, Store
from tests.support import crawl_site, crawling
from tests.support.command_line import noiseclean
from tests.support.crawl_site import Answer
from tests.support.databases import read_rows

URL = "http://hostile.example/page"
STORY = "<h1>A flood in Porto</h1>" + "<p>The river rose by a metre in one night, they say.</p>" * 5


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_any_method_learns_cleans_and_saves(name: str) -> None:
    page = HOSTILE[name](15).replace(BETWEEN_PAGES, b"")
    for number in range(len(METHODS)):
        check(bytes([number, number, len(name)]) + page + BETWEEN_PAGES + STORY.encode())


@pytest.mark.parametrize("bound", [0, -1, 1.5, True, 2**70, "many"])
@pytest.mark.parametrize("name", ["markup", "elements"])
def test_a_budget_that_cannot_be_is_refused(name: str, bound: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name} must be a whole number from 1 to 1,000"):
        PageBudget(**{name: bound})


@pytest.mark.parametrize("name", HOSTILE)
def test_large_pages_stay_within_the_budget(name: str) -> None:
    data = HOSTILE[name](8000)
    budget = PageBudget(markup=200_000, elements=1000)
    page = build_page(data, url=URL, budget=budget)
    assert len(page.elements) <= 1000
    assert len(page.blocks) <= 1000
    assert page.truncated or page.other or len(data) <= 200_000
    check_page(page)
    clean = SiteCleaner(budget=budget).clean(data, url=URL)
    assert clean.truncated == page.truncated
    for block in clean.blocks:
        assert len(block.xpath) <= 10_000
        assert len(block.place) <= 2000


def _deep(page_bytes: bytes) -> int:
    page = build_page(page_bytes)
    return max(sum(1 for _ in page.path(element.index)) for element in page.elements)


def test_a_hundred_thousand_levels() -> None:
    page = build_page(HOSTILE["nested div"](100_000) + b"word " * 100)
    assert page.characters_lost >= 400
    levels = "".join(f"<div>level {number} " for number in range(300))
    assert _deep(levels.encode()) == 100
    texts = [block.text for block in build_page(levels).blocks]
    assert texts == [f"level {number}" for number in range(300)]


def test_deep_blocks_are_found_by_their_xpath() -> None:
    source = "<div>" * 150 + "<p>one<p>two" + "</div>" * 140 + "<p>three"
    page = build_page(source)
    root: Any = parse_html(source).root
    for block in page.blocks:
        (element,) = root.xpath(page.xpath(block))
        assert block.text in "".join(element.itertext())


def test_a_million_siblings() -> None:
    page = build_page(HOSTILE["siblings"](1_000_000) + b"<p>end")
    assert page.truncated
    assert len(page.elements) == 25_000


def test_a_hundred_thousand_scripts_in_comments() -> None:
    begin = "<script type=application/ld+json><!--"
    scripts = "<script><!--</script>" * 100_000 + f"{begin}{{}}--></script>" * 50_000
    story = f'{begin}{{"@type": "Article", "headline": "Fog"}}--></script>'
    page = build_page(f"{scripts}{story}<p>one", budget=PageBudget(markup=10_000_000))
    assert page.declared.wrapped_title == "Fog"
    assert page.text == "one"


@pytest.mark.slow
def test_a_million_attributes() -> None:
    data = HOSTILE["attributes"](1_000_000)
    page = build_page(b"<p>before" + data)
    assert page.truncated
    assert page.text.startswith("before")


def test_thousands_of_attributes_with_tags_in_their_values() -> None:
    attributes = "".join(f" a{number}='<b>x</b>'" for number in range(20_000))
    page = build_page(f"<p>before<p{attributes}>after<p>end")
    assert page.truncated
    assert page.text.replace("\n", "") == "beforeafterend"


@pytest.mark.parametrize(
    "tag",
    [
        '<p ="{} ">',
        '<p/="{} ">',
        "<p x=y {}>",
        "<\0p {}>",
        "<p<q\n{}>",
        "</p {}>",
    ],
)
@pytest.mark.parametrize("between", [" ", "/", "\n", "=b ", "='>'"])
def test_thousands_of_attributes_however_they_are_parted(tag: str, between: str) -> None:
    # Tags whose attributes hold ">" are found on long pages alone.
    padding = "word " * 60_000 if ">" in between else ""
    wide = tag.format(between.join(f"a{number}" for number in range(4000)))
    page = build_page(f"<p>before{wide}after<p>end {padding}")
    assert page.truncated
    assert page.text.replace("\n", "").startswith("beforeafterend")
    narrow = tag.format(between.join(f"a{number}" for number in range(900)))
    assert not build_page(f"<p>before{narrow}after<p>end{'.' * 20_000}").truncated


_PARTS = [*" \n\t/='\"<", "a", "b1", "é", "x='y z'", 'q="r"', " f", "\x0b", "&amp;", "\xa0"]


@given(st.lists(st.sampled_from(_PARTS), max_size=25))
def test_no_fewer_attributes_are_counted_than_the_parser_finds(parts: list[str]) -> None:
    source = f"<p{''.join(parts)}>text</p>"
    root: Any = etree.fromstring(f"<body>{source}", etree.HTMLParser())
    first = next((element for element in root.iter() if element.tag not in ("html", "body")), None)
    tag = budget._TAG.match(source)
    assert tag
    counted = len(budget._ATTRIBUTES.findall(source, tag.end(1), tag.end()))
    assert first is None or not isinstance(first.tag, str) or counted >= len(first.attrib)


def test_long_attributes_and_scripts_are_no_wide_tags() -> None:
    style = "background: url(data:image/png;base64," + "iVBOR w0K" * 30_000 + ")"
    script = "if (a<b " + "word other " * 30_000 + ") {}"
    page = build_page(f'<p style="{style}">one</p><script>{script}</script><p>two')
    assert page.text == "one\ntwo"
    assert not build_page(f'<p style="{style}">one</p>').truncated


def test_fifty_megabytes_of_text() -> None:
    page = build_page(b"<p>" + b"word " * 10_000_000)
    assert page.truncated
    assert len(page.blocks[0].text) == pytest.approx(5 * 2**20, abs=20)


def test_text_and_bytes_are_cut_alike() -> None:
    source = "<p>žluť</p>" * 100
    text = build_page(source, budget=PageBudget(markup=600)).text.split("\n")
    data = build_page(source.encode(), budget=PageBudget(markup=600)).text.split("\n")
    assert set(text) <= {"žluť", "žlu", "žl", "ž"}
    assert set(data) == {"žluť"}


def test_what_is_within_the_budget_is_not_cut() -> None:
    budget = PageBudget(markup=len(STORY), elements=7)
    assert not build_page(STORY, budget=budget).truncated
    assert build_page(STORY + "x", budget=budget).truncated
    assert build_page(STORY, budget=PageBudget(markup=len(STORY), elements=6)).truncated


def test_a_selector_is_cut_by_its_elements() -> None:
    selector = scrapy.Selector(text="<p>x" * 100)
    page = build_page(selector, budget=PageBudget(elements=10))
    assert page.truncated
    assert len(page.elements) == 10


def test_unresolved_entities_of_xml() -> None:
    source = (
        '<!DOCTYPE html [<!ENTITY e "value">]><html><body><p>a&e;b</p>&e;<p>c</p></body></html>'
    )
    root: Any = etree.fromstring(source, etree.XMLParser(resolve_entities=False))
    assert root.find("body/p")[0].tag is etree.Entity
    page = build_page(root)
    assert page.text == "ab\nc"
    assert SiteCleaner().clean(root).visible_characters == 3
    assert extract_metadata(root, url=URL).canonical_url == ""


def test_entities_are_neither_expanded_nor_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    source = f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x SYSTEM "{secret.as_uri()}">]><p>&x;'
    for html in (source, source.encode()):
        assert "the secret" not in build_page(html).text
    assert len(build_page(HOSTILE["billion laughs"](30)).text) < 5000


@pytest.mark.parametrize("digits", [5000, 500_000])
def test_long_numeric_references(digits: int) -> None:
    reference = f"&#{'9' * digits};"
    assert build_page(f"<p>before {reference} after" + " word" * 100).text.startswith("before")
    script = f'<script type="application/ld+json">{{"articleBody": "{reference} rose"}}</script>'
    assert build_page(f"{script}<p>x").text == "x"


def test_nul_is_no_lost_text() -> None:
    assert build_page("<p>" + "a\0b " * 1000).characters_lost == 0


def hostile_records() -> list[PageRecord]:
    cleaner = SiteCleaner()
    pages = {name: make(30) for name, make in HOSTILE.items()}
    pages["lone surrogates"] = "<title>\ud800</title><h1>\udfff</h1><p>a\ud800b c".encode(
        "utf-8", "surrogatepass"
    )
    for data in pages.values():
        cleaner.observe(data)
    records = []
    for number, (name, data) in enumerate(pages.items()):
        html = data.decode("utf-8", "surrogateescape")
        clean = cleaner.clean(html, url=URL)
        records.append(
            PageRecord(
                key=f"{number:04x}",
                cluster="hostile.example",
                url=f"{URL}/{name}\ud800\0",
                body_hash="00",
                fetched_at=datetime(2025, 1, 1, tzinfo=timezone.utc),
                position=number + 1,
                html=html,
                cleaned=to_record(clean, 0, Config()),
                metadata=extract_metadata(html, url=URL, text=clean.text),
            )
        )
    return records


@pytest.mark.slow
def test_hostile_pages_are_stored_searched_and_shown(database_url: str) -> None:
    records = hostile_records()
    with Store(database_url) as store:
        store.pages.write(records, method="evidence")
        stored = {page.key: page for page in store.pages.with_text("hostile.example")}
        assert set(stored) == {record.key for record in records}
        for record in records:
            assert store.pages.html(record.key) == record.html
            assert record.cleaned is not None
            kept = stored[record.key].cleaned
            assert kept is not None
            assert kept.visible_characters == record.cleaned.visible_characters
        results = store.search("word")
        assert results.total > 5
        for query in ('"', "-", "a\0b", "\ud800 word", "NEAR(", "word* OR ^x:", "%_\\", "'" * 50):
            store.search(query or "x")
        document = site_report(store, "hostile.example", config=Config())
        assert "hostile.example" in document
        json_bytes([kept.text for page in stored.values() if (kept := page.cleaned)])


@pytest.mark.parametrize("name", HOSTILE)
def test_reports_on_hostile_pages(name: str) -> None:
    html = HOSTILE[name](15).decode("utf-8", "replace")
    document = page_report(SiteCleaner().clean(html, url=URL), html)
    assert document.encode("utf-8", "surrogatepass").startswith(b"<!doctype html>")


class HostileSpider(crawl_site.PagesSpider):
    """Gives an item for each page, without reading it."""

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"path": response.url.rpartition("/")[2], "size": len(response.body)}


@pytest.mark.slow
def test_a_crawl_of_hostile_pages(tmp_path: Path) -> None:
    pages: dict[str, Any] = {
        f"/{number}": Answer(make(300), type="text/html")
        for number, make in enumerate(HOSTILE.values())
    }
    packed = {"Content-Encoding": "gzip"}
    large = b"<p>the river rose</p>" * 30_000
    pages["/large"] = Answer(large, type="text/html")
    pages["/packed"] = Answer(gzip.compress(large), headers=packed)
    pages["/bomb"] = Answer(gzip.compress(b"<p>bomb</p>" * 1_000_000), headers=packed)
    pages["/story"] = STORY
    settings = {
        "NOISECLEAN_MAX_PAGE_BYTES": 100_000,
        "NOISECLEAN_MAX_PAGE_ELEMENTS": 250,
        "DOWNLOAD_MAXSIZE": 5_000_000,
        "RETRY_ENABLED": False,
        "METAREFRESH_ENABLED": False,  # which fails on some BASE elements
    }
    crawled = crawling.crawl_pages(tmp_path, HostileSpider, pages, settings)
    assert "errors" not in crawled.ours
    assert "store/errors" not in crawled.ours
    items = {item["path"]: item for item in crawled.items}
    assert set(items) == {path[1:] for path in pages} - {"bomb"}  # of that Scrapy itself lets go
    assert items["large"]["size"] == items["packed"]["size"] == len(large)
    assert "The river rose by a metre" in items["story"]["text"]
    assert crawled.ours["pages/over_budget"] > 20
    assert any("longer than the budget" in line for line in crawled.lines("DEBUG"))
    database = f"sqlite:///{tmp_path / 'noiseclean.db'}"
    ((count,),) = read_rows(database, "SELECT count(*) FROM noiseclean_page WHERE text IS NOT NULL")
    assert count == crawled.ours["pages/seen"] - crawled.ours["pages/not_html"]
    ((longest,),) = read_rows(database, "SELECT max(length(text)) FROM noiseclean_page")
    assert longest <= 100_000


def test_commands_on_hostile_pages(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    names = [name.replace(" ", "-") for name in HOSTILE]
    for name, make in zip(names, HOSTILE.values(), strict=True):
        (folder / f"{name}.html").write_bytes(make(20))
    done = noiseclean(tmp_path, "clean", "pages", "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["id"].rpartition("/")[2].removesuffix(".html") for row in rows} == set(names)
    for name in ("billion-laughs", "broken-utf-16", "long-entity", "control-characters", "empty"):
        path = f"pages/{name}.html"
        is_empty = name in {"control-characters", "empty"}
        done = noiseclean(tmp_path, "explain", path, code=int(is_empty))
        assert f"{path}: no text\n" == done.stderr if is_empty else done.stdout
        assert noiseclean(tmp_path, "explain", path, "--json", code=int(is_empty)).json
