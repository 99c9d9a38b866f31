"""`scrapy noiseclean`: commands that change the database or carry it elsewhere."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.output.rows import COLUMNS, write_parquet
from noiseclean_scrapy.store import Store
from tests.support import searching
from tests.support.command_line import (
    DemoCrawl,
    environment,
    noiseclean,
    scrapy_command,
)
from tests.support.databases import run_statement, stored_texts


def newest_cleaner(database: Path) -> tuple[int, SiteCleaner]:
    with Store(f"sqlite:///{database}", read_only=True) as store:
        (known,) = store.clusters.all()
        cluster = store.clusters.find(known.name)
    assert cluster
    assert cluster.tree
    return cluster.version, SiteCleaner.from_bytes(cluster.tree)


class TestIndex:
    def test_what_a_crawl_left_out_is_indexed_later(self, tmp_path: Path, demo: DemoCrawl) -> None:
        run_statement(f"sqlite:///{demo.database}", "DELETE FROM noiseclean_search")
        found = noiseclean(tmp_path, "search", "the", code=1)
        assert found.stderr == (
            "Nothing found.\nNot all pages are in the index: noiseclean index\n"
        )
        pages = len(demo.pages)
        assert noiseclean(tmp_path, "index").stderr == f"{pages} pages indexed.\n"
        assert noiseclean(tmp_path, "index").stderr == "0 pages indexed.\n"
        assert noiseclean(tmp_path, "search", "the").stdout


class TestReclean:
    def test_gives_every_page_the_newest_tree(self, tmp_path: Path, demo: DemoCrawl) -> None:
        version, cleaner = newest_cleaner(demo.database)
        assert {page.cleaned.clean_version for page in demo.records() if page.cleaned} != {version}
        done = noiseclean(tmp_path, "reclean")
        pages = len(demo.pages)
        assert done.stderr == (
            f"{demo.site}: {pages} of {pages} pages cleaned again, "
            f"tree version {version} (evidence).\n"
        )
        for record in demo.records():
            assert record.cleaned
            assert record.cleaned.clean_version == version
            page = cleaner.clean(demo.pages[record.url].html, url=record.url)
            assert (record.cleaned.title, record.cleaned.text) == (page.title, page.text)

    def test_another_method_learns_from_the_stored_html(
        self, tmp_path: Path, demo: DemoCrawl
    ) -> None:
        version, _ = newest_cleaner(demo.database)
        done = noiseclean(tmp_path, "reclean", demo.site, "--method", "style-tree")
        assert f"tree version {version + 1} (style-tree)." in done.stderr
        new_version, cleaner = newest_cleaner(demo.database)
        assert (new_version, cleaner.method) == (version + 1, "style-tree")
        assert cleaner.pages == len(demo.pages)
        independent = SiteCleaner("style-tree")
        for page in demo.pages.values():
            independent.observe(page.html)
        assert stored_texts(demo.database) == {
            url: independent.clean(page.html).text for url, page in demo.pages.items()
        }
        (site,) = noiseclean(tmp_path, "sites", "--json").json
        assert (site["method"], site["version"]) == ("style-tree", version + 1)

    def test_options_of_the_method(self, tmp_path: Path, demo: DemoCrawl) -> None:
        arguments = ("reclean", "--method", "evidence", "--option")
        noiseclean(tmp_path, *arguments, "lean=recall")
        much = sum(map(len, stored_texts(demo.database).values()))
        noiseclean(tmp_path, *arguments, "lean=precision")
        assert sum(map(len, stored_texts(demo.database).values())) < much

    def test_overrides_hold(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url, page = demo.article()
        assert page.title in stored_texts(demo.database)[url]
        (tmp_path / "rules.toml").write_text('["127.0.0.1"]\ndrop = ["h1"]\nkeep = ["footer"]\n')
        setting = ("-s", "NOISECLEAN_OVERRIDES=rules.toml")
        noiseclean(tmp_path, "reclean", demo.site, *setting)
        assert page.title not in stored_texts(demo.database)[url].splitlines()
        explained = noiseclean(tmp_path, "explain", url, "--json", *setting).json
        rules = {block["rule"]: block["kept"] for block in explained["blocks"]}
        assert rules["drop"] is False
        assert rules["keep"] is True

    def test_pages_without_html_are_told(self, tmp_path: Path, demo: DemoCrawl) -> None:
        some = "SELECT key FROM noiseclean_page ORDER BY key LIMIT 5"
        run_statement(
            f"sqlite:///{demo.database}", f"DELETE FROM noiseclean_page_html WHERE key IN ({some})"
        )
        pages = len(demo.pages)
        done = noiseclean(tmp_path, "reclean", demo.site)
        assert f"{pages - 5} of {pages} pages cleaned again" in done.stderr
        assert "5 have no HTML of their text" in done.stderr
        run_statement(f"sqlite:///{demo.database}", "DELETE FROM noiseclean_page_html")
        before = demo.database.read_bytes()
        done = noiseclean(tmp_path, "reclean", demo.site, "--method", "style-tree", code=1)
        assert f"no HTML of {demo.site} is stored to learn from" in done.stderr
        assert newest_cleaner(demo.database)[1].method == "evidence"
        assert demo.database.read_bytes() == before

    def test_damaged_pages_and_trees_are_told(self, tmp_path: Path, demo: DemoCrawl) -> None:
        url = f"sqlite:///{demo.database}"
        pages = len(demo.pages)
        sound = next(iter(demo.pages))
        some = f"SELECT key FROM noiseclean_page WHERE url <> '{sound}' LIMIT 5"
        run_statement(url, f"UPDATE noiseclean_page SET title = NULL WHERE key IN ({some})")
        done = noiseclean(tmp_path, "reclean", demo.site, code=1)
        assert f"{pages - 5} of {pages} pages cleaned again" in done.stderr
        assert "; 5 cannot be read, see `noiseclean check`.\n" in done.stderr
        assert "no HTML" not in done.stderr
        done = noiseclean(tmp_path, "export", "-o", "out.jsonl", code=1)
        assert "pages exported to out.jsonl; 5 cannot be read" in done.stderr
        with Store(url) as store:
            one = next(iter(store.pages.with_html(demo.site)))
            store.pages.write([replace(one, key="x", cluster="z.org")], method="evidence")
        run_statement(url, f"UPDATE noiseclean_tree SET tree = x'00' WHERE cluster = '{demo.site}'")
        reason = f"the tree of {demo.site} cannot be read"
        done = noiseclean(tmp_path, "reclean", code=1)
        assert f"{demo.site}: left as it is, {reason}" in done.stderr
        assert "z.org: 1 of 1 pages cleaned again" in done.stderr
        tree = SiteCleaner().to_bytes()
        (tmp_path / "good").write_bytes(tree)
        for command in (
            ("reclean", demo.site),
            ("export-tree", demo.site),
            ("import-tree", demo.site, "good", "--merge"),
            ("explain", sound),
        ):
            assert reason in noiseclean(tmp_path, *command, code=1).stderr
        assert not (tmp_path / demo.tree_file).exists()

    @pytest.mark.parametrize("command", [("reclean", ""), ("export", "--site", "")])
    def test_an_empty_name_is_no_site(
        self, tmp_path: Path, demo: DemoCrawl, command: tuple[str, ...]
    ) -> None:
        assert "there is no site ''" in noiseclean(tmp_path, *command, code=1).stderr

    @pytest.mark.slow
    def test_interruption_is_safe_and_told(self, tmp_path: Path, demo: DemoCrawl) -> None:
        version, cleaner = newest_cleaner(demo.database)
        before = stored_texts(demo.database)
        process = subprocess.Popen(
            scrapy_command("noiseclean", "reclean", demo.site),
            cwd=tmp_path,
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        while process.poll() is None:
            done = [page.cleaned.clean_version for page in demo.records() if page.cleaned]
            if done.count(version) > len(done) // 2:
                process.send_signal(signal.SIGINT)
                break
            time.sleep(0.02)
        _, told = process.communicate(timeout=60)
        if process.returncode == 130:
            assert re.match(rf"{demo.site}: \d+ of {len(before)} pages cleaned again before", told)
        else:
            # It was faster than the signal: through, or ended by it while Python closed down.
            assert process.returncode in (0, -signal.SIGINT)
        assert "Traceback" not in told
        for record in demo.records():
            assert record.cleaned
            if record.cleaned.clean_version == version:
                assert record.cleaned.text == cleaner.clean(demo.pages[record.url].html).text
            else:
                assert record.cleaned.text == before[record.url]


class TestForget:
    @pytest.mark.parametrize("answer", ["", "n\n", "\n", "no\n"])
    def test_asks_first(self, tmp_path: Path, demo: DemoCrawl, answer: str) -> None:
        before = stored_texts(demo.database)
        done = noiseclean(tmp_path, "forget", demo.site, stdin=answer, code=1)
        version, _ = newest_cleaner(demo.database)
        assert done.stderr == (
            f"Delete {demo.site}: {len(before)} pages, tree version {version}? [y/N] "
            "Nothing was deleted.\n"
        )
        assert stored_texts(demo.database) == before

    @pytest.mark.parametrize(("options", "answer"), [(("--yes",), ""), ((), "y\n"), ((), "Yes\n")])
    def test_deletes_all_of_a_site(
        self, tmp_path: Path, demo: DemoCrawl, options: tuple[str, ...], answer: str
    ) -> None:
        done = noiseclean(tmp_path, "forget", demo.site, *options, stdin=answer)
        assert done.stderr.endswith(f"{demo.site} is deleted, with {len(demo.pages)} pages.\n")
        assert not stored_texts(demo.database)
        assert noiseclean(tmp_path, "search", "the", "--json", code=1).json["total"] == 0
        assert noiseclean(tmp_path, "sites", "--json", code=1).json == []


class TestNamesOfSites:
    def test_are_taken_as_a_browser_takes_them(self, tmp_path: Path, demo: DemoCrawl) -> None:
        name = f"{demo.site}."  # as a host may be written; small letters are the other way
        rows = noiseclean(tmp_path, "export", "--site", name).stdout
        assert rows == noiseclean(tmp_path, "export", "--site", demo.site).stdout
        rows_of_address = noiseclean(tmp_path, "export", "--site", f"http://{demo.site}/")
        assert rows == rows_of_address.stdout
        noiseclean(tmp_path, "inspect", name, "--no-open", "-o", "report.html")
        assert demo.site in (tmp_path / "report.html").read_text(encoding="utf-8")
        noiseclean(tmp_path, "export-tree", name, "-o", "site.tree")
        noiseclean(tmp_path, "import-tree", name, "site.tree", "--replace")
        sites = noiseclean(tmp_path, "sites", "--json").json
        assert [site["name"] for site in sites] == [demo.site]
        noiseclean(tmp_path, "forget", name, "--yes")
        assert not stored_texts(demo.database)


class TestExport:
    def test_json_lines(self, tmp_path: Path, demo: DemoCrawl) -> None:
        done = noiseclean(tmp_path, "export")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert {row["url"]: row["text"] for row in rows} == stored_texts(demo.database)
        assert [row["key"] for row in rows] == sorted(row["key"] for row in rows)
        assert all(list(row) == list(COLUMNS) for row in rows)
        assert {row["language"] for row in rows} == {"de", "en"}
        assert f"{len(demo.pages)} pages exported" in done.stderr
        noiseclean(tmp_path, "export", "--site", demo.site, "-o", "pages.jsonl")
        assert (tmp_path / "pages.jsonl").read_text(encoding="utf-8") == done.stdout

    @pytest.mark.extras
    def test_parquet(self, tmp_path: Path, demo: DemoCrawl) -> None:
        parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
        noiseclean(tmp_path, "export", "-o", "pages.parquet")
        table = parquet.read_table(tmp_path / "pages.parquet")
        assert table.column_names == list(COLUMNS)
        assert str(table.schema.field("fetched_at").type) == "timestamp[us, tz=UTC]"
        rows = table.to_pylist()
        assert {row["url"]: row["text"] for row in rows} == stored_texts(demo.database)
        stored = {record.key: record for record in demo.records()}
        for row in rows:
            assert row["fetched_at"] == stored[row["key"]].fetched_at

    @pytest.mark.extras
    def test_long_texts_of_parquet_are_written_in_parts(self, tmp_path: Path) -> None:
        parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
        texts = ["a" * 9_000_000] * 5 + ["b"] * 1001
        records = [searching.page(f"{number}", text) for number, text in enumerate(texts)]
        with (tmp_path / "pages.parquet").open("wb") as file:
            write_parquet(records, file)
        written = parquet.ParquetFile(tmp_path / "pages.parquet")
        rows = [written.metadata.row_group(n).num_rows for n in range(written.num_row_groups)]
        assert rows == [2, 2, 1000, 2]
        assert written.read(columns=["text"]).column("text").to_pylist() == texts

    @pytest.mark.parametrize("engine", ["elasticsearch", "opensearch"])
    def test_bulk_interface(self, tmp_path: Path, demo: DemoCrawl, engine: str) -> None:
        done = noiseclean(tmp_path, "export", "--format", engine, "--index", "news")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        actions, documents = lines[::2], lines[1::2]
        assert [action["index"]["_index"] for action in actions] == ["news"] * len(demo.pages)
        assert [action["index"]["_id"] for action in actions] == [
            record.key for record in demo.records()
        ]
        assert {row["url"]: row["text"] for row in documents} == stored_texts(demo.database)

    def test_meilisearch(self, tmp_path: Path, demo: DemoCrawl) -> None:
        noiseclean(tmp_path, "export", "--format", "meilisearch", "-o", "pages.ndjson")
        lines = (tmp_path / "pages.ndjson").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        assert {row["url"]: row["text"] for row in rows} == stored_texts(demo.database)

    def test_empty(self, tmp_path: Path) -> None:
        Store(f"sqlite:///{tmp_path / 'noiseclean.db'}").close()
        done = noiseclean(tmp_path, "export", code=1)
        assert (done.stdout, done.stderr) == ("", "0 pages exported\n")


class TestTrees:
    @pytest.fixture
    def tree(self, tmp_path: Path, demo: DemoCrawl) -> Path:
        done = noiseclean(tmp_path, "export-tree", demo.site)
        version, _ = newest_cleaner(demo.database)
        assert done.stderr == (
            f"Tree version {version} of {demo.site} (evidence) is in {demo.tree_file}.\n"
        )
        return tmp_path / demo.tree_file

    def test_new_database_gets_the_tree(self, tmp_path: Path, demo: DemoCrawl, tree: Path) -> None:
        done = noiseclean(tmp_path, "import-tree", "b.org", tree, "--database", "other.db")
        pages = len(demo.pages)
        assert done.stderr == f"b.org has tree version 1 (evidence), learned from {pages} pages.\n"
        back = ("export-tree", "b.org", "--database", "other.db", "-o", "back")
        noiseclean(tmp_path, *back)
        assert (tmp_path / "back").read_bytes() == tree.read_bytes()
        url, page = demo.article()
        (tmp_path / "page.html").write_text(page.html, encoding="utf-8")
        here = noiseclean(tmp_path, "explain", url, "--json").json
        file = ("explain", "page.html", "--site", "b.org", "--database", "other.db", "--json")
        assert noiseclean(tmp_path, *file).json["blocks"] == here["blocks"]
        packed = gzip.compress(page.html.encode())
        (tmp_path / "page.html").write_bytes(packed)
        assert noiseclean(tmp_path, *file).json["blocks"] == here["blocks"]
        (tmp_path / "page.html").write_bytes(packed[:-9])
        assert "page.html cannot be unpacked: " in noiseclean(tmp_path, *file, code=1).stderr

    def test_site_with_a_tree_is_asked_what_to_do(
        self, tmp_path: Path, demo: DemoCrawl, tree: Path
    ) -> None:
        version, cleaner = newest_cleaner(demo.database)
        done = noiseclean(tmp_path, "import-tree", demo.site, tree, code=2)
        assert f"{demo.site} has a tree: give --replace or --merge" in done.stderr
        noiseclean(tmp_path, "import-tree", demo.site, tree, "--replace")
        assert newest_cleaner(demo.database)[0] == version + 1
        noiseclean(tmp_path, "import-tree", demo.site, tree, "--merge")
        merged_version, merged = newest_cleaner(demo.database)
        assert (merged_version, merged.pages) == (version + 2, 2 * cleaner.pages)
        cleaner.merge(SiteCleaner.from_bytes(tree.read_bytes()))
        assert merged.to_bytes() == cleaner.to_bytes()

    def test_a_new_site_is_called_as_crawls_call_it(
        self, tmp_path: Path, demo: DemoCrawl, tree: Path
    ) -> None:
        for given, name in (
            ("News.Example", "news.example"),
            ("Sport", "Sport"),
            ("https://www.c.org/a", "c.org"),
            ("http://localhost:8000", "localhost:8000"),
        ):
            done = noiseclean(tmp_path, "import-tree", given, tree, "--database", "other.db")
            assert done.stderr.startswith(f"{name} has tree version 1")
        done = noiseclean(tmp_path, "import-tree", " ", tree, "--database", "new.db", code=2)
        assert "the name of the site is empty" in done.stderr
        assert not (tmp_path / "new.db").exists()

    @pytest.mark.parametrize("damage", ["cut", "foreign", "empty"])
    def test_damaged_file_changes_nothing(
        self, tmp_path: Path, demo: DemoCrawl, tree: Path, damage: str
    ) -> None:
        data = {"cut": tree.read_bytes()[:-1], "foreign": b"PK\x03\x04", "empty": b""}[damage]
        tree.write_bytes(data)
        before = demo.database.read_bytes()
        done = noiseclean(tmp_path, "import-tree", demo.site, tree, "--replace", code=1)
        assert len(done.stderr.splitlines()) == 1
        assert demo.database.read_bytes() == before
        done = noiseclean(tmp_path, "import-tree", demo.site, tree, "--database", "new.db", code=1)
        assert not (tmp_path / "new.db").exists()
