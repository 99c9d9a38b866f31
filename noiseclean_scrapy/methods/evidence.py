"""`evidence`: what a block's page, neighbours and site say, weighed by one small model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import numpy as np

from noiseclean_scrapy.methods.base import (
    Late,
    Method,
    Model,
    PageVerdict,
    kept_features,
)
from noiseclean_scrapy.methods.evidence_model.evidence_page import EvidencePage
from noiseclean_scrapy.methods.evidence_model.exclusions import excluded
from noiseclean_scrapy.methods.evidence_model.explanation import PageEvidence
from noiseclean_scrapy.methods.evidence_model.model import EvidenceModel, load_model
from noiseclean_scrapy.methods.evidence_model.repeats import repeats
from noiseclean_scrapy.methods.evidence_model.site_features import SiteEvidence
from noiseclean_scrapy.methods.evidence_model.threshold import (
    APART,
    LEANS,
    behind_the_end,
    reach,
    stand_apart,
    table_holes,
    threshold,
)
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, page_arrays
from noiseclean_scrapy.methods.options import Count
from noiseclean_scrapy.methods.trees.site_style_tree import DEFAULT_NODES
from noiseclean_scrapy.page import Page


class EvidenceMethod(Method):
    """Judges by the page alone on its first page, and by the site as well from the second on.

    `lean` is "balanced", "precision" (only what is sure) or "recall" (also what is doubtful).
    `include_comments` keeps readers' comments on pages that are no discussion, `include_tables`
    False leaves out data tables, `drop_captions` the captions of images, `drop_link_lists` blocks
    that are links. `include_repeats` keeps passages as often as the page shows them. Dialogs that
    ask for consent to cookies are always left out.
    """

    def __init__(
        self,
        *,
        lean: Literal["precision", "balanced", "recall"] = "balanced",
        include_comments: bool = False,
        include_tables: bool = True,
        drop_captions: bool = False,
        drop_link_lists: bool = False,
        include_repeats: bool = False,
        max_tree_nodes: Count = DEFAULT_NODES,
    ) -> None:
        self.lean = lean
        kinds = {
            "consent": True,
            "comments": not include_comments,
            "tables": not include_tables,
            "captions": drop_captions,
            "link_lists": drop_link_lists,
        }
        self.left_out = tuple(name for name, is_dropped in kinds.items() if is_dropped)
        self.include_repeats = include_repeats
        self.site = SiteEvidence(max_tree_nodes)

    @property
    def pages(self) -> float:
        return self.site.pages

    def observe(self, page: Page) -> None:
        self.site.observe(page, load_model().read(page, self.left_out).scores)

    def merge(self, other: EvidenceMethod) -> None:
        self.site.merge(other.site)

    def decay(self, factor: float) -> None:
        self.site.decay(factor)

    def note_redesign(self) -> None:
        """Nothing: pages are compared within their layout, and votes drawn from all layouts."""

    def model(self) -> SiteModel:
        return SiteModel(self.site.copy(), LEANS[self.lean], self.left_out, self.include_repeats)

    def state(self) -> dict[str, Any]:
        return self.site.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        self.site.restore(state)


class SiteModel(Model):
    """The page model, and what the site's pages have shown. `fit`: characters at known places."""

    def __init__(
        self,
        site: SiteEvidence,
        lean: float,
        left_out: tuple[str, ...],
        include_repeats: bool = False,
    ) -> None:
        self.site = site
        self.lean = lean
        self.left_out = left_out
        self.include_repeats = include_repeats

    @property
    def page_model(self) -> EvidenceModel:
        """What judges a page alone."""
        return load_model()

    def judge(self, page: Page) -> PageVerdict:
        if not page.table.texts:
            return PageVerdict.of((), {}, 1.0)
        reading = self.page_model.read(page, self.left_out)
        arrays, lengths = page_arrays(page), reading.lengths
        terms = self.site.terms(page, reading.scores)
        scores = reading.scores + terms.total
        of_kinds = excluded(self.left_out, reading.kinds, lengths, scores)
        eligible = np.ones(len(scores), dtype=bool)
        for blocks in of_kinds.values():
            eligible &= ~blocks
        chance, moves = _chances(scores), np.zeros(len(scores))
        is_apart = stand_apart(arrays, chance * eligible, lengths)
        is_apart |= behind_the_end(page, chance, eligible, lengths)
        if is_apart.any():
            moves[is_apart] = -APART
            chance = _chances(scores + moves)
        least = threshold(chance[eligible], lengths[eligible], self.lean)
        holes = eligible & table_holes(arrays, eligible & (chance >= least), lengths)
        if holes.any():
            moves[holes] = reach(least) - scores[holes]
            chance = _chances(scores + moves)
        EvidencePage.of(page).drop_tables()
        enough = chance >= least
        kept = eligible & enough
        left_out = {name: enough & blocks for name, blocks in of_kinds.items()}
        if not self.include_repeats:
            left_out["repeats"] = repeats(page, kept, lengths)
            kept &= ~left_out["repeats"]
        evidence = PageEvidence(page, self.page_model, terms, moves, least, left_out)
        characters = reading.characters
        known = float(characters[terms.known].sum()) / max(float(characters.sum()), 1.0)
        fit = known if self.site.pages else 1.0
        weights = Late(partial(kept_features, page, kept.tolist()))
        common = terms.common.tolist()
        return PageVerdict(kept.tolist(), chance.tolist(), evidence.explain, weights, fit, common)


def _chances(scores: Floats) -> Floats:
    """Probabilities of log-odds."""
    chances: Floats = 1 / (1 + np.exp(-np.clip(scores, -30, 30)))
    return chances
