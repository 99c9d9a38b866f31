"""Who may ask the workbench for what: hosts, origins, tokens, and the headers of every answer."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from noiseclean_scrapy.service_urls import host_in_url

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",
        "img-src data:",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
"""The Content Security Policy of our own documents."""
FRAME_POLICY = "; ".join(
    [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        "sandbox allow-same-origin",
    ]
)
"""That of a crawled page, which runs nothing and asks for nothing, wherever it is opened."""
LARGEST_BODY = 64_000
"""Bytes of the largest request."""

API = "/api/"
"""Below this address programs ask, and are answered in JSON."""
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_HTTP = 80
_READING = frozenset({"GET", "HEAD"})


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_names(host: str, port: int, names: Iterable[str]) -> frozenset[str]:
    """What the header Host may say to a server on this address; `names` are others it goes by.

    >>> sorted(host_names("127.0.0.2", 8765, ["News.lan"]))  # doctest: +NORMALIZE_WHITESPACE
    ['127.0.0.1:8765', '127.0.0.2:8765', '[::1]:8765', 'localhost:8765',
     'news.lan', 'news.lan:8765']
    """
    own = {host_in_url(host)}
    if is_loopback(host):
        own |= {"127.0.0.1", "[::1]", "localhost"}
    others = {name.lower() for name in names}
    # Nobody writes port 80; a proxy in front may have another one.
    short = own | others if port == _HTTP else others
    return frozenset({f"{name}:{port}" for name in own | others} | short)


@dataclass(frozen=True)
class Guard:
    """ASGI middleware in front of everything.

    Only a request under one of `hosts` is answered, so that no other name can be bound to this
    address; none that another site sent is, but for a click on a link. Whatever changes something
    needs `token`, in the cookie or as a bearer; with `is_private` reading does as well.
    """

    app: ASGIApp
    hosts: frozenset[str]
    token: str
    cookie: str
    is_private: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        answer = _refused(scope["path"], *refusal) if refusal else self.app
        await answer(scope, receive, send_with_headers)

    def is_known(self, headers: Headers) -> bool:
        """Whether a request brings the token."""
        given = cookie_parser(headers.get("cookie", "")).get(self.cookie, "")
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        tokens = [given, bearer if scheme.lower() == "bearer" else ""]
        return any(hmac.compare_digest(token.encode(), self.token.encode()) for token in tokens)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and reason where a request is not answered."""
        headers = Headers(scope=scope)
        is_reading = scope["method"] in _READING
        if headers.get("host", "").lower() not in self.hosts:
            return 421, "No such host here: start the server with --name to give it this name."
        if not self._is_own(headers.get("origin")) or self._is_of_another_site(headers, is_reading):
            return 403, "Another site asked for this."
        needs_token = (self.is_private or not is_reading) and scope["path"] != "/open"
        if needs_token and not self.is_known(headers):
            return 401, "Open the address that the server printed: it has the token."
        length = "" if "transfer-encoding" in headers else headers.get("content-length", "0")
        if not is_reading and not _is_small(length):
            return 413, "The request is too large, or does not tell its length."
        return None

    def _is_own(self, origin: str | None) -> bool:
        try:
            return origin is None or urlsplit(origin).netloc.lower() in self.hosts
        except ValueError:  # such as http://[
            return False

    @staticmethod
    def _is_of_another_site(headers: Headers, is_reading: bool) -> bool:
        """As browsers tell; what somebody opens from a link is theirs to see."""
        if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return False
        is_opened = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
        return not (is_reading and is_opened == ("navigate", "document"))


def _refused(path: str, status: int, reason: str) -> ASGIApp:
    """The answer with the reason, to programs as JSON."""
    if path.startswith(API):
        return JSONResponse({"error": reason}, status)
    return PlainTextResponse(reason, status)


def _is_small(length: str) -> bool:
    return length.isascii() and length.isdigit() and len(length) < 9 and int(length) <= LARGEST_BODY
