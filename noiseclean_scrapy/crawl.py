"""What the components of one crawl share: its sites, the pages seen, and the way to the store."""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from time import monotonic
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.utils.asyncio import run_in_thread

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.sites import Site, TreeVersion, load_site, to_record
from noiseclean_scrapy.store import PageRecord, Store

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse, Response
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)

_RECENT_PAGES = 64
_SITES_IN_MEMORY = 256
_FLUSH_SECONDS = 5.0


@dataclass(slots=True)
class Visit:
    """One page of the crawl: its record, what the store knew of it, and its cleaning."""

    record: PageRecord
    page: Page
    stored: PageRecord | None
    cleaned: CleanPage | None = None
    version: int = -1

    @property
    def is_final(self) -> bool:
        """Whether the store has this very page, cleaned by a tree that covers it."""
        stored = self.stored
        return (
            stored is not None
            and stored.cleaned is not None
            and stored.learned_version is not None
            and stored.body_hash == self.record.body_hash
        )


class Crawl:
    """Learns, cleans and stores the pages of one crawl.

    Learning and cleaning happen on the event loop, in the order of the responses; all that touches
    the database happens in a thread. Pages wait in a buffer and are written in batches.
    """

    def __init__(self, config: Config, stats: StatsCollector, store: Store) -> None:
        self.config = config
        self.stats = stats
        self.store = store
        self._sites: OrderedDict[str, Site] = OrderedDict()
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self._recent: OrderedDict[str, Visit] = OrderedDict()
        self._buffer: dict[str, PageRecord] = {}
        self._last_flush = monotonic()
        self._clusters: set[str] = set()
        self._warned = False

    async def observe(self, key: str, cluster: str, response: HtmlResponse) -> None:
        """See a response: learn its page, unless it was learned before, and remember it."""
        page = build_page(response.selector, url=response.url, text=response.text)
        self._note(page)
        site = await self._site(cluster)
        stored = await self._find(key)
        record = PageRecord(
            key=key,
            cluster=cluster,
            url=response.url,
            body_hash=hashlib.blake2b(response.body, digest_size=16).hexdigest(),
            fetched_at=datetime.now(timezone.utc),
            position=stored.position if stored and stored.cluster == cluster else None,
        )
        if self._may_learn(record, page):
            record = replace(record, position=site.observe(page), html=response.text)
            self.stats.inc_value("noiseclean/pages/learned")
        visit = Visit(record, page, stored)
        self._remember(response, visit)
        if not self.config.read_only and not visit.is_final:
            self._add(record)
        if site.due and not self.config.read_only:
            await self._build(site)
        await self.flush_if_due()

    def find_visit(self, response: Response | None, url: str | None) -> Visit | None:
        """The page seen lately at `url`, else the page of `response`, else None."""
        if url and url in self._recent:
            return self._recent[url]
        if response is None:
            return None
        return self._visits.get(response) or self._recent.get(response.url)

    async def clean(self, visit: Visit) -> CleanPage:
        """The visit's page, cleaned with the newest tree of its site."""
        site = await self._site(visit.record.cluster)
        if visit.cleaned is None or visit.version != site.version or not site.version:
            visit.cleaned, visit.version = site.clean(visit.page), site.version
        return visit.cleaned

    async def keep(self, visit: Visit) -> None:
        """Store the visit's page with its text; an item of it has passed all pipelines."""
        page = await self.clean(visit)
        self.stats.inc_value("noiseclean/characters/visible", page.visible_characters)
        self.stats.inc_value("noiseclean/characters/kept", page.kept_characters)
        if self.config.read_only or visit.is_final:
            return
        record = replace(visit.record, html=None, cleaned=to_record(page, visit.version))
        self._add(record)
        visit.stored = None
        await self.flush_if_due()

    async def close(self) -> None:
        """Write what waits, and build the trees that have learned new pages."""
        for site in list(self._sites.values()):
            if site.learned > site.covered and not self.config.read_only:
                await self._build(site)
        await self._write(list(self._buffer.values()))
        self.stats.set_value("noiseclean/clusters", len(self._clusters))
        if self._buffer:
            logger.error("%d pages could not be stored and are lost", len(self._buffer))

    async def flush_if_due(self) -> None:
        """Write the waiting pages when there are enough of them, or when they have waited long."""
        waited = monotonic() - self._last_flush
        if len(self._buffer) >= self.config.batch_size or (
            self._buffer and waited > _FLUSH_SECONDS
        ):
            self._last_flush = monotonic()
            await self._write(list(self._buffer.values()))

    # Sites and trees

    async def _site(self, name: str) -> Site:
        site = self._sites.get(name)
        if site is None:
            loaded = await run_in_thread(load_site, self.store, name, self.config)
            site = self._sites.setdefault(name, loaded)
            self._clusters.add(name)
            await self._make_room()
        self._sites.move_to_end(name)
        return site

    async def _make_room(self) -> None:
        """Let go of the site that was not needed for longest; the store knows all of it."""
        if len(self._sites) > _SITES_IN_MEMORY:
            await self._write(list(self._buffer.values()))
            if not self._buffer and len(self._sites) > _SITES_IN_MEMORY:
                self._sites.popitem(last=False)

    async def _build(self, site: Site) -> None:
        version = site.build()
        records = [r for r in self._buffer.values() if r.cluster == site.name]
        self.stats.inc_value("noiseclean/trees/built")
        await self._write(records, version)

    def _may_learn(self, record: PageRecord, page: Page) -> bool:
        return record.position is None and not self.config.read_only and bool(page.blocks)

    # The store

    async def _find(self, key: str) -> PageRecord | None:
        """What is known of a page: from the store, and from what waits to be written."""
        waiting = self._buffer.get(key)
        stored = await run_in_thread(self.store.find, key)
        return self._buffer.get(key) or waiting or stored

    def _add(self, record: PageRecord) -> None:
        """Let a record wait; what it leaves None is kept from an earlier one."""
        known = self._buffer.get(record.key)
        if known:
            record = replace(
                record,
                position=record.position or known.position,
                html=record.html or known.html,
                cleaned=record.cleaned or known.cleaned,
            )
        self._buffer[record.key] = record

    async def _write(self, records: list[PageRecord], version: TreeVersion | None = None) -> None:
        """Write pages, then a tree; on an error the pages go on waiting."""
        if not records and version is None:
            return
        try:
            cleaned = await run_in_thread(self._write_now, records, version)
        except StoreError:
            self.stats.inc_value("noiseclean/store/errors")
            if not self._warned:
                logger.error("The store refused pages; they wait for the next try", exc_info=True)
                self._warned = True
            return
        for record in records:
            if self._buffer.get(record.key) is record:
                del self._buffer[record.key]
        self.stats.inc_value("noiseclean/pages/recleaned", len(cleaned))
        if records:
            self.stats.inc_value("noiseclean/store/batches")
            logger.debug("Stored %d pages: %s", len(records), _keys(records))

    def _write_now(self, records: list[PageRecord], version: TreeVersion | None) -> list[str]:
        self.store.write(records, method=self.config.method)
        return version.save(self.store, self.config.method) if version else []

    # Pages seen

    def _remember(self, response: Response, visit: Visit) -> None:
        self._visits[response] = visit
        for url in {response.url, response.request.url if response.request else response.url}:
            self._recent[url] = visit
            self._recent.move_to_end(url)
        while len(self._recent) > _RECENT_PAGES:
            self._recent.popitem(last=False)

    def _note(self, page: Page) -> None:
        self.stats.inc_value("noiseclean/pages/seen")
        if page.characters_lost:
            self.stats.inc_value("noiseclean/pages/truncated")
            logger.debug(
                "The parser lost about %d characters of %s", page.characters_lost, page.url
            )


def _keys(records: Iterable[PageRecord]) -> str:
    return " ".join(record.key for record in records)
