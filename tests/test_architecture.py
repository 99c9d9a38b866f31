"""The house of docs/architecture.md: no circle of imports, and its rules on who may import whom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

pytest.importorskip("grimp", reason="the graph of imports needs the extra dev")

import grimp

from tests.support.command_line import ROOT

pytestmark = pytest.mark.extras
PACKAGE = "noiseclean_scrapy"
CORE = ("page", "methods", "kernels", "cleaner", "clean_page", "notebook", "topic")
ABOVE_CORE = (
    "commands",
    "addon",
    "config",
    "clusters",
    "crawl",
    "store",
    "output",
    "report",
    "web",
)


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(
        PACKAGE, include_external_packages=True, exclude_type_checking_imports=True
    )


def modules(*parts: str) -> set[str]:
    """The modules of some parts of the package, each a module or a folder."""
    found = {f"{PACKAGE}.{part}" for part in parts} & graph().modules
    return found.union(*map(graph().find_descendants, found))


def imports(importers: set[str], *imported: str) -> set[tuple[str, str]]:
    """Who of the importers imports, itself, a module that begins with one of the names."""
    return {
        (importer, name)
        for importer in importers
        for name in graph().find_modules_directly_imported_by(importer)
        if any(name == head or name.startswith(f"{head}.") for head in imported)
    }


def test_no_module_imports_itself_in_a_circle() -> None:
    ours = {name for name in graph().modules if name.split(".")[0] == PACKAGE}
    edges = {name: graph().find_modules_directly_imported_by(name) & ours for name in ours}
    assert circle(edges) == []


def test_no_two_parts_use_each_other() -> None:
    """But for the commands and the program of Spark, which is a command itself."""
    parts: dict[str, set[str]] = {}
    for name in graph().modules:
        if name.startswith(f"{PACKAGE}.") and name != f"{PACKAGE}.batch.spark":
            used = graph().find_modules_directly_imported_by(name)
            part = name.split(".")[1]
            found = {other.split(".")[1] for other in used if other.startswith(f"{PACKAGE}.")}
            parts.setdefault(part, set()).update(found - {part})
    assert circle(parts) == []


def circle(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """Names that lead back to themselves, if there are any."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as found:
        return list(reversed(found.args[1]))
    return []


def test_the_core_knows_neither_scrapy_nor_sqlalchemy_nor_what_stands_above_it() -> None:
    above = (f"{PACKAGE}.{part}" for part in ABOVE_CORE)
    assert imports(modules(*CORE), "scrapy", "twisted", "sqlalchemy", *above) == set()


def test_the_store_does_not_know_scrapy() -> None:
    assert imports(modules("store"), "scrapy", "twisted", f"{PACKAGE}.config") == set()


def test_reports_and_commands_are_used_by_themselves_alone() -> None:
    others = {name for name in graph().modules if name.startswith(PACKAGE)}
    others -= modules("report", "web", "commands")
    found = imports(others, f"{PACKAGE}.report", f"{PACKAGE}.web", f"{PACKAGE}.commands")
    programs = {f"{PACKAGE}.__main__", f"{PACKAGE}.batch.spark"}
    assert {importer for importer, _ in found} <= programs


def test_settings_are_read_in_one_place() -> None:
    assert sources_with(r'settings(\.get\w*\(|\[)\s*"?(NOISECLEAN_|PREFIX)') == set()
    assert sources_with(r"settings\.items\(\)") == {"config.py"}


def test_only_components_and_spiders_touch_the_crawler() -> None:
    components = {"addon.py", "middleware.py", "pipeline.py", "progress.py", "revisits.py"}
    components |= {"metrics.py", "scheduler.py", "warc_output.py"}
    start = {"companions.py", "starting.py"}  # what the components share when a crawl begins
    spiders = {"fetching.py", "replay.py", "running.py", "site_spider.py"}  # and what runs them
    assert sources_with(r"\bcrawler\.\w") <= components | start | spiders


def sources_with(pattern: str) -> set[str]:
    """The names of the package's files in which a pattern is found."""
    return {
        path.name
        for path in (ROOT / PACKAGE).rglob("*.py")
        if re.search(pattern, path.read_text(encoding="utf-8"))
    }
