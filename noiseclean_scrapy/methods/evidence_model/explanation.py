"""Why a block was kept: what each kind of evidence adds to its log-odds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.model import EvidenceModel
from noiseclean_scrapy.methods.evidence_model.page_features import PageFeatures
from noiseclean_scrapy.methods.evidence_model.plain_reasons import BECAUSE, plain_reasons
from noiseclean_scrapy.methods.evidence_model.site_features import SiteTerms
from noiseclean_scrapy.methods.evidence_model.wording import in_words, kind_of
from noiseclean_scrapy.page import Page

STRONGEST = 5
"""Features of the page and its neighbours that are named."""


@dataclass(frozen=True)
class PageEvidence:
    """What explanations of a page's blocks are worked out from: the page, its site, the cut."""

    page: Page
    model: EvidenceModel
    terms: SiteTerms
    threshold: float

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """(blocks, features), made anew: it is large, and of few pages it is asked for."""
        matrix = self.model.matrix(PageFeatures(self.page))
        self.page.texts = self.page.arrays = None
        return matrix

    def explain(self, index: int) -> dict[str, float]:
        """Log-odds of the block of a number, by what they come from.

        `prior`, `page`, `neighbours` and `site` add up to `log_odds`. A block is kept where these
        are at least `threshold`, unless an option leaves it out or it is the headline. Next come
        the terms of the site and the strongest features, named in words, each with its part of the
        sum of its kind. What begins with `because: ` says the same in plain words, features of one
        meaning together.
        """
        trees, terms, row = self.model.together, self.terms, self.matrix[index]
        prior, changes = trees.contributions(row)
        place, repetition = float(terms.place[index]), float(terms.repetition[index])
        least = self.threshold
        found = {"log_odds": prior + float(changes.sum()) + place + repetition}
        found |= {"threshold": math.log(least / (1 - least)), "prior": prior}
        found |= {"page": 0.0, "neighbours": 0.0, "site": place + repetition}
        for name, change in zip(trees.names, changes.tolist(), strict=True):
            found[kind_of(name)] += change
        if pages := terms.place_pages[index]:
            found[f"site: this place on {pages:.0f} other pages"] = place
        if shown := terms.text_pages[index]:
            found[f"site: this text on {shown:.0f} other pages"] = repetition
        order = np.argsort(-np.abs(changes), kind="stable")[:STRONGEST]
        for feature in order.tolist():
            name = trees.names[feature]
            words = f"{kind_of(name)}: {in_words(name)} = {row[feature]:.3g}"
            found[words] = float(changes[feature])
        return found | {f"{BECAUSE}: {words}": part for words, part in self._plain(index, changes)}

    def _plain(self, index: int, changes: NDArray[np.float64]) -> Iterator[tuple[str, float]]:
        terms = self.terms
        place, repetition = float(terms.place[index]), float(terms.repetition[index])
        if (shown := terms.text_pages[index]) and repetition:
            yield f"stands on {_pages(shown)}", repetition
        if (pages := terms.place_pages[index]) and place:
            what = "is content" if place > 0 else "is no content"
            yield f"what stands at this place on {_pages(pages)} {what}", place
        row, alone = self.matrix[index], self.model.alone
        told = list(zip(self.model.together.names, row.tolist(), changes.tolist(), strict=True))
        # What the block's own first judgement rests on is what one sees.
        seen = row[self._columns_alone]
        told += zip(alone.names, seen.tolist(), alone.contributions(seen)[1].tolist(), strict=True)
        yield from plain_reasons(told)

    @cached_property
    def _columns_alone(self) -> list[int]:
        return list(map(self.model.together.names.index, self.model.alone.names))


def _pages(count: float) -> str:
    return f"{count:.0f} other page{'s' * (round(count) != 1)}"
