"""How much a link promises: relevance inherited from its page, its own words, its block."""

from __future__ import annotations

from dataclasses import dataclass

DECAY = 0.5
"""What a link inherits of the relevance of its page, and that of what led there."""
INHERITED_SHARE = 0.5
"""Weight of what is inherited, against the link's own words."""
NOISE_SHARE = 0.25
"""What a link in pure noise counts of one in informative text."""
UNPLACED = 0.5
"""Importance of a request that is no link of the page."""
EXPECTATION = 0.02
"""What a link of which nothing is known promises: it counts where it stands."""
PRIORITY_SCALE = 1_000


@dataclass(frozen=True, slots=True)
class Potential:
    """Why a request has its priority; all values but `priority` are in [0, 1].

    After Shark-Search (Hersovici et al. 1998): inherited = DECAY max(page, inherited of the page),
    own = max(anchor, context), and the mean of both (INHERITED_SHARE) is what the link promises,
    EXPECTATION at
    least. It counts in full in a block of importance 1, and NOISE_SHARE of it in one
    of importance 0.

    >>> potential = Potential(page=0.6, before=0.1, anchor=0.5, context=0.2, importance=0.8)
    >>> potential.inherited, round(potential.promise, 3), round(potential.block, 2)
    (0.3, 0.412, 0.85)
    >>> potential.priority
    350
    """

    page: float
    before: float
    anchor: float = 0.0
    context: float = 0.0
    importance: float = UNPLACED

    @property
    def inherited(self) -> float:
        """What the link has of its page, or of the pages that led there."""
        return DECAY * max(self.page, self.before)

    @property
    def promise(self) -> float:
        """What the link would count in an informative block."""
        own = max(self.anchor, self.context)
        mean = INHERITED_SHARE * self.inherited + (1 - INHERITED_SHARE) * own
        return EXPECTATION + (1 - EXPECTATION) * mean

    @property
    def block(self) -> float:
        """The factor of the block."""
        return NOISE_SHARE + (1 - NOISE_SHARE) * self.importance

    @property
    def priority(self) -> int:
        """What is added to the request's priority."""
        return round(PRIORITY_SCALE * self.promise * self.block)
