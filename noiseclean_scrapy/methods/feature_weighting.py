"""`feature-weighting`: weights from the compressed structure tree (Yi & Liu, IJCAI 2003)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from noiseclean_scrapy.methods.base import Model, PageVerdict, Verdict
from noiseclean_scrapy.methods.tree_method import TreeMethod, known_share, map_blocks
from noiseclean_scrapy.methods.trees.noise_threshold import otsu_threshold
from noiseclean_scrapy.methods.trees.site_style_tree import SiteStyleTree
from noiseclean_scrapy.methods.trees.structure_tree import (
    StructureElement,
    StructureLayout,
    structure_elements,
)
from noiseclean_scrapy.page import Page


class FeatureWeightingMethod(TreeMethod):
    """Learns a compressed structure tree, which weighs every feature of a page.

    The paper needs no threshold, because its output is the weights. For clean text, a block is
    kept when its features weigh more than `threshold` on average; chosen by itself if None.
    """

    layout = StructureLayout

    def model(self) -> FeatureWeightingModel:
        return FeatureWeightingModel(self.tree, self.threshold, published=self.published)


class FeatureWeightingModel(Model):
    """The measured tree. `threshold` is the one in use."""

    def __init__(
        self, tree: SiteStyleTree, threshold: float | None, *, published: bool = False
    ) -> None:
        self.published = published
        self.elements = structure_elements(tree)
        self.root = self.elements[0]
        self.threshold = choose_threshold(self.elements) if threshold is None else threshold
        self._by_label = {id(element): _children_by_label(element) for element in self.elements}

    def judge(self, page: Page) -> PageVerdict:
        layout = StructureLayout(page, published=self.published)
        mapped, weighed = self._weigh(layout)
        verdicts = []
        weights: dict[str, float] = defaultdict(float)
        for element, features, own in zip(mapped, layout.features, weighed, strict=True):
            for feature, weight in own.items():
                weights[feature] += weight
            occurrences = sum(features.values())
            mean = math.fsum(own.values()) / occurrences if occurrences else 1.0
            verdicts.append(self._verdict(element, mean))
        return PageVerdict.of(verdicts, dict(weights), known_share(page, mapped))

    def weigh(self, page: Page) -> tuple[list[dict[str, float]], float]:
        """The weights of the features in each block (equation 5), and the page's fit."""
        mapped, weighed = self._weigh(StructureLayout(page, published=self.published))
        return weighed, known_share(page, mapped)

    def _weigh(
        self, layout: StructureLayout
    ) -> tuple[list[StructureElement | None], list[dict[str, float]]]:
        """The place of each block, and the weights of the features in it."""
        mapped = map_blocks(layout, self.root, self._below, lambda element: False)
        return mapped, list(map(_block_weights, mapped, layout.features))

    def _below(
        self, element: StructureElement, labels: tuple[str, ...]
    ) -> Iterable[StructureElement | None]:
        """The elements of a child sequence; of an unknown one, child by child by their labels."""
        style = element.styles.get(labels)
        if style:
            return style
        known = {} if self.published else self._by_label[id(element)]
        return map(known.get, labels)

    def _verdict(self, element: StructureElement | None, mean: float) -> Verdict:
        if element is None:
            return Verdict(mean > self.threshold, mean, {"known": 0.0})
        evidence = {
            "known": 1.0,
            "mean_weight": mean,
            "node_importance": element.node_importance,
            "path_importance": element.leaf_path_importance,
            "threshold": self.threshold,
            "tags": element.tags,
        }
        return Verdict(mean > self.threshold, mean, evidence)


def _block_weights(
    element: StructureElement | None, features: Mapping[str, int]
) -> dict[str, float]:
    if element is None:  # a place seen for the first time: an element of one tag node
        return {feature: float(count) for feature, count in features.items()}
    return {feature: element.feature_weight(feature) * n for feature, n in features.items()}


def _children_by_label(element: StructureElement) -> dict[str, StructureElement]:
    """For each label below an element the child with the most tag nodes."""
    found: dict[str, StructureElement] = {}
    for labels in sorted(element.styles):
        for child in element.styles[labels]:
            known = found.get(child.label)
            if known is None or child.tags > known.tags:
                found[child.label] = child
    return found


def choose_threshold(elements: Iterable[StructureElement]) -> float:
    """The cut that best separates leaf nodes of light from leaf nodes of heavy features.

    Otsu's, over the leaves' mean weights, each counted as often as features occur in it. 0 where
    all weights are equal: nothing tells two classes apart on a single page.
    """
    masses: dict[float, float] = defaultdict(float)
    for element in elements:
        occurrences, mean = element.mean_weight()
        if occurrences:
            masses[round(mean, 9)] += occurrences
    return otsu_threshold(masses)
