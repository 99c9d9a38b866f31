"""Like child nodes of an element merged, as both papers have it (Yi, Liu & Li; Yi & Liu 2003).

The features of merged nodes are counted together, and merging goes on until no two are alike.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from noiseclean_scrapy.methods.trees.site_style_tree import ElementNode

CHARACTERISTIC_SHARE = 0.85
"""gamma' (gamma of the compressed structure tree): share of an element's pages that a
characteristic feature occurs on."""
LIKENESS = 0.85
"""lambda: Jaccard index of characteristic features from which on element nodes are merged."""
MOST_COMPARED = 200
"""Element nodes that one is compared with at most, those that came first."""

Labels = tuple[str, ...]
Place = tuple[int, int]
"""The number of a style, and which of its elements; labels would be hashed for each of these."""


class Group:
    """Child nodes that merged: their places in styles, and the learned nodes that stand there."""

    def __init__(self, nodes: list[ElementNode], places: list[Place]) -> None:
        self.nodes = nodes
        self.places = places
        self.styles = frozenset(style for style, _ in places)
        self.tags = math.fsum(node.pages for node in nodes)
        self.characteristic = characteristic_features(nodes)

    def likeness(self, other: Group) -> float:
        """Jaccard index of the characteristic features."""
        both = len(self.characteristic & other.characteristic)
        return both / (len(self.characteristic) + len(other.characteristic) - both)


def characteristic_features(nodes: Sequence[ElementNode]) -> frozenset[str]:
    """Features on nearly all pages of the nodes."""
    if len(nodes) == 1:
        frequency: dict[str, float] = nodes[0].document_frequency
    else:
        frequency = defaultdict(float)
        for node in nodes:
            for feature, count in node.document_frequency.items():
                frequency[feature] += count
    least = CHARACTERISTIC_SHARE * math.fsum(node.pages for node in nodes)
    return frozenset(feature for feature, count in frequency.items() if count >= least)


def rarest(features: Iterable[str], spread: Mapping[str, int]) -> list[str]:
    """So many of the rarest features that two sets as alike as `LIKENESS` share one of them.

    `spread` tells how many sets have a feature.
    """
    ordered = sorted(features, key=lambda feature: (spread[feature], feature))
    return ordered[: len(ordered) - math.ceil(LIKENESS * len(ordered)) + 1]


def merged_children(
    nodes: list[ElementNode], styles: Sequence[Labels], *, one_a_style: bool = False
) -> Iterator[Group]:
    """The child nodes below the joined nodes, merged until no two of them are alike.

    `styles` are those of the nodes, ascending, by whose numbers places are told. With `one_a_style`
    only nodes of different styles merge.
    """
    numbers = {labels: number for number, labels in enumerate(styles)}
    initial: dict[Place, list[ElementNode]] = defaultdict(list)
    for node in nodes:
        for labels, style in node.styles.items():
            number = numbers[labels]
            for place, child in enumerate(style.elements):
                initial[number, place].append(child)
    by_label: dict[str, list[Group]] = defaultdict(list)
    for number, place in sorted(initial):
        group = Group(initial[number, place], [(number, place)])
        by_label[styles[number][place]].append(group)
    for groups in by_label.values():
        yield from _merge_like(groups, one_a_style) if len(groups) > 1 else groups


def _merge_like(groups: list[Group], one_a_style: bool) -> Iterator[Group]:
    """Groups of one label merged, the most alike first where there is a choice."""
    equal: dict[tuple[frozenset[str], int], list[Group]] = defaultdict(list)
    turns: Counter[tuple[frozenset[str], int]] = Counter()  # of equal groups of one style
    for group in groups:
        turn = (group.characteristic, group.places[0][0])
        equal[group.characteristic, turns[turn]].append(group)
        turns[turn] += one_a_style
        if not group.characteristic:  # |I| > 0: without characteristic features none merges
            yield group
    waiting = [_joined(members) for (features, _), members in equal.items() if features]
    waiting.sort(key=lambda group: (-group.tags, group.places), reverse=True)
    index = _LikenessIndex(waiting, one_a_style)
    while waiting:
        group = waiting.pop()
        near = index.nearest(group)
        if near is None:
            index.add(group)
        else:
            index.remove(near)
            waiting.append(_joined([group, near]))
    yield from index.groups


def _joined(members: list[Group]) -> Group:
    if len(members) == 1:
        return members[0]
    nodes = [node for group in members for node in group.nodes]
    return Group(nodes, [place for group in members for place in group.places])


class _LikenessIndex:
    """Groups found again by the rarest of their characteristic features."""

    def __init__(self, groups: Iterable[Group], one_a_style: bool) -> None:
        self._spread = Counter(f for group in groups for f in group.characteristic)
        self._by_feature: dict[str, dict[Group, None]] = defaultdict(dict)
        self._one_a_style = one_a_style
        self._added = 0
        self.groups: dict[Group, int] = {}

    def nearest(self, group: Group) -> Group | None:
        """The most alike of the groups that may merge with `group`; the earliest of equals."""
        near = chain(*(self._by_feature[f] for f in self._rarest(group)))
        alike = [
            (other.likeness(group), -self.groups[other], other)
            for other in dict.fromkeys(islice(near, MOST_COMPARED))
            if not (self._one_a_style and other.styles & group.styles)
        ]
        best = max((entry for entry in alike if entry[0] >= LIKENESS), default=None)
        return best[2] if best else None

    def add(self, group: Group) -> None:
        self._added += 1
        self.groups[group] = self._added
        for feature in self._rarest(group):
            self._by_feature[feature][group] = None

    def remove(self, group: Group) -> None:
        del self.groups[group]
        for feature in self._rarest(group):
            del self._by_feature[feature][group]

    def _rarest(self, group: Group) -> list[str]:
        return rarest(group.characteristic, self._spread)
