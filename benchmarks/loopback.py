"""A light web server in a process of its own, which answers for any host as an HTTP proxy."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from multiprocessing.connection import Connection
from typing import TypeAlias
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Answer:
    """What a site answers; with `cut` the connection ends in the middle of the body."""

    body: bytes
    status: int = 200
    type: str = "text/html; charset=utf-8"
    cut: bool = False


Respond: TypeAlias = Callable[[str, str], Answer]
"""Gives the answer for a host and a path (with its query)."""


@contextmanager
def serve(respond: Respond) -> Iterator[str]:
    """The address of a running proxy that answers with `respond`, which travels by pickle."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(respond, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


def _run(respond: Respond, connection: Connection) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Proxy(respond), "127.0.0.1", backlog=512)
        connection.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


class _Proxy(asyncio.Protocol):
    """One connection: requests without bodies, one after the other."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            address = urlsplit(head.split(b" ", 2)[1].decode("latin-1"))
            query = f"?{address.query}" if address.query else ""
            self._send(self._respond(address.netloc, (address.path or "/") + query))

    def _send(self, answer: Answer) -> None:
        head = (
            f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n"
            f"Content-Type: {answer.type}\r\nContent-Length: {len(answer.body)}\r\n\r\n"
        )
        body = answer.body[: len(answer.body) // 2] if answer.cut else answer.body
        self._transport.write(head.encode("latin-1") + body)
        if answer.cut:
            self._transport.close()
