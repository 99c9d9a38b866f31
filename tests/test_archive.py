"""Archives of every kind are read page by page, and what is damaged in them is left out."""

from __future__ import annotations

import base64
import copy
import gzip
import hashlib
import io
import logging
import os
import random
import re
import shutil
import struct
import sys
import tracemalloc
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from scrapy import Request

from noiseclean_scrapy.batch import archive_records, streams, unpacking
from noiseclean_scrapy.batch.addresses import FolderHosts
from noiseclean_scrapy.batch.archive import ArchivedPage, read_archive
from noiseclean_scrapy.batch.archived_page import ProblemLog
from noiseclean_scrapy.batch.warc import read_warc_stream
from noiseclean_scrapy.errors import ArchiveError, ArchiveReadError, ConfigurationError
from noiseclean_scrapy.page import PageBudget
from noiseclean_scrapy.page.urls import host, site_name
from tests.support.archives import html, responses, row, warc, write_manifest
from tests.support.corpora import CORPORA, needs_corpora

GZIP_HEADER = gzip.compress(b"")[:10]


def read(source: Path, **options: Any) -> tuple[list[ArchivedPage], Counter[str]]:
    problems: Counter[str] = Counter()
    pages = list(read_archive(source, on_problem=lambda kind: problems.update([kind]), **options))
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


def test_every_site_has_a_name_of_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
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
        row("17", "10.0.0.1", "http://10.0.0.1/17"),
        row("18", "localhost:81", "http://localhost:81/18"),
        row("19", "10.0.0.2", "http://10.0.0.2:81/"),
        row("20", "10.0.0.2", "http://10.0.0.2:82/"),
    ]
    with caplog.at_level(logging.WARNING):
        assert_grouped_by_site(write_manifest(tmp_path, *rows))
    (message,) = set(caplog.messages)
    assert message.endswith("a page of 'news.c.org' gets http://news-c-org.invalid/5")
    urls = {page.id: page.url for page in read_archive(tmp_path)}
    assert urls["10"] == "http://www.forbes.com/10"
    assert urls["9"] == "http://forbes-2013.invalid/9"
    assert urls["17"] == "http://10.0.0.1/17"
    assert urls["18"] == "http://localhost:81/18"
    assert len(urlsplit(urls["13"]).hostname or "") <= 63 + len(".invalid")


@pytest.mark.slow
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


@pytest.mark.skipif(sys.platform == "win32", reason="needs folders by their descriptors")
def test_folders_that_cannot_be_read_and_links_to_folders_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "pages"
    for path in (folder / "a.html", tmp_path / "other" / "b.html"):
        path.parent.mkdir()
        path.write_bytes(html(path.stem))
    for name in ("one", "two"):
        (folder / name).symlink_to(tmp_path / "other")
    within = os.open(folder, os.O_RDONLY)
    for _ in range(20):  # more than a path may have, for the superuser as well
        name = "d" * 250
        os.mkdir(name, dir_fd=within)
        outer, within = within, os.open(name, os.O_RDONLY, dir_fd=within)
        os.close(outer)
    os.close(within)
    with caplog.at_level(logging.WARNING):
        pages, problems = read(folder)
    shutil.rmtree(folder)
    assert [page.id for page in pages] == ["a.html"]
    assert problems == {"missing": 1}
    links, unread = caplog.messages
    assert links.startswith(f"Links to folders are not followed, such as {folder}/")
    assert unread.startswith("Folder left out, it cannot be read: ")


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
        ("resource", "file:///tmp/4\x1b.html", "text/html", html("4")),
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
    assert pages[3].url == "http://my-warc.invalid/file%3A%2F%2F%2Ftmp%2F4%251B.html"
    assert pages[-1].body == b"(packed)"
    assert not problems


ODD_TYPES = ["text/html,charset=utf-8", "text/html, text/html; charset=utf-8", '"text/html"']


