"""The documentation says all that there is, and nothing that there is not."""

from __future__ import annotations

import argparse
import ast
import doctest
import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

import noiseclean_scrapy
from benchmarks import headline
from benchmarks.tables import quality_tables
from noiseclean_scrapy import errors
from noiseclean_scrapy.commands import Command
from noiseclean_scrapy.config import ITEM_VALUES, Config

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SOURCES = sorted((ROOT / "noiseclean_scrapy").rglob("*.py"))
PAGES = sorted(DOCS.glob("*.md"))
OF_THE_PROJECT = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]
SETTINGS = {f"NOISECLEAN_{field.name.upper()}" for field in fields(Config)}
SETTINGS -= {"NOISECLEAN_TEMPLATES"}  # it follows from another


def document(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def rows(text: str) -> dict[str, list[str]]:
    """The rows of all tables: the names in code of the first cell, each with the other cells."""
    found = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            first, *others = (cell.strip() for cell in line.strip("| ").split(" | "))
            for name in re.findall(r"`([^`]+)`", first):
                found[name] = others
    return found


def test_every_setting_stands_in_the_reference_with_its_default() -> None:
    config = Config()
    documented = {
        name: cells
        for name, cells in rows(document("settings.md")).items()
        if name.startswith("NOISECLEAN_")
    }
    assert documented.keys() == SETTINGS
    for name in SETTINGS - {"NOISECLEAN_CLUSTER_BY", "NOISECLEAN_OVERRIDES"}:
        field = name.removeprefix("NOISECLEAN_").lower()
        assert documented[name][0] == shown(getattr(config, field)), name


def test_settings_that_are_shown_are_taken() -> None:
    text = "".join(path.read_text("utf-8") for path in (*PAGES, *OF_THE_PROJECT))
    blocks = re.findall(r"```python\n(NOISECLEAN_.*?)```", text, re.DOTALL)
    # Not what names modules and files of yours.
    blocks = [block for block in blocks if not re.search(r"\bmy|example|\.toml", block)]
    assert blocks
    for block in blocks:
        lines = [line for line in ast.parse(block).body if isinstance(line, ast.Assign)]
        values = {ast.unparse(at.targets[0]): ast.literal_eval(at.value) for at in lines}
        assert values.keys() <= SETTINGS
        Config.from_settings(Settings(values))


def shown(value: Any) -> str:
    """A default as the reference shows it."""
    if value in (None, "", (), {}):
        return "none"
    if isinstance(value, Mapping):
        return f"`{value}`".replace("'", '"')
    return f"`{value}`"


def test_every_item_value_stands_in_the_reference() -> None:
    [_, meaning] = rows(document("settings.md"))["NOISECLEAN_FIELDS"]
    assert set(re.findall(r"`(\w+)`", meaning)) == set(ITEM_VALUES)
    assert rows(document("fields.md")).keys() == set(ITEM_VALUES)


def test_every_stat_stands_in_the_reference() -> None:
    assert {name for name in rows(document("stats.md")) if "/" in name} == set(written_stats())


_COUNTED = "count(self.crawler, "


def written_stats() -> Iterator[str]:
    """The stats that the code writes: string constants, and names given to `starting.count`."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if re.fullmatch(r"noiseclean/[\w/]+\w", node.value):
                    yield node.value
            elif isinstance(node, ast.Call) and ast.unparse(node).startswith(_COUNTED):
                yield f"noiseclean/{ast.literal_eval(node.args[1])}"
    yield from (f"noiseclean/archive/{problem}" for problem in ("missing", "damaged"))


def test_every_meta_key_stands_in_the_reference() -> None:
    keys = {
        key
        for path in SOURCES
        for key in re.findall(r"""\bmeta(?:\.get\(|\[)["'](\w+)["']""", path.read_text("utf-8"))
    }
    keys -= {"depth", "download_slot", "is_start_request", "redirect_urls"}  # Scrapy's own
    keys -= {"handle_httpstatus_all", "handle_httpstatus_list"}
    assert keys == {"noiseclean"}
    assert rows(document("settings.md")).keys() >= keys


def test_every_command_stands_in_the_reference() -> None:
    headings = re.findall(r"^## .*$", document("commands.md"), re.MULTILINE)
    words = {word for heading in headings for word in re.findall(r"[\w-]+", heading)}
    assert {"clean", "search"} < set(command_names()) <= words


def command_names() -> list[str]:
    parser = argparse.ArgumentParser()
    command = Command()
    command.settings = Settings()
    command.add_options(parser)
    return re.findall(r"^    ([\w-]+)(?:  |$)", parser.format_help(), re.MULTILINE)


# Variables of the environment, no settings.
ENVIRONMENT = {"NOISECLEAN_PURE_PYTHON", "NOISECLEAN_TEST_POSTGRESQL"}


def test_every_extra_stands_on_the_installation_page() -> None:
    extras = metadata("noiseclean-scrapy").get_all("Provides-Extra") or []
    assert rows(document("installation.md")).keys() == set(extras)


def test_every_public_name_stands_in_the_reference() -> None:
    reference = document("api.md")
    for name in noiseclean_scrapy.__all__:
        own_module = getattr(noiseclean_scrapy, name).__module__
        is_error = own_module == errors.__name__
        directive = (
            f"automodule:: {own_module}" if is_error else f"autoclass:: noiseclean_scrapy.{name}"
        )
        assert directive in reference


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=lambda path: path.name)
def test_settings_that_are_spoken_of_exist(path: Path) -> None:
    names = {f"NOISECLEAN_{field.name.upper()}" for field in fields(Config)}
    spoken_of = set(re.findall(r"\bNOISECLEAN_[A-Z_]*[A-Z]", path.read_text("utf-8")))
    assert spoken_of - names - ENVIRONMENT == set()


@pytest.mark.parametrize("path", [*PAGES, *OF_THE_PROJECT], ids=lambda path: path.name)
def test_links_lead_to_files(path: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#\s]+)", path.read_text("utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize(
    "path", [path for path in PAGES if ">>>" in path.read_text("utf-8")], ids=lambda path: path.name
)
def test_examples_give_what_they_show(path: Path) -> None:
    text = re.sub(r"^```.*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    assert doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(test).failed == 0


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_page_begins_with_what_it_is_for(path: Path) -> None:
    title, *rest = path.read_text("utf-8").splitlines()
    if title.startswith("```{include}"):
        title, *rest = (DOCS / title.split()[1]).read_text("utf-8").splitlines()
    assert title.startswith("# ")
    assert rest[0] == ""
    assert re.match(r"[\w`\[]", rest[1])
    assert not rest[1].startswith("```")


def test_every_page_is_reached_from_the_front_page() -> None:
    contents = re.findall(r"```{toctree}\n(.*?)```", document("index.md"), re.DOTALL)
    listed = {f"{line}.md" for block in contents for line in block.splitlines()}
    assert {path.name for path in PAGES} - {"index.md"} <= listed


def test_figures_of_the_readme_are_those_that_were_measured() -> None:
    table = "\n".join(headline.lines())
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"\n\n{table}\n\n" in readme
    assert headline.search_sentence() in " ".join(readme.split())
    workbench = document("workbench.md")
    assert headline.pointing_sentence() in " ".join(workbench.split())


def test_tables_of_quality_are_those_that_were_measured() -> None:
    """All but those of single sites, which are in the file alone."""
    figures = json.loads((headline.RESULTS / "quality.json").read_text("utf-8"))
    tables = [table for table in quality_tables(figures["results"]) if "by site" not in table.title]
    shown = document("benchmarks.md")
    for table in tables:
        _, table_only = table.to_markdown().split("\n\n")
        assert table_only in shown, table.title


def test_changelog_keeps_its_form() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    versions = [line for line in lines if line.startswith("## ")]
    assert versions[0] == "## [Unreleased]"
    for line in versions[1:]:
        assert re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", line)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert {line[4:] for line in lines if line.startswith("### ")} <= kinds


def hooks() -> list[str]:
    text = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    return re.findall(r"^ *entry: (.+)$", text, re.MULTILINE)


def test_checks_before_a_commit_are_those_of_ci() -> None:
    ci = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    *checks, _ = hooks()
    assert checks
    assert set(checks) <= set(ci)


@pytest.mark.parametrize(("length", "code"), [(72, 0), (73, 1)])
def test_long_commit_titles_are_refused(tmp_path: Path, length: int, code: int) -> None:
    message = tmp_path / "COMMIT_EDITMSG"
    message.write_text(f"{'t' * length}\n\n{'b' * 90}\n")
    command = [*shlex.split(hooks()[-1]), str(message)]
    assert subprocess.run(command, capture_output=True).returncode == code


def test_the_architecture_names_all_parts_that_exist() -> None:
    """On the page, and in its picture (docs/pictures/architecture.py)."""
    package = ROOT / "noiseclean_scrapy"
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    page = document("architecture.md").partition("## The life of a page")[0]
    assert rows(page).keys() == modules | folders
    picture = (DOCS / "images" / "house.svg").read_text("utf-8")
    named = set(re.findall(r"[\w/]+/|\w+\.py", " ".join(re.findall(r">([^<]+)<", picture))))
    assert named >= modules | folders


def test_drawings_are_those_of_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    drawings = import_module("pictures.architecture").DRAWINGS
    for name, draw in drawings.items():
        assert (DOCS / "images" / f"{name}.svg").read_text("utf-8") == draw()
