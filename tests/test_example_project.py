"""The example project as a new user runs it: real commands, real output, a real database."""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from example_project.demo import DemoServer, DemoSite
from example_project.scoring import Score, mean_score, score
from example_project.settings import NOISECLEAN_DATABASE_URL
from example_project.spiders.newspaper import NewspaperSpider
from noiseclean_scrapy.page.urls import site_name
from noiseclean_scrapy.store import Cleaned, PageRecord, Store
from tests.support.command_line import (
    Done,
    enter_project,
    environment,
    read_terminal,
    run_scrapy,
    scrapy_command,
)
from tests.support.crawl_site import write_pages
from tests.support.databases import stored_texts

DEMO_DATABASE = NOISECLEAN_DATABASE_URL.removeprefix("sqlite:///")
NO_DELAY = ("-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=False")


def run(folder: Path, *arguments: str, code: int = 0) -> Done:
    """`scrapy crawl` in a folder, its output piped; `code` is how it must end."""
    enter_project(folder)
    done = run_scrapy(folder, "crawl", *arguments, code=code, COLUMNS="100")
    assert "Traceback" not in done.stdout, done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    return done


def row(output: str, name: str) -> list[float]:
    """The numbers in the line of a table."""
    found = re.search(rf"^ *{re.escape(name)} +([\d.% ]+)$", output, re.MULTILINE)
    assert found, (name, output)
    return [float(number) for number in found[1].replace("%", "").split()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The demo's folder, its report and its log; an older run has left its database."""
    folder = tmp_path_factory.mktemp("demo")
    store_page(folder / DEMO_DATABASE, "http://127.0.0.1:1/")
    done = run(folder, "newspaper")
    assert "ERROR" not in done.stderr
    assert "WARNING" not in done.stderr
    return folder, done.stdout, done.stderr


@pytest.mark.slow
def test_demo_reports_what_it_did(demo: tuple[Path, str, str]) -> None:
    _, report, log = demo
    assert row(report, "Pages with clean text") == [186]
    assert row(report, "Page clusters") == [1]
    assert row(report, "Tree versions")[0] >= 3
    assert 10 < row(report, "Characters removed")[0] < 90
    assert "Pages 186, items 186, clusters 1, tree versions" in log
    assert re.search(r"^http://127.0.0.1:\d+/\S+\.html$", report, re.MULTILINE)
    assert re.search(r"^- Skip to content$", report, re.MULTILINE)
    assert f"Stored in  sqlite:///{DEMO_DATABASE}" in report
    assert "noiseclean search harbour\n" in report
    assert re.search(r"noiseclean explain http://127.0.0.1:\d+/\S+\.html$", report, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("pages", ["186 pages", "120 articles"])
def test_demo_text_is_far_more_precise_than_the_pages(
    demo: tuple[Path, str, str], pages: str
) -> None:
    visible_precision, visible_recall = row(demo[1], f"{pages}, all visible text")
    precision, recall = row(demo[1], f"{pages}, cleaned")
    assert visible_recall > 99
    assert precision > visible_precision + 15
    assert recall > 80


@pytest.mark.slow
def test_demo_stores_every_page(demo: tuple[Path, str, str]) -> None:
    folder, report, _ = demo
    texts = stored_texts(folder / DEMO_DATABASE)
    gold = {page.path: page.gold for page in DemoSite().pages.values()}
    assert {"/" + url.split("/", 3)[3] for url in texts} == gold.keys()
    assert all(texts.values())
    mean = mean_score(
        [score(text, gold["/" + url.split("/", 3)[3]]) for url, text in texts.items()]
    )
    shown = row(report, "186 pages, cleaned")
    assert shown == pytest.approx([100 * mean.precision, 100 * mean.recall], abs=0.06)


@pytest.mark.slow
def test_live_site_is_crawled_within_its_domain(tmp_path: Path) -> None:
    site = DemoSite(articles=20, seed=3)
    database, items = tmp_path / "live.db", tmp_path / "items.jsonl"
    with DemoServer(site) as server:
        done = run(
            tmp_path,
            "newspaper",
            *("-a", f"start_urls={server.url}/, {server.url}/about.html"),
            *("-s", f"NOISECLEAN_DATABASE_URL=sqlite:///{database}"),
            *("-O", str(items)),
            *NO_DELAY,
        )
        assert "/robots.txt" in server.requests
        urls = {server.url + path for path in site.pages}
    assert "ERROR" not in done.stderr
    assert stored_texts(database).keys() == urls
    assert {json.loads(line)["url"] for line in items.read_text().splitlines()} == urls
    assert row(done.stdout, "Pages with clean text") == [len(site.pages)]
    assert "Precision" not in done.stdout
    assert f"sqlite:///{database}" in done.stdout
    assert not (tmp_path / DEMO_DATABASE).exists()


@pytest.mark.slow
def test_items_on_stdout_are_not_mixed_with_the_report(tmp_path: Path) -> None:
    with DemoServer(DemoSite(articles=2)) as server:
        arguments = ("-a", f"start_urls={server.url}", "-O", "-:jsonlines", "-L", "INFO")
        done = run(tmp_path, "newspaper", *arguments, "-s", "CLOSESPIDER_PAGECOUNT=4", *NO_DELAY)
    assert all(json.loads(line)["text"] for line in done.stdout.splitlines())
    assert "Pages with clean text" in done.stderr
    assert "noiseclean: " in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_terminal_shows_progress_and_log_lines_above_it(tmp_path: Path) -> None:
    with DemoServer(DemoSite(articles=2)) as server:
        arguments = ("-a", f"start_urls={server.url}", "-L", "INFO")
        enter_project(tmp_path)
        output = read_terminal(
            scrapy_command("crawl", "newspaper", *arguments, *NO_DELAY),
            cwd=tmp_path,
            env=environment(TERM="xterm-256color", COLUMNS="100"),
        )
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", output).replace("\r", "")
    assert "\x1b[?25h" in output
    assert re.search(r"of 200 pages  \d+ s\nitems \d+   clusters 1   tree versions 1", text)
    erase_line = re.escape("\x1b[2K")
    assert re.search(rf"{erase_line}20\d\d-.*INFO: noiseclean: \d+ pages", output)
    assert "Pages with clean text" in text
    assert "Traceback" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "url",
    [
        "example.com",
        *(
            pytest.param(url, marks=pytest.mark.slow)
            for url in ("https://", "http://[::1", "https://exa mple.org")
        ),
    ],
)
def test_bad_address_gives_one_sentence(tmp_path: Path, url: str) -> None:
    done = run(tmp_path, "newspaper", "-a", f"start_urls={url}")
    errors = [line for line in done.stderr.splitlines() if "ERROR" in line]
    assert len(errors) == 1
    assert errors[0].endswith(
        f"start_urls must be web addresses such as https://example.com/news, not {url!r}"
    )
    assert done.stdout == ""


@pytest.mark.slow
def test_store_error_is_not_hidden_by_the_report(tmp_path: Path) -> None:
    database = "NOISECLEAN_DATABASE_URL=sqlite:////no/such/folder/x.db"
    done = run(tmp_path, "newspaper", "-s", database, code=1)
    assert len([line for line in done.stderr.splitlines() if "ERROR" in line]) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("database", "start_urls", "remains"),
    [
        (DEMO_DATABASE, "", False),
        ("other.db", "", True),
        (DEMO_DATABASE, "https://example.com/", True),
    ],
)
def test_the_demo_forgets_its_own_pages_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: str, start_urls: str, remains: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = ["http://127.0.0.1:8000/no-page-of-the-demo", "https://example.com/"]
    for url in ("http://127.0.0.1:1/", *mine):
        store_page(tmp_path / database, url)
    settings = Settings({"NOISECLEAN_DATABASE_URL": f"sqlite:///{database}"})
    NewspaperSpider.from_crawler(Crawler(NewspaperSpider, settings), start_urls=start_urls)
    with Store(f"sqlite:///{database}", read_only=True) as store:
        left = {
            page.url for site in store.clusters.all() for page in store.pages.with_text(site.name)
        }
    assert left == {*mine, *(["http://127.0.0.1:1/"] * remains)}


