"""Additive counters of features, from which entropies follow without keeping any page."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key", int, str)

FORGOTTEN = 0.05
"""Pages below which what fades is dropped."""
_QUANTUM = 2.0**32  # sums are exact up to 2^21
_LARGEST = 2.0**53  # above it one more page changes nothing
_LARGEST_SUM = _LARGEST * 64
_SMALL = 256
_ROUNDED = 1e-9  # a single page that faded is no more off; 1 / ln m of such an m is noise


def check_factor(factor: float) -> None:
    """Raise ValueError for a factor by which nothing can be forgotten."""
    if not 0 < factor <= 1:
        raise ValueError(f"decay needs a factor above 0 and at most 1, not {factor}")


def weighted_log(count: float) -> float:
    """`count * ln(count)`, rounded to 2^-32 so that sums do not depend on the order of pages."""
    return round(count * math.log(count) * _QUANTUM) / _QUANTUM if count > 0 else 0.0


# Most counts are small: equal ones are one object, which halves the memory of a tree.
_COUNTS = {float(count): float(count) for count in range(_SMALL)}
_TOTALS = {
    total: total
    for count in map(float, range(_SMALL))
    for total in ((count, 0.0), (count, weighted_log(count)))
}


def count_pages(counts: dict[str, float], features: Iterable[str], pages: float = 1.0) -> None:
    """Add a number of pages to the count of each feature."""
    for feature in features:
        known = counts.get(feature)
        if known is None:
            counts[sys.intern(feature)] = _COUNTS.get(pages, pages)
        else:
            total = known + pages
            counts[feature] = _COUNTS.get(total, total)


def faded_log(pages: float, logs: float, factor: float) -> float:
    """The sum of w ln w over pages whose weights w add up to `pages`, once each is `factor` w."""
    return factor * (logs + pages * math.log(factor))


def effective_pages(counts: Iterable[tuple[float, float]]) -> float:
    """How many equal pages vary as much: exp of the entropy of their weights w.

    `counts` are the sums of w and of w ln w over parts of the pages; the latter is 0 while each
    page counts fully. With this m the `entropy` of what is on all pages alike is 1, however far
    these have faded.

    >>> effective_pages([(30.0, 0.0), (10.0, 0.0)])
    40.0
    >>> round(effective_pages([(10.0, faded_log(40.0, 0.0, 0.25))]), 9)
    40.0
    """
    pages, logs = map(math.fsum, zip(*counts, strict=True))
    equal = pages * math.exp(-logs / pages) if logs and pages else pages
    return 1.0 if abs(equal - 1) < _ROUNDED else equal


class FeatureCounts:
    """Occurrences C and sums T = sum of c ln c over pages, for every feature of a leaf.

    With c_ij occurrences of feature i on page j, `H(i) = (ln C - T / C) / ln m` is the entropy of
    its distribution over the m pages. `dropped` is the number of features that a cap took out:
    they count as features of one page only, with entropy 0.
    """

    __slots__ = ("dropped", "totals")

    def __init__(self) -> None:
        self.totals: dict[str, tuple[float, float]] = {}
        self.dropped = 0.0

    def add_page(self, counts: Iterable[tuple[str, float]]) -> None:
        """Count one page's occurrences."""
        for feature, count in counts:
            self.add(feature, float(count), weighted_log(count))

    def merge(self, other: FeatureCounts) -> None:
        """Add the counts of other pages."""
        self.dropped += other.dropped
        for feature, (occurrences, weighted) in other.totals.items():
            self.add(feature, occurrences, weighted)

    def add(self, feature: str, occurrences: float, weighted: float) -> None:
        """Count occurrences of one feature, and their sum of c ln c."""
        known = self.totals.get(feature)
        if known is None:
            feature = sys.intern(feature)
            total = (occurrences, weighted)
        else:
            total = (known[0] + occurrences, known[1] + weighted)
        self.totals[feature] = _TOTALS.get(total, total)

    def decay(self, factor: float) -> None:
        """Forget smoothly: every c becomes factor * c, so C to dC and T to d(T + C ln d).

        However often it occurred, a feature counts as one in a mean: a dropped one, too.
        """
        for feature, (occurrences, weighted) in self.totals.items():
            self.totals[feature] = (factor * occurrences, faded_log(occurrences, weighted, factor))

    @property
    def occurrences(self) -> float:
        """How often features occurred, dropped ones left out."""
        return math.fsum(count for count, _ in self.totals.values())

    def entropy(self, feature: str, pages: float) -> float:
        """H of a feature over `pages` pages, in [0, 1]; 0 where it never occurred or m <= 1."""
        entry = self.totals.get(feature)
        return 0.0 if entry is None else entropy(entry[0], entry[1], pages)

    def mean_entropy(self, pages: float) -> float:
        """Mean H over all features, in [0, 1]; 0 without features."""
        number = len(self.totals) + self.dropped
        if not number:
            return 0.0
        return math.fsum(entropy(c, t, pages) for c, t in self.totals.values()) / number

    def prune(self, limit: int) -> None:
        """Above `limit` features, keep the most frequent half of it (ties in alphabetical order).

        The mean entropy changes by at most `2 * dropped / (number of features)`: a dropped
        feature counted with entropy 0 had one in [0, 1], and may be counted again as a new one.
        """
        if len(self.totals) <= limit:
            return
        kept = more_frequent_half({f: total[0] for f, total in self.totals.items()}, limit)
        self.dropped += len(self.totals) - len(kept)
        self.totals = {feature: self.totals[feature] for feature in kept}

    def drop_rare(self, least: float) -> None:
        """Drop the features that occurred so often or less; as in `prune`, they go on counting."""
        kept = {f: total for f, total in self.totals.items() if total[0] > least}
        self.dropped += len(self.totals) - len(kept)
        self.totals = kept


def entropy(occurrences: float, weighted: float, pages: float) -> float:
    """H in [0, 1] to the base `pages` of counts n, of which `occurrences` is the sum.

    `weighted` is that of n ln n. 0 where nothing occurred, or on one page.
    """
    if pages <= 1 or occurrences <= 0:
        return 0.0
    value = (math.log(occurrences) - weighted / occurrences) / math.log(pages)
    return min(1.0, max(0.0, value))


def more_frequent_half(counts: Mapping[Key, float], limit: int) -> dict[Key, float]:
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
    return read_number(value, least=-_LARGEST_SUM, largest=_LARGEST_SUM)
