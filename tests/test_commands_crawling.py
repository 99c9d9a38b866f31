"""`noiseclean crawl` and `replay`: real crawls of a loopback site and of archives."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import resource
import shlex
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timezone
from itertools import zip_longest
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from scrapy.http import HtmlResponse, Request, Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.batch.addresses import joined, web_host
from noiseclean_scrapy.batch.listings import Listing, read_listing
from noiseclean_scrapy.batch.site_spider import SiteSpider
from noiseclean_scrapy.commands.crawling import _is_wanted_end
from noiseclean_scrapy.focus.links import link_address
from noiseclean_scrapy.page.urls import asked_address, host
from noiseclean_scrapy.page.words import target
from noiseclean_scrapy.store import Store
from tests.support.archives import warc
from tests.support.command_line import (
    ROOT,
    console_command,
    enter_project,
    environment,
    run_console,
)
from tests.support.crawl_site import Answer, PageServer, serve, story, story_text, write_pages
from tests.support.databases import read_rows, stored_texts

QUICK = ("--delay", "0", "-s", "AUTOTHROTTLE_ENABLED=0", "-s", "NOISECLEAN_METADATA=0")
FETCHED_AT = datetime(2019, 5, 6, 7, 8, 9, tzinfo=timezone.utc)
CLOSED = "http://127.0.0.1:1/"
RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>News</title><link>{0}/</link><atom:link rel="self" href="{0}/feed.rss"/>
<item><title>Five</title><link> {0}/5 </link></item><item><link>/6</link></item>
<item><link>mailto:a@b.org</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="{0}/"/>
<entry><link rel="edit" href="{0}/edit"/><link rel="alternate" href="{0}/7"/></entry>
<entry><link href="/8"/></entry></feed>"""
INDEX = """<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>{0}/old.xml.gz</loc><lastmod>2020-01-01</lastmod></sitemap>
<sitemap><loc>{0}/new.xml</loc><lastmod>2026-01-01</lastmod></sitemap></sitemapindex>"""
URLS = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{0}</urlset>'
HEAD = """<link rel="alternate" type="application/rss+xml" href="/feed.rss">
<link rel="alternate" type="application/atom+xml" href="/feed.atom">"""


def xml(body: str | bytes) -> Answer:
    return Answer(body, type="application/xml")


def urlset(*urls: str) -> str:
    return URLS.format("".join(f"<url><loc>{url}</loc></url>" for url in urls))


@pytest.fixture
def server() -> Iterator[PageServer]:
    """Page 0 links to 1 and 9, which robots.txt forbids; 2 to 8 are in sitemaps and feeds only."""
    pages: dict[str, Answer | str] = {f"/{number}": story(number) for number in range(10)}
    with serve(pages) as running:
        at = running.url
        linked = "<a href='/1'>One</a><a href='/9'>Nine</a><a href='http://b.org/'>Elsewhere</a>"
        pages["/"] = story(0).replace("</head>", f"{HEAD}</head>").replace("<ul>", f"{linked}<ul>")
        pages["/robots.txt"] = Answer(
            f"User-agent: *\nDisallow: /9\nSitemap: {at}/maps.xml\n"
            f"Sitemap: {at}/away.xml\nSitemap: {at}/refresh.xml\n",
            type="text/plain",
        )
        # Where a page may not send the crawler: the same server, by the name of a private net.
        private = at.replace("127.0.0.1", "localhost")
        pages["/away.xml"] = Answer(status=302, headers={"Location": f"{private}/private"})
        pages["/refresh.xml"] = (
            f"<meta http-equiv=refresh content='0;url={private}/private'><p>Elsewhere"
        )
        pages["/maps.xml"] = xml(INDEX.format(at))
        pages["/new.xml"] = Answer(status=301, headers={"Location": "newest.xml"})
        pages["/newest.xml"] = xml(urlset(f"{at}/2", f"{at}/3", "http://b.org/far"))
        old = gzip.compress(urlset(f"{at}/4").encode())
        pages["/old.xml.gz"] = Answer(old, type="application/gzip")
        pages["/report.pdf"] = Answer(b"%PDF-1.7 ", type="application/pdf")
        pages["/feed.rss"] = xml(RSS.format(at))
        pages["/feed.atom"] = xml(ATOM.format(at))
        yield running


@pytest.mark.parametrize("name", ["a?b.db", "x%20y.db", "fög #1.db"])
def test_a_database_is_the_file_that_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.warc.gz").write_bytes(
        warc(*(("response", f"http://a.org/{n}", "text/html", story(n).encode()) for n in range(3)))
    )
    timed = "sqlite:///timed.db?timeout=30"
    quick = ("-s", "NOISECLEAN_METADATA=0", "--database")
    done = run_console(tmp_path, "replay", "a.warc.gz", *quick, timed)
    assert f"noiseclean sites --database '{timed}'\n" in done.stderr
    done = run_console(tmp_path, "replay", "a.warc.gz", *quick, name)
    assert (tmp_path / name).is_file()
    assert f"3 pages of 1 site stored in sqlite:///{name}\n" in done.stderr
    assert f"noiseclean sites --database {shlex.quote(name)}\n" in done.stderr
    assert run_console(tmp_path, "sites", "--database", name, "--json").json


