"""New figures into the documentation: tables as the old ones print them become those of the new.

    python -m benchmarks.documents                  # after python -m benchmarks.all
    python -m benchmarks.documents --since HEAD~3

The old figures are those of a commit, the new ones the files in `benchmarks/results`. A table that
stands in README.md or docs/*.md as the old figures print it is replaced. What has changed and
stands nowhere is named: its place was laid out by hand. So was what the text around says.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks import (
    drift,
    facts,
    focused,
    headline,
    left_out,
    mining,
    papers,
    pointing,
    poisoning,
    sampling,
    search,
    speed,
    workbench,
)
from benchmarks.corpora import ROOT
from benchmarks.tables import Table, curve_tables, quality_tables

Reader: TypeAlias = Callable[[str], Any]
"""Gives the figures of a file of results by its name, without ending."""

TABLES: Mapping[str, Callable[[Any], Iterable[Table]]] = {
    "quality": lambda report: quality_tables(report["results"]),
    "single_pages": lambda report: quality_tables(report["results"]),
    "learning": curve_tables,
    "left_out": lambda report: left_out.tables(report["results"]),
    "facts": lambda report: facts.tables(report["results"]),
    "papers": lambda report: papers.tables(report["results"]),
    "mining": mining.mining_tables,
    "sampling": lambda report: [sampling.table(report["results"], report["draws"])],
    "search": search.search_tables,
    "drift": lambda report: [drift.table(report["results"])],
    "poisoning": lambda report: [poisoning.table(report["results"])],
    "focused": focused.tables,
    "speed": speed.tables,
    "pointing": lambda report: [pointing.table(report)],
    "workbench": lambda report: [workbench.table(report)],
}


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", default="HEAD", help="commit of the old figures, default: HEAD")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    args = parser.parse_args(argv)
    changes = changed(committed(args.root, args.since), present(args.root))
    pages = sorted([args.root / "README.md", *args.root.glob("docs/*.md")])
    for title, (old, new) in changes.items():
        found = [page for page in pages if replace(page, old, new)]
        places = ", ".join(str(page.relative_to(args.root)) for page in found)
        print(f"{title}: {places or 'stands nowhere as it is printed'}")
    return 0


def committed(root: Path, commit: str) -> Reader:
    """Reads the figures of a commit; what is not in it raises `KeyError`."""

    def read(name: str) -> Any:
        source = f"{commit}:benchmarks/results/{name}.json"
        found = subprocess.run(["git", "show", source], cwd=root, check=False, capture_output=True)
        if found.returncode:
            raise KeyError(found.stderr.decode().strip())
        return json.loads(found.stdout)

    return read


def present(root: Path) -> Reader:
    """Reads the figures as they are now."""
    return partial(headline.figures_of, results=root / "benchmarks/results")


def changed(old: Reader, new: Reader) -> dict[str, tuple[str, str]]:
    """The Markdown of each table that has changed, before and after, by its title."""
    changes = {"README": ("\n".join(headline.lines(old)), "\n".join(headline.lines(new)))}
    for name, tables in TABLES.items():
        after = list(tables(new(name)))
        try:
            before = list(tables(old(name)))
        except KeyError as error:
            print(f"{name}: the old figures have no such tables ({error.args[0]})")
            continue
        if len(before) != len(after):
            print(f"{name}: {len(before)} tables before, {len(after)} now: to be changed by hand")
            continue
        for one, other in zip(before, after, strict=True):
            changes[f"{name}, {other.title}"] = (_rows(one), _rows(other))
    return {title: both for title, both in changes.items() if both[0] != both[1]}


def replace(page: Path, old: str, new: str) -> bool:
    """Replace a table wherever it stands on a page as a whole; whether it does."""
    text, count = re.subn(rf"{re.escape(old)}(?!\n?\|)", lambda _: new, page.read_text("utf-8"))
    if count:
        page.write_text(text, encoding="utf-8")
    return bool(count)


def _rows(table: Table) -> str:
    """The table without its title."""
    return table.to_markdown().partition("\n\n")[2].rstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
