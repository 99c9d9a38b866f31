"""The workbench as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from noiseclean_scrapy.errors import ConfigurationError, NoiseCleanError, NotStoredError, QueryError
from noiseclean_scrapy.report.templating import compile_templates, source
from noiseclean_scrapy.web import api, live, views
from noiseclean_scrapy.web.guard import API, Guard
from noiseclean_scrapy.web.refreshing import Refreshing
from noiseclean_scrapy.web.review import review_queue
from noiseclean_scrapy.web.teaching import Teaching
from noiseclean_scrapy.web.workbench import Workbench

STATIC = {
    "inspector.css": "text/css",
    "workbench.css": "text/css",
    "inspector.js": "text/javascript",
    "workbench.js": "text/javascript",
}
"""All files that are served, read once: no path of a request reaches the disk."""

_STATUS = {NotStoredError: 404, QueryError: 400, ConfigurationError: 400}
_REASONS = {404: "There is nothing at this address."}
_REVIEW_SECONDS = 30.0


def create_app(
    bench: Workbench, *, hosts: Iterable[str], cookie: str = "noiseclean", is_private: bool = False
) -> Starlette:
    """The application; `hosts` are the values of the header Host that it answers to."""
    guard = Middleware(
        Guard, hosts=frozenset(hosts), token=bench.token, cookie=cookie, is_private=is_private
    )

    teaching = Teaching(bench)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await run_in_threadpool(compile_templates, __package__)
        teaching.start()
        await run_in_threadpool(bench.sites.get)
        app.state.review.begin()
        yield
        app.state.is_closing = True
        await run_in_threadpool(teaching.close)
        await run_in_threadpool(bench.close)

    app = Starlette(
        routes=_routes(),
        middleware=[guard],
        exception_handlers={NoiseCleanError: _failure, HTTPException: _failure},
        lifespan=lifespan,
    )
    app.state.bench = bench
    app.state.teaching = teaching
    app.state.cookie = cookie
    app.state.review = Refreshing(partial(review_queue, bench.store), _REVIEW_SECONDS)
    app.state.listeners = 0
    app.state.is_closing = False
    app.state.static = {name: source(name, package=__package__).encode() for name in STATIC}
    return app


def _routes() -> list[Route]:
    def changes(path: str, endpoint: Callable[..., object]) -> Route:
        return Route(path, endpoint, methods=["POST"])

    return [
        Route("/", views.sites),
        Route("/sites/{site:path}", views.site),
        Route("/search", views.search),
        Route("/pages/{key}", views.page),
        Route("/frames/{key}", views.frame),
        Route("/review", views.review),
        Route("/rules", views.rules),
        Route("/crawl", views.crawl),
        Route("/proposals/{id}", views.proposal),
        Route("/open", views.open_with_token),
        Route("/static/{name}", static),
        Route("/events", live.events),
        Route("/api/openapi.json", api.openapi),
        Route("/api/sites", api.sites),
        Route("/api/search", api.search),
        Route("/api/pages", api.pages),
        Route("/api/pages/{key}", api.page),
        Route("/api/pages/{key}/places", api.places),
        Route("/api/review", api.review),
        Route("/api/changes", api.changes),
        Route("/api/crawls", api.crawls),
        changes("/api/changes/{id}/undo", api.undo),
        changes("/api/proposals", api.propose),
        Route("/api/proposals/{id}", api.proposal),
        changes("/api/proposals/{id}/take", api.take),
    ]


def static(request: Request) -> Response:
    """A style sheet or script."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(request.app.state.static[name], media_type=STATIC[name])


async def _failure(request: Request, error: Exception) -> Response:
    """What went wrong, as JSON or as a view."""
    headers = None
    if isinstance(error, HTTPException):
        status, headers = error.status_code, error.headers
        reason = _REASONS.get(status, error.detail)
    else:
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 503)
        reason = str(error)
    if request.url.path.startswith(API):
        response = api.answer({"error": reason}, status)
    else:
        response = views.document(request, "failure", status=status, reason=reason)
    response.headers.update(headers or {})
    return response