@pytest.mark.parametrize("name", ["", ":memory:"])
def test_a_database_without_a_file_is_refused(tmp_path: Path, name: str) -> None:
    done = run_console(tmp_path, "sites", "--database", name, code=2)
    assert "expected a file or a database URL" in done.stderr


@pytest.mark.slow
def test_a_site_is_crawled_stored_and_searched(tmp_path: Path, server: PageServer) -> None:
    done = run_console(tmp_path, "crawl", f"{server.url}/", *QUICK, "--database", "a b.db")
    stored = stored_texts(tmp_path / "a b.db")
    assert stored.keys() == {f"{server.url}/{path}" for path in ("", *range(1, 9))}
    for number in range(1, 9):
        assert story_text(number).splitlines()[1] in stored[f"{server.url}/{number}"]
    assert set(server.requests) & {"/9", "/edit", "/private"} == set()
    assert {"/away.xml", "/refresh.xml", "/newest.xml"} <= set(server.requests)
    assert server.requests["/feed.rss"] == server.requests["/new.xml"] == 1
    assert done.stdout == ""
    assert done.stderr == (
        "9 pages of 1 site stored in sqlite:///a b.db\n"
        "Try next: noiseclean sites --database 'a b.db'\n"
        "          noiseclean search WORDS --database 'a b.db'\n"
    )
    word = story_text(6).split()[2]
    found = run_console(tmp_path, "search", word, "--database", "a b.db", "--json").json
    assert [hit["url"] for hit in found["hits"]] == [f"{server.url}/6"]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["maps.xml", "feed.rss", "old.xml.gz"])
def test_sitemaps_and_feeds_can_be_named(tmp_path: Path, server: PageServer, path: str) -> None:
    run_console(tmp_path, "crawl", f"{server.url}/{path}", *QUICK)
    expected = {"maps.xml": {2, 3, 4}, "feed.rss": {2, 3, 4, 5, 6}, "old.xml.gz": {2, 3, 4}}[path]
    found = {url.rpartition("/")[2] for url in stored_texts(tmp_path / "noiseclean.db")}
    assert found >= {str(number) for number in expected}
    assert "9" not in found


@pytest.mark.slow
def test_with_a_topic_listings_come_before_pages_as_well(tmp_path: Path) -> None:
    links = "".join(f"<a href='/{number}'>Wind power {number}</a>" for number in range(20))
    pages: dict[str, Answer | str] = {
        f"/{path}": story(1).replace("<ul>", f"<ul>{links}") for path in ("", *range(20))
    }
    with serve(pages) as server:
        listed = urlset(*(f"{server.url}/listed{number}" for number in range(3)))
        pages["/sitemap.xml"] = xml(listed)
        pages |= {f"/listed{number}": story(number) for number in range(3)}
        topic = ("-s", "NOISECLEAN_TOPIC=choir")
        run_console(tmp_path, "crawl", f"{server.url}/", "--pages", "8", *topic, *QUICK)
    assert list(server.requests)[:3] == ["/robots.txt", "/", "/sitemap.xml"]
    assert {f"/listed{number}" for number in range(3)} <= set(server.requests)


@pytest.mark.slow
def test_the_status_of_what_gives_no_page_is_told(tmp_path: Path, server: PageServer) -> None:
    url = f"{server.url}/gone"
    done = run_console(tmp_path, "crawl", url, "--pages", "1", *QUICK)
    assert f"Nothing from {url}: the server answers with status 404" in done.stderr
    url = f"{server.url}/report.pdf"
    done = run_console(tmp_path, "crawl", url, *QUICK)
    assert f"Nothing from {url}: it is no HTML page, no sitemap and no feed" in done.stderr


@pytest.mark.slow
def test_a_given_address_may_lead_to_another_host(tmp_path: Path) -> None:
    pages: dict[str, Answer | str] = {"/2": story(2), "/sitemap.xml": xml(urlset("/2"))}
    with serve(pages) as server:
        other = server.url.replace("127.0.0.1", "localhost")
        pages["/"] = Answer(status=302, headers={"Location": f"{other}/home"})
        pages["/home"] = story(0).replace("<ul>", "<ul><a href='/1'>One</a>")
        pages["/1"] = story(1)
        run_console(tmp_path, "crawl", f"{server.url}/", *QUICK)
        expected = {f"{other}/{path}" for path in ("home", "1", "2")}
    assert stored_texts(tmp_path / "noiseclean.db").keys() == expected


