"""How much a link promises: what it inherits from its page, what it says, where it stands."""

from __future__ import annotations

from dataclasses import dataclass

DECAY = 0.25
"""What a link inherits of the relevance of its page, and that of what led there."""
EXPECTATION = 0.05
"""What a link promises of which nothing is known."""
PRIOR_TERMS = 3
"""So many terms of its own weigh as much as what a link inherits."""
NOISE_SHARE = 0.5
"""What a link in pure noise counts of one in informative text."""
UNPLACED = 0.5
"""Importance of a request that is no link of the page."""
PRIORITY_SCALE = 1_000


@dataclass(frozen=True, slots=True)
class Potential:
    """Why a request has its priority. All values but `terms` and `priority` are in [0, 1].

    As in Shark-Search (Hersovici et al. 1998) a link inherits from its page and is read itself:
    inherited = DECAY max(page, inherited of the page), own = max(anchor, context). What it says
    counts the more, the more it says: with n terms,
    promise = (n own + PRIOR_TERMS (inherited + EXPECTATION)) / (n + PRIOR_TERMS). A long teaser
    that has nothing of the topic is left for later, and a bare "Older stories" is not. The promise
    counts in full in a block of importance 1, and NOISE_SHARE of it in one of importance 0.

    >>> link = Potential(page=0.6, before=0.1, anchor=0.5, context=0.2, terms=13, importance=0.8)
    >>> link.inherited, round(link.promise, 3), link.block, link.priority
    (0.15, 0.444, 0.9, 399)
    """

    page: float
    before: float
    anchor: float = 0.0
    context: float = 0.0
    terms: int = 0
    importance: float = UNPLACED

    @property
    def inherited(self) -> float:
        """What the link has of its page, or of the pages that led there."""
        return DECAY * max(self.page, self.before)

    @property
    def promise(self) -> float:
        """What the link would count in an informative block."""
        own = self.terms * max(self.anchor, self.context)
        prior = PRIOR_TERMS * (self.inherited + EXPECTATION)
        return (own + prior) / (self.terms + PRIOR_TERMS)

    @property
    def block(self) -> float:
        """The factor of the block."""
        return NOISE_SHARE + (1 - NOISE_SHARE) * self.importance

    @property
    def priority(self) -> int:
        """What is added to the request's priority."""
        return round(PRIORITY_SCALE * self.promise * self.block)


UNKNOWN = Potential(page=0.0, before=0.0)
"""That of a request from what is no page, such as a sitemap."""
