"""Commands where something is wrong around them: a database, standard input, a locale."""

from __future__ import annotations

from pathlib import Path

import pytest

from noiseclean_scrapy.store import Store
from tests.support.archives import warc
from tests.support.command_line import DemoCrawl, console_command, run_console, run_process
from tests.support.crawl_site import story
from tests.support.databases import run_statement

QUICK = ("-s", "NOISECLEAN_METADATA=0", "--database")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "a.warc.gz"
    pages = (("response", f"http://a.org/{n}", "text/html", story(n).encode()) for n in range(3))
    path.write_bytes(warc(*pages))
    return path


@pytest.mark.parametrize(
    ("spool", "told"),
    [("spool", "3 pages in the spool for the next crawl, 0 lost"), ("nowhere/spool", "3 lost")],
)
def test_pages_that_are_not_stored_are_told_last(
    tmp_path: Path, archive: Path, sqlite_url: str, spool: str, told: str
) -> None:
    Store(sqlite_url).close()
    raised = "BEGIN SELECT RAISE(ABORT, 'no room'); END"
    run_statement(sqlite_url, f"CREATE TRIGGER no BEFORE INSERT ON noiseclean_page {raised}")
    (tmp_path / "nowhere").symlink_to("gone")
    place = ("-s", f"NOISECLEAN_SPOOL={spool}")
    done = run_console(tmp_path, "replay", archive, *place, *QUICK, sqlite_url, code=1)
    assert told in done.stderr.splitlines()[-1]
    assert "Try next" not in done.stderr


@pytest.mark.services
def test_a_password_that_is_not_shown_is_not_to_be_copied(
    tmp_path: Path, archive: Path, postgresql_url: str
) -> None:
    url = f"{postgresql_url}&password=hush"
    done = run_console(tmp_path, "replay", archive, *QUICK, url)
    assert "Try next: noiseclean sites --database URL\n" in done.stderr
    assert "hush" not in done.stderr


def without_stdin(folder: Path, *arguments: str) -> str:
    command = ("sh", "-c", 'exec "$@" <&-', "sh", *console_command(*arguments))
    return run_process(folder, *command, code=1).stderr


def test_a_closed_standard_input_is_told(tmp_path: Path, demo: DemoCrawl) -> None:
    assert "Nothing was deleted" in without_stdin(tmp_path, "forget", demo.site)
    assert "standard input is closed" in without_stdin(tmp_path, "clean", "-")


def test_a_closed_standard_output_is_told(tmp_path: Path, demo: DemoCrawl) -> None:
    for arguments in (("export",), ("sites",), ("show", demo.article()[0], "--json")):
        command = ("sh", "-c", 'exec "$@" >&-', "sh", *console_command(*arguments))
        done = run_process(tmp_path, *command, code=1)
        assert f"noiseclean {arguments[0]}: standard output is closed\n" in done.stderr


def test_a_closed_standard_error_keeps_the_results_clean(tmp_path: Path, archive: Path) -> None:
    for arguments in (("replay", "a.warc.gz", *QUICK, "a.db"), ("sites", "--database", "no.db")):
        command = ("sh", "-c", 'exec "$@" 2>&-', "sh", *console_command(*arguments))
        done = run_process(tmp_path, *command, code=int("no.db" in arguments))
        assert (done.stdout, done.stderr) == ("", "")
    assert (tmp_path / "a.db").is_file()


def test_a_name_that_the_locale_cannot_read_is_told(tmp_path: Path) -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run_console(tmp_path, "sites", "--database", "cö.db", code=2, **locale)
    assert "has letters that the locale lacks" in done.stderr