@pytest.mark.slow
def test_a_given_address_leads_into_no_private_net(tmp_path: Path) -> None:
    pages: dict[str, Answer | str] = {
        "http://news.example/": Answer(status=302, headers={"Location": "http://printer.local/"}),
        "http://printer.local/": story(1),
    }
    with serve(pages) as proxy:
        url, proxied = "http://news.example/", {"http_proxy": proxy.url, "no_proxy": ""}
        done = run_console(tmp_path, "crawl", url, *QUICK, code=1, **proxied)
        assert "http://printer.local/" not in proxy.requests
    line = f"Nothing from {url}: it redirects to http://printer.local/, which is in a private net"
    assert line in done.stderr


@pytest.mark.slow
def test_an_address_may_send_to_itself_for_a_while(tmp_path: Path) -> None:
    itself = Answer(status=302, headers={"Location": "/"})
    with serve({"/": lambda visit: story(1) if visit > 2 else itself}) as server:
        run_console(tmp_path, "crawl", f"{server.url}/", *QUICK)
    assert len(stored_texts(tmp_path / "noiseclean.db")) == 1
    with serve({"/": itself}) as server:
        url = f"{server.url}/"
        done = run_console(tmp_path, "crawl", url, *QUICK, code=1)
    assert f"Nothing from {url}: max redirections reached" in done.stderr


@pytest.mark.slow
def test_of_dead_pages_that_a_site_names_no_traceback_is_shown(tmp_path: Path) -> None:
    dead = ("127.0.0.1:1/", "127.0.0.1:1/listed")
    pages: dict[str, Answer | str] = {
        "/": story(0).replace("<ul>", f"<ul><a href='//{dead[0]}'>1</a><a href='/2'>2</a>"),
        "/2": Answer("no gzip", headers={"Content-Encoding": "gzip"}),
        "/sitemap.xml": xml(urlset(f"http://{dead[1]}")),
    }
    with serve(pages) as server:
        arguments = (f"{server.url}/", *QUICK, "-s", "RETRY_ENABLED=0")
        assert "Nothing from" not in run_console(tmp_path, "crawl", *arguments).stderr
        told = run_console(tmp_path, "crawl", *arguments, "-L", "INFO").stderr
    for url in (*(f"http://{address}" for address in dead), f"{server.url}/2"):
        assert f"Nothing from {url}: " in told


@pytest.mark.slow
def test_the_number_of_pages_is_bounded(tmp_path: Path, server: PageServer) -> None:
    done = run_console(tmp_path, "crawl", f"{server.url}/", *QUICK, "--pages", "3")
    assert len(stored_texts(tmp_path / "noiseclean.db")) == 3
    with Store(f"sqlite:///{tmp_path / 'noiseclean.db'}") as store:
        assert store.pages.count().pages <= 4  # one more may be under way
    assert "3 pages of 1 site stored in sqlite:///noiseclean.db\n" in done.stderr
    assert "Try next: noiseclean sites\n" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["ITEMCOUNT=1", "PAGECOUNT=2"])
def test_scrapy_may_bound_a_crawl(tmp_path: Path, server: PageServer, bound: str) -> None:
    run_console(tmp_path, "crawl", f"{server.url}/", *QUICK, "-s", f"CLOSESPIDER_{bound}")
    assert len(stored_texts(tmp_path / "noiseclean.db")) < 9


@pytest.mark.slow
def test_the_reason_of_an_early_end_is_told(tmp_path: Path, server: PageServer) -> None:
    limit = ("-s", "MEMUSAGE_LIMIT_MB=1", "-s", "MEMUSAGE_CHECK_INTERVAL_SECONDS=0.1")
    done = run_console(tmp_path, "crawl", f"{server.url}/", *QUICK, *limit, code=1)
    assert done.stderr.endswith("The crawl ended early: memusage_exceeded.\n")


