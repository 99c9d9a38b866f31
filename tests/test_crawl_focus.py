"""Focused crawls of a real server: order, budgets, example pages, hubs, restarts, failures."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import scrapy
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import Settings

from noiseclean_scrapy.addon import Addon
from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.focus.focus import Focus, Reading
from noiseclean_scrapy.focus.links import PageLink
from noiseclean_scrapy.focus.middleware import FocusMiddleware
from noiseclean_scrapy.focus.potential import Potential
from noiseclean_scrapy.page import Page
from tests.support import crawl_site, crawling
from tests.support.crawl_site import Answer
from tests.support.crawling import Crawled, Plan
from tests.test_focus import CHOIR, WIND

if TYPE_CHECKING:
    from tests.support.redis_queues import Queue

TOPIC = "offshore wind turbines, cable to the grid"
ONE_AT_A_TIME = {
    "NOISECLEAN_TOPIC": TOPIC,
    "CONCURRENT_REQUESTS": 1,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 0,
}
WIND_HEADLINES = [
    f"{name} at the wind turbines" for name in ("Repairs", "Storms", "Workers", "Silence")
]
CHOIR_HEADLINES = [f"{name} of the choir" for name in ("Voices", "Friends", "Evenings", "Chairs")]


def page(headline: str, text: str, links: Sequence[tuple[str, str, str]] = ()) -> str:
    """A page with navigation, and teasers (path, headline, lead)."""
    teasers = "".join(
        f"<div class='teaser'><h2><a href='{path}'>{title}</a></h2><p>{lead}</p></div>"
        for path, title, lead in links
    )
    return (
        f"<html lang='en'><head><title>{headline}</title></head><body>"
        "<nav><ul><li><a href='/'>Home</a></li><li><a href='/about'>About</a></li></ul></nav>"
        f"<main><h1>{headline}</h1><p>{text}</p>{teasers}</main>"
        "<footer><p>All rights reserved by the Courier.</p></footer></body></html>"
    )


def newspaper() -> dict[str, Any]:
    """A front page with four stories on wind and four on a choir, in turn; each says a bit more."""
    stories = []
    for number, (wind, choir) in enumerate(zip(WIND_HEADLINES, CHOIR_HEADLINES, strict=True)):
        stories += [(f"/choir/{number}", choir, CHOIR), (f"/wind/{number}", wind, WIND)]
    pages: dict[str, Any] = {
        path: page(headline, f"{text} {text.title()}") for path, headline, text in stories
    }
    front = page("What matters today", "The news of the day from all of our desks.", stories)
    return {**pages, "/": front, "/about": page("About us", "We have printed news since 1874.")}


class FollowingSpider(scrapy.Spider):
    """Follows all links; an item a page, with what the focus says of it."""

    name = "following"
    urls: list[str]

    async def start(self) -> AsyncIterator[Any]:
        self.links = LinkExtractor()
        for url in self.urls:
            yield scrapy.Request(url, errback=self.failed)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {
            "url": response.url,
            "priority": response.request.priority if response.request else None,
            "focus": response.meta.get("noiseclean_focus"),
        }
        assert isinstance(response, TextResponse)
        for link in self.links.extract_links(response):
            yield response.follow(link, errback=self.failed)

    def failed(self, failure: Any) -> Iterator[Any]:
        yield {"url": failure.request.url, "failure": failure.type.__name__}


def crawl(
    folder: Path, pages: dict[str, Any], *, hosts: Sequence[str] = ("127.0.0.1",), **settings: Any
) -> Crawled:
    with crawl_site.serve(pages) as server:
        urls = [server.url.replace("127.0.0.1", host) + "/" for host in hosts]
        plan = Plan(FollowingSpider, {**ONE_AT_A_TIME, **settings}, {"urls": urls})
        return crawling.crawl(folder, plan)[0]


def paths(crawled: Crawled) -> list[str]:
    """The paths of the pages in the order in which they came."""
    return ["/" + item["url"].split("/", 3)[3] for item in crawled.items if "failure" not in item]


def test_pages_on_the_topic_come_first(tmp_path: Path) -> None:
    crawled = crawl(tmp_path, newspaper())
    order = paths(crawled)
    assert order[0] == "/"
    assert set(order[1:5]) == {f"/wind/{number}" for number in range(4)}
    assert set(order) == set(newspaper())
    assert crawled.ours["focus/pages"] == len(order) == 10
    assert "errors" not in crawled.ours
    [line] = crawled.lines("INFO", "noiseclean_scrapy.focus.middleware")
    assert "10 pages judged" in line


@pytest.mark.slow
def test_without_a_topic_nothing_changes(tmp_path: Path) -> None:
    crawled = crawl(tmp_path, newspaper(), NOISECLEAN_TOPIC=None)
    assert {item["priority"] for item in crawled.items} == {0}
    assert not any("focus" in name for name in crawled.ours)
    assert {item["focus"] for item in crawled.items} == {None}


@pytest.mark.slow
def test_a_decision_is_explained(tmp_path: Path) -> None:
    crawled = crawl(tmp_path, newspaper())
    found = dict(zip(paths(crawled), crawled.items, strict=True))
    assert found["/"]["focus"]["start"] is True
    for path in ("/wind/1", "/choir/1", "/about"):
        why = found[path]["focus"]
        own = why["terms"] * max(why["anchor"], why["context"])
        promise = (own + 3 * (0.05 + why["inherited"])) / (why["terms"] + 3)
        factor = 0.5 + 0.5 * why["importance"]
        assert abs(1000 * promise * factor - why["priority"]) < 1
        assert found[path]["priority"] == why["priority"]
    assert found["/wind/1"]["focus"]["relevance"] > 0.2
    assert found["/choir/1"]["focus"]["relevance"] < 0.1
    assert found["/wind/1"]["focus"]["place"].endswith("div.teaser/h2")
    assert found["/about"]["focus"]["place"].endswith("nav/ul/li")
    lines = crawled.lines("DEBUG", "noiseclean_scrapy.focus.middleware")
    assert any("/wind/1: page 0." in line and "div.teaser/h2" in line for line in lines)


@pytest.mark.slow
def test_a_site_s_budget_is_spent_on_relevance(tmp_path: Path) -> None:
    hosts = ("127.0.0.1", "localhost")
    crawled = crawl(tmp_path, newspaper(), hosts=hosts, NOISECLEAN_SITE_BUDGET=5)
    for host in hosts:
        came = [item["url"] for item in crawled.items if host in item["url"]]
        came = [url for url in came if url in {i["url"] for i in crawled.items if "focus" in i}]
        fetched = {"/" + url.split("/", 3)[3] for url in came}
        assert fetched == {"/", *(f"/wind/{number}" for number in range(4))}
    assert crawled.ours["focus/pages"] == 10
    # Four stories and a page of the house on either site came too late.
    assert crawled.ours["focus/over_budget"] >= 10
    assert crawled.lines("ERROR", "") == []


def test_politeness_is_left_alone() -> None:
    settings = Settings({"NOISECLEAN_TOPIC": TOPIC, "NOISECLEAN_SITE_BUDGET": 3})
    before = settings.copy_to_dict()
    Addon().update_settings(settings)
    after = settings.copy_to_dict()
    changed = {name for name in after if before[name] != after[name]}
    assert changed == {
        "DOWNLOADER_MIDDLEWARES",
        "SPIDER_MIDDLEWARES",
        "ITEM_PIPELINES",
        "EXTENSIONS",
    }


class ExamplePageSpider(FollowingSpider):
    """Has its topic from a page of the server."""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        [url] = spider.urls
        examples = [f"{url}examples/{name}" for name in ("wind", "missing")]
        crawler.settings.set("NOISECLEAN_TOPIC", examples, "spider")
        return spider


@pytest.mark.slow
def test_example_pages_are_fetched_and_a_missing_one_is_told(tmp_path: Path) -> None:
    pages = {**newspaper(), "/examples/wind": page("Turbines at sea", WIND)}
    with crawl_site.serve(pages) as server:
        arguments = {"urls": [f"{server.url}/"]}
        plan = Plan(ExamplePageSpider, ONE_AT_A_TIME, arguments)
        crawled = crawling.crawl(tmp_path, plan)[0]
    assert set(paths(crawled)[1:5]) == {f"/wind/{number}" for number in range(4)}
    [line] = crawled.lines("ERROR")
    assert line.startswith("Error while fetching an example page of the topic")
    assert len(crawled.items) == 10


class BrokenReading(Focus):
    def read(self, page: Page, cleaned: CleanPage, cluster: str, **more: Any) -> Reading:
        raise RuntimeError("broken on purpose")


class BrokenPotential(Focus):
    def potential(self, reading: Reading, url: str) -> tuple[Potential, PageLink | None]:
        raise RuntimeError("broken on purpose")


class BrokenReadingMiddleware(FocusMiddleware):
    focus_class = BrokenReading


class BrokenPotentialMiddleware(FocusMiddleware):
    focus_class = BrokenPotential


@pytest.mark.slow
def test_a_failure_of_ours_loses_no_request(tmp_path: Path) -> None:
    for name in ("BrokenReadingMiddleware", "BrokenPotentialMiddleware"):
        middlewares = {
            "noiseclean_scrapy.focus.middleware.FocusMiddleware": None,
            f"{__name__}.{name}": 540,
        }
        crawled = crawl(tmp_path, newspaper(), DOWNLOADER_MIDDLEWARES=middlewares)
        assert set(paths(crawled)) == set(newspaper())
        assert crawled.ours["errors"] >= 10
        assert len(crawled.lines("ERROR")) == 1


# Hubs


def hub(name: str, fresh: int) -> Callable[[int], str]:
    """A list of six stories; `fresh` of them are new at each visit."""

    def answer(visit: int) -> str:
        first = (visit - 1) * fresh
        links = [
            (f"/{name}/{n}", f"{_word(n, name)} at the wind turbines", f"{_word(n, name)} {WIND}")
            for n in range(first, first + 6)
        ]
        return page(f"All of {name}", "Everything about the wind turbines at sea.", links)

    return answer


def _word(number: int, name: str) -> str:
    """A name of its own for each story: what two lists show alike is noise."""
    return name.title() + "".join("bcdfghjklm"[int(digit)] + "a" for digit in f"{number:03}")


def hub_site() -> dict[str, Any]:
    lists = [("/lively", "The latest from the desk", WIND), ("/still", "Wind turbines", WIND)]
    stories = {
        f"/{name}/{n}": page(f"{_word(n, name)} at sea", f"{_word(n, name)} {WIND}")
        for name in ("lively", "still")
        for n in range(80)
    }
    front = page("What matters today", "The news of the day from all of our desks.", lists)
    return {**stories, "/": front, "/lively": hub("lively", 2), "/still": hub("still", 0)}


@pytest.mark.slow
def test_lists_that_change_are_revisited_first(tmp_path: Path) -> None:
    with crawl_site.serve(hub_site()) as server:
        settings = {**ONE_AT_A_TIME, "NOISECLEAN_REVISITS": 20, "NOISECLEAN_REVISIT_SECONDS": 0.2}
        plan = Plan(FollowingSpider, settings, {"urls": [f"{server.url}/"]})
        crawled = crawling.crawl(tmp_path, plan)[0]
        visits = {name: server.requests[f"/{name}"] for name in ("lively", "still")}
    assert crawled.ours["focus/revisits"] == 20
    assert visits["lively"] + visits["still"] == 2 + 20
    assert visits["lively"] > visits["still"] > 1
    assert crawled.ours["focus/fresh_links"] == 2 * (visits["lively"] - 1)
    assert crawled.ours["focus/hubs"] == 2
    newest = f"/lively/{2 * (visits['lively'] - 1) + 5}"
    assert newest in paths(crawled)
    assert crawled.stats["finish_reason"] == "finished"
    assert crawled.lines("ERROR", "") == []


class SteppedSpider(FollowingSpider):
    """Sets the clock back by an hour once a list is read."""

    name = "stepped"

    def parse(self, response: Response) -> Iterator[Any]:
        if response.url.endswith("/lively"):
            then = time.time() - 3_600
            time.time = lambda: then
        yield from super().parse(response)


@pytest.mark.slow
def test_a_clock_that_is_set_back_stops_no_revisits(tmp_path: Path) -> None:
    with crawl_site.serve(hub_site()) as server:
        settings = {
            **ONE_AT_A_TIME,
            "NOISECLEAN_REVISITS": 2,
            "NOISECLEAN_REVISIT_SECONDS": 0.1,
            "CLOSESPIDER_TIMEOUT": 120,
        }
        plan = Plan(SteppedSpider, settings, {"urls": [f"{server.url}/"]})
        crawled = crawling.crawl(tmp_path, plan)[0]
    assert crawled.ours["focus/revisits"] == 2
    assert crawled.stats["finish_reason"] == "finished"


@pytest.mark.slow
def test_a_spent_budget_ends_the_crawl(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"NOISECLEAN_REVISITS": 100, "NOISECLEAN_REVISIT_SECONDS": 0.1}
    crawled = crawl(tmp_path, hub_site(), NOISECLEAN_SITE_BUDGET=12, **settings)
    assert crawled.ours["focus/pages"] == 12
    assert crawled.ours.get("focus/revisits", 0) < 12
    assert crawled.stats["finish_reason"] == "finished"


@pytest.mark.slow
def test_a_list_that_is_gone_leaves_the_others_their_revisits(tmp_path: Path) -> None:
    def still(visit: int) -> Any:
        return hub("still", 0)(visit) if visit < 2 else crawl_site.Answer("gone", 404)

    pages = {**hub_site(), "/still": still}
    with crawl_site.serve(pages) as server:
        settings = {**ONE_AT_A_TIME, "NOISECLEAN_REVISITS": 12, "NOISECLEAN_REVISIT_SECONDS": 0.3}
        plan = Plan(FollowingSpider, settings, {"urls": [f"{server.url}/"]})
        crawled = crawling.crawl(tmp_path, plan)[0]
    answers = server.requests["/still"]
    assert 1 < answers <= 4
    assert server.requests["/lively"] == 1 + 12 - (answers - 1)
    assert crawled.stats["finish_reason"] == "finished"


class ReplacedResponse:
    """A middleware that makes another response of each, after the focus has seen it."""

    def process_response(self, request: Any, response: Any, spider: Any = None) -> Any:
        return response.replace()


@pytest.mark.slow
def test_a_response_that_is_replaced_keeps_focus_and_budget(tmp_path: Path) -> None:
    middlewares: Any = {"DOWNLOADER_MIDDLEWARES": {f"{__name__}.ReplacedResponse": 500}}
    crawled = crawl(tmp_path, newspaper(), NOISECLEAN_SITE_BUDGET=4, **middlewares)
    assert crawled.ours["focus/pages"] == 4
    assert crawled.ours["focus/links"] > 0


class UnjudgedSpider(FollowingSpider):
    """Its first page is none that is judged."""

    name = "unjudged"

    async def start(self) -> AsyncIterator[Any]:
        async for request in super().start():
            yield request.replace(meta={"noiseclean": False})


@pytest.mark.slow
def test_links_of_pages_that_are_not_judged_spend_the_budget(tmp_path: Path) -> None:
    with crawl_site.serve(newspaper()) as server:
        settings = {**ONE_AT_A_TIME, "NOISECLEAN_SITE_BUDGET": 3}
        plan = Plan(UnjudgedSpider, settings, {"urls": [f"{server.url}/"]})
        crawled = crawling.crawl(tmp_path, plan)[0]
    assert len(paths(crawled)) == 3
    assert crawled.ours["focus/over_budget"] > 0


class PagingSpider(FollowingSpider):
    """Turns the pages of a list by a form that posts to the list's own address."""

    name = "paging"

    def parse(self, response: Response) -> Iterator[Any]:
        assert response.request
        yield {"url": response.url, "priority": response.request.priority}
        for number in range(9):
            yield scrapy.FormRequest(response.url, formdata={"page": str(number)})
        if response.request.priority == 1000:
            yield response.request.replace(dont_filter=True, priority=7)


