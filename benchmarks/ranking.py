"""Measures of rankings, and their means over the queries of many sites."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import log2
from typing import Any

import numpy as np

from benchmarks.extraction import NO_CLEANING
from benchmarks.queries import Query
from benchmarks.scores import Values, draw_sites, with_interval

ALL = "all"
CUT = 10
"""Results that a reader looks at."""
MEASURES = ("reciprocal_rank", "ndcg", "precision", "pages")
"""Of a query; `pages` is how many it found in all."""


def reciprocal_rank(ranked: Sequence[str], right: Collection[str]) -> float:
    """One over the place of the first right page; zero without one.

    >>> reciprocal_rank(["a", "b", "c"], {"b", "c"})
    0.5
    """
    return next((1 / place for place, key in enumerate(ranked[:CUT], 1) if key in right), 0.0)


def ndcg(ranked: Sequence[str], right: Collection[str]) -> float:
    """Normalised discounted cumulative gain of the first `CUT` places; a right page gains 1.

    >>> ndcg(["a", "b"], {"a", "b"}), ndcg(["x", "y", "a"], {"a"})
    (1.0, 0.5)
    """
    gain = sum(1 / log2(place + 1) for place, key in enumerate(ranked[:CUT], 1) if key in right)
    ideal = sum(1 / log2(place + 1) for place in range(1, min(len(right), CUT) + 1))
    return gain / ideal


def precision(ranked: Sequence[str], right: Collection[str]) -> float:
    """The share of the pages shown that are right; zero when none is shown.

    >>> precision(["a", "x", "b", "y"], {"a", "b", "c"})
    0.5
    """
    shown = ranked[:CUT]
    return sum(key in right for key in shown) / max(len(shown), 1)


def summarise(
    queries: Sequence[Query], answers: Mapping[str, Values], kind: str
) -> dict[str, dict[str, Any]]:
    """The measures of a kind of query, over all corpora and by corpus, with intervals.

    `answers` hold one line a query and one column a measure. `differences` are those to no
    cleaning, paired by query.
    """
    corpora = dict.fromkeys(query.corpus for query in queries)
    groups = {ALL: set(corpora), **{corpus: {corpus} for corpus in corpora}}
    result = {}
    for group, members in groups.items():
        chosen = [
            number
            for number, query in enumerate(queries)
            if query.kind == kind and query.corpus in members
        ]
        if not chosen:
            continue
        sites = [queries[number].site for number in chosen]
        values = {row: _mean_by_sites(table[chosen], sites) for row, table in answers.items()}
        result[group] = {
            "queries": len(chosen),
            "sites": len(set(sites)),
            "texts": {row: _measures(means) for row, means in values.items()},
            "differences": {
                row: _measures(means - values[NO_CLEANING])
                for row, means in values.items()
                if row != NO_CLEANING
            },
        }
    return result


def _mean_by_sites(table: Values, sites: Sequence[str]) -> Values:
    """The mean of each column, then that of each draw of sites."""
    names, numbers = np.unique(sites, return_inverse=True)
    sums = np.zeros((len(names), 1 + table.shape[1]))
    np.add.at(sums, numbers, np.column_stack([np.ones(len(table)), table]))
    return draw_sites(sums, lambda drawn: drawn[:, 1:] / drawn[:, :1])


def _measures(means: Values) -> dict[str, dict[str, float]]:
    return {name: with_interval("mean", means[:, n]) for n, name in enumerate(MEASURES)}
