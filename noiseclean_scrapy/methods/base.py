"""What every method offers: learn a page at a time, merge, forget, and give a model that cleans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, overload

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.features import targets, words

if TYPE_CHECKING:
    from typing_extensions import Self


class Verdict(NamedTuple):
    """What a method thinks of one text block.

    `score` is the importance of the block's place in [0, 1], the higher the more informative;
    `evidence` holds what led to the verdict, by name.
    """

    kept: bool
    score: float
    evidence: Mapping[str, float]


class LateVerdicts(Sequence[Verdict]):
    """Verdicts that are made when they are looked at, from what was kept and the scores.

    `explain` gives the evidence on the block of a number.
    """

    __slots__ = ("_explain", "kept", "scores")

    def __init__(
        self,
        kept: Sequence[bool],
        scores: Sequence[float],
        explain: Callable[[int], Mapping[str, float]],
    ) -> None:
        self.kept = kept
        self.scores = scores
        self._explain = explain

    def __len__(self) -> int:
        return len(self.kept)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Verdict, ...]: ...
    def __getitem__(self, index: int | slice) -> Verdict | tuple[Verdict, ...]:
        numbers = range(len(self.kept))[index]
        if isinstance(numbers, int):
            return Verdict(self.kept[numbers], self.scores[numbers], self._explain(numbers))
        return tuple(map(self.__getitem__, numbers))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """One verdict a block, in the order of `Page.blocks`; weights of the kept features; the fit.

    `fit` is the share of the page's characters that stand at places the model knows, in [0, 1]:
    it falls when a site is redesigned.
    """

    verdicts: Sequence[Verdict]
    weights: Mapping[str, float]
    fit: float

    @property
    def kept(self) -> Sequence[bool]:
        """Which blocks are kept."""
        if isinstance(self.verdicts, LateVerdicts):
            return self.verdicts.kept
        return [verdict.kept for verdict in self.verdicts]

    @property
    def scores(self) -> Sequence[float]:
        """The score of each block."""
        if isinstance(self.verdicts, LateVerdicts):
            return self.verdicts.scores
        return [verdict.score for verdict in self.verdicts]


class Model(ABC):
    """What was learned up to a point, ready to clean. Immutable: safe in any thread."""

    @abstractmethod
    def judge(self, page: Page) -> PageVerdict:
        """A verdict on every block of the page."""


class Method(ABC):
    """A learner for the pages of one cluster."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def pages(self) -> float:
        """Number of pages learned (a fraction after `decay`)."""

    @abstractmethod
    def observe(self, page: Page) -> None:
        """Learn one page."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add what another instance learned from other pages of the cluster."""

    @abstractmethod
    def decay(self, factor: float) -> None:
        """Let every page seen so far count `factor` (0 < factor <= 1) of a page."""

    @abstractmethod
    def model(self) -> Model:
        """A model of what has been learned so far."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All that was learned, as JSON values."""

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned; raises KeyError, TypeError or ValueError on others."""


class KeptFeatures(Mapping[str, float]):
    """How often each feature occurs in the kept blocks: weights for methods without their own.

    Counted when they are first looked at.
    """

    __slots__ = ("_counts", "_kept", "_page")

    def __init__(self, page: Page, kept: Sequence[bool]) -> None:
        self._page = page
        self._kept = kept
        self._counts: Counter[str] | None = None

    def __getitem__(self, name: str) -> float:
        return self._found()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())

    def __repr__(self) -> str:
        return repr(dict(self._found()))

    def _found(self) -> Counter[str]:
        if self._counts is None:
            counts: Counter[str] = Counter()
            for block in compress(self._page.blocks, self._kept):
                counts.update(words(block.text))
                counts.update(targets(block))
            self._counts = counts
        return self._counts


def above_zero(name: str, value: Any) -> int:
    """An option that counts something; raises ConfigurationError for anything but 1, 2, 3..."""
    if type(value) is not int or value < 1:
        raise ConfigurationError(f"{name}={value!r} is not a number: give an integer from 1 on")
    return value