def test_a_form_for_its_own_page_is_no_retry(tmp_path: Path) -> None:
    with crawl_site.serve(newspaper()) as server:
        settings = {**ONE_AT_A_TIME, "NOISECLEAN_SITE_BUDGET": 4}
        plan = Plan(PagingSpider, settings, {"urls": [f"{server.url}/"]})
        crawled = crawling.crawl(tmp_path, plan)[0]
    assert crawled.ours["focus/pages"] == 4 + 1  # a retry is of a page that counts already
    assert crawled.ours["focus/over_budget"] > 0
    priorities = [item["priority"] for item in crawled.items]
    assert priorities.count(0) == 0
    assert min(priorities) == 7  # of a retry, which has its own


@pytest.mark.slow
def test_a_restarted_job_goes_on(tmp_path: Path) -> None:
    with crawl_site.serve(hub_site()) as server:
        settings = {
            **ONE_AT_A_TIME,
            "JOBDIR": str(tmp_path / "job"),
            "NOISECLEAN_REVISITS": 4,
            "NOISECLEAN_REVISIT_SECONDS": 0.1,
            "NOISECLEAN_SITE_BUDGET": 40,
        }
        arguments = {"urls": [f"{server.url}/"]}
        first = Plan(FollowingSpider, {**settings, "CLOSESPIDER_PAGECOUNT": 6}, arguments)
        second = Plan(FollowingSpider, settings, arguments)
        before, after = crawling.crawl(tmp_path, first, second)
        lists = server.requests["/lively"] + server.requests["/still"]
    fetched = before.ours["focus/pages"] + after.ours["focus/pages"]
    revisits = sum(crawled.ours.get("focus/revisits", 0) for crawled in (before, after))
    assert revisits == 4
    assert lists == 2 + revisits
    assert 6 <= fetched <= 40
    assert before.lines("ERROR", "") == after.lines("ERROR", "") == []


