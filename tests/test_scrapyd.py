"""A project with the add-on, deployed to a real Scrapyd and run by it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.support import crawl_site
from tests.support.command_line import environment, run_process
from tests.support.databases import read_rows
from tests.support.documents import write_files
from tests.support.services import give_up
from tests.support.tutorial import free_port

pytestmark = [pytest.mark.slow, pytest.mark.services]

STORIES = 6
SPIDER = """
import scrapy


class NewsSpider(scrapy.Spider):
    name = "news"
    start_urls = [{addresses}]

    def parse(self, response):
        yield {{"url": response.url}}
"""
CONFIGURATION = """
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.2
max_proc = 1
items_dir = items
"""
_SECONDS = 120


@contextmanager
def scrapyd(folder: Path) -> Iterator[str]:
    """The address of a Scrapyd that was started in `folder`."""
    port = free_port()
    (folder / "scrapyd.conf").write_text(CONFIGURATION.format(port=port))
    log = (folder / "scrapyd.log").open("w")
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("scrapyd"))],
        cwd=folder,
        env=environment(),
        stdout=log,
        stderr=log,
    )
    address = f"http://127.0.0.1:{port}/"
    try:
        wait_until(lambda: "started" in (folder / "scrapyd.log").read_text(), process)
        yield address
    finally:
        process.terminate()
        process.wait(_SECONDS)
        log.close()


def wait_until(is_so: Any, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _SECONDS
    while not is_so():
        assert process.poll() is None, "Scrapyd has ended"
        assert time.monotonic() < end, "Scrapyd does not answer"
        time.sleep(0.1)


def ask(address: str, **fields: str) -> dict[str, Any]:
    data = urlencode(fields).encode() if fields else None
    with urlopen(address, data, timeout=_SECONDS) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def run(folder: Path, program: str, *arguments: str) -> str:
    return run_process(folder, str(Path(sys.executable).with_name(program)), *arguments).stdout


def test_a_deployed_project_learns_from_job_to_job(tmp_path: Path) -> None:
    if not find_spec("scrapyd") or not find_spec("scrapyd_client"):
        give_up("needs pip install scrapyd scrapyd-client")
    run(tmp_path, "scrapy", "startproject", "courier")
    project, service, data = (tmp_path / name for name in ("courier", "service", "data"))
    service.mkdir()
    data.mkdir()
    pages = {f"/{number}": crawl_site.story(number) for number in range(STORIES)}
    with crawl_site.serve(pages) as server, scrapyd(service) as address:
        addresses = ", ".join(repr(server.url + path) for path in pages)
        spider = SPIDER.format(addresses=addresses)
        (project / "courier" / "spiders" / "news.py").write_text(spider)
        places = {"http://localhost:6800/": address, "/var/lib/noiseclean": str(data)}
        write_files("scrapyd.md", project, places)
        with (project / "courier" / "settings.py").open("a") as settings:
            settings.write("DOWNLOAD_DELAY = 0\nROBOTSTXT_OBEY = False\n")
        run(project, "scrapyd-deploy", "local")
        spiders = ask(f"{address}listspiders.json?project=courier")["spiders"]
        assert spiders == ["news"]
        assert list(data.iterdir()) == []
        first = finished_job(address, service)
        second = finished_job(address, service, setting="NOISECLEAN_READ_ONLY=1")
    assert all(count == 2 for count in server.requests.values())
    for job in (first, second):
        feed = service / "items" / "courier" / "news" / f"{job}.jl"
        texts = sorted(json.loads(line)["text"] for line in feed.read_text().splitlines())
        if job == second:
            assert texts == [crawl_site.story_text(number) for number in range(STORIES)]
        assert len(texts) == STORIES
    database = f"sqlite:///{data}/courier.db"
    rows = read_rows(database, "SELECT text FROM noiseclean_page ORDER BY text")
    assert [row[0] for row in rows] == [crawl_site.story_text(n) for n in range(STORIES)]
    # Nothing lies where Scrapyd was started, but its own queue.
    assert {path.parent.name for path in tmp_path.rglob("*.db*")} == {"dbs", "data"}


def finished_job(address: str, service: Path, **fields: str) -> str:
    """Schedule the spider, wait for its end; the job's name."""
    job: str = ask(f"{address}schedule.json", project="courier", spider="news", **fields)["jobid"]
    end = time.monotonic() + _SECONDS
    while job not in {
        one["id"] for one in ask(f"{address}listjobs.json?project=courier")["finished"]
    }:
        assert time.monotonic() < end, "the job does not end"
        time.sleep(0.2)
    log = (service / "logs" / "courier" / "news" / f"{job}.log").read_text()
    assert "'finish_reason': 'finished'" in log, log
    assert "'log_count/ERROR'" not in log, log
    return job
