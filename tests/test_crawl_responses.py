"""What is learned, and what is not: redirects, caches, errors, other media, lists of addresses."""

from __future__ import annotations

import gc
import gzip
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

import pytest
import scrapy
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import HtmlResponse, Response
from scrapy.utils.request import fingerprint
from scrapy.utils.trackref import iter_all

from noiseclean_scrapy.crawl import cluster_cache
from noiseclean_scrapy.crawl.pipeline import CleanPipeline
from noiseclean_scrapy.crawl.visits import FETCHED_AT, time_of_fetch
from noiseclean_scrapy.store import Store
from tests.support import crawl_site, crawling
from tests.support.crawl_site import (
    Answer,
    ChainSpider,
    Pages,
    PageServer,
    PagesSpider,
    story,
    story_text,
)
from tests.support.crawling import Crawled, Plan
from tests.support.databases import read_rows, stored_texts

if TYPE_CHECKING:
    from typing_extensions import Self

SITES, SITES_IN_MEMORY = 24, 6
BROKEN = "<p>Broken <b>page<table><td>with <li>a cell</div></html><p>And more, as browsers show it."
LEARNED = {"/target", "/flaky", "/same", "/broken", "/plain", "/after-opt-out"}
OTHERS = ["/pdf", "/json", "/image", "/text", "/missing", "/empty", "/opt-out"]


def flaky(visit: int) -> Answer | str:
    return story(2) if visit > 1 else Answer("<h1>Out of order</h1>", 503)


PAGES: Pages = {
    "/plain": story(1),
    "/flaky": flaky,
    "/moved": Answer("<h1>Moved</h1>", 302, headers={"Location": "/target"}),
    "/refreshed": "<meta http-equiv='refresh' content='0; url=/target'><p>Wait</p>",
    "/target": story(3),
    "/same": story(4),
    "/broken": BROKEN,
    "/opt-out": story(5),
    "/after-opt-out": story(6),
    "/empty": "",
    "/pdf": Answer(b"%PDF-1.7 " + bytes(99), type="application/pdf"),
    "/pdf-as-page": Answer(b"%PDF-1.7 " + bytes(99)),
    "/json": Answer('{"a": "<p>b</p>"}', type="application/json"),
    "/image": Answer(b"\x89PNG\r\n\x1a\n" + bytes(99), type="image/png"),
    "/text": Answer("<p>plain text", type="text/plain"),
    "/robots.txt": "<p>There are no rules here, only <a href='/'>a page</a>",
}


class ResponsesSpider(scrapy.Spider):
    name = "responses"
    url: str
    custom_settings = {  # noqa: RUF012
        "ROBOTSTXT_OBEY": True,
        "RETRY_PRIORITY_ADJUST": 0,
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_IGNORE_HTTP_CODES": [503],
        "HTTPERROR_ALLOW_ALL": True,
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
    }

    async def start(self) -> AsyncIterator[Any]:
        # All at once, before anything is known of the site.
        for _ in range(20):
            yield scrapy.Request(f"{self.url}/same", dont_filter=True)
        for path in (
            "/plain",
            "/flaky",
            "/moved",
            "/refreshed",
            "/broken",
            "/pdf-as-page",
            *OTHERS,
        ):
            meta = {"noiseclean": False} if path == "/opt-out" else {}
            yield scrapy.Request(self.url + path, meta=meta)
        yield scrapy.Request(f"{self.url}/after-opt-out", meta={"noiseclean": True})
        yield scrapy.Request(f"{self.url}/target", dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"path": urlsplit(response.url).path, "status": response.status}


@pytest.fixture(scope="module")
def site() -> Iterator[PageServer]:
    with crawl_site.serve(PAGES) as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("responses")


@pytest.fixture(scope="module")
def crawls(folder: Path, site: PageServer) -> list[Crawled]:
    plan = Plan(ResponsesSpider, {"NOISECLEAN_BATCH_SIZE": 1}, {"url": site.url})
    return crawling.crawl(folder, plan, plan)


