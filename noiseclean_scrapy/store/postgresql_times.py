"""Times of PostgreSQL, which knows more of them than Python: with one psycopg refuses its row."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.pq import Format

_KIND = "timestamptz"


class _Times:
    """psycopg's own reader of times; what no `datetime` can be counts as NULL, as in SQLite."""

    format = Format.TEXT

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        reader = psycopg.adapters.get_loader(oid, self.format)
        assert reader
        self._reader = reader(oid, context)

    def load(self, data: Buffer) -> Any:
        try:
            return self._reader.load(data)
        except psycopg.DataError:
            return None


def read_all_times(connection: psycopg.Connection[Any], *_: object) -> None:
    """Let a connection read rows with any time."""
    connection.adapters.register_loader(_KIND, _Times)
