"""The model of `evidence`: a wording, a naming, two stages of boosted trees, and their file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.boosted_trees import BoostedTrees
from noiseclean_scrapy.methods.evidence_model.context_features import CONTEXT, context_features
from noiseclean_scrapy.methods.evidence_model.evidence_page import EvidencePage
from noiseclean_scrapy.methods.evidence_model.exclusions import KINDS
from noiseclean_scrapy.methods.evidence_model.naming import Naming
from noiseclean_scrapy.methods.evidence_model.page_features import PAGE, PageFeatures
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats
from noiseclean_scrapy.methods.evidence_model.wording import Wording
from noiseclean_scrapy.page import Page

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

WEIGHTS = files(__package__) / "weights.npz"


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a model makes of a page of B blocks alone, as small as it is needed again.

    `scores` (B) are the blocks' log-odds; `lengths` and `characters` (B) are those of `TextTable`;
    `kinds` tells for each of KINDS that was asked for which blocks (B) are of it.
    """

    model: EvidenceModel
    scores: Floats
    lengths: Floats
    characters: Floats
    kinds: Mapping[str, NDArray[np.bool_]]


@dataclass(frozen=True)
class EvidenceModel:
    """`alone` judges each block by itself, `together` again with what `alone` said around it.

    Both are told how a block is worded, and what the elements around it are called.
    """

    wording: Wording
    naming: Naming
    alone: BoostedTrees
    together: BoostedTrees

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        # What is read of a page refers to its model, and is pickled with the page.
        return (load_model, ()) if self is load_model() else super().__reduce_ex__(protocol)

    def features(self, page: Page) -> PageFeatures:
        """What `alone` reads of a page."""
        return PageFeatures(page, self.wording, self.naming)

    def matrix(self, features: PageFeatures) -> NDArray[np.float32]:
        """What `together` reads: (blocks, features)."""
        return np.concatenate([features.matrix.T, self._context(features).T]).T

    def read(self, page: Page, kinds: Iterable[str] = ()) -> Reading:
        """The reading of a page with blocks; kept with it, so that a page is read once."""
        kept = EvidencePage.of(page)
        reading = kept.reading
        if reading is None or reading.model is not self or not reading.kinds.keys() >= set(kinds):
            features = self.features(page)
            scores = self.score(features)
            reading = kept.reading = Reading(
                self,
                scores,
                features.lengths.copy(),
                features.texts.characters.copy(),
                {name: KINDS[name](features) for name in kinds},
            )
        return reading

    def score(self, features: PageFeatures) -> Floats:
        """Log-odds that each block of a page is content, from the page alone."""
        return self.together.score(features.matrix, self._context(features))

    def _context(self, features: PageFeatures) -> NDArray[np.float32]:
        return context_features(features, self.alone.score(features.matrix))


@lru_cache(maxsize=1)
def load_model() -> EvidenceModel:
    """The model that comes with the package."""
    return read_model(WEIGHTS)


def read_model(path: Traversable) -> EvidenceModel:
    """The model in a file that training wrote; arrays only, nothing in it is run."""
    # The package may be in a zip, as Spark gives it to its workers.
    with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as data:
        alone, together = PAGE.names, PAGE.names + CONTEXT.names
        wording = Wording(data["wording_weights"], *map(float, data["wording_scale_and_bias"]))
        naming = Naming(
            data["naming_near"], data["naming_around"], *map(float, data["naming_scales"])
        )
        stages = _read(data, "alone", alone), _read(data, "together", together)
        return EvidenceModel(wording, naming, *stages)


def _read(data: Any, stage: str, names: tuple[str, ...]) -> BoostedTrees:
    """The trees of a stage, which ask for columns of these names."""
    columns = np.array([names.index(str(name)) for name in data[f"{stage}_names"]])
    features = columns[data[f"{stage}_features"]]
    return BoostedTrees(
        names,
        features,
        data[f"{stage}_borders"],
        data[f"{stage}_values"],
        tuple(data[f"{stage}_means{level}"] for level in range(features.shape[1])),
        float(data[f"{stage}_bias"]),
    )
