"""The method `evidence` by definition, page by page and row by row: slow, for tests only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from noiseclean_scrapy.evidence import places, site
from noiseclean_scrapy.evidence.trees import BoostedTrees
from noiseclean_scrapy.page import Page

# Trees.


def slow_answers(trees: BoostedTrees, tree: int, row: Sequence[float]) -> list[bool]:
    return [
        bool(row[int(feature)] > border)
        for feature, border in zip(trees.features[tree], trees.borders[tree], strict=True)
    ]


def slow_score(trees: BoostedTrees, row: Sequence[float]) -> float:
    """Walk every tree; the answer of level d is bit d of the leaf's number."""
    total = trees.bias
    for tree in range(len(trees.features)):
        leaf = sum(2**level for level, yes in enumerate(slow_answers(trees, tree, row)) if yes)
        total += float(trees.values[tree][leaf])
    return total


def slow_mean(
    leaves: Sequence[float], weights: Sequence[float], first_answers: Sequence[bool]
) -> float:
    """Weighted mean of the leaves with these first answers; the plain one where none weighs."""
    fitting = [
        leaf
        for leaf in range(len(leaves))
        if all(bool(leaf >> level & 1) is yes for level, yes in enumerate(first_answers))
    ]
    total = sum(float(weights[leaf]) for leaf in fitting)
    if total <= 0:
        return sum(float(leaves[leaf]) for leaf in fitting) / len(fitting)
    return sum(float(leaves[leaf]) * float(weights[leaf]) for leaf in fitting) / total


def slow_contributions(
    trees: BoostedTrees, weights: Any, row: Sequence[float]
) -> tuple[float, list[float]]:
    """Saabas: each answer's change of the mean goes to the feature that was asked for."""
    base = trees.bias
    changes = [0.0] * len(trees.names)
    for tree in range(len(trees.features)):
        answers = slow_answers(trees, tree, row)
        means = [
            slow_mean(trees.values[tree], weights[tree], answers[:level])
            for level in range(len(answers) + 1)
        ]
        base += means[0]
        for level, feature in enumerate(trees.features[tree]):
            changes[int(feature)] += means[level + 1] - means[level]
    return base, changes


# The page as arrays.


def slow_ancestors(page: Page, element: int) -> list[int]:
    """The element, its parent, and so on up to BODY."""
    return [above.index for above in page.path(element)]


def slow_below(page: Page, values: Sequence[float]) -> list[float]:
    return [
        sum(values[b.index] for b in page.blocks if e.index in slow_ancestors(page, b.element))
        for e in page.elements
    ]


def slow_inherit(page: Page, masks: Sequence[int]) -> list[int]:
    inherited = []
    for element in page.elements:
        bits = 0
        for above in slow_ancestors(page, element.index):
            bits |= masks[above]
        inherited.append(bits)
    return inherited


def slow_group_sizes(page: Page) -> list[int]:
    """Siblings with the same label, the element among them."""
    return [
        sum((o.parent, o.label) == (e.parent, e.label) for o in page.elements)
        for e in page.elements
    ]


def slow_repeated_item(page: Page) -> list[int]:
    sizes = slow_group_sizes(page)
    return [
        next((above for above in slow_ancestors(page, e.index) if sizes[above] > 1), 0)
        for e in page.elements
    ]


def slow_same_place(page: Page, one: int, other: int) -> bool:
    def place(index: int) -> tuple[str, str]:
        element = page.elements[index]
        return page.elements[max(element.parent, 0)].label, element.label

    return place(one) == place(other)


# The site.


class SlowSite:
    """All pages of a site are kept, with the log-odds of their blocks by the page alone."""

    def __init__(self) -> None:
        self.pages: dict[Any, tuple[Page, list[float]]] = {}

    def observe(self, page: Page, scores: Sequence[float]) -> None:
        self.pages.setdefault(identity(page), (page, [float(score) for score in scores]))

    def terms(self, page: Page, scores: Sequence[float]) -> dict[str, list[float]]:
        """As `SiteTerms`, one list a field."""
        others = [seen for key, seen in self.pages.items() if key != identity(page)]
        rows = [
            self._block_terms(page, index, float(score), others)
            for index, score in enumerate(scores)
        ]
        names = ("place", "repetition", "place_pages", "text_pages")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def _block_terms(
        self, page: Page, index: int, score: float, others: list[tuple[Page, list[float]]]
    ) -> tuple[float, float, float, float]:
        if not others:
            return 0.0, 0.0, 0.0, 0.0
        moved, support = 0.0, []
        for levels_up in (0, 1):
            place = slow_place(page, index, levels_up)
            means = []
            for other, other_scores in others:
                here = [
                    other_scores[b.index]
                    for b in other.blocks
                    if slow_place(other, b.index, levels_up) == place
                ]
                if here:
                    means.append(sum(here) / len(here))
            support.append(len(means))
            if means:
                pull = site.PLACE_WEIGHT * len(means) ** 2 / (len(means) ** 2 + site.SUPPORT**2)
                moved += pull * (clipped(sum(means) / len(means)) - clipped(score))
        text = masked_texts(page)[index]
        shown = sum(text in masked_texts(other) for other, _ in others)
        return moved, slow_repetition(shown, len(others)), float(support[0]), float(shown)


def slow_repetition(shown: float, others: float) -> float:
    """What a text loses that `shown` of `others` pages show."""
    lost = site.REPETITION * shown / others * shown / (shown + 1)
    if shown / others >= site.COMMON:
        lost += site.COMMON_REPETITION * shown / (shown + site.COMMON_SUPPORT)
    return -lost


def identity(page: Page) -> tuple[tuple[object, ...], ...]:
    """What tells a page from others: the places and the texts of its blocks."""
    return tuple(
        (slow_place(page, b.index, 0), slow_place(page, b.index, 1), b.text) for b in page.blocks
    )


def masked_texts(page: Page) -> tuple[str, ...]:
    return tuple(re.sub(r"\d+", "0", block.text.lower()) for block in page.blocks)


def slow_place(page: Page, block: int, levels_up: int) -> tuple[str, ...]:
    element = page.blocks[block].element
    for _ in range(levels_up):
        element = max(page.elements[element].parent, 0)
    return tuple(above.label for above in page.path(element))[: places.PLACE_LEVELS]


def clipped(score: float) -> float:
    return float(np.clip(score, -site.CLIP, site.CLIP))