def store_page(database: Path, url: str) -> None:
    cleaned = Cleaned("Title", "Text", [], 1, 4, 4)
    page = PageRecord(
        url,
        site_name(url),
        url,
        "hash",
        datetime.now(timezone.utc),
        html="<p>Text",
        cleaned=cleaned,
    )
    with Store(f"sqlite:///{database}") as store:
        store.pages.write([page], method="evidence")


def test_allowed_domains_are_those_of_the_given_addresses() -> None:
    spider = NewspaperSpider(start_urls="https://www.example.com/news, http://localhost:8000/")
    assert spider.allowed_domains == ["example.com", "localhost"]


@pytest.mark.slow
def test_archive_of_html_files(tmp_path: Path) -> None:
    pages = [page for page in DemoSite(articles=20).pages.values() if page.kind == "article"]
    folder = write_pages(tmp_path / "pages", [page.html for page in pages])
    database, items = tmp_path / "archive.db", tmp_path / "items.jsonl"
    done = run(
        tmp_path,
        "archive",
        *("-a", f"source={folder}", "-O", str(items)),
        *("-s", f"NOISECLEAN_DATABASE_URL=sqlite:///{database}"),
    )
    assert "ERROR" not in done.stderr
    found = [json.loads(line) for line in items.read_text().splitlines()]
    assert [item["title"] for item in found] == [page.title for page in pages]
    texts = stored_texts(database)
    cleaned = mean_score(
        [score(texts[item["url"]], page.gold) for item, page in zip(found, pages, strict=True)]
    )
    assert cleaned.recall > 0.8
    assert cleaned.precision > 0.65


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        ("a b c d", "a b", Score(0.5, 1.0)),
        ("a a a", "a b a c", Score(2 / 3, 0.5)),
        ("Fog, über 12 Booten!", "über fog 12 booten", Score(1.0, 1.0)),
        ("x y", "a b", Score(0.0, 0.0)),
        ("", "a b", Score(0.0, 0.0)),
        ("a", "", Score(0.0, 1.0)),
        ("", "", Score(1.0, 1.0)),
    ],
)
def test_score(text: str, gold: str, expected: Score) -> None:
    assert score(text, gold) == expected


def test_mean_score_counts_pages_not_tokens() -> None:
    assert mean_score([Score(1.0, 0.5), Score(0.5, 0.0)]) == Score(0.75, 0.25)
