"""Node and composite importance, and what is noise: the style tree as it is used for cleaning.

Yi, Liu & Li 2003, Def. 3 to 9. The learned tree is left as it is; everything here follows from its
counts and is the same for any order in which they were added up.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice

from noiseclean_scrapy.methods.trees.counts import FeatureCounts, effective_pages, entropy
from noiseclean_scrapy.methods.trees.merging import (
    LIKENESS,
    MOST_COMPARED,
    Labels,
    Place,
    characteristic_features,
    merged_children,
    rarest,
)
from noiseclean_scrapy.methods.trees.site_style_tree import ElementNode, SiteStyleTree

ATTENUATION = 0.9
"""gamma: how much a single style leaves to the importance of what is below it."""
MERGED_SUPPORT = 0.75
"""Share of the parent's pages that merged element nodes must stand on together (ours)."""


@dataclass(slots=True)
class MeasuredElement:
    """An element node, or several merged ones, with its measures (all in [0, 1]).

    `supported_importance` is the importance as far as the element's m pages support it:
    1 - (1 - CompImp)(1 - 1/m). What m pages have in common was seen m - 1 times; on a single page
    it is 1, as in Def. 5. In a published tree it is the importance itself. `styles` maps a child
    sequence to its number of pages and its elements. `leaf_features` are the features on the
    `leaf_pages` on which the element is a leaf. `base` and `leaf_base` are the m of the entropies:
    these pages, as far as they have not faded alike.
    """

    label: str
    pages: float
    leaf_pages: float
    base: float
    leaf_base: float
    leaf_features: FeatureCounts
    dropped_styles: tuple[float, float, float]
    styles: dict[Labels, tuple[float, tuple[MeasuredElement, ...]]] = field(default_factory=dict)
    node_importance: float = 1.0
    leaf_importance: float = 1.0
    importance: float = 1.0
    supported_importance: float = 1.0
    noisy: bool = False
    meaningful: bool = True

    def children(self) -> Iterator[MeasuredElement]:
        """The elements of all styles; a merged one as often as it stands in a style."""
        for _, elements in self.styles.values():
            yield from elements


def measure(tree: SiteStyleTree, *, published: bool = False) -> list[MeasuredElement]:
    """All elements of the tree with their importance, parents first; the first is the root.

    With `published` nothing is done that is not the paper's.
    """
    elements = _merge_like_elements(tree, published)
    for element in reversed(elements):
        _measure_element(element)
        support = 1.0 if published else 1 - 1 / max(element.pages, 1.0)
        element.supported_importance = 1 - (1 - element.importance) * support
    return elements


def mark(elements: list[MeasuredElement], threshold: float) -> None:
    """Mark noisy and meaningful elements (Def. 6 and 8) for a threshold on composite importance.

    An element is noisy when it and all below it have a supported importance below the threshold,
    and meaningful when nothing noisy is in it.
    """
    for element in reversed(elements):
        element.noisy = element.supported_importance < threshold and all(
            child.noisy for child in element.children()
        )
        element.meaningful = not element.noisy and all(
            child.meaningful for child in element.children()
        )


def _measure_element(element: MeasuredElement) -> None:
    if element.leaf_base > 1:
        element.leaf_importance = 1 - element.leaf_features.mean_entropy(element.leaf_base)
    if not element.styles and not element.dropped_styles[1]:
        element.importance = element.leaf_importance if element.leaf_pages else 1.0
        return
    # A page on which the element is a leaf uses the style without children.
    styles = [
        (pages, _mean(child.importance for child in below))
        for pages, below in element.styles.values()
    ]
    if element.leaf_pages:
        styles.append((element.leaf_pages, element.leaf_importance))
    dropped, dropped_pages, dropped_weighted = element.dropped_styles
    total = math.fsum(pages for pages, _ in styles) + dropped_pages
    if element.base > 1:
        weighted = math.fsum(pages * math.log(pages) for pages, _ in styles) + dropped_weighted
        element.node_importance = entropy(total, weighted, element.base)
    attenuation = ATTENUATION ** (len(styles) + dropped)
    below = math.fsum([*(pages * value for pages, value in styles), dropped_pages]) / total
    element.importance = (1 - attenuation) * element.node_importance + attenuation * below


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else 1.0


# Merging of like element nodes: the paper's first enhancement.


@dataclass(slots=True)
class _Candidate:
    """An element node in the making: where it stands, and the learned nodes that it joins.

    `style` is the number of its style: a sequence of thousands of labels is slow to compare.
    """

    style: int
    place: int
    nodes: list[ElementNode]

    @property
    def pages(self) -> float:
        return math.fsum(node.pages for node in self.nodes)


