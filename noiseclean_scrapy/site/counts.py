"""Additive counters of features, from which entropies follow without keeping any page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

_QUANTUM = 2.0**32
_LARGEST = 2.0**80


def weighted_log(count: float) -> float:
    """`count * ln(count)`, rounded to 2^-32 so that sums do not depend on the order of pages."""
    return round(count * math.log(count) * _QUANTUM) / _QUANTUM if count > 0 else 0.0


class FeatureCounts:
    """Occurrences C and sums T = sum of c ln c over pages, for every feature of a leaf.

    With c_ij occurrences of feature i on page j, `H(i) = (ln C - T / C) / ln m` is the entropy of
    its distribution over the m pages. `dropped` is the number of features that a cap took out:
    they count as features of one page only, with entropy 0.
    """

    __slots__ = ("dropped", "totals")

    def __init__(self) -> None:
        self.totals: dict[str, list[float]] = {}
        self.dropped = 0.0

    def add_page(self, counts: Iterable[tuple[str, float]]) -> None:
        """Count one page's occurrences."""
        totals = self.totals
        for feature, count in counts:
            entry = totals.get(feature)
            if entry is None:
                totals[feature] = [float(count), weighted_log(count)]
            else:
                entry[0] += count
                entry[1] += weighted_log(count)

    def merge(self, other: FeatureCounts) -> None:
        """Add the counts of other pages."""
        self.dropped += other.dropped
        for feature, (occurrences, weighted) in other.totals.items():
            entry = self.totals.get(feature)
            if entry is None:
                self.totals[feature] = [occurrences, weighted]
            else:
                entry[0] += occurrences
                entry[1] += weighted

    def decay(self, factor: float) -> None:
        """Forget smoothly: every c becomes factor * c, so C to dC and T to d(T + C ln d)."""
        shift = math.log(factor)
        self.dropped *= factor
        for entry in self.totals.values():
            entry[1] = factor * (entry[1] + entry[0] * shift)
            entry[0] *= factor

    def entropy(self, feature: str, pages: float) -> float:
        """H of a feature over `pages` pages, in [0, 1]; 0 where it never occurred or m <= 1."""
        entry = self.totals.get(feature)
        return 0.0 if entry is None else _entropy(entry[0], entry[1], pages)

    def mean_entropy(self, pages: float) -> float:
        """Mean H over all features, in [0, 1]; 0 without features."""
        number = len(self.totals) + self.dropped
        if not number:
            return 0.0
        return math.fsum(_entropy(c, t, pages) for c, t in self.totals.values()) / number

    def prune(self, limit: int) -> None:
        """Above `limit` features, keep the most frequent half of it (ties in alphabetical order).

        The mean entropy changes by at most `2 * dropped / (number of features)`: a dropped
        feature counted with entropy 0 had one in [0, 1], and may be counted again as a new one.
        """
        if len(self.totals) <= limit:
            return
        order = sorted(self.totals, key=lambda feature: (-self.totals[feature][0], feature))
        for feature in order[limit // 2 :]:
            del self.totals[feature]
            self.dropped += 1


def _entropy(occurrences: float, weighted: float, pages: float) -> float:
    if pages <= 1 or occurrences <= 0:
        return 0.0
    value = (math.log(occurrences) - weighted / occurrences) / math.log(pages)
    return min(1.0, max(0.0, value))


def more_frequent_half(counts: Mapping[int, float], limit: int) -> dict[int, float]:
    """The counts, or above `limit` of them the highest of half that number (ties by key)."""
    if len(counts) <= limit:
        return dict(counts)
    order = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return dict(order[: max(1, limit // 2)])


def read_number(value: Any, *, least: float = 0.0, largest: float = _LARGEST) -> float:
    """A number of a saved state; raises ValueError for what no counter can hold (NaN included)."""
    if type(value) not in (int, float) or not least <= value <= largest:
        raise ValueError(f"{value!r} is not a number from {least} to {largest}")
    return float(value)


def read_sum(value: Any) -> float:
    """A sum of logarithms of a saved state, which may be below zero; raises ValueError."""
    return read_number(value, least=-_LARGEST)
