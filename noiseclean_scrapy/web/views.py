"""The views: what a browser shows, written by the server."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from noiseclean_scrapy.errors import ConfigurationError, QueryError
from noiseclean_scrapy.output.rows import COLUMNS, page_row
from noiseclean_scrapy.report.page_view import page_view
from noiseclean_scrapy.report.templating import render
from noiseclean_scrapy.store import Hit, SearchResults
from noiseclean_scrapy.store.search.ranking import MATCH_END, MATCH_START
from noiseclean_scrapy.web.guard import FRAME_POLICY
from noiseclean_scrapy.web.rules import read_source
from noiseclean_scrapy.web.workbench import (
    FITS,
    HITS_ON_PAGE,
    PAGES_ON_PAGE,
    SITES_ON_PAGE,
    SORTS,
    Workbench,
    chosen_sites,
    shown_totals,
    shown_values,
)

MOST_PAGES = 10_000
_DRIFT_WIDTH, _DRIFT_HEIGHT = 120.0, 28.0
_ORDERS = {"newest": "newest first", "fit": "least fit first", "kept": "least kept first"}


def document(request: Request, view: str, *, status: int = 200, **values: Any) -> Response:
    """A view of the workbench, with what all of them show."""
    bench: Workbench = request.app.state.bench
    body = render(
        f"{view}.html.jinja",
        package=__package__,
        view=view,
        can_teach=bench.can_teach,
        has_crawls=bool(bench.crawls),
        page_number=page_number(request),
        address=lambda **changed: _address(request, changed),
        **values,
    )
    return HTMLResponse(body, status)


def sites(request: Request) -> Response:
    """The table of sites."""
    bench: Workbench = request.app.state.bench
    sort = request.query_params.get("sort", "pages")
    sort = sort if sort in SORTS else "pages"
    order = request.query_params.get("order", "asc" if sort == "name" else "desc")
    words = request.query_params.get("q", "")
    rows = bench.sites.get()
    found = chosen_sites(rows, words, sort, order == "desc")
    start = SITES_ON_PAGE * (page_number(request) - 1)
    shown = found[start : start + SITES_ON_PAGE]
    fits = bench.store.clusters.fits([row.summary.name for row in shown], FITS)
    return document(
        request,
        "sites",
        rows=[
            (row.summary, shown_values(row), _drift_line(fit))
            for row, fit in zip(shown, fits, strict=True)
        ],
        totals=shown_totals(rows),
        found=len(found),
        sort=sort,
        order=order,
        words=words,
        has_more=start + SITES_ON_PAGE < len(found),
    )


def site(request: Request) -> Response:
    """One site: figures, and its pages."""
    bench: Workbench = request.app.state.bench
    name = request.path_params["site"]
    row = bench.site(name)
    order = request.query_params.get("order", "newest")
    order = order if order in _ORDERS else "newest"
    start = PAGES_ON_PAGE * (page_number(request) - 1)
    lines = bench.store.pages.lines(name, order=order, limit=PAGES_ON_PAGE + 1, offset=start)
    (fits,) = bench.store.clusters.fits([name], FITS)
    return document(
        request,
        "site",
        row=row,
        shown=shown_values(row),
        drift=_drift_line(fits),
        lines=lines[:PAGES_ON_PAGE],
        has_more=len(lines) > PAGES_ON_PAGE,
        order=order,
        orders=_ORDERS,
        versions=bench.store.clusters.tree_versions(name)[::-1][:20],
    )


def search(request: Request) -> Response:
    """The search: its field and filters, and what was found."""
    bench: Workbench = request.app.state.bench
    given = search_filters(request)
    results, problem = None, ""
    if given["q"].strip():
        try:
            results = search_pages(bench, given, page_number(request))
        except QueryError as error:
            problem = str(error)
    elif "q" in request.query_params:
        problem = "Give a word to search for."
    return document(
        request,
        "search",
        given=given,
        problem=problem,
        total=results.total if results else 0,
        hits=[(hit, _marked(hit)) for hit in results.hits] if results else [],
        is_asked=results is not None,
        first=HITS_ON_PAGE * (page_number(request) - 1) + 1,
        has_more=results is not None and results.total > HITS_ON_PAGE * page_number(request),
        names=[row.summary.name for row in bench.sites.get()[:500]],
    )


def search_filters(request: Request) -> dict[str, str]:
    """The words and the filters of a search, empty where they are not given."""
    names = ("q", "site", "language", "since", "until")
    return {name: request.query_params.get(name, "") for name in names}


def search_pages(bench: Workbench, given: Mapping[str, str], page: int) -> SearchResults:
    """What a search finds; raises QueryError for a day that is none."""
    return bench.store.search(
        given["q"],
        site=given["site"] or None,
        language=given["language"] or None,
        since=_day(given["since"]),
        until=_day(given["until"], last=True),
        limit=HITS_ON_PAGE,
        offset=HITS_ON_PAGE * (page - 1),
    )


def page(request: Request) -> Response:
    """One page: as it looked, its clean text beside it, and why."""
    bench: Workbench = request.app.state.bench
    stored = bench.page(request.path_params["key"])
    view = None
    if stored.judged is not None and stored.html is not None:
        view = page_view(stored.judged, stored.html, with_document=False)
        bench.place_counts(stored.record.cluster)
    facts = page_row(stored.record) if stored.record.cleaned else dict.fromkeys(COLUMNS, "")
    return document(
        request,
        "page",
        record=stored.record,
        page_view=view,
        facts=facts,
    )


def frame(request: Request) -> Response:
    """The page as it looked, for the frame of its view: nothing in it runs or loads."""
    bench: Workbench = request.app.state.bench
    body = bench.document(bench.page(request.path_params["key"]))
    return HTMLResponse(body, headers={"content-security-policy": FRAME_POLICY})


def review(request: Request) -> Response:
    """The pages that are most worth a look."""
    state = request.app.state
    is_ready = state.review.begin()
    return document(
        request, "review", queue=state.review.get() if is_ready else [], is_ready=is_ready
    )


def crawl(request: Request) -> Response:
    """What running crawls say of themselves."""
    bench: Workbench = request.app.state.bench
    states = [watch.state.get() for watch in bench.crawls]
    return document(request, "crawl", crawls=[(state, _bars(state.histogram)) for state in states])


def rules(request: Request) -> Response:
    """The rules that were taken, how far their sites are, and the file."""
    bench: Workbench = request.app.state.bench
    path = bench.rules_file
    return document(
        request,
        "rules",
        changes=request.app.state.teaching.changes(),
        path=path,
        source=read_source(path)[:100_000] if path else "",
    )


def proposal(request: Request) -> Response:
    """What a rule would change; of one that was taken, how far it is."""
    teaching, identity = request.app.state.teaching, request.path_params["id"]
    if teaching.was_taken(identity):
        return RedirectResponse("/rules", 303)
    return document(request, "proposal", proposal=teaching.proposal(identity))


def open_with_token(request: Request) -> Response:
    """Puts the token of the printed address into a cookie that no other site can send."""
    token = request.query_params.get("token", "")
    if not hmac.compare_digest(token.encode(), request.app.state.bench.token.encode()):
        raise ConfigurationError(
            "this is not the address that the server printed last: copy it from its terminal"
        )
    response = RedirectResponse("/", 303)
    # Until the browser ends: the next server has another token.
    response.set_cookie(request.app.state.cookie, token, httponly=True, samesite="strict")
    return response


def parameter(request: Request, name: str, default: int, most: int) -> int:
    """A number up to `most` in the query; the default where there is none, or no number."""
    text = request.query_params.get(name, "")
    return min(int(text.lstrip("0")[:10] or "0"), most) if is_number(text) else default


def is_number(text: str) -> bool:
    """Whether a text is a whole number from 0 on, in ASCII digits."""
    return text.isascii() and text.isdigit()


def page_number(request: Request) -> int:
    """Which page of a view is asked for, from 1 on."""
    return max(1, parameter(request, "page", 1, MOST_PAGES))


def _address(request: Request, changed: Mapping[str, Any]) -> str:
    """The address of this view with other parameters; all but the page number stay."""
    url = request.url.remove_query_params("page")
    url = url.include_query_params(**{k: v for k, v in changed.items() if v is not None})
    return f"{url.path}?{url.query}" if url.query else url.path


def _day(text: str, *, last: bool = False) -> datetime | None:
    """The first or the last moment of a day, in UTC."""
    if not text:
        return None
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=timezone.utc)
        return day + timedelta(days=1, microseconds=-1) if last else day
    except (ValueError, OverflowError):
        raise QueryError(f"{text[:40]!r} is no day: write it as 2031-03-01") from None


def _marked(hit: Hit) -> Markup:
    """The snippet as HTML, with its matches marked."""
    text = str(escape(hit.snippet))
    return Markup(text.replace(MATCH_START, "<mark>").replace(MATCH_END, "</mark>"))


def _bars(counts: Sequence[int]) -> str:
    """A histogram as points of a line, for the small picture."""
    step = _DRIFT_WIDTH / max(len(counts), 1)
    most = max(counts, default=0) or 1
    return " ".join(
        f"{(n + side) * step:.1f},{_DRIFT_HEIGHT * (1 - count / most):.1f}"
        for n, count in enumerate(counts)
        for side in (0, 1)
    )


def _drift_line(fits: list[tuple[datetime, float]]) -> str:
    """The small picture of a site's drift: points of a line, new text at the top."""
    fits = fits * 2 if len(fits) == 1 else fits  # a line
    step = _DRIFT_WIDTH / max(len(fits) - 1, 1)
    return " ".join(
        f"{number * step:.1f},{2 + (_DRIFT_HEIGHT - 4) * fit:.1f}"
        for number, (_, fit) in enumerate(fits)
    )
