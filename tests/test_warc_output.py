"""The archive of a crawl: what came over the network, read by others and by ourselves."""

from __future__ import annotations

import gzip
import json
import random
import resource
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("warcio", reason="needs the extra warc")

from scrapy import FormRequest, Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler
from warcio.archiveiterator import ArchiveIterator

from noiseclean_scrapy.crawl.warc_output import WarcOutput
from tests.support import crawling
from tests.support.command_line import noiseclean
from tests.support.crawl_site import Answer, ChainSpider, story, story_text
from tests.support.crawling import Crawled

pytestmark = pytest.mark.slow
PACKED = gzip.compress(story(1).encode(), mtime=0)
PAGES: Any = {
    "/0": story(0),
    "/1": Answer(PACKED, headers={"Content-Encoding": "gzip", "X-Two": "a"}),
    "/2": Answer(status=302, headers={"Location": "/3"}),
    "/3": story(3),
}


class FormSpider(ChainSpider):
    """Asks once, with a form."""

    async def start(self) -> AsyncIterator[Any]:
        yield FormRequest(self.url, formdata={"q": "words"}, cb_kwargs={"number": 0})


def crawl(folder: Path, warc: Path) -> Crawled:
    secrets = {"Authorization": "Basic eDp5", "Cookie": "a=b", "Host": "127.0.0.1"}
    settings: dict[str, Any] = {
        "NOISECLEAN_WARC": str(warc),
        "DEFAULT_REQUEST_HEADERS": secrets,
    }
    paths = ["/0", "/1", "/2"]
    return crawling.crawl_pages(folder, ChainSpider, PAGES, settings, paths=paths)


class EditionSpider(ChainSpider):
    name = "news/de"


def test_the_name_of_a_spider_is_no_folder(tmp_path: Path) -> None:
    settings = {"NOISECLEAN_WARC": str(tmp_path / "archive")}
    crawled = crawling.crawl_pages(tmp_path, EditionSpider, PAGES, settings, paths=["/0"])
    assert crawled.ours["warc/records"] == 1
    (archive,) = (tmp_path / "archive").iterdir()
    assert archive.name.startswith("news%2Fde-")


def test_responses_are_archived_as_they_came(tmp_path: Path) -> None:
    crawled = crawl(tmp_path, tmp_path / "archive")
    assert crawled.ours["warc/records"] == 4
    (archive,) = (tmp_path / "archive").iterdir()
    assert archive.name.startswith("chain-")
    assert archive.name.endswith("-00000.warc.gz")
    found, kinds = {}, []
    with archive.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            kinds.append(record.rec_type)
            if record.rec_type == "response":
                url = record.rec_headers["WARC-Target-URI"]
                status = record.http_headers.get_statuscode()
                found["/" + url.rsplit("/", 1)[1]] = (status, record.raw_stream.read())
            elif record.rec_type == "request":
                names = [name.lower() for name, _ in record.http_headers.headers]
                assert names.count("host") == 1
                assert {"authorization", "cookie"}.isdisjoint(names)
                assert record.http_headers.get_header("User-Agent").startswith("Scrapy/")
    assert sorted(kinds) == ["request"] * 4 + ["response"] * 4 + ["warcinfo"]
    assert found["/1"] == ("200", PACKED)
    assert found["/2"] == ("302", b"")
    assert {path: status for path, (status, _) in found.items() if path in ("/0", "/3")} == {
        "/0": "200",
        "/3": "200",
    }
    told = noiseclean(tmp_path, "clean", archive, "--format", "jsonl", "-o", tmp_path / "out.jsonl")
    assert told.code == 0
    lines = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    texts = {row["url"].rsplit("/", 1)[1]: row["text"] for row in map(json.loads, lines)}
    assert texts.keys() == {"0", "1", "3"}
    assert story_text(1).splitlines()[1] in texts["1"]


def test_a_record_is_what_was_sent(tmp_path: Path) -> None:
    name = "attachment; filename=M\u00fcller.html"  # http.server sends it as Latin-1
    pages = {"/": Answer(story(0), headers={"Content-Disposition": name})}
    settings = {"NOISECLEAN_WARC": str(tmp_path / "archive")}
    crawling.crawl_pages(tmp_path, FormSpider, pages, settings)
    (archive,) = (tmp_path / "archive").iterdir()
    data = gzip.decompress(archive.read_bytes())
    assert f"\r\nContent-Disposition: {name}\r\n".encode("latin-1") in data
    with archive.open("rb") as stream:
        (asked,) = [
            (record.http_headers.get_header("Content-Length"), record.raw_stream.read())
            for record in ArchiveIterator(stream, check_digests="raise")
            if record.rec_type == "request"
        ]
    assert asked == ("7", b"q=words")


def test_a_full_disk_leaves_whole_records_and_no_empty_files(tmp_path: Path) -> None:
    crawler = get_crawler(FormSpider)
    crawler.spider = FormSpider()
    output = WarcOutput(crawler, tmp_path / "archive")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for number in range(9):
        url = f"http://a.org/{number}"
        response = Response(url, body=random.Random(number).randbytes(4000))
        if number in (3, 6):
            most = 10_000 if number == 3 else 100  # what a full disk has no room for either
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        try:
            output.response_downloaded(response, Request(url))
        finally:
            if number in (4, 7):
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    output.spider_closed()
    assert crawler.stats.get_stats() == {"noiseclean/warc/records": 6, "noiseclean/warc/errors": 3}
    urls = []
    for archive in sorted((tmp_path / "archive").iterdir()):
        with archive.open("rb") as stream:
            records = [
                (record.rec_type, record.rec_headers["WARC-Target-URI"])
                for record in ArchiveIterator(stream, check_digests="raise")
            ]
        assert records[0][0] == "warcinfo"
        urls += [url for kind, url in records if kind == "response"]
    assert urls == [f"http://a.org/{number}" for number in (0, 1, 2, 4, 5, 8)]


def test_a_folder_that_cannot_be_written_costs_one_line(tmp_path: Path) -> None:
    (tmp_path / "nowhere").symlink_to("gone")
    crawled = crawl(tmp_path, tmp_path / "nowhere/archive")
    assert len(crawled.items) == 3
    assert crawled.ours["warc/errors"] == 4
    [line] = crawled.lines("ERROR", "")
    assert line.startswith("A response cannot be written to ")


def test_a_line_break_within_a_header_ends_no_record(tmp_path: Path) -> None:
    crawler = get_crawler(FormSpider)
    crawler.spider = FormSpider()
    output = WarcOutput(crawler, tmp_path)
    headers = {"Set-Cookie": "a=1; Path=/\nb=2; Path=/", "X-None": ""}  # as some handlers join them
    response = Response("http://a.org/", headers=headers, body=b"Fog")
    output.response_downloaded(response, Request("http://a.org/"))
    output.spider_closed()
    (archive,) = tmp_path.iterdir()
    with archive.open("rb") as stream:
        (read,) = [
            (record.http_headers.headers, record.raw_stream.read())
            for record in ArchiveIterator(stream, check_digests="raise")
            if record.rec_type == "response"
        ]
    cookies = [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/")]
    assert read == ([*cookies, ("X-None", ""), ("Content-Length", "3")], b"Fog")
