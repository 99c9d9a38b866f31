"""How a block is worded: a score of its letters, which knows "subscribe" in many languages.

Two and four letters that follow each other are hashed to weights, as Weinberger et al. do it
(Feature Hashing for Large Scale Multitask Learning, ICML 2009). Lines on consent, newsletters and
further reading are worded alike on thousands of sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, Integers

BUCKETS = 1 << 15
"""Weights of letters, and of each kind of names; those whose hashes agree share one."""
LONGEST = 400
"""Characters of a text that are read."""
_KNOWN = 0x20000  # what lies behind counts as a blank, like all that is no letter
_BLANK = ord(" ")
_MIXER = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """`weights` (BUCKETS, int8) times `scale` are log-odds of content."""

    weights: NDArray[np.int8]
    scale: float
    bias: float

    def score(self, texts: Sequence[str]) -> Floats:
        """Log-odds that each of B texts is content, from its letters alone."""
        sums, pairs = _gram_sums(texts, self.weights)
        return self.bias + self.scale * sums / np.sqrt(gram_counts(pairs))


def gram_counts(pairs: Integers) -> Floats:
    """How many grams texts of so many pairs have; 1 for those without."""
    return np.maximum(pairs + np.maximum(pairs - 2, 0), 1).astype(np.float64)


def grams(texts: Sequence[str]) -> tuple[Integers, Integers, Integers]:
    """The pairs (B) of each text; and of each gram its text and its bucket.

    Letters are in lower case; what is none is a blank, of which one stands between words and at
    both ends.
    """
    cut = [text[:LONGEST] for text in texts]
    codes = np.frombuffer(" ".join(("", *cut, "")).encode("utf-32-le", "surrogatepass"), np.uint32)
    letters = _letters()[np.minimum(codes, _KNOWN)]
    text_of = np.repeat(np.arange(len(cut)), [len(text) + 1 for text in cut])
    kept = np.flatnonzero((letters[1:] != _BLANK) | (letters[:-1] != _BLANK))
    text_of, letters = text_of[kept], letters[np.concatenate(([0], kept + 1))].astype(np.uint64)
    pairs = np.bincount(text_of, minlength=len(cut))
    mixer, half = np.uint64(_MIXER), np.uint64(29)
    pair = letters[:-1] << np.uint64(32) | letters[1:]
    # A gram of four letters is a pair, and the one two before it in the same text.
    ends = np.flatnonzero(text_of[2:] == text_of[:-2]) + 2
    first = pair[ends - 2] * mixer
    keys = np.concatenate((pair, (first ^ first >> half) + pair[ends]))
    buckets = (keys * mixer >> np.uint64(65 - BUCKETS.bit_length())).astype(np.int64)
    return pairs, np.concatenate((text_of, text_of[ends])), buckets


def _gram_sums(texts: Sequence[str], weights: NDArray[np.int8]) -> tuple[Integers, Integers]:
    """The sum of the weights of each text's grams, and its pairs."""
    if kernels.texts is not None:
        found: NDArray[np.int64] = kernels.texts.gram_sums(
            list(texts), _letters(), weights, LONGEST, _MIXER
        )
        return found[0], found[1]
    pairs, text_of, buckets = grams(texts)
    sums = np.bincount(text_of, weights=weights[buckets], minlength=len(texts))
    return sums.astype(np.int64), pairs


@lru_cache(maxsize=1)
def _letters() -> NDArray[np.uint32]:
    """The lower case of each letter, a blank for every other character."""
    characters = map(chr, range(_KNOWN))
    lowered = [ord(c.lower()[0]) if c.isalpha() else _BLANK for c in characters]
    return np.array([*lowered, _BLANK], dtype=np.uint32)
