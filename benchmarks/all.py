"""Run all benchmarks: each in turn, in a process of its own.

    python -m benchmarks.all                        # hours
    python -m benchmarks.all --only mining search
    python -m benchmarks.all --list

Figures and pictures go where each benchmark puts them: `benchmarks/results`, `docs/images`. What it
prints goes to `build/benchmarks/NAME.txt`; its tables as Markdown stand there or in `NAME.md`.
After a benchmark that fails the next one runs; the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.corpora import ROOT

LOGS = ROOT / "build/benchmarks"
SINGLE_PAGES = "--corpus wcxb-dev --corpus chaos-dev --corpus segments-train"

RUNS: dict[str, list[str]] = {
    "quality": ["quality --peers --texts {logs}/texts --markdown {logs}/quality.md"],
    "single_pages": [
        f"quality {SINGLE_PAGES} --peers --texts {{logs}}/texts"
        " --markdown {logs}/single_pages.md --out benchmarks/results/single_pages.json"
    ],
    "learning": ["quality --curve --markdown {logs}/learning.md"],
    "left_out": [
        "train_evidence --validate-only --left-out {logs}/texts",
        "left_out --texts {logs}/texts --markdown {logs}/left_out.md",
    ],
    "facts": ["facts"],
    "papers": ["papers --corpus cleanportaleval big9-dev blogs-dev --markdown {logs}/papers.md"],
    "mining": ["mining --markdown {logs}/mining.md"],
    "sampling": ["sampling --markdown {logs}/sampling.md"],
    "search": ["search --texts {logs}/texts --markdown {logs}/search.md"],
    "drift": ["drift --markdown {logs}/drift.md"],
    "poisoning": ["poisoning --markdown {logs}/poisoning.md"],
    "focused": ["focused --harvest", "focused --freshness --seeds 4 --markdown"],
    "focused_bounds": ["focused_bounds --markdown"],
    "robustness": ["robustness --all-corpora --thousand-pages"],
    "hostile": ["hostile --markdown"],
    "memory": [
        "memory trees --method evidence --method style-tree --markdown",
        "memory trees --method feature-weighting --pages 1000 --markdown",
        "memory sites --markdown",
    ],
    "speed": ["speed --pages 18 --markdown"],
    "crawl": ["crawl --rounds 1 --markdown"],
    "crawl_stages": ["crawl_stages --markdown"],
    "spark": ["spark --markdown"],
    "pointing": ["pointing --markdown {logs}/pointing.md"],
    "workbench": ["workbench --markdown {logs}/workbench.md"],
}
"""By the name of their figures, commands without `python -m benchmarks.`; `{logs}` is the folder.

A command that fails ends those of its name. The peers' texts are kept in the folder.
"""
LEFT_OUT = {
    "all": "is this one",
    "documents": "measures nothing, but puts new figures into the documentation",
    "distributed": "needs a Redis and a PostgreSQL server, and measures these",
    "fewest_features": "trains once for each number of features, for hours",
    "frontier": "needs a redis-server and, for ten million requests, ten minutes",
    "plan": "measures nothing: arithmetic",
    "politeness": "needs a Redis and a PostgreSQL server",
    "rows": "needs a PostgreSQL server",
    "soak": "passes or fails, after an hour: a step of .ci/nightly",
}
"""Benchmarks that do not run here, and why."""


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; the exit status is 1 where a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=RUNS, metavar="NAME", help="default: all")
    parser.add_argument("--list", action="store_true", help="print the commands, run none")
    parser.add_argument("--logs", type=Path, default=LOGS, help="folder for what they print")
    args = parser.parse_args(argv)
    runs = {name: RUNS[name] for name in args.only or RUNS}
    if not args.list:
        return run_all(runs, args.logs)
    for name, commands in runs.items():
        for command in commands:
            print(f"{name}: python {' '.join(arguments_of(command, args.logs))}")
    for name, reason in LEFT_OUT.items():
        print(f"{name} is left out: {reason}")
    return 0


def arguments_of(command: str, logs: Path) -> list[str]:
    """The arguments of a new Python process that runs a command of `RUNS`."""
    module, *arguments = command.split()
    return ["-m", f"benchmarks.{module}", *(part.format(logs=logs) for part in arguments)]


def run_all(runs: Mapping[str, Sequence[str]], logs: Path) -> int:
    """Run the commands of each name, say how long they took; 1 where one failed, else 0."""
    logs = logs.resolve()
    logs.mkdir(parents=True, exist_ok=True)
    failed = []
    for name, commands in runs.items():
        started = time.monotonic()
        log = logs / f"{name}.txt"
        status = _run(commands, log, logs)
        seconds = f"{time.monotonic() - started:.0f} s"
        if status:
            failed.append(name)
            print(f"{name}: failed with exit status {status} after {seconds}, see {log}")
        else:
            print(f"{name}: {seconds}", flush=True)
    if failed:
        print(f"{len(failed)} of {len(runs)} failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _run(commands: Sequence[str], log: Path, logs: Path) -> int:
    """The exit status of the first command that fails, 0 if none does."""
    with log.open("wb") as out:
        for command in commands:
            status = subprocess.run(
                [sys.executable, *arguments_of(command, logs)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
            if status:
                return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
