"""k-means on the pages of all sites, many times from random seeds (Yi, Liu & Li 2003, 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment

from benchmarks.experiments.labelled import (
    CONTROLS,
    Matrix,
    Vector,
    inverse_document_frequency,
    only_words,
    to_matrix,
    unit_rows,
)
from benchmarks.extraction import NO_CLEANING
from benchmarks.tables import Table

# Mean F, share of runs above 0.7, share below 0.5 (Yi & Liu 2003).
PAPER: Mapping[str, tuple[float, float, float]] = {
    "no cleaning": (0.506, 0.005, 0.4763),
    "feature-weighting": (0.756, 0.8438, 0.0463),
}
MAIN = "unit length"
VARIANTS = (MAIN, "as they are", "tf-idf", "words only")
_BINS = 40
_MOST_ROUNDS = 300

Labels = npt.NDArray[np.int64]


def variants(vectors: Sequence[Vector]) -> dict[str, Matrix]:
    """The same vectors weighed in several ways; the papers leave it open."""
    counts = to_matrix(vectors)
    matrices = (
        unit_rows(counts),
        counts,
        unit_rows(inverse_document_frequency(counts)),
        unit_rows(to_matrix(only_words(vectors))),
    )
    return dict(zip(VARIANTS, matrices, strict=True))


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


def tables(results: Mapping[str, Any]) -> Iterator[Table]:
    """Our figures beside the papers', and the other vectors; `results` by data set."""
    texts = list(dict.fromkeys(text for result in results.values() for text in result["texts"]))
    yield Table(
        f"k-means, vectors of {MAIN}: mean F / share of runs with F > 0.7 / with F < 0.5, "
        "and purity by site / by class",
        ["text", *(f"{data}{what}" for data in results for what in ("", ": purity")), "the papers"],
        [
            [
                text,
                *(cell for result in results.values() for cell in _cells(result["texts"], text)),
                " / ".join(f"{figure:.3f}" for figure in PAPER.get(text, ())),
            ]
            for text in texts
        ],
    )
    yield Table(
        "k-means, mean F by vector",
        ["text", *(f"{data}: {variant}" for data in results for variant in VARIANTS)],
        [
            [
                text,
                *(
                    f"{result['texts'][text][variant]['mean_f']:.3f}"
                    if text in result["texts"]
                    else ""
                    for result in results.values()
                    for variant in VARIANTS
                ),
            ]
            for text in texts
        ],
    )


def _cells(rows: Mapping[str, Any], text: str) -> tuple[str, str]:
    if text not in rows:
        return "", ""
    row = rows[text][MAIN]
    return (
        f"{row['mean_f']:.3f} / {row['above_0.7']:.3f} / {row['below_0.5']:.3f}",
        f"{row['purity_by_site']:.3f} / {row['purity_by_class']:.3f}",
    )


def draw(results: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Cumulative distribution of F over the runs, a panel a data set, as an image file."""
    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(4.2 * len(results) + 2, 3.6), layout="constrained")
        panels = figure.subplots(1, len(results), squeeze=False, sharey=True)[0]
        edges = np.linspace(0, 1, _BINS + 1)[1:]
        for panel, (data, result) in zip(panels, results.items(), strict=True):
            for setting, rows in result["texts"].items():
                if setting in CONTROLS:
                    continue
                counts = np.array(rows[MAIN]["histogram"])
                style = "--" if setting == NO_CLEANING else "-"
                panel.plot(edges, counts.cumsum() / counts.sum(), style, label=setting)
            panel.set(title=data, xlabel="F", xlim=(0, 1))
            panel.grid(alpha=0.3)
        panels[0].set_ylabel("share of runs with this F or less")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=130)
