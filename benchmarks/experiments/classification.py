"""Classifiers trained on some sites and tested on others (Yi, Liu & Li 2003; Yi & Liu 2003).

Two classes C1, C2 and sites S_i, S_j, in three configurations of training and test sets:

1. train on C1 and C2 of S_i, test on C1 and C2 of all other sites;
2. train on C1 of S_i and C2 of S_j, i != j, test on C1 and C2 of all sites but these two;
3. train as in 2, test on all pages of C1 and C2 that are not in the training set.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score, f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from benchmarks.experiments.labelled import Matrix, Vector, to_matrix, unit_rows
from benchmarks.tables import Table

# F and accuracy; the mean over configurations for Naive Bayes, configuration 2 for the SVM.
PAPER_SVM = {"no cleaning": (0.695, 0.785), "feature-weighting": (0.919, 0.951)}
PAPER_BAYES_ACCURACY = {"no cleaning": 0.625, "style-tree": 0.954}
CLASSIFIERS = ("Naive Bayes", "SVM")

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Split:
    """One experiment: two classes, a configuration (1 to 3), the pages to train and to test on."""

    classes: tuple[str, str]
    configuration: int
    train: Mask
    test: Mask


def splits(labels: Sequence[str], sites: Sequence[str]) -> Iterator[Split]:
    """All experiments for which both classes have pages to train and to test on."""
    label, site = np.array(labels), np.array(sites)
    names = sorted(set(sites))
    for pair in combinations(sorted(set(labels)), 2):
        first, second = label == pair[0], label == pair[1]
        either = first | second
        for one in names:
            train = either & (site == one)
            yield from _usable(Split(pair, 1, train, either & (site != one)), first, second)
        for one, other in permutations(names, 2):
            train = (first & (site == one)) | (second & (site == other))
            elsewhere = either & (site != one) & (site != other)
            yield from _usable(Split(pair, 2, train, elsewhere), first, second)
            yield from _usable(Split(pair, 3, train, either & ~train), first, second)


def _usable(split: Split, first: Mask, second: Mask) -> Iterator[Split]:
    parts = (split.train & first, split.train & second, split.test & first, split.test & second)
    if all(part.any() for part in parts):
        yield split


def run(
    vectors: Mapping[str, Sequence[Vector]], labels: Sequence[str], sites: Sequence[str]
) -> dict[str, Any]:
    """Number of experiments by configuration; `texts`: mean F and accuracy of each setting by
    classifier and configuration, and by pair of classes.
    """
    experiments = list(splits(labels, sites))
    truth = np.array(labels)
    texts: dict[str, Any] = {}
    for setting, pages in vectors.items():
        counts = to_matrix(pages)
        scores: dict[str, dict[int, dict[tuple[str, str], list[tuple[float, float]]]]] = {
            name: defaultdict(lambda: defaultdict(list)) for name in CLASSIFIERS
        }
        for split in experiments:
            for name in CLASSIFIERS:
                score = classify(name, counts, truth, split)
                scores[name][split.configuration][split.classes].append(score)
        texts[setting] = {
            name: {str(c): _averages(pairs) for c, pairs in sorted(scores[name].items())}
            for name in CLASSIFIERS
        }
    counted = Counter(split.configuration for split in experiments)
    return {"experiments": {str(c): counted[c] for c in (1, 2, 3)}, "texts": texts}


def classify(
    classifier: str, counts: Matrix, labels: npt.NDArray[np.str_], split: Split
) -> tuple[float, float]:
    """F (mean of both classes) and accuracy; the vocabulary is that of the training pages."""
    vocabulary = np.flatnonzero(counts[split.train].any(axis=0))
    if not vocabulary.size:  # Nothing was kept of any training page: all features weigh the same.
        vocabulary = np.arange(counts.shape[1])
    train, test = counts[split.train][:, vocabulary], counts[split.test][:, vocabulary]
    if classifier == "SVM":
        model, train, test = LinearSVC(random_state=0), unit_rows(train), unit_rows(test)
    else:
        model = MultinomialNB()
    predicted = model.fit(train, labels[split.train]).predict(test)
    truth = labels[split.test]
    f_score = f1_score(truth, predicted, labels=split.classes, average="macro", zero_division=0.0)
    return float(f_score), float(accuracy_score(truth, predicted))


def _averages(pairs: Mapping[tuple[str, str], Sequence[tuple[float, float]]]) -> dict[str, Any]:
    """Means over the choices of sites for each pair, then over the pairs."""
    means = {
        " ".join(pair): [fmean(column) for column in zip(*scores, strict=True)]
        for pair, scores in pairs.items()
    }
    f_score, accuracy = (fmean(column) for column in zip(*means.values(), strict=True))
    return {
        "f": round(f_score, 4),
        "accuracy": round(accuracy, 4),
        "pairs": {pair: [round(value, 4) for value in mean] for pair, mean in means.items()},
    }


def tables(results: Mapping[str, Any]) -> Iterator[Table]:
    """F / accuracy of each classifier by data set and configuration."""
    texts = list(dict.fromkeys(text for result in results.values() for text in result["texts"]))
    columns = [
        (data, configuration)
        for data, result in results.items()
        for configuration, count in result["experiments"].items()
        if count
    ]
    for classifier in CLASSIFIERS:
        yield Table(
            f"{classifier}: F / accuracy by configuration",
            ["text", *(f"{data} {configuration}" for data, configuration in columns), "the papers"],
            [
                [
                    text,
                    *(_cell(results[data]["texts"], text, classifier, c) for data, c in columns),
                    _paper(classifier, text),
                ]
                for text in texts
            ],
        )
    for classifier in CLASSIFIERS:
        yield Table(
            f"{classifier}: F / accuracy of configuration 2 by pair of classes",
            ["data", "classes", *texts],
            list(_pair_rows(results, texts, classifier)),
        )


def _pair_rows(
    results: Mapping[str, Any], texts: Sequence[str], classifier: str
) -> Iterator[list[str]]:
    """F / accuracy of configuration 2, across sites, by pair of classes."""
    for data, result in results.items():
        found = {name: row[classifier]["2"]["pairs"] for name, row in result["texts"].items()}
        for pair in dict.fromkeys(pair for pairs in found.values() for pair in pairs):
            cells = [found.get(name, {}).get(pair, ()) for name in texts]
            yield [data, pair, *(" / ".join(f"{value:.3f}" for value in cell) for cell in cells)]


def _cell(rows: Mapping[str, Any], text: str, classifier: str, configuration: str) -> str:
    if text not in rows:
        return ""
    row = rows[text][classifier][configuration]
    return f"{row['f']:.3f} / {row['accuracy']:.3f}"


def _paper(classifier: str, text: str) -> str:
    if classifier == "SVM":
        return "{:.3f} / {:.3f}".format(*PAPER_SVM[text]) if text in PAPER_SVM else ""
    accuracy = PAPER_BAYES_ACCURACY.get(text)
    return f"- / {accuracy:.3f}" if accuracy else ""
