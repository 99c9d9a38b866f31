"""Boosted oblivious trees: prediction and the contribution of every feature, in numpy alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, Integers

_BLOCKS_AT_ONCE = 1024


@dataclass(frozen=True)
class BoostedTrees:
    """T oblivious trees of depth D <= 8: all nodes of one level ask the same question.

    `names` are the features' (F), `features` (T, D) says which of them a level asks for, `borders`
    (T, D) above which value the answer is yes; `values` (T, 2^D) are the leaves, the answer of
    level d being bit d of the leaf's number. `means` has an array (T, 2^d) for each d < D: the mean
    over the training data of the leaves with these first d answers. Scores are log-odds.
    """

    names: tuple[str, ...]
    features: NDArray[np.int64]
    borders: NDArray[np.float32]
    values: NDArray[np.float32]
    means: tuple[NDArray[np.float32], ...]
    bias: float

    def score(
        self, matrix: NDArray[np.float32], further: NDArray[np.float32] | None = None
    ) -> Floats:
        """The log-odds of each row of (rows, F), the last columns of which may be in `further`."""
        if kernels.blocks is not None:
            columns = np.ascontiguousarray(matrix.T)
            last = columns[:0] if further is None else np.ascontiguousarray(further.T)
            scores: Floats = kernels.blocks.score(
                columns, last, self.features, self.borders, self.values, self.bias
            )
            return scores
        if further is not None:
            matrix = np.concatenate([matrix.T, further.T]).T
        parts = [
            self._score(matrix[start : start + _BLOCKS_AT_ONCE])
            for start in range(0, len(matrix), _BLOCKS_AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _score(self, matrix: NDArray[np.float32]) -> Floats:
        asked, borders, order = self._questions
        columns = np.ascontiguousarray(matrix.T)
        answers = (columns.take(asked, axis=0) > borders).view(np.uint8)
        levels = answers.take(order, axis=0)  # (D, T, rows)
        chosen = levels[-1]
        for level in levels[-2::-1]:
            chosen += chosen
            chosen += level
        leaves = chosen.astype(np.intp)
        leaves += self._starts
        scores: Floats = self._leaves.take(leaves).sum(axis=0) + self.bias
        return scores

    @cached_property
    def _questions(self) -> tuple[Integers, NDArray[np.float32], Integers]:
        """The distinct questions, as feature and border (.., 1); which one (D, T) a level asks."""
        asked = np.stack([self.features.astype(np.float64), self.borders], axis=-1)
        distinct, order = np.unique(asked.reshape(-1, 2), axis=0, return_inverse=True)
        features, borders = distinct.T
        order = np.ascontiguousarray(order.reshape(self.features.shape).T)
        return features.astype(np.int64), borders.astype(np.float32)[:, None], order

    @cached_property
    def _leaves(self) -> Floats:
        return self.values.astype(np.float64).ravel()

    @cached_property
    def _starts(self) -> Integers:
        """Where the leaves of each tree (T, 1) begin."""
        trees, leaves = self.values.shape
        return np.arange(0, trees * leaves, leaves)[:, None]

    @property
    def base(self) -> float:
        """The mean score."""
        first = self.means[0] if self.means else self.values
        return float(first[:, 0].sum(dtype=np.float64)) + self.bias

    def changes(self, rows: NDArray[np.float32]) -> Floats:
        """What each feature adds to `base` for each row (rows, F); they sum to the score.

        Each answer on the way to a leaf changes the mean score of the leaves that remain; the
        change is credited to the feature that was asked for (Saabas 2014).
        """
        width = len(self.names)
        changes = np.zeros(len(rows) * width)
        starts = np.arange(0, len(changes), width)[:, None]
        trees = np.arange(len(self.features))
        prefix = np.zeros((len(rows), len(trees)), dtype=np.intp)
        levels = [*self.means, self.values]
        for level in range(self.features.shape[1]):
            asked = self.features[:, level]
            before = levels[level][trees, prefix]
            prefix |= (rows[:, asked] > self.borders[:, level]).astype(np.intp) << level
            after = levels[level + 1][trees, prefix]
            np.add.at(
                changes, (starts + asked).ravel(), (after.astype(np.float64) - before).ravel()
            )
        return changes.reshape(len(rows), width)
