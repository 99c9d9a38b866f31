"""The weight of every word of a page: feature-weighting's, in the blocks that were kept."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from noiseclean_scrapy.clusters.fit_watch import FitWatch
from noiseclean_scrapy.methods.feature_weighting import (
    FeatureWeightingMethod,
    FeatureWeightingModel,
)
from noiseclean_scrapy.page import Page

_GROWTH = 2


class SiteWeights:
    """One site's compressed structure tree, learned from its first `quota` pages.

    The model is rebuilt each time the pages have doubled. A site whose pages stop fitting it (a
    redesign) is learned from the beginning.
    """

    def __init__(self, quota: int, max_tree_nodes: int) -> None:
        self.quota = quota
        self.max_tree_nodes = max_tree_nodes
        self._begin()

    def _begin(self) -> None:
        self._learner: FeatureWeightingMethod | None = FeatureWeightingMethod(
            max_tree_nodes=self.max_tree_nodes
        )
        self.pages = 0
        self._due = 1
        self.model: FeatureWeightingModel = self._learner.model()
        self._watch = FitWatch()

    def observe(self, page: Page) -> None:
        """Learn a page, unless enough are known."""
        if self._learner is None:
            return
        self._learner.observe(page)
        self.pages += 1
        if self.pages >= min(self._due, self.quota):
            self.model = self._learner.model()
            self._due = _GROWTH * self.pages
        if self.pages >= self.quota:
            self._learner = None

    def weigh(self, page: Page, kept: Iterable[int]) -> dict[str, float]:
        """The summed weights of each feature over the page's blocks with the indices `kept`."""
        weighed, fit = self.model.weigh(page)
        if self._learner is None:
            self._watch.note(fit)
            if self._watch.sees_redesign:
                self._begin()
        return sum_weights(weighed, kept)


class AllWeights:
    """The weights of the sites in use; above `most_sites` the longest unused one is forgotten."""

    def __init__(self, quota: int, max_tree_nodes: int, most_sites: int = 32) -> None:
        self.quota = quota
        self.max_tree_nodes = max_tree_nodes
        self.most_sites = most_sites
        self._sites: OrderedDict[str, SiteWeights] = OrderedDict()

    def site(self, name: str) -> SiteWeights:
        """The weights of a site, unlearned ones at first."""
        if name not in self._sites:
            self._sites[name] = SiteWeights(self.quota, self.max_tree_nodes)
            if len(self._sites) > self.most_sites:
                self._sites.popitem(last=False)
        self._sites.move_to_end(name)
        return self._sites[name]


def sum_weights(weighed: Sequence[Mapping[str, float]], kept: Iterable[int]) -> dict[str, float]:
    """Add the weights of the kept blocks, feature by feature."""
    total: dict[str, float] = defaultdict(float)
    for index in kept:
        for feature, weight in weighed[index].items():
            total[feature] += weight
    return total
