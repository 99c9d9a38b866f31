"""How a crawl begins: wrong settings and databases, components named by hand, looks at pages."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

import noiseclean_scrapy
from noiseclean_scrapy import CleanPage, SiteCleaner
from noiseclean_scrapy.addon import Addon
from noiseclean_scrapy.crawl.starting import config_of
from noiseclean_scrapy.store import Store
from tests.support import crawl_site, crawling
from tests.support.command_line import Done, run_process
from tests.support.crawl_site import ChainSpider, story, story_text
from tests.support.crawling import Crawled

PATHS = [f"/{number}" for number in range(4)]
MIDDLEWARE = {"noiseclean_scrapy.crawl.middleware.ClusterMiddleware": 543}
TIE = {"noiseclean_scrapy.crawl.middleware.ItemTieMiddleware": 10}
PIPELINE = {"noiseclean_scrapy.crawl.pipeline.CleanPipeline": 10}

PROGRESS = {"noiseclean_scrapy.crawl.progress.CrawlProgress": 500}

SPIDER = """
import scrapy

class StorySpider(scrapy.Spider):
    name = "story"

    def parse(self, response):
        yield {"url": response.url, "text": ""}
"""
SETTINGS = """
SPIDER_MODULES = ["stories"]
ADDONS = {"noiseclean_scrapy.Addon": 300}
LOG_LEVEL = "WARNING"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = stories.settings\n")
    (tmp_path / "stories").mkdir()
    (tmp_path / "stories" / "__init__.py").write_text(SPIDER)
    (tmp_path / "stories" / "settings.py").write_text(SETTINGS)
    return tmp_path


def scrapy(folder: Path, *arguments: str, code: int = 0) -> Done:
    return run_process(folder, sys.executable, "-m", "scrapy", *arguments, code=code)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["NOISECLEAN_DATABASE_URL=sqlite:////none/a.db"], "cannot open the database sqlite:"),
        pytest.param(
            ["NOISECLEAN_DATABASE_URL=postgresql+none://u:hush@localhost/a"],
            "the driver of",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["NOISECLEAN_METHOD=bogus"],
            "NOISECLEAN_METHOD must be one of",
            marks=pytest.mark.slow,
        ),
        (
            ['NOISECLEAN_METHOD_OPTIONS={"include_comments": "keep"}', "TWISTED_REACTOR_ENABLED=0"],
            "the option 'include_comments' of the method 'evidence' must be True or False, "
            "not 'keep'",
        ),
    ],
)
def test_what_keeps_a_crawl_from_beginning_is_one_line_and_an_exit_code(
    project: Path, settings: list[str], message: str
) -> None:
    options = [part for setting in settings for part in ("-s", setting)]
    start = ("-a", "start_urls=http://127.0.0.1:1/")
    done = scrapy(project, "crawl", "story", *start, *options, code=1)
    (line,) = (line for line in done.stderr.splitlines() if "ERROR" in line)
    assert message in line
    assert "hush" not in done.stderr
    assert not list(project.glob("*.db"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("shell", "{url}", "-c", "response.css('h1::text').get()"),
        ("parse", "--spider=story", "--pipelines", "{url}"),
        pytest.param(("fetch", "{url}"), marks=pytest.mark.slow),
    ],
)
def test_a_look_at_a_page_leaves_nothing_behind(project: Path, command: tuple[str, ...]) -> None:
    with crawl_site.serve({"/1": story(1), "/robots.txt": ""}) as server:
        arguments = [argument.format(url=f"{server.url}/1") for argument in command]
        done = scrapy(project, *arguments)
        assert "Story 1" in done.stdout
        assert "noiseclean" not in done.stderr
        assert {path.name for path in project.iterdir()} <= {"scrapy.cfg", "stories"}

        # What a crawl has stored is used, and stays as it is.
        database = f"sqlite:///{project}/noiseclean.db"
        Store(database).close()
        scrapy(project, *arguments)
        with Store(database, read_only=True) as store:
            assert store.pages.count().pages == 0


@pytest.mark.slow
def test_what_a_look_did_not_count_is_not_told(project: Path) -> None:
    with crawl_site.serve({"/1": story(1), "/robots.txt": ""}) as server:
        look = ("parse", "--spider=story", "--pipelines", "-s", "LOG_LEVEL=INFO")
        done = scrapy(project, *look, f"{server.url}/1")
    (line,) = (line for line in done.stderr.splitlines() if "noiseclean: " in line)
    _, _, told = line.partition("noiseclean: ")
    assert told == (
        "1 page seen in 1 cluster, 0 newly learned, 0 trees built, 1 item cleaned; "
        "nothing stored, as it only reads"
    )


@pytest.mark.parametrize("path", [*MIDDLEWARE, *TIE, *PIPELINE, *PROGRESS])
def test_components_keep_the_names_that_settings_had(path: str) -> None:
    assert load_object(path.replace(".crawl.", ".")) is load_object(path)


class AnonymousSpider(ChainSpider):
    """Its items have no address."""

    name = "anonymous"


class AddressSpider(ChainSpider):
    name = "address"

    def parse(self, response: Any, number: int) -> Any:
        for output in super().parse(response, number):
            yield {"url": response.url, "title": 0} if isinstance(output, dict) else output


def crawl_by_hand(folder: Path, spider: type[ChainSpider], **components: Any) -> Crawled:
    pages = {path: story(n) for n, path in enumerate(PATHS)}
    crawled = crawling.crawl_pages(folder, spider, pages, components, addons={})
    assert crawled.error == ""
    return crawled


def texts(crawled: Crawled) -> list[str | None]:
    return [item.get("text") for item in crawled.items]