def rows(folder: Path) -> list[tuple[Any, ...]]:
    query = "SELECT url, key, position FROM noiseclean_page ORDER BY position"
    return read_rows(f"sqlite:///{folder}/noiseclean.db", query)


@pytest.mark.slow
def test_odd_content_types_are_read_as_browsers_do(tmp_path: Path) -> None:
    types = ["text/html,charset=utf-8", "text/html, text/html; charset=utf-8", '"text/html"']
    others = ['"text/html"', "text/html, image/png"]
    pages: dict[str, Answer | str] = {
        f"/{n}": Answer(story(n), type=one) for n, one in enumerate(types)
    }
    pages |= {f"/other{n}": Answer("{}", type=one) for n, one in enumerate(others)}
    with crawl_site.serve(pages) as server:
        plan = Plan(PagesSpider, {}, {"url": server.url, "paths": list(pages)})
        (crawled,) = crawling.crawl(tmp_path, plan)
        expected = {f"{server.url}/{n}": story_text(n) for n in range(len(types))}
    assert stored_texts(tmp_path / "noiseclean.db") == expected
    assert crawled.ours["pages/not_html"] == len(others)


@pytest.mark.slow
def test_every_page_is_learned_once(crawls: list[Crawled], folder: Path, site: PageServer) -> None:
    first, _ = crawls
    found = {url.removeprefix(site.url): position for url, _, position in rows(folder)}
    assert {path for path, position in found.items() if position} == LEARNED
    assert set(found) == LEARNED | {"/empty"}
    assert sorted(position for position in found.values() if position) == list(range(1, 7))
    assert first.ours["pages/learned"] == len(LEARNED)
    assert first.stats["retry/count"] == 1
    assert "errors" not in first.ours


def test_responses_that_are_no_pages_are_counted(crawls: list[Crawled]) -> None:
    ours = crawls[0].ours
    kinds = {name: count for name, count in ours.items() if name.startswith("pages/not_html/")}
    assert kinds == {
        "pages/not_html/PDF": 2,  # one of them says that it is HTML
        "pages/not_html/JSON": 1,
        "pages/not_html/PNG image": 1,
        "pages/not_html/other": 1,
    }
    assert ours["pages/not_html"] == 5


def test_pages_have_the_key_and_address_of_the_last_request(
    crawls: list[Crawled], folder: Path, site: PageServer
) -> None:
    keys = {url: key for url, key, _ in rows(folder)}
    assert keys[f"{site.url}/target"] == fingerprint(scrapy.Request(f"{site.url}/target")).hex()
    assert f"{site.url}/moved" not in keys


def test_what_comes_from_the_cache_is_not_learned_again(
    crawls: list[Crawled], site: PageServer
) -> None:
    first, second = crawls
    assert second.stats["httpcache/hit"] > 20
    assert "pages/learned" not in second.ours
    assert "trees/built" not in second.ours
    assert second.ours["items/cleaned"] == first.ours["items/cleaned"]
    assert site.requests["/plain"] == 1


