"""The life of a page: provisional, covered by a tree, known to the next crawl."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse, Response

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.store import Store
from tests.support import crawl_site, crawling
from tests.support.command_line import noiseclean
from tests.support.crawl_site import ChainSpider, story, story_text
from tests.support.crawling import Crawled, Plan
from tests.support.databases import KINDS, new_database, read_rows

QUOTA, REFRESH = 4, 3
SETTINGS = {
    "CONCURRENT_REQUESTS": 1,
    "NOISECLEAN_SAMPLE_QUOTA": QUOTA,
    "NOISECLEAN_REFRESH_PAGES": REFRESH,
    "NOISECLEAN_BATCH_SIZE": 1,
    "NOISECLEAN_FIELDS": {"text": "text", "tree": "tree_version"},
    "NOISECLEAN_STORE_HTML": False,
}
PATHS = [f"/{number}" for number in range(9)]
STATE = """
SELECT position, learned_version, clean_version, html.key IS NOT NULL AS html
FROM noiseclean_page AS page LEFT JOIN noiseclean_page_html AS html ON html.key = page.key
ORDER BY position
"""


class WatchingSpider(ChainSpider):
    """Has no items; remembers what the database says of the pages at every page."""

    name = "watching"
    database: str

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        assert self.crawler.stats
        self.crawler.stats.set_value(f"rows/{number}", read_rows(self.database, STATE))
        yield from (o for o in super().parse(response, number) if not isinstance(o, dict))


@pytest.fixture(scope="module", params=KINDS)
def database(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    with new_database(request.param, folder) as url:
        yield url


@pytest.fixture(params=KINDS)
def own_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with new_database(request.param, tmp_path) as url:
        yield url


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("life")


@pytest.fixture(scope="module")
def crawls(folder: Path, database: str) -> list[Crawled]:
    """A crawl of nine pages, one of three more, and one that only reads, with one more."""
    settings = {**SETTINGS, "NOISECLEAN_DATABASE_URL": database}
    pages = {f"/{number}": story(number) for number in range(13)}
    with crawl_site.serve(pages) as server:

        def plan(paths: list[str], **more: Any) -> Plan:
            return Plan(ChainSpider, settings | more, {"url": server.url, "paths": paths})

        more = [*PATHS, "/9", "/10", "/11"]
        return crawling.crawl(
            folder, plan(PATHS), plan(more), plan([*more, "/12"], NOISECLEAN_READ_ONLY=True)
        )


def by_half(response: HtmlResponse) -> str:
    return "odd" if int(response.url[-1]) % 2 else "even"


def test_pages_are_provisional_until_a_tree_covers_them(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    pages = {path: story(number) for number, path in enumerate(PATHS)}
    crawled = crawling.crawl_pages(tmp_path, WatchingSpider, pages, SETTINGS, database=url)
    states = [crawled.stats[f"rows/{number}"] for number in range(len(PATHS))]
    expected: list[Sequence[int | None]] = [
        [None],
        [None] * 2,
        [None] * 3,
        [1] * 4,
        [1] * 4 + [None],
        [1] * 4 + [None] * 2,
        [1] * 4 + [2] * 3,
        [1] * 4 + [2] * 3 + [None],
        [1] * 4 + [2] * 3 + [None] * 2,
    ]
    assert [[row[1] for row in rows] for rows in states] == expected
    assert [[bool(row[3]) for row in rows] for rows in states] == [
        [version is None for version in versions] for versions in expected
    ]
    # Without items pages are learned all the same, yet have no texts.
    assert [row[1:3] for row in read_rows(url, STATE)] == [
        (version, None) for version in [1] * 4 + [2] * 3 + [3] * 2
    ]


def test_items_tell_the_tree_that_cleaned_them(crawls: list[Crawled]) -> None:
    assert [item["tree"] for item in crawls[0].items] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert all(item["text"].startswith("Story") for item in crawls[0].items)


def test_the_last_tree_is_built_at_the_end(crawls: list[Crawled], database: str) -> None:
    first, second, _ = crawls
    assert first.ours["trees/built"] == 3
    kinds = ("waiting", "spooled", "provisional")
    assert [first.ours[f"pages/{kind}"] for kind in kinds] == [0, 0, 0]
    # The page whose response completes a tree may have its text before or after.
    assert 3 + 2 + 2 <= first.ours["pages/recleaned"] <= 4 + 3 + 2
    assert second.ours["trees/built"] == second.ours["pages/learned"] / REFRESH == 1
    query = "SELECT version, pages, tree IS NULL FROM noiseclean_tree ORDER BY version"
    trees = [(v, pages, bool(empty)) for v, pages, empty in read_rows(database, query)]
    assert trees == [(1, 4, True), (2, 7, True), (3, 9, False), (4, 12, False)]
    query = "SELECT tree FROM noiseclean_tree WHERE version = 4"
    assert SiteCleaner.from_bytes(bytes(read_rows(database, query)[0][0])).pages == 12


def test_the_store_ends_with_texts_of_the_covering_trees(
    crawls: list[Crawled], database: str
) -> None:
    rows = read_rows(database, STATE)
    assert [row[0] for row in rows] == list(range(1, 13))
    assert [row[1] for row in rows] == [1] * 4 + [2] * 3 + [3] * 2 + [4] * 3
    assert [row[2] for row in rows] == [row[1] for row in rows]
    assert not any(row[3] for row in rows)
    texts = read_rows(database, "SELECT text FROM noiseclean_page ORDER BY position")
    assert [text for (text,) in texts] == [story_text(number) for number in range(12)]


def test_a_later_crawl_goes_on_where_the_first_ended(crawls: list[Crawled]) -> None:
    second = crawls[1]
    assert second.ours["pages/seen"] == 12
    assert [item["tree"] for item in second.items] == [3] * 11 + [4]
    assert [item["text"] for item in second.items] == [story_text(n) for n in range(12)]


def test_a_reading_crawl_cleans_and_writes_nothing(crawls: list[Crawled]) -> None:
    reading = crawls[2]
    assert [item["tree"] for item in reading.items] == [4] * 13
    assert [item["text"] for item in reading.items] == [story_text(n) for n in range(13)]
    assert set(reading.ours) == {
        "pages/seen",
        "clusters",
        "items/cleaned",
        "characters/visible",
        "characters/kept",
    }


def crawl_one(folder: Path, paths: list[str], pages: Any, **settings: Any) -> Crawled:
    return crawling.crawl_pages(folder, ChainSpider, pages, SETTINGS | settings, paths=paths)


@pytest.mark.slow
def test_html_is_kept_unless_it_is_unwanted(tmp_path: Path) -> None:
    pages = {path: story(number) for number, path in enumerate(PATHS)}
    crawl_one(tmp_path, PATHS, pages, NOISECLEAN_STORE_HTML=None)  # as if it were not set
    rows = read_rows(f"sqlite:///{tmp_path}/noiseclean.db", STATE)
    assert [bool(row[3]) for row in rows] == [True] * 9


@pytest.mark.slow
def test_a_page_that_changes_is_learned_once_and_stored_as_it_is_now(tmp_path: Path) -> None:
    pages: dict[str, Any] = {path: story(number) for number, path in enumerate(PATHS)}
    pages["/0"] = lambda visit: story(99 + visit)
    crawled = crawl_one(
        tmp_path,
        [*PATHS, "/0"],
        pages,
        NOISECLEAN_SAMPLE_QUOTA=50,
        DUPEFILTER_CLASS="scrapy.dupefilters.BaseDupeFilter",
    )
    assert crawled.ours["pages/learned"] == len(PATHS)
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    (row,) = read_rows(url, "SELECT text, clean_version FROM noiseclean_page WHERE url LIKE '%/0'")
    assert row == (story_text(101), 1)


@pytest.mark.slow
def test_a_page_that_changes_without_an_item_gets_its_text_with_the_next_one(
    tmp_path: Path, own_database: str
) -> None:
    query = "SELECT text, clean_version FROM noiseclean_page WHERE url LIKE '%/changes'"
    changes = [story(50), story(51), story(51)]
    pages: dict[str, Any] = {f"/{number}": story(number) for number in range(6)}
    pages["/changes"] = lambda visit: changes[visit - 1]
    settings = {**SETTINGS, "NOISECLEAN_DATABASE_URL": own_database}
    settings["NOISECLEAN_STORE_HTML"] = True
    found = []
    with crawl_site.serve(pages) as server:
        arguments = {"url": server.url, "paths": ["/changes", *PATHS[:6]], "database": own_database}
        for spider in (ChainSpider, WatchingSpider, ChainSpider):
            feeds = {
                "NOISECLEAN_FINAL_FEEDS": True,
                "FEEDS": {str(tmp_path / "f.json"): {"format": "json", "overwrite": True}},
            }
            crawling.crawl(tmp_path, Plan(spider, settings | feeds, arguments))
            found += read_rows(own_database, query)
            if spider is WatchingSpider:
                noiseclean(tmp_path, "reclean", "--database", own_database)
                assert read_rows(own_database, query) == found[-1:]
    assert found == [(story_text(50), 1), (story_text(50), -1), (story_text(51), 2)]
    assert story_text(51) in [
        item["text"] for item in json.loads((tmp_path / "f.json").read_text())
    ]


@pytest.mark.slow
def test_html_that_is_stored_no_more_goes_when_its_page_changes(
    tmp_path: Path, own_database: str
) -> None:
    settings = {"NOISECLEAN_SAMPLE_QUOTA": 6, "NOISECLEAN_DATABASE_URL": own_database}
    pages: dict[str, Any] = {
        path: lambda visit, number=number: story(number + 50 * (visit - 1))
        for number, path in enumerate(PATHS)
    }
    pages["/0"] = story(0)
    with crawl_site.serve(pages) as server:
        for is_stored in (True, False):
            more = {**settings, "NOISECLEAN_STORE_HTML": is_stored}
            crawling.crawl(tmp_path, Plan(ChainSpider, more, {"url": server.url, "paths": PATHS}))
    noiseclean(tmp_path, "reclean", "--database", own_database)
    texts = {text for (text,) in read_rows(own_database, "SELECT text FROM noiseclean_page")}
    assert texts == {story_text(0), *(story_text(number) for number in range(51, 59))}
    assert [bool(row[3]) for row in read_rows(own_database, STATE)].count(True) == 1


@pytest.mark.slow
def test_a_site_that_looks_different_at_known_addresses_is_told(tmp_path: Path) -> None:
    paths = [f"/{number}" for number in range(12)]
    with crawl_site.serve(
        {path: redesigned(number) for number, path in enumerate(paths)}
    ) as server:
        settings = {"NOISECLEAN_SAMPLE_QUOTA": 6, "NOISECLEAN_METHOD": "style-tree"}
        plan = Plan(ChainSpider, settings, {"url": server.url, "paths": paths})
        first, second = crawling.crawl(tmp_path, plan, plan)
    assert not first.lines("WARNING")
    (line,) = second.lines("WARNING")
    assert "have stopped fitting its tree" in line
    assert line.endswith("--method style-tree")


def redesigned(number: int) -> Callable[[int], str]:
    """A page of which no element is where it was, from the second visit on."""
    html = story(number)
    later = html.replace("<div>", "<main><section class=new><div>").replace("<p>", "<p class=new>")
    return lambda visit: html if visit == 1 else later


class SlowForTheFirst:
    """A pipeline in which the first item waits until the second one has gone by."""

    def __init__(self) -> None:
        self.second = asyncio.Event()
        self.items = 0

    async def process_item(self, item: Any) -> Any:
        self.items += 1
        if self.items == 1:
            await self.second.wait()
        elif self.items == 3:
            self.second.set()
        return item


class TwiceSpider(ChainSpider):
    """Asks for the next page at once, and has its item after that."""

    name = "twice"

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        yield from reversed(list(super().parse(response, number)))


@pytest.mark.slow
def test_an_item_that_comes_late_puts_no_older_text_in_the_place_of_a_newer_one(
    tmp_path: Path,
) -> None:
    changes = [story(50), story(51)]
    pages: dict[str, Any] = {"/0": lambda visit: changes[visit - 1], "/1": story(1)}
    settings = {
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        "ITEM_PIPELINES": {f"{__name__}.SlowForTheFirst": 500},
        "NOISECLEAN_BATCH_SIZE": 1,
    }
    crawled = crawling.crawl_pages(tmp_path, TwiceSpider, pages, settings, paths=["/0", "/0", "/1"])
    assert len(crawled.items) == 3
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    query = "SELECT text FROM noiseclean_page WHERE url LIKE '%/0'"
    assert read_rows(url, query) == [(story_text(51),)]


@pytest.mark.slow
def test_pages_move_to_a_site_that_others_have_made(tmp_path: Path) -> None:
    """What is grouped otherwise moves as it is fetched again, a part of it first."""
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    pages = {path: story(number) for number, path in enumerate(PATHS)}
    by_path = {"NOISECLEAN_CLUSTER_BY": f"{by_half.__module__}.by_half"}
    with crawl_site.serve(pages) as server:
        *_, last = crawling.crawl(
            tmp_path,
            *(
                Plan(ChainSpider, SETTINGS | more, {"url": server.url, "paths": paths})
                for paths, more in ((PATHS, {}), (PATHS[3:6], by_path), (PATHS, by_path))
            ),
        )
    groups = read_rows(url, "SELECT cluster, count(*) FROM noiseclean_page GROUP BY cluster")
    assert sorted(groups) == [("even", 5), ("odd", 4)]
    assert last.ours["trees/built"] <= 4
    assert len(last.items) == len(PATHS)


@pytest.mark.slow
def test_a_redesign_is_learned_before_its_time(tmp_path: Path) -> None:
    def redesigned(number: int) -> str:
        title, *paragraphs = story_text(number).splitlines()
        rows = "".join(f"<tr><td class='t'>{paragraph}</td></tr>" for paragraph in paragraphs)
        return (
            f"<html><body><table class='new'><tr><th>{title}</th></tr>{rows}"
            f"<tr><td class='t'>{repeated}</td></tr></table>"
            f"</body></html>"
        )

    repeated = "The new owner of this paper also runs the harbour and three of its four ferries."
    paths = [f"/{number}" for number in range(45)]
    pages = {p: story(n) if n < 12 else redesigned(n) for n, p in enumerate(paths)}
    crawled = crawl_one(tmp_path, paths, pages, NOISECLEAN_REFRESH_PAGES=1000)
    assert crawled.ours["trees/built"] >= 3
    assert crawled.ours["trees/redesigns"] >= 1
    assert repeated in crawled.items[13]["text"]
    assert repeated not in crawled.items[-1]["text"]
    # When the redesign was seen makes no difference: the tree is that of the pages in any order.
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    cleaner = SiteCleaner(**Config().all_method_options)
    for _, address in read_rows(url, "SELECT key, url FROM noiseclean_page ORDER BY key"):
        cleaner.observe(pages["/" + address.rsplit("/", 1)[1]], url=address)
    ((tree,),) = read_rows(url, "SELECT tree FROM noiseclean_tree ORDER BY version DESC LIMIT 1")
    assert tree == cleaner.to_bytes()


@pytest.mark.slow
def test_a_site_is_learned_anew_in_the_published_form(tmp_path: Path) -> None:
    own = {"NOISECLEAN_METHOD": "style-tree", "NOISECLEAN_STORE_HTML": True}
    published = {"NOISECLEAN_METHOD_OPTIONS": {"published": True}}
    with crawl_site.serve({path: story(number) for number, path in enumerate(PATHS)}) as server:
        plans = [
            Plan(ChainSpider, SETTINGS | own | more, {"url": server.url, "paths": paths})
            for more, paths in ((own, PATHS[:6]), (published, PATHS[6:]))
        ]
        _, crawled = crawling.crawl(tmp_path, *plans)
    assert crawled.items[-1]["text"].startswith(story_text(8).splitlines()[0])
    with Store(f"sqlite:///{tmp_path}/noiseclean.db", read_only=True) as store:
        ((_, newest), *_) = store.clusters.trees(store.clusters.all()[0].name)
    cleaner = SiteCleaner.from_bytes(newest)
    assert cleaner.budget.display
    assert cleaner.pages == len(PATHS)


class PatientSpider(ChainSpider):
    """Ends when the database has a tree, or after twenty seconds."""

    name = "patient"
    database: str

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> PatientSpider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.wait, signals.spider_idle)
        return spider

    def wait(self) -> None:
        if not read_rows(self.database, "SELECT version FROM noiseclean_tree"):
            raise DontCloseSpider


@pytest.mark.slow
def test_a_site_that_had_its_last_page_gets_its_tree_while_the_crawl_goes_on(
    database_url: str, tmp_path: Path
) -> None:
    settings = {
        "NOISECLEAN_DATABASE_URL": database_url,
        "NOISECLEAN_IDLE_SECONDS": 0.4,
        "NOISECLEAN_BATCH_SECONDS": 0.1,
        "CLOSESPIDER_TIMEOUT": 20,
    }
    pages = {path: story(number) for number, path in enumerate(PATHS[:5])}
    crawled = crawling.crawl_pages(tmp_path, PatientSpider, pages, settings, database=database_url)
    assert crawled.stats["finish_reason"] == "finished"
    assert read_rows(database_url, "SELECT version, pages FROM noiseclean_tree") == [(1, 5)]
    assert {row[1] for row in read_rows(database_url, STATE)} == {1}
