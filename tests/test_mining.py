"""The experiments in data mining: their measures, their splits, and a small run."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is in the extra bench")
pytest.importorskip("matplotlib", reason="matplotlib is in the extra bench")

from benchmarks import mining
from benchmarks.corpora import ROOT, SHARED
from benchmarks.experiments.classification import splits
from benchmarks.experiments.clustering import best_f, k_means
from benchmarks.experiments.labelled import (
    controls,
    feature_vectors,
    inverse_document_frequency,
    only_words,
    read_labelled,
    to_matrix,
    unit_rows,
)
from benchmarks.extraction import NO_CLEANING
from tests.support.corpora import needs_corpora

pytestmark = pytest.mark.extras


def test_f_of_an_assignment_computed_by_hand() -> None:
    # Class 0: 2 of its 3 pages in cluster 1 (p = 1, r = 2/3, F = 0.8); class 1: all of its 2
    # pages in cluster 0 with one other (p = 2/3, r = 1, F = 0.8). The other way round: 1/3, 0.
    assert best_f(np.array([0, 0, 0, 1, 1]), np.array([1, 1, 0, 0, 0])) == pytest.approx(0.8)


def test_best_f_is_that_of_all_permutations() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        classes, clusters = np.arange(20) % 4, rng.integers(0, 4, 20)
        f_scores = [
            [
                2
                * np.sum((classes == c) & (clusters == k))
                / (np.sum(classes == c) + np.sum(clusters == k))
                for k in range(4)
            ]
            for c in range(4)
        ]
        slow = max(
            sum(f_scores[c][order[c]] for c in range(4)) / 4 for order in permutations(range(4))
        )
        assert best_f(classes, clusters) == pytest.approx(slow)


def test_k_means_ends_where_every_page_is_with_its_nearest_mean() -> None:
    matrix = np.random.default_rng(5).normal(size=(40, 7))
    for clusters in k_means(matrix, 3, runs=10, seed=1):
        means = np.array([matrix[clusters == k].mean(axis=0) for k in range(3)])
        distances = ((matrix[:, None] - means[None]) ** 2).sum(axis=2)
        assert (distances.argmin(axis=1) == clusters).all()


def test_k_means_finds_groups_far_apart_in_some_run_and_repeats_itself() -> None:
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(3), 10)
    matrix = 100 * np.eye(3)[groups] + rng.normal(size=(30, 3))
    found = k_means(matrix, 3, runs=20, seed=0)
    assert max(best_f(groups, clusters) for clusters in found) == 1.0
    assert np.array_equal(found, k_means(matrix, 3, runs=20, seed=0))


def test_vectors_as_matrices() -> None:
    vectors = [{"lens": 3.0, "src:a.gif": 4.0}, {"lens": 1.0}, {}]
    matrix = to_matrix(vectors)
    assert matrix.tolist() == [[3, 4], [1, 0], [0, 0]]
    assert unit_rows(matrix).tolist() == [[0.6, 0.8], [1, 0], [0, 0]]
    assert inverse_document_frequency(matrix)[0] == pytest.approx([3 * np.log(1.5), 4 * np.log(3)])
    assert only_words(vectors) == [{"lens": 3.0}, {"lens": 1.0}, {}]


def test_controls_tell_recurring_features_of_each_site_from_the_others() -> None:
    vectors = [{"menu": 1.0, "lens": 2.0}, {"menu": 1.0, "ink": 1.0}, {"menu": 1.0}, {"lens": 3.0}]
    recurring, others = controls(vectors, ["a", "a", "a", "b"]).values()
    assert recurring == [{"menu": 1.0}, {"menu": 1.0}, {"menu": 1.0}, {"lens": 3.0}]
    assert others == [{"lens": 2.0}, {"ink": 1.0}, {}, {}]


def test_splits_follow_the_three_configurations() -> None:
    labels = ["camera", "printer"] * 3
    sites = ["a", "a", "b", "b", "c", "c"]
    found = list(splits(labels, sites))
    chosen = {
        (s.configuration, *(tuple(map(int, np.flatnonzero(part))) for part in (s.train, s.test)))
        for s in found
    }
    assert len(chosen) == len(found) == 3 + 6 + 6
    assert (1, (0, 1), (2, 3, 4, 5)) in chosen
    assert (2, (0, 3), (4, 5)) in chosen
    assert (3, (0, 3), (1, 2, 4, 5)) in chosen


def test_a_run_on_the_shops_writes_figures_tables_and_a_picture(tmp_path: Path) -> None:
    out, markdown = tmp_path / "mining.json", tmp_path / "tables.md"
    old = {"experiments": {"1": 0, "2": 1, "3": 0}, "texts": {}}
    out.write_text(json.dumps({"classification": {"swde": old}, "clustering": {}}))
    command = ["--data", "shops", "--method", "feature-weighting", "--runs", "20"]
    command += ["--experiment", "clustering", "--out", str(out), "--pictures", str(tmp_path)]
    assert mining.main([*command, "--markdown", str(markdown)]) == 0
    report = json.loads(out.read_text())
    assert report["classification"] == {"swde": old}, "other experiments stay"
    result = report["clustering"]["shops"]
    assert (result["runs"], result["sites"], len(result["classes"])) == (20, 5, 5)
    noisy, clean = (result["texts"][s]["unit length"] for s in (NO_CLEANING, "feature-weighting"))
    assert sum(noisy["histogram"]) == sum(clean["histogram"]) == 20
    assert noisy["purity_by_site"] > noisy["purity_by_class"]
    assert clean["mean_f"] > noisy["mean_f"] + 0.3
    assert (tmp_path / "clustering.png").read_bytes().startswith(b"\x89PNG")
    assert f"| feature-weighting | {clean['mean_f']:.3f} / " in markdown.read_text()


def test_texts_that_are_not_measured_again_stay() -> None:
    known = {"runs": 5, "texts": {"evidence": 1, "style-tree": 2}, "pages_without_features": {}}
    new = {"runs": 7, "texts": {"style-tree": 3}, "pages_without_features": {"style-tree": 0}}
    assert mining.joined(known, new) == {**new, "texts": {"evidence": 1, "style-tree": 3}}
    assert mining.joined({}, new) == new


def test_tables_of_the_documentation_are_those_of_the_figures() -> None:
    report = json.loads((ROOT / "benchmarks/results/mining.json").read_text(encoding="utf-8"))
    text = (ROOT / "docs/mining.md").read_text(encoding="utf-8")
    tables = list(mining.mining_tables(report))
    assert len(tables) == 13
    for table in tables:
        rows = table.to_markdown().partition("\n\n")[2]
        assert rows in text, table.title


def test_without_an_experiment_only_the_tables_are_written(tmp_path: Path) -> None:
    out, markdown = tmp_path / "mining.json", tmp_path / "tables.md"
    out.write_bytes((ROOT / "benchmarks/results/mining.json").read_bytes())
    assert mining.main(["--experiment", "--out", str(out), "--markdown", str(markdown)]) == 0
    assert out.read_bytes() == (ROOT / "benchmarks/results/mining.json").read_bytes()
    assert markdown.read_text().count("## ") == 13


@needs_corpora
def test_a_site_of_swde_has_one_class_so_that_only_other_sites_can_test() -> None:
    pages = read_labelled("swde", SHARED)
    labels, sites = [page.label for page in pages], [page.site for page in pages]
    assert len(set(zip(labels, sites, strict=True))) == len(set(sites)) == 14
    found = list(splits(labels, sites))
    assert {s.configuration for s in found} == {2, 3}
    assert all(set(np.array(sites)[s.train]).isdisjoint(np.array(sites)[s.test]) for s in found)
    counted = feature_vectors(pages[:1], NO_CLEANING)[0]
    assert counted["the"] > 1
    assert any(name.startswith("href:") for name in counted)
