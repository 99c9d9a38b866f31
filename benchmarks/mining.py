"""The papers' experiments in data mining: does cleaning help to cluster and to classify pages?

    python benchmarks/mining.py                      # everything, on SWDE and on the made-up shops
    python benchmarks/mining.py --experiment clustering --data shops --runs 100 --out shops.json
    python benchmarks/mining.py --data PATH          # a folder whose manifest.jsonl holds `label`

SWDE is in the folder `shared` beside the repository. It needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.corpora import ROOT, SHARED, environment
from benchmarks.experiments import classification, clustering
from benchmarks.experiments.labelled import NO_CLEANING, SHOPS, feature_vectors, read_labelled
from noiseclean_scrapy.methods import METHODS

DATA = ("swde", SHOPS)
ON_LABELS = ("clustering", "classification")
THRESHOLDS = (0.2, 0.4, 0.6)
OF_A_MODULE = ("features", "levels")
VERSIONS = ("noiseclean-scrapy", "numpy", "scikit-learn", "scipy")


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=DATA, help="default: swde shops")
    known = [*ON_LABELS, *OF_A_MODULE]
    parser.add_argument("--experiment", nargs="+", choices=known, default=known)
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--runs", type=int, default=800, help="runs of k-means a setting")
    parser.add_argument(
        "--threshold",
        nargs="*",
        type=float,
        default=THRESHOLDS,
        help="thresholds to give the style tree besides its own choice, default: 0.2 0.4 0.6",
    )
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/mining.json")
    parser.add_argument("--figure", type=Path, default=ROOT / "docs/images/clustering.png")
    args = parser.parse_args(argv)

    console = Console()
    settings: dict[str, tuple[str, dict[str, Any]]] = {
        name: (name, {}) for name in (NO_CLEANING, *args.method)
    }
    if "style-tree" in args.method:
        for t in args.threshold:
            settings[f"style-tree, t = {t}"] = ("style-tree", {"threshold": t})
    results: dict[str, Any] = {}
    if set(ON_LABELS) & set(args.experiment):
        results["data"] = {
            Path(name).name: mine(name, args.shared, args.experiment, settings, args.runs, console)
            for name in args.data
        }
    if "clustering" in args.experiment:
        found = {name: result["clustering"] for name, result in results["data"].items()}
        clustering.draw(found, args.figure)
    for name in OF_A_MODULE:
        if name in args.experiment:
            module = importlib.import_module(f"benchmarks.experiments.{name}")
            results[name] = module.run(args.shared, console)
    report = {**environment(VERSIONS), "runs": args.runs, **results}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(report, separators=(",", ":")) + "\n", encoding="utf-8")
    return 0


def mine(
    name: str,
    shared: Path,
    experiments: Sequence[str],
    settings: Mapping[str, tuple[str, dict[str, Any]]],
    runs: int,
    console: Console,
) -> dict[str, Any]:
    """The experiments on one set of labelled pages; a setting is a method with its options."""
    pages = read_labelled(name, shared)
    labels, sites = [page.label for page in pages], [page.site for page in pages]
    vectors = {
        name: feature_vectors(pages, method, **options)
        for name, (method, options) in settings.items()
    }
    result: dict[str, Any] = {
        "pages": len(pages),
        "sites": len(set(sites)),
        "classes": sorted(set(labels)),
    }
    if "clustering" in experiments:
        result["clustering"] = clustering.run(vectors, labels, sites, runs)
        clustering.print_tables(console, name, result["clustering"])
    if "classification" in experiments:
        result["classification"] = classification.run(vectors, labels, sites)
        classification.print_tables(console, name, result["classification"])
    return result


if __name__ == "__main__":
    sys.exit(main())
