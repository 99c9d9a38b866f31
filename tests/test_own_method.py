"""A method of the user's own, the one of docs/other-methods.md: everything takes it by its path."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError, TreeDataError, UnknownMethodError
from noiseclean_scrapy.methods import method_parameters
from noiseclean_scrapy.methods.style_tree import StyleTreeMethod, StyleTreeModel
from noiseclean_scrapy.store import Store
from tests.support import crawl_site, crawling
from tests.support.command_line import (
    ROOT,
    noiseclean,
    run_console,
    run_process,
    run_scrapy,
    scrapy_command,
)
from tests.support.crawl_site import NOISE, ChainSpider, story, story_text

PATH = "my_methods.RareLines"
PAGES = [f"<p>Menu</p><p>Story {number}</p>" for number in range(4)]
SPIDER = """
import scrapy

class StorySpider(scrapy.Spider):
    name = "story"

    def parse(self, response):
        yield {"url": response.url, "text": ""}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path that holds the module of the documentation."""
    page = (ROOT / "docs" / "other-methods.md").read_text(encoding="utf-8")
    (source,) = re.findall(r'```python\n("""my_methods.py""".*?)```', page, re.DOTALL)
    (tmp_path / "my_methods.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("my_methods", None)


def test_a_cleaner_learns_with_it(folder: Path) -> None:
    cleaner = SiteCleaner(PATH)
    for page in PAGES:
        cleaner.observe(page)
    assert cleaner.clean(PAGES[2]).text == "Story 2"
    assert [block.evidence for block in cleaner.clean(PAGES[2]).blocks] == [
        {"pages": 1.0},
        {"pages": 0.25},
    ]
    again = SiteCleaner.from_bytes(cleaner.to_bytes())
    again.merge(cleaner)
    again.decay(0.5)
    assert (again.method, again.pages, again.clean(PAGES[1]).text) == (PATH, 4, "Story 1")
    by_class = SiteCleaner(type(cleaner._method), most=1.0)
    assert by_class.method == PATH
    assert by_class.clean(PAGES[0]).text == "Menu\nStory 0"


def test_its_options_are_checked(folder: Path) -> None:
    config = Config.from_settings(
        {"NOISECLEAN_METHOD": PATH, "NOISECLEAN_METHOD_OPTIONS": {"most": 0.25}}
    )
    assert config.all_method_options == {"most": 0.25}
    with pytest.raises(ConfigurationError, match=r"'most' .* must be a number from 0 to 1, not 2"):
        SiteCleaner(PATH, most=2)


class Open(StyleTreeMethod):
    """Has options that are annotated in ways of its own."""

    def __init__(  # type: ignore[no-untyped-def]
        self,
        least=3,
        *,
        names: list[str] | None = None,
        ratio: float = 0.5,
        of: Any = None,
        **others: Any,
    ) -> None:
        super().__init__(**others)


def test_options_may_be_annotated_in_any_way_or_not_at_all() -> None:
    assert method_parameters(f"{__name__}.Open") == ("least", "names", "ratio", "of")
    SiteCleaner(Open, least=4, names=["a"], ratio=1, of=[], threshold=0.5)
    SiteCleaner(Open, names=None, ratio=0.3)
    with pytest.raises(ConfigurationError, match=r"must be list\[str\] or None, not 'a'"):
        SiteCleaner(Open, names="a")
    with pytest.raises(ConfigurationError, match="must be float, not True"):
        SiteCleaner(Open, ratio=True)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("my_methods.Absent", "has no attribute 'Absent'"),
        ("no_methods.RareLines", "No module named 'no_methods'"),
        ("my_methods.Counter", "is no class that derives from Method"),
        ("my_methods.Method", "lacks: decay, merge, model, observe, pages, restore, state"),
        ("bogus", "there is no method 'bogus'; the methods are: block-entropy"),
    ],
)
def test_what_is_no_method_is_told(folder: Path, path: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        SiteCleaner(path)
    with pytest.raises(ConfigurationError, match="NOISECLEAN_METHOD must be one of "):
        Config.from_settings({"NOISECLEAN_METHOD": path})


def test_no_data_chooses_what_is_imported(folder: Path) -> None:
    tree = SiteCleaner(PATH).to_bytes()
    del sys.modules["my_methods"]
    with pytest.raises(UnknownMethodError, match=r"'my_methods\.RareLines' is unknown here"):
        SiteCleaner.from_bytes(tree)
    with pytest.raises(TreeDataError, match="name it in NOISECLEAN_METHOD"):
        Config().of_tree(PATH)
    assert "my_methods" not in sys.modules


@pytest.mark.slow
@pytest.mark.parametrize("writer", [False, True])
def test_a_crawl_and_the_commands_take_it(folder: Path, writer: bool) -> None:
    settings = f"""