@pytest.mark.slow
def test_a_damaged_job_is_told_and_the_crawl_goes_on(tmp_path: Path) -> None:
    job = tmp_path / "job"
    job.mkdir()
    (job / "noiseclean.focus").write_bytes(b"\x80\x04 nothing of ours")
    crawled = crawl(tmp_path, newspaper(), JOBDIR=str(job))
    assert set(paths(crawled)) == set(newspaper())
    [line] = crawled.lines("ERROR")
    assert line.startswith("Error while reading the job's focus")


@pytest.mark.slow
def test_a_revisit_is_not_answered_by_the_cache(tmp_path: Path) -> None:
    pages = hub_site()
    with crawl_site.serve(pages) as server:
        settings = {
            **ONE_AT_A_TIME,
            "HTTPCACHE_ENABLED": True,
            "NOISECLEAN_REVISITS": 2,
            "NOISECLEAN_REVISIT_SECONDS": 0.1,
        }
        plan = Plan(FollowingSpider, settings, {"urls": [f"{server.url}/"]})
        crawling.crawl(tmp_path, plan)
        assert server.requests["/lively"] + server.requests["/still"] == 4


def test_settings_name_what_is_wrong(tmp_path: Path) -> None:
    plan = Plan(FollowingSpider, {"NOISECLEAN_TOPIC": "missing/page.html"}, {"urls": []})
    crawled = crawling.crawl(tmp_path, plan)[0]
    assert crawled.error.startswith("ConfigurationError: NOISECLEAN_TOPIC must be pages")


