"""Connections to PostgreSQL that end when it takes what it is told and answers nothing.

Neither keepalives nor TCP's own limit see that: the system of a frozen machine, or a pooler before
it, goes on taking what is sent. A limit that PostgreSQL keeps itself is frozen with it.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.waiting import READY_R

from noiseclean_scrapy.store.patience import GIVEN_UP_SECONDS, Patience


class SilenceError(psycopg.OperationalError):
    """The server has answered nothing for as long as somebody wants to wait."""


class PatientConnection(psycopg.Connection[Any]):
    """A connection that is closed, with SilenceError, when its `patience` is at its end."""

    patience: Patience | None = None

    def wait(self, gen: PQGen[RV], *arguments: Any, **options: Any) -> RV:
        """What psycopg waits for; it asks at each of its intervals whether that is to go on."""
        if self.patience is None:
            return super().wait(gen, *arguments, **options)
        try:
            return super().wait(_watched(gen, self.patience), *arguments, **options)
        except SilenceError:
            self.close()  # or whoever has it next would read this answer as the next one
            raise


def connect(patience: Patience, *arguments: Any, **options: Any) -> PatientConnection:
    """A new connection, as psycopg makes it."""
    if patience.has_given_up:
        options["connect_timeout"] = GIVEN_UP_SECONDS
    connection = PatientConnection.connect(*arguments, **options)
    connection.patience = patience
    return connection


def _watched(gen: PQGen[RV], patience: Patience) -> PQGen[RV]:
    """The same generator, which is told of each interval in which nothing came."""
    wait = patience.begin()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                wait.go_on(is_answer=bool(ready & READY_R))
            elif reason := wait.why_over():
                raise SilenceError(reason)
            wanted = gen.send(ready)
    except StopIteration as end:
        result: RV = end.value
        return result
