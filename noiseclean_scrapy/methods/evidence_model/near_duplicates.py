"""Which pages are copies of each other: min-wise hashes of the text that looks like content."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats

SHINGLE = 32
"""Bytes in a row that make up one shingle (Broder 1997)."""
LEAST_CONTENT = 100
"""Bytes of content below which there is no signature."""
MOST_CONTENT = 100_000
"""Bytes of content that are looked at."""

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
_MIXERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def content_signature(texts: Sequence[str], scores: Floats) -> str:
    """The same for most pages whose content differs in a few words; empty where there is little.

    `texts` are the blocks', `scores` their log-odds. Two pages of which a share J of all shingles
    agrees have the same signature with probability J², whatever else is on them. Equality makes
    classes, so that the order of pages is of no matter.

    >>> story = ["Fog closed the harbour of Porto for most of the morning.", "Ferries ran late."]
    >>> story += ["By noon the lighthouse could be seen again from the market."]
    >>> scores = np.array([3.0, 2.0, 2.0])
    >>> one = content_signature([*story, "Home"], np.append(scores, -4.0))
    >>> one == content_signature(["Sport", *story], np.append(-4.0, scores))
    True
    """
    content = " ".join([t for t, s in zip(texts, scores.tolist(), strict=True) if s > 0])
    data = content.encode(errors="surrogatepass")[:MOST_CONTENT]
    return str(_min_hashes(data)) if len(data) >= LEAST_CONTENT else ""


def _min_hashes(data: bytes) -> list[int]:
    """The least hash of all shingles under each of two hash functions.

    A shingle's hash is a polynomial in its bytes, from differences of one running sum.
    """
    if kernels.texts is not None:
        least: list[int] = kernels.texts.min_hashes(data, SHINGLE, _BASE, _INVERSE, _MIXERS)
        return least
    powers, inverses = _powers(MOST_CONTENT)
    count = len(data) - SHINGLE + 1
    sums = np.zeros(len(data) + 1, dtype=np.uint64)
    np.cumsum(np.frombuffer(data, dtype=np.uint8) * powers[: len(data)], out=sums[1:])
    shingles = (sums[SHINGLE:] - sums[:count]) * inverses[:count]
    shingles ^= shingles >> np.uint64(31)
    found = []
    for mixer in _MIXERS:
        mixed = shingles * np.uint64(mixer)
        mixed ^= mixed >> np.uint64(32)
        found.append(int((mixed * np.uint64(_BASE)).min()))
    return found


@lru_cache(maxsize=1)
def _powers(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The powers of the base, and those of its inverse, modulo 2^64."""
    both = []
    for base in (_BASE, _INVERSE):
        factors = np.full(count, base, dtype=np.uint64)
        factors[0] = 1
        both.append(np.cumprod(factors, dtype=np.uint64))
    return both[0], both[1]
