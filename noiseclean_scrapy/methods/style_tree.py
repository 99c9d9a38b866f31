"""`style-tree`: cleaning with the site style tree (Yi, Liu & Li, KDD 2003)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress

from noiseclean_scrapy.methods.base import Model, PageVerdict, Verdict
from noiseclean_scrapy.methods.tree_method import TreeMethod, known_share, map_blocks
from noiseclean_scrapy.methods.trees.importance import MeasuredElement, mark, measure
from noiseclean_scrapy.methods.trees.noise_threshold import choose_threshold
from noiseclean_scrapy.methods.trees.site_style_tree import SiteStyleTree
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.presentation import Layout

LOCAL_NOISE = 0.01
"""epsilon: a feature of a kept leaf with 1 - H below it is locally noisy."""


class StyleTreeMethod(TreeMethod):
    """Learns a site style tree; `threshold` on composite importance is chosen by itself if None."""

    def model(self) -> StyleTreeModel:
        return StyleTreeModel(self.tree, self.threshold, published=self.published)


class StyleTreeModel(Model):
    """The measured and marked tree. `threshold` is the one in use."""

    def __init__(
        self, tree: SiteStyleTree, threshold: float | None, *, published: bool = False
    ) -> None:
        self.published = published
        self.elements = measure(tree, published=published)
        self.root = self.elements[0]
        self.threshold = _threshold(self.elements) if threshold is None else threshold
        mark(self.elements, self.threshold)
        self._local_noise = {id(element): _local_noise(element) for element in self.elements}
        self._by_label = {id(element): _children_by_label(element) for element in self.elements}

    def judge(self, page: Page) -> PageVerdict:
        layout = Layout(page, published=self.published)
        mapped = map_blocks(layout, self.root, self._below, lambda element: element.noisy)
        noise = [self._local_noise[id(place)] if place else frozenset() for place in mapped]
        kept = list(map(_keeps, mapped, layout.features, noise))
        texts = [block.text for block in page.blocks]
        if not self.published and not any(compress(texts, kept)):
            # A page with text is not left empty.
            leaves = map_blocks(layout, self.root, self._below, lambda element: False)
            kept = _weightiest(page, leaves)
        weights: Counter[str] = Counter()
        for features, known_noise in compress(zip(layout.features, noise, strict=True), kept):
            weights.update({f: n for f, n in features.items() if f not in known_noise})
        verdicts = list(map(self._verdict, mapped, kept))
        return PageVerdict.of(verdicts, weights, known_share(page, mapped))

    def _below(
        self, element: MeasuredElement, labels: tuple[str, ...]
    ) -> Iterable[MeasuredElement | None]:
        """The elements of a child sequence.

        The mapping of the paper descends where the sequence is known. Where it is not, it keeps all
        children; here they are looked up by their labels one by one.
        """
        style = element.styles.get(labels)
        if style:
            return style[1]
        known = {} if self.published else self._by_label[id(element)]
        return map(known.get, labels)

    def _verdict(self, element: MeasuredElement | None, kept: bool) -> Verdict:
        if element is None:
            return Verdict(kept, 1.0, {"known": 0.0})
        evidence = {
            "known": 1.0,
            "composite_importance": element.importance,
            "node_importance": element.node_importance,
            "threshold": self.threshold,
            "pages": element.pages,
        }
        return Verdict(kept, element.supported_importance, evidence)


def _keeps(
    element: MeasuredElement | None, features: Mapping[str, int], noise: frozenset[str]
) -> bool:
    if element is None:
        return True
    # A block is left out when nothing of it is left: single words are not cut out of sentences.
    return not element.noisy and not (features and noise.issuperset(features))


def _weightiest(page: Page, places: Sequence[MeasuredElement | None]) -> list[bool]:
    """Which blocks stand at the place with most text by its importance."""
    weights: dict[int, float] = defaultdict(float)
    for place, block in zip(places, page.blocks, strict=True):
        weights[id(place)] += len(block.text) * (place.supported_importance if place else 1.0)
    weightiest = max(weights, key=lambda place: round(weights[place], 6), default=0)
    return [id(place) == weightiest for place in places]


def _threshold(elements: Iterable[MeasuredElement]) -> float:
    leaves: dict[float, float] = defaultdict(float)
    for element in elements:
        if element.leaf_pages:
            leaves[element.leaf_importance] += element.leaf_features.occurrences
    return choose_threshold(leaves)


def _local_noise(element: MeasuredElement) -> frozenset[str]:
    """Features that are spread evenly over the pages of a leaf (the paper's third enhancement)."""
    pages = element.leaf_base
    if pages <= 1 or element.noisy:
        return frozenset()
    counts = element.leaf_features
    return frozenset(f for f in counts.totals if 1 - counts.entropy(f, pages) < LOCAL_NOISE)


def _children_by_label(element: MeasuredElement) -> dict[str, MeasuredElement]:
    """For each label below an element the child that most pages have."""
    found: dict[str, MeasuredElement] = {}
    for labels in sorted(element.styles, key=lambda labels: (-element.styles[labels][0], labels)):
        for child in element.styles[labels][1]:
            known = found.get(child.label)
            if known is None or child.pages > known.pages:
                found[child.label] = child
    return found
