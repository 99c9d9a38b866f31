"""Thresholds that a tree chooses by itself, without labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

THRESHOLD_RANGE = (0.88, 0.94)
"""Where thresholds clean well on news and blogs; see the decisions page for the sweep."""
LEAST_KEPT = 0.2
"""Share of a site's words that has to lie above a threshold in `THRESHOLD_RANGE`.

Articles share few words, and hold two fifths of a site and more; product data share many.
"""


def choose_threshold(leaves: Mapping[float, float]) -> float:
    """The threshold on composite importance, given how many words leaves of an importance hold.

    It is the middle of the widest gap between leaf importances within `THRESHOLD_RANGE`: leaves
    made by the same part of a template have like importances, and a threshold between two such
    groups keeps or drops each of them as a whole. Without leaves in the range it is the middle of
    the range. Where less than `LEAST_KEPT` of the words lie above it, the site's text is less
    diverse than that of articles, and the threshold is `otsu_threshold`, if lower.
    """
    low, high = THRESHOLD_RANGE
    marks = [low, *sorted(value for value in leaves if low < value < high), high]
    width, left = max((right - left, -left) for left, right in pairwise(marks))
    threshold = -left + width / 2
    kept = math.fsum(words for value, words in leaves.items() if value >= threshold)
    if kept >= LEAST_KEPT * math.fsum(leaves.values()):
        return threshold
    return min(threshold, otsu_threshold(leaves))


def otsu_threshold(masses: Mapping[float, float]) -> float:
    """The middle of `otsu_cut`; 0 where there is none."""
    cut = otsu_cut(masses)
    return sum(cut) / 2 if cut else 0.0


def otsu_cut(masses: Mapping[float, float]) -> tuple[float, float] | None:
    """The neighbouring values between which two classes have the largest variance (Otsu 1979).

    `masses` tells how often each value occurs. None where there is one value only, or none.
    """
    total = math.fsum(masses.values())
    moment = math.fsum(value * mass for value, mass in masses.items())
    best, cut = 0.0, None
    light = light_moment = 0.0
    for value, following in pairwise(sorted(masses)):
        light += masses[value]
        light_moment += value * masses[value]
        heavy = total - light
        if heavy <= 0:  # too few to count beside so many
            break
        if light <= 0:  # no words at all
            continue
        distance = (moment - light_moment) / heavy - light_moment / light
        variance = light * heavy * distance**2
        if variance > best:
            best, cut = variance, (value, following)
    return cut
