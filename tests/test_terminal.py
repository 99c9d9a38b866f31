"""Nothing of a page steers a terminal: neither what is stored of it nor what is shown."""

from __future__ import annotations

import re
import sys
from datetime import datetime, timezone
from io import StringIO
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.metadata import Metadata, extract_metadata
from noiseclean_scrapy.page.characters import inert
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store import Cleaned, PageRecord, Store
from noiseclean_scrapy.terminal import Terminal
from tests.support.command_line import ROOT, environment, noiseclean, read_terminal, scrapy_command
from tests.support.databases import run_statement

# A title, a link and the clipboard of xterm; erasing, an 8-bit sequence, an override, a rubout.
HOSTILE = (
    "\x1b]0;owned\x07\x1b]8;;http://evil\x1b\\\x1b]52;c;cm0=\x07\x1b[2J\x9b2J\u202etxt\x7f\r\x08"
)
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
STYLES = re.compile("\x1b\\[[0-9;]*m")


@pytest.mark.usefixtures("reader")
def test_control_characters_are_no_text_of_a_page() -> None:
    source = (
        "<title>Fog\x1b[31m</title><h1>Fog\x1b[31m</h1><p>The \x07 port\x9d2J\x9b is\x7f\x0bclosed"
        "\x85<p>&#27;[1mTrams run late today.<p>\x08"
    )
    page = SiteCleaner().clean(source.encode())
    assert page.title == "Fog[31m"
    texts = ["Fog[31m", "The port2J› is closed", "[1mTrams run late today."]
    assert [block.text for block in page.blocks] == texts
    marked = SiteCleaner().clean("<p>\u200fשלום\u202b \u2067x\u2069</p>")
    assert [block.text for block in marked.blocks] == ["\u200fשלום\u202b \u2067x\u2069"]


def test_facts_hold_no_control_characters() -> None:
    facts = extract_metadata(
        "<meta name=author content='Ada\x1b]0;x\x07 Lovelace'><link rel=canonical href='/a\x1b[2J'>"
        "<meta property=og:image content='http://x.example/\x9di.png'>",
        url="https://x.example/",
    )
    assert facts.canonical_url == "https://x.example/a[2J"
    assert facts.image == "http://x.example/%C2%9Di.png"
    assert not CONTROLS.search(facts.author)


@pytest.fixture
def database(tmp_path: Path) -> str:
    """A page as an earlier version, or another program, may have stored it."""
    url = f"sqlite:///{tmp_path / 'noiseclean.db'}"
    html = f"<title>{HOSTILE}</title><div class='a{HOSTILE}'><p>{HOSTILE} ferry"
    cleaned = Cleaned(f"T{HOSTILE}", f"ferry {HOSTILE}", (), 0, 9, 9)
    facts = Metadata(author=HOSTILE, canonical_url=HOSTILE, image=HOSTILE)
    record = PageRecord(
        *("1", f"x{HOSTILE}.example", f"http://x.example/{HOSTILE}", "0"),
        *(datetime(2025, 3, 1, tzinfo=timezone.utc), 1, html, cleaned),
        metadata=facts,
    )
    with Store(url, store_html=True) as store:
        store.pages.write([record], method="evidence")
    return url


@pytest.mark.parametrize(
    "arguments",
    [
        ("sites",),
        ("search", "ferry"),
        ("search", "ferry", "--json"),
        ("show", "URL"),
        ("show", "URL", "--json"),
        ("explain", "URL"),
        ("explain", "URL", "--json"),
    ],
    ids=" ".join,
)
def test_commands(tmp_path: Path, database: str, arguments: tuple[str, ...]) -> None:
    url = f"http://x.example/{HOSTILE}"
    named = [url if argument == "URL" else argument for argument in arguments]
    done = noiseclean(tmp_path, *named, "--database", database)
    assert "ferry" in done.stdout or arguments == ("sites",)
    assert CONTROLS.findall(done.stdout + done.stderr) == []


def test_errors(tmp_path: Path, database: str) -> None:
    unknown = f"http://{HOSTILE}"
    done = noiseclean(tmp_path, "show", unknown, "--database", database, code=1)
    assert "there is no page http://" in done.stderr
    assert CONTROLS.findall(done.stderr) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_html_as_it_was_fetched_on_a_terminal(tmp_path: Path, database: str) -> None:
    url = f"http://x.example/{HOSTILE}"
    output = read_terminal(
        scrapy_command("noiseclean", "show", url, "--raw", "--database", database),
        cwd=tmp_path,
        env=environment(TERM="xterm-256color", COLUMNS="200"),
    )
    shown = output.replace("\r\n", "")
    assert "ferry" in shown
    assert CONTROLS.findall(shown) == []


def test_a_pipe_gets_the_html_as_it_was_fetched(tmp_path: Path, database: str) -> None:
    url = f"http://x.example/{HOSTILE}"
    done = noiseclean(tmp_path, "show", url, "--raw", "--database", database)
    assert "\x1b]52;c;cm0=\x07" in done.stdout
    assert noiseclean(tmp_path, "show", url, "--json", "--database", database).json["url"] == url


def test_a_console_keeps_its_own_styles() -> None:
    file = StringIO()
    console = Terminal(file=file, force_terminal=True, color_system="standard", width=60)
    table = Table("site", HOSTILE)
    table.add_row(Text(f"a{HOSTILE}b", style="bold"), "plain")
    console.print(table)
    printed = file.getvalue()
    assert "\x1b[1m" in printed
    assert not CONTROLS.search(STYLES.sub("", printed))
    assert inert("tab\tnewline\n") == "tab\tnewline\n"


def test_no_line_of_the_log_steers_a_terminal_or_looks_like_another(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = get_logger("noiseclean_scrapy.hostile")
    forged = f"x{HOSTILE}\n2026-01-01 [fake] ERROR: forged"
    logger.error("%s, %r, %d of %.1f: %s", forged, [forged], 3, 0.5, StoreError(forged))
    logger.error(forged)
    try:
        raise StoreError(HOSTILE)
    except StoreError:
        logger.exception("told")
    [told, plain, _] = [record.getMessage() for record in caplog.records]
    assert told.count("forged") == 3
    assert told.endswith("ERROR: forged")
    assert "3 of 0.5: x" in told
    for line in (told, plain):
        assert CONTROLS.findall(line) == []
        assert len(line.splitlines()) == 1
    assert "StoreError: ]0;owned" in caplog.text
    assert CONTROLS.findall(caplog.text) == []


def test_all_modules_that_log_do_it_so() -> None:
    own = {"kernels/__init__.py", "commands/registry.py"}  # they log nothing from elsewhere
    package = ROOT / "noiseclean_scrapy"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "logging.getLogger(__name__)" in path.read_text()
    }
    assert found == own


def test_damage_that_is_logged(database: str, caplog: pytest.LogCaptureFixture) -> None:
    run_statement(database, "UPDATE noiseclean_page SET key = key || char(27) || char(10), fit='x'")
    with Store(database) as store:
        assert list(store.pages.with_text()) == []
    [record] = caplog.records
    assert record.getMessage().startswith("The stored page 1")
    assert CONTROLS.findall(caplog.text) == []
    assert len(record.getMessage().splitlines()) == 1