def crawl_interrupted(
    folder: Path,
    *arguments: str,
    at: tuple[tuple[str, int | Callable[[], object]], ...],
    code: int = 130,
) -> str:
    """The last lines of a crawl that gets signals, each when the log has a line with a text.

    In place of one something else may be done.
    """
    with subprocess.Popen(
        console_command("crawl", *arguments, *QUICK, "-L", "DEBUG"),
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        for text, action in at:
            assert any(text in line for line in process.stderr)
            if isinstance(action, int):
                process.send_signal(action)
            else:
                action()
        told = process.stderr.read()
    assert process.returncode == code
    assert "Traceback" not in told
    return told


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_crawl_may_be_interrupted_while_it_starts(tmp_path: Path, number: int) -> None:
    told = crawl_interrupted(tmp_path, CLOSED, at=(("Enabled extensions", number),))
    assert "Nothing was stored" not in told
    assert told.endswith("Interrupted.\n")


@pytest.mark.slow
def test_a_crawl_that_is_interrupted_at_its_end_comes_to_it(
    tmp_path: Path, sqlite_url: str
) -> None:
    """Alone, Scrapy would stop the event loop: feeds and the log would lack their last lines."""
    Store(sqlite_url).close()
    with closing(sqlite3.connect(tmp_path / "noiseclean.db", check_same_thread=False)) as another:

        def locked(visit: int) -> str:
            another.execute("BEGIN IMMEDIATE")
            return story(0)

        with serve({"/": locked}) as server:
            told = crawl_interrupted(
                tmp_path,
                f"{server.url}/",
                *("-s", "NOISECLEAN_BATCH_SECONDS=600"),
                at=(("Closing spider", signal.SIGINT), ("Received SIGINT", another.rollback)),
                code=0,
            )
    assert "Spider closed (finished)" in told
    assert "1 page of 1 site stored" in told


@pytest.mark.slow
def test_a_crawl_that_is_interrupted_twice_leaves_its_pages_in_the_spool(tmp_path: Path) -> None:
    is_over = Event()

    def slow(visit: int) -> str:
        is_over.wait(60)
        return story(2)

    first = story(0).replace("<ul>", "<ul><a href='/1'>One</a><a href='/2'>Two</a>")
    with serve({"/": first, "/1": story(1), "/2": slow}) as server:
        url = f"{server.url}/"
        told = crawl_interrupted(
            tmp_path,
            url,
            *("-s", "NOISECLEAN_BATCH_SECONDS=600"),
            at=((f"Scraped from <200 {url}1>", signal.SIGINT), ("Received SIGINT", signal.SIGINT)),
        )
        is_over.set()
        assert "0 pages of 1 site stored" in told
        assert "Not stored: 2 pages in the spool for the next crawl, 0 lost" in told
        assert told.endswith("Interrupted.\n")
        run_console(tmp_path, "crawl", f"{url}2", "--pages", "1", *QUICK)
    rows = read_rows(f"sqlite:///{tmp_path}/noiseclean.db", "SELECT url FROM noiseclean_page")
    assert {path for (path,) in rows} == {f"{url}{path}" for path in ("", "1", "2")}


@pytest.mark.parametrize(
    ("reason", "is_wanted"),
    [
        ("finished", False),
        ("closespider_timeout", True),
        ("closespider_errorcount", False),
        ("memusage_exceeded", False),
    ],
)
def test_errors_are_no_wanted_end(reason: str, *, is_wanted: bool) -> None:
    assert _is_wanted_end(reason) == is_wanted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (("NOISECLEAN_READ_ONLY=1",), "it only reads (NOISECLEAN_READ_ONLY)"),
        (("NOISECLEAN_DENY_DOMAINS=a.org",), "the settings leave 2 pages out"),
        (("NOISECLEAN_CLUSTER_BY=clusters.none",), "the settings leave 2 pages out"),
    ],
)
def test_settings_that_store_nothing_are_told(
    tmp_path: Path, settings: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "clusters.py").write_text("def none(response): return None\n")
    Store(f"sqlite:///{tmp_path / 'noiseclean.db'}").close()
    pages = [("response", f"http://a.org/{n}", "text/html", story(n).encode()) for n in range(2)]
    (tmp_path / "a.warc.gz").write_bytes(warc(*pages))
    given = [part for setting in settings for part in ("-s", setting)]
    path = {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    done = run_console(tmp_path, "replay", "a.warc.gz", *given, code=1, **path)
    assert done.stderr.endswith(f"Nothing was stored: {reason}.\n")


@pytest.mark.slow
def test_what_is_no_html_is_told_by_its_kind(tmp_path: Path) -> None:
    (tmp_path / "x.html").write_bytes(b"%PDF-1.7 \x00")
    done = run_console(tmp_path, "replay", "x.html", code=1)
    assert done.stderr.endswith("Nothing was stored: no HTML: 1 PDF.\n")


@pytest.mark.slow
def test_it_is_polite_unless_told_otherwise(tmp_path: Path, server: PageServer) -> None:
    done = run_console(tmp_path, "crawl", f"{server.url}/1", "--pages", "1", "-L", "INFO")
    for setting in ("ROBOTSTXT_OBEY': True", "AUTOTHROTTLE_ENABLED': True", "DOWNLOAD_DELAY': 1"):
        assert setting in done.stderr


@pytest.mark.slow
def test_a_project_gives_its_settings_and_keeps_its_feeds(
    tmp_path: Path, server: PageServer
) -> None:
    enter_project(tmp_path)
    feed = ("-s", 'FEEDS={"items.jsonl": {"format": "jsonlines"}}')
    run_console(tmp_path, "crawl", f"{server.url}/", "--pages", "2", *QUICK, *feed)
    assert len(stored_texts(tmp_path / "noiseclean-demo.db")) > 1
    assert not (tmp_path / "items.jsonl").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("crawl", "example.com"), 2, "expected an address such as https://example.com/news"),
        (("crawl",), 2, "the following arguments are required: URL"),
        (("crawl", "http://a.org/", "--pages", "0"), 2, "expected a number from 1 on"),
        (("crawl", "http://a.org/", "--delay", "-1"), 2, "expected a number of seconds from 0 on"),
        (
            ("crawl", CLOSED, "-s", "RETRY_ENABLED=0", *QUICK),
            1,
            "0 pages of 0 sites",
        ),
        (
            ("crawl", CLOSED, "-s", "RETRY_TIMES=1", *QUICK),
            1,
            f"Nothing from {CLOSED}: Connection was refused",
        ),
        (("crawl", CLOSED, "-s", "SPIDER_MIDDLEWARES=x"), 2, "SPIDER_MIDDLEWARES='x' cannot be"),
        (
            ("crawl", CLOSED, "-s", "DOWNLOAD_DELAY=abc"),
            2,
            "Scrapy cannot start: DOWNLOAD_DELAY: ValueError: could not convert",
        ),
        (
            ("crawl", CLOSED, "-s", 'EXTENSIONS={"no.such": 1}'),
            2,
            "Scrapy cannot start: ModuleNotFoundError: No module named 'no'",
        ),
        (
            ("crawl", CLOSED, "-s", 'DOWNLOADER_MIDDLEWARES={"no.such": 1}'),
            2,
            "Scrapy cannot start: ModuleNotFoundError: No module named 'no'",
        ),
        (("replay", "nothing"), 1, "There is nothing at 'nothing'"),
        (("replay", "http://a.org/"), 2, "noiseclean crawl fetches http://a.org/"),
        (("crawl", CLOSED, "--database", "sqlite://a.db"), 2, "a path has three slashes"),
        (("replay", "."), 1, "holds neither a manifest.jsonl nor HTML files"),
        (("replay", "page.html", "--database", "no/a.db"), 1, "nothing was crawled; the log says"),
    ],
)
def test_what_cannot_be_crawled_is_told(
    tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    if "page.html" in arguments:
        (tmp_path / "page.html").write_text(story(1))
    assert message in run_console(tmp_path, *arguments, code=code).stderr


@pytest.mark.slow
def test_archives_are_replayed_into_the_database(tmp_path: Path) -> None:
    pages = [page for page in DemoSite(articles=8).pages.values() if page.kind == "article"]
    folder = write_pages(tmp_path / "pages", [page.html for page in pages])
    (folder / "9.html.gz").write_bytes(gzip.compress(b"<p>cut")[:-4])
    done = run_console(tmp_path, "replay", "pages", "-s", "NOISECLEAN_SAMPLE_QUOTA=99", code=1)
    assert "8 pages of 1 site stored in sqlite:///noiseclean.db (1 damaged)" in done.stderr
    with Store(f"sqlite:///{tmp_path / 'noiseclean.db'}", read_only=True) as store:
        titles = {page.cleaned.title for page in store.pages.with_text() if page.cleaned}
    assert titles == {page.title for page in pages}
    records = [("response", f"http://a.org/{n}", "text/html", story(n).encode()) for n in range(5)]
    data = warc(*records, zipped=False)
    archive = re.sub(rb"WARC-Date: \S+", b"WARC-Date: 2019-05-06T07:08:09Z", data)
    (tmp_path / "a.warc.gz").write_bytes(archive)
    method = ("--method", "style-tree", "--database", "warc.db")
    run_console(tmp_path, "replay", "a.warc.gz", *method)
    assert stored_texts(tmp_path / "warc.db").keys() == {f"http://a.org/{n}" for n in range(5)}
    with Store(f"sqlite:///{tmp_path / 'warc.db'}", read_only=True) as store:
        assert {page.fetched_at for page in store.pages.with_text()} == {FETCHED_AT}
    (site,) = run_console(tmp_path, "sites", "--database", "warc.db", "--json").json
    assert site["method"] == "style-tree"
    both = run_console(tmp_path, "replay", "pages", "a.warc.gz", "--database", "both.db", code=1)
    assert "13 pages of 2 sites stored in sqlite:///both.db (1 damaged)" in both.stderr
    missing = run_console(tmp_path, "replay", "a.warc.gz", "no.warc.gz", code=1)
    assert "no.warc.gz" in missing.stderr


@pytest.mark.slow
def test_a_charset_that_is_none_costs_an_archive_no_page(tmp_path: Path) -> None:
    records = [
        ("response", f"http://a.org/{n}", f"text/html; charset={charset}", story(n).encode())
        for n, charset in enumerate(["utf-8", "base64", "idna"])
    ]
    (tmp_path / "a.warc.gz").write_bytes(warc(*records))
    run_console(tmp_path, "replay", "a.warc.gz", "-s", "NOISECLEAN_METADATA=0")
    expected = {f"http://a.org/{n}": story_text(n) for n in range(3)}
    assert stored_texts(tmp_path / "noiseclean.db") == expected
    cleaned = run_console(tmp_path, "clean", "a.warc.gz", "--format", "jsonl").stdout
    assert [json.loads(line)["text"] for line in cleaned.splitlines()] == [*expected.values()]


def listing(body: str | bytes, url: str = "http://a.org/list") -> Listing:
    return read_listing(Response(url, body=body.encode() if isinstance(body, str) else body))


def test_the_newest_of_a_listing_come_first() -> None:
    found = listing(INDEX.format("http://a.org"))
    assert found == Listing(sitemaps=("http://a.org/new.xml", "http://a.org/old.xml.gz"))
    assert listing(RSS.format("http://a.org")).pages == ("http://a.org/5", "http://a.org/6")
    assert listing(ATOM.format("http://a.org")).pages == ("http://a.org/7", "http://a.org/8")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0\xff",
        b"<html><p>No list",
        b"<urlset><url>",
        b"<urlset><url><loc>javascript:alert(1)</loc></url></urlset>",
        b"<rss><item><link>http://[::1</link></item></rss>",
        gzip.compress(b"<urlset>")[:-9],
        b"\x1f\x8b\x08\x00junkjunkjunk",
        b"\x1f\x8b\x08<urlset>",
        gzip.compress(b"<urlset>" + b" " * (51 * 2**20)),
        b'<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
        b"<rss><item><link>&a;</link></item></rss>",
    ],
)
def test_what_is_no_listing_lists_nothing(body: bytes) -> None:
    assert listing(body) == Listing()


