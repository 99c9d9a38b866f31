"""The relevance of a crawl's pages: their histogram, the bound it suggests, the harvest rate."""

from __future__ import annotations

from collections.abc import Sequence

from noiseclean_scrapy.methods.trees.noise_threshold import otsu_cut

_BINS = 100
_BINS_SHOWN = 20


class Relevances:
    """Counts relevances, values in [0, 1].

    `bound` tells relevant pages from others by Otsu's threshold: the two parts differ most in their
    means, for their sizes; it is 0 while all pages are alike.

    >>> seen = Relevances()
    >>> for relevance in [0.0] * 8 + [0.3, 0.4]:
    ...     seen.add(relevance)
    >>> 0.0 < seen.bound <= 0.3
    True
    """

    def __init__(self, counts: Sequence[int] = (0,) * _BINS) -> None:
        """With the `counts` of others."""
        self.counts = list(counts)
        self.bound = self._bound()

    def add(self, relevance: float) -> None:
        """Count one more page."""
        self.counts[min(_BINS - 1, int(relevance * _BINS))] += 1
        self.bound = self._bound()

    def _bound(self) -> float:
        cut = otsu_cut({number: count for number, count in enumerate(self.counts) if count})
        return (cut[0] + 1) / _BINS if cut else 0.0

    @property
    def harvest_rate(self) -> float:
        """Share of the pages that are not below the bound, in [0, 1]."""
        first = round(self.bound * _BINS)
        return sum(self.counts[first:]) / max(1, sum(self.counts)) if first else 0.0

    @property
    def histogram(self) -> list[int]:
        """Numbers of pages with a relevance of 0 to 0.05, to 0.1 and so on."""
        width = _BINS // _BINS_SHOWN
        return [sum(self.counts[n : n + width]) for n in range(0, _BINS, width)]
