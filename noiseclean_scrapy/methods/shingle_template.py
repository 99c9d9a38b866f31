"""`shingle-template`: template detection by pagelets (Bar-Yossef & Rajagopalan, WWW 2002)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from noiseclean_scrapy.methods.base import (
    Late,
    Method,
    Model,
    PageVerdict,
    Verdict,
    kept_features,
)
from noiseclean_scrapy.methods.options import Count
from noiseclean_scrapy.methods.trees.counts import more_frequent_half, read_number
from noiseclean_scrapy.page import Page, TextBlock
from noiseclean_scrapy.page.hashes import hash64, hash_name, read_hash
from noiseclean_scrapy.page.words import words

SHINGLE_WORDS = 4
"""w: words in a row that make up one shingle (Broder 1997); a shorter text is one shingle."""
TEMPLATE_PAGES = 2
"""Pages that have to show a fingerprint before it counts as template."""


class ShingleTemplateMethod(Method):
    """Counts the pages of every pagelet fingerprint.

    A page falls into pagelets from the top down: a pagelet is an element none of whose children has
    `links` hyperlinks or more, and none of whose ancestors is a pagelet.

    Above `max_fingerprints` fingerprints the most frequent half of that number is kept (ties by
    fingerprint). Counts are exact up to there and never too high after it: the bound may leave a
    rare template on the pages, it never costs content.

    With `published` nothing is done that is not the paper's: text directly in an element that is
    divided is in no pagelet, and numbers are words as others are.
    """

    learned_with = ("links",)

    def __init__(
        self, *, links: Count = 3, max_fingerprints: Count = 100_000, published: bool = False
    ) -> None:
        self.links = links
        self.published = published
        self.max_fingerprints = max_fingerprints
        self._pages = 0.0
        self._counts: dict[int, float] = {}

    @property
    def pages(self) -> float:
        return self._pages

    def observe(self, page: Page) -> None:
        self._pages += 1
        found = {pagelet.fingerprint for pagelet in pagelets(page, self.links, self.published)}
        for fingerprint in found:
            self._counts[fingerprint] = self._counts.get(fingerprint, 0.0) + 1
        self._prune()

    def merge(self, other: ShingleTemplateMethod) -> None:
        self._pages += other._pages
        for fingerprint, pages in other._counts.items():
            self._counts[fingerprint] = self._counts.get(fingerprint, 0.0) + pages
        self._prune()

    def decay(self, factor: float) -> None:
        self._pages *= factor
        for fingerprint in self._counts:
            self._counts[fingerprint] *= factor

    def model(self) -> ShingleTemplateModel:
        return ShingleTemplateModel(self._counts, self.links, self.published)

    def state(self) -> dict[str, Any]:
        counts = {hash_name(fingerprint): n for fingerprint, n in sorted(self._counts.items())}
        return {"pages": self._pages, "counts": counts}

    def restore(self, state: Mapping[str, Any]) -> None:
        pages = read_number(state["pages"])
        if not isinstance(state["counts"], dict):
            raise TypeError("the counts are an object: fingerprint to number of pages")
        counts = {read_hash(name): read_number(n) for name, n in state["counts"].items()}
        self._pages, self._counts = pages, counts
        self._prune()

    def _prune(self) -> None:
        if len(self._counts) > self.max_fingerprints:
            self._counts = more_frequent_half(self._counts, self.max_fingerprints)


class ShingleTemplateModel(Model):
    """The fingerprints that are template, and how many pages show them.

    `score` is 1 / (number of pages that show the pagelet) where that is template, 1 elsewhere.
    `fit` is 0 on a page with text of which no pagelet is template though templates are known, else
    1: after a redesign no fingerprint is found again.
    """

    def __init__(self, counts: Mapping[int, float], links: int, published: bool) -> None:
        self.links = links
        self.published = published
        # After `decay` pages count less than 1: the sum of fewer pages is never above this.
        self._templates = {f: n for f, n in counts.items() if n > TEMPLATE_PAGES - 1}

    def judge(self, page: Page) -> PageVerdict:
        verdicts = [Verdict(True, 1.0, {})] * len(page.blocks)
        found = pagelets(page, self.links, self.published)
        for pagelet in found:
            pages = self._templates.get(pagelet.fingerprint, 0.0)
            evidence = {"links": float(pagelet.links), "template_pages": pages}
            verdict = Verdict(not pages, 1 / pages if pages else 1.0, evidence)
            for block in pagelet.blocks:
                verdicts[block.index] = verdict
        known = any(pagelet.fingerprint in self._templates for pagelet in found)
        fit = 0.0 if found and self._templates and not known else 1.0
        weights = Late(partial(kept_features, page, [v.kept for v in verdicts]))
        return PageVerdict.of(verdicts, weights, fit)


@dataclass(frozen=True, slots=True)
class Pagelet:
    """A pagelet: its number of hyperlinks, the blocks anywhere in it, and their fingerprint.

    It is all of `element`, or where not `is_element` a run of the text directly in it.
    """

    element: int
    is_element: bool
    links: int
    blocks: tuple[TextBlock, ...]
    fingerprint: int


def pagelets(page: Page, links: int, published: bool = False) -> list[Pagelet]:
    """The page cut into pagelets, in the order of their text; those without any words are left out.

    An element with a child that has at least `links` hyperlinks is divided into its children; each
    run of text directly in it is a pagelet of its own, but not with `published`.
    """
    count = len(page.elements)
    below = hyperlinks(page)
    divided = [False] * count
    for element in reversed(page.elements[1:]):
        below[element.parent] += below[element.index]
        divided[element.parent] |= below[element.index] >= links
    around = [-1] * count  # the pagelet that an element is or lies in
    for element in page.elements:  # parents come before their children
        if element.index and around[element.parent] >= 0:
            around[element.index] = around[element.parent]
        elif not divided[element.index]:
            around[element.index] = element.index
    members: dict[int, list[TextBlock]] = {}  # of an element, or of ~index of a block alone
    for block in page.blocks:
        pagelet = around[block.element]
        if pagelet >= 0 or not published:
            members.setdefault(pagelet if pagelet >= 0 else ~block.index, []).append(block)
    found = []
    for place, blocks in members.items():
        if sequence := [w for block in blocks for w in words(block.text, mask=not published)]:
            if place >= 0:
                here = (place, True, below[place])
            else:
                here = (blocks[0].element, False, len(blocks[0].links))
            found.append(Pagelet(*here, tuple(blocks), fingerprint(sequence)))
    return found


def hyperlinks(page: Page) -> list[int]:
    """Number of hyperlinks directly in each element, an anchor around several blocks once."""
    numbers = [0] * len(page.elements)
    anchor = [-1] * len(page.elements)  # the innermost block-level anchor around
    for element in page.elements:
        if element.tag == "a":
            anchor[element.index] = element.index
        elif element.index:
            anchor[element.index] = anchor[element.parent]
    targets: dict[int, str] = {}
    for block in page.blocks:
        numbers[block.element] += len(block.links)
        around = anchor[block.element]
        if block.links and around >= 0:
            # Every block in a block-level anchor names the anchor's target first.
            if around not in targets:
                targets[around] = block.links[0]
                numbers[around] += 1
            if targets[around] == block.links[0]:
                numbers[block.element] -= 1
    return numbers


def fingerprint(sequence: Sequence[str]) -> int:
    """The least 64-bit hash of the shingles of a sequence of at least one word (Broder 1997)."""
    last = max(1, len(sequence) - SHINGLE_WORDS + 1)
    shingles = {" ".join(sequence[start : start + SHINGLE_WORDS]) for start in range(last)}
    return min(map(hash64, shingles))