def _merge_like_elements(tree: SiteStyleTree, published: bool) -> list[MeasuredElement]:
    root = _element([tree.root])
    elements = []
    waiting = [(root, [tree.root])]
    while waiting:
        element, nodes = waiting.pop()
        elements.append(element)
        pages: dict[Labels, float] = defaultdict(float)
        for node in nodes:
            for labels, style in node.styles.items():
                pages[labels] += style.pages
        order = sorted(pages, key=lambda labels: (0.0 if published else -pages[labels], labels))
        placed: dict[Place, MeasuredElement] = {}
        for joined, places in _children(nodes, order, element.pages, published):
            child = _element(joined)
            waiting.append((child, joined))
            placed.update(dict.fromkeys(places, child))
        numbers = {labels: number for number, labels in enumerate(order)}
        for labels, count in pages.items():
            number = numbers[labels]
            below = tuple(placed[number, place] for place in range(len(labels)))
            element.styles[labels] = (count, below)
    return elements


def _children(
    nodes: list[ElementNode], order: list[Labels], parent_pages: float, published: bool
) -> Iterator[tuple[list[ElementNode], list[Place]]]:
    """The learned nodes of each child, and its places in the styles, given in an order."""
    if published:
        for merged in merged_children(nodes, order, one_a_style=True):
            yield merged.nodes, merged.places
        return
    candidates = _candidates(nodes, order)
    for group in _groups(candidates, least_pages=MERGED_SUPPORT * parent_pages):
        joined = [node for candidate in group for node in candidate.nodes]
        yield joined, [(candidate.style, candidate.place) for candidate in group]


def _candidates(nodes: list[ElementNode], order: list[Labels]) -> list[_Candidate]:
    """The element nodes in the styles of the joined nodes, style by style."""
    found = []
    for number, labels in enumerate(order):
        with_style = [node.styles[labels].elements for node in nodes if labels in node.styles]
        for place, members in enumerate(zip(*with_style, strict=True)):
            found.append(_Candidate(number, place, list(members)))
    return found


def _groups(candidates: list[_Candidate], *, least_pages: float) -> Iterator[list[_Candidate]]:
    """Candidates of different styles that are merged; each candidate is in exactly one group.

    A candidate joins the first group whose first member is like it and that has none of its own
    style yet. Groups on fewer than `least_pages` pages fall apart: what a few pages share is a
    quotation or a series, not the site's template.
    """
    by_label: dict[str, list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_label[candidate.nodes[0].label].append(candidate)
    for alike in by_label.values():
        if len({candidate.style for candidate in alike}) < 2:
            yield from ([candidate] for candidate in alike)
            continue
        for group in _like_groups(alike):
            if len(group) > 1 and math.fsum(c.pages for c in group) < least_pages:
                yield from ([candidate] for candidate in group)
            else:
                yield group


def _like_groups(candidates: list[_Candidate]) -> list[list[_Candidate]]:
    """Groups of candidates of one label, which come style by style.

    A group that a candidate cannot join, those of its style with the same features cannot either,
    so that they share one search. No candidate is compared with more than `MOST_COMPARED`.
    """
    features = [characteristic_features(candidate.nodes) for candidate in candidates]
    spread = Counter(feature for own in features for feature in own)
    groups: list[list[int]] = []
    styles: list[set[int]] = []
    index: dict[str, list[int]] = defaultdict(list)
    style = -1
    searches: dict[frozenset[str], Iterator[int]] = {}
    for number, (candidate, own) in enumerate(zip(candidates, features, strict=True)):
        if candidate.style != style:
            style = candidate.style
            searches.clear()
        rare = rarest(own, spread)
        if own not in searches:
            searches[own] = merge(*(index[feature] for feature in rare))
        for near in islice(searches[own], MOST_COMPARED):
            if style not in styles[near] and _alike(own, features[groups[near][0]]):
                groups[near].append(number)
                styles[near].add(style)
                break
        else:
            for feature in rare:
                index[feature].append(len(groups))
            groups.append([number])
            styles.append({style})
    return [[candidates[number] for number in group] for group in groups]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= LIKENESS * len(one | other)


def _element(nodes: list[ElementNode]) -> MeasuredElement:
    if len(nodes) == 1:
        leaf_features = nodes[0].leaf_features
    else:
        leaf_features = FeatureCounts()
        for node in nodes:
            leaf_features.merge(node.leaf_features)
    dropped = [math.fsum(values) for values in zip(*(n.dropped_styles for n in nodes), strict=True)]
    return MeasuredElement(
        label=nodes[0].label,
        pages=math.fsum(node.pages for node in nodes),
        leaf_pages=math.fsum(node.leaf_pages for node in nodes),
        base=effective_pages((node.pages, node.page_logs) for node in nodes),
        leaf_base=effective_pages((node.leaf_pages, node.leaf_logs) for node in nodes),
        leaf_features=leaf_features,
        dropped_styles=(dropped[0], dropped[1], dropped[2]),
    )
