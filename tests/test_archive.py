"""Archives of every kind are read page by page, and what is damaged in them is left out."""

from __future__ import annotations

import gzip
import logging
import sys
import zipfile
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from noiseclean_scrapy.batch.archive import ArchivedPage, read_archive
from noiseclean_scrapy.errors import ArchiveError
from noiseclean_scrapy.site.cluster import site_name
from tests.support.archives import html, responses, row, warc, write_manifest
from tests.support.corpora import CORPORA, needs_corpora


def read(source: Path) -> tuple[list[ArchivedPage], Counter[str]]:
    problems: Counter[str] = Counter()
    pages = list(read_archive(source, on_problem=lambda kind: problems.update([kind])))
    return pages, problems


def test_manifest_rows_become_pages(tmp_path: Path) -> None:
    rows = [row("1", "a.org", "http://www.a.org/x"), row("q/ä ?", "a.org"), row("3", "b-2005")]
    rows[2]["html"] += ".gz"
    pages, problems = read(write_manifest(tmp_path, *rows))
    assert [page.url for page in pages] == [
        "http://www.a.org/x",
        "http://a.org/q%2F%C3%A4%20%3F",
        "http://b-2005.invalid/3",
    ]
    assert [page.body for page in pages] == [html("1"), html("q/ä ?"), html("3")]
    assert [page.site for page in pages] == ["a.org", "a.org", "b-2005"]
    assert pages[0].row == rows[0]
    assert pages[0].headers["Content-Type"] == "text/html"
    assert pages[0].status == 200
    assert not problems


def assert_grouped_by_site(folder: Path) -> None:
    groups = {(site_name(page.url), page.site) for page in read_archive(folder)}
    assert len({name for name, _ in groups}) == len({site for _, site in groups}) == len(groups)


def test_every_site_has_a_name_of_its_own(tmp_path: Path) -> None:
    rows = [
        row("1", "a_b"),
        row("2", "a-b"),
        row("3", "A.B"),
        row("4", "中文"),
        row("5", "news.c.org", "http://news.c.org/"),
        row("6", "shop.c.org", "http://shop.c.org/"),
        row("7", "d.github.io", "http://d.github.io/"),
        row("8", "e.github.io", "http://e.github.io/"),
        row("9", "forbes-2013", "http://www.forbes.com/9"),
        row("10", "forbes.com", "http://www.forbes.com/10"),
        row("11", "co.uk", "http://f.co.uk/"),
        row("12", "co.uk", "http://g.co.uk/"),
        row("13", "x" * 90),
        row("14", "h.org", "http://[h.org/"),
        row("15", "blogspot.com", "http://i.blogspot.com/"),
        row("16", "blogspot.com", "http://j.blogspot.com/"),
    ]
    assert_grouped_by_site(write_manifest(tmp_path, *rows))
    urls = {page.id: page.url for page in read_archive(tmp_path)}
    assert urls["10"] == "http://www.forbes.com/10"
    assert urls["9"] == "http://forbes-2013.invalid/9"
    assert len(urlsplit(urls["13"]).hostname or "") <= 63 + len(".invalid")


@needs_corpora
@pytest.mark.parametrize("name", ["big9-dev", "blogs-dev", "cleanportaleval", "swde"])
def test_corpora_are_grouped_by_site(name: str) -> None:
    assert_grouped_by_site(CORPORA / name)


def test_missing_and_damaged_pages_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_manifest(tmp_path, *(row(f"{i}", "a.org", None, "html.gz") for i in range(4)))
    (folder / "html/1.html.gz").unlink()
    damaged = folder / "html/2.html.gz"
    damaged.write_bytes(damaged.read_bytes()[:-12])
    with caplog.at_level(logging.WARNING):
        pages, problems = read(folder)
    assert [page.id for page in pages] == ["0", "3"]
    assert problems == {"missing": 1, "damaged": 1}
    assert "1.html.gz" in caplog.messages[0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json", "line 3: not a row of JSON"),
        ("[1]", "line 3: expected a JSON object, got list"),
        ('{"id": "x", "html": "x.html"}', "line 3: 'site' must be a text"),
        ('{"id": "x", "site": "a", "html": "x", "url": 1}', "line 3: 'url' must be a text or null"),
        ('{"id": "x", "site": "a", "html": "../x.html"}', "must lie in the archive's folder"),
    ],
)
def test_a_broken_manifest_row_is_named(tmp_path: Path, line: str, message: str) -> None:
    write_manifest(tmp_path, row("1", "a.org"))
    with (tmp_path / "manifest.jsonl").open("a") as manifest:
        manifest.write("\n" + line + "\n")
    with pytest.raises(ArchiveError, match=message):
        read_archive(tmp_path)


