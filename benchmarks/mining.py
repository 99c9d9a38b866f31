"""The papers' own experiments: clustering, classification, features of blocks, levels of pages.

    python benchmarks/mining.py                      # everything, on SWDE and on the made-up shops
    python benchmarks/mining.py --experiment clustering --data shops --method feature-weighting
    python benchmarks/mining.py --data PATH          # a folder whose manifest.jsonl holds `label`
    python benchmarks/mining.py --experiment --markdown tables.md    # no run, only the tables

A run replaces the figures of its own experiments, data and texts in the JSON file; all others
stay, and the tables and pictures show all of them. The corpora and SWDE are in the folder `shared`
beside the repository. It needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora import ROOT, SHARED, environment
from benchmarks.experiments import classification, clustering, features, levels
from benchmarks.experiments.labelled import (
    SHOPS,
    controls,
    feature_vectors,
    read_labelled,
)
from benchmarks.extraction import NO_CLEANING
from benchmarks.reporting import earlier_figures, publish_figures, report_parser
from benchmarks.tables import Table
from noiseclean_scrapy.methods import METHODS

DATA = ("swde", SHOPS)
ON_LABELS = ("clustering", "classification")
EXPERIMENTS = (*ON_LABELS, "features", "levels")
THRESHOLDS = (0.2, 0.4, 0.6)
VERSIONS = ("noiseclean-scrapy", "numpy", "scikit-learn", "scipy")


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    args = _parser().parse_args(argv)
    found = earlier_figures(args)
    if set(ON_LABELS) & set(args.experiment):
        for data in args.data:
            for experiment, figures in mine(data, args).items():
                known = found.setdefault(experiment, {})
                known[Path(data).name] = joined(known.get(Path(data).name, {}), figures)
    if "features" in args.experiment:
        found["features"] = {**environment(VERSIONS), **features.run(args.shared, args.pictures)}
    if "levels" in args.experiment:
        found["levels"] = {**environment(VERSIONS), **levels.run(args.shared)}
    if "clustering" in args.experiment:
        clustering.draw(found["clustering"], args.pictures / "clustering.png")
    publish_figures(args, mining_tables(found), found)
    return 0


def mine(data: str, args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The experiments on one set of labelled pages; a text is a method with its options."""
    pages = read_labelled(data, args.shared)
    labels, sites = [page.label for page in pages], [page.site for page in pages]
    texts: dict[str, tuple[str, dict[str, Any]]] = {
        name: (name, {}) for name in (NO_CLEANING, *args.method)
    }
    if "style-tree" in args.method:
        for t in args.threshold:
            texts[f"style-tree, t = {t}"] = ("style-tree", {"threshold": t})
    vectors = {
        name: feature_vectors(pages, method, **options) for name, (method, options) in texts.items()
    }
    vectors |= controls(vectors[NO_CLEANING], sites)
    head = {
        **environment(VERSIONS),
        "pages": len(pages),
        "sites": len(set(sites)),
        "classes": sorted(set(labels)),
        "pages_without_features": {
            name: sum(not vector for vector in rows) for name, rows in vectors.items()
        },
    }
    result = {}
    if "clustering" in args.experiment:
        found = clustering.run(vectors, labels, sites, args.runs)
        result["clustering"] = {**head, "runs": args.runs, "texts": found}
    if "classification" in args.experiment:
        result["classification"] = {**head, **classification.run(vectors, labels, sites)}
    return result


def joined(known: Mapping[str, Any], figures: Mapping[str, Any]) -> dict[str, Any]:
    """New figures, with those of the texts that were not measured again."""
    by_text = ("texts", "pages_without_features")
    return {**figures, **{part: {**known.get(part, {}), **figures[part]} for part in by_text}}


def mining_tables(report: Mapping[str, Any]) -> Iterator[Table]:
    """The tables of all experiments that the report has."""
    for module in (clustering, classification, features, levels):
        name = module.__name__.rpartition(".")[2]
        if name in report:
            yield from module.tables(report[name])


def _parser() -> argparse.ArgumentParser:
    parser = report_parser(__doc__, "mining")
    parser.add_argument(
        "--experiment",
        nargs="*",
        choices=EXPERIMENTS,
        default=EXPERIMENTS,
        help="default: all; with no name, only the tables of what --out holds",
    )
    parser.add_argument("--data", nargs="+", default=DATA, help=f"default: {' '.join(DATA)}")
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--runs", type=int, default=800, help="runs of k-means a text")
    parser.add_argument(
        "--threshold",
        nargs="*",
        type=float,
        default=THRESHOLDS,
        help="thresholds to give the style tree besides its own choice, default: 0.2 0.4 0.6",
    )
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--pictures", type=Path, default=ROOT / "docs/images", help="their folder")
    return parser


if __name__ == "__main__":
    sys.exit(main())
