"""The compressed structure tree: its own leaves, merging and measures (Yi & Liu, IJCAI 2003).

The counts are those of a `SiteStyleTree` that learned `StructureLayout`s. In these no siblings are
folded, so that one page has one tag node at each place, and `pages` of an element node is the
paper's |E.TAGs|. What merges further is decided from the counts alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field

from noiseclean_scrapy.methods.trees.counts import (
    FeatureCounts,
    effective_pages,
    entropy,
    weighted_log,
)
from noiseclean_scrapy.methods.trees.merging import Labels, Place, merged_children
from noiseclean_scrapy.methods.trees.site_style_tree import ElementNode, SiteStyleTree
from noiseclean_scrapy.page.page import Page
from noiseclean_scrapy.page.presentation import Layout


class StructureLayout(Layout):
    """A page as the compressed structure tree sees it.

    The virtual leaves are the grandparents of the actual leaf nodes: block-level elements with
    nothing below their children but inline content. Where an element has deeper children too, each
    child that has none is a leaf of its own.
    """

    def __init__(self, page: Page, *, published: bool = False) -> None:
        super().__init__(page, published=published)
        parents = self._inner
        self._inner = [
            any(child >= 0 and parents[child] for child in content) for content in self.content
        ]

    def _label(self, element: int) -> str:
        return self.page.elements[element].label

    def _folds(self, child: int) -> bool:
        return False


@dataclass(slots=True)
class StructureElement:
    """Merged tag nodes with their measures, all in [0, 1].

    `tags` is |E.TAGs|; on `leaf_tags` of them the element is a leaf with the features of
    `leaf_features`. Of tags that have faded alike as many count as there were. `styles` maps a
    presentation style to its element nodes; two of them are the same one where they merged. The
    paths run from the root to the element, and to the features of its leaf tag nodes.
    """

    label: str
    tags: float
    leaf_tags: float
    leaf_features: FeatureCounts
    styles: dict[Labels, tuple[StructureElement, ...]] = field(default_factory=dict)
    node_importance: float = 1.0
    leaf_importance: float = 1.0
    path_importance: float = 1.0
    leaf_path_importance: float = 1.0

    def feature_weight(self, feature: str) -> float:
        """PathImp(E) (1 - H_E(a)): the weight of one occurrence in a leaf (equation 5)."""
        spread = self.leaf_features.entropy(feature, self.leaf_tags)
        return self.leaf_path_importance * (1 - spread)

    def mean_weight(self) -> tuple[float, float]:
        """Number of feature occurrences in the leaf tag nodes, and their mean weight."""
        totals = self.leaf_features.totals
        occurrences = self.leaf_features.occurrences
        weight = math.fsum(count * self.feature_weight(f) for f, (count, _) in totals.items())
        return occurrences, weight / occurrences if occurrences else 0.0


def structure_elements(tree: SiteStyleTree) -> list[StructureElement]:
    """All elements of the compressed structure tree, parents first; the first is the root."""
    root = _measured([tree.root], above=0.0)
    elements = []
    waiting = [(root, [tree.root])]
    while waiting:
        element, nodes = waiting.pop()
        elements.append(element)
        styles = sorted({labels for node in nodes for labels in node.styles})
        placed: dict[Place, StructureElement] = {}
        for group in merged_children(nodes, styles):
            child = _measured(group.nodes, above=element.path_importance)
            waiting.append((child, group.nodes))
            placed.update(dict.fromkeys(group.places, child))
        for number, labels in enumerate(styles):
            element.styles[labels] = tuple(placed[number, n] for n in range(len(labels)))
    return elements


def _measured(nodes: list[ElementNode], *, above: float) -> StructureElement:
    """The element of the joined nodes, below a path of importance `above`."""
    leaf_features = FeatureCounts()
    for node in nodes:
        leaf_features.merge(node.leaf_features)
    element = StructureElement(
        label=nodes[0].label,
        tags=effective_pages((node.pages, node.page_logs) for node in nodes),
        leaf_tags=effective_pages((node.leaf_pages, node.leaf_logs) for node in nodes),
        leaf_features=leaf_features,
    )
    if element.leaf_tags > 1:
        element.leaf_importance = 1 - leaf_features.mean_entropy(element.leaf_tags)
    if any(node.styles or node.dropped_styles[1] for node in nodes):
        element.node_importance = _style_entropy(nodes, element.tags)
        element.path_importance = _path_importance(above, element.node_importance)
        # Leaf tag nodes of an inner element count as if their features stood in a child of it.
        element.leaf_path_importance = _path_importance(
            element.path_importance, element.leaf_importance
        )
    else:
        element.node_importance = element.leaf_importance
        element.path_importance = _path_importance(above, element.node_importance)
        element.leaf_path_importance = element.path_importance
    return element


def _path_importance(above: float, node_importance: float) -> float:
    """PathImp from that of the parent: 1 - (1 - PathImp(parent)) (1 - NodeImp) (equation 4)."""
    return max(above, 1 - (1 - above) * (1 - node_importance))


def _style_entropy(nodes: list[ElementNode], tags: float) -> float:
    """NodeImp of an inner element (equation 1); being a leaf is one more style."""
    if tags <= 1:
        return 1.0
    styles: dict[Labels, float] = defaultdict(float)
    for node in nodes:
        for labels, style in node.styles.items():
            styles[labels] += style.pages
    counts = [*styles.values(), math.fsum(node.leaf_pages for node in nodes)]
    dropped = [node.dropped_styles for node in nodes]
    total = math.fsum([*counts, *(pages for _, pages, _ in dropped)])
    weighted = math.fsum([*map(weighted_log, counts), *(log for _, _, log in dropped)])
    return entropy(total, weighted, tags)
