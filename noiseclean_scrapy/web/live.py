"""Live updates: server-sent events with what has changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from noiseclean_scrapy.web.workbench import SiteRow, shown_totals, shown_values

LISTENERS = 32
"""Most windows that are told at a time."""
SECONDS = 1.0
_MOST = 200  # at a time; the others come a second later
_SILENCE = 15


async def events(request: Request) -> Response:
    """A stream of what changes: sites, the totals, proposals and changes."""
    state = request.app.state
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    if state.listeners >= LISTENERS:
        return PlainTextResponse("Too many windows are open.", 503)
    return StreamingResponse(
        _stream(request), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
    )


async def _stream(request: Request) -> AsyncIterator[str]:
    state = request.app.state
    state.listeners += 1
    told: dict[str, Any] = {}
    quiet = 0
    try:
        while not state.is_closing:
            now = await run_in_threadpool(_now, request)
            news = [name for name, value in now.items() if told.get(name) != value][:_MOST]
            for name in news:
                told[name] = value = now[name]
                if isinstance(value, SiteRow):
                    value = {"name": value.summary.name, **shown_values(value)}
                yield f"event: {name.partition(' ')[0]}\ndata: {json.dumps(value)}\n\n"
            quiet = 0 if news else quiet + 1
            if quiet >= _SILENCE:
                quiet = 0
                yield ": still here\n\n"
            await asyncio.sleep(SECONDS)
    finally:
        state.listeners -= 1


def _now(request: Request) -> dict[str, Any]:
    """All that a window can be told of, by its kind and name; sites as their rows."""
    state = request.app.state
    rows = state.bench.sites.get()
    found: dict[str, Any] = {
        "totals": shown_totals(rows),
        "review": {"is_ready": state.review.begin()},
    }
    for number, watch in enumerate(state.bench.crawls):
        if watch.state.begin():
            found[f"crawl {number}"] = {"id": str(number), **watch.state.get().told()}
    for change in state.teaching.changes():
        found[f"change {change.id}"] = {
            "id": change.id, "state": change.state, "pages": change.pages, "of": change.of
        }  # fmt: skip
    for proposal in state.teaching.proposals():
        found[f"proposal {proposal.id}"] = {
            "id": proposal.id, "looked_at": proposal.looked_at, "pages": proposal.pages,
            "is_done": proposal.is_done,
        }  # fmt: skip
    # Last, for there may be thousands of them.
    return found | {f"site {row.summary.name}": row for row in rows}
