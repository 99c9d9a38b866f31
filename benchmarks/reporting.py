"""What benchmarks do with their figures: the options for it, tables, and JSON files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.corpora import ROOT
from benchmarks.tables import Table

_PRINTED = Path("-")


def report_parser(doc: str | None, name: str) -> argparse.ArgumentParser:
    """A parser with `--out`, by default the file of results called `name`, and `--markdown`."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    out = ROOT / f"benchmarks/results/{name}.json"
    parser.add_argument("--out", type=Path, default=out, help="the figures as JSON")
    parser.add_argument(
        "--markdown",
        type=Path,
        nargs="?",
        const=_PRINTED,
        metavar="FILE",
        help="the tables as Markdown, in a file or printed",
    )
    return parser


def earlier_figures(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of earlier runs."""
    found: dict[str, Any] = json.loads(args.out.read_text("utf-8")) if args.out.exists() else {}
    return found


def publish_figures(
    args: argparse.Namespace, tables: Iterable[Table], figures: Mapping[str, Any]
) -> None:
    """Print the tables, and write them and the figures where the options want them."""
    # Here, since a process whose memory is measured imports this module as well.
    from benchmarks.quality import publish

    markdown = args.markdown
    if markdown == _PRINTED:
        for table in tables:
            print(table.to_markdown())
        markdown, tables = None, ()
    publish(tables, figures, markdown, args.out)
