"""One command for all benchmarks: none is forgotten, and a failure does not end the others."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks import all as all_benchmarks
from benchmarks.corpora import ROOT

RESULTS = ROOT / "benchmarks/results/mining.json"
TABLES = "mining --experiment --out {out} --markdown {{logs}}/mining.md"


def with_main() -> set[str]:
    """The modules that have a command line."""
    found = set()
    for path in (ROOT / "benchmarks").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found.add(path.stem)
    return found


def test_every_benchmark_runs_or_is_left_out_for_a_reason() -> None:
    run = {command.split()[0] for commands in all_benchmarks.RUNS.values() for command in commands}
    left_out = all_benchmarks.LEFT_OUT
    assert run | left_out.keys() == with_main()
    assert run.isdisjoint(left_out)
    assert all(left_out.values())


def test_every_file_of_figures_has_a_name_here() -> None:
    figures = {path.stem for path in (ROOT / "benchmarks/results").glob("*.json")}
    assert figures <= all_benchmarks.RUNS.keys() | all_benchmarks.LEFT_OUT.keys()


def commands() -> list[str]:
    return [command for found in all_benchmarks.RUNS.values() for command in found]


@pytest.mark.extras
@pytest.mark.parametrize("command", commands())
def test_every_command_is_understood(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its parser takes all arguments and answers the `--help` behind them."""
    _, module, *arguments = all_benchmarks.arguments_of(command, tmp_path)
    found = pytest.importorskip(module, reason="its packages are in the extras bench and train")
    with pytest.raises(SystemExit) as ended:
        found.main([*arguments, "--help"])
    assert ended.value.code == 0
    assert "usage" in capsys.readouterr().out


@pytest.mark.extras
def test_the_next_one_runs_after_a_failure(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sklearn", reason="the extra bench")
    out = tmp_path / "mining.json"
    out.write_bytes(RESULTS.read_bytes())
    logs = tmp_path / "logs"
    runs = {
        "broken": ["facts --shared nowhere", TABLES.format(out=tmp_path / "never.json")],
        "tables": [TABLES.format(out=out)],
    }
    assert all_benchmarks.run_all(runs, logs) == 1
    printed = capfd.readouterr()
    assert "broken: failed with exit status 2 after " in printed.out
    assert "no corpora in nowhere" in (logs / "broken.txt").read_text()
    assert not (tmp_path / "never.json").exists()
    assert "tables: " in printed.out
    assert "k-means" in (logs / "tables.txt").read_text()
    assert (logs / "mining.md").read_text().startswith("## ")
    assert printed.err == "1 of 2 failed: broken\n"


@pytest.mark.extras
def test_only_one_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its commands write their tables to a folder of the test's."""
    pytest.importorskip("sklearn", reason="the extra bench")
    out = tmp_path / "mining.json"
    out.write_bytes(RESULTS.read_bytes())
    monkeypatch.setitem(all_benchmarks.RUNS, "mining", [TABLES.format(out=out)])
    assert all_benchmarks.main(["--only", "mining", "--logs", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("mining: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "mining.json",
        "mining.md",
        "mining.txt",
    ]


def test_list_tells_the_commands_and_runs_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "logs"
    assert all_benchmarks.main(["--list", "--only", "drift", "facts", "--logs", str(logs)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        f"drift: python -m benchmarks.drift --markdown {logs}/drift.md",
        "facts: python -m benchmarks.facts",
    ]
    assert len(lines) == 2 + len(all_benchmarks.LEFT_OUT)
    assert not logs.exists()


def test_a_name_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        all_benchmarks.main(["--only", "nothing"])
    assert "invalid choice: 'nothing'" in capsys.readouterr().err
