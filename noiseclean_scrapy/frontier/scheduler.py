"""The Scrapy scheduler whose requests are in Redis, leased until they are done."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from heapq import heappop, heappush
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.asyncio import create_looping_call, run_in_thread, sleep
from scrapy.utils.defer import deferred_from_coro

from noiseclean_scrapy.crawl.pipeline import CleanPipeline
from noiseclean_scrapy.crawl.starting import config_of, count, exit_with_error, is_trial
from noiseclean_scrapy.frontier.held import HeldSite, HeldSites
from noiseclean_scrapy.frontier.packed_requests import pack_request, unpack_request
from noiseclean_scrapy.frontier.part import Counts, Exchange, Part, Push, is_refusal
from noiseclean_scrapy.page.characters import counted
from noiseclean_scrapy.page.hashes import hash64, page_key
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.urls import site_name
from noiseclean_scrapy.service_urls import shown_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import RedisError
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.defer import Deferred
    from twisted.internet.task import LoopingCall
    from typing_extensions import Self

logger = get_logger(__name__)

_LOOK_SECONDS = 0.25
_MOMENT_SECONDS = 0.02
_REQUESTS_TO_SEND = 100_000
_REQUESTS_REMEMBERED = 100_000
_LONGEST = 2.0  # times its delay, by Scrapy's jitter


class FrontierScheduler(BaseScheduler):
    """Shares the requests of a crawl with other processes, see `docs/scale.md`.

    Redis is asked in a thread, four times a second; meanwhile requests wait here. A request is
    forgotten by Redis when its callback and items are through, its links are pushed, and its page
    is written.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.config = config_of(crawler)
        self.process = token_hex(8)
        settings = crawler.settings
        self._most_sites = max(1, settings.getint("CONCURRENT_REQUESTS"))
        each = max(1, settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"))
        self._held = HeldSites(each, 2 * each)
        self._rest = settings.getfloat("DOWNLOAD_DELAY") * _LONGEST
        self._local: list[tuple[int, int, Request]] = []  # a heap; of one priority in their order
        self._numbers = itertools.count()
        self._local_seen: set[bytes] = set()
        self._to_send: list[tuple[Push, Request]] = []
        self._lately: OrderedDict[bytes, None] = OrderedDict()
        self._lease_end = -1.0
        self._is_known = self._is_over = self._busy = False
        self._is_cut_off = False  # what the own part has done at the last look is not known
        self._trouble = ""  # what was last told of Redis
        self._last_counts: tuple[Counts, ...] = ()
        self._born = b""  # when the own part was, at the last look
        self._parts: list[Part] = []
        self._spider: Spider | None = None
        self._clock: AsyncioLoopingCall | LoopingCall | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's own for a look at pages, which is no part of the crawl."""
        if is_trial(crawler):
            return cast("Self", Scheduler.from_crawler(crawler))
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        self._spider = spider
        self._parts = [Part(url, spider.name) for url in self.config.frontier]
        self.crawler.signals.connect(self._begin, signals.spider_opened)

    async def _begin(self) -> None:
        for url, part in zip(self.config.frontier, self._parts, strict=True):
            if reason := await run_in_thread(part.refusal):
                logger.error("Redis (%s) refuses: %s", shown_url(url), reason)
                exit_with_error(self.crawler)
                raise CloseSpider("noiseclean_frontier_error")
        self._clock = create_looping_call(self._look)
        self._clock.start(_LOOK_SECONDS, now=True)

    def close(self, reason: str) -> Deferred[None] | None:
        """Send what is left, and leave what was not done to others."""
        return deferred_from_coro(self._close()) if self._clock else None

    def has_pending_requests(self) -> bool:
        """Whether anything waits or is under way, here or in another process."""
        return bool(self._to_send or self._local) or not self._is_over

    def enqueue_request(self, request: Request) -> bool:
        fingerprint = self._fingerprint(request)
        # Every process has the same first addresses.
        is_filtered = not request.dont_filter or request.meta.get("is_start_request", False)
        if is_filtered and (fingerprint in self._lately or fingerprint in self._local_seen):
            count(self.crawler, "frontier/duplicates")
            return False
        data = self._encode(request, is_filtered)
        if data is None:
            if is_filtered:
                self._local_seen.add(fingerprint)
            request.meta.pop("is_start_request", None)  # its retries are not filtered
            heappush(self._local, (-request.priority, next(self._numbers), request))
            return True
        if is_filtered:
            self._lately[fingerprint] = None
            if len(self._lately) > _REQUESTS_REMEMBERED:
                self._lately.popitem(last=False)
        filtered_by = fingerprint if is_filtered else b""
        push = Push(site_name(request.url), filtered_by, int(request.priority), data)
        self._to_send.append((push, request))
        self._is_over = False
        return True

    def next_request(self) -> Request | None:
        if self._local:
            return heappop(self._local)[2]
        # Beyond its lease nothing here is its own; links that cannot be sent are not made more.
        if monotonic() > self._lease_end or len(self._to_send) > _REQUESTS_TO_SEND:
            return None
        self._note_done()
        while found := self._held.next():
            site, data = found
            request = self._decode(data)
            if request is not None:
                site.under_way[request] = data
                return request
            site.done.append((data, ""))
        return None

    # Between Redis and the crawl

    def _look(self) -> None:
        if not self._busy:
            self._busy = True
            deferred_from_coro(self._look_once())

    async def _look_once(self) -> None:
        try:
            await self._exchange()
        except Exception as error:
            count(self.crawler, "frontier/errors")
            logger.error("Error while asking for requests; the crawl goes on", exc_info=error)
        finally:
            self._busy = False

    async def _exchange(self) -> None:
        from redis import RedisError

        exchange = self._prepare()
        try:
            await run_in_thread(self._ask, exchange)
        except BaseException as error:
            # The next exchange sends what may not have been sent; Redis knows it if it was.
            self._to_send = exchange.pushes + self._to_send
            self._is_cut_off = True
            if not isinstance(error, RedisError):
                raise
            self._note_trouble(error)
            return
        self._is_cut_off = False
        if exchange.trouble:
            self._note_trouble(exchange.trouble)
        elif self._trouble:
            logger.info("Redis answers again")
            self._trouble = ""
        self._apply(exchange)

    def _note_trouble(self, error: RedisError) -> None:
        count(self.crawler, "frontier/errors")
        what = "refuses" if is_refusal(error) else "does not answer"
        if what != self._trouble:
            where = ", ".join(map(shown_url, self.config.frontier))
            logger.error("Redis (%s) %s: %s; requests wait until that ends", where, what, error)
        self._trouble = what

    def _prepare(self) -> Exchange:
        self._note_done()
        through = [(site.name, site.rest) for site in self._held if site.is_through]
        exchange = Exchange(
            pushes=self._to_send,
            done=[(site.name, data) for site in self._held for data in self._written(site)],
            through=through,
            wanted=self._held.wanted(),
            sites=self._most_sites - len(self._held) + len(through),
            known={site.name: site.data for site in self._held} if self._is_cut_off else {},
        )
        self._to_send = []
        return exchange

    def _ask(self, exchange: Exchange) -> None:
        """All that is asked of Redis, in a thread; the crawl goes on meanwhile."""
        from redis import RedisError

        own = self._own
        if self._is_cut_off:
            own.keep(self.process, exchange.known)
        for number, part in enumerate(self._parts):
            mine = [i for i, (p, _) in enumerate(exchange.pushes) if self._part_of(p) == number]
            try:
                pushed = part.push([exchange.pushes[i][0] for i in mine])
            except RedisError as error:
                if part is own:
                    raise
                exchange.trouble = error
            else:
                exchange.is_new.update(zip(mine, pushed, strict=True))
        if exchange.trouble:
            exchange.done = []  # a request whose links are not pushed is not done
        own.finish(exchange.done)
        own.release(self.process, exchange.through)
        exchange.taken = own.take(
            self.process,
            self.config.frontier_lease_seconds,
            is_known=self._is_known,
            sites=exchange.sites,
            each=self._held.most_waiting,
            wanted=exchange.wanted,
        )
        if exchange.taken and not exchange.taken.counts.pending and not exchange.trouble:
            exchange.others = tuple(part.counts() for part in self._parts)

    def _apply(self, exchange: Exchange) -> None:
        unsent = []
        for number, (push, request) in enumerate(exchange.pushes):
            if number not in exchange.is_new:
                unsent.append((push, request))
            elif exchange.is_new[number]:
                count(self.crawler, "frontier/pushed")
            else:
                count(self.crawler, "frontier/duplicates")
                logger.debug("No request for %s: it was pushed before", request.url)
                self.crawler.signals.send_catch_log(
                    signals.request_dropped, request=request, spider=self._spider
                )
        self._to_send = unsent + self._to_send
        finished = set(exchange.done)
        count(self.crawler, "frontier/finished", len(finished))
        for site in self._held:
            site.done = [one for one in site.done if (site.name, one[0]) not in finished]
        self._held.drop([name for name, _ in exchange.through])
        self._take_over(exchange)
        self._see_whether_over(exchange)
        slot = self._slot
        if slot is not None:
            slot.nextcall.schedule()

    def _take_over(self, exchange: Exchange) -> None:
        taken = exchange.taken
        self._is_known = taken is not None
        was_emptied = self._own.born != self._born
        self._born = self._own.born
        if taken is None:
            if was_emptied:
                self._push_again()
            else:
                logger.warning("The lease of this process has ended: others have its requests")
                count(self.crawler, "frontier/leases_lost")
            self._held.lose()
            return
        self._lease_end = exchange.began + self.config.frontier_lease_seconds
        if taken.lost:
            count(self.crawler, "frontier/errors")
            logger.error(
                "Redis has lost %s of this crawl, which nobody can do any more (an expiry, or a "
                "`maxmemory-policy` that evicts keys?)",
                counted(taken.lost, "request"),
            )
        for name, requests in taken.requests.items():
            count(self.crawler, "frontier/taken", len(requests))
            self._held.add(name, requests, self._rest)
        self._held.give_way(taken.share, taken.free)
        assert self.crawler.stats
        self.crawler.stats.set_value("noiseclean/frontier/pending", taken.counts.pending)
        self.crawler.stats.set_value("noiseclean/frontier/sites", len(self._held))
        if taken.failed > self.crawler.stats.get_value("noiseclean/frontier/failed", 0):
            self.crawler.stats.set_value("noiseclean/frontier/failed", taken.failed)
            logger.warning(
                "%s given up: each of their processes died (Redis has them in %s)",
                counted(taken.failed, "request"),
                f"{self._own.name}:failed",
            )

    def _push_again(self) -> None:
        """Of what Redis has forgotten, push what waits here, and links that were pushed lately."""
        count(self.crawler, "frontier/errors")
        logger.error(
            "Redis has lost the requests of this crawl (without `appendonly yes` it forgets them "
            "when it ends): those that wait here go on, and links that are found again"
        )
        self._lately.clear()
        for request in map(self._decode, [data for site in self._held for data in site.waiting]):
            if request is not None:
                self.enqueue_request(request)

    def _see_whether_over(self, exchange: Exchange) -> None:
        """Over: nothing was pending at two looks at all parts, and nothing pushed between them."""
        counts = exchange.others
        is_quiet = bool(counts) and not any(part.pending for part in counts)
        is_over = is_quiet and counts == self._last_counts
        self._last_counts = counts if is_quiet else ()
        self._is_over = is_over and not self._to_send

    async def _close(self) -> None:
        from redis import RedisError

        assert self._clock
        self._clock.stop()
        while self._busy:
            await sleep(_MOMENT_SECONDS)
        await self._look_once()
        own = self._own
        rests = [(site.name, site.rest) for site in self._held]
        try:
            if not self._is_cut_off:
                await run_in_thread(own.release, self.process, rests)
                await run_in_thread(own.leave, self.process)
        except RedisError as error:
            logger.debug("What this process has waits until its lease ends: %s", error)
        for part in self._parts:
            part.close()

    # Requests

    def _note_done(self) -> None:
        """Find out which requests Scrapy is through with, whatever has become of them."""
        slot = self._slot
        in_progress = slot.inprogress if slot is not None else ()
        for site in self._held:
            for request in [r for r in site.under_way if r not in in_progress]:
                data = site.under_way.pop(request)
                site.done.append((data, page_key(self._fingerprint(request))))
                site.rest = max(site.rest, self._rest_after(request))

    def _written(self, site: HeldSite) -> Sequence[bytes]:
        """The requests whose page is not on its way to the database any more."""
        pipeline = self.crawler.get_item_pipeline(CleanPipeline)
        crawl = pipeline.crawl if pipeline else None
        return [data for data, key in site.done if crawl is None or not crawl.is_waiting(key)]

    def _rest_after(self, request: Request) -> float:
        """Seconds until another process may visit the site."""
        assert self.crawler.engine
        slots = self.crawler.engine.downloader.slots
        slot = slots.get(request.meta.get("download_slot", ""))
        return _LONGEST * slot.delay if slot else 0.0

    @property
    def _own(self) -> Part:
        """The part whose requests this process takes."""
        return self._parts[self.config.frontier_part]

    @property
    def _slot(self) -> Any:
        """The engine's requests in progress, for which it has no public name."""
        return self.crawler.engine._slot if self.crawler.engine else None

    def _part_of(self, push: Push) -> int:
        return hash64(push.site) % len(self._parts)

    def _fingerprint(self, request: Request) -> bytes:
        assert self.crawler.request_fingerprinter
        return self.crawler.request_fingerprinter.fingerprint(request)

    def _encode(self, request: Request, is_filtered: bool) -> bytes | None:
        """A request as bytes; None where it cannot be sent."""
        try:
            return pack_request(request, self._spider, is_filtered=is_filtered)
        except Exception as error:
            count(self.crawler, "frontier/unserializable")
            logger.debug("%s stays in this process: %s", request, error)
            return None

    def _decode(self, data: bytes) -> Request | None:
        try:
            return unpack_request(data, self._spider)
        except Exception as error:
            count(self.crawler, "frontier/errors")
            logger.error("A request in Redis cannot be read, and is left out: %s", error)
            return None
