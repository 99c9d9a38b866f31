"""A small web server of a test's own, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar


class Request(BaseHTTPRequestHandler):
    """A request, and the way to answer it; nothing is said of it on the terminal."""

    respond: ClassVar[Callable[[Request], None]]

    def do_GET(self) -> None:
        self.respond()

    do_POST = do_HEAD = do_GET  # noqa: N815

    def answer(
        self,
        body: str | bytes,
        content_type: str = "text/html; charset=utf-8",
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send an answer; a `Content-Type` among the `headers` holds."""
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": content_type, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Stay quiet."""


@contextmanager
def serving(respond: Callable[[Request], None], host: str = "127.0.0.1") -> Iterator[int]:
    """The port of a server that lets `respond` answer GET and POST."""
    server = ThreadingHTTPServer((host, 0), type("Handler", (Request,), {"respond": respond}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
