"""A proxy before PostgreSQL that can stop handing on: all is taken, and nothing answered."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import make_url

_ASKS = (b"Q", b"P", b"B")
"""How messages begin by which a client asks for something once it is logged in."""


class SilentProxy:
    """Connections to a port of its own are those to the database of a URL; `url` is the way here.

    While it is silent the system goes on taking connections and what they send, as it does for a
    machine that is frozen. Where it `takes_logins`, it is as a pooler that is paused: connections
    begin, and what they ask is not answered. What was sent meanwhile is handed on later.
    """

    def __init__(self, url: str) -> None:
        there = make_url(url)
        self._there = there.host or "127.0.0.1", there.port or 5432
        self._flows = threading.Event()
        self._flows.set()
        self.is_asked = threading.Event()
        """Something has come that is not handed on."""
        self._takes_logins = False
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        here = there.set(host="127.0.0.1", port=self.port)
        self.url = here.render_as_string(hide_password=False)
        self._begin(self._accept)

    def fall_silent(self, *, takes_logins: bool = False) -> None:
        """Hand on nothing."""
        self._takes_logins = takes_logins
        self.is_asked.clear()
        self._flows.clear()

    def speak(self) -> None:
        """Hand on what has come meanwhile, and go on."""
        self._flows.set()

    def close(self) -> None:
        """End all connections."""
        # A thread that accepts would not see that its socket is closed.
        self._server.shutdown(socket.SHUT_RDWR)
        self.speak()
        self._threads[0].join()
        for one in [self._server, *self._sockets]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in self._threads:
            thread.join()

    def _begin(self, run: Callable[..., None], *sockets: socket.socket) -> None:
        thread = threading.Thread(target=run, args=sockets, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                client, _ = self._server.accept()
                if not self._takes_logins:
                    self._wait()
                server = socket.create_connection(self._there)
                self._sockets += [client, server]
                self._begin(self._hand_on, client, server)
                self._begin(self._hand_back, client, server)

    def _wait(self) -> None:
        if not self._flows.is_set():
            self.is_asked.set()
            self._flows.wait()

    def _hand_on(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if not self._takes_logins or data.startswith(_ASKS):
                    self._wait()
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _hand_back(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if not self._takes_logins:
                    self._flows.wait()
                client.sendall(data)
            client.shutdown(socket.SHUT_WR)


@contextmanager
def silent_proxy(url: str) -> Iterator[SilentProxy]:
    """A proxy before the database of a URL, which hands on until it is told not to."""
    proxy = SilentProxy(url)
    try:
        yield proxy
    finally:
        proxy.close()
