"""Focus: what the pages of a crawl mean to its topic, and what their links promise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.focus.distribution import Relevances
from noiseclean_scrapy.focus.hubs import LEAST_LINKS, Hub, Hubs
from noiseclean_scrapy.focus.links import LinkBlock, PageLink, link_address, page_links
from noiseclean_scrapy.focus.potential import Potential
from noiseclean_scrapy.focus.term_space import Stemmer, TermSpace, TopicVectors, cosine
from noiseclean_scrapy.focus.weights import AllWeights
from noiseclean_scrapy.page import Page

if TYPE_CHECKING:
    from lxml.etree import _Element


@dataclass(frozen=True, slots=True)
class Reading:
    """What the focus has read of a page.

    `relevance` and `before`, what was inherited on the way to it, are in [0, 1]; `links` are the
    page's by their canonical addresses.
    """

    language: str
    relevance: float
    before: float
    links: dict[str, PageLink] = field(repr=False)

    @property
    def list_links(self) -> list[PageLink]:
        """The links that stand in kept lists."""
        return [link for link in self.links.values() if link.kept and link.is_list and link.anchor]


class Focus:
    """The topic of one crawl and all that is learned of it.

    Terms, weights, hubs, relevances, budgets spent: it knows pages and addresses, no requests.
    """

    def __init__(self, config: Config) -> None:
        assert config.topic
        self.config = config
        self.stemmer = Stemmer()
        self.space = TermSpace()
        self.topic = TopicVectors(config.topic.examples, self.space, self.stemmer)
        self.weights = AllWeights(config.sample_quota, config.max_tree_nodes)
        self.hubs = Hubs(config.revisit_seconds)
        self.spent: Counter[str] = Counter()
        self.revisits = 0
        self.relevances = Relevances()

    def read(
        self,
        page: Page,
        cleaned: CleanPage,
        cluster: str,
        *,
        root: _Element | None = None,
        join: Callable[[str], str] = str,
        before: float = 0.0,
        is_new: bool = True,
    ) -> Reading:
        """Judge a page by its clean, weighted terms, and find its links.

        A page that `is_new` counts for the weights of its site and for the frequencies of terms.
        """
        blocks = self.judge(page, cleaned)
        weights = self.weigh(page, blocks, cluster, is_new)
        terms = self.stemmer.weigh(weights, page.language)
        if is_new:
            self.space.add(term for term, weight in terms.items() if weight > 0)
        relevance = cosine(self.space.vector(terms), self.topic.vector(page.language))
        links = page_links(page, blocks, root, join)
        return Reading(page.language, relevance, before, links)

    def judge(self, page: Page, cleaned: CleanPage) -> list[LinkBlock]:
        """The page's text blocks with the verdicts on them; override for another view of a page."""
        sources = (block for block in page.blocks if block.text)
        return [
            LinkBlock(source, block.score, block.kept, block.place)
            for source, block in zip(sources, cleaned.blocks, strict=True)
        ]

    def weigh(
        self, page: Page, blocks: Sequence[LinkBlock], cluster: str, is_new: bool
    ) -> dict[str, float]:
        """The weight of each feature of the page: feature-weighting's, summed over kept blocks."""
        site = self.weights.site(cluster)
        if is_new:
            site.observe(page)
        return site.weigh(page, (block.source.index for block in blocks if block.kept))

    def potential(self, reading: Reading, url: str) -> tuple[Potential, PageLink | None]:
        """What a request that came out of a page promises, and the link that it follows."""
        link = reading.links.get(link_address(url))
        if link is None:
            return Potential(reading.relevance, reading.before), None
        return self._link_potential(reading, link), link

    def visit_hub(self, reading: Reading, url: str, site: str, request: object, now: float) -> int:
        """Remember the page as a hub if it lists links; how many of their texts are new."""
        listed = reading.list_links
        address = link_address(url)
        hub = self.hubs.known.get(address)
        if hub is None:
            if len(listed) < LEAST_LINKS:
                return 0
            hub = Hub(address, site, request, now)
        promises = [self._link_potential(reading, link).promise for link in listed]
        value = math.fsum(promises) / len(promises) if promises else 0.0
        links = [(link.place, link.anchor) for link in listed]
        return self.hubs.visit(hub, links, value, now)

    def _link_potential(self, reading: Reading, link: PageLink) -> Potential:
        anchor = self.stemmer.count(link.anchor, reading.language)
        context = anchor
        if link.context != link.anchor:
            context = self.stemmer.count(link.context, reading.language)
        return Potential(
            page=reading.relevance,
            before=reading.before,
            anchor=self._likeness(anchor, reading.language),
            context=self._likeness(context, reading.language),
            terms=max(len(anchor), len(context)),
            importance=link.importance,
        )

    def _likeness(self, terms: Mapping[str, int], language: str) -> float:
        return cosine(self.space.vector(terms), self.topic.vector(language))