def test_html_folder_is_read_in_sorted_order(tmp_path: Path) -> None:
    folder = tmp_path / "My_Pages"
    for name in ("b/ä 1.HTM", "a.html", "c.xhtml.gz", "notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        body = html(name)
        (folder / name).write_bytes(gzip.compress(body) if name.endswith("gz") else body)
    pages, _ = read(folder)
    assert [page.id for page in pages] == ["a.html", "b/ä 1.HTM", "c.xhtml.gz"]
    assert pages[1].url == "http://my-pages.invalid/b/%C3%A4%201.HTM"
    assert pages[2].body == html("c.xhtml.gz")
    assert pages[2].headers["Content-Type"] == "application/xhtml+xml"
    assert [page.url for page in read(folder / "a.html")[0]] == ["http://my-pages.invalid/a.html"]


def test_sources_that_are_no_archive_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("pages.csv", "broken.wacz"):
        (tmp_path / name).write_text("x")
    with zipfile.ZipFile(tmp_path / "other.wacz", "w") as package:
        package.writestr("readme", "x")
    for name, message in {
        "none.warc": "no such file or folder",
        "empty": "neither a manifest.jsonl nor HTML files",
        "pages.csv": "no kind of archive",
        "broken.wacz": "not a WACZ file",
        "other.wacz": "holds no archive",
    }.items():
        with pytest.raises(ArchiveError, match=message):
            read_archive(tmp_path / name)


@pytest.mark.parametrize("zipped", [False, True])
def test_warc_gives_its_html_pages(tmp_path: Path, zipped: bool) -> None:
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(html("3")), html("3"))
    encoded = "text/html; charset=utf-8\r\nContent-Encoding: gzip\r\nX-Test: 1"
    data = warc(
        ("response", "http://a.org/1", encoded, gzip.compress(html("1"))),
        ("response", "http://a.org/2", "", html("2")),
        ("response", "http://a.org/3", "text/html\r\nTransfer-Encoding: chunked", chunked),
        ("response", "http://a.org/x", "image/png", html("not a page")),
        ("response", "http://a.org/x", "application/octet-stream", b"%PDF <body>"),
        ("resource", "file:///tmp/4.html", "text/html", html("4")),
        ("conversion", "http://a.org/5", "text/html", html("5")),
        ("resource", "http://a.org/x", "text/plain", html("not a page")),
        ("response", "http://a.org/zstd", "text/html\r\nContent-Encoding: zstd", b"(packed)"),
        zipped=zipped,
    )
    data += warc(*responses(1), zipped=zipped, status="404 Not Found")
    (tmp_path / "my.warc").write_bytes(data)
    pages, problems = read(tmp_path / "my.warc")
    assert [page.body for page in pages[:-1]] == [html(f"{i}") for i in range(1, 6)]
    assert [page.url for page in pages[:3]] == [f"http://a.org/{i}" for i in range(1, 4)]
    assert pages[0].headers == {"Content-Type": "text/html; charset=utf-8", "X-Test": "1"}
    assert pages[0].id.startswith("urn:uuid:")
    assert pages[0].site == "a.org"
    assert pages[3].url == "http://my-warc.invalid/file%3A%2F%2F%2Ftmp%2F4.html"
    assert pages[-1].headers["Content-Encoding"] == "zstd"
    assert not problems


def test_wacz_members_are_read_by_name_and_one_may_be_damaged(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "crawl.wacz", "w", zipfile.ZIP_STORED) as package:
        package.writestr("pages/pages.jsonl", "{}")
        package.writestr("archive/b.warc.gz", warc(*responses(2)))
        package.writestr("archive/a.warc.gz", warc(*responses(3))[:-40])
    pages, problems = read(tmp_path / "crawl.wacz")
    assert [urlsplit(page.url).path for page in pages] == ["/0", "/1", "/0", "/1"]
    assert problems == {"damaged": 1}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_a_cut_warc_gives_what_came_before(
    tmp_path: Path, share: float, zipped: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = [warc(record, zipped=zipped) for record in responses(20)]
    end = int(len(b"".join(whole)) * share)
    (tmp_path / "cut.warc.gz").write_bytes(b"".join(whole)[:end])
    sizes = [len(b"".join(whole[:number])) for number in range(21)]
    pages, problems = read(tmp_path / "cut.warc.gz")
    assert len(pages) == max(number for number, size in enumerate(sizes) if size <= end)
    assert problems == {"damaged": 1}
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "broken",
    [
        gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 4\r\n\r\nHTTP"),
        gzip.compress(b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: x\r\n\r\n<html>"),
        gzip.compress(b"no record at all\r\n\r\n"),
        warc(*responses(1))[:60] + b"\xff" * 30 + warc(*responses(1))[90:],
        b"\x1f\x8bnot gzip",
    ],
)
def test_a_broken_record_ends_a_warc_with_a_warning(
    tmp_path: Path, broken: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    source = tmp_path / "broken.warc.gz"
    source.write_bytes(warc(*responses(3)) + broken + warc(*responses(2)))
    with caplog.at_level(logging.WARNING):
        pages, problems = read(source)
    assert [urlsplit(page.url).path for page in pages] == ["/0", "/1", "/2"]
    assert problems == {"damaged": 1}
    assert "broken.warc.gz is damaged" in caplog.text


def test_warc_that_is_one_gzip_member_is_read(tmp_path: Path) -> None:
    (tmp_path / "one.warc.gz").write_bytes(gzip.compress(warc(*responses(5), zipped=False)))
    pages, problems = read(tmp_path / "one.warc.gz")
    assert len(pages) == 5
    assert not problems


def test_pages_are_read_one_at_a_time(tmp_path: Path) -> None:
    folder = write_manifest(tmp_path, row("1", "a.org"), row("2", "a.org"))
    pages = read_archive(folder)
    next(pages)
    (folder / "html/2.html").write_bytes(b"changed")
    assert next(pages).body == b"changed"


def test_missing_warcio_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.warc").write_bytes(warc(*responses(1)))
    monkeypatch.setitem(sys.modules, "warcio", None)
    with pytest.raises(ArchiveError, match=r"noiseclean-scrapy\[warc\]"):
        read_archive(tmp_path / "a.warc")