def test_a_crawl_stays_within_its_domains() -> None:
    spider = SiteSpider("https://www.example.com/news, http://localhost:8000/")
    assert spider.allowed_domains == ["example.com", "localhost"]
    spider = SiteSpider("http://www.gov.uk/,http://www.city.kawasaki.jp/,http://www.localhost/")
    assert spider.allowed_domains == ["www.gov.uk", "city.kawasaki.jp", "www.localhost"]


def test_a_site_is_asked_for_its_listings_once_it_answers() -> None:
    async def started(spider: SiteSpider) -> list[Request]:
        return [request async for request in spider.start()]

    spider = SiteSpider("http://a.org/news")
    (request,) = asyncio.run(started(spider))
    page = HtmlResponse(request.url, body=b"<p>x", request=request)
    listings = ["http://a.org/robots.txt", "http://a.org/sitemap.xml"]
    assert [part.url for part in spider.parse(page) if isinstance(part, Request)] == listings
    for error, asked in ((HttpError(page), listings), (ConnectionRefusedError(), [])):
        failure: Any = Failure(error)  # type: ignore[no-untyped-call]
        failure.request = request
        assert [part.url for part in spider.give_up(failure)] == asked
    link = Request("http://a.org/1")
    page = HtmlResponse(link.url, body=b"<p>x", request=link)
    assert not [part for part in spider.parse(page) if isinstance(part, Request)]


