"""Pages whose text a script writes, fetched by scrapy-playwright in a real Chromium."""

from __future__ import annotations

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support import crawl_site
from tests.support.browsing import CHROMIUM, FLAGS
from tests.support.command_line import run_process
from tests.support.databases import read_rows
from tests.support.documents import write_files
from tests.support.services import give_up

pytestmark = [pytest.mark.slow, pytest.mark.services]

STORIES = 4


def written_by_a_script(number: int) -> str:
    """A story of the newspaper that stands in a script; the markup has the template only."""
    story = json.dumps(crawl_site.story_text(number).splitlines())
    links = "".join(f'<li><a href="/{other}">Story {other}</a></li>' for other in range(STORIES))
    return (
        f"<html><head><title>Courier</title></head><body><ul><li>{crawl_site.NOISE}</li>{links}"
        f'</ul><div id="story"></div><footer><p>{crawl_site.RIGHTS}</p></footer><script>'
        f"setTimeout(() => {story}.forEach((line, index) => {{"
        'const part = document.createElement(index ? "p" : "h1"); part.textContent = line;'
        'document.getElementById("story").append(part); }), 100);</script></body></html>'
    )


def test_the_text_that_a_script_writes_is_cleaned_and_stored(tmp_path: Path) -> None:
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None or not find_spec("scrapy_playwright"):
        give_up("needs Chromium (apt-get install chromium) and pip install scrapy-playwright")
    pages = {"/": written_by_a_script(0)}
    pages |= {f"/{number}": written_by_a_script(number) for number in range(STORIES)}
    with crawl_site.serve(pages) as server:
        write_files("scrapy-playwright.md", tmp_path, {"https://news.example.com": server.url})
        options = {"executable_path": chromium, "args": FLAGS}
        with (tmp_path / "settings.py").open("a") as settings:
            settings.write(f"PLAYWRIGHT_LAUNCH_OPTIONS = {options!r}\n")
        command = (sys.executable, "-m", "scrapy", "runspider", "news.py", "-O", "items.jsonl")
        run_process(tmp_path, *command, SCRAPY_SETTINGS_MODULE="settings")
    assert server.requests["/1"] == 1
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    stories = [crawl_site.story_text(number) for number in range(STORIES)]
    # The front page shows the first story.
    assert sorted(item["text"] for item in items) == sorted([stories[0], *stories])
    assert {item["title"] for item in items} == {text.splitlines()[0] for text in stories}
    rows = read_rows(f"sqlite:///{tmp_path}/noiseclean.db", "SELECT text FROM noiseclean_page")
    assert sorted(row[0] for row in rows) == sorted([stories[0], *stories])
