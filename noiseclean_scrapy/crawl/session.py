"""What the components of one crawl share: its clusters, the pages seen, the way to the store."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import run_in_thread, sleep

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.clusters.cleaning import clean_record, to_record
from noiseclean_scrapy.clusters.cluster import PageCluster
from noiseclean_scrapy.clusters.training import log_failure
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.bounded import bounded_response, selector_of
from noiseclean_scrapy.crawl.cluster_cache import ClusterCache
from noiseclean_scrapy.crawl.memory import trim_heap
from noiseclean_scrapy.crawl.spool import Spool
from noiseclean_scrapy.crawl.visits import Visit, Visits, time_of_fetch
from noiseclean_scrapy.crawl.write_queue import WriteQueue
from noiseclean_scrapy.crawl.writer import Writer
from noiseclean_scrapy.errors import DamagedError, StoreError
from noiseclean_scrapy.languages import SiteLanguages
from noiseclean_scrapy.metadata import Metadata, facts_of, load_libraries, read_facts
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.contents import Contents
from noiseclean_scrapy.page.hashes import digest
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store import PageRecord

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import HtmlResponse, Response
    from scrapy.statscollectors import StatsCollector

logger = get_logger(__name__)

_MOMENT_SECONDS = 0.02
_LOOKS_WHILE_IDLE = 4
_TRIES = 5
_CLOSING_PAUSES = (0.5, 1.0)  # before the end is tried once more
_CLOSING_SECONDS = 30.0  # after which it is not: who waits for a lock has waited long enough


class Crawl:
    """Learns, cleans and stores the pages of one crawl.

    A page is read and learned when its response comes, and cleaned when an item or the focus asks
    for it, both on the event loop; all that touches the database, and all that takes longer than a
    page, happens in a thread. Pages wait and are written in batches, one batch at a time: an older
    text never overwrites a newer one.
    """

    def __init__(
        self,
        config: Config,
        stats: StatsCollector,
        writer: Writer,
        *,
        others_since: datetime | None = None,
    ) -> None:
        """For `others_since` see `Visits`."""
        self.config = config
        self.stats = stats
        self.writer = writer
        self._clusters = ClusterCache(config, stats, writer)
        spool = Spool(config.spool_path, read_only=config.read_only)
        self._pages = WriteQueue(config, stats, writer, spool)
        self.visits = Visits(config, self._pages, others_since=others_since)
        self._languages = SiteLanguages()
        self._has_libraries = not writer.is_process  # which needs them for every page
        self._wishes = 0
        self._last_flush = self._last_look = monotonic()
        self._flushing = False

    async def observe(
        self, key: str, name: str, response: HtmlResponse, request: Request | None = None
    ) -> None:
        """See a response: learn its page, unless it was learned before, and remember it."""
        read, is_part = bounded_response(response, self.config.page_budget)
        selector, text, url = selector_of(read), read.text, response.url
        rules = self.config.overrides.rules_for(url)

        def page_of(config: Config) -> Page:
            budget = config.page_budget
            page = build_page(selector, url=url, text=text, rules=rules, budget=budget)
            page.truncated |= is_part
            return page

        page = page_of(self.config)
        self._note(page)
        if page.other:
            return
        # Before the spider may change what is parsed; it need not be parsed again for them.
        needs_facts = self.config.metadata and not self.writer.is_process
        facts = facts_of(selector, url) if needs_facts else None
        cluster, stored = await self._look_up(name, key)
        if cluster.config.page_budget != self.config.page_budget:
            page = page_of(cluster.config)  # as the cluster's tree has read others
        # From here on nothing is awaited until the page waits: two responses of it learn it once.
        record = PageRecord(
            key=key,
            cluster=name,
            url=response.url,
            body_hash=digest(response.body).hex(),
            fetched_at=time_of_fetch(response, request),
            position=stored.position if stored and stored.cluster == name else None,
            html=text,
        )
        if self._may_learn(record, page):
            self._wishes += 1
            cluster.observe(key, page)
            cluster.unwritten.add(key)
            record = replace(record, position=self._wishes)
            self._clusters.hold(record, page)
        visit = Visit(record, page, stored, facts)
        self.visits.note(visit, response, request)
        if not self.config.read_only and not visit.is_final:
            self._pages.add(record)
        if cluster.interim_due and not cluster.due:
            await self._clusters.renew_interim(cluster)
        # The page that makes a tree due gets it; pages that come too fast for the store wait.
        while self._flushing and (self._pages.is_full or (cluster.due and not self._pages.refused)):
            await sleep(_MOMENT_SECONDS)
        await self._flush_if(cluster.due)

    def release(self, response: Response) -> None:
        """Let go of what is parsed of a page: the spider's callback has ended.

        A response and its selector hold each other, and so the whole tree, until the garbage
        collector comes. Whoever selects from the response later parses it again.
        """
        if response in self.visits and hasattr(response, "_cached_selector"):
            response._cached_selector = None

    async def clean(self, visit: Visit) -> CleanPage:
        """The visit's page, cleaned with the newest tree of its cluster."""
        cluster = await self._cluster(visit.record.cluster)
        if visit.cleaned is None or visit.model is not cluster.model:
            visit.cleaned = cluster.clean(visit.page)
            self._clusters.note_read(visit.record, visit.page)
            visit.model, visit.version = cluster.model, cluster.version
        return visit.cleaned

    async def metadata(self, visit: Visit) -> Metadata | None:
        """What the visit's page tells of itself, read once; None where that is switched off."""
        page = await self.clean(visit)
        if visit.metadata is None and self.config.metadata:
            if not self._has_libraries:
                await run_in_thread(load_libraries)
                self._has_libraries = True
            facts = visit.facts
            if facts is None:
                facts = facts_of(visit.record.html or "", page.url)
            language = partial(self._languages.language, visit.record.cluster)
            visit.metadata = read_facts(
                facts,
                url=page.url,
                text=page.text,
                language=language,
                lines=lambda: Contents(visit.page).lines,
            )
        return visit.metadata

    async def keep(self, visit: Visit) -> None:
        """Store the visit's page with its text; an item of it has passed all pipelines."""
        page = await self.clean(visit)
        if visit.kept is None:
            self.stats.inc_value("noiseclean/characters/visible", page.visible_characters)
            self.stats.inc_value("noiseclean/characters/kept", page.kept_characters)
        is_new = visit.kept is not page
        visit.kept = page
        is_wanted = not self.config.read_only and not self.visits.is_superseded(visit)
        if is_new and is_wanted and not visit.is_final:
            config = (await self._cluster(visit.record.cluster)).config
            cleaned = to_record(page, visit.version, config)
            if visit.facts is not None:
                await self.metadata(visit)
            # A process that writes reads the metadata that no item has asked for.
            self._pages.add(replace(visit.record, cleaned=cleaned, metadata=visit.metadata))
            await self._flush_if(False)

    async def tick(self) -> None:
        """What is to be done from time to time, whether pages come or not."""
        self._count_pages()
        await self._flush_if(any(cluster.due for cluster in self._clusters))
        # A crawl that writes nothing has nothing else by which to see that the store answers again.
        if not self._pages.refused or self.config.read_only:
            try:
                await self._clusters.follow()
                self._pages.refused = False
                await self._cover_idle()
            except StoreError as error:
                self._pages.count_refusal(error)
        await run_in_thread(trim_heap)

    async def _cover_idle(self) -> None:
        """Look now and then for clusters whose last pages no tree has learned."""
        is_due = monotonic() > self._last_look + self.config.idle_seconds / _LOOKS_WHILE_IDLE
        if is_due and not self.config.read_only and not self._flushing:
            self._flushing = True
            try:
                await self._clusters.cover_idle()
            finally:
                self._flushing = False
                self._last_look = monotonic()

    async def close(self) -> None:
        """Write the pending pages, and build the trees that have new pages to learn."""
        if self.config.read_only:
            return
        while self._flushing:
            await sleep(_MOMENT_SECONDS)
        deadline = monotonic() + _CLOSING_SECONDS
        try:
            await self._finish()
            # One refusal, such as a connection that is gone, leaves pages that no tree has learned.
            for pause in _CLOSING_PAUSES:
                if self._pages.refused and monotonic() < deadline:
                    await sleep(pause)
                    await self._finish()
        finally:
            self._note_damage()
            await self._pages.close()
            self._count_pages()

    async def _finish(self) -> None:
        """Write all that waits, and build the trees that are left to build."""
        try:
            await self._flush()
            tries = _TRIES
            while self._pages and tries and not self._pages.refused:
                waiting = len(self._pages)
                await self._flush()
                # Texts that a newer tree sends back are written at the next try.
                tries = _TRIES if len(self._pages) < waiting else tries - 1
            if not self._pages.refused:
                await self._clusters.finish()
        except StoreError as error:
            self._pages.count_refusal(error)

    def abandon(self) -> None:
        """Keep what waits for the next crawl: the event loop has been stopped."""
        if not self.config.read_only and not self.writer.store.in_memory:
            self._pages.abandon()
            self._count_pages()

    def _count_pages(self) -> None:
        """Tell how many pages wait, and of how many no tree knows."""
        provisional = sum(cluster.pages - cluster.covered for cluster in self.clusters)
        for name, number in (
            ("noiseclean/pages/waiting", self._pages.in_memory),
            ("noiseclean/pages/spooled", self._pages.spool.pages),
            ("noiseclean/pages/provisional", provisional),
            ("noiseclean/pages/addresses", self.visits.addresses),
        ):
            self.stats.set_value(name, number)

    @property
    def clusters(self) -> list[PageCluster]:
        """The clusters that are in memory."""
        return list(self._clusters)

    @property
    def waiting(self) -> int:
        """Number of pages that wait to be written."""
        return len(self._pages)

    def is_waiting(self, key: str) -> bool:
        """Whether the page of a request's fingerprint is in memory only."""
        return key in self._pages

    async def _flush_if(self, is_due: bool) -> None:
        """Write when enough pages wait or a tree is due, or when they have waited long."""
        if self.config.read_only:
            return
        is_due = is_due or len(self._pages) >= self.config.batch_size
        # A store that has refused is left alone for a while.
        is_due = is_due and not self._pages.refused
        is_late = bool(self._pages) and monotonic() > self._last_flush + self.config.batch_seconds
        if (is_due or is_late) and not self._flushing:
            await self._flush()

    async def _flush(self) -> None:
        """Write pages, then the trees that cover them; what the store refuses goes on waiting."""
        self._flushing = True
        # Taken now, so that they know no page that is not written.
        trainings = dict(self._clusters.take_due())
        stale: list[PageRecord] = []
        try:
            records, written = await self._pages.write()
            self._pages.refused = False
            self._clusters.note_written(records, self._pages)
            stale = [record for record in records if record.key in written.stale]
            records.clear()  # their HTML is not held during training
            await self._clusters.follow(written.clusters)  # but those whose trees are due
            for cluster in list(trainings):
                await self._clusters.train(cluster, trainings.pop(cluster))
            await self._clean_stale(stale)
            self._clusters.make_room()
        except StoreError as error:
            self._pages.count_refusal(error)
            if self._pages.is_full:
                await self._pages.spill()
        finally:
            for record in stale:  # the store has refused since: their texts are still to be written
                self._pages.put_back(record)
            for cluster, training in trainings.items():
                cluster.give_back(training.learner)
            self._note_damage()
            self._flushing = False
            self._last_flush = monotonic()

    async def _clean_stale(self, records: list[PageRecord]) -> None:
        """Clean pages again that a tree has covered while their text was on its way; takes them.

        One that has lost its HTML, or that no method here cleans, keeps the text that is stored.
        """
        while records:
            record = records[-1]
            try:
                if record.html is not None:
                    cluster = await self._clusters.get(record.cluster)
                    cleaned = await run_in_thread(
                        clean_record, record, cluster.model, cluster.version, cluster.config
                    )
                    self._pages.put_back(replace(record, cleaned=cleaned))
            except StoreError:
                raise
            except Exception as error:
                self.stats.inc_value("noiseclean/errors")
                log_failure(record, "cleaned again", error)
            records.pop()

    async def _cluster(self, name: str) -> PageCluster:
        if self._pages.refused:
            return self._clusters.begin(name)
        try:
            return await self._clusters.get(name)
        except DamagedError as error:
            # The next page that is written to the cluster mends it.
            self.stats.inc_value("noiseclean/errors")
            logger.error("%s", error)
            return self._clusters.begin(name)
        except StoreError as error:
            self._pages.count_refusal(error)
            return self._clusters.begin(name)

    async def _look_up(self, name: str, key: str) -> tuple[PageCluster, PageRecord | None]:
        """A page's cluster, and what is known of the page."""
        while True:
            cluster = await self._cluster(name)
            try:
                stored = await self._pages.find(key, is_new=cluster.is_new(key))
            except StoreError as error:
                self._pages.count_refusal(error)
                stored = None
            if cluster in self._clusters:
                return cluster, stored

    def _may_learn(self, record: PageRecord, page: Page) -> bool:
        return record.position is None and not self.config.read_only and bool(page.table.texts)

    def _note_damage(self) -> None:
        if damaged := self.writer.store.damaged:
            self.stats.set_value("noiseclean/pages/damaged", damaged)

    def _note(self, page: Page) -> None:
        self.stats.inc_value("noiseclean/pages/seen")
        if page.other:
            count_not_html(self.stats, page.other)
        if page.characters_lost:
            self.stats.inc_value("noiseclean/pages/truncated")
            logger.debug(
                "The parser lost about %d characters of %s", page.characters_lost, page.url
            )
        if page.truncated:
            self.stats.inc_value("noiseclean/pages/over_budget")
            logger.debug("%s is longer than the budget for one page: its end is left out", page.url)


def count_not_html(stats: StatsCollector, kind: str) -> None:
    """Count a response that is no page, among all of them and those of its kind."""
    stats.inc_value("noiseclean/pages/not_html")
    stats.inc_value(f"noiseclean/pages/not_html/{kind or 'other'}")
