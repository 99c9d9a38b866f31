"""The site style tree: element nodes and style nodes with additive counts (Yi, Liu & Li 2003)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from noiseclean_scrapy.methods.trees.counts import (
    FORGOTTEN,
    FeatureCounts,
    check_factor,
    count_pages,
    faded_log,
    more_frequent_half,
    weighted_log,
)
from noiseclean_scrapy.page.presentation import Layout

FEATURE_LIMIT = 20_000
"""Most features whose names one element node keeps."""
FEATURES_A_NODE = 50
"""Most such names in a tree, by the number of its nodes at most."""
DEFAULT_NODES = 50_000
"""Element nodes of a tree: it then takes about 100 MB, of newspapers, and 200 MB at most."""

_KEPT_SHARE = 0.8
_NONE_DROPPED = (0.0, 0.0, 0.0)


class StyleNode:
    """A presentation style: a sequence of element nodes, and on how many pages it is (Def. 1)."""

    __slots__ = ("elements", "pages")

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.pages = 0.0
        self.elements = [ElementNode(label) for label in labels]


class ElementNode:
    """A tag with its display attributes, and the style nodes seen below it (Def. 2).

    `pages` contain it; on `leaf_pages` of them it is a leaf with the features of `leaf_features`.
    `page_logs` and `leaf_logs` are the sums of w ln w over these pages' weights w, which decay.
    `document_frequency` tells on how many pages a feature occurs anywhere below it. Styles that a
    cap took out are remembered as numbers: how many, and the sums of n and of n ln n.
    """

    __slots__ = (
        "document_frequency",
        "dropped_styles",
        "label",
        "leaf_features",
        "leaf_logs",
        "leaf_pages",
        "page_logs",
        "pages",
        "styles",
    )

    def __init__(self, label: str) -> None:
        self.label = label
        self.pages = 0.0
        self.leaf_pages = 0.0
        self.page_logs = self.leaf_logs = 0.0
        self.leaf_features = FeatureCounts()
        self.document_frequency: dict[str, float] = {}
        self.styles: dict[tuple[str, ...], StyleNode] = {}
        self.dropped_styles = _NONE_DROPPED

    @property
    def features(self) -> int:
        """Number of the feature names that it keeps, of leaves and of what is below it."""
        return len(self.leaf_features.totals) + len(self.document_frequency)

    def style(self, labels: tuple[str, ...]) -> StyleNode:
        """The style node with this sequence, made when it is new."""
        found = self.styles.get(labels)
        if found is None:
            found = self.styles[labels] = StyleNode(labels)
        return found

    def children(self) -> Iterator[ElementNode]:
        """The element nodes of all styles."""
        for style in self.styles.values():
            yield from style.elements

    def walk(self) -> Iterator[ElementNode]:
        """This node and all below it, parents first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children())


