"""`scrapy noiseclean`: commands that look at what a real crawl has stored."""

from __future__ import annotations

import re
import sqlite3
import sys
from pathlib import Path

import pytest

from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.urls import host
from noiseclean_scrapy.report.reasons import MOST_BLOCKS
from noiseclean_scrapy.store import Store
from tests.support.command_line import (
    DemoCrawl,
    enter_project,
    environment,
    noiseclean,
    plain,
    read_terminal,
    run_noiseclean,
    run_process,
    scrapy_command,
)
from tests.support.crawl_site import story, story_text
from tests.support.databases import run_statement, stored_texts

COMMANDS = (
    "clean search sites show explain inspect reclean export export-tree import-tree forget".split()
)


class TestHelp:
    def test_without_a_command_it_lists_all(self, tmp_path: Path) -> None:
        done = run_noiseclean(tmp_path, code=2)
        for command in COMMANDS:
            assert re.search(rf"^    {command}\s+[A-Z]", done.stdout, re.MULTILINE), command
        assert run_noiseclean(tmp_path, "--help").stdout == done.stdout

    @pytest.mark.parametrize("command", COMMANDS)
    def test_each_command_tells_its_options(self, tmp_path: Path, command: str) -> None:
        done = noiseclean(tmp_path, command, "--help")
        assert done.stdout.startswith(f"Usage\n=====\n  scrapy noiseclean {command} ")
        assert "--set NAME=VALUE" in done.stdout
        # Scrapy's formatter takes a line that ends with a colon for a heading.
        headings = re.findall(r"^(.+)\n=+$", done.stdout, re.MULTILINE)
        assert set(headings) <= {"Usage", "Positional Arguments", "Options"}

    @pytest.mark.parametrize("in_project", [False, True])
    def test_scrapy_knows_it_everywhere(self, tmp_path: Path, in_project: bool) -> None:
        if in_project:
            enter_project(tmp_path)
        done = run_process(tmp_path, *scrapy_command())
        assert ("active project: example_project" in done.stdout) == in_project
        assert re.search(r"^  noiseclean +Clean pages;", done.stdout, re.MULTILINE)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("wash",), "there is no command 'wash': "),
            (("sits",), "there is no command 'sits': did you mean sites?"),
            (("sites", "--wide"), "there is no option --wide: "),
            (("sites", "--jsn"), "there is no option --jsn: did you mean --json?"),
            (("sites", "help"), "nothing more is expected here: help"),
            (("search",), "the following arguments are required: WORD"),
            (("search", "x", "--since", "soon"), "expected a day such as 2026-01-31, not 'soon'"),
            (("search", "x", "--limit", "0"), "expected a number from 1 on"),
            (("clean", "x", "--method", "soap"), "there is no method 'soap'"),
            (("clean", "x", "--option", "lean"), "expected NAME=VALUE, not 'lean'"),
            (("sites", "-s", "NOISECLEAN_BATCH_SIZE=0"), "NOISECLEAN_BATCH_SIZE must be"),
            (("sites", "-s", "NOISECLEAN_COLOUR=red"), "there is no setting NOISECLEAN_COLOUR"),
            (("export", "--format", "parquet"), "Parquet cannot go to stdout: give -o FILE"),
            (("reclean", "--option", "lean=recall"), "--option needs --method"),
        ],
    )
    def test_wrong_usage_exits_with_2(
        self, tmp_path: Path, arguments: tuple[str, ...], message: str
    ) -> None:
        done = noiseclean(tmp_path, *arguments, code=2)
        assert message in done.stderr
        assert done.stdout == ""
        assert not list(tmp_path.iterdir())


