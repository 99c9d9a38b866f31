"""InfoDiscoverer by definition, all pages kept: slow, for tests only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.stemming import Stemming


def slow_blocks(page: Page, mode: str) -> dict[int, list[int]]:
    """The text blocks of every content block, which is named by its element."""
    blocks: dict[int, list[int]] = {}
    for text in page.blocks:
        element = text.element
        while mode == "table" and element > 0 and page.elements[element].tag != "table":
            element = page.elements[element].parent
        blocks.setdefault(element, []).append(text.index)
    return blocks


def terms_of(page: Page, members: list[int]) -> Counter[str]:
    texts = [page.blocks[index].text for index in members]
    return Counter(term for text in texts for term in Stemming(page.language).terms(text))


class SlowDiscoverer:
    """Entropies of terms and blocks, and the threshold, of pages that are all kept."""

    def __init__(self, pages: Sequence[Page], mode: str) -> None:
        self._pages, self._mode = pages, mode
        filled = [page for page in pages if page.blocks]
        self._counts = [terms_of(page, list(range(len(page.blocks)))) for page in filled]
        terms = {term for counts in self._counts for term in counts}
        self.entropies = {term: self._entropy(term) for term in terms}

    def _entropy(self, term: str) -> float:
        """H(F_i) = - sum_j w_ij log_n w_ij."""
        if len(self._counts) == 1:
            return 0.0
        total = sum(counts[term] for counts in self._counts)
        shares = [counts[term] / total for counts in self._counts if term in counts]
        return -math.fsum(w * math.log(w, len(self._counts)) for w in shares)

    def block_entropies(self, page: Page) -> list[float]:
        """H(CB) of the content block of each text block of a page."""
        found = [0.0] * len(page.blocks)
        for members in slow_blocks(page, self._mode).values():
            terms = set(terms_of(page, members))
            for index in members:
                if terms:
                    entropies = (self.entropies.get(term, 0.0) for term in terms)
                    found[index] = math.fsum(entropies) / len(terms)
        return found

    def threshold(self, least_gain: float) -> float:
        """Raised from 0.1 until a step adds too few features."""
        blocks = [
            (entropies[members[0]], set(terms_of(page, members)))
            for page in self._pages
            for entropies in [self.block_entropies(page)]
            for members in slow_blocks(page, self._mode).values()
        ]

        def included(threshold: Fraction) -> set[str]:
            limit = float(threshold) + 1e-10
            return {term for entropy, terms in blocks if entropy <= limit for term in terms}

        threshold = Fraction(1, 10)
        while threshold < 1:
            now, then = included(threshold), included(threshold + Fraction(1, 10))
            if now and len(then) - len(now) <= least_gain * len(then):
                break
            threshold += Fraction(1, 10)
        return float(threshold)
