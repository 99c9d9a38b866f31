"""What a crawl tells of itself: lines in the log, and a display on a real terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import crawl_site, crawling
from tests.support.command_line import read_terminal
from tests.support.crawl_site import ChainSpider

PAGES = 7
PATHS = [f"/{number}" for number in range(PAGES)]
LOGGER = "noiseclean_scrapy.crawl.progress"
ESCAPE = "\x1b"
ERASE_LINE = f"{ESCAPE}[2K"
SHOW_CURSOR = f"{ESCAPE}[?25h"

SPIDER = f"""
from tests.support.crawl_site import ChainSpider

class OnTerminal(ChainSpider):
    paths = {PATHS}

    def parse(self, response, number):
        print("printed by the spider")
        self.logger.info("page [bold]%d[/bold]", number)
        yield from super().parse(response, number)
"""


def slow(seconds: float, number: int) -> Callable[[int], str]:
    """A page that takes its time, in which the crawl has nothing else to do."""

    def answer(requests: int) -> str:
        time.sleep(seconds)
        return crawl_site.story(number)

    return answer


def pages() -> dict[str, Any]:
    return {
        path: slow(0.6, number) if number == PAGES - 1 else crawl_site.story(number)
        for number, path in enumerate(PATHS)
    }


def crawl_slowly(
    folder: Path, settings: Mapping[str, Any], reactor: str = crawling.ASYNCIO
) -> crawling.Crawled:
    return crawling.crawl_pages(folder, ChainSpider, pages(), settings, reactor=reactor)


@pytest.mark.parametrize(
    "reactor",
    [
        crawling.ASYNCIO,
        pytest.param(crawling.SELECT, marks=pytest.mark.slow),
        pytest.param(crawling.NO_REACTOR, marks=pytest.mark.slow),
    ],
)
def test_a_line_tells_how_far_the_crawl_is(tmp_path: Path, reactor: str) -> None:
    settings = {"LOGSTATS_INTERVAL": 0.1, "NOISECLEAN_SAMPLE_QUOTA": 4}
    crawled = crawl_slowly(tmp_path, settings, reactor)
    lines = crawled.lines("INFO", LOGGER)
    # The tree of the first four pages wrote them; the fourth waits again, now with its text.
    expected = (
        r"noiseclean: 6 pages \(at \d+ pages/min\) in 1 cluster, "
        rf"1 tree built, {noise_of_first(crawled, 6):.0%} noise, 3 pages waiting"
    )
    assert any(re.fullmatch(expected, line) for line in lines), lines
    counts = [int(line.split()[1]) for line in lines]
    assert counts == sorted(counts)
    assert crawled.lines("ERROR", "") == crawled.lines("WARNING") == []
    assert len(crawled.items) == PAGES


def test_figures_that_nobody_keeps_are_left_out(tmp_path: Path) -> None:
    collector = "scrapy.statscollectors.DummyStatsCollector"
    crawled = crawl_slowly(tmp_path, {"LOGSTATS_INTERVAL": 0.1, "STATS_CLASS": collector})
    lines = crawled.lines("INFO", LOGGER)
    assert lines
    for line in lines:
        assert re.fullmatch(r"noiseclean: \d+ pages? waiting", line)
    summary = crawled.lines("INFO", "noiseclean_scrapy.crawl.pipeline")
    assert summary == ["noiseclean: stored in sqlite:///noiseclean.db"]
    assert len(crawled.items) == PAGES


def noise_of_first(crawled: crawling.Crawled, number: int) -> float:
    """The share of characters that the items' texts lack, counted on the pages themselves."""
    visible = kept = 0
    for item in crawled.items[:number]:
        story = crawl_site.story_text(int(item["path"][1:]))
        around = ["Home", crawl_site.NOISE, crawl_site.RIGHTS]
        visible += sum(map(len, [*story.splitlines(), *around]))
        kept += sum(map(len, item["text"].splitlines()))
    return 1 - kept / visible


@pytest.mark.slow
def test_the_rate_is_that_since_the_line_before(tmp_path: Path) -> None:
    crawled = crawl_slowly(tmp_path, {"LOGSTATS_INTERVAL": 0.1})
    before = 0
    for line in crawled.lines("INFO", LOGGER):
        found = re.search(r"(\d+) pages? \(at (\d+) pages/min\)", line)
        assert found
        assert int(found[2]) == (int(found[1]) - before) * 600
        before = int(found[1])
    assert before >= PAGES - 1


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"LOGSTATS_INTERVAL": 0}, {"LOGSTATS_INTERVAL": 60}])
def test_no_line_is_due(tmp_path: Path, settings: dict[str, Any]) -> None:
    crawled = crawl_slowly(tmp_path, settings)
    assert crawled.lines("", LOGGER) == []
    assert len(crawled.items) == PAGES