def test_odd_content_types_are_read_as_browsers_do(tmp_path: Path) -> None:
    types = [*ODD_TYPES, "text/html, image/png"]
    records = [("response", f"http://a.org/{n}", one, html(f"{n}")) for n, one in enumerate(types)]
    (tmp_path / "my.warc").write_bytes(warc(*records))
    pages, _ = read(tmp_path / "my.warc")
    assert [page.body for page in pages] == [html(f"{n}") for n in range(len(ODD_TYPES))]


def test_wacz_members_are_read_by_name_and_one_may_be_damaged(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "crawl.wacz", "w", zipfile.ZIP_STORED) as package:
        package.writestr("pages/pages.jsonl", "{}")
        package.writestr("archive/b.warc.gz", warc(*responses(2)))
        package.writestr("archive/a.warc.gz", warc(*responses(3))[:-40])
    pages, problems = read(tmp_path / "crawl.wacz")
    assert [urlsplit(page.url).path for page in pages] == ["/0", "/1", "/0", "/1"]
    assert problems == {"damaged": 1}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("before", [6, 10, 18])
def test_a_cut_warc_gives_what_came_before(
    tmp_path: Path, before: int, zipped: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = [warc(record, zipped=zipped) for record in responses(20)]
    cut = b"".join(whole[:before]) + whole[before][: len(whole[before]) // 2]
    (tmp_path / "cut.warc.gz").write_bytes(cut)
    pages, problems = read(tmp_path / "cut.warc.gz")
    assert len(pages) == before
    assert problems == {"damaged": 1}
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "broken",
    [
        gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9\r\n\r\nHTTP"),
        gzip.compress(b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: x\r\n\r\n<html>"),
        gzip.compress(b"no record at all\r\n\r\n"),
        warc(*responses(1))[:60] + b"\xff" * 30 + warc(*responses(1))[90:],
        b"\x1f\x8bnot gzip",
        b"neither gzip nor a record\n" * 9000,
        b"".join(b"%dWARC/1.0\n" % n + GZIP_HEADER for n in range(30_000)),
        gzip.compress(b"A" * (4 << 20)),
        gzip.compress(b"WARC/1.0\r\nWARC-Type: " + b"A" * (4 << 20)),
        gzip.compress(b"WARC/1.0\r\n" + b"A: b\r\n" * (1 << 19)),
        gzip.compress(gzip.compress(warc(*responses(2)))),
        warc(("response", "http://a.org/x", "text/html\r\nX: " + "A" * 70_000, html("x"))),
    ],
)
def test_what_follows_a_broken_record_is_read(
    tmp_path: Path, broken: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    source = tmp_path / "broken.warc.gz"
    source.write_bytes(warc(*responses(3)) + broken + warc(*responses(2)))
    with caplog.at_level(logging.WARNING):
        pages, problems = read(source)
    assert [urlsplit(page.url).path for page in pages] == ["/0", "/1", "/2", "/0", "/1"]
    assert problems == {"damaged": 1}
    assert "broken.warc.gz is damaged" in caplog.text
    assert max(map(len, caplog.messages)) <= 500


def test_damage_costs_the_records_that_it_is_in(tmp_path: Path) -> None:
    """Each way to damage the second of four records, packed and not."""
    for zipped in (True, False):
        whole = [warc(record, zipped=zipped) for record in responses(4)]
        second = whole[1]
        checksum = bytearray(second)
        checksum[-6] ^= 1
        letter = bytearray(second)
        letter[len(second) - 24] ^= 1
        longer = second.replace(b"Content-Length: ", b"Content-Length: 9", 1)
        for damaged in (second[: len(second) // 2], second[:-30], checksum, letter, longer):
            if bytes(damaged) in (second, b"") or (not zipped and damaged is checksum):
                continue
            source = tmp_path / "damaged.warc"
            source.write_bytes(whole[0] + damaged + whole[2] + whole[3])
            pages, problems = read(source)
            assert [urlsplit(page.url).path for page in pages] == ["/0", "/2", "/3"]
            assert problems == {"damaged": 1}


def test_a_record_without_a_digest_is_given_when_its_member_is_checked(tmp_path: Path) -> None:
    plain = [
        re.sub(rb"WARC-(Block|Payload)-Digest: \S+\r\n", b"", warc(record, zipped=False))
        for record in responses(4)
    ]
    flipped = bytearray(gzip.compress(b"".join(plain)))
    flipped[-6] ^= 1
    source = tmp_path / "flipped.warc.gz"
    source.write_bytes(gzip.compress(plain[0]) + flipped + gzip.compress(plain[3]))
    pages, problems = read(source)
    assert [urlsplit(page.url).path for page in pages] == ["/0", "/3"]
    assert problems == {"damaged": 1}
    source.write_bytes(gzip.compress(plain[0] + b"WARC/1.0\r\nnonsense\r\n\r\n" + plain[1]))
    pages, problems = read(source)
    assert [urlsplit(page.url).path for page in pages] == ["/0", "/1"]
    assert problems == {"damaged": 1}


@pytest.mark.parametrize("size", [65_000, 66_000, 300_000, 2_000_000])
def test_a_member_may_unpack_to_much_more(tmp_path: Path, size: int) -> None:
    large = ("response", "http://a.org/large", "text/html", b"<html>" + b"x" * size)
    first, last = responses(2)
    (tmp_path / "large.warc.gz").write_bytes(warc(first, large, last))
    pages, problems = read(tmp_path / "large.warc.gz")
    assert [len(page.body) for page in pages] == [len(html("0")), 6 + size, len(html("1"))]
    assert not problems


def test_going_back_to_look_for_records_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the headers says that others which follow are its own."""
    monkeypatch.setattr(archive_records, "_MOST_LOST_BYTES", 1 << 20)
    source = tmp_path / "headers.warc"
    claims = b"WARC/1.0\r\nContent-Length: 600\r\n\r\n" * 20_000
    source.write_bytes(claims + warc(*responses(3), zipped=False))
    pages, problems = read(source)
    assert pages[-1].url == "http://a.org/2"
    assert (1 << 20) / 640 < problems["damaged"] < 5000


@pytest.mark.parametrize(
    "lines",
    [b"WARC/1.0\r\nA: b\r\n" * 10_000, b"WARC/1.0\r\n" + b"A: xWARC/1.0\r\n" * 10_000],
    ids=["lines", "values"],
)
def test_headers_without_end_are_not_read_from_each_of_their_lines(
    tmp_path: Path, lines: bytes
) -> None:
    source = tmp_path / "headers.warc"
    source.write_bytes(lines + b"\r\n" + warc(*responses(3), zipped=False))
    pages, problems = read(source)
    assert pages[-1].url == "http://a.org/2"
    assert problems["damaged"] < 1000


@pytest.mark.parametrize("data", [b"", gzip.compress(b""), gzip.compress(b"\r\n")])
def test_an_empty_warc_is_not_damaged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    (tmp_path / "empty.warc.gz").write_bytes(data)
    assert read(tmp_path / "empty.warc.gz") == ([], {})
    assert caplog.messages == ["empty.warc.gz has no page: 0 records, none of them HTML"]


@pytest.mark.parametrize("zipped", [False, True])
def test_an_archive_without_html_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, zipped: bool
) -> None:
    texts = [("conversion", f"http://a.org/{n}", "text/plain", b"Fog.") for n in range(3)]
    wet, package = tmp_path / "a.warc", tmp_path / "a.wacz"
    wet.write_bytes(warc(*texts, zipped=zipped))
    with zipfile.ZipFile(package, "w") as members:
        members.write(wet, "archive/a.warc")
        members.write(wet, "archive/b.warc")
    for source in (wet, package):
        assert read(source) == ([], {})
    assert caplog.messages == [
        "a.warc has no page: 3 records, none of them HTML",
        "a.wacz has no page: 6 records, none of them HTML",
    ]
    wet.write_bytes(warc(*texts, *responses(1), zipped=zipped))
    assert len(read(wet)[0]) == 1
    assert len(caplog.messages) == 2


PACKED = {
    "gzip": gzip.compress,
    "deflate": lambda data: zlib.compress(data)[2:-4],
    "br": unpacking.brotli.compress,
    "zstd": unpacking.zstd.compress,
}


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("piece", [1, 7, 1 << 16])
def test_a_body_in_several_members_is_unpacked_whole(encoding: str, piece: int) -> None:
    parts = [b"<html><p>Fog ", b"", b"closes the port.", b"x" * 100_000]
    body = b"".join(map(PACKED[encoding], parts)) + b"\0" * 3
    pieces = [body[start : start + piece] for start in range(0, len(body), piece)]
    (decoder,) = unpacking._DECODERS[encoding]
    read = b""
    with suppress(*unpacking.DAMAGE):  # what follows is none
        for unpacked in decoder(pieces):
            read += unpacked
    assert read == b"".join(parts)


@pytest.mark.parametrize("encoding", [*PACKED, "gzip, br", "x-gzip"])
def test_bodies_are_unpacked_as_far_as_they_are_read(tmp_path: Path, encoding: str) -> None:
    def packed(body: bytes) -> bytes:
        for name in encoding.split(", "):
            body = PACKED[name.removeprefix("x-")](body)
        return body

    header = f"text/html\r\nContent-Encoding: {encoding}"
    bomb = packed(b"<html>" + b"x" * (16 << 20))
    half = packed(b"<html>" + bytes(random.Random(1).choices(range(32, 127), k=200_000)))
    gives_all_or_nothing = "br" in encoding or "zstd" in encoding  # of a block
    (tmp_path / "bomb.warc.gz").write_bytes(
        warc(
            ("response", "http://a.org/1", header, packed(html("1"))),
            ("response", "http://a.org/2", header, bomb),
            ("response", "http://a.org/3", f"{header}\r\nTransfer-Encoding: chunked", bomb),
            ("response", "http://a.org/4", header, html("4")),
            ("response", "http://a.org/5", header, half[: len(half) // 2]),
            ("response", "http://a.org/6", header, b"\x00\xff" + bytes(range(256)) * 9),
        )
    )
    tracemalloc.start()
    pages, problems = read(tmp_path / "bomb.warc.gz", budget=PageBudget(markup=1 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [urlsplit(page.url).path for page in pages] == [f"/{i}" for i in range(1, 6)]
    assert pages[0].body == html("1")
    assert [len(page.body) for page in pages[1:3]] == [(1 << 20) + 1] * 2
    assert pages[3].body == html("4")
    assert 0 <= len(pages[4].body) < 200_000
    assert gives_all_or_nothing or pages[4].body.startswith(b"<html>")
    assert problems == {"damaged": 2}
    assert peak < 24 << 20


REFUSED = ["http://=][::1?.", "http://:*\\@a.org", "http://a.org/\ud800"]
"""Addresses that can be split, and that Scrapy does not ask for."""


@pytest.mark.parametrize("address", REFUSED)
def test_an_address_that_scrapy_refuses_costs_no_other_page(tmp_path: Path, address: str) -> None:
    urls = ["http://a.org/1", address, "http://a.org/3"]
    rows = [row(f"{i}", "a.org", url) for i, url in enumerate(urls, 1)]
    pages, problems = read(write_manifest(tmp_path, *rows))
    assert [Request(page.url).url for page in pages] == [urls[0], "http://a.org/2", urls[2]]
    assert not problems
    if "\ud800" not in address:  # which no record has
        records = [("response", url, "text/html", html("x")) for url in urls]
        (tmp_path / "my.warc").write_bytes(warc(*records))
        pages, problems = read(tmp_path / "my.warc")
        made_up = f"http://my-warc.invalid/{quote(address, '')}"
        assert [Request(page.url).url for page in pages] == [urls[0], made_up, urls[2]]
        assert not problems


@pytest.mark.parametrize("encoding", PACKED)
def test_an_empty_body_costs_no_other_page(tmp_path: Path, encoding: str) -> None:
    header = f"text/html\r\nContent-Encoding: {encoding}"
    bodies = [PACKED[encoding](body) for body in (html("1"), b"", html("3"))]
    records = [("response", f"http://a.org/{i}", header, body) for i, body in enumerate(bodies, 1)]
    (tmp_path / "my.warc").write_bytes(warc(*records, zipped=False))
    pages, problems = read(tmp_path / "my.warc")
    assert [page.body for page in pages] == [html("1"), b"", html("3")]
    assert not problems


def test_a_host_that_is_too_long_costs_no_page(tmp_path: Path) -> None:
    uris = [f"http://{'a' * 300}.example/", f"http://{'a.' * 200}example/"]
    records = [("response", uri, "text/html", html("1")) for uri in uris]
    (tmp_path / "my.warc.gz").write_bytes(warc(*records))
    pages, _ = read(tmp_path / "my.warc.gz")
    assert [urlsplit(page.url).hostname for page in pages] == ["my-warc-gz.invalid"] * 2


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_body_ends_with_its_ten_thousandth_member(encoding: str) -> None:
    body = PACKED[encoding](b"x") * 10_000 + PACKED[encoding](b"y") * 20_000
    block = io.BytesIO(body)
    found = unpacking.read_body(block, chunked=False, encodings=[encoding], most=1 << 20)
    assert found == (b"x" * 10_000, True, "")
    assert block.tell() < 10_001 * len(PACKED[encoding](b"x")) + unpacking.PIECE_BYTES


def test_a_body_ends_with_its_hundred_thousandth_chunk() -> None:
    block = io.BytesIO(b"1\r\nx\r\n" * 300_000 + b"0\r\n\r\n")
    body = unpacking.read_body(block, chunked=True, encodings=[], most=1 << 20)
    assert body.data == b"x" * 100_000


@pytest.mark.parametrize(
    ("encoding", "checksum_at", "lost"), [("gzip", -6, 1), ("deflate", -2, 1), ("br", 0, 4096)]
)
@pytest.mark.parametrize("size", [2_000, 20_000, 300_000])
def test_of_a_damaged_body_all_before_the_damage_is_read(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    encoding: str,
    checksum_at: int,
    lost: int,
    size: int,
) -> None:
    """A wrong checksum, as some servers send it, or a body that is cut off."""
    body = b"<html><body><p>" + bytes(random.Random(2).choices(range(97, 123), k=size))
    packed = PACKED[encoding](body) if encoding != "deflate" else zlib.compress(body)
    header = f"text/html\r\nContent-Encoding: {encoding}"
    bodies = [packed, packed[: len(packed) // 2]]
    if checksum_at:  # brotli has none
        bodies.append(packed[:checksum_at] + b"?" + packed[checksum_at + 1 :])
    pages = [("response", f"http://a.org/{i}", header, body) for i, body in enumerate(bodies)]
    (tmp_path / "a.warc").write_bytes(warc(*pages))
    found, problems = read(tmp_path / "a.warc")
    whole, half, *checksum = (page.body for page in found)
    assert whole == body
    assert body.startswith(half)
    assert len(half) > 0.48 * len(body) - lost
    assert all(body.startswith(page) and len(page) > len(body) - 9 for page in checksum)
    assert problems == {"damaged": 1 + len(checksum)}
    assert "the body of http://a.org/1 is read up to damage" in caplog.text


def test_damage_without_end_is_told_a_thousand_times(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = gzip.compress(b"WARC/1\n\n" * 5_000)
    sound = warc(("response", "http://a.org/1", "text/html", html("1")))
    (tmp_path / "a.warc.gz").write_bytes(broken + sound + gzip.compress(b"WARC/1\n\n") * 500)
    pages, problems = read(tmp_path / "a.warc.gz")
    assert [page.url for page in pages] == ["http://a.org/1"]
    assert problems["damaged"] > 1001
    assert len(caplog.records) == 1001
    assert "counted from here on" in caplog.messages[-1]


@pytest.mark.parametrize("noise", [b"a\n", b"WARC\n", b"x" * 70_000 + b"\n", b"xWARC/1.0\n", b"\n"])
def test_a_record_behind_damage_is_found_wherever_it_begins(tmp_path: Path, noise: bytes) -> None:
    record = gzip.decompress(warc(("response", "http://a.org/1", "text/html", html("1"))))
    for count in (1, 2, 3, 13_107, 32_766, 32_767, 32_768):
        lines = noise * (count if len(noise) < 100 else count % 4)
        (tmp_path / "a.warc.gz").write_bytes(gzip.compress(b"WARC/1\n\n" + lines + record))
        assert [page.url for page in read(tmp_path / "a.warc.gz")[0]] == ["http://a.org/1"]


def test_files_of_a_folder_are_unpacked_as_far_as_they_are_read(tmp_path: Path) -> None:
    large = b"<p>" + b"x" * (8 << 20)
    (tmp_path / "a.html").write_bytes(gzip.compress(large))
    (tmp_path / "b.html").write_bytes(large)
    os.mkfifo(tmp_path / "c.html")
    pages, problems = read(tmp_path, budget=PageBudget(markup=1000))
    assert [page.body for page in pages] == [large[:1001]] * 2
    assert problems == {"missing": 1}


def overlapping_wacz(members: int) -> bytes:
    """A package whose members are all the same bytes (Fifield 2019)."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("archive/0.warc", b"x" * (1 << 20))
        only = package.infolist()[0]
        for number in range(1, members):
            again = copy.copy(only)
            again.filename = f"archive/{number}.warc"
            package.filelist.append(again)
    return stream.getvalue()


def test_packages_that_are_bombs_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "bomb.wacz"
    source.write_bytes(overlapping_wacz(50))
    with pytest.raises(ArchiveError, match="overlap"):
        read_archive(source)
    with zipfile.ZipFile(source, "w") as package:
        package.writestr("archive/a.warc", b"x" * (1 << 24), zipfile.ZIP_BZIP2)
        package.writestr("archive/b.warc.gz", warc(*responses(1)), zipfile.ZIP_DEFLATED)
        package.writestr("archive/c.warc.gz", b"x" * (1 << 24), zipfile.ZIP_DEFLATED)
        package.writestr("indexes/index.cdx.gz", gzip.compress(b"x" * (1 << 24)))
        package.writestr("archive/d.wacz", overlapping_wacz(9))
    pages, problems = read(source)
    assert [urlsplit(page.url).path for page in pages] == ["/0"]
    assert problems == {"damaged": 2}
    lying = source.read_bytes().replace(struct.pack("<I", 1 << 24), struct.pack("<I", 1 << 31))
    source.write_bytes(lying)
    assert len(read(source)[0]) == 1


def test_a_flipped_bit_in_a_package_costs_one_record(tmp_path: Path) -> None:
    source = tmp_path / "flipped.wacz"
    data = b"".join(warc(record) for record in responses(9))
    with zipfile.ZipFile(source, "w", zipfile.ZIP_STORED) as package:
        package.writestr("archive/a.warc.gz", data)
    flipped = bytearray(source.read_bytes())
    flipped[len(data) // 2] ^= 1
    source.write_bytes(flipped)
    pages, problems = read(source)
    assert len(pages) == 8
    assert problems == {"damaged": 1}


class Failing(io.FileIO):
    """A file of which a read fails at given places, each once."""

    def __init__(self, path: Path, places: list[int]) -> None:
        super().__init__(path)
        self.places = places

    def read(self, size: int | None = -1) -> bytes:
        if self.places and self.tell() >= self.places[0]:
            del self.places[0]
            raise OSError("slow down")
        return super().read(size)


def test_what_passes_is_tried_again_and_then_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "WAITS", (0.001, 0.001))
    source = tmp_path / "far.warc.gz"
    source.write_bytes(b"".join(warc(page) for page in responses(900)))
    places = [0, 70_000, 70_000, 200_000]

    def open_at(position: int) -> Failing:
        stream = Failing(source, places)
        stream.seek(position)
        return stream

    def pages() -> list[ArchivedPage]:
        stream = io.BufferedReader(streams.ResumedStream("far", open_at), 1 << 16)
        return list(read_warc_stream(stream, "far", ProblemLog(problems.append), 5000))

    problems: list[str] = []
    assert len(pages()) == 900
    assert not places
    places += [70_000] * 3
    with pytest.raises(ArchiveReadError, match=r"'far' cannot be read at byte .*: slow down"):
        pages()
    assert not problems


@pytest.mark.parametrize("start", [b"", b"\n", b"\r\n", b"#", b"{"])
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_without_the_encodings_that_their_headers_name(
    tmp_path: Path, start: bytes, encoding: str, *, chunked: bool
) -> None:
    body = start + html("fog " * 50)
    header = f"text/html\r\nContent-Encoding: {encoding}"
    header += "\r\nTransfer-Encoding: identity, chunked" * chunked
    (tmp_path / "a.warc").write_bytes(warc(("response", "http://a.org/", header, body)))
    pages, problems = read(tmp_path / "a.warc")
    assert [page.body for page in pages] == [body]
    assert not problems


@pytest.mark.parametrize(
    ("transfer", "content"),
    [("gzip, chunked", ""), ("identity, chunked", "gzip"), ("chunked", ""), ("chunked,", "gzip")],
)
def test_bodies_that_are_chunked_last(tmp_path: Path, transfer: str, content: str) -> None:
    body = html("fog " * 50)
    packed = gzip.compress(body) if "gzip" in transfer + content else body
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    header = f"text/html\r\nTransfer-Encoding: {transfer}"
    header += f"\r\nContent-Encoding: {content}" * bool(content)
    (tmp_path / "a.warc").write_bytes(warc(("response", "http://a.org/", header, chunked)))
    assert [page.body for page in read(tmp_path / "a.warc")[0]] == [body]


def _spellings(algorithm: str, block: bytes) -> Iterator[str]:
    raw = hashlib.new(algorithm.replace("-", ""), block).digest()
    for encoded in (base64.b32encode, base64.b64encode, base64.urlsafe_b64encode):
        text = encoded(raw).decode()
        yield f"{algorithm}:{text}"
        yield f"{algorithm.upper()}: {text.rstrip('=')}"
    yield f"{algorithm}:{base64.b32encode(raw).decode().lower()}"
    yield f"{algorithm}:{raw.hex()}"
    yield f"{algorithm}:{raw.hex().upper()}"


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha-256", "sha512"])
def test_digests_are_read_however_they_are_spelt(tmp_path: Path, algorithm: str) -> None:
    data = warc(*responses(1), zipped=False)
    head, _, block = data.partition(b"\r\n\r\n")
    block = block.removesuffix(b"\r\n\r\n")
    for right in _spellings(algorithm, block):
        for wrong, digest in enumerate((right, next(_spellings(algorithm, block + b"x")))):
            line = f"WARC-Block-Digest: {digest}".encode()
            changed = re.sub(rb"WARC-Block-Digest: \S+", line, head)
            assert digest.encode() in changed
            (tmp_path / "a.warc").write_bytes(changed + b"\r\n\r\n" + block + b"\r\n\r\n")
            pages, problems = read(tmp_path / "a.warc")
            assert (len(pages), problems["damaged"]) == (1 - wrong, wrong), digest


def test_digests_that_cannot_be_read_tell_nothing(tmp_path: Path) -> None:
    for digest in (
        b"",
        b"sha1",
        b"sha1:",
        b"sha1:?",
        b"crc:abc",
        b"shake_128:",
        b"md5:" + b"!" * 32,
    ):
        data = re.sub(rb"Block-Digest: \S+", b"Block-Digest: " + digest, warc(*responses(1)))
        (tmp_path / "a.warc").write_bytes(data)
        assert len(read(tmp_path / "a.warc")[0]) == 1, digest


def test_records_that_are_no_pages(tmp_path: Path) -> None:
    """Any success is a page, unless it is empty, and one that was seen before is none."""
    header = "text/html\r\nWARC-Type: revisit"
    other = warc(("response", "http://a.org/revisit", header, html("1")), zipped=False)
    revisit = other.replace(b"WARC-Type: response", b"WARC-Type: revisit", 1)
    revisit = re.sub(rb"(Block-Digest: sha1:)\S+", rb"\g<1>" + b"A" * 32, revisit)
    (tmp_path / "a.warc").write_bytes(
        warc(("response", "http://a.org/1", "text/html", html("1")), status="203 OK", zipped=False)
        + warc(("response", "http://a.org/head", "text/html", b""), zipped=False)
        + revisit
        + warc(*responses(1), status="2 OK", zipped=False)
    )
    pages, problems = read(tmp_path / "a.warc")
    assert [(page.url, page.status) for page in pages] == [("http://a.org/1", 203)]
    assert not problems


def test_an_address_may_end_as_a_record_begins(tmp_path: Path) -> None:
    address = "http://a.org/wiki/WARC/1.0"
    (tmp_path / "a.warc").write_bytes(warc(("response", address, "text/html", html("1"))))
    pages, problems = read(tmp_path / "a.warc")
    assert [page.url for page in pages] == [address]
    assert not problems


def test_folders_of_one_name_have_hosts_of_their_own(tmp_path: Path) -> None:
    hosts = FolderHosts()
    urls = []
    for place in ("a/news", "b/news", "a/../a/news"):
        folder = tmp_path / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "1.html").write_bytes(html(place))
        urls += [page.url for page in read(folder, hosts=hosts)[0]]
    assert urls[0] == urls[2] == "http://news.invalid/1.html"
    assert re.fullmatch(r"http://news-[0-9a-f]{10}\.invalid/1\.html", urls[1])


def test_archives_of_one_name_have_hosts_of_their_own(tmp_path: Path) -> None:
    data = warc(("resource", "file:///1.html", "text/html", html("1")), zipped=False)
    urls = []
    hosts = FolderHosts()
    for place in ("a/pages", "b/pages", "a/../a/pages"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        path = tmp_path / f"{place}.warc"
        path.write_bytes(data)
        with zipfile.ZipFile(path.with_suffix(".wacz"), "w") as package:
            package.writestr("archive/1.warc", data)
            package.writestr("archive/2.warc", data)
        for source in (path, path.with_suffix(".wacz")):
            pages, _ = read(source, hosts=hosts)
            urls.append([page.url for page in pages])
    address = "file%3A%2F%2F%2F1.html"
    assert urls[0] == urls[4] == [f"http://pages-warc.invalid/{address}"]
    members = [f"http://pages-wacz-archive-{n}-warc.invalid/{address}" for n in (1, 2)]
    assert urls[1] == urls[5] == members
    assert len({url for found in urls for url in found}) == 6


def test_folders_whose_names_lose_letters_have_hosts_of_their_own(tmp_path: Path) -> None:
    hosts = set()
    for name in ("bücher", "böcher", "b-cher", "книги"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.html").write_bytes(html(name))
        hosts |= {host(page.url) for page in read(tmp_path / name)[0]}
    assert len(hosts) == 4
    assert "b-cher.invalid" in hosts


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
    with pytest.raises(ConfigurationError, match=r"noiseclean-scrapy\[warc\]"):
        read_archive(tmp_path / "a.warc")
