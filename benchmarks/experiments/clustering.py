"""k-means on the pages of all sites, many times from random seeds (Yi, Liu & Li 2003, 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

from benchmarks.experiments.labelled import (
    Matrix,
    Vector,
    inverse_document_frequency,
    only_words,
    to_matrix,
    unit_rows,
)

# Mean F, share of runs above 0.7, share below 0.5; None where our text of the paper lost it.
PAPER: Mapping[str, tuple[float, float | None, float | None]] = {
    "no cleaning": (0.506, 0.005, 0.4763),
    "feature-weighting": (0.756, 0.8438, 0.0463),
}
MAIN = "unit length"
_BINS = 40
_MOST_ROUNDS = 300

Labels = npt.NDArray[np.int64]


def variants(vectors: Sequence[Vector]) -> dict[str, Matrix]:
    """The same vectors weighed in several ways; the papers leave it open."""
    counts = to_matrix(vectors)
    return {
        MAIN: unit_rows(counts),
        "as they are": counts,
        "tf-idf": unit_rows(inverse_document_frequency(counts)),
        "words only": unit_rows(to_matrix(only_words(vectors))),
    }


def run(
    vectors: Mapping[str, Sequence[Vector]], labels: Sequence[str], sites: Sequence[str], runs: int
) -> dict[str, Any]:
    """For each setting: F over the runs for each variant, and what the clusters follow."""
    classes = _numbered(labels)
    count = len(set(labels))
    result: dict[str, Any] = {}
    for setting, pages in vectors.items():
        rows: dict[str, Any] = {}
        for variant, matrix in variants(pages).items():
            clusters = k_means(matrix, count, runs, seed=0)
            scores = np.array([best_f(classes, found) for found in clusters])
            rows[variant] = {
                "mean_f": round(float(scores.mean()), 4),
                "above_0.7": round(float((scores > 0.7).mean()), 4),
                "below_0.5": round(float((scores < 0.5).mean()), 4),
                "histogram": np.histogram(scores, _BINS, (0, 1))[0].tolist(),
                "purity_by_site": round(_mean_purity(_numbered(sites), clusters), 4),
                "purity_by_class": round(_mean_purity(classes, clusters), 4),
            }
        result[setting] = rows
    return result


def k_means(matrix: Matrix, k: int, runs: int, seed: int) -> Labels:
    """Lloyd's algorithm, all runs at once: the cluster of each page, (runs, pages).

    Centres start at k pages drawn at random. Distances come from the inner products of pages,
    which is exact: |x - c|² = |x|² - 2 x·c + |c|², with c the mean of its pages. A cluster that
    has lost its pages stays empty.
    """
    pages = len(matrix)
    products = matrix @ matrix.T
    rng = np.random.default_rng(seed)
    members = np.zeros((runs, k, pages))
    for run_members in members:
        run_members[np.arange(k), rng.choice(pages, k, replace=False)] = 1
    clusters = np.full((runs, pages), -1)
    for _ in range(_MOST_ROUNDS):
        sizes = members.sum(axis=2, keepdims=True)
        to_centres = (members @ products) / np.maximum(sizes, 1)
        centre_norms = (to_centres * members).sum(axis=2, keepdims=True) / np.maximum(sizes, 1)
        distances = np.where(sizes > 0, centre_norms - 2 * to_centres, np.inf)
        nearest = distances.argmin(axis=1)
        if np.array_equal(nearest, clusters):
            break
        clusters = nearest
        members = (clusters[:, None, :] == np.arange(k)[None, :, None]).astype(float)
    return clusters


def best_f(classes: Labels, clusters: Labels) -> float:
    """Mean F of the classes under the one-to-one assignment of clusters that maximises it.

    >>> best_f(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    shared = np.zeros((classes.max() + 1, max(classes.max(), clusters.max()) + 1))
    np.add.at(shared, (classes, clusters), 1)
    f_scores = 2 * shared / (shared.sum(1, keepdims=True) + shared.sum(0, keepdims=True))
    return float(f_scores[linear_sum_assignment(f_scores, maximize=True)].mean())


def _mean_purity(groups: Labels, clusters: Labels) -> float:
    """Share of pages that belong to the largest group of their cluster, over all runs."""
    shared = np.zeros((len(clusters), clusters.max() + 1, groups.max() + 1))
    np.add.at(shared, (np.arange(len(clusters))[:, None], clusters, groups[None, :]), 1)
    return float(shared.max(axis=2).sum() / clusters.size)


def _numbered(names: Sequence[str]) -> Labels:
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def print_tables(console: Console, data: str, result: Mapping[str, Any]) -> None:
    """Our figures beside the paper's, and the variants."""
    table = Table(title=f"k-means, {data}: vectors of {MAIN}; in brackets the papers' figures")
    for name in ("text", "mean F", "F > 0.7", "F < 0.5", "purity by site", "by class"):
        table.add_column(name)
    for setting, rows in result.items():
        row, paper = rows[MAIN], PAPER.get(setting, (None, None, None))
        cells = [
            f"{row[key]:.3f}" + ("" if theirs is None else f" ({theirs:.3f})")
            for key, theirs in zip(("mean_f", "above_0.7", "below_0.5"), paper, strict=True)
        ]
        cells += [f"{row['purity_by_site']:.3f}", f"{row['purity_by_class']:.3f}"]
        table.add_row(setting, *cells)
    console.print(table)
    names = list(next(iter(result.values())))
    table = Table("text", *names, title=f"k-means, {data}: mean F by vector")
    for setting, rows in result.items():
        table.add_row(setting, *(f"{rows[name]['mean_f']:.3f}" for name in names))
    console.print(table)


def draw(results: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Cumulative distribution of F over the runs, a panel a data set."""
    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(5 * len(results), 3.6), layout="constrained")
        panels = figure.subplots(1, len(results), squeeze=False, sharey=True)[0]
        edges = np.linspace(0, 1, _BINS + 1)[1:]
        for panel, (data, result) in zip(panels, results.items(), strict=True):
            for setting, rows in result.items():
                counts = np.array(rows[MAIN]["histogram"])
                style = "--" if setting == "no cleaning" else "-"
                panel.plot(edges, counts.cumsum() / counts.sum(), style, label=setting)
            panel.set(title=data, xlabel="F", xlim=(0, 1))
            panel.grid(alpha=0.3)
        panels[0].set_ylabel("share of runs with this F or less")
        panels[0].legend(loc="upper left", fontsize=8)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=130)