class SiteStyleTree:
    """What the pages of one cluster have in common, learned one page at a time.

    Everything in it is a sum over pages, so the order of pages does not matter and trees merge
    exactly, until a cap is met: at most `max_nodes` element nodes, of which the rarest styles
    are dropped (what lies below them counts as unknown, which is kept when cleaning), at most
    `FEATURE_LIMIT` feature names a node (see `FeatureCounts.prune`), and at most `FEATURES_A_NODE`
    times `max_nodes` in the tree, of which the rarest are dropped.
    """

    def __init__(self, *, max_nodes: int = DEFAULT_NODES) -> None:
        self.root = ElementNode("")
        self.max_nodes = max_nodes
        self.nodes = 1
        self.features = 0

    @property
    def pages(self) -> float:
        """Number of pages learned (a fraction after `decay`)."""
        return self.root.pages

    def observe(self, layout: Layout) -> None:
        """Learn one page. A page without content teaches nothing and is not counted."""
        if layout.empty:
            return
        waiting: list[tuple[ElementNode, tuple[int, ...]]] = [(self.root, (layout.top,))]
        while waiting:
            node, contents = waiting.pop()
            known = node.features
            _count_content(node, contents, layout)
            self.features += node.features - known
            for labels, slots in _presentation_styles(contents, layout).items():
                is_new = labels not in node.styles
                style = node.style(labels)
                if is_new:
                    self.nodes += len(labels)
                style.pages += 1
                waiting.extend(zip(style.elements, map(tuple, slots), strict=True))
        self._bound()

    def merge(self, other: SiteStyleTree) -> None:
        """Add what another tree of the same cluster learned from other pages."""
        merge_elements(self.root, other.root)
        self.bound()

    def decay(self, factor: float) -> None:
        """Forget smoothly: every page seen so far counts `factor` (0 < factor <= 1) of a page.

        Raises ValueError for other factors, with nothing changed.
        """
        check_factor(factor)
        for node in self.root.walk():
            node.page_logs = faded_log(node.pages, node.page_logs, factor)
            node.leaf_logs = faded_log(node.leaf_pages, node.leaf_logs, factor)
            node.pages *= factor
            node.leaf_pages *= factor
            node.leaf_features.decay(factor)
            node.document_frequency = {
                feature: count * factor for feature, count in node.document_frequency.items()
            }
            styles, pages, weighted = node.dropped_styles
            left, forgotten = factor * pages, faded_log(pages, weighted, factor)
            # As styles that are kept they have `FORGOTTEN` pages each at least.
            node.dropped_styles = (min(styles, left / FORGOTTEN), left, forgotten)
            for style in node.styles.values():
                style.pages *= factor
            for labels in [k for k, s in node.styles.items() if s.pages < FORGOTTEN]:
                del node.styles[labels]
        self._count()

    def bound(self) -> None:
        """Count nodes and features again, and drop what is above the caps."""
        self._count()
        self._bound()

    def _count(self) -> None:
        nodes = list(self.root.walk())
        self.nodes, self.features = len(nodes), sum(node.features for node in nodes)

    def _bound(self) -> None:
        if self.nodes > self.max_nodes:
            self._drop_rare_styles(int(self.max_nodes * _KEPT_SHARE))
        if self.features > FEATURES_A_NODE * self.max_nodes:
            self._drop_rare_features(FEATURES_A_NODE * self.max_nodes // 2)

    def _drop_rare_features(self, limit: int) -> None:
        """Drop the names of features, the rarest first, until `limit` at most are left."""
        nodes = list(self.root.walk())
        spread: Counter[float] = Counter()
        for node in nodes:
            spread.update(node.document_frequency.values())
            spread.update(occurrences for occurrences, _ in node.leaf_features.totals.values())
        left, least = self.features, 0.0
        for least in sorted(spread):
            left -= spread[least]
            if left <= limit:
                break
        for node in nodes:
            node.leaf_features.drop_rare(least)
            frequency = node.document_frequency
            node.document_frequency = {f: n for f, n in frequency.items() if n > least}
        self.features = left

    def _drop_rare_styles(self, limit: int) -> None:
        """Drop style nodes, rarest and lowest first, until `limit` element nodes are left."""
        styles = [
            (style.pages, -depth, labels, parent)
            for parent, depth in _walk_with_depth(self.root)
            for labels, style in parent.styles.items()
        ]
        styles.sort(key=lambda entry: entry[:3])
        for pages, _, labels, parent in styles:
            if self.nodes <= limit:
                return
            dropped = parent.styles.pop(labels)
            for element in dropped.elements:
                for node in element.walk():
                    self.nodes -= 1
                    self.features -= node.features
            count, dropped_pages, weighted = parent.dropped_styles
            weighted += weighted_log(pages)
            parent.dropped_styles = (count + 1, dropped_pages + pages, weighted)


def merge_elements(target: ElementNode, source: ElementNode) -> None:
    """Add the counts of `source` and all below it to `target`; `source` is left as it is."""
    waiting = [(target, source)]
    while waiting:
        target, source = waiting.pop()
        target.pages += source.pages
        target.leaf_pages += source.leaf_pages
        target.page_logs += source.page_logs
        target.leaf_logs += source.leaf_logs
        target.leaf_features.merge(source.leaf_features)
        for feature, count in source.document_frequency.items():
            count_pages(target.document_frequency, (feature,), count)
        _bound_features(target)
        if source.dropped_styles != _NONE_DROPPED:
            count, pages, weighted = target.dropped_styles
            more, more_pages, more_weighted = source.dropped_styles
            target.dropped_styles = (count + more, pages + more_pages, weighted + more_weighted)
        for labels, style in source.styles.items():
            own = target.style(labels)
            own.pages += style.pages
            waiting.extend(zip(own.elements, style.elements, strict=True))


def _count_content(node: ElementNode, contents: tuple[int, ...], layout: Layout) -> None:
    node.pages += 1
    leaves = tuple(content for content in contents if layout.is_leaf(content))
    if leaves:
        node.leaf_pages += 1
        node.leaf_features.add_page(layout.feature_counts(leaves).items())
    count_pages(node.document_frequency, layout.features_below(contents))
    _bound_features(node)


def _presentation_styles(
    contents: tuple[int, ...], layout: Layout
) -> dict[tuple[str, ...], list[list[int]]]:
    """The child sequences of the inner elements among `contents`, with what stands in each slot."""
    styles: dict[tuple[str, ...], list[list[int]]] = {}
    for content in contents:
        if layout.is_leaf(content):
            continue
        slots = layout.slots(content)
        labels = tuple(slot.label for slot in slots)
        members = styles.setdefault(labels, [[] for _ in labels])
        for place, slot in zip(members, slots, strict=True):
            place.extend(slot.members)
    return styles


def _walk_with_depth(root: ElementNode) -> Iterator[tuple[ElementNode, int]]:
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting.extend((child, depth + 1) for child in node.children())


def _bound_features(node: ElementNode) -> None:
    node.leaf_features.prune(FEATURE_LIMIT)
    if len(node.document_frequency) > FEATURE_LIMIT:
        node.document_frequency = more_frequent_half(node.document_frequency, FEATURE_LIMIT)
