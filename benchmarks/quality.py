"""How good clean text is: crawls each corpus with the add-on and scores what was stored.

    python benchmarks/quality.py --peers               # the four corpora of many pages a site
    python benchmarks/quality.py --corpus big9-dev --method style-tree --peer goose3
    python benchmarks/quality.py --corpus segments-train --peers --texts texts
    python benchmarks/quality.py --setting NOISECLEAN_CLUSTER_BY=host --worst-out worst
    python benchmarks/quality.py --curve

Every corpus goes through `scrapy crawl archive`, that is through the middleware and the pipeline.
Text is scored against gold text; that of a corpus without any, by the segments of its manifest,
that of recipes by their ingredients and steps.
`--curve` draws learning curves instead, with `SiteCleaner`. The corpora, the scorer and the peers'
runner are those of the folder `shared` beside the repository; peers and the curve need
`pip install "noiseclean-scrapy[bench]"`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

from benchmarks.corpora import ROOT, SHARED, WHOLE_SITES, environment, load_scorer, read_manifest
from benchmarks.extraction import (
    NO_CLEANING,
    PEERS,
    crawl,
    is_installed,
    peer_distributions,
    run_peer,
    scored_rows,
)
from benchmarks.learning import LEAST_PAGES, draw_curves, first_pages, learning_curves
from benchmarks.scores import corpus_report, partial_report, repetition_report, score_texts
from benchmarks.tables import Table, curve_tables, quality_tables
from benchmarks.worst_pages import BadPage, worst, write_worst_pages
from noiseclean_scrapy.methods import METHODS

CURVE_CORPORA = (*WHOLE_SITES, "chaos-dev")
RUNNER = "bench/peers.py"
VERSIONS = ("noiseclean-scrapy", "scrapy", "lxml", "parsel", "sqlalchemy")
WORST_PAGES = 10
WIDTH = 240
"""Columns of output that goes to a file."""
RESULTS = ROOT / "benchmarks/results"
PICTURE = ROOT / "docs/images/learning.png"


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = _parser()
    args = parser.parse_args(argv)
    if not (args.shared / "corpora").is_dir():
        parser.error(f"no corpora in {args.shared}: name the folder with --shared")
    scorer = load_scorer(args.shared)
    chosen = args.corpus or (CURVE_CORPORA if args.curve else WHOLE_SITES)
    corpora = [args.shared / "corpora" / name for name in chosen]
    for corpus in corpora:
        if not scored_rows(read_manifest(corpus)):
            parser.error(f"corpus {corpus.name} has no gold text and no segments to score against")
    if args.curve:
        return _measure_curves(args, scorer, corpora)
    names = [*args.peer, *(PEERS if args.peers else ())]
    peers = installed_peers(parser, names, args.shared / RUNNER)
    return _measure_quality(args, scorer, corpora, peers)


def installed_peers(
    parser: argparse.ArgumentParser, names: Sequence[str], runner: Path
) -> dict[str, str]:
    """The peers to run, with their distributions; says which ones are left out."""
    distributions = peer_distributions(runner) if names else {}
    peers = {}
    for name in dict.fromkeys(names):
        if name not in distributions:
            parser.error(f"there is no peer {name}; the peers are {', '.join(distributions)}")
        distribution = distributions[name]
        if is_installed(distribution):
            peers[name] = distribution
        else:
            print(f"peer {name} is left out: {distribution} is not installed", file=sys.stderr)
    return peers


def _measure_quality(
    args: argparse.Namespace,
    scorer: ModuleType,
    corpora: Sequence[Path],
    peers: Mapping[str, str],
) -> int:
    methods = args.method or list(METHODS)
    results = {}
    bad_pages = {}
    for corpus in corpora:
        texts: dict[str, dict[str, str]] = {}
        for method in methods:
            texts |= crawl(corpus, method, args.setting)
        for peer in peers:
            texts[peer] = run_peer(peer, corpus, args.shared / RUNNER, args.texts)
        rows = scored_rows(read_manifest(corpus))
        ids = {str(row["id"]) for row in rows}
        missing = {row: len(ids - text.keys()) for row, text in texts.items()}
        report: dict[str, Any] = {"pages_without_text": missing}
        if rows[0].get("gold"):
            scored = score_texts(scorer, corpus, texts)
            report |= corpus_report(scorer, corpus, scored, methods)
            report["repetition"] = repetition_report(corpus, texts)
            bad_pages[corpus.name] = _bad_pages(corpus, texts, scored, args.worst or WORST_PAGES)
        else:
            report |= partial_report(scorer, rows, texts, methods)
        results[corpus.name] = report
    versions = dict.fromkeys([*VERSIONS, *sorted(set(peers.values()))])
    figures = {**environment(versions), "settings": args.setting, "results": results}
    publish(quality_tables(results), figures, args.markdown, args.out or RESULTS / "quality.json")
    if args.worst:
        _print_worst(bad_pages)
    if args.worst_out:
        print(write_worst_pages(args.worst_out, scorer.tokens, bad_pages))
    return 0


def _measure_curves(args: argparse.Namespace, scorer: ModuleType, corpora: Sequence[Path]) -> int:
    methods = args.method or list(METHODS)
    curves = learning_curves(scorer, corpora, methods, most=args.curve_pages)
    if not curves:
        least = min(LEAST_PAGES)
        print(f"no site has {least} pages and gold text: there is no curve", file=sys.stderr)
        return 1
    draw_curves(curves, args.picture)
    first = first_pages(scorer, corpora, methods[0], most=args.curve_pages)
    figures = {**environment([*VERSIONS, "matplotlib"]), "curves": curves, "first pages": first}
    publish(curve_tables(figures), figures, args.markdown, args.out or RESULTS / "learning.json")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED)
    default = f"{', '.join(WHOLE_SITES)}; with --curve {', '.join(CURVE_CORPORA)}"
    parser.add_argument("--corpus", action="append", help=f"default: {default}")
    parser.add_argument("--method", action="append", choices=METHODS, help="default: all")
    parser.add_argument("--peer", action="append", default=[], help="a peer of peers.py --list")
    parser.add_argument("--peers", action="store_true", help=f"the peers {', '.join(PEERS)}")
    parser.add_argument("--texts", type=Path, help="folder that keeps the peers' texts for reuse")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--worst", type=int, default=0, help="print the N worst pages a text")
    parser.add_argument("--worst-out", type=Path, help="folder for the worst pages as HTML")
    parser.add_argument("--curve", action="store_true", help="learning curves of the methods")
    parser.add_argument("--curve-pages", type=int, default=5, help="scored pages a site")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where to draw the curve")
    parser.add_argument("--out", type=Path, help="the figures as JSON")
    parser.add_argument("--markdown", type=Path, help="the tables as Markdown")
    return parser


def _bad_pages(
    corpus: Path, texts: Mapping[str, Mapping[str, str]], scored: Mapping[str, Any], count: int
) -> dict[str, list[BadPage]]:
    manifest = {str(row["id"]): row for row in read_manifest(corpus)}
    return {
        row: [
            BadPage(
                page,
                url=manifest[page.id].get("url") or "",
                gold=(corpus / manifest[page.id]["gold"]).read_text(encoding="utf-8"),
                kept=texts[row].get(page.id, ""),
                visible=texts[NO_CLEANING].get(page.id, ""),
            )
            for page in worst(pages, count)
        ]
        for row, pages in scored.items()
    }


def _print_worst(bad_pages: Mapping[str, Mapping[str, Sequence[BadPage]]]) -> None:
    for corpus, rows in bad_pages.items():
        for row, pages in rows.items():
            for page in pages:
                print(f"{page.scored.scores['bag'].f1:.3f}  {corpus}  {row}  {page.scored.id}")


def publish(
    tables: Iterable[Table], figures: Mapping[str, Any], markdown: Path | None, out: Path
) -> None:
    """Print the tables; write them, and the figures with versions and the machine's size."""
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    sections = []
    for table in tables:
        console.print(table.to_rich())
        sections.append(table.to_markdown())
    if markdown:
        markdown.write_text("\n".join(sections), encoding="utf-8")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(figures, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
