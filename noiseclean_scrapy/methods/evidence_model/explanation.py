"""Why a block was kept: what each kind of evidence adds to its log-odds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.base import LEFT_OUT
from noiseclean_scrapy.methods.evidence_model.context_features import CONTEXT
from noiseclean_scrapy.methods.evidence_model.evidence_page import EvidencePage
from noiseclean_scrapy.methods.evidence_model.model import EvidenceModel
from noiseclean_scrapy.methods.evidence_model.page_features import PAGE
from noiseclean_scrapy.methods.evidence_model.plain_reasons import BECAUSE, OUTSIDE, plain_reasons
from noiseclean_scrapy.methods.evidence_model.site_features import SiteTerms
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.characters import counted

_BLOCKS_AT_ONCE = 256
_LEFT_OUT = {
    "comments": "it is a reader's comment (include_comments)",
    "tables": "it is in a data table (include_tables)",
    "captions": "it is the caption of a picture (drop_captions)",
    "link_lists": "it is a link (drop_link_lists)",
    "consent": "it is in a dialog that asks for consent",
    "repeats": "the page says the same further up (include_repeats)",
}
_MOVES = {True: "most of its table is kept", False: "stands apart from the main text"}
STRONGEST = 5
"""Features of the page and its neighbours that are named."""
_FEATURES = (*PAGE.features, *CONTEXT.features)


@dataclass(frozen=True)
class PageEvidence:
    """What explanations of a page's blocks are worked out from: the page, its site, the cut.

    `moves` is what each block's log-odds lose where it stands apart from the main text, and gain
    where most of its table is kept. `left_out` tells by the name of a kind which of those that
    would be kept are left out as one of it.
    """

    page: Page
    model: EvidenceModel
    terms: SiteTerms
    moves: Floats
    threshold: float
    left_out: Mapping[str, NDArray[np.bool_]]
    _worked_out: dict[int, tuple[Floats, Floats]] = field(default_factory=dict, init=False)

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """(blocks, features); not kept with the page: it is large, and few pages are explained."""
        matrix = self.model.matrix(self.model.features(self.page))
        EvidencePage.of(self.page).drop_tables()
        return matrix

    def explain(self, index: int) -> dict[str, float]:
        """Log-odds of the block of a number, by what they come from.

        `prior`, `page`, `neighbours` and `site` add up to `log_odds`. A block is kept where these
        are at least `threshold`, unless it is the headline or of a kind that is left out, which
        what begins with `left out: ` names. Next come the terms of the site and the strongest
        features, named in words, each with its part of the sum of its kind. What begins with
        `because: ` says the same in plain words, features of one meaning together.
        """
        prior, terms, row = self.model.together.base, self.terms, self.matrix[index]
        changes, _ = self._changes(index)
        site, least, move = float(terms.total[index]), self.threshold, float(self.moves[index])
        found = {"log_odds": prior + float(changes.sum()) + site + move}
        found |= {"threshold": math.log(least / (1 - least)), "prior": prior}
        found |= {"page": 0.0, "neighbours": move, "site": site}
        for feature, change in zip(_FEATURES, changes.tolist(), strict=True):
            found[feature.kind] += change
        for kind, blocks in self.left_out.items():
            if blocks[index]:
                found[f"{LEFT_OUT}: {_LEFT_OUT[kind]}"] = 1.0
        if pages := terms.place_pages[index]:
            found[f"site: this place on {pages:.0f} other pages"] = float(terms.place[index])
        if shown := terms.text_pages[index]:
            found[f"site: this text on {shown:.0f} other pages"] = float(terms.repetition[index])
        if insert := float(terms.insert[index]):
            found["site: called an advert, a newsletter or the like"] = insert
        if move:
            found[f"neighbours: {_MOVES[move > 0]}"] = move
        order = np.argsort(-np.abs(changes), kind="stable")[:STRONGEST]
        for column in order.tolist():
            feature = _FEATURES[column]
            words = f"{feature.kind}: {feature.words} = {row[column]:.3g}"
            found[words] = float(changes[column])
        return found | {f"{BECAUSE}: {words}": part for words, part in self._plain(index, changes)}

    def _plain(self, index: int, changes: NDArray[np.float64]) -> Iterator[tuple[str, float]]:
        terms = self.terms
        place, repetition = float(terms.place[index]), float(terms.repetition[index])
        if (shown := terms.text_pages[index]) and repetition:
            yield f"stands on {_pages(shown)}", repetition
        if (pages := terms.place_pages[index]) and place:
            what = "is content" if place > 0 else "is no content"
            yield f"what stands at this place on {_pages(pages)} {what}", place
        if insert := float(terms.insert[index]):
            yield "the site calls it an advert, a newsletter or the like", insert
        names = self.model.together.names
        told = list(zip(names, changes.tolist(), strict=True))
        # What the block's own first judgement rests on is what one sees.
        told += zip(self.model.alone.names, self._changes(index)[1].tolist(), strict=True)
        values = zip(names, self.matrix[index].tolist(), strict=True)
        reasons = dict(plain_reasons(values, [change for change in told if change[1]]))
        if move := float(self.moves[index]):
            words = _MOVES[True] if move > 0 else OUTSIDE
            reasons[words] = reasons.get(words, 0.0) + move
        yield from reasons.items()

    def _changes(self, index: int) -> tuple[Floats, Floats]:
        """What features add to a block's log-odds, together with its neighbours and alone."""
        start = index - index % _BLOCKS_AT_ONCE
        if start not in self._worked_out:
            self._worked_out.clear()  # of a large page they would take more than all else of it
            rows = self.matrix[start : start + _BLOCKS_AT_ONCE]
            alone = self.model.alone.changes(rows[:, self._columns_alone])
            self._worked_out[start] = self.model.together.changes(rows), alone
        together, alone = self._worked_out[start]
        return together[index - start], alone[index - start]

    @cached_property
    def _columns_alone(self) -> list[int]:
        return list(map(self.model.together.names.index, self.model.alone.names))


def _pages(count: float) -> str:
    return counted(round(count), "other page")
