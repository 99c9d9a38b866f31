"""Visiting whole sites: what their sitemaps and feeds list, and what their pages link to."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urljoin

from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import IGNORED_EXTENSIONS
from scrapy.utils.url import url_has_any_extension
from w3lib.url import safe_url_string

from noiseclean_scrapy.batch.addresses import is_public, is_web_address, joined, web_host
from noiseclean_scrapy.batch.fetching import reason_of
from noiseclean_scrapy.batch.listings import LARGEST, Listing, read_listing
from noiseclean_scrapy.crawl.bounded import base_of, read_part, selector_of
from noiseclean_scrapy.crawl.robots import LARGEST_ROBOTS
from noiseclean_scrapy.focus.potential import PRIORITY_SCALE
from noiseclean_scrapy.items import PageItem
from noiseclean_scrapy.page import DEFAULT_BUDGET
from noiseclean_scrapy.page.urls import (
    LONGEST_ADDRESS,
    has_overlong_host,
    is_below,
    registrable_domain,
)

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure
    from typing_extensions import Self

ENOUGH = "enough_pages"
"""Why a crawl ends that has as many pages as it was to have."""
_GIVEN = "given"
"""The key of `Request.meta` that tells of an address that it was given."""
_SITE = "site"
"""The key of that which tells of any address which of those that were given has led there."""
_MOST_LISTINGS = 100
"""Sitemaps and feeds that are asked for because of one given address."""
_MOST_ADDRESSES = 50 * _MOST_LISTINGS
"""Of listings that one page names; some are looked at and not asked for."""
_MOST_LISTED = 10_000
"""Addresses taken from those, unless twice as many pages are wanted as that."""
_MOST_LINKS = 2_000
_MOST_HREFS = 10 * _MOST_LINKS
_REDIRECTS = (301, 302, 303, 307, 308)
_FEEDS = frozenset({"application/rss+xml", "application/atom+xml"})
_FILES = frozenset(f".{ending}" for ending in IGNORED_EXTENSIONS)


class SiteSpider(Spider):
    """One `PageItem` a page of the sites at `start_urls`; the add-on fills in text and title.

    Spider argument `start_urls`: web addresses, a list or separated by commas; pages, sitemaps or
    feeds. Beside them the sitemaps that robots.txt names (and `/sitemap.xml`) and the feeds that
    the first pages name are read, then links are followed within the hosts of `start_urls` and
    their sub-domains, breadth first. Spider argument `pages` bounds the number of items (0: none).
    """

    name = "site"
    custom_settings: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        # Breadth first: what the front page links to comes before old archives.
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    }

    def __init__(
        self, start_urls: str | Iterable[str] = "", pages: int | str = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.pages = int(pages)
        self._items = 0
        given = start_urls.split(",") if isinstance(start_urls, str) else start_urls
        self.start_urls = [url.strip() for url in given if url.strip()]
        self.allowed_domains = list(map(_domain, self.start_urls))
        self._listings: Counter[str] = Counter()
        self._listed: Counter[str] = Counter()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.follow_redirect, signals.request_scheduled)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        for url in self.start_urls:
            if not is_web_address(url):
                self.logger.error(
                    "start_urls must be web addresses such as https://example.com/news, not %r", url
                )
                raise CloseSpider("bad_start_url")
        for url in self.start_urls:
            # Where it leads is looked at by `follow_redirect`.
            meta = {_GIVEN: True, _SITE: url, "allow_offsite": True}
            yield Request(url, errback=self.give_up, meta=meta)

    def follow_redirect(self, request: Request) -> None:
        """Let a given address lead anywhere, but not from the public net into a private one."""
        left = request.meta.get("redirect_urls")
        if not left or _GIVEN not in request.meta:
            return
        if request.url in left:  # some sites only want to set a cookie; Scrapy bounds how often
            request.dont_filter = True
        elif is_public(web_host(left[0])) and not self._may_be_asked(request.url):
            message = "Nothing from %s: it redirects to %s, which is in a private net"
            self.logger.error(message, left[0], request.url)
            raise IgnoreRequest

    def parse(self, response: Response) -> Iterator[Any]:
        site = _site_of(response)
        if _GIVEN in response.meta and not self._is_own(web_host(response.url)):
            self.allowed_domains.append(_domain(response.url))
        if not isinstance(response, HtmlResponse):
            yield from self._usual_listings(response)
            listing = read_listing(response)
            if _GIVEN in response.meta and not (listing.sitemaps or listing.pages):
                message = "Nothing from %s: it is no HTML page, no sitemap and no feed"
                self.logger.error(message, response.url)
            yield from self._listed_requests(listing, site)
            return
        # What is under way when the crawl ends comes here as well.
        if self.pages and self._items == self.pages:
            return
        self._items += 1
        yield PageItem(url=response.url)
        if self._items == self.pages:
            raise CloseSpider(ENOUGH)
        yield from self._usual_listings(response)
        page = read_part(response, DEFAULT_BUDGET)
        if not response.meta.get("depth"):
            yield from self._listing_requests(_feeds(page), site)
        for url in islice(_links(page), _MOST_LINKS):
            yield self._page_request(url, site)

    def parse_robots(self, response: Response) -> Iterator[Request]:
        """Go to the sitemaps that robots.txt names."""
        if response.status in _REDIRECTS:
            yield from self._redirected(response, self.parse_robots)
            return
        lines = response.body[:LARGEST_ROBOTS].decode("utf-8", "replace").splitlines()
        named = (line.partition(":") for line in lines)
        sitemaps = (
            joined(response.url, url.strip())
            for name, _, url in named
            if name.strip().lower() == "sitemap"
        )
        yield from self._listing_requests(sitemaps, _site_of(response))

    def parse_listing(self, response: Response) -> Iterator[Request]:
        """Go to what a sitemap or a feed lists."""
        if response.status in _REDIRECTS:
            yield from self._redirected(response, self.parse_listing)
        else:
            yield from self._listed_requests(read_listing(response), _site_of(response))

    def _redirected(self, response: Response, callback: Any) -> Iterator[Request]:
        location = (response.headers.get("Location") or b"").decode("utf-8", "replace")
        url = joined(response.url, location.strip())
        yield from self._listing_requests([url], _site_of(response), callback)

    def _listed_requests(self, listing: Listing, site: str) -> Iterator[Request]:
        yield from self._listing_requests(listing.sitemaps, site)
        most = max(2 * self.pages, _MOST_LISTED)
        for url in listing.pages:
            # Other callbacks go on between two requests of this one.
            if not self._count(self._listed, site, most, "addresses of sitemaps and feeds"):
                return
            yield self._page_request(url, site)

    def _usual_listings(self, answered: Response | Request) -> Iterator[Request]:
        """Where a site that was given, and answers, mostly has its listings."""
        if _GIVEN in answered.meta:
            for path, callback in (
                ("/robots.txt", self.parse_robots),
                ("/sitemap.xml", self.parse_listing),
            ):
                url = urljoin(answered.url, path)
                yield self._listing_request(url, callback, _site_of(answered))

    def _listing_requests(
        self, urls: Iterable[str], site: str, callback: Any = None
    ) -> Iterator[Request]:
        for url in filter(self._may_be_asked, islice(urls, _MOST_ADDRESSES)):
            if not self._count(self._listings, site, _MOST_LISTINGS, "sitemaps and feeds"):
                return
            yield self._listing_request(url, callback or self.parse_listing, site)

    def _count(self, counts: Counter[str], site: str, most: int, what: str) -> bool:
        """Count one more of a given address; False, and a line in the log, where it is too many."""
        counts[site] += 1
        if counts[site] == most + 1:
            self.logger.info("No more than %d %s are asked for because of %s", most, what, site)
        return counts[site] <= most

    def _may_be_asked(self, url: str) -> bool:
        """Whether a page may send us there: not into a private net that the crawl is not in."""
        if not is_web_address(url):
            return False
        name = web_host(safe_url_string(url))  # as Scrapy asks for it
        return self._is_own(name) or is_public(name)

    def _is_own(self, name: str) -> bool:
        return any(is_below(name, domain) for domain in self.allowed_domains)

    def _page_request(self, url: str, site: str) -> Request:
        return Request(url, errback=self.pass_over, meta={_SITE: site})

    def _listing_request(self, url: str, callback: Any, site: str) -> Request:
        # Sitemaps and feeds often lie with another host; their pages may not. Where a redirect
        # leads is looked at like any other address.
        meta = {
            _SITE: site,
            "allow_offsite": True,
            "dont_redirect": True,
            "handle_httpstatus_list": _REDIRECTS,
            "download_maxsize": LARGEST,
            "noiseclean": False,
        }
        # Before all pages, those that are on a topic as well.
        return Request(url, callback, errback=self.pass_over, priority=PRIORITY_SCALE, meta=meta)

    def give_up(self, failure: Failure) -> Iterator[Request]:
        """Say in one line why a given address gave nothing; the site may answer elsewhere."""
        self._tell(logging.ERROR, failure)
        if isinstance(failure.value, IgnoreRequest):
            yield from self._usual_listings(failure.request)  # type: ignore[attr-defined]

    def pass_over(self, failure: Failure) -> None:
        """Say it of what the site only names, or need not have."""
        self._tell(logging.INFO, failure)

    def _tell(self, level: int, failure: Failure) -> None:
        url = failure.request.url  # type: ignore[attr-defined]
        self.logger.log(level, "Nothing from %s: %s", url, reason_of(failure))


def _site_of(answered: Response | Request) -> str:
    request = answered if isinstance(answered, Request) else answered.request
    site: str = request.meta.get(_SITE, "") if request is not None else ""
    return site


def _domain(url: str) -> str:
    name = web_host(url)
    rest = name.removeprefix("www.")
    return rest if registrable_domain(rest) else name


def _feeds(page: HtmlResponse) -> Iterator[str]:
    """The feeds that the head of a page names."""
    base = base_of(page)
    for link in selector_of(page).root.iter("link"):
        if "alternate" in link.get("rel", "").split() and link.get("type") in _FEEDS:
            yield joined(base, link.get("href", ""))


def _links(page: HtmlResponse) -> Iterator[str]:
    """The web addresses that a page links to, each once, without those of pictures and the like."""
    base = base_of(page)
    hrefs = (link.get("href", "") for link in selector_of(page).root.iter("a", "area"))
    short = (href.partition("#")[0].strip() for href in hrefs if len(href) <= LONGEST_ADDRESS)
    different = dict.fromkeys(islice(short, _MOST_HREFS))
    seen: set[str] = set()
    for url in (_address(base, href, page.encoding) for href in filter(None, different)):
        if url and url not in seen and not url_has_any_extension(url, _FILES):
            seen.add(url)
            yield url


def _address(base: str, href: str, encoding: str) -> str:
    if has_overlong_host(href):
        return ""
    try:
        return joined(base, safe_url_string(href, encoding=encoding))
    except ValueError:
        return ""
