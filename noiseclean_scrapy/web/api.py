"""The JSON of the workbench, and what it says of itself as OpenAPI."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from noiseclean_scrapy.errors import ConfigurationError, QueryError
from noiseclean_scrapy.output.rows import page_row
from noiseclean_scrapy.report.reasons import block_row
from noiseclean_scrapy.web.openapi import description
from noiseclean_scrapy.web.rules import Rule, pattern_of, site_key
from noiseclean_scrapy.web.views import (
    MOST_PAGES,
    is_number,
    parameter,
    search_filters,
    search_pages,
)
from noiseclean_scrapy.web.workbench import SORTS, Workbench, chosen_sites, site_values

_MOST = 1000


def answer(value: Any, status: int = 200) -> Response:
    """A JSON document; times in the form of ISO 8601."""
    body = json.dumps(value, ensure_ascii=False, default=datetime.isoformat)
    return Response(body.encode("utf-8", "replace"), status, media_type="application/json")


def openapi(request: Request) -> Response:
    """The description of this API."""
    return answer(description(request.app.state.cookie))


def sites(request: Request) -> Response:
    """The stored sites in numbers."""
    bench: Workbench = request.app.state.bench
    query = request.query_params
    sort = query.get("sort", "name")
    if sort not in SORTS:
        raise QueryError(f"sort={sort[:40]!r} is none of {', '.join(SORTS)}")
    found = chosen_sites(
        bench.sites.get(), query.get("q", ""), sort, query.get("order", "asc") == "desc"
    )
    start, limit = _range(request)
    return answer({"total": len(found), "sites": list(map(site_values, found[start:][:limit]))})


def search(request: Request) -> Response:
    """What a search finds, ten pages at a time."""
    given = search_filters(request)
    page = max(1, _number(request, "page", 1, MOST_PAGES))
    results = search_pages(request.app.state.bench, given, page)
    hits = [{**asdict(hit), "snippet": hit.marked("", "")} for hit in results.hits]
    return answer({"total": results.total, "hits": hits})


def pages(request: Request) -> Response:
    """The stored pages of a site, the newest first."""
    bench: Workbench = request.app.state.bench
    start, limit = _range(request)
    site = request.query_params.get("site") or None
    lines = bench.store.pages.lines(site, limit=limit, offset=start)
    return answer({"pages": [{**asdict(line), "noise": line.noise} for line in lines]})


def page(request: Request) -> Response:
    """A page: text, metadata; with its HTML stored Markdown, and blocks with their reasons.

    `block_count` is the number of all blocks, of which `offset` and `limit` choose.
    """
    stored = request.app.state.bench.page(request.path_params["key"])
    record, judged = stored.record, stored.judged
    row = page_row(record) if record.cleaned else {"key": record.key, "url": record.url}
    start, limit = _range(request, _MOST)
    if judged is not None:
        row["markdown"] = judged.markdown
        row["block_count"] = len(judged.blocks)
        row["blocks"] = [block_row(judged, block) for block in judged.blocks[start:][:limit]]
    elif record.cleaned:
        row["block_count"] = len(record.cleaned.blocks)
        row["blocks"] = [block.to_dict() for block in record.cleaned.blocks[start:][:limit]]
    return answer(row)


def places(request: Request) -> Response:
    """The boxes around a block, on how many pages each stands, and the rules they would make."""
    bench: Workbench = request.app.state.bench
    stored = bench.page(request.path_params["key"])
    number = _number(request, "block", -1, 10_000_000)
    if number < 0:
        raise QueryError("block must be the number of a block of the page")
    site = stored.record.cluster
    boxes = bench.levels(stored, number)
    judged, _ = stored.need_html()
    return answer(
        {
            "site": site,
            "text": " ".join(judged.blocks[number].text.split()),
            "table": site_key(site, stored.record.url),
            "pattern": pattern_of(stored.record.url),
            "of": bench.place_counts(site).result().of,
            "pages": bench.site(site).summary.with_text,
            "levels": list(map(asdict, boxes)),
        }
    )


def review(request: Request) -> Response:
    """The pages that are most worth a look."""
    queue = request.app.state.review
    is_ready = queue.begin()
    found = queue.get() if is_ready else []
    return answer({"is_ready": is_ready, "pages": list(map(asdict, found))})


def changes(request: Request) -> Response:
    """The rules that were taken, the newest first."""
    return answer({"changes": list(map(asdict, request.app.state.teaching.changes()))})


def crawls(request: Request) -> Response:
    """What running crawls say of themselves, as far as their addresses were given."""
    bench: Workbench = request.app.state.bench
    return answer({"crawls": [asdict(watch.state.get()) for watch in bench.crawls]})


def proposal(request: Request) -> Response:
    """What a rule would change, as far as it has been tried."""
    return answer(asdict(request.app.state.teaching.proposal(request.path_params["id"])))


async def propose(request: Request) -> Response:
    """Try a rule on all stored pages of the site of a page."""
    given = await _body(request, "page", "verdict", "selector")

    def begin() -> dict[str, Any]:
        bench: Workbench = request.app.state.bench
        record = bench.record(given["page"])
        key = site_key(record.cluster, record.url)
        rule = Rule(key, given["verdict"], given["selector"], given.get("pattern", ""))
        return asdict(request.app.state.teaching.propose(record.cluster, record.key, rule))

    return answer(await run_in_threadpool(begin), 201)


def take(request: Request) -> Response:
    """Write the rule of a proposal, and clean its site again."""
    teaching = request.app.state.teaching
    return answer(asdict(teaching.take(teaching.proposal(request.path_params["id"]))), 201)


def undo(request: Request) -> Response:
    """Take a rule out again, and clean its site once more."""
    return answer(asdict(request.app.state.teaching.undo(request.path_params["id"])))


def _range(request: Request, limit: int = 50) -> tuple[int, int]:
    start = _number(request, "offset", 0, 1_000_000_000)
    return start, _number(request, "limit", limit, _MOST)


def _number(request: Request, name: str, default: int, most: int) -> int:
    """As `parameter`; raises QueryError for what is given and no number."""
    text = request.query_params.get(name)
    if text and not is_number(text):
        raise QueryError(f"{name}={text[:40]!r} is no number from 0 on")
    return parameter(request, name, default, most)


async def _body(request: Request, *names: str) -> dict[str, str]:
    """The strings of a JSON object; raises ConfigurationError for anything else."""
    try:
        given = json.loads(await request.body())
    except (ClientDisconnect, ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or not all(isinstance(v, str) for v in given.values()):
        raise ConfigurationError("send a JSON object of strings")
    if missing := [name for name in names if not given.get(name)]:
        raise ConfigurationError(f"{missing[0]!r} is missing")
    return given