class TestMissing:
    @pytest.mark.parametrize(
        "arguments",
        [
            ("search", "port"),
            ("sites",),
            ("show", "http://a.org/"),
            ("explain", "http://a.org/"),
            ("inspect", "a.org"),
            ("reclean",),
            ("export",),
            ("export-tree", "a.org"),
            ("forget", "a.org", "--yes"),
        ],
    )
    def test_database(self, tmp_path: Path, arguments: tuple[str, ...]) -> None:
        done = noiseclean(tmp_path, *arguments, code=1)
        (line,) = done.stderr.splitlines()
        assert "there is no database 'noiseclean.db': crawl first, or name another" in line
        assert done.stdout == ""
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("postgresql:/anna:s3cret@db/news", "postgresql:***@db/news"),
            ("anna:s3cret@db/news", "anna:***@db/news"),
        ],
    )
    def test_a_password_in_what_is_no_url(self, tmp_path: Path, url: str, shown: str) -> None:
        done = noiseclean(tmp_path, "sites", "--database", url, code=1)
        assert "s3cret" not in done.stderr
        assert f"there is no database {shown!r}" in done.stderr

    @pytest.mark.parametrize(
        "arguments",
        [
            ("inspect", "b.org"),
            ("reclean", "b.org"),
            ("export", "--site", "b.org"),
            ("export-tree", "b.org"),
            ("forget", "b.org", "--yes"),
        ],
    )
    def test_site(self, tmp_path: Path, demo: DemoCrawl, arguments: tuple[str, ...]) -> None:
        done = noiseclean(tmp_path, *arguments, code=1)
        (line,) = done.stderr.splitlines()
        assert line.endswith(
            f"there is no site 'b.org' in sqlite:///noiseclean.db; sites there: {demo.site}"
        )

    @pytest.mark.parametrize("command", ["show", "explain", "inspect"])
    def test_page(self, tmp_path: Path, demo: DemoCrawl, command: str) -> None:
        done = noiseclean(tmp_path, command, "http://b.org/", code=1)
        (line,) = done.stderr.splitlines()
        assert "there is no page http://b.org/ in sqlite:///noiseclean.db; " in line

    def test_scheme(self, tmp_path: Path, demo: DemoCrawl) -> None:
        done = noiseclean(tmp_path, "show", demo.site, code=1)
        assert "an address begins with http:// or https://" in done.stderr

    def test_slash_of_a_front_page(self, tmp_path: Path, demo: DemoCrawl) -> None:
        bare, whole = (
            noiseclean(tmp_path, "show", f"http://{demo.site}{end}").stdout for end in ("", "/")
        )
        assert bare == whole

    @pytest.mark.parametrize(
        "arguments", [("show", "--raw"), ("show", "--markdown"), ("explain",), ("inspect",)]
    )
    def test_html(self, tmp_path: Path, demo: DemoCrawl, arguments: tuple[str, ...]) -> None:
        run_statement(f"sqlite:///{demo.database}", "DELETE FROM noiseclean_page_html")
        url, _ = demo.article()
        done = noiseclean(tmp_path, *arguments, url, code=1)
        (line,) = done.stderr.splitlines()
        assert f"the HTML of {url} is not stored" in line

    def test_foreign_database(self, tmp_path: Path) -> None:
        (tmp_path / "noiseclean.db").write_text("no database at all, only some text " * 50)
        done = noiseclean(tmp_path, "sites", code=1)
        assert len(done.stderr.splitlines()) == 1

    def test_library(
        self, tmp_path: Path, demo: DemoCrawl, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        done = noiseclean(tmp_path, "export", "-o", "pages.parquet", code=2)
        (line,) = done.stderr.splitlines()
        assert line.endswith("pip install 'noiseclean-scrapy[parquet]'")
        assert not list(tmp_path.glob("pages*"))


class TestSites:
    def test_numbers(self, tmp_path: Path, demo: DemoCrawl) -> None:
        cleaned = [page.cleaned for page in demo.records() if page.cleaned]
        (site,) = noiseclean(tmp_path, "sites", "--json").json
        assert site["name"] == demo.site
        assert (site["pages"], site["with_text"]) == (len(demo.pages), len(demo.pages))
        assert site["provisional"] == 0
        assert site["version"] >= 3
        visible = sum(page.visible_characters for page in cleaned)
        kept = sum(page.kept_characters for page in cleaned)
        assert site["noise"] == pytest.approx(1 - kept / visible)
        assert 0 <= site["drift"] < 0.5

        table = noiseclean(tmp_path, "sites").stdout.splitlines()
        assert table[0].split() == (
            "site method pages texts provisional tree noise drift last page".split()
        )
        row = table[2].split()
        assert row[:6] == [
            demo.site,
            "evidence",
            *[str(len(demo.pages))] * 2,
            "0",
            str(site["version"]),
        ]
        assert row[6] == f"{site['noise']:.1%}"

    def test_empty_database(self, tmp_path: Path) -> None:
        Store(f"sqlite:///{tmp_path / 'empty.db'}").close()
        assert noiseclean(tmp_path, "sites", "--database", "empty.db", "--json", code=1).json == []
        hint = "in sqlite:///empty.db: crawl first, or name another database with --database.\n"
        for command in ("sites", "reclean"):
            done = noiseclean(tmp_path, command, "--database", "sqlite:///empty.db", code=1)
            assert done.stderr == f"No site is stored {hint}"
        done = noiseclean(tmp_path, "search", "flood", "--database", "sqlite:///empty.db", code=1)
        assert done.stderr == f"Nothing found.\nNo page is stored {hint}"

    @pytest.mark.slow
    def test_database_of_the_project(self, tmp_path: Path, demo: DemoCrawl) -> None:
        enter_project(tmp_path)
        demo.database.rename(tmp_path / "noiseclean-demo.db")
        assert demo.site in run_noiseclean(tmp_path, "sites").stdout
        elsewhere = ("-s", "NOISECLEAN_DATABASE_URL=sqlite:///elsewhere.db")
        assert "'elsewhere.db'" in run_noiseclean(tmp_path, "sites", *elsewhere, code=1).stderr

    def test_another_process_is_writing(self, tmp_path: Path, demo: DemoCrawl) -> None:
        before = noiseclean(tmp_path, "sites", "--json").json
        writer = sqlite3.connect(demo.database, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE noiseclean_page SET text = NULL")
        try:
            assert noiseclean(tmp_path, "sites", "--json").json == before
            url, _ = demo.article()
            assert noiseclean(tmp_path, "show", url).stdout
        finally:
            writer.close()

    def test_reading_leaves_the_database_as_it_is(self, tmp_path: Path, demo: DemoCrawl) -> None:
        before = demo.database.read_bytes()
        url, _ = demo.article()
        for arguments in (("sites",), ("show", url), ("explain", url), ("search", "the")):
            noiseclean(tmp_path, *arguments)
        assert demo.database.read_bytes() == before


class TestSearch:
    def test_finds_the_pages_that_have_the_word(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        texts = stored_texts(demo.database)
        assert len(texts) == len(demo.pages)
        word = rare_word(texts, url)
        having = {url for url, text in texts.items() if word in words(text)}
        found = noiseclean(tmp_path, "search", word, "--limit", "50", "--json").json
        assert {hit["url"] for hit in found["hits"]} == having
        assert found["total"] == len(having)
        hit = next(hit for hit in found["hits"] if hit["url"] == url)
        assert hit["title"] == page.title
        assert hit["site"] == demo.site
        assert f"<mark>{word}</mark>" in hit["snippet"].lower()

    def test_prints_title_address_and_snippet(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        texts = stored_texts(demo.database)
        done = noiseclean(tmp_path, "search", rare_word(texts, url))
        assert f"{page.title}\n{url}\n{demo.site}" in done.stdout
        assert "\x1b" not in done.stdout
        assert not re.search("[\ue000-\uf8ff]", done.stdout)

    def test_filters(self, tmp_path: Path, demo: DemoCrawl) -> None:
        def languages(*options: str, code: int = 0) -> set[str]:
            arguments = ("search", "Eastmere OR Ashcombe OR der OR the", "--limit", "200", "--json")
            hits = noiseclean(tmp_path, *arguments, *options, code=code).json["hits"]
            return {hit["language"] for hit in hits}

        assert languages() == {"de", "en"}
        assert languages("--language", "de") == {"de"}
        assert languages("--site", demo.site, "--language", "en") == {"en"}
        unknown = noiseclean(tmp_path, "search", "the", "--site", "b.org", code=1)
        assert "there is no site 'b.org'" in unknown.stderr
        assert languages("--since", "2100-01-01", code=1) == set()
        assert languages("--until", "1900-12-31", code=1) == set()
        refused = noiseclean(tmp_path, "search", "the", "--until", "20260131", code=2)
        assert "expected a day such as 2026-01-31" in refused.stderr

    def test_nothing_found(self, tmp_path: Path, demo: DemoCrawl) -> None:
        done = noiseclean(tmp_path, "search", "xylophonquark", code=1)
        assert (done.stdout, done.stderr) == ("", "Nothing found.\n")
        hint = "Words with - leave pages out of those that others find: name one without.\n"
        done = noiseclean(tmp_path, "search", "-harbour", code=1)
        assert done.stderr == f"Nothing found.\n{hint}"
        days = ("--since", "2026-02-01", "--until", "2026-01-01")
        done = noiseclean(tmp_path, "search", "harbour", *days, code=1)
        assert done.stderr == "Nothing found.\n--since is later than --until.\n"

    @pytest.mark.parametrize("query", ["", " "])
    def test_an_empty_query(self, tmp_path: Path, demo: DemoCrawl, query: str) -> None:
        assert "the query is empty" in noiseclean(tmp_path, "search", query, code=2).stderr

    def test_limit(self, tmp_path: Path, demo: DemoCrawl) -> None:
        done = noiseclean(tmp_path, "search", "the", "OR", "der", "--limit", "3")
        assert done.stdout.count(f"\nhttp://{demo.site}") == 3
        assert re.search(r"^\d+ pages found, the best 3 shown", done.stderr)
        for number in ("0", "x", "9" * 5000):
            noiseclean(tmp_path, "search", "the", "--limit", number, code=2)

    def test_words_that_pages_must_not_have(self, tmp_path: Path, demo: DemoCrawl) -> None:
        for word in ("-ferry", "-sport", "-Lima", "-hose"):
            both = noiseclean(tmp_path, "search", f"a {word}", "--json").json
            assert both["total"]
            for words in ((word, "a"), ("a", word, "-L", "INFO", "-sLOG_LEVEL=INFO")):
                assert noiseclean(tmp_path, "search", *words, "--json").json == both


class TestShow:
    def test_text_and_facts(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        stored = next(record for record in demo.records() if record.url == url)
        assert stored.cleaned
        done = noiseclean(tmp_path, "show", url)
        head, _, text = done.stdout.partition("\n\n")
        assert head.splitlines()[:3] == [page.title, url, f"site: {demo.site}"]
        assert f"language: {page.language}" in head
        assert text == stored.cleaned.text + "\n"
        row = noiseclean(tmp_path, "show", url, "--json").json
        assert (row["title"], row["text"]) == (page.title, stored.cleaned.text)
        assert row["language"] == page.language

    def test_other_forms(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        assert noiseclean(tmp_path, "show", url, "--raw").stdout.strip() == page.html.strip()
        html = noiseclean(tmp_path, "show", url, "--html").stdout
        assert f"<h1>{page.title}</h1>" in html
        assert "class=" not in html
        markdown = noiseclean(tmp_path, "show", url, "--markdown").stdout
        assert markdown.startswith(f"# {page.title}\n")

    def test_one_form_at_a_time(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, _ = demo.article()
        done = noiseclean(tmp_path, "show", url, "--raw", "--json", code=2)
        assert "not allowed with argument" in done.stderr


class TestExplain:
    def test_a_stored_page_has_its_site(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, _ = demo.article()
        done = noiseclean(tmp_path, "explain", url, "--site", demo.site, code=2)
        assert "--site is for a FILE" in done.stderr

    def test_accounts_for_every_character(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        visible = sum(len(block.text) for block in build_page(page.html).blocks)
        noiseclean(tmp_path, "reclean", demo.site)  # by the tree that explains
        stored = next(record for record in demo.records() if record.url == url)
        assert stored.cleaned
        texts = stored.cleaned.text.splitlines()
        done = noiseclean(tmp_path, "explain", url, "--all")
        last = done.stdout.splitlines()[-1]
        found = re.fullmatch(
            r"(\d+) characters kept \((\d+) blocks\) \+ (\d+) dropped \((\d+) blocks\) = "
            r"(\d+) visible characters",
            last,
        )
        assert found, last
        kept, kept_blocks, dropped, dropped_blocks, total = map(int, found.groups())
        assert (kept, total) == (sum(map(len, texts)), visible)
        assert kept + dropped == total
        assert kept_blocks == len(texts)
        assert len(re.findall("^kept ", done.stdout, re.MULTILINE)) == kept_blocks
        assert len(re.findall("^dropped ", done.stdout, re.MULTILINE)) == dropped_blocks

    def test_says_why(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, _ = demo.article()
        done = noiseclean(tmp_path, "explain", url, "--all")
        assert "\x1b" not in done.stdout
        assert (
            f"judged by evidence, tree version {tree_version(demo)} of {demo.site}" in done.stdout
        )
        skip = done.stdout.partition("Skip to content\n")[2].splitlines()
        assert re.match(r" +Left out: stands on \d+ other pages; ", skip[0])
        sums = r" +log-odds -\S+, \S+ needed: prior \S+, page \S+, neighbours \S+, site -\S+"
        assert re.fullmatch(sums, skip[1])
        assert "Kept: it is the headline of the page." in done.stdout

    def test_says_why_in_words_that_anyone_understands(
        self, tmp_path: Path, demo: DemoCrawl
    ) -> None:
        url, _ = demo.article()
        done = noiseclean(tmp_path, "explain", url)
        numbers = noiseclean(tmp_path, "explain", url, "--all")
        lines = done.stdout.splitlines()
        assert len(lines) < len(numbers.stdout.splitlines()) / 2
        assert done.stdout.splitlines()[-1] == numbers.stdout.splitlines()[-1]
        assert not re.search(r"log-odds|expected share|prior|[+-]\d\.\d", done.stdout)
        skip = next(n for n, line in enumerate(lines) if line.startswith("dropped   Skip to"))
        assert re.fullmatch(r" +stands on \d+ other pages(; [a-z ]+)+", lines[skip + 1])
        kept = [n for n, line in enumerate(lines) if line.startswith("kept ")]
        assert lines[kept[0] + 1].strip() == "it is the headline of the page"
        assert len(lines[kept[1] + 1].split("; ")) == 3
        row = noiseclean(tmp_path, "explain", url, "--json").json
        reasons = [block["reasons"] for block in row["blocks"]]
        assert all(len(found) <= 3 for found in reasons)
        assert sum(map(bool, reasons)) > 0.9 * len(reasons)

    def test_json_has_every_block(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        row = noiseclean(tmp_path, "explain", url, "--json").json
        assert [block["text"] for block in row["blocks"]] == [
            block.text for block in build_page(page.html).blocks if block.text
        ]
        assert row["kept_characters"] == sum(len(b["text"]) for b in row["blocks"] if b["kept"])
        for block in row["blocks"]:
            evidence = block["evidence"]
            assert evidence["log_odds"] == pytest.approx(
                sum(evidence[kind] for kind in ("prior", "page", "neighbours", "site")), abs=1e-4
            )
        assert [block["text"] for block in row["blocks"] if block["headline"]] == [page.title]

    def test_file_by_itself_and_by_a_site(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        (tmp_path / "page.html").write_text(page.html, encoding="utf-8")
        alone = noiseclean(tmp_path, "explain", "page.html")
        assert "judged by evidence, by the page alone" in alone.stdout
        assert "this text on" not in alone.stdout
        by_site = noiseclean(tmp_path, "explain", "page.html", "--site", demo.site, "--json").json
        stored = noiseclean(tmp_path, "explain", url, "--json").json
        assert by_site["blocks"] == stored["blocks"]
        assert (by_site["url"], stored["url"]) == ("", url)
        (tmp_path / "rules.toml").write_text(f'["{host(url)}"]\ndrop = "p"\n')
        rules = ("-s", "NOISECLEAN_OVERRIDES=rules.toml", "--json")
        taught = noiseclean(tmp_path, "explain", "page.html", "--site", demo.site, *rules).json
        assert {block["rule"] for block in taught["blocks"]} >= {"drop"}

    def test_other_methods_tell_their_figures(self, tmp_path: Path) -> None:
        (tmp_path / "page.html").write_text(story(1), encoding="utf-8")
        setting = "NOISECLEAN_METHOD=style-tree"
        done = noiseclean(tmp_path, "explain", "page.html", "-s", setting, "--full", "--all")
        assert "judged by style-tree" in done.stdout
        for line in story_text(1).splitlines():
            assert line in done.stdout
        assert "known 0" in done.stdout

    def test_what_shows_nothing(self, tmp_path: Path) -> None:
        for name, body, problem in (
            ("pdf.html", b"%PDF-1.7 \x00", "not HTML: PDF"),
            ("png.html", b"\x89PNG\r\n\x1a\n\x00", "not HTML: PNG image"),
            ("empty.html", b"<p></p>", "no text"),
        ):
            (tmp_path / name).write_bytes(body)
            done = noiseclean(tmp_path, "explain", name, code=1)
            assert (done.stdout, done.stderr) == ("", f"{name}: {problem}\n")
            assert noiseclean(tmp_path, "explain", name, "--json", code=1).json["blocks"] == []

    def test_no_more_blocks_than_one_can_look_at(self, tmp_path: Path) -> None:
        page = "".join(f"<p>Line {number}" for number in range(MOST_BLOCKS + 5))
        (tmp_path / "page.html").write_text(page)
        for options in (("--all",), ("--json", "--all")):
            done = noiseclean(tmp_path, "explain", "page.html", *options)
            said = f"page.html: 5 further blocks not shown: of a page the first {MOST_BLOCKS} are\n"
            assert done.stderr == said
        assert len(done.json["blocks"]) == MOST_BLOCKS

    def test_missing_file(self, tmp_path: Path) -> None:
        done = noiseclean(tmp_path, "explain", "nothing.html", code=1)
        assert done.stderr == (
            "scrapy noiseclean explain: cannot read 'nothing.html': No such file or directory\n"
        )

    @pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
    def test_colours_in_a_terminal(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        output = in_terminal(tmp_path, 80, "explain", url)
        assert "\x1b[32mkept" in output
        assert "\x1b[31mdropped" in output
        assert page.title in plain(output)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
@pytest.mark.parametrize("columns", [60, 80])
def test_narrow_terminals_break_no_name(tmp_path: Path, demo: DemoCrawl, columns: int) -> None:
    lines = plain(in_terminal(tmp_path, columns, "sites")).splitlines()
    assert lines[2].startswith(f"{demo.site}  ")
    assert len(lines) == 3
    assert max(map(len, lines)) <= columns
    assert lines[0].split()[:2] == ["site", "pages"]
    explained = plain(
        in_terminal(tmp_path, columns, "explain", demo.article()[0], "--all")
    ).splitlines()
    heads = [line for line in explained if re.match(r"(kept|dropped) +\d\.\d\d ", line)]
    assert len(heads) > 20
    assert max(map(len, heads)) <= columns


def in_terminal(folder: Path, columns: int, *arguments: str) -> str:
    """What a command writes to a terminal of so many columns; its stderr is another."""
    return read_terminal(
        scrapy_command("noiseclean", *arguments),
        stderr=False,
        cwd=folder,
        env=environment(TERM="xterm-256color", COLUMNS=str(columns)),
    )


class TestInspect:
    def test_site_report_is_written_and_opened(self, tmp_path: Path, demo: DemoCrawl) -> None:
        browser = tmp_path / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path / "opened"}\n')
        browser.chmod(0o755)
        done = run_noiseclean(tmp_path, "inspect", demo.site, BROWSER=f"{browser} %s")
        report = tmp_path / done.stdout.strip()
        assert demo.site in report.read_text(encoding="utf-8")
        assert report.read_text(encoding="utf-8").lower().startswith("<!doctype html>")
        assert (tmp_path / "opened").read_text().strip() == report.as_uri()

    def test_page_report(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        done = noiseclean(tmp_path, "inspect", url, "-o", "page.html", "--no-open")
        assert done.stdout == "page.html\n"
        assert page.title in (tmp_path / "page.html").read_text(encoding="utf-8")

    def test_place_that_cannot_be_written(self, tmp_path: Path, demo: DemoCrawl) -> None:
        done = noiseclean(
            tmp_path, "inspect", demo.site, "-o", "no/such/x.html", "--no-open", code=1
        )
        (line,) = done.stderr.splitlines()
        assert "cannot write 'no/such/x.html'" in line


class TestPipes:
    @pytest.mark.slow
    def test_reader_that_goes_away(self, tmp_path: Path, demo: DemoCrawl) -> None:
        for command in ("export", "explain " + demo.article()[0]):
            shell = f"{sys.executable} -m scrapy noiseclean {command} | head -c 10"
            done = run_process(tmp_path, "bash", "-c", f"set -o pipefail; {shell}")
            assert (len(done.stdout), done.stderr) == (10, "")

    def test_terminal_without_unicode(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url = next(url for url, page in demo.pages.items() if page.language == "de")
        ascii_only = noiseclean(tmp_path, "show", url, encoding="ascii")
        assert "?" in ascii_only.stdout
        as_json = noiseclean(tmp_path, "show", url, "--json", encoding="ascii")
        assert as_json.json == noiseclean(tmp_path, "show", url, "--json").json


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def rare_word(texts: dict[str, str], url: str) -> str:
    """The longest word of a page that few others have, in no other form either."""
    others = " ".join(text.lower() for page, text in texts.items() if page != url)
    own = [word for word in words(texts[url]) if word.isascii() and word.isalpha()]
    return max((word for word in own if word[:5] not in others), key=len)


def tree_version(demo: DemoCrawl) -> int:
    with Store(f"sqlite:///{demo.database}", read_only=True) as store:
        return store.clusters.all()[0].version
