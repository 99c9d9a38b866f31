"""The pages of a site that have a vote: one of each near-duplicate class, a bounded sample of all.

A sample is a set: it depends on the pages alone, not on their order or on how often each was seen,
and the sample of two crawls' pages is that of their samples.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from noiseclean_scrapy.methods.evidence_model.fingerprints import QUANTUM, PageKeys
from noiseclean_scrapy.methods.trees.counts import read_number
from noiseclean_scrapy.page.hashes import hash_name, read_hash, read_hashes

MOST_KEYS = 500
"""Texts, and places, that one page may vote on; of more those with the least hashes."""

_WEIGHTS = 2.0**10
_LARGEST_MEAN = int(QUANTUM) << 10


@dataclass(frozen=True, slots=True)
class PageVotes:
    """What a page shows: its texts at their places, and the mean log-odds of each place.

    `signature` names its near-duplicate class, `layout` its kind of layout. `texts` and `places`
    are ascending hashes. `weight` is what `decay` has left of its vote.
    """

    signature: int
    layout: int
    texts: array[int]
    places: array[int]
    means: array[float]
    weight: float = 1.0

    @classmethod
    def of(cls, keys: PageKeys) -> PageVotes:
        """The votes of a page."""
        return cls(
            keys.signature,
            keys.layout,
            array("Q", sorted(set(keys.texts))[:MOST_KEYS]),
            keys.places[:MOST_KEYS],
            array("d", keys.means[:MOST_KEYS].tobytes()),
        )

    @property
    def rank(self) -> tuple[float, bytes]:
        """Which page of a class votes: the one of most weight, then any, but always the same."""
        data = f"{self.texts}{self.places}{self.means}".encode()
        return self.weight, blake2b(data, digest_size=8).digest()


class PageSample:
    """Votes by class: all of them up to `most` classes, above that a sample.

    One half of it is drawn from all classes alike, by their hashes. The other half is drawn from
    each kind of layout as evenly as possible, so that a new design is in the sample from its
    first page on, however many pages came before.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.votes: dict[int, PageVotes] = {}

    def add(self, votes: PageVotes) -> PageVotes | None:
        """Add a page; what it replaces, which is itself where another page votes for its class."""
        known = self.votes.get(votes.signature)
        if known is not None and known.rank >= votes.rank:
            return votes
        self.votes[votes.signature] = votes
        return known

    def prune(self) -> list[PageVotes]:
        """Keep `most` classes; the votes of the others."""
        if len(self.votes) <= self.most:
            return []
        order = sorted(self.votes)
        kept = set(order[: self.most // 2])
        kinds: dict[int, list[int]] = {}
        for signature in order:
            if signature not in kept:
                kinds.setdefault(self.votes[signature].layout, []).append(signature)
        ranked = sorted(
            (rank, layout, signature)
            for layout, signatures in kinds.items()
            for rank, signature in enumerate(signatures)
        )
        kept.update(signature for _, _, signature in ranked[: self.most - len(kept)])
        dropped = [self.votes[signature] for signature in order if signature not in kept]
        self.votes = {signature: self.votes[signature] for signature in order if signature in kept}
        return dropped

    def decay(self, factor: float) -> None:
        """Let each vote count `factor`; one that is nearly forgotten is dropped."""
        decayed = (
            replace(votes, weight=round(votes.weight * factor * _WEIGHTS) / _WEIGHTS)
            for votes in self.votes.values()
        )
        self.votes = {votes.signature: votes for votes in decayed if votes.weight}

    def state(self) -> dict[str, Any]:
        """The votes as JSON values in a fixed order, each hash written once."""
        rows = [self.votes[signature] for signature in sorted(self.votes)]
        keys = sorted({key for row in rows for key in (*row.texts, *row.places)})
        number = {key: place for place, key in enumerate(keys)}
        return {
            "keys": [hash_name(key) for key in keys],
            "votes": [
                [
                    hash_name(row.signature),
                    hash_name(row.layout),
                    row.weight,
                    [number[key] for key in row.texts],
                    [number[key] for key in row.places],
                    [round(mean * QUANTUM) for mean in row.means],
                ]
                for row in rows
            ],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned; raises KeyError, TypeError or ValueError on others."""
        keys = read_hashes(list(state["keys"]))
        votes = [_read_votes(row, keys) for row in list(state["votes"])]
        self.votes = {page.signature: page for page in votes}
        if len(self.votes) < len(votes):
            raise ValueError("a class of pages votes twice")


def _read_votes(row: Any, keys: Sequence[int]) -> PageVotes:
    signature, layout, weight, texts, places, means = row
    if not len(places) == len(means) <= MOST_KEYS >= len(texts):
        raise ValueError("a page does not vote so often")
    weight = read_number(weight, least=1 / _WEIGHTS, largest=1.0)
    if weight * _WEIGHTS % 1:  # sums of others would not be exact
        raise ValueError(f"{weight!r} is no weight of a vote")
    return PageVotes(
        read_hash(signature),
        read_hash(layout),
        _read_keys(texts, keys),
        _read_keys(places, keys),
        _read_means(means),
        weight,
    )


def _read_keys(numbers: Any, keys: Sequence[int]) -> array[int]:
    if not _are_integers(numbers, 0, len(keys) - 1):
        raise ValueError(f"some of {len(numbers)} values are not the number of a hash")
    found = list(map(keys.__getitem__, numbers))
    if found != sorted(set(found)):
        raise ValueError("hashes are not in ascending order")
    return array("Q", found)


def _read_means(values: Any) -> array[float]:
    if not _are_integers(values, -_LARGEST_MEAN, _LARGEST_MEAN):
        raise ValueError(f"some of {len(values)} values are not a mean of log-odds")
    return array("d", (np.array(values, dtype=np.float64) / QUANTUM + 0.0).tobytes())


def _are_integers(values: Any, least: int, largest: int) -> bool:
    if not values:
        return True
    return set(map(type, values)) == {int} and least <= min(values) and max(values) <= largest