def test_listings_that_are_read_at_once_share_their_bounds() -> None:
    spider = SiteSpider("http://a.org/")

    def lists(number: int) -> Response:
        pages = "".join(f"<url><loc>/{number}/{page}</loc></url>" for page in range(6000))
        return Response("http://a.org/list", body=URLS.format(pages).encode())

    def names(number: int) -> Response:
        lines = "".join(f"Sitemap: /{number}/{name}\n" for name in range(60))
        return Response("http://a.org/robots.txt", body=lines.encode())

    pages = zip_longest(*(spider.parse_listing(lists(number)) for number in range(3)))
    assert sum(request is not None for requests in pages for request in requests) == 10_000
    sitemaps = zip_longest(*(spider.parse_robots(names(number)) for number in range(3)))
    assert sum(request is not None for requests in sitemaps for request in requests) == 100


def test_no_site_uses_up_the_bounds_of_another(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    spider = SiteSpider("http://a.org/,http://b.org/")
    bounds = []
    for pages, given in zip((6_000, 6_000, 50), ("a.org", "a.org", "b.org"), strict=True):
        page = Request(f"http://{given}/", meta={"given": True, "site": f"http://{given}/"})
        first = HtmlResponse(page.url, body=b"<p>x", request=page)
        *_, asked = [part for part in spider.parse(first) if isinstance(part, Request)]
        body = "".join(f"<url><loc>/{number}</loc></url>" for number in range(pages))
        body += "".join(f"<sitemap><loc>/s{number}</loc></sitemap>" for number in range(60))
        answer = Response(asked.url, body=URLS.format(body).encode(), request=asked)
        bounds.append(len(list(spider.parse_listing(answer))))
    assert bounds == [6_060, 4_040, 110]
    assert [message for message in caplog.messages if message.startswith("No more")] == [
        "No more than 100 sitemaps and feeds are asked for because of http://a.org/",
        "No more than 10000 addresses of sitemaps and feeds are asked for because of http://a.org/",
    ]


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/a",
        "http://169.254.169.㉕4/a",
        "http://printer.ｌｏｃａｌ/",
        "http://printer.loc\u00adal/",
        "http://PRINTER.LOCAL/",
        "http://a。local/",
        "http://[64:ff9b::7f00:1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://user@127.1/",
        "http://xn--\u00e9.example/",
    ],
)
def test_no_page_sends_a_crawl_into_a_private_net(address: str) -> None:
    spider = SiteSpider("http://a.org/")
    robots = f"Sitemap: {address}\nSitemap: http://b.org/s".encode()
    asked = spider.parse_robots(Response("http://a.org/robots.txt", body=robots))
    assert [request.url for request in asked] == ["http://b.org/s"]
    moved = Response("http://a.org/s", status=302, headers={"Location": address.encode()})
    assert not list(spider.parse_listing(moved))
    assert not list(spider.parse_robots(moved))
    moved = Response("http://a.org/robots.txt", status=302, headers={"Location": "/b"})
    (request,) = spider.parse_robots(moved)
    assert (request.url, request.callback) == ("http://a.org/b", spider.parse_robots)


