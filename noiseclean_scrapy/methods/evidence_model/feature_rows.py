"""Features in one array, which is filled from the first column to the last."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Columns:
    """`rows` (features, blocks), float32: a row a feature, so that each is one piece of memory."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        self.rows = rows
        self._filled = 0

    def next(self, count: int) -> NDArray[np.float32]:
        """The next `count` rows, to be filled."""
        start, self._filled = self._filled, self._filled + count
        return self.rows[start : self._filled]

    def add(self, *columns: ArrayLike) -> None:
        """Fill the next rows, each with a column or with one value."""
        for row, column in zip(self.next(len(columns)), columns, strict=True):
            row[:] = column

    def add_values(self, *values: ArrayLike) -> None:
        """Fill the next rows with one value each."""
        self.next(len(values))[:] = np.array(values, dtype=np.float64)[:, None]

    def add_by_place(self, columns: NDArray[np.generic]) -> None:
        """Fill the next rows with columns (C, P, B) of each of P places, place by place."""
        count, places, blocks = columns.shape
        rows = self.next(count * places).reshape(places, count, blocks)
        rows[:] = columns.transpose(1, 0, 2)

    @property
    def matrix(self) -> NDArray[np.float32]:
        """(blocks, features), once all is filled."""
        assert self._filled == len(self.rows)
        return self.rows.T
