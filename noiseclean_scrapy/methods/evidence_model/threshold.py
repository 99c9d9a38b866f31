"""From probabilities to a choice of blocks."""

from __future__ import annotations

import numpy as np

from noiseclean_scrapy.methods.evidence_model.tree_index import Floats

LEANS = {"recall": 0.25, "balanced": 0.5, "precision": 0.75}
"""Least probability of a kept block, by what the user leans to."""
LEAST_TEXT = 200.0
"""Where less text than this would be kept (weighted characters), the best candidates are taken."""


def threshold(chances: Floats, lengths: Floats, lean: float) -> float:
    """Least probability of a kept block: `lean`, or lower on a page that is nearly empty otherwise.

    There it is the one with the highest expected F over characters: with the blocks above it kept,
    `sum(p n) / sum(n)` of the kept text is content, and `sum(p n)` of all content is kept (Lipton,
    Elkan & Naryanaswamy, ECML 2014).

    >>> chances, lengths = np.array([0.9, 0.4, 0.1]), np.array([100.0, 100.0, 800.0])
    >>> threshold(chances, lengths, 0.5), threshold(chances, 10 * lengths, 0.5)
    (0.4, 0.5)
    """
    if not len(chances) or lengths[chances >= LEANS["balanced"]].sum() >= LEAST_TEXT:
        return lean
    order = np.argsort(-chances, kind="stable")
    content = np.cumsum((chances * lengths)[order])
    expected = 2 * content / np.maximum(np.cumsum(lengths[order]) + content[-1], 1e-9)
    return min(float(chances[order[int(expected.argmax())]]), lean)
