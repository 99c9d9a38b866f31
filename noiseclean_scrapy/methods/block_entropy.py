"""`block-entropy`: informative content blocks by entropy (InfoDiscoverer; Lin & Ho, KDD 2002)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from noiseclean_scrapy.methods.base import Method, Model, PageVerdict, Verdict
from noiseclean_scrapy.methods.options import Share
from noiseclean_scrapy.methods.trees.counts import (
    FORGOTTEN,
    FeatureCounts,
    check_factor,
    effective_pages,
    faded_log,
    read_number,
    read_sum,
)
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.hashes import hash64, hash_name
from noiseclean_scrapy.page.stemming import Stemming

Kind: TypeAlias = Literal["element", "table"]
"""Which elements are the blocks of a page."""
STEP = 0.1
"""The lowest threshold, and by how much it is raised at a time."""
LEAST_GAIN: dict[Kind, float] = {"element": 0.03, "table": 0.0}
"""A step that adds no larger share of the features ends the raising (0 in the paper).

Of the many small blocks of all elements a few fall into every step, so that none adds nothing.
"""
TERM_LIMIT = 200_000
"""Most terms whose counts are kept; a dropped one counts as seen on one page only."""
BLOCK_LIMIT = 4_096
"""Most different blocks that the threshold is chosen from."""
BLOCK_TERM_LIMIT = 1_000
"""Most terms of such a block, the first in alphabetical order."""


class BlockEntropyMethod(Method):
    """Learns how the terms of a cluster are spread over its pages.

    `blocks` is "table" for the TABLE blocks of the paper, "element" for all block-level elements.
    `threshold` on block entropy is found by the greedy approach of the paper if None; that stops
    at the first step which adds no more than `least_gain` of the features (0: which adds none);
    the default is that of `LEAST_GAIN`.

    With `published` nothing is done that is not the paper's: blocks are tables, and the TITLE; a
    step ends the raising if it adds no feature at all; terms are Porter's stems of English words.
    """

    learned_with = ("blocks",)

    def __init__(
        self,
        *,
        blocks: Kind | None = None,
        threshold: Share | None = None,
        least_gain: Share | None = None,
        published: bool = False,
    ) -> None:
        if blocks is None:
            blocks = "table" if published else "element"
        self.blocks: Kind = blocks
        self.published = published
        self.threshold = None if threshold is None else float(threshold)
        if least_gain is None:
            least_gain = 0.0 if published else LEAST_GAIN[blocks]
        self.least_gain = float(least_gain)
        self._pages = self._page_logs = 0.0
        self.counts = FeatureCounts()
        self.sample = BlockSample()

    @property
    def pages(self) -> float:
        return self._pages

    def observe(self, page: Page) -> None:
        if not page.blocks:
            return
        content = content_blocks(page, tables_only=self.blocks == "table", published=self.published)
        frequency: Counter[str] = Counter()
        for block in content:
            frequency.update(block.terms)
        self._pages += 1
        self.counts.add_page(frequency.items())
        self.counts.prune(TERM_LIMIT)
        self.sample.add_page({frozenset(block.terms) for block in content if block.terms})

    def merge(self, other: BlockEntropyMethod) -> None:
        if other.blocks != self.blocks:
            raise ValueError(f"blocks={self.blocks!r} cannot take over blocks={other.blocks!r}")
        self._pages += other._pages
        self._page_logs += other._page_logs
        self.counts.merge(other.counts)
        self.counts.prune(TERM_LIMIT)
        self.sample.merge(other.sample)

    def decay(self, factor: float) -> None:
        check_factor(factor)
        self._page_logs = faded_log(self._pages, self._page_logs, factor)
        self._pages *= factor
        self.counts.decay(factor)
        self.sample.decay(factor)

    def model(self) -> BlockEntropyModel:
        return BlockEntropyModel(self)

    def state(self) -> dict[str, Any]:
        return {
            "blocks": self.blocks,
            "pages": self._pages,
            **({"page_logs": self._page_logs} if self._page_logs else {}),
            "dropped": self.counts.dropped,
            "terms": sorted([term, *total] for term, total in self.counts.totals.items()),
            "sample": self.sample.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        blocks = state["blocks"]
        if blocks not in LEAST_GAIN:
            raise ValueError(f"{blocks!r} are no blocks")
        pages, logs = read_number(state["pages"]), read_sum(state.get("page_logs", 0))
        counts = FeatureCounts()
        counts.dropped = read_number(state["dropped"])
        for term, count, weighted in state["terms"]:
            counts.add(_term(term), read_number(count), read_sum(weighted))
        counts.prune(TERM_LIMIT)
        sample = BlockSample()
        sample.restore(state["sample"])
        self.blocks, self.counts, self.sample = blocks, counts, sample
        self._pages, self._page_logs = pages, logs


class BlockEntropyModel(Model):
    """The entropies of all terms. `threshold` is the one in use."""

    def __init__(self, method: BlockEntropyMethod) -> None:
        self.pages = method.pages
        self._tables_only = method.blocks == "table"
        self._published = method.published
        base = effective_pages([(method.pages, method._page_logs)])
        self._entropies = {term: method.counts.entropy(term, base) for term in method.counts.totals}
        if method.threshold is None:
            blocks = [(self.block_entropy(terms), terms) for terms in method.sample.blocks()]
            self.threshold = greedy_threshold(blocks, method.least_gain)
        else:
            self.threshold = method.threshold

    def block_entropy(self, terms: Collection[str]) -> float:
        """H(CB), the mean entropy of a block's different terms; 0 of a block without any."""
        if not terms:
            return 0.0
        total = math.fsum(self._entropies.get(term, 0.0) for term in terms)
        # Sums are kept to 2^-32: what that leaves open must not decide at a threshold.
        return round(total / len(terms), 9)

    def judge(self, page: Page) -> PageVerdict:
        verdicts: list[Verdict | None] = [None] * len(page.blocks)
        weights: Counter[str] = Counter()
        known = 0
        for block in content_blocks(page, tables_only=self._tables_only, published=self._published):
            entropy = self.block_entropy(block.terms)
            kept = entropy <= self.threshold
            evidence = {
                "block_entropy": entropy,
                "threshold": self.threshold,
                "pages": self.pages,
            }
            for index in block.members:
                verdicts[index] = Verdict(kept, 1 - entropy, evidence)
            if kept:
                weights.update(block.terms)
            if not block.terms or any(term in self._entropies for term in block.terms):
                known += sum(len(page.blocks[index].text) for index in block.members)
        characters = sum(len(block.text) for block in page.blocks)
        fit = known / characters if characters else 1.0
        return PageVerdict.of([v for v in verdicts if v is not None], weights, fit)


