"""Both forms of the published methods side by side: on our own corpus, and in the documents."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import papers
from benchmarks.corpora import ROOT
from tests.support.corpora import needs_scorer
from tests.test_quality import shared_folder

__all__ = ["shared_folder"]


@needs_scorer
def test_a_run_compares_both_forms_and_leaves_the_figures_of_others(shared: Path) -> None:
    out, markdown = shared / "papers.json", shared / "papers.md"
    other = {"pages": 3, "sites": 1, "alike": 0.5, "published": {}, "default": {}}
    both = {"f1": 0.25, "p": 0.5, "r": 0.125, "empty": 1}
    other |= {"published": both, "default": both}
    out.write_text(json.dumps({"results": {"tiny": {"block-entropy": other}}}))
    command = ["--shared", str(shared), "--corpus", "tiny", "--method", "style-tree"]
    assert papers.main([*command, "--out", str(out), "--markdown", str(markdown)]) == 0
    found = json.loads(out.read_text())["results"]["tiny"]
    assert found["block-entropy"] == other
    # The menu is on all pages, each article on one.
    exact = {"f1": 1.0, "p": 1.0, "r": 1.0, "empty": 0}
    expected = {"pages": 20, "sites": 2, "alike": 1.0, "published": exact, "default": exact}
    assert found["style-tree"] == expected
    text = markdown.read_text()
    assert "| block-entropy | 0.250 / 0.250 |" in text
    assert "| style-tree | 1.000 / 1.000 |" in text
    assert "| shingle-template |  |" in text


PAGE = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
METHODS = ROOT / "noiseclean_scrapy/methods"
POINTERS = re.findall(r"`([\w./]+\.py)`(?:: ((?:`[\w.]+`(?:, )?)+))?", PAGE)
"""Files that the page names, and what it names in them."""


@pytest.mark.parametrize(("file", "names"), sorted(set(POINTERS)))
def test_what_the_page_names_is_there(file: str, names: str) -> None:
    folders = [METHODS, ROOT, ROOT / "tests/support"]
    (path,) = [folder / file for folder in folders if (folder / file).is_file()]
    code = path.read_text(encoding="utf-8")
    for name in re.findall(r"[\w.]+", names):
        own = name.rpartition(".")[2]
        assert re.search(rf"\b(def|class) {own}\b", code), name


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", PAGE))))
def test_tests_that_the_page_names_are_there(name: str) -> None:
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("test_*.py")]
    assert any(f"def {name}(" in text for text in tests)


def test_how_often_the_chosen_threshold_is_the_optimal_one() -> None:
    report = json.loads((ROOT / "benchmarks/results/mining.json").read_text(encoding="utf-8"))
    means = report["features"]["mean"]["all"]
    found = means["element"]
    told = f"the same on {found['same']} of {means['sites']} sites, at most one step apart on"
    assert f"{told} {found['next']} |" in PAGE


def test_tables_of_the_documentation_are_those_of_the_figures() -> None:
    report = json.loads((ROOT / "benchmarks/results/papers.json").read_text(encoding="utf-8"))
    tables = list(papers.tables(report["results"]))
    assert len(tables) == 4
    for table in tables:
        assert table.to_markdown().partition("\n\n")[2] in PAGE, table.title
