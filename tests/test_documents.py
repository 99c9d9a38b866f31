"""New figures go into the documentation: a repository whose figures have changed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn", reason="scikit-learn is in the extra bench")
pytest.importorskip("matplotlib", reason="matplotlib is in the extra bench")

from benchmarks import documents, headline
from benchmarks.corpora import ROOT

pytestmark = pytest.mark.extras


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(name="repository")
def copied_repository(tmp_path: Path) -> Path:
    """The figures and pages of this repository, committed."""
    shutil.copytree(ROOT / "benchmarks/results", tmp_path / "benchmarks/results")
    (tmp_path / "docs").mkdir()
    for page in ["README.md", *(f"docs/{page.name}" for page in ROOT.glob("docs/*.md"))]:
        shutil.copy(ROOT / page, tmp_path / page)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "Figures")
    return tmp_path


def pages(repository: Path) -> dict[str, str]:
    found = [repository / "README.md", *repository.glob("docs/*.md")]
    return {page.name: page.read_text(encoding="utf-8") for page in found}


def figures(repository: Path, name: str) -> Any:
    return json.loads((repository / f"benchmarks/results/{name}.json").read_text("utf-8"))


def write(repository: Path, name: str, report: Any) -> None:
    (repository / f"benchmarks/results/{name}.json").write_text(json.dumps(report), "utf-8")


def changed_lines(before: dict[str, str], after: dict[str, str]) -> dict[str, list[str]]:
    return {
        name: [
            new
            for old, new in zip(before[name].split("\n"), after[name].split("\n"), strict=True)
            if old != new
        ]
        for name in before
        if before[name] != after[name]
    }


def test_without_new_figures_nothing_changes(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = pages(repository)
    assert documents.main(["--root", str(repository)]) == 0
    assert pages(repository) == before
    assert capsys.readouterr().out == ""


def test_a_table_is_replaced_where_it_stands(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, report = pages(repository), figures(repository, "papers")
    report["results"]["big9-dev"]["style-tree"]["alike"] = 0.123
    write(repository, "papers", report)
    assert documents.main(["--root", str(repository)]) == 0
    (lines,) = changed_lines(before, pages(repository)).values()
    assert [line.split(" | ")[2] for line in lines] == ["12.3"]
    assert capsys.readouterr().out.endswith("with the same verdict, in %: docs/papers.md\n")


def test_the_table_of_the_readme_is_replaced(repository: Path) -> None:
    before, report = pages(repository), figures(repository, "quality")
    part = report["results"]["big9-dev"]["parts"]["all"]
    part["texts"]["no cleaning"]["bag"]["f1"] = 0.1234
    write(repository, "quality", report)
    assert documents.main(["--root", str(repository)]) == 0
    after = pages(repository)
    assert "\n".join(headline.lines(documents.present(repository))) in after["README.md"]
    assert len(changed_lines(before, after)["README.md"]) == 1


def test_what_stands_nowhere_as_it_is_printed_is_named(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = repository / "docs/papers.md"
    page.write_text(page.read_text("utf-8").replace("| style-tree | 9", "| the style tree | 9"))
    before, report = pages(repository), figures(repository, "papers")
    report["results"]["big9-dev"]["style-tree"]["alike"] = 0.123
    write(repository, "papers", report)
    assert documents.main(["--root", str(repository)]) == 0
    assert pages(repository) == before
    assert "in %: stands nowhere as it is printed" in capsys.readouterr().out


def test_figures_that_are_new_have_no_table_to_replace(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = figures(repository, "sampling")
    git(repository, "rm", "-q", "--cached", "benchmarks/results/sampling.json")
    git(repository, "commit", "-q", "-m", "Without samples")
    before = pages(repository)
    write(repository, "sampling", report)
    assert documents.main(["--root", str(repository)]) == 0
    assert pages(repository) == before
    assert "sampling: the old figures have no such tables" in capsys.readouterr().out


def test_a_table_that_goes_on_is_another_one(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("| a |\n| 1 |\n| 2 |\n\n| a |\n| 1 |\n", encoding="utf-8")
    assert documents.replace(page, "| a |\n| 1 |", "| a |\n| 3 |")
    assert page.read_text("utf-8") == "| a |\n| 1 |\n| 2 |\n\n| a |\n| 3 |\n"