STORIES = [story_text(number) for number in range(len(PATHS))]


def test_three_components_by_hand_give_every_item_its_text(tmp_path: Path) -> None:
    components = {"DOWNLOADER_MIDDLEWARES": MIDDLEWARE, "SPIDER_MIDDLEWARES": TIE}
    crawled = crawl_by_hand(tmp_path, AnonymousSpider, ITEM_PIPELINES=PIPELINE, **components)
    assert [text and text.splitlines()[0] for text in texts(crawled)] == [
        text.splitlines()[0] for text in STORIES
    ]
    assert crawled.lines("WARNING") == []


@pytest.mark.slow
def test_without_the_tie_a_warning_names_the_missing_line(tmp_path: Path) -> None:
    components = {"DOWNLOADER_MIDDLEWARES": MIDDLEWARE, "ITEM_PIPELINES": PIPELINE}
    crawled = crawl_by_hand(tmp_path, AnonymousSpider, **components)
    assert texts(crawled) == [None] * len(PATHS)
    (line,) = crawled.lines("WARNING")
    assert line.startswith("Items get a text only where their field url names their page: ")
    assert f"add {TIE} to SPIDER_MIDDLEWARES" in line
    crawled = crawl_by_hand(tmp_path, AddressSpider, **components)
    assert all(texts(crawled))


def test_the_pipeline_alone_says_what_is_missing(tmp_path: Path) -> None:
    crawled = crawl_by_hand(tmp_path, AddressSpider, ITEM_PIPELINES=PIPELINE)
    assert texts(crawled) == [None] * len(PATHS)
    first, second = crawled.lines("WARNING")
    assert first.startswith("No page is learned, and no item gets a text: ")
    assert f"add {MIDDLEWARE} to DOWNLOADER_MIDDLEWARES" in first
    assert f"add {TIE} to SPIDER_MIDDLEWARES" in second


def test_the_middleware_alone_says_what_is_missing(tmp_path: Path) -> None:
    crawled = crawl_by_hand(tmp_path, AddressSpider, DOWNLOADER_MIDDLEWARES=MIDDLEWARE)
    (line,) = crawled.lines("WARNING")
    assert f"add {PIPELINE} to ITEM_PIPELINES" in line


def test_the_values_of_a_spider_stay_where_they_are_false(tmp_path: Path) -> None:
    components = {"DOWNLOADER_MIDDLEWARES": MIDDLEWARE, "SPIDER_MIDDLEWARES": TIE}
    crawled = crawl_by_hand(tmp_path, AddressSpider, ITEM_PIPELINES=PIPELINE, **components)
    assert [item["title"] for item in crawled.items] == [0] * len(PATHS)


def test_the_addon_has_a_short_name_and_what_is_lazy_is_listed() -> None:
    assert load_object("noiseclean_scrapy.Addon") is load_object("noiseclean_scrapy.addon.Addon")
    assert set(noiseclean_scrapy.__all__) <= set(dir(noiseclean_scrapy))
    for name in noiseclean_scrapy.__all__:
        assert getattr(importlib.import_module("noiseclean_scrapy"), name).__name__ == name


def test_a_topic_without_revisits_adds_no_component_for_them() -> None:
    for revisits in (0, 3):
        settings = Settings({"NOISECLEAN_TOPIC": "wind power", "NOISECLEAN_REVISITS": revisits})
        Addon().update_settings(settings)
        names = [component.__name__ for component in settings.getdict("EXTENSIONS")]
        assert ("HubRevisits" in names) is (revisits > 0)


def test_a_representation_has_all_digits() -> None:
    cleaner = SiteCleaner("style-tree")
    cleaner.observe(story(1))
    for _ in range(20):
        cleaner.merge(SiteCleaner.from_bytes(cleaner.to_bytes()))
    assert repr(cleaner) == "SiteCleaner(method='style-tree', pages=1048576)"
    cleaner.decay(0.3)
    assert repr(cleaner) == "SiteCleaner(method='style-tree', pages=314572.8)"


def test_representations_are_short() -> None:
    cleaner = SiteCleaner("style-tree")
    cleaner.observe(story(1))
    assert repr(cleaner) == "SiteCleaner(method='style-tree', pages=1)"
    page = cleaner.clean("<title>A</title><p>four", url="http://a.org/")
    assert isinstance(page, CleanPage)
    assert repr(page) == "CleanPage(url='http://a.org/', title='A', characters=4)"
    addon = Addon()
    assert repr(addon) == "Addon()"
    addon.update_settings(
        Settings({"NOISECLEAN_DATABASE_URL": "postgresql://anna:hush@localhost/a"})
    )
    assert repr(addon) == ("Addon(method='evidence', database='postgresql://anna:***@localhost/a')")


def test_the_settings_are_read_once_for_all_components(tmp_path: Path) -> None:
    class Once(Settings):
        """Counts how often all settings are gone through."""

        readings = 0

        def items(self) -> Any:
            type(self).readings += 1
            return super().items()

    crawler = Crawler(ChainSpider, Once({"NOISECLEAN_TOPIC": "wind power"}))
    before = Once.readings
    assert config_of(crawler) is config_of(crawler)
    assert Once.readings == before + 1


def test_the_spark_job_names_its_extra(tmp_path: Path) -> None:
    code = (
        "import runpy, sys; sys.modules['pyarrow'] = None; "
        "runpy.run_module('noiseclean_scrapy.batch.spark', run_name='__main__')"
    )
    done = run_process(tmp_path, sys.executable, "-c", code, code=1)
    assert done.stderr.endswith("pip install 'noiseclean-scrapy[spark]'\n")
    assert len(done.stderr.splitlines()) == 1
