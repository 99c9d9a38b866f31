"""The compressed structure tree by definition, all tag nodes kept: slow, for tests only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.words import block_features

GAMMA = Fraction(85, 100)
LAMBDA = Fraction(85, 100)

Style = tuple[str, ...]


@dataclass(frozen=True)
class Tag:
    """A tag node of one page: an element's index, or ~index of text directly in a higher one."""

    page: Page
    content: int

    @property
    def label(self) -> str:
        return "#text" if self.content < 0 else self.page.elements[self.content].label

    def children(self) -> list[Tag]:
        """What stands in it; elements without any content do not count."""
        if self.content < 0:
            return []
        below = [Tag(self.page, c) for c in self.page.elements[self.content].content]
        return [tag for tag in below if tag.blocks()]

    def blocks(self) -> list[int]:
        """The text blocks below, in document order."""
        if self.content < 0:
            return [~self.content]
        below = self.page.elements[self.content].content
        return [block for c in below for block in Tag(self.page, c).blocks()]

    def is_leaf(self) -> bool:
        """Whether all actual leaf nodes below are its children or grandchildren."""
        return not any(
            grandchild.content >= 0 for child in self.children() for grandchild in child.children()
        )

    def style(self) -> Style:
        return tuple(child.label for child in self.children())

    def occurrences(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for block in self.blocks():
            counts += block_features(self.page.blocks[block])
        return counts


@dataclass
class SlowNode:
    """An element node with all its tag nodes."""

    tags: list[Tag]
    path: list[SlowNode] = field(default_factory=list)
    children: list[SlowNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.leaves = [tag for tag in self.tags if tag.is_leaf()]
        self.counts = [tag.occurrences() for tag in self.leaves]
        self.totals: Counter[str] = sum(self.counts, Counter())

    @cached_property
    def entropies(self) -> dict[str, float]:
        """H_E(a_i) of each feature over the leaf tag nodes."""
        return {
            feature: _entropy(
                [c[feature] / total for c in self.counts if c[feature]], len(self.leaves)
            )
            for feature, total in self.totals.items()
        }

    @cached_property
    def leaf_importance(self) -> float:
        if len(self.leaves) == 1 or not self.totals:
            return 1.0
        return math.fsum(1 - h for h in self.entropies.values()) / len(self.totals)

    @cached_property
    def node_importance(self) -> float:
        if len(self.leaves) == len(self.tags):
            return self.leaf_importance
        if len(self.tags) == 1:
            return 1.0
        styles = Counter("leaf" if tag.is_leaf() else tag.style() for tag in self.tags)
        return _entropy([n / len(self.tags) for n in styles.values()], len(self.tags))

    def path_importance(self) -> float:
        return 1 - math.prod(1 - node.node_importance for node in [*self.path, self])

    def weight(self, feature: str) -> float:
        """PathImp(E) (1 - H_E(a_i)), of an occurrence in a leaf tag node."""
        path = self.path_importance()
        if len(self.leaves) < len(self.tags):  # its features stand in a child of their own
            path = 1 - (1 - path) * (1 - self.leaf_importance)
        return path * (1 - self.entropies[feature])


def slow_nodes(pages: list[Page]) -> list[SlowNode]:
    """All element nodes of the compressed structure tree."""
    filled = [Tag(page, 0) for page in pages if page.blocks]
    return list(_grow(SlowNode(filled))) if filled else []


def slow_weights(nodes: list[SlowNode], page: Page) -> tuple[dict[str, float], list[float]]:
    """The features' weights added over a learned page, and every block's mean weight."""
    weights: dict[str, float] = {}
    means = [1.0] * len(page.blocks)
    for node in nodes:
        for tag in node.leaves:
            if tag.page is not page:
                continue
            for index in tag.blocks():
                features = block_features(page.blocks[index])
                own = {feature: node.weight(feature) * n for feature, n in features.items()}
                for feature, weight in own.items():
                    weights[feature] = weights.get(feature, 0.0) + weight
                if features:
                    means[index] = math.fsum(own.values()) / sum(features.values())
    return weights, means


def _entropy(shares: list[float], m: int) -> float:
    if m == 1:
        return 0.0
    return min(1.0, max(0.0, -math.fsum(p * math.log(p, m) for p in shares)))


def _grow(node: SlowNode) -> Iterator[SlowNode]:
    yield node
    initial: dict[tuple[Style, int], list[Tag]] = {}
    for tag in node.tags:
        if not tag.is_leaf():
            for place, child in enumerate(tag.children()):
                initial.setdefault((tag.style(), place), []).append(child)
    for label in sorted({style[place] for style, place in initial}):
        alike = [initial[key] for key in sorted(initial) if key[0][key[1]] == label]
        for tags in _merged(alike):
            child_node = SlowNode(tags, [*node.path, node])
            node.children.append(child_node)
            yield from _grow(child_node)


def _merged(groups: list[list[Tag]]) -> list[list[Tag]]:
    """Groups of tag nodes merged until no two of them agree, in the documented order."""
    joined: dict[frozenset[str], list[Tag]] = {}
    settled = [group for group in groups if not _characteristic(group)]
    for group in groups:
        if _characteristic(group):
            joined.setdefault(_characteristic(group), []).extend(group)
    for group in sorted(joined.values(), key=len, reverse=True):  # stable: first places first
        while True:
            likeness = [_likeness(group, other) for other in settled]
            best = max(likeness, default=Fraction(0))
            if best < LAMBDA:
                break
            group = group + settled.pop(likeness.index(best))
        settled.append(group)
    return settled


def _characteristic(tags: list[Tag]) -> frozenset[str]:
    frequency = Counter(feature for tag in tags for feature in tag.occurrences())
    return frozenset(f for f, n in frequency.items() if Fraction(n, len(tags)) >= GAMMA)


def _likeness(one: list[Tag], other: list[Tag]) -> Fraction:
    left, right = _characteristic(one), _characteristic(other)
    if not left or not right:
        return Fraction(0)
    return Fraction(len(left & right), len(left | right))