@pytest.mark.slow
def test_a_crawl_without_pages_has_no_noise(tmp_path: Path) -> None:
    def late(_request: int) -> crawl_site.Answer:
        time.sleep(0.4)
        return crawl_site.Answer(status=404)

    settings = {"LOGSTATS_INTERVAL": 0.1}
    crawled = crawling.crawl_pages(tmp_path, ChainSpider, {"/0": late}, settings)
    line = "noiseclean: 0 pages (at 0 pages/min) in 0 clusters, 0 trees built, 0 pages waiting"
    assert crawled.lines("INFO", LOGGER)[0] == line


class Terminal:
    """A crawl of ours in a process whose stderr, or more, is a terminal."""

    def __init__(self, folder: Path, *arguments: str, term: str = "xterm-256color") -> None:
        self.feed = folder / "items.jsonl"
        spider = folder / "on_terminal.py"
        spider.write_text(SPIDER)
        self.command = [
            *(sys.executable, "-W", "error", "-m", "scrapy", "runspider", str(spider)),
            *("-s", f"ADDONS={json.dumps(crawling.ADDON)}", "-s", "TELNETCONSOLE_ENABLED=False"),
            *("-s", "NOISECLEAN_LIVE=True", "-s", "NOISECLEAN_SAMPLE_QUOTA=4"),
            *("-o", str(self.feed), "-L", "INFO", *arguments),
        ]
        path = str(Path(__file__).resolve().parents[1])
        kept = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
        self.options: dict[str, Any] = {
            "cwd": folder,
            "env": {**kept, "PYTHONPATH": path, "TERM": term, "COLUMNS": "100"},
        }

    def run(self, hang_up_after: bytes | None = None) -> str:
        """All that the terminal is sent.

        After some bytes it may go away; it is the terminal of stderr alone then, since what a
        spider prints would fail.
        """
        with crawl_site.serve(pages()) as server:
            return read_terminal(
                [*self.command, "-a", f"url={server.url}"],
                stdout=not hang_up_after,
                hang_up_after=hang_up_after,
                **self.options,
            )

    def run_piped(self) -> tuple[str, str]:
        """What goes to stdout and stderr when both are pipes."""
        with crawl_site.serve(pages()) as server:
            command = [*self.command, "-a", f"url={server.url}"]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, **self.options
            )
        return done.stdout, done.stderr

    @property
    def numbers(self) -> list[str]:
        """The paths of the items in the feed."""
        return [json.loads(line)["path"] for line in self.feed.read_text().splitlines()]


needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
ENDED = r"pages 7  clusters 1  trees 2  noise \d+%  waiting 0"


@pytest.mark.slow
@needs_terminal
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-s", "TWISTED_REACTOR_ENABLED=False"),
        ("-s", f"TWISTED_REACTOR={crawling.SELECT}", "-s", "LOGSTATS_INTERVAL=0"),
    ],
)
def test_a_terminal_shows_the_crawl_below_its_log(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    terminal = Terminal(tmp_path, *arguments)
    output = terminal.run()
    plain = re.sub(rf"{ESCAPE}\[[\d;?]*[A-Za-z]", "", output).replace("\r", "")
    assert re.search(rf"\d\d:\d\d  {ENDED}", plain), plain
    # While the last page is on its way, the other six are seen.
    assert re.search(r"pages 6  clusters 1  trees 1  noise \d+%  waiting 3", plain)
    assert re.search(r"127\.0\.0\.1:\d+ +6 +4 +1", plain)
    assert re.search(rf"{re.escape(ERASE_LINE)}20\d\d-.*INFO: page \[bold\]6\[/bold\]", output)
    assert plain.count("printed by the spider") == PAGES
    assert output.count(SHOW_CURSOR) == 1
    assert "Traceback" not in plain
    assert terminal.numbers == PATHS


@pytest.mark.slow
def test_a_pipe_gets_no_display(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    stdout, stderr = terminal.run_piped()
    assert ESCAPE not in stdout + stderr
    assert "clusters 1" not in stderr
    assert stdout.splitlines() == ["printed by the spider"] * PAGES
    assert terminal.numbers == PATHS


@pytest.mark.slow
@needs_terminal
def test_a_dumb_terminal_gets_no_display(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, term="dumb")
    assert ESCAPE not in terminal.run()
    assert terminal.numbers == PATHS


@pytest.mark.slow
@needs_terminal
def test_a_terminal_that_goes_away_does_not_stop_the_crawl(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "--logfile", "crawl.log")
    terminal.run(hang_up_after=b"pages")
    assert terminal.numbers == PATHS
    log = (tmp_path / "crawl.log").read_text()
    assert "Traceback" not in log
    assert "noiseclean: 7 pages seen in 1 cluster" in log