SPIDER_MODULES = ["stories"]
ADDONS = {{"noiseclean_scrapy.Addon": 300}}
NOISECLEAN_METHOD = "{PATH}"
NOISECLEAN_WRITER_PROCESS = {writer}
"""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = stories.settings\n")
    (folder / "stories").mkdir()
    (folder / "stories" / "settings.py").write_text(settings)
    pages = {f"/{number}": story(number) for number in range(6)}
    with crawl_site.serve({**pages, "/robots.txt": ""}) as server:
        urls = [f"{server.url}{path}" for path in pages]
        (folder / "stories" / "__init__.py").write_text(f"{SPIDER}\n    start_urls = {urls!r}\n")
        run_scrapy(folder, "crawl", "story")
        back = ("-s", "NOISECLEAN_METHOD=evidence", "-s", "NOISECLEAN_READ_ONLY=1")
        told = run_scrapy(folder, "crawl", "story", *back).stderr
        assert f"has learned by {PATH} get no text: name it in NOISECLEAN_METHOD" in told
        assert "stay with it" not in told
    database = f"sqlite:///{folder}/noiseclean.db"
    with Store(database, read_only=True) as store:
        (site,) = store.clusters.all()
        texts = {page.url: page.cleaned.text for page in store.pages.with_text() if page.cleaned}
    assert (site.method, site.version) == (PATH, 1)
    assert len(texts) == 6
    for url, text in texts.items():
        assert story_text(int(url[-1])) in text
        assert NOISE not in text

    # In the project the settings name the class; elsewhere the command must.
    shown = run_console(folder, "explain", next(iter(texts)))
    assert f"judged by {PATH}, tree version 1" in shown.stdout
    assert "its importance is" in shown.stdout
    done = noiseclean(folder, "check", "--database", database)
    assert "6 pages stored, 0 things damaged" in done.stderr
    again = run_console(folder, "reclean", "--method", PATH)
    assert "6 of 6 pages cleaned again" in again.stderr


class Hesitant(StyleTreeMethod):
    """Has nothing to clean with before it has learned a page."""

    def model(self) -> StyleTreeModel:
        raise LookupError("nothing is learned")


@pytest.mark.slow
def test_a_method_that_cannot_begin_is_told_in_a_line(tmp_path: Path) -> None:
    settings = {"NOISECLEAN_METHOD": f"{__name__}.Hesitant"}
    crawled = crawling.crawl_pages(tmp_path, ChainSpider, {"/0": story(0)}, settings, paths=["/0"])
    (line,) = crawled.lines("ERROR", logger="")
    assert line == (
        f"the method '{__name__}.Hesitant' cannot clean a page before it has learned one: "
        "LookupError('nothing is learned')"
    )
    assert crawled.stats["finish_reason"] == "noiseclean_method_error"
    assert "Traceback" not in crawled.log


OWN = """
import scrapy
from scrapy.crawler import CrawlerProcess

from noiseclean_scrapy.methods.style_tree import StyleTreeMethod

class Mine(StyleTreeMethod):
    pass

class OwnSpider(scrapy.Spider):
    name = "own"
    start_urls = ["http://127.0.0.1:1/"]
    custom_settings = {
        "ADDONS": {"noiseclean_scrapy.Addon": 300},
        "NOISECLEAN_METHOD": Mine,
        "NOISECLEAN_WRITER_PROCESS": True,
    }

if __name__ == "__main__":
    process = CrawlerProcess()
    process.crawl(OwnSpider)
    process.start()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "method", "code"),
    [
        (scrapy_command("runspider", "spiders/own.py"), "own.Mine", 1),
        ([sys.executable, "spiders/own.py"], "__main__.Mine", 0),
    ],
)
def test_a_class_that_the_writing_process_cannot_import_is_told_at_the_start(
    tmp_path: Path, command: list[str], method: str, code: int
) -> None:
    (tmp_path / "spiders").mkdir()
    (tmp_path / "spiders" / "own.py").write_text(OWN, encoding="utf-8")
    told = run_process(tmp_path, *command, code=code).stderr
    (line,) = (line for line in told.splitlines() if "ERROR" in line)
    told_of = f"NOISECLEAN_WRITER_PROCESS: in the process that writes the method '{method}' cannot"
    assert f"{told_of} be imported" in line
    assert "put the class into a module on Python's path, or leave the setting off" in line
    assert "'finish_reason': 'noiseclean_method_error'" in told
