"""The pages that a crawl has seen, and which of them an item is about."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakKeyDictionary

from scrapy.http import HtmlResponse

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.clusters.cleaning import stored_page
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.starting import EVER
from noiseclean_scrapy.crawl.write_queue import WriteQueue
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.methods import Model
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.urls import asked_address, spellings
from noiseclean_scrapy.store import PageRecord

if TYPE_CHECKING:
    from lxml.etree import _Element
    from scrapy import Request
    from scrapy.http import Response

logger = get_logger(__name__)

FETCHED_AT = "noiseclean_fetched_at"
"""In the meta of a request whose response is older than the crawl: when it was fetched."""
_RECENT_PAGES = 16
_REDIRECTS = 10_000
T = TypeVar("T")


@dataclass(slots=True)
class Visit:
    """One page of the crawl: its record, what the store knew of it, and its cleaning.

    `facts` are what `page_facts` took from the page; None where another process is to read it.
    `cleaned` is what `model`, the tree of `version`, gave; `kept` is the cleaning that has gone to
    the store because of an item.
    """

    record: PageRecord
    page: Page
    stored: PageRecord | None
    facts: _Element | None = None
    metadata: Metadata | None = None
    cleaned: CleanPage | None = None
    model: Model | None = None
    version: int = -1
    kept: CleanPage | None = None

    @property
    def is_final(self) -> bool:
        """Whether the store has this page, in this cluster, cleaned by a tree that covers it."""
        stored = self.stored
        return (
            stored is not None
            and stored.cleaned is not None
            and stored.learned_version is not None
            and stored.cleaned.clean_version >= stored.learned_version
            and stored.body_hash == self.record.body_hash
            and stored.cluster == self.record.cluster
        )


def is_success(response: Response) -> bool:
    """Whether a response is the one that was asked for."""
    return 200 <= response.status < 300


def time_of_fetch(response: Response, request: Request | None) -> datetime:
    """When a response was fetched: of one of Scrapy's cache its server tells (Date), else now."""
    now = datetime.now(timezone.utc)
    told = request.meta.get(FETCHED_AT) if request is not None else None
    if told is not None:
        with suppress(ArithmeticError, ValueError):
            if isinstance(told, datetime) and told.utcoffset() is not None:
                return told.astimezone(timezone.utc)
        _tell_no_time()
    if "cached" in response.flags:
        date = (response.headers.get("Date") or b"").decode("latin-1")
        with suppress(TypeError, ValueError, OverflowError):
            return min(parsedate_to_datetime(date).astimezone(timezone.utc), now)
    return now


@lru_cache(maxsize=1)
def _tell_no_time() -> None:
    """Once in a process, not at each page."""
    logger.error("%s in a request's meta is no time with a time zone: now is taken", FETCHED_AT)


class ByResponse(Generic[T]):
    """Values of responses, and of their requests: a middleware may replace the response.

    They go with their responses and requests.
    """

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[Response | Request, T] = WeakKeyDictionary()

    def __contains__(self, response: Response) -> bool:
        return response in self._values

    def note(self, value: T, response: Response, request: Request | None) -> None:
        """Remember the value of a response."""
        self._values[response] = value
        if request is not None:
            self._values[request] = value

    def of(self, response: Response) -> T | None:
        """The value of a response, also of one that a middleware has put in its place."""
        value = self._values.get(response)
        if value is None and response.request is not None:
            value = self._values.get(response.request)
        return value


class Visits:
    """Finds the visit of a response, and that of an address.

    Visits go with their responses and requests; the last ones stay. Of all others the addresses are
    known, and the store has their pages. `others_since` is when the crawl began, where an earlier
    or another process of it may have seen what this one has not.
    """

    def __init__(
        self, config: Config, pages: WriteQueue, *, others_since: datetime | None = None
    ) -> None:
        self.config = config
        self.others_since = others_since
        self._pages = pages
        self._visits: ByResponse[Visit] = ByResponse()
        self._recent: OrderedDict[str, Visit] = OrderedDict()
        self._addresses: set[int] = set()  # hashes of those that were seen
        self._moved: OrderedDict[str, str] = OrderedDict()  # where redirects led

    def __contains__(self, response: Response) -> bool:
        return response in self._visits

    @property
    def addresses(self) -> int:
        """Number of the different addresses that were seen."""
        return len(self._addresses)

    def note(self, visit: Visit, response: Response, request: Request | None) -> None:
        """Remember the visit of a response."""
        self._visits.note(visit, response, request)
        self._addresses.add(hash(visit.record.url))
        self._moved.pop(visit.record.url, None)
        for url in _asked_by(visit, request) - {visit.record.url}:
            _remember(self._moved, url, visit.record.url, most=_REDIRECTS)
        _remember(self._recent, visit.record.url, visit, most=_RECENT_PAGES)

    def of(self, response: Response | None) -> Visit | None:
        """The page of a response, also of one that a middleware has put in its place."""
        if response is None:
            return None
        visit = self._visits.of(response)
        if visit is None and isinstance(response, HtmlResponse) and is_success(response):
            visit = self._recent.get(response.url)
        return visit

    def is_superseded(self, visit: Visit) -> bool:
        """Whether the page has been kept as it was at a later visit, as far as that is known."""
        last = self._recent.get(visit.record.url)
        if last is None or last is visit or last.record.key != visit.record.key:
            return False
        return last.kept is not None

    async def find(self, response: Response | None, url: str) -> Visit | None:
        """The page of `response`, unless `url` is that of another page that this crawl has seen.

        None where that page cannot be had.
        """
        own = self.of(response)
        if not url or (own is not None and url == own.record.url):
            return own
        request = response.request if response is not None else None
        given = spellings(url)
        if own is not None and not _asked_by(own, request).isdisjoint(given):
            return own
        addresses = [*given, *filter(None, map(self._moved.get, given))]
        seen = [address for address in addresses if hash(address) in self._addresses]
        since = EVER if seen else self.others_since
        if since is None:
            return own
        for address in seen or addresses:
            visit = self._recent.get(address) or await self._stored(address)
            if visit is not None and visit.record.fetched_at >= since:
                return visit
        return None if seen else own

    async def _stored(self, url: str) -> Visit | None:
        """The page last fetched from an address, as far as it can be had with its HTML."""
        if self.config.read_only:
            return None
        try:
            record = await self._pages.find_url(url)
        except StoreError as error:
            self._pages.count_refusal(error)
            return None
        if record is None or record.html is None:
            return None
        visit = Visit(record, stored_page(record, self.config), record)
        _remember(self._recent, record.url, visit, most=_RECENT_PAGES)
        return visit


def _remember(known: OrderedDict[str, T], key: str, value: T, *, most: int) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > most:
        known.popitem(last=False)


def _asked_by(visit: Visit, request: Request | None) -> set[str]:
    """All that a page has been asked for by."""
    asked = [request.url, *request.meta.get("redirect_urls", ())] if request is not None else ()
    own = visit.record.url
    return {own, *(asked_address(url) for url in asked if url != own)}