def test_of_robots_txt_no_more_is_read_than_has_to_be() -> None:
    lines = "Sitemap: http://10.0.0.1/\n" * 1_000_000 + "Sitemap: /s\n"
    spider = SiteSpider("http://a.org/")
    robots = Response("http://a.org/robots.txt", body=lines.encode())
    assert not list(spider.parse_robots(robots))
    listing = "<sitemap><loc>http://10.0.0.1/</loc></sitemap>" * 49_999
    body = URLS.format(f"{listing}<sitemap><loc>/s</loc></sitemap>").encode()
    assert not list(spider.parse_listing(Response("http://a.org/s", body=body)))


NO_ADDRESS = "http://["
REFUSED = "http://=][::1?."
"""What can be split, and Scrapy does not ask for."""


@pytest.mark.parametrize("address", [NO_ADDRESS, REFUSED])
def test_an_address_that_is_none_costs_a_listing_no_other(address: str) -> None:
    sitemap = URLS.format(f"<url><loc>{address}</loc></url><url><loc>/1</loc></url>")
    rss = f"<rss><item><link>{address}</link></item><item><link>/1</link></item></rss>"
    for body in (sitemap, rss):
        assert listing(body).pages == ("http://a.org/1",)
    robots = Response("http://a.org/robots.txt", body=f"Sitemap: {address}\nSITEMAP:/s".encode())
    (request,) = SiteSpider("http://a.org/").parse_robots(robots)
    assert request.url == "http://a.org/s"


@pytest.mark.parametrize(
    "head", [f'<base href="{NO_ADDRESS}">', f'<link rel=alternate type={{}} href="{NO_ADDRESS}">']
)
def test_an_address_that_is_none_costs_a_page_no_link(head: str) -> None:
    body = f"<head>{head.format('application/rss+xml')}</head><a href='/1'>One</a>".encode()
    request = Request("http://a.org/")
    page = HtmlResponse(request.url, body=body, request=request)
    _, *requests = SiteSpider("http://a.org/").parse(page)
    assert [request.url for request in requests] == ["http://a.org/1"]


LONG_HOSTS = [
    "ä" * 200_000,
    "".join(map(chr, range(0x4E00, 0x4E00 + 1_900))),  # each letter another one
    "a" + "\u0316\u0301" * 100_000,
    "\ufdfa" * 63,  # which stands for eighteen letters
    "ä" * 64 + ".example",
]