def test_what_comes_from_the_cache_was_fetched_when_its_server_says(tmp_path: Path) -> None:
    dates = {
        "/past": "Sat, 01 Mar 2025 13:00:00 +0100",
        "/future": "Fri, 31 Dec 9999 23:59:59 GMT",
        "/beyond": "Fri, 31 Dec 9999 23:59:59 -2359",
        "/none": "yesterday",
    }
    pages: Pages = {
        path: Answer(story(number), headers={"Date": date})
        for number, (path, date) in enumerate(dates.items())
    }
    with crawl_site.serve(pages) as server:
        plans = [
            Plan(
                PagesSpider,
                {
                    "HTTPCACHE_ENABLED": True,
                    "HTTPCACHE_DIR": str(tmp_path / "cache"),
                    "NOISECLEAN_DATABASE_URL": f"sqlite:///{tmp_path / name}",
                },
                {"url": server.url, "paths": list(dates)},
            )
            for name in ("first.db", "second.db")
        ]
        begin = datetime.now(timezone.utc)
        crawling.crawl(tmp_path, *plans)
        end = datetime.now(timezone.utc)
    with Store(f"sqlite:///{tmp_path}/first.db") as store:
        assert all(begin < page.fetched_at < end for page in store.pages.with_text())
    with Store(f"sqlite:///{tmp_path}/second.db") as store:
        times = {
            page.url.removeprefix(server.url): page.fetched_at for page in store.pages.with_text()
        }
    assert times.pop("/past") == datetime(2025, 3, 1, 12, tzinfo=timezone.utc)
    assert len(times) == 3
    assert all(begin < time < end for time in times.values())


class TextSpider(PagesSpider):
    """Reads the texts of the pages itself."""

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"path": response.url.removeprefix(self.url), "seen": response.css("h1::text").get()}


def test_pages_in_a_charset_that_is_none_reach_the_spider(tmp_path: Path) -> None:
    names = ["base64", "punycode", "utf-7", "idna", "koi8-r"]
    text = "Story of a café"
    pages: Pages = {
        f"/{name}": Answer(
            gzip.compress(f"<h1>{text}</h1><p>{'It is long. ' * 40_000}".encode()),
            type=f"text/html; charset={name}",
            headers={"Content-Encoding": "gzip"},
        )
        for name in names
    }
    crawled = crawling.crawl_pages(tmp_path, TextSpider, pages, {}, paths=list(pages))
    seen = {item["path"]: item["seen"] for item in crawled.items}
    assert seen == dict.fromkeys(pages, text) | {"/koi8-r": text.encode().decode("koi8-r")}
    assert crawled.ours["items/cleaned"] == len(names)


def test_items_of_other_responses_stay_as_they_are(crawls: list[Crawled]) -> None:
    for crawled in crawls:
        items = {item["path"]: item for item in crawled.items}
        for path in set(OTHERS) - {"/empty"}:
            assert set(items[path]) == {"path", "status"}
        assert items["/empty"]["text"] == items["/empty"]["title"] == ""
        assert items["/target"]["title"] == "Story 3"
        assert items["/broken"]["text"].splitlines()[-1] == "And more, as browsers show it."
        assert len([item for item in crawled.items if item["path"] == "/same"]) == 20


@pytest.mark.slow
@pytest.mark.parametrize(
    "other", [Answer("{}", type="application/json"), Answer("<p>Gone</p>", 404)]
)
def test_the_address_of_a_page_may_answer_otherwise(tmp_path: Path, other: Answer) -> None:
    pages: Pages = {"/0": lambda visit: story(0) if visit == 1 else other}
    settings = {
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        "HTTPERROR_ALLOW_ALL": True,
    }
    first, second = crawling.crawl_pages(
        tmp_path, ChainSpider, pages, settings, paths=["/0", "/0"]
    ).items
    assert first["title"] == "Story 0"
    assert second == {"path": "/0"}
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    assert read_rows(url, "SELECT text FROM noiseclean_page") == [(story_text(0),)]


