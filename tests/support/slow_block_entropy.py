"""InfoDiscoverer by definition, all pages kept: slow, for tests only."""

from __future__ import annotations

import math
from collections import Counter
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


def slow_entropy(pages: list[Page], term: str) -> float:
    """H(F_i) = - sum_j w_ij log_n w_ij."""
    filled = [page for page in pages if page.blocks]
    tf = [terms_of(page, list(range(len(page.blocks))))[term] for page in filled]
    if len(filled) == 1 or not sum(tf):
        return 0.0
    shares = [count / sum(tf) for count in tf if count]
    return -math.fsum(w * math.log(w, len(filled)) for w in shares)


def slow_block_entropies(pages: list[Page], page: Page, mode: str) -> list[float]:
    """H(CB) of the content block of each text block of a page."""
    entropies = [0.0] * len(page.blocks)
    for members in slow_blocks(page, mode).values():
        terms = set(terms_of(page, members))
        for index in members:
            if terms:
                entropies[index] = math.fsum(slow_entropy(pages, t) for t in terms) / len(terms)
    return entropies


def slow_threshold(pages: list[Page], mode: str, least_gain: float) -> float:
    """Raised from 0.1 until a step adds too few features."""
    blocks = [
        (slow_block_entropies(pages, page, mode)[members[0]], set(terms_of(page, members)))
        for page in pages
        for members in slow_blocks(page, mode).values()
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