@pytest.mark.parametrize("name", LONG_HOSTS, ids=range(len(LONG_HOSTS)))
def test_a_host_that_is_too_long_is_no_address(name: str) -> None:
    for address in (f"http://{name}/", f"//{name}/", f"h\nttp:\t/\n/u@{name}:1/"):
        assert joined("http://a.org/", address) == web_host(address) == host(address) == ""
        assert asked_address(address) == address
        assert link_address(address) == ""
        assert not target(address) or len(target(address)) <= 100
        sitemap = f"<url><loc>{address}</loc></url><url><loc>/{name[:99]}</loc></url>"
        assert listing(URLS.format(sitemap)).pages == (f"http://a.org/{name[:99]}",)
        robots = f"Sitemap: {address}".replace("\n", "").encode()
        robots_txt = Response("http://a.org/robots.txt", body=robots)
        assert not list(SiteSpider("http://a.org/").parse_robots(robots_txt))
        body = f"<head><link rel=alternate type=application/rss+xml href='{address}'></head>"
        body += (
            f"<a href='{address}'>No</a><a href='http://b\u00fccher.example/{name[:99]}'>Yes</a>"
        )
        page = HtmlResponse("http://a.org/", body=body.encode(), request=Request("http://a.org/"))
        _, *requests = SiteSpider("http://a.org/").parse(page)
        assert [host(request.url) for request in requests] == ["xn--bcher-kva.example"]
        markdown = SiteCleaner("style-tree").clean(body).to_markdown(include_links=True)
        assert markdown.count("](http") == 1


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset>" + b"<a/>" * 3_000_000 + b"<url><loc>/1</loc></url></urlset>",
        b"<urlset><url>" + b"<a/>" * 3_000_000 + b"<loc>/1</loc></url></urlset>",
        b"<rss>" + b"<item/>" * 2_000_000 + b"<item><link>/1</link></item></rss>",
    ],
    ids=["elements", "in an entry", "entries"],
)
def test_a_listing_of_millions_of_elements_is_read_as_far_as_it_may_be_one(body: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB
    assert listing(gzip.compress(body)) == Listing()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 2**10


@pytest.mark.parametrize("part", ["&a;", "<?a?>", "<![CDATA[]]>", "<!---->", "&#8203;"])
def test_what_is_no_element_takes_no_memory_in_a_listing(part: str) -> None:
    body = URLS.format(f"<url><loc>/1</loc></url><url><loc>{part * 4_000_000}</loc></url>")
    for text in (body, f'<!DOCTYPE urlset [<!ENTITY a "b">]>{body}'):
        packed = gzip.compress(text.encode())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB
        assert listing(packed).pages == ("http://a.org/1",)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 2**10


def test_addresses_in_other_elements_of_a_listing_are_not_its_entries() -> None:
    sitemap = URLS.format(
        "<url><link rel='alternate' hreflang='de' href='/de/1'/><image><loc>/1.png</loc></image>"
        "<loc><!-- first -->/1</loc></url><loc>/2</loc><sitemap><loc>/more.xml</loc></sitemap>"
    )
    assert listing(sitemap) == Listing(("http://a.org/1",), ("http://a.org/more.xml",))
    rss = "<rss><channel><link>/</link><image><url>/logo.png</url></image><item><link>/1</link>"
    assert listing(f"{rss}</item></channel></rss>").pages == ("http://a.org/1",)


def links(body: str) -> list[str]:
    request = Request("http://a.org/news/", meta={"depth": 1})
    page = HtmlResponse(request.url, body=body.encode(), encoding="utf-8", request=request)
    found = list(SiteSpider("http://a.org/").parse(page))
    return [part.url for part in found if isinstance(part, Request)]


def test_a_page_leads_to_the_pages_that_it_links_to() -> None:
    body = (
        "<a href=' 1#top'>1</a><a href=1>1</a><a href='/a b?q=ö'>2</a><a href='/photo.JPG'>3</a>"
        "<a href='mailto:x@a.org'>4</a><a>5</a><map><area href='/map'></map><a href='http://['>6</a>"
        "<a href='ftp://a.org/f'>7</a><a href='#top'>8</a>"
    )
    assert links(body) == [
        "http://a.org/news/1",
        "http://a.org/a%20b?q=%C3%B6",
        "http://a.org/map",
    ]


def test_what_a_page_leads_to_is_bounded() -> None:
    many = "".join(f"<a href={number}>" for number in range(50_000))
    assert len(links(many)) == 2_000
    base = f"<base href='http://a.org/{'x/' * 1500}'>"
    assert links(f"{base}<a href=1>") == ["http://a.org/news/1"]
    assert links(f"<a href='{'x' * 3000}'><a href=1>") == ["http://a.org/news/1"]
    assert not links("<p>" * 6 * 2**20 + "<a href=1>")


def test_no_site_sends_a_crawl_into_a_private_net() -> None:
    lines = [
        "http://169.254.169.254/latest",
        "http://127.0.0.1:9421/admin?delete=1",
        "http://[::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://intranet/",
        "http://db.internal/",
        "http://localhost.localdomain:9200/_all",
        "http://localhost6.localdomain6/",
        "http://api.default.svc/",
        "http://wiki.corp/",
        "http://shop.test/",
        "http://printer.home.arpa/",
        "http://10.0.0.7/map.xml",
        "http://maps.b.org/map.xml",
    ]
    robots = "".join(f"Sitemap: {line}\n" for line in lines)
    response = Response("http://10.0.0.7/robots.txt", body=robots.encode())
    asked = [request.url for request in SiteSpider("http://10.0.0.7/").parse_robots(response)]
    assert asked == lines[-2:]  # its own, and a public one
