"""The compressed structure tree: its own leaves, merging and measures (Yi & Liu, IJCAI 2003).

The counts are those of a `SiteStyleTree` that learned `StructureLayout`s. In these no siblings are
folded, so that one page has one tag node at each place, and `pages` of an element node is the
paper's |E.TAGs|. What merges further is decided here, from the counts alone.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from noiseclean_scrapy.methods.trees.counts import FeatureCounts, weighted_log
from noiseclean_scrapy.methods.trees.importance import CHARACTERISTIC_SHARE, LIKENESS
from noiseclean_scrapy.methods.trees.site_style_tree import ElementNode, SiteStyleTree
from noiseclean_scrapy.page.page import Page
from noiseclean_scrapy.page.presentation import Layout

Labels = tuple[str, ...]


class StructureLayout(Layout):
    """A page as the compressed structure tree sees it.

    The virtual leaves are the grandparents of the actual leaf nodes: block-level elements with
    nothing below their children but inline content. Where an element has deeper children too, each
    child that has none is a leaf of its own.
    """

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        parents = self._inner
        self._inner = [
            any(child >= 0 and parents[child] for child in element.content)
            for element in page.elements
        ]

    def _folds(self, child: int) -> bool:
        return False


@dataclass(slots=True)
class StructureElement:
    """Merged tag nodes with their measures, all in [0, 1].

    `tags` is |E.TAGs|; on `leaf_tags` of them the element is a leaf with the features of
    `leaf_features`. `styles` maps a presentation style to its element nodes; two of them are the
    same one where they merged. The paths run from the root to the element, and to the features of
    its leaf tag nodes.
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
        entropy = self.leaf_features.entropy(feature, self.leaf_tags)
        return self.leaf_path_importance * (1 - entropy)

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
        placed: dict[tuple[Labels, int], StructureElement] = {}
        for group in _merged_children(nodes):
            child = _measured(group.nodes, above=element.path_importance)
            waiting.append((child, group.nodes))
            placed.update(dict.fromkeys(group.places, child))
        for labels in sorted({labels for labels, _ in placed}):
            element.styles[labels] = tuple(placed[labels, n] for n in range(len(labels)))
    return elements


def _measured(nodes: list[ElementNode], *, above: float) -> StructureElement:
    """The element of the joined nodes, below a path of importance `above`."""
    leaf_features = FeatureCounts()
    for node in nodes:
        leaf_features.merge(node.leaf_features)
    element = StructureElement(
        label=nodes[0].label,
        tags=math.fsum(node.pages for node in nodes),
        leaf_tags=math.fsum(node.leaf_pages for node in nodes),
        leaf_features=leaf_features,
    )
    if element.leaf_tags > 1:
        element.leaf_importance = 1 - leaf_features.mean_entropy(element.leaf_tags)
    if any(node.styles or node.dropped_styles[1] for node in nodes):
        element.node_importance = _style_entropy(nodes, element.leaf_tags, element.tags)
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


def _style_entropy(nodes: list[ElementNode], leaf_tags: float, tags: float) -> float:
    """NodeImp of an inner element (equation 1); being a leaf is one more style."""
    if tags <= 1:
        return 1.0
    styles: dict[Labels, float] = defaultdict(float)
    for node in nodes:
        for labels, style in node.styles.items():
            styles[labels] += style.pages
    counts = [*styles.values(), leaf_tags]
    dropped = [node.dropped_styles for node in nodes]
    total = math.fsum([*counts, *(pages for _, pages, _ in dropped)])
    weighted = math.fsum([*map(weighted_log, counts), *(log for _, _, log in dropped)])
    entropy = (math.log(total) - weighted / total) / math.log(tags)
    return min(1.0, max(0.0, entropy))


# Merging of initial child nodes with equal tag and attributes.


class _Group:
    """Initial child nodes that merged: their places, and the learned nodes that stand there."""

    def __init__(self, nodes: list[ElementNode], places: list[tuple[Labels, int]]) -> None:
        self.nodes = nodes
        self.places = places
        self.tags = math.fsum(node.pages for node in nodes)
        frequency: dict[str, float] = defaultdict(float)
        for node in nodes:
            for feature, count in node.document_frequency.items():
                frequency[feature] += count
        least = CHARACTERISTIC_SHARE * self.tags
        self.characteristic = frozenset(f for f, n in frequency.items() if n >= least)

    def likeness(self, other: _Group) -> float:
        """Jaccard index of the characteristic features."""
        both = len(self.characteristic & other.characteristic)
        return both / (len(self.characteristic) + len(other.characteristic) - both)

    def joined(self, other: _Group) -> _Group:
        return _Group(self.nodes + other.nodes, self.places + other.places)


def _merged_children(nodes: list[ElementNode]) -> Iterator[_Group]:
    """The child nodes below the joined nodes, merged until no two of them are alike."""
    initial: dict[tuple[Labels, int], list[ElementNode]] = defaultdict(list)
    for node in nodes:
        for labels, style in node.styles.items():
            for place, child in enumerate(style.elements):
                initial[labels, place].append(child)
    by_label: dict[str, list[_Group]] = defaultdict(list)
    for labels, place in sorted(initial):
        by_label[labels[place]].append(_Group(initial[labels, place], [(labels, place)]))
    for groups in by_label.values():
        yield from _merge_like(groups) if len(groups) > 1 else groups


def _merge_like(groups: list[_Group]) -> Iterator[_Group]:
    """Groups of one label merged, the most alike first where there is a choice."""
    equal: dict[frozenset[str], list[_Group]] = defaultdict(list)
    for group in groups:
        equal[group.characteristic].append(group)
    yield from equal.pop(frozenset(), [])  # |I| > 0: without characteristic features none merges
    waiting = [_join_all(members) for members in equal.values()]
    waiting.sort(key=lambda group: (-group.tags, group.places), reverse=True)
    index = _LikenessIndex(waiting)
    while waiting:
        group = waiting.pop()
        near = index.nearest(group)
        if near is None:
            index.add(group)
        else:
            index.remove(near)
            waiting.append(group.joined(near))
    yield from index.groups


def _join_all(members: list[_Group]) -> _Group:
    if len(members) == 1:
        return members[0]
    nodes = [node for group in members for node in group.nodes]
    return _Group(nodes, [place for group in members for place in group.places])


class _LikenessIndex:
    """Groups found again by the rarest of their characteristic features.

    Two sets as alike as `LIKENESS` share at least one of so many of their rarest members.
    """

    def __init__(self, groups: list[_Group]) -> None:
        self._spread = Counter(f for group in groups for f in group.characteristic)
        self._by_feature: dict[str, dict[_Group, None]] = defaultdict(dict)
        self._added = 0
        self.groups: dict[_Group, int] = {}

    def nearest(self, group: _Group) -> _Group | None:
        """The most alike of the groups that may merge with `group`; the earliest of equals."""
        near = {other for feature in self._rarest(group) for other in self._by_feature[feature]}
        alike = [other for other in near if other.likeness(group) >= LIKENESS]
        return min(alike, key=lambda o: (-o.likeness(group), self.groups[o]), default=None)

    def add(self, group: _Group) -> None:
        self._added += 1
        self.groups[group] = self._added
        for feature in self._rarest(group):
            self._by_feature[feature][group] = None

    def remove(self, group: _Group) -> None:
        del self.groups[group]
        for feature in self._rarest(group):
            del self._by_feature[feature][group]

    def _rarest(self, group: _Group) -> list[str]:
        features = sorted(group.characteristic, key=lambda f: (self._spread[f], f))
        return features[: len(features) - math.ceil(LIKENESS * len(features)) + 1]
