"""`scrapy noiseclean clean`: real archives, real crawls, interrupted runs."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from example_project.demo import DemoSite
from noiseclean_scrapy.batch.two_pass import (
    Learning,
    SiteCleaners,
    SourcePage,
    archive_pages,
    clean_source_page,
)
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.commands.forms import document_bytes
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.store import Store
from tests.support.archives import warc
from tests.support.command_line import (
    enter_project,
    environment,
    noiseclean,
    run_noiseclean,
    run_scrapy,
    scrapy_command,
)
from tests.support.crawl_site import Answer, PageServer, serve, story, story_text, write_pages

QUICK = ("-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=0")
STYLE_TREE = ("--method", "style-tree")
JSONL = ("--format", "jsonl")
RULES = ("--method", "satisfiable-subtree", "--option", "beta=0", "--option")
OTHERWISE = (*RULES, "alpha=10000")


def rows(text: str) -> list[dict[str, Any]]:
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


STORIES = [story(number) for number in range(6)]


@pytest.fixture
def news(tmp_path: Path) -> Path:
    """A folder of six stories of one site."""
    return write_pages(tmp_path / "news", STORIES)


def test_folder_gives_what_the_add_on_stores_at_last(tmp_path: Path) -> None:
    pages = [page for page in DemoSite(articles=8).pages.values() if page.kind == "article"]
    folder = write_pages(tmp_path / "demo", [page.html for page in pages])
    project = tmp_path / "project"
    project.mkdir()
    enter_project(project)
    arguments = ("crawl", "archive", "-a", f"source={folder}", "-s", "NOISECLEAN_SAMPLE_QUOTA=999")
    run_scrapy(project, *arguments)
    with Store(f"sqlite:///{project / 'noiseclean-demo.db'}", read_only=True) as store:
        stored = {page.url: page.cleaned for page in store.pages.with_text() if page.cleaned}
    done = noiseclean(tmp_path, "clean", folder, *JSONL)
    found = rows(done.stdout)
    assert [row["id"] for row in found] == [f"{n:02}.html" for n in range(8)]
    assert {row["url"]: (row["title"], row["text"]) for row in found} == {
        url: (cleaned.title, cleaned.text) for url, cleaned in stored.items()
    }
    assert {row["site"] for row in found} == {"demo.invalid"}
    assert [row["language"] for row in found] == [page.language for page in pages]
    assert "8 pages of 1 site cleaned" in done.stderr


def test_the_same_call_gives_the_same_bytes(tmp_path: Path, news: Path) -> None:
    noiseclean(tmp_path, "clean", news, "-o", "one.jsonl")
    done = noiseclean(tmp_path, "clean", news, *JSONL)
    assert (tmp_path / "one.jsonl").read_text(encoding="utf-8") == done.stdout
    assert [row["text"] for row in rows(done.stdout)] == [story_text(n) for n in range(6)]


def test_every_page_is_cleaned_with_all_pages_of_its_site(tmp_path: Path, news: Path) -> None:
    cleaner = SiteCleaner("style-tree")
    for html in STORIES:
        cleaner.observe(html)
    expected = [cleaner.clean(html).text for html in STORIES]
    done = noiseclean(tmp_path, "clean", news, *STYLE_TREE, *JSONL)
    assert [row["text"] for row in rows(done.stdout)] == expected
    lone = noiseclean(tmp_path, "clean", news / "00.html", *STYLE_TREE, *JSONL)
    assert rows(lone.stdout)[0]["text"] != expected[0]


def test_several_files_are_as_one_folder(tmp_path: Path, news: Path) -> None:
    files = sorted(news.glob("*.html"))
    whole = noiseclean(tmp_path, "clean", news, *STYLE_TREE, *JSONL).stdout
    assert noiseclean(tmp_path, "clean", *files, *STYLE_TREE, *JSONL).stdout == whole
    folders = [write_pages(tmp_path / name, STORIES[:2]) for name in ("one", "two")]
    both = rows(noiseclean(tmp_path, "clean", *folders, news / "05.html", *JSONL).stdout)
    assert [row["url"].split("/", 2)[2] for row in both] == [
        *("one.invalid/00.html", "one.invalid/01.html"),
        *("two.invalid/00.html", "two.invalid/01.html"),
        "news.invalid/05.html",
    ]


@pytest.mark.parametrize("other", ["http://a.example/", "-"])
def test_files_beside_addresses_or_standard_input_are_refused(
    tmp_path: Path, news: Path, other: str
) -> None:
    done = noiseclean(tmp_path, "clean", news, other, code=2)
    assert "several sources are files and folders, or addresses, not both" in done.stderr


HEADS = {"text": "Story 0\n", "markdown": "# Story 0\n", "html": "<h1>Story 0</h1>\n"}


@pytest.mark.parametrize("content", HEADS)
def test_rows_hold_the_content_that_is_asked_for(tmp_path: Path, news: Path, content: str) -> None:
    options = ("--content", content, *STYLE_TREE)
    lines = rows(noiseclean(tmp_path, "clean", news, "--format", "jsonl", *options).stdout)
    assert lines[0][content].startswith(HEADS[content])
    assert list(lines[0])[-1] == content
    assert not HEADS.keys() - {content} & lines[0].keys()
    assert noiseclean(tmp_path, "clean", news, "--format", "json", *options).json == lines
    table = noiseclean(tmp_path, "clean", news, "--format", "csv", *options).stdout
    found = list(csv.DictReader(io.StringIO(table, newline="")))
    assert [row | {"published": row["published"] or None} for row in found] == lines


@pytest.mark.parametrize("content", HEADS)
def test_documents_of_several_pages_have_their_addresses(
    tmp_path: Path, news: Path, content: str
) -> None:
    done = noiseclean(tmp_path, "clean", news, "--format", content)
    lines = rows(noiseclean(tmp_path, "clean", news, *JSONL, "--content", content).stdout)
    pages = [(row["url"], row[content]) for row in lines]
    expected = {
        "text": "\n".join(f"==> {url} <==\n{text}\n" for url, text in pages),
        "markdown": "\n---\n\n".join(f"<{url}>\n\n{text}\n" for url, text in pages),
        "html": "".join(f"<article>\n<p>{url}</p>\n{html}\n</article>\n" for url, html in pages),
    }
    assert done.stdout == expected[content]


@pytest.mark.parametrize("line", ["==> http://b.org/ <==", "==>  <== \t"])
def test_no_line_of_a_text_looks_like_another_page(line: str) -> None:
    row = {"url": "http://a.org/", "text": f"{line}\n==> Fog\n{line}\n{line}"}
    several = b"".join(document_bytes([row], "text", one=False)).decode()
    assert several == f"==> http://a.org/ <==\n {line}\n==> Fog\n {line}\n {line}\n"
    assert b"".join(document_bytes([row], "text", one=True)).decode() == f"{row['text']}\n"


def test_text_is_what_is_printed_of_one_page(tmp_path: Path, news: Path) -> None:
    alone = SiteCleaner()
    alone.observe(story(3))
    expected = alone.clean(story(3)).text + "\n"
    for source, stdin in (("-", story(3)), (str(news / "03.html"), "")):
        done = noiseclean(tmp_path, "clean", source, stdin=stdin)
        assert (done.stdout, done.stderr) == (expected, "")
    markdown = noiseclean(tmp_path, "clean", "-", "--format", "markdown", stdin=story(3)).stdout
    assert markdown.startswith("# Story 3\n\n")
    (row,) = noiseclean(tmp_path, "clean", "-", "--format", "json", stdin=story(3)).json
    assert (row["id"], row["url"], row["site"], row["text"]) == ("-", "", "", expected[:-1])
    nothing = noiseclean(tmp_path, "clean", "-", stdin=" ", code=1)
    assert nothing.stderr.endswith("clean: there is nothing on standard input\n")


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.json", "a.jsonl", "a.csv", "a"])
def test_the_name_of_the_file_tells_the_format(tmp_path: Path, news: Path, name: str) -> None:
    form = {".txt": "text", ".md": "markdown", "": "text"}.get(Path(name).suffix, name[2:])
    (tmp_path / name).touch()
    done = noiseclean(tmp_path, "clean", news, "-o", name)
    assert done.stderr == f"6 pages of 1 site cleaned, written to {name}\n"
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert written == noiseclean(tmp_path, "clean", news, "--format", form).stdout.replace(
        "\r\n", "\n"
    )


def test_a_name_that_tells_no_format_is_refused(tmp_path: Path, news: Path) -> None:
    done = noiseclean(tmp_path, "clean", news, "-o", "pages.xlsx", code=2)
    assert (
        "'pages.xlsx' tells no format: give a name that ends with .txt, .text, .md" in done.stderr
    )
    assert done.stderr.endswith(".jsonl, .ndjson, .csv, or --format\n")
    noiseclean(tmp_path, "clean", news, "-o", "pages.xlsx", "--format", "csv")
    assert (tmp_path / "pages.xlsx").read_text(encoding="utf-8").startswith("id,url,site,title,")
    wrong = noiseclean(tmp_path, "clean", news, "--content", "html", code=2)
    assert "--content is for --format json, jsonl and csv" in wrong.stderr


def test_options_of_the_method(tmp_path: Path, news: Path) -> None:
    eager = noiseclean(tmp_path, "clean", news, *RULES, "alpha=0")
    strict = noiseclean(tmp_path, "clean", news, *OTHERWISE)
    assert len(eager.stdout) > len(strict.stdout)
    done = noiseclean(tmp_path, "clean", news, "--option", "thickness=3", code=2)
    assert "the method 'evidence' has no option 'thickness'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_warc_learns_a_page_once_and_clusters_as_told(tmp_path: Path) -> None:
    pages = [(f"http://{host}.news.org/{n}", story(n)) for host in "ab" for n in range(3)]
    pages.append(pages[0])
    records = [("response", url, "text/html", html.encode()) for url, html in pages]
    (tmp_path / "news.warc.gz").write_bytes(warc(*records))
    options = (*STYLE_TREE, *JSONL)
    by_domain = rows(noiseclean(tmp_path, "clean", "news.warc.gz", *options).stdout)
    assert [row["url"] for row in by_domain] == [url for url, _ in pages]
    assert {row["site"] for row in by_domain} == {"news.org"}
    cleaner = SiteCleaner("style-tree")
    for _, html in pages[:-1]:
        cleaner.observe(html)
    assert by_domain[-1]["text"] == cleaner.clean(pages[-1][1]).text
    by_host = noiseclean(tmp_path, "clean", "news.warc.gz", *options, "--cluster-by", "host")
    assert [row["site"] for row in rows(by_host.stdout)][:4] == ["a.news.org"] * 3 + ["b.news.org"]
    assert "7 pages of 2 sites" in by_host.stderr


def test_settings_choose_pages(tmp_path: Path, news: Path) -> None:
    done = noiseclean(tmp_path, "clean", news, *JSONL, "-s", r"NOISECLEAN_DENY=0[1-4]\.html")
    assert [row["id"] for row in rows(done.stdout)] == ["00.html", "05.html"]


def test_a_file_is_read_as_far_as_the_settings_allow(tmp_path: Path) -> None:
    page = f"<p>{'The ferry sails again. ' * 1000}</p>" * 300 + "<p>At last it lands.</p>"
    (tmp_path / "page.html").write_text(page)
    for size, end in (("5000000", ""), ("50000000", "At last it lands.\n")):
        limit = f"NOISECLEAN_MAX_PAGE_BYTES={size}"
        done = noiseclean(tmp_path, "clean", "page.html", "-s", limit)
        assert done.stdout.endswith(end or "sails again.\n")


def test_damaged_pages_are_told_once(tmp_path: Path, news: Path) -> None:
    (news / "03.html.gz").write_bytes(gzip.compress(b"<p>cut")[:-4])
    done = noiseclean(tmp_path, "clean", news, *JSONL, code=1)
    assert len(rows(done.stdout)) == 6
    assert done.stderr.count("03.html.gz") == 1
    assert done.stderr.endswith("6 pages of 1 site cleaned (1 damaged)\n")


def test_cleaners_that_wait_in_files_change_nothing(tmp_path: Path) -> None:
    config = Config()
    pages = [
        SourcePage(f"{n}", f"http://{site}/{n}", site, story(n, noise=f"The noise of {site}"))
        for n in range(5)
        for site in ("a.org", "b.org", "c.org")
    ]

    def texts(folder: Path, sites_in_memory: int) -> list[str]:
        folder.mkdir()
        cleaners = SiteCleaners(config, folder, sites_in_memory=sites_in_memory)
        assert list(Learning(cleaners).learn(pages)) == pages
        assert len(cleaners) == 3
        assert len(list(folder.iterdir())) == (3 if sites_in_memory == 1 else 0)
        models = (cleaners[page.site].model() for page in pages)
        return [
            clean_source_page(page, model, config).page.text
            for page, model in zip(pages, models, strict=True)
        ]

    assert texts(tmp_path / "one", 1) == texts(tmp_path / "all", 3)


class TestResume:
    @pytest.fixture
    def complete(self, tmp_path: Path, news: Path) -> bytes:
        noiseclean(tmp_path, "clean", news, "-o", "out.jsonl")
        return (tmp_path / "out.jsonl").read_bytes()

    @pytest.mark.parametrize("kept", [0.0, 0.3, 0.5, 1.0])
    def test_goes_on_behind_the_last_complete_line(
        self, tmp_path: Path, news: Path, complete: bytes, kept: float
    ) -> None:
        (tmp_path / "out.jsonl").write_bytes(complete[: int(kept * len(complete))])
        noiseclean(tmp_path, "clean", news, "-o", "out.jsonl")
        assert (tmp_path / "out.jsonl").read_bytes() == complete

    def test_lines_that_are_there_are_not_written_again(
        self, tmp_path: Path, news: Path, complete: bytes
    ) -> None:
        lines = complete.splitlines(keepends=True)
        marked = lines[0].replace(b'"author": ""', b'"author": "Kept as it is"')
        assert marked != lines[0]
        (tmp_path / "out.jsonl").write_bytes(marked + lines[1] + lines[2][:20])
        noiseclean(tmp_path, "clean", news, "-o", "out.jsonl")
        assert (tmp_path / "out.jsonl").read_bytes() == marked + b"".join(lines[1:])

    def test_pages_without_text_are_counted_whichever_run_has_written_them(
        self, tmp_path: Path, news: Path
    ) -> None:
        for number in (1, 3, 5):
            (news / f"0{number}.html").write_text("<body><img src=a.png></body>")
        first = noiseclean(tmp_path, "clean", news, "-o", "out.jsonl")
        assert first.stderr.endswith("; 3 pages without text\n")
        assert noiseclean(tmp_path, "clean", news, "-o", "out.jsonl").stderr == first.stderr
        lines = (tmp_path / "out.jsonl").read_bytes().splitlines(keepends=True)
        (tmp_path / "out.jsonl").write_bytes(b"".join(lines[:4]) + lines[4][:9])
        assert noiseclean(tmp_path, "clean", news, "-o", "out.jsonl").stderr == first.stderr

    @pytest.mark.parametrize("kept", [0, 1, 2, 3])
    @pytest.mark.parametrize("has_text", [False, True])
    def test_pages_without_text_are_told_as_the_first_time(
        self, tmp_path: Path, has_text: bool, kept: int
    ) -> None:
        bodies = [b"%PDF-1.4 ", b"<body></body>", b"<br>"]
        if has_text:
            bodies.append(b"<p>The harbour was closed on Monday, and nobody could say why.</p>")
        folder = tmp_path / "pages"
        folder.mkdir()
        for number, body in enumerate(bodies):
            (folder / f"{number}.html").write_bytes(body)
        command = ("clean", folder, "-o", "out.jsonl")
        told = noiseclean(tmp_path, *command, code=int(not has_text)).stderr
        assert "; 2 pages without text; no HTML: 1 PDF" in told
        lines = (tmp_path / "out.jsonl").read_bytes().splitlines(keepends=True)
        (tmp_path / "out.jsonl").write_bytes(b"".join(lines[:kept]))
        assert noiseclean(tmp_path, *command, code=int(not has_text)).stderr == told
        assert (tmp_path / "out.jsonl").read_bytes() == b"".join(lines)

    def test_names_of_files_may_be_any_bytes(self, tmp_path: Path, news: Path) -> None:
        try:
            (news / "00.html").rename(news / os.fsdecode(b"\xff.html"))
        except OSError:
            pytest.skip("this file system has no such names")
        noiseclean(tmp_path, "clean", news, "-o", "out.jsonl")
        whole = (tmp_path / "out.jsonl").read_bytes()
        (tmp_path / "out.jsonl").write_bytes(whole[:-20])
        noiseclean(tmp_path, "clean", news, "-o", "out.jsonl")
        assert (tmp_path / "out.jsonl").read_bytes() == whole

    def test_output_of_something_else_is_refused_and_stays(
        self, tmp_path: Path, news: Path, complete: bytes
    ) -> None:
        output = tmp_path / "out.jsonl"
        lines = complete.splitlines(keepends=True)
        for content, options in (
            (b"my diary\n", ()),
            (lines[1], ()),
            (complete + lines[0], ()),
            (lines[0] + lines[1], OTHERWISE),
            (complete, OTHERWISE),
            (lines[0], ("--content", "html")),
        ):
            output.write_bytes(content)
            done = noiseclean(tmp_path, "clean", news, "-o", "out.jsonl", *options, code=1)
            assert "'out.jsonl' does not hold the beginning of this output" in done.stderr
            assert output.read_bytes() == content

    @pytest.mark.slow
    def test_after_a_kill(self, tmp_path: Path) -> None:
        folder = write_pages(tmp_path / "many", map(story, range(60)))
        arguments = ("clean", str(folder), *STYLE_TREE)
        output = tmp_path / "killed.jsonl"
        process = subprocess.Popen(
            scrapy_command("noiseclean", *arguments, "-o", str(output)),
            cwd=tmp_path,
            env=environment(),
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not (output.is_file() and output.stat().st_size > 2000):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        noiseclean(tmp_path, *arguments, "-o", output)
        assert output.read_text(encoding="utf-8") == noiseclean(tmp_path, *arguments, *JSONL).stdout


ROBOTS = Answer("User-agent: *\nDisallow: /secret\n", type="text/plain")


@pytest.fixture
def server() -> Iterator[PageServer]:
    image = Answer(b"GIF89a", type="image/gif")
    others: dict[str, Answer | str] = {"/robots.txt": ROBOTS, "/secret": story(7), "/image": image}
    with serve({**others, **{f"/{n}": story(n) for n in range(6)}, "/2.html": story(2)}) as running:
        yield running


@pytest.mark.slow
def test_list_of_addresses_is_fetched_as_robots_txt_allows(
    tmp_path: Path, server: PageServer
) -> None:
    wanted = [f"{server.url}/{path}" for path in ("3", "secret", "0", "5", "gone", "image", "1")]
    (tmp_path / "list.txt").write_text("# My list\n\n" + "\n".join([*wanted, wanted[0]]) + "\n")
    done = run_noiseclean(tmp_path, "clean", "list.txt", "-o", "out.jsonl", *QUICK)
    found = rows((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert [row["id"] for row in found] == [f"{server.url}/{n}" for n in (3, 0, 5, 1)]
    assert [row["text"] for row in found] == [story_text(n) for n in (3, 0, 5, 1)]
    assert "/secret" not in server.requests
    assert server.requests["/3"] == 1
    for path in ("secret", "gone", "image"):
        assert len([line for line in done.stderr.splitlines() if f"/{path}:" in line]) == 1
    assert "4 pages of 1 site cleaned, written to out.jsonl" in done.stderr

    before = sum(server.requests.values())
    run_noiseclean(tmp_path, "clean", "list.txt", "-o", "out.jsonl", *QUICK)
    assert sum(server.requests.values()) == before
    (tmp_path / "out.jsonl").unlink()
    again = run_noiseclean(tmp_path, "clean", "list.txt", "-o", "out.jsonl", *QUICK)
    assert server.requests["/3"] == 1
    assert server.requests["/gone"] == 2
    assert "/gone" in again.stderr


@pytest.mark.slow
def test_the_reason_of_an_early_end_of_fetching_is_told(tmp_path: Path, server: PageServer) -> None:
    (tmp_path / "list.txt").write_text("".join(f"{server.url}/{n}\n" for n in range(6)))
    bound = ("-s", "CLOSESPIDER_PAGECOUNT=1", "-s", "CONCURRENT_REQUESTS=1", *QUICK)
    early = "Fetching ended early (closespider_pagecount)"
    done = run_noiseclean(tmp_path, "clean", "list.txt", *JSONL, *bound)
    assert rows(done.stdout)[0]["text"] == story_text(0)
    assert f"{early}.\n" in done.stderr
    done = run_noiseclean(tmp_path, "clean", "list.txt", "-o", "out.csv", *bound)
    assert f"{early}; run it again to go on.\n" in done.stderr
    # Lines are written once all pages are there.
    done = run_noiseclean(tmp_path, "clean", "list.txt", "-o", "out.jsonl", *bound, code=1)
    assert done.stderr.endswith(f"clean: {early}; run it again to go on\n")
    assert not (tmp_path / "out.jsonl").exists()
    run_noiseclean(tmp_path, "clean", "list.txt", "-o", "out.jsonl", *QUICK)
    found = rows((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert [row["text"] for row in found] == [story_text(n) for n in range(6)]


@pytest.mark.slow
def test_several_addresses_are_fetched(tmp_path: Path, server: PageServer) -> None:
    urls = [f"{server.url}/{number}" for number in (2, 0, 2)]
    done = noiseclean(tmp_path, "clean", *urls, *QUICK, *JSONL)
    assert [row["url"] for row in rows(done.stdout)] == urls[:2]


@pytest.mark.slow
def test_fetching_is_polite_unless_told_otherwise(tmp_path: Path, server: PageServer) -> None:
    def settings(*options: str) -> str:
        done = run_noiseclean(tmp_path, "clean", f"{server.url}/1", *JSONL, "-L", "INFO", *options)
        assert rows(done.stdout)[0]["text"] == story_text(1)
        return done.stderr

    polite = settings()
    for setting in ("ROBOTSTXT_OBEY': True", "AUTOTHROTTLE_ENABLED': True", "DOWNLOAD_DELAY': 1"):
        assert setting in polite
    assert "DOWNLOAD_DELAY': '0'" in settings(*QUICK)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_one_address_in_a_project_leaves_its_database_and_pipelines_alone(
    tmp_path: Path, server: PageServer
) -> None:
    enter_project(tmp_path)
    done = run_noiseclean(tmp_path, "clean", f"{server.url}/2.html", *JSONL, *QUICK)
    assert rows(done.stdout)[0]["text"] == story_text(2)
    assert "Disabled" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scrapy.cfg"]


@pytest.mark.slow
def test_nothing_that_can_be_cleaned(tmp_path: Path, server: PageServer) -> None:
    (tmp_path / "list.txt").write_text("https://example.com/news\nexample.com\n")
    wrong_line = noiseclean(tmp_path, "clean", "list.txt", code=2)
    assert "list.txt, line 2: expected an address such as" in wrong_line.stderr
    missing = noiseclean(tmp_path, "clean", "no-such-folder", code=1)
    assert missing.stderr.startswith("scrapy noiseclean clean: There is nothing at")
    for source, hint in (
        ("www.example.com/news", "if it is an address, give https://www.example.com/news."),
        ("ftp://example.com/1", "an address begins with http:// or https://."),
        ("missing.html", "no such file or folder."),
    ):
        done = noiseclean(tmp_path, "clean", source, code=1)
        assert done.stderr.rstrip().endswith(hint)
    gone = run_noiseclean(tmp_path, "clean", f"{server.url}/gone", *QUICK, code=1)
    assert gone.stdout == ""
    assert "0 pages of 0 sites" in gone.stderr
    for done in (wrong_line, missing):
        assert len(done.stderr.splitlines()) == 1


def test_archive_pages_are_decoded_by_their_headers(tmp_path: Path) -> None:
    body = "<p>Größe".encode("iso-8859-1")
    record = ("response", "http://a.org/1", "text/html; charset=iso-8859-1", body)
    (tmp_path / "a.warc").write_bytes(warc(record, zipped=False))
    (page,) = archive_pages(tmp_path / "a.warc", Config())
    assert (page.url, page.site, page.html) == ("http://a.org/1", "a.org", "<p>Größe")


def test_archives_of_saved_pages_are_utf_8_whatever_they_declare(tmp_path: Path) -> None:
    html = "<meta charset=gb2312><p>Größe"
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/1.html").write_text(html, encoding="utf-8")
    record = ("response", "http://a.org/1", "text/html", html.encode())
    (tmp_path / "a.warc").write_bytes(warc(record, zipped=False))
    for source in ("pages", "a.warc"):
        (page,) = archive_pages(tmp_path / source, Config())
        assert page.html == html


def test_pages_without_text_are_told(tmp_path: Path) -> None:
    pages = {
        "a.html": b"%PDF-1.4 ",
        "b.html": b"<body></body>",
        "c.html": b"<p>The harbour was closed on Monday, and nobody could say why.</p>",
    }
    for name, body in pages.items():
        (tmp_path / name).write_bytes(body)
    some = noiseclean(tmp_path, "clean", *pages)
    assert some.stderr == "3 pages of 1 site cleaned; 1 page without text; no HTML: 1 PDF\n"
    none = noiseclean(tmp_path, "clean", "b.html", code=1)
    assert none.stderr == "1 page of 1 site cleaned; 1 page without text\n"
