"""The server of the workbench: its socket, its address, its end."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable, Sequence

import uvicorn

from noiseclean_scrapy.errors import ConfigurationError, NoiseCleanError
from noiseclean_scrapy.service_urls import host_in_url
from noiseclean_scrapy.web.app import create_app
from noiseclean_scrapy.web.guard import host_names, is_loopback
from noiseclean_scrapy.web.workbench import Workbench

_AT_ONCE = 64
_LAST_SECONDS = 3


def serve(
    bench: Workbench,
    *,
    host: str,
    port: int,
    names: Sequence[str] = (),
    on_start: Callable[[str], object] = lambda url: None,
) -> None:
    """Serve until it is interrupted; `on_start` is given the address to open, with the token.

    Port 0 is any that is free. Raises ConfigurationError for an address that cannot be used.
    """
    # It warns of each browser that closes a page while it is sent.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    with _listen(host, port) as listener:
        port = listener.getsockname()[1]
        app = create_app(
            bench,
            hosts=host_names(host, port, names),
            cookie=f"noiseclean-{port}",
            # Whoever gives it a name has a proxy in front, or lets others ask.
            is_private=bool(names) or not is_loopback(host),
        )
        config = uvicorn.Config(
            app,
            log_level="error",  # it warns of what others send, of each request for a WebSocket
            access_log=False,
            ws="none",
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_AT_ONCE,
            timeout_graceful_shutdown=_LAST_SECONDS,
        )
        shown = names[0] if names else host_in_url(host)
        _Server(config, lambda: on_start(f"http://{shown}:{port}/open?token={bench.token}")).run(
            sockets=[listener]
        )


class _Server(uvicorn.Server):
    """Tells when it answers, and ends streams before it waits for them."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], object]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.app.state.is_closing = True  # type: ignore[union-attr]
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            reason = "it is in use, perhaps by another workbench; --port 0 takes one that is free"
            raise NoiseCleanError(f"cannot listen on {host} port {port}: {reason}") from None
        raise ConfigurationError(f"cannot listen on {host} port {port}: {reason}") from None