@pytest.mark.slow
def test_answers_that_are_no_pages_are_left_alone(tmp_path: Path) -> None:
    pages = newspaper()
    pages["/about"] = Answer("%PDF-1.4", type="application/pdf")
    crawled = crawl(tmp_path, pages)
    assert crawled.ours["focus/pages"] == 9
    assert "errors" not in crawled.ours


@pytest.mark.slow
def test_a_base_that_is_no_address_and_a_long_page_are_judged(tmp_path: Path) -> None:
    pages = newspaper()
    pages["/about"] = f"<base href='http://['>{pages['/about']}"
    pages["/wind/0"] += "<p>More wind.</p>" * 20_000
    # Scrapy's middleware for META refreshes fails itself at this BASE.
    crawled = crawl(tmp_path, pages, NOISECLEAN_MAX_PAGE_BYTES=100_000, METAREFRESH_ENABLED=False)
    assert crawled.ours["focus/pages"] == 10
    assert "errors" not in crawled.ours


def test_defaults_bound_nothing() -> None:
    config = Config()
    assert (config.topic, config.site_budget, config.revisits) == (None, 0, 0)


# Requests that processes share


def crawl_shared(
    folder: Path, queue: Queue, pages: dict[str, Any], processes: int, **settings: Any
) -> list[Crawled]:
    """What the processes of a crawl leave, which share their requests by scrapy-redis."""
    from tests.support.redis_queues import FollowSpider

    with crawl_site.serve(pages) as server:
        queue.seed([f"{server.url}/"])
        plan = Plan(
            FollowSpider, {**ONE_AT_A_TIME, **queue.settings, **settings}, {"name": queue.name}
        )

        def run(number: int) -> Crawled:
            own = folder / str(number)
            own.mkdir()
            return crawling.crawl(own, plan)[0]

        with ThreadPoolExecutor(processes) as pool:
            crawls = list(pool.map(run, range(processes)))
        assert queue.waiting() == 0
    for crawled in crawls:
        assert crawled.stats["finish_reason"] == "finished"
        assert crawled.lines("ERROR", "") == []
    return crawls


