"""The fewest features that hold the quality of `evidence`: those that say least are dropped.

    python -m benchmarks.fewest_features                    # hours
    python -m benchmarks.fewest_features --sizes 250 180 120

Both stages are trained with all features and tried on sites that they have not seen, then with so
many fewer, those first that move the scores of such sites most. What has been measured stands in
the JSON file after each step, and is not measured again. Needs what `train_evidence` needs.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks import train_evidence as train
from benchmarks.corpora import ROOT, SHARED, environment
from noiseclean_scrapy.methods.evidence_model.boosted_trees import BoostedTrees
from noiseclean_scrapy.methods.evidence_model.context_features import CONTEXT
from noiseclean_scrapy.methods.evidence_model.page_features import PAGE

SIZES = (280, 220, 180, 150, 120, 100, 80)
"""Numbers of features that are tried, after all of them."""
RESULTS = ROOT / "benchmarks/results/fewest_features.json"
HELD = 0.001
"""Bag F1 that a corpus may lose."""
_SAMPLE = 2000  # blocks whose scores tell what a feature says

Step = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args(argv)
    examples = train.training_examples(args.shared, train.CORPORA)
    train.cross_hashed(examples, train.HashedRows.of(examples))
    steps = json.loads(args.out.read_text())["steps"] if args.out.is_file() else []
    for step in search(examples, args.sizes, steps):
        steps.append(step)
        found = {**environment(["catboost", "numpy"]), "fewest": fewest(steps), "steps": steps}
        args.out.write_text(json.dumps(found, indent=1) + "\n")
    print_steps(steps)
    return 0


def search(
    examples: Sequence[train.Example], sizes: Sequence[int], known: Sequence[Step]
) -> Iterator[Step]:
    """All features, then so many of them, each step from those of the step before."""
    ranked = known[-1]["ranked"] if known else [*PAGE.names, *CONTEXT.names]
    for size in (len(ranked), *sizes)[len(known) :]:
        step = measure(examples, frozenset(ranked[:size]))
        ranked = step["ranked"]
        yield step


def measure(examples: Sequence[train.Example], names: Collection[str]) -> Step:
    """Bag F1 by corpus with these features, which are `ranked` by what they say, and the time."""
    start = time.monotonic()
    page, context = ([n for n in table.names if n in names] for table in (PAGE, CONTEXT))
    alone = _columns([e.features.matrix for e in examples], PAGE.names, page)
    first = train.cross_fit(examples, alone, tuple(page), train.SEEDS["alone"][:1])
    scores = train.cross_scores(examples, alone, first)
    both = [*page, *context]
    matrices = train.with_context(examples, scores)
    together = _columns(matrices, PAGE.names + CONTEXT.names, both)
    leant = train.with_reached(examples, scores)
    second = train.cross_fit(leant, together, tuple(both), train.SEEDS["together"][:1])
    f1 = train.quality(examples, train.cross_scores(examples, together, second))
    said = dict.fromkeys(both, 0.0)
    for matrix, models in ((alone, first), (together, second)):
        for name, share in influence(examples, matrix, models).items():
            said[name] += share
    return {
        "features": len(both),
        "f1": {group: row["f1"] for group, row in f1.items() if group in train.CORPORA},
        "ranked": sorted(both, key=lambda name: -said[name]),
        "seconds": round(time.monotonic() - start),
    }


def influence(
    examples: Sequence[train.Example],
    matrices: Sequence[NDArray[Any]],
    models: Sequence[BoostedTrees],
) -> Mapping[str, float]:
    """The share of each feature in what moves the scores of blocks of sites not seen."""
    chance = np.random.default_rng(0)
    total = np.zeros(len(models[0].names))
    for number in chance.integers(len(examples), size=_SAMPLE).tolist():
        row = chance.choice(matrices[number])
        total += np.abs(models[examples[number].fold].changes(row[None])[0])
    return dict(zip(models[0].names, (total / total.sum()).tolist(), strict=True))


def fewest(steps: Sequence[Step]) -> int:
    """The least number of features with which no corpus loses more than HELD."""
    whole = steps[0]["f1"]
    held = (all(step["f1"][name] >= whole[name] - HELD for name in whole) for step in steps)
    return min(int(step["features"]) for step, held in zip(steps, held, strict=True) if held)


def print_steps(steps: Sequence[Step]) -> None:
    """A row for each number of features."""
    table = Table("features", *steps[0]["f1"], "seconds", title="Bag F1, left-out sites")
    for step in steps:
        figures = (f"{value:.4f}" for value in step["f1"].values())
        table.add_row(str(step["features"]), *figures, str(step["seconds"]))
    Console().print(table)


def _columns(
    matrices: Sequence[NDArray[Any]], names: Sequence[str], wanted: Sequence[str]
) -> list[NDArray[Any]]:
    columns = [names.index(name) for name in wanted]
    return [matrix[:, columns] for matrix in matrices]


if __name__ == "__main__":
    raise SystemExit(main())
