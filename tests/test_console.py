"""The console command `noiseclean`: as `scrapy noiseclean`, and quick to start."""

from __future__ import annotations

import re
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from noiseclean_scrapy import __version__
from noiseclean_scrapy.commands.console import main
from noiseclean_scrapy.commands.registry import SUBCOMMANDS
from noiseclean_scrapy.methods import METHODS
from tests.support.command_line import (
    ROOT,
    DemoCrawl,
    console_command,
    noiseclean,
    run_console,
    run_process,
)
from tests.support.crawl_site import story, story_text

HEAVY = {
    *("scrapy", "twisted", "sqlalchemy", "trafilatura", "py3langid", "tldextract", "parsel"),
    *("rich", "jinja2", "stopwordsiso", "snowballstemmer", "charset_normalizer", "urllib.request"),
}


def test_it_is_a_script_and_a_module() -> None:
    (script,) = entry_points(group="console_scripts", name="noiseclean")
    assert script.load().__module__ == "noiseclean_scrapy.__main__"


INTERRUPTED = """
import runpy, signal, sys
from importlib.metadata import entry_points

class CtrlC:
    def find_spec(self, name, *_):
        if name == "numpy":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
"""
BY_SCRIPT = "(script,) = entry_points(group='console_scripts', name='noiseclean')\n"


@pytest.mark.parametrize(
    "start",
    [
        f"{BY_SCRIPT}sys.exit(script.load()())",
        "runpy.run_module('noiseclean_scrapy', run_name='__main__')",
    ],
)
def test_an_interrupt_while_it_is_imported_is_told_in_a_word(tmp_path: Path, start: str) -> None:
    command = (sys.executable, "-c", INTERRUPTED + start, "sites")
    assert run_process(tmp_path, *command, code=130).stderr == "Interrupted.\n"


def test_it_tells_its_version(tmp_path: Path) -> None:
    for run in (run_console, noiseclean):
        assert run(tmp_path, "--version").stdout == f"noiseclean {__version__}\n"


def test_it_lists_all_commands(tmp_path: Path) -> None:
    done = run_console(tmp_path, code=2)
    assert re.findall(r"^    ([\w-]+)(?:  |$)", done.stdout, re.MULTILINE) == list(SUBCOMMANDS)
    assert run_console(tmp_path, "--help").stdout == done.stdout


def test_a_word_that_is_no_command_and_options_before_one(tmp_path: Path) -> None:
    for arguments, message in (
        (["wash"], "there is no command 'wash': noiseclean --help lists all"),
        (["serch", "fog"], "there is no command 'serch': did you mean search?"),
        (["--database", "a.db", "sites"], "options stand behind COMMAND, as in noiseclean sites"),
        (["-s", "A=B", "sites"], "options stand behind COMMAND"),
    ):
        assert message in run_console(tmp_path, *arguments, code=2).stderr
    assert run_console(tmp_path, "--version").stdout.startswith("noiseclean ")


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("sites", "-L", "LOUD"), 2, "LOG_LEVEL='LOUD' is no log level such as INFO"),
        (("sites", "-s", "LOG_LEVEL=loud"), 2, "LOG_LEVEL='loud' is no log level such as INFO"),
        (("search", "fog", "--database", f"{'x' * 300}.db"), 1, "File name too long"),
        (("clean", "<p>Fog" * 100), 1, "name too long"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], code: int, reason: str
) -> None:
    done = run_console(tmp_path, *arguments, code=code)
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_log_levels_in_small_letters(tmp_path: Path, demo: DemoCrawl) -> None:
    for level in (("-L", "debug"), ("-s", "LOG_LEVEL=debug")):
        assert demo.site in noiseclean(tmp_path, "sites", *level).stdout
        assert demo.site in run_console(tmp_path, "sites", *level).stdout
    wrong = noiseclean(tmp_path, "sites", "-L", "loud", code=2)
    assert "LOG_LEVEL='loud' is no log level such as INFO" in wrong.stderr


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_each_command_has_the_options_that_scrapy_offers(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    own = options(capsys.readouterr().out)
    others = {"--logfile", "--nolog", "--profile", "--pidfile", "--pdb"}
    assert own == options(noiseclean(tmp_path, command, "--help").stdout) - others


def options(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text)) - {"-example"}


@pytest.mark.parametrize("source", ["-", "page.html"])
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_page_is_cleaned_without_what_others_need(tmp_path: Path, source: str, form: str) -> None:
    (tmp_path / "page.html").write_text(story(3), encoding="utf-8")
    code = (
        "import sys; from noiseclean_scrapy.commands.console import main; code = main(); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    command = (sys.executable, "-c", code, "clean", source, "--format", form)
    done = run_process(tmp_path, *command, stdin=story(3))
    assert story_text(3).splitlines()[1] in done.stdout
    assert set(done.stderr.split()) & HEAVY == set()
    other_methods = {f"noiseclean_scrapy.methods.{m.replace('-', '_')}" for m in METHODS}
    other_methods.remove("noiseclean_scrapy.methods.evidence")
    assert set(done.stderr.split()) & other_methods == set()


@pytest.mark.slow
def test_settings_and_projects_count(tmp_path: Path, demo: DemoCrawl) -> None:
    assert run_console(tmp_path, "sites").stdout == noiseclean(tmp_path, "sites").stdout
    elsewhere = ("-s", "NOISECLEAN_DATABASE_URL=sqlite:///elsewhere.db")
    assert "'elsewhere.db'" in run_console(tmp_path, "sites", *elsewhere, code=1).stderr
    wrong = run_console(tmp_path, "sites", "-s", "NOISECLEAN_COLOUR=red", code=2)
    assert wrong.stderr.startswith("noiseclean sites: there is no setting NOISECLEAN_COLOUR")
    assert "expected NAME=VALUE" in run_console(tmp_path, "sites", "-s", "x", code=2).stderr
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = paper\n")
    (tmp_path / "paper.py").write_text('NOISECLEAN_DATABASE_URL = "sqlite:///paper.db"\n')
    (tmp_path / "below").mkdir()
    for folder in (tmp_path, tmp_path / "below"):
        done = run_console(folder, "sites", code=1)
        assert done.stderr.startswith("noiseclean sites: there is no database 'paper.db'")
    module = {"SCRAPY_SETTINGS_MODULE": "paper", "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    (tmp_path / "scrapy.cfg").unlink()
    assert "'paper.db'" in run_console(tmp_path, "sites", code=1, **module).stderr


def test_databases_that_lie_beside_are_named(tmp_path: Path, demo: DemoCrawl) -> None:
    demo.database.rename(tmp_path / "mine.db")
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0 but no more")
    (tmp_path / "cache.db").touch()
    done = run_console(tmp_path, "search", "port", code=1)
    assert done.stderr == (
        "noiseclean search: there is no database 'noiseclean.db': crawl first, or name another one "
        "with --database (there is mine.db)\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache.db", "mine.db", "other.db"]
    assert demo.site in run_console(tmp_path, "sites", "--database", "mine.db").stdout


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(story(1) * 200, encoding="utf-8")
    command = " ".join(console_command("clean", "page.html"))
    done = run_process(tmp_path, "bash", "-c", f"set -o pipefail; {command} | head -c 5")
    assert (len(done.stdout), done.stderr) == (5, "")
