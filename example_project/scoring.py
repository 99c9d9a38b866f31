"""Precision and recall of a text against the known content of its page, as bags of tokens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

_TOKEN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Score:
    """Shares in [0, 1]: of the text's tokens that are content, of the content's that it has."""

    precision: float
    recall: float


def score(text: str, gold: str) -> Score:
    """Compare a text with the content it should have; a token counts as often as it occurs.

    An empty text has precision 1 when nothing was to be found, else 0.

    >>> score("Home News Fog closes the port", "Fog closes the port today")
    Score(precision=0.6666666666666666, recall=0.8)
    """
    found, wanted = tokens(text), tokens(gold)
    shared = (found & wanted).total()
    return Score(
        precision=shared / found.total() if found else float(not wanted),
        recall=shared / wanted.total() if wanted else 1.0,
    )


def mean_score(scores: Sequence[Score]) -> Score:
    """The mean over pages, whatever their lengths."""
    return Score(fmean(s.precision for s in scores), fmean(s.recall for s in scores))


def tokens(text: str) -> Counter[str]:
    """Count the words and numbers of a text, in lower case."""
    return Counter(_TOKEN.findall(text.lower()))
