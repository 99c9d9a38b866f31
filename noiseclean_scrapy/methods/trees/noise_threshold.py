"""The threshold on composite importance, chosen from the tree itself, without labels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

THRESHOLD_RANGE = (0.88, 0.94)
"""Where thresholds clean well on news and blogs; see the decisions page for the sweep."""


def choose_threshold(importances: Iterable[float]) -> float:
    """The middle of the widest gap between leaf importances within `THRESHOLD_RANGE`.

    Leaves made by the same part of a template have like importances: a threshold between two
    such groups keeps or drops each of them as a whole. Without leaves in the range it is the
    middle of the range.
    """
    low, high = THRESHOLD_RANGE
    marks = [low, *sorted(value for value in importances if low < value < high), high]
    width, left = max((right - left, -left) for left, right in pairwise(marks))
    return -left + width / 2
