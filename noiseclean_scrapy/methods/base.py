"""What every method offers: learn a page at a time, merge, forget, and give a model that cleans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.words import block_features

if TYPE_CHECKING:
    from typing_extensions import Self


LEFT_OUT = "left out"
"""Begins the names, in the evidence on a block, of what it is left out for whatever its score."""


class Verdict(NamedTuple):
    """What a method thinks of one text block.

    `score` is the importance of the block's place in [0, 1], the higher the more informative;
    `evidence` holds what led to the verdict, by name.
    """

    kept: bool
    score: float
    evidence: Mapping[str, float]


class Late(Mapping[str, float]):
    """A mapping that `find` works out when it is first looked at."""

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[], Mapping[str, float]]) -> None:
        self._find = find
        self._found: Mapping[str, float] | None = None

    def __getitem__(self, name: str) -> float:
        return self._values()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def __repr__(self) -> str:
        return repr(dict(self._values()))

    def _values(self) -> Mapping[str, float]:
        if self._found is None:
            self._found = self._find()
        return self._found


@dataclass(frozen=True, slots=True, eq=False)
class PageVerdict:
    """What a method thinks of a page's B blocks, as columns in the order of `Page.blocks`.

    `kept` (B) and `scores` (B) are those of `Verdict`, `explain` gives the evidence on the block of
    a number. `weights` are those of the kept features. `fit` is the share of the page's characters
    that stand at places the model knows, in [0, 1]: it falls when a site is redesigned. `common`
    tells which blocks' texts most pages of the site show; empty where the method counts no texts.
    """

    kept: Sequence[bool]
    scores: Sequence[float]
    explain: Callable[[int], Mapping[str, float]]
    weights: Mapping[str, float]
    fit: float
    common: Sequence[bool] = ()

    @classmethod
    def of(cls, verdicts: Sequence[Verdict], weights: Mapping[str, float], fit: float) -> Self:
        """From one verdict a block."""
        kept, scores, evidence = tuple(zip(*verdicts, strict=True)) or ((), (), ())
        return cls(kept, scores, evidence.__getitem__, weights, fit)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict a block."""
        evidence = map(self.explain, range(len(self.kept)))
        return tuple(map(Verdict, self.kept, self.scores, evidence))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageVerdict) and (
            (self.verdicts, self.weights, self.fit) == (other.verdicts, other.weights, other.fit)
        )

    __hash__ = None  # type: ignore[assignment]


class Model(ABC):
    """What was learned up to a point, ready to clean. Immutable: safe in any thread."""

    @abstractmethod
    def judge(self, page: Page) -> PageVerdict:
        """A verdict on every block of the page."""


_REDESIGN_DECAY = 0.25


class Method(ABC):
    """A learner for the pages of one cluster."""

    learned_with: ClassVar[tuple[str, ...]] = ()
    """Options, kept under their names, without which what was learned cannot be read."""

    @property
    @abstractmethod
    def pages(self) -> float:
        """Number of pages learned (a fraction after `decay`)."""

    @abstractmethod
    def observe(self, page: Page) -> None:
        """Learn one page, which has text blocks."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add what another instance learned from other pages of the cluster."""

    @abstractmethod
    def decay(self, factor: float) -> None:
        """Let every page seen so far count `factor` (0 < factor <= 1) of a page."""

    def note_redesign(self) -> None:
        """Pages look different from now on: those so far count a quarter, so that these win soon.

        What is learned then depends on when that is seen, so on the order of the pages.
        """
        self.decay(_REDESIGN_DECAY)

    @abstractmethod
    def model(self) -> Model:
        """A model of what has been learned so far."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All that was learned, as JSON values."""

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned; raises KeyError, TypeError or ValueError on others."""


def kept_features(page: Page, kept: Iterable[bool]) -> Mapping[str, float]:
    """How often each feature occurs in the kept blocks: weights for methods without their own."""
    counts: Counter[str] = Counter()
    for block in compress(page.blocks, kept):
        counts.update(block_features(block))
    return counts