def test_priorities_pass_through_scrapy_redis(tmp_path: Path, redis_queue: Queue) -> None:
    [crawled] = crawl_shared(tmp_path, redis_queue, newspaper(), 1)
    order = paths(crawled)
    assert set(order[1:5]) == {f"/wind/{number}" for number in range(4)}
    assert set(order) == set(newspaper())


@pytest.mark.slow
def test_processes_that_revisit_come_to_an_end(tmp_path: Path, redis_queue: Queue) -> None:
    # One may know the list that never changes alone, and visits it ever more seldom: few revisits.
    settings: dict[str, Any] = {"NOISECLEAN_REVISITS": 10, "NOISECLEAN_REVISIT_SECONDS": 0.1}
    settings["MAX_IDLE_TIME_BEFORE_CLOSE"] = 3
    crawls = crawl_shared(tmp_path, redis_queue, hub_site(), 2, **settings)
    fetched = [path for crawled in crawls for path in paths(crawled)]
    stories = {f"/{name}/{number}" for name in ("lively", "still") for number in range(6)}
    assert {"/", "/lively", "/still", *stories} <= set(fetched)
    revisits = [crawled.ours.get("focus/revisits", 0) for crawled in crawls]
    assert 10 <= sum(revisits) <= 20
    assert sum(fetched.count(path) for path in ("/lively", "/still")) == 2 + sum(revisits)
