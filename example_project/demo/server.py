"""A loopback web server for the demo newspaper."""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, final
from urllib.parse import unquote, urlsplit

from example_project.demo.site import DemoSite

_PICTURE = re.compile(r"/media/\d+-\d\.svg")
_ROBOTS = "User-agent: *\nAllow: /\n"
_NOT_FOUND = (
    "<!DOCTYPE html>\n<title>Not found</title>\n<h1>There is no page at this address</h1>\n"
)


@final
class DemoServer:
    """Serves a site at ``http://127.0.0.1:PORT`` from a daemon thread while the context is open.

    ``port`` 0 takes any that is free; ``host`` may be another address of the loopback interface.
    ``requests`` lists the requested paths in order of arrival.
    """

    def __init__(self, site: DemoSite, *, port: int = 0, host: str = "127.0.0.1") -> None:
        self.site = site
        self.host = host
        self._port = port
        self.requests: list[str] = []
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Address of the site, without a slash at its end."""
        if self._server is None:
            raise RuntimeError(
                "DemoServer is not running: use it as 'with DemoServer(site) as ...'"
            )
        return f"http://{self.host}:{self._server.server_port}"

    def __enter__(self) -> DemoServer:
        self._server = _QuietServer((self.host, self._port), _handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
        self._server = self._thread = None

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Status, content type and body for a path."""
        page = self.site.pages.get(path)
        if page is not None:
            return HTTPStatus.OK, "text/html; charset=utf-8", page.html.encode()
        if path == "/robots.txt":
            return HTTPStatus.OK, "text/plain; charset=utf-8", _ROBOTS.encode()
        if _PICTURE.fullmatch(path):
            return HTTPStatus.OK, "image/svg+xml; charset=utf-8", _picture(path).encode()
        return HTTPStatus.NOT_FOUND, "text/html; charset=utf-8", _NOT_FOUND.encode()


class _QuietServer(ThreadingHTTPServer):
    # A crawler opens many connections at once; those beyond the queue would wait a second.
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A crawler that hangs up is no error of ours; anything else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _handler(demo: DemoServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Header and body are written apart: without this, each answer waits for an acknowledgement.
        disable_nagle_algorithm = True
        timeout = 30

        def do_GET(self) -> None:
            self._send(with_body=True)

        def do_HEAD(self) -> None:
            self._send(with_body=False)

        def log_message(self, format: str, *args: object) -> None:
            """Stay quiet."""

        def _send(self, with_body: bool) -> None:
            path = unquote(urlsplit(self.path).path)
            demo.requests.append(path)
            status, content_type, body = demo.answer(path)
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if with_body:
                self.wfile.write(body)

    return Handler


def _picture(path: str) -> str:
    """A drawn sea and sky in colours that depend on the address."""
    first, second, height = hashlib.blake2s(path.encode(), digest_size=3).digest()
    hue, sea, horizon = first * 360 // 256, 170 + second * 60 // 256, 220 + height * 120 // 256
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 480" width="960" height="480">'
        f'<rect width="960" height="480" fill="hsl({hue},35%,78%)"/>'
        f'<circle cx="{150 + second * 2}" cy="{height // 2 + 60}" r="46" '
        f'fill="hsl({hue},70%,92%)"/>'
        f'<path d="M0 {horizon} Q240 {horizon - 60} 480 {horizon} T960 {horizon} V480 H0Z" '
        f'fill="hsl({sea},40%,38%)"/></svg>'
    )
