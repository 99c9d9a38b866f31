"""Robots.txt, which all addresses of a site wait for while it is loading."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from noiseclean_scrapy.crawl.placing import place_mends
from noiseclean_scrapy.crawl.robots import LARGEST_ROBOTS, RobotsMiddleware
from tests.support import crawling
from tests.support.command_line import run_console
from tests.support.crawl_site import Answer, PageServer, PagesSpider, serve, story
from tests.support.crawling import ASYNCIO, SELECT, Plan

PATHS = [f"/{place}{number}" for number in range(5) for place in ("open", "secret")]
OPEN = {path for path in PATHS if path.startswith("/open")}


def slow_rules(visit: int) -> Answer:
    time.sleep(0.3)  # that all others come to wait for them
    return Answer("User-agent: *\nDisallow: /secret\n", type="text/plain")


@pytest.fixture
def server() -> Iterator[PageServer]:
    pages = {path: story(number) for number, path in enumerate(PATHS)}
    with serve({**pages, "/robots.txt": slow_rules}) as running:
        yield running


@pytest.mark.slow
def test_of_robots_txt_no_more_is_parsed_than_has_to_be(tmp_path: Path) -> None:
    begin = "User-agent: *\nDisallow: /secret\n"
    long = "#" * (LARGEST_ROBOTS - len(begin) - 14)
    rules = f"{begin}{long}\nDisallow: /open/1\nDisallow: /\n"
    assert rules[:LARGEST_ROBOTS].endswith("\nDisallow: /op")  # which is none of the rules
    pages: dict[str, Any] = {path: story(number) for number, path in enumerate(PATHS)}
    with serve({**pages, "/robots.txt": Answer(rules, type="text/plain")}) as server:
        settings = {"ROBOTSTXT_OBEY": True}
        plan = Plan(PagesSpider, settings, {"url": server.url, "paths": PATHS})
        (crawled,) = crawling.crawl(tmp_path, plan)
    assert {item["path"] for item in crawled.items} == OPEN


class OwnRobots(RobotsTxtMiddleware):
    """A project's own, which allows nothing."""

    async def process_request(self, request: Request) -> None:  # type: ignore[override]
        raise IgnoreRequest


@pytest.mark.slow
def test_no_address_of_a_list_passes_while_robots_txt_is_loading(
    tmp_path: Path, server: PageServer
) -> None:
    (tmp_path / "list.txt").write_text("\n".join(server.url + path for path in PATHS))
    quick = ("-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=0")
    run_console(tmp_path, "clean", "list.txt", "-o", "out.jsonl", *quick)
    assert set(server.requests) == OPEN | {"/robots.txt"}


@pytest.mark.slow
@pytest.mark.parametrize("reactor", [ASYNCIO, SELECT])
def test_no_address_of_a_spider_passes_while_robots_txt_is_loading(
    tmp_path: Path, server: PageServer, reactor: str
) -> None:
    plan = Plan(PagesSpider, {"ROBOTSTXT_OBEY": True}, {"url": server.url, "paths": PATHS})
    (crawled,) = crawling.crawl(tmp_path, plan, reactor=reactor)
    assert {item["path"] for item in crawled.items} == OPEN
    assert set(server.requests) == OPEN | {"/robots.txt"}
    assert server.requests["/robots.txt"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("is_obeyed", [True, False])
def test_a_project_may_have_a_robots_txt_of_its_own(
    tmp_path: Path, server: PageServer, *, is_obeyed: bool
) -> None:
    scrapys = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
    own = {scrapys: None, **({f"{__name__}.OwnRobots": 100} if is_obeyed else {})}
    settings = {"ROBOTSTXT_OBEY": True, "DOWNLOADER_MIDDLEWARES": own}
    plan = Plan(PagesSpider, settings, {"url": server.url, "paths": PATHS})
    (crawled,) = crawling.crawl(tmp_path, plan)
    assert {item["path"] for item in crawled.items} == (set() if is_obeyed else set(PATHS))


class MadeOfOurs(RobotsMiddleware):
    """One that a project has made of ours."""


def test_a_class_made_of_it_stands_in_its_place() -> None:
    own = {f"{__name__}.MadeOfOurs": 90}
    settings = Settings({"DOWNLOADER_MIDDLEWARES": own})
    place_mends(settings)
    placed = settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    numbers = {load_object(one): number for one, number in placed.items() if number is not None}
    robots = {one: n for one, n in numbers.items() if issubclass(one, RobotsTxtMiddleware)}
    assert robots == {MadeOfOurs: 90}