class HeadersSpider(PagesSpider):
    """Looks at the headers of the pages, whose bodies it does not want."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.stop, signals.headers_received)
        return spider

    def stop(self) -> None:
        raise StopDownload(fail=False)


def test_the_beginning_of_a_page_takes_nothing_from_what_is_stored(tmp_path: Path) -> None:
    pages: Pages = {"/0": story(0)}
    with crawl_site.serve(pages) as server:
        plans = [
            Plan(kind, {}, {"url": server.url, "paths": ["/0"]})
            for kind in (PagesSpider, HeadersSpider)
        ]
        first, second = (crawling.crawl(tmp_path, plan)[0] for plan in plans)
    assert first.items[0]["title"] == "Story 0"
    assert "title" not in second.items[0]
    assert "pages/seen" not in second.ours
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    assert read_rows(url, "SELECT text FROM noiseclean_page") == [(story_text(0),)]


class FilesSpider(PagesSpider):
    """Its items name a file, in whose place there is a page of regret."""

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "file_urls": [f"{self.url}/sorry.pdf"]}


def test_what_pipelines_and_robots_txt_download_is_no_page_of_the_site(tmp_path: Path) -> None:
    pages: Pages = {
        "/0": story(0),
        "/sorry.pdf": story(1),
        "/robots.txt": Answer(status=302, headers={"Location": "/sorry"}),
        "/sorry": story(2),
    }
    settings = {
        "FILES_STORE": str(tmp_path / "files"),
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "ROBOTSTXT_OBEY": True,
    }
    crawled = crawling.crawl_pages(tmp_path, FilesSpider, pages, settings, paths=["/0"])
    assert crawled.stats["file_count"] == 1
    assert crawled.stats["downloader/response_count"] == 4
    assert crawled.items[0]["title"] == "Story 0"
    assert crawled.ours["pages/seen"] == 1
    assert len(rows(tmp_path)) == 1


class ManySitesSpider(PagesSpider):
    """Visits two pages of every site, the second ones after all first ones."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> ManySitesSpider:
        cluster_cache._CLUSTERS_IN_MEMORY = SITES_IN_MEMORY  # in the crawl's own process
        return super().from_crawler(crawler, *args, **kwargs)

    def parse(self, response: Response) -> Iterator[Any]:
        pipeline = self.crawler.get_item_pipeline(CleanPipeline)
        assert pipeline
        assert pipeline.crawl
        assert self.crawler.stats
        self.crawler.stats.max_value("most_sites", len(pipeline.crawl.clusters))
        yield {"page": response.url}


def by_remainder(response: HtmlResponse) -> str:
    return f"site {int(response.url.rpartition('/')[2]) % SITES}"


@pytest.mark.slow
def test_more_sites_than_memory_holds(tmp_path: Path) -> None:
    pages = {f"/{page}": story(page) for page in range(2 * SITES)}
    settings = {
        "CONCURRENT_REQUESTS": 1,
        "NOISECLEAN_BATCH_SIZE": 3,
        "NOISECLEAN_CLUSTER_BY": f"{__name__}.by_remainder",
    }
    crawled = crawling.crawl_pages(tmp_path, ManySitesSpider, pages, settings)
    assert crawled.ours["clusters"] == SITES
    # Sites whose pages are on their way to the store stay until they are written.
    assert SITES_IN_MEMORY <= crawled.stats["most_sites"] < SITES
    assert crawled.ours["pages/learned"] == 2 * SITES
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    trees = read_rows(url, "SELECT version, pages FROM noiseclean_tree")
    assert trees == [(1, 2)] * SITES
    rows = read_rows(url, "SELECT learned_version, clean_version FROM noiseclean_page")
    assert rows == [(1, 1)] * (2 * SITES)


class HostsSpider(PagesSpider):
    """Visits some addresses of two hosts."""

    paths = ("/1", "/2", "/3", "/print/1")

    async def start(self) -> AsyncIterator[Any]:
        async for request in super().start():
            yield request
        yield scrapy.Request(self.url.replace("127.0.0.1", "localhost") + "/4")

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"number": response.url[-1]}


def by_parity(response: HtmlResponse) -> str | None:
    number = int(response.url[-1])
    return None if number == 3 else ("even" if number % 2 == 0 else "odd")


