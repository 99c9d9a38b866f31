"""Reasons: the evidence of a block in words, whichever method gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.methods.base import LEFT_OUT
from noiseclean_scrapy.methods.evidence_model.plain_reasons import BECAUSE, VAGUE
from noiseclean_scrapy.page.block import Block

KINDS = ("prior", "page", "neighbours", "site")
"""What the log-odds of `evidence` are made of."""
MOST_BLOCKS = 5000
"""So many of a page's blocks are marked and told of: a browser shows no more in one table."""
_PLAIN = 3

_RULES = {
    "keep": "Kept: an override says so.",
    "drop": "Left out: an override says so.",
    "title": "The title of the page: an override says so.",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """A named value. `signed` tells that it speaks for (above zero) or against the block."""

    kind: str
    words: str
    value: float
    signed: bool


def verdict_in_words(block: Block, *, headline: bool) -> str:
    """A sentence that says what became of a block and what decided.

    >>> block = Block("About us", "/html[1]/body[1]/p[1]", "p", False, 0.1, {})
    >>> verdict_in_words(block, headline=False)
    'Left out: its importance is 0.10.'
    """
    if block.rule in _RULES:
        return _RULES[block.rule]
    if headline:
        return "Kept: it is the headline of the page."
    if block.hidden:
        return "Left out: the page's markup hides it from readers."
    verdict = "Kept" if block.kept else "Left out"
    evidence = block.evidence
    if left_out := _left_out(evidence):
        return f"{verdict}: {'; '.join(left_out)}."
    if "log_odds" not in evidence:
        bar = f", the threshold {evidence['threshold']:.2f}" if "threshold" in evidence else ""
        return f"{verdict}: its importance is {block.score:.2f}{bar}."
    odds, threshold = evidence["log_odds"], evidence["threshold"]
    if (odds >= threshold) != block.kept:
        return f"{verdict}: an option of the cleaner says so (log-odds {odds:+.1f})."
    words = "; ".join(plain_reasons(block)) or "many small reasons, none of which stands out"
    return f"{verdict}: {words}."


def plain_reasons(block: Block) -> list[str]:
    """The strongest reasons for the verdict in words that anyone understands, three at most."""
    if left_out := _left_out(block.evidence):
        return left_out
    parts = [
        (float(value), words)
        for name, value in block.evidence.items()
        for kind, _, words in [name.partition(": ")]
        if kind == BECAUSE and (value > 0) == block.kept
    ]
    parts.sort(key=lambda part: (part[1] in VAGUE, -abs(part[0])))
    return [words for _, words in parts[:_PLAIN]]


def _left_out(evidence: Mapping[str, float]) -> list[str]:
    """Of which kinds a block is that are left out."""
    named = (name.partition(": ") for name in evidence)
    return [words for kind, _, words in named if kind == LEFT_OUT]


def reasons(evidence: Mapping[str, float]) -> list[Reason]:
    """The named reasons, strongest first; for other methods than `evidence` their figures."""
    if "log_odds" not in evidence:
        return [
            Reason("", name.replace("_", " "), float(value), False)
            for name, value in evidence.items()
            if name.partition(": ")[0] != LEFT_OUT
        ]
    found = []
    for name, value in evidence.items():
        kind, separator, words = name.partition(": ")
        if separator and kind not in (BECAUSE, LEFT_OUT):
            found.append(Reason(kind, words, float(value), True))
    return sorted(found, key=lambda reason: -abs(reason.value))


def parts(evidence: Mapping[str, float]) -> list[tuple[str, float]]:
    """What the log-odds are the sum of, by kind; nothing for other methods than `evidence`."""
    if "log_odds" not in evidence:
        return []
    return [(kind, float(evidence[kind])) for kind in KINDS]


def is_kept(page: CleanPage, block: Block) -> bool:
    """Whether a block is in the text of its page, as its first line or further down."""
    return block.kept or block is page.headline


def block_row(page: CleanPage, block: Block) -> dict[str, Any]:
    """A block of a page with all that is known of it, as JSON values."""
    return {
        "text": block.text,
        "xpath": block.xpath,
        "place": block.place,
        "kept": is_kept(page, block),
        "headline": block is page.headline,
        "rule": block.rule,
        "hidden": block.hidden,
        "score": block.score,
        "reasons": plain_reasons(block),
        "evidence": {name: float(value) for name, value in block.evidence.items()},
    }
