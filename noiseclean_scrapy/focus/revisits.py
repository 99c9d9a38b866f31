"""Extension: hub pages are asked for again, the one first that promises most."""

from __future__ import annotations

from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, NotConfigured
from scrapy.utils.asyncio import create_looping_call

from noiseclean_scrapy.crawl.starting import config_of, count
from noiseclean_scrapy.focus.middleware import META_KEY, FocusComponent, FocusMiddleware
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.urls import site_name

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall
    from typing_extensions import Self

    from noiseclean_scrapy.focus.hubs import Hub

logger = get_logger(__name__)

_MOST_SECONDS_BETWEEN_LOOKS = 1.0
_LOST_AFTER_INTERVALS = 10
_MOST_MISSES = 3
_BEFORE_ALL_OTHERS = 1_000_000
"""The priority of a revisit; Redis keeps those below 2^21 apart by age."""
_OF_ITS_VISIT = (
    *("retry_times", "redirect_times", "redirect_ttl", "redirect_urls", "redirect_reasons"),
    "download_latency",
)
"""What middlewares have noted in the meta of a hub's first visit."""


class HubRevisits(FocusComponent):
    """Asks for hubs again, at most `NOISECLEAN_REVISITS` times in all.

    A site has one revisit under way at a time, and where other requests of it wait, at least one of
    them comes between two revisits. While revisits are left, an idle crawl stays open.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._under_way: dict[str, tuple[Hub, float]] = {}
        self._misses: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._just_revisited: set[str] = set()
        self._call: AsyncioLoopingCall | LoopingCall | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        config = config_of(crawler)
        if config.topic is None or not config.revisits:
            raise NotConfigured("there is no NOISECLEAN_TOPIC, or NOISECLEAN_REVISITS is 0")
        revisits = super().from_crawler(crawler)
        for handler, signal in (
            (revisits.spider_opened, signals.spider_opened),
            (revisits.spider_idle, signals.spider_idle),
            (revisits.spider_closed, signals.spider_closed),
            (revisits.request_scheduled, signals.request_scheduled),
            (revisits.leave, signals.request_dropped),
            (revisits.leave, signals.request_reached_downloader),
            (revisits.response_received, signals.response_received),
        ):
            crawler.signals.connect(handler, signal)
        return revisits

    def spider_opened(self) -> None:
        self._call = create_looping_call(self.look)
        seconds = min(_MOST_SECONDS_BETWEEN_LOOKS, self.config.revisit_seconds / 4)
        self._call.start(seconds, now=False)

    def spider_closed(self) -> None:
        if self._call and self._call.running:
            self._call.stop()

    def spider_idle(self) -> None:
        self._waiting.clear()  # other processes may have taken what was scheduled here
        middleware = self.middleware
        if middleware is None or not self._are_left(middleware):
            return
        if not all(middleware.is_spent(hub.address) for hub in middleware.focus.hubs):
            raise DontCloseSpider

    def request_scheduled(self, request: Request) -> None:
        self._waiting[site_name(request.url)] += 1

    def leave(self, request: Request) -> None:
        """Count a request that no longer waits."""
        site = site_name(request.url)
        self._waiting[site] -= 1
        if self._waiting[site] <= 0:
            del self._waiting[site]
        if not _is_revisit(request):
            self._just_revisited.discard(site)

    def response_received(self, request: Request) -> None:
        """End a revisit, whatever the answer was."""
        middleware, site = self.middleware, site_name(request.url)
        if middleware and _is_revisit(request) and site in self._under_way:
            self._end(site, middleware, monotonic())

    def look(self) -> None:
        """Ask for the hubs that are due."""
        try:
            middleware = self.middleware
            now = monotonic()
            while middleware and self._are_left(middleware):
                hub = middleware.focus.hubs.next(now, self._busy(middleware, now))
                if hub is None:
                    break
                self._ask_for(hub, middleware, now)
        except Exception as error:
            self.count_error("revisiting a hub", error)

    def _ask_for(self, hub: Hub, middleware: FocusMiddleware, now: float) -> None:
        gain = round(hub.gain(self.config.revisit_seconds, now), 4)
        first = hub.request.meta.get(META_KEY)
        inherited = first.get("inherited", 0.0) if isinstance(first, dict) else 0.0
        note = {
            "revisit": hub.visits,
            "gain": gain,
            "changes": round(hub.changes, 2),
            "inherited": inherited,
        }
        meta = {key: kept for key, kept in hub.request.meta.items() if key not in _OF_ITS_VISIT}
        request = hub.request.replace(
            dont_filter=True,
            priority=_BEFORE_ALL_OTHERS,
            # A cached copy would have no new links.
            meta={**meta, META_KEY: note, "dont_cache": True},
        )
        logger.debug("Revisit %d of %s: gain %.4f", hub.visits, hub.address, gain)
        self._under_way[hub.site] = hub, now
        self._just_revisited.add(hub.site)
        middleware.focus.revisits += 1
        count(self.crawler, "focus/revisits")
        assert self.crawler.engine
        self.crawler.engine.crawl(request)

    def _busy(self, middleware: FocusMiddleware, now: float) -> set[str]:
        """The sites that are not to be revisited now."""
        hubs = middleware.focus.hubs
        for site, (hub, asked) in list(self._under_way.items()):
            # The answer may have been lost on its way.
            is_lost = now > asked + _LOST_AFTER_INTERVALS * self.config.revisit_seconds
            if hub.visited >= asked or is_lost:
                self._end(site, middleware, now)
        others_first = {site for site in self._just_revisited if self._waiting[site] > 0}
        spent = {hub.site for hub in hubs if middleware.is_spent(hub.address)}
        return {*self._under_way, *others_first, *spent}

    def _end(self, site: str, middleware: FocusMiddleware, now: float) -> None:
        """See what has become of a site's revisit: a hub that is gone is forgotten at last."""
        hub, asked = self._under_way.pop(site)
        if hub.visited >= asked:
            self._misses.pop(hub.address, None)
            return
        hub.miss(now)
        self._misses[hub.address] += 1
        if self._misses[hub.address] >= _MOST_MISSES:
            del self._misses[hub.address]
            middleware.focus.hubs.known.pop(hub.address, None)

    def _are_left(self, middleware: FocusMiddleware) -> bool:
        return middleware.focus.revisits < self.config.revisits


def _is_revisit(request: Request) -> bool:
    note = request.meta.get(META_KEY)
    return isinstance(note, dict) and "revisit" in note