@pytest.mark.slow
def test_addresses_are_allowed_denied_and_grouped(tmp_path: Path) -> None:
    pages = {f"/{number}": story(number) for number in range(5)} | {"/print/1": story(9)}
    rules: dict[str, dict[str, Any]] = {
        "allow domains": {"ALLOW_DOMAINS": ["localhost"]},
        "deny domains": {"DENY_DOMAINS": "localhost"},
        "allow": {"ALLOW": r"/[12]$"},
        "deny": {"DENY": ["/print/", "/3"]},
        "domain": {"CLUSTER_BY": "domain"},
        "callable": {"CLUSTER_BY": f"{__name__}.by_parity"},
    }
    with crawl_site.serve(pages) as server:
        plans = []
        for name, rule in rules.items():
            settings = {f"NOISECLEAN_{key}": value for key, value in rule.items()}
            settings["NOISECLEAN_DATABASE_URL"] = f"sqlite:///{name}.db"
            plans.append(Plan(HostsSpider, settings, {"url": server.url}))
        crawled = dict(zip(rules, crawling.crawl(tmp_path, *plans), strict=True))

    def clusters(name: str) -> dict[str, str]:
        query = "SELECT url, cluster FROM noiseclean_page"
        found = read_rows(f"sqlite:///{tmp_path}/{name}.db", query)
        return {"/".join(url.split("/")[3:]): cluster for url, cluster in found}

    assert set(clusters("allow domains")) == {"4"}
    assert set(clusters("deny domains")) == {"1", "2", "3", "print/1"}
    assert set(clusters("allow")) == {"1", "2", "print/1"}
    assert set(clusters("deny")) == {"1", "2", "4"}
    ip = dict.fromkeys(["1", "2", "3", "print/1"], server.site)
    assert clusters("domain") == {**ip, "4": server.site.replace("127.0.0.1", "localhost")}
    assert clusters("callable") == {"1": "odd", "print/1": "odd", "2": "even", "4": "even"}
    assert crawled["callable"].ours["clusters"] == 2
    assert crawled["callable"].ours["items/without_page"] == 1
    assert {"number": "3"} in crawled["callable"].items
    (alone,) = (item for item in crawled["domain"].items if item["number"] == "4")
    assert alone["title"] == "Story 4"


class KeepingSpider(PagesSpider):
    """Keeps all its responses, and selects from the first one again and again."""

    responses: ClassVar[list[Response]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> KeepingSpider:
        gc.disable()  # in the crawl's own process
        return super().from_crawler(crawler, *args, **kwargs)

    def parse(self, response: Response) -> Iterator[Any]:
        self.responses.append(response)
        first = self.responses[0].css("h1::text").get()
        yield {
            "headline": response.css("h1::text").get(),
            "is_first": first == "Story 0",
            "parsed": len(list(iter_all("Selector"))),
        }


def test_what_is_parsed_goes_when_the_callback_has_ended(tmp_path: Path) -> None:
    pages = {f"/{number}": story(number) for number in range(20)}
    crawled = crawling.crawl_pages(tmp_path, KeepingSpider, pages, {"CONCURRENT_REQUESTS": 1})
    assert sorted(item["headline"] for item in crawled.items) == sorted(
        f"Story {number}" for number in range(20)
    )
    assert all(item["is_first"] for item in crawled.items)
    # The page of the callback, and the one that is selected from again.
    assert max(item["parsed"] for item in crawled.items) == 2


@pytest.mark.parametrize(
    "told",
    [
        datetime(2024, 1, 1),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        "2024-01-01T12:00:00Z",
        1_700_000_000,
    ],
)
def test_what_is_no_time_of_fetching_is_now(told: object) -> None:
    request = Request("http://a.example/", meta={FETCHED_AT: told})
    before = datetime.now(timezone.utc)
    assert before <= time_of_fetch(Response("http://a.example/"), request)


def test_a_time_of_fetching_is_kept_in_utc() -> None:
    told = datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    request = Request("http://a.example/", meta={FETCHED_AT: told})
    found = time_of_fetch(Response("http://a.example/"), request)
    assert found.isoformat() == "2023-12-31T23:00:00+00:00"