@dataclass(frozen=True, slots=True)
class ContentBlock:
    """A content block: the indices of its text blocks, and how often its terms occur."""

    members: list[int]
    terms: Counter[str]


def content_blocks(page: Page, *, tables_only: bool, published: bool = False) -> list[ContentBlock]:
    """The content blocks of a page; what stands in nested ones is not in the outer one.

    With `tables_only` these are TABLE elements, and the page for what is outside of all tables.
    With `published` the TITLE is one more, without text blocks.
    """
    holder: list[int] = []
    for element in page.elements:
        own = not tables_only or element.tag == "table" or element.parent < 0
        holder.append(element.index if own else holder[element.parent])
    stemming = Stemming.porter() if published else Stemming(page.language)
    found: dict[int, ContentBlock] = {}
    for text in page.blocks:
        place = holder[text.element]
        block = found.setdefault(place, ContentBlock([], Counter()))
        block.members.append(text.index)
        block.terms.update(stemming.terms(text.text))
    title = [ContentBlock([], Counter(stemming.terms(page.title)))] if published else []
    return [*found.values(), *title]


def greedy_threshold(
    blocks: Iterable[tuple[float, Collection[str]]], least_gain: float = 0.0
) -> float:
    """The boundary between informative and redundant blocks, given as (entropy, terms).

    The threshold is raised in steps of `STEP` until one adds no features, or no more than
    `least_gain` of those included then; steps before the first features do not count.
    """
    steps: list[set[str]] = [set() for _ in range(11)]
    for entropy, terms in blocks:
        place = math.ceil(round(entropy / STEP, 9))
        steps[max(1, place)].update(terms)
    included: set[str] = set(steps[1])
    for number in range(2, len(steps)):
        added = steps[number] - included
        if included and len(added) <= least_gain * len(included | added):
            return (number - 1) / 10
        included |= added
    return 1.0


class BlockSample:
    """Different blocks of a cluster, and on how many pages each is: all, up to `BLOCK_LIMIT`.

    Beyond the limit those with the smallest hashes are kept: a sample that depends on the blocks
    alone, not on the order of pages, and that merges exactly.
    """

    def __init__(self) -> None:
        self._blocks: dict[str, tuple[float, list[str]]] = {}

    def blocks(self) -> list[list[str]]:
        """The terms of each block."""
        return [terms for _, terms in self._blocks.values()]

    def add_page(self, blocks: Iterable[frozenset[str]]) -> None:
        """Count the different blocks of one page."""
        page = {}
        for block in blocks:
            terms = sorted(block)[:BLOCK_TERM_LIMIT]
            page[_hash(terms)] = (1.0, terms)
        self._add(page)

    def merge(self, other: BlockSample) -> None:
        """Add the blocks of other pages."""
        self._add(other._blocks)

    def decay(self, factor: float) -> None:
        """Let each page count `factor`; a block that is nearly forgotten is dropped."""
        self._blocks = {
            key: (factor * pages, terms)
            for key, (pages, terms) in self._blocks.items()
            if factor * pages >= FORGOTTEN
        }

    def state(self) -> list[list[Any]]:
        """The blocks as JSON values."""
        return [[pages, terms] for _, (pages, terms) in sorted(self._blocks.items())]

    def restore(self, state: Iterable[Any]) -> None:
        """Take over a `state`; raises TypeError or ValueError on others."""
        blocks = {}
        for pages, terms in state:
            names = sorted(map(_term, terms))[:BLOCK_TERM_LIMIT]
            blocks[_hash(names)] = (read_number(pages), names)
        if len(blocks) > BLOCK_LIMIT:
            raise ValueError(f"a sample has at most {BLOCK_LIMIT} blocks, not {len(blocks)}")
        self._blocks = blocks

    def _add(self, blocks: Mapping[str, tuple[float, list[str]]]) -> None:
        for key, (pages, terms) in blocks.items():
            self._blocks[key] = (self._blocks.get(key, (0.0,))[0] + pages, terms)
        if len(self._blocks) > BLOCK_LIMIT:
            self._blocks = {key: self._blocks[key] for key in sorted(self._blocks)[:BLOCK_LIMIT]}


def _hash(terms: list[str]) -> str:
    return hash_name(hash64("\n".join(terms)))


def _term(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a term")
    return value
