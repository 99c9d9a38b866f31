"""What the components of one crawl share: its sites, the pages seen, and the way to the store."""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from time import monotonic
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.utils.asyncio import run_in_thread

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.metadata import Metadata, extract_metadata, page_facts
from noiseclean_scrapy.methods import Model
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.sites import Site, TreeVersion, load_site, to_record
from noiseclean_scrapy.store import PageRecord, Store

if TYPE_CHECKING:
    from lxml.etree import _Element
    from scrapy.http import HtmlResponse, Response
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)

_RECENT_PAGES = 64
_SITES_IN_MEMORY = 256
_FLUSH_SECONDS = 5.0


@dataclass(slots=True)
class Visit:
    """One page of the crawl: its record, what the store knew of it, and its cleaning.

    `cleaned` is what `model`, the tree of `version`, gave; `kept` is the cleaning that has gone to
    the store because of an item. `facts` is the part of the page from which `metadata` is read.
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
    the database happens in a thread. Pages and trees wait in a buffer and are written in batches,
    one batch at a time: an older text never overwrites a newer one.
    """

    def __init__(self, config: Config, stats: StatsCollector, store: Store) -> None:
        self.config = config
        self.stats = stats
        self.store = store
        self._sites: OrderedDict[str, Site] = OrderedDict()
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self._recent: OrderedDict[str, Visit] = OrderedDict()
        self._buffer: dict[str, PageRecord] = {}
        self._trees: dict[str, TreeVersion] = {}
        self._last_flush = monotonic()
        self._flushing = False
        self._refused = False
        self._writes = 0
        self._clusters: set[str] = set()
        self._evicted: set[str] = set()

    async def observe(self, key: str, cluster: str, response: HtmlResponse) -> None:
        """See a response: learn its page, unless it was learned before, and remember it."""
        selector, url = response.selector, response.url
        rules = self.config.overrides.rules_for(url)
        page = build_page(selector, url=url, text=response.text, rules=rules)
        self._note(page)
        site, stored, is_known = await self._look_up(cluster, key)
        # From here to the buffer nothing is awaited: two responses of one page learn it once.
        record = PageRecord(
            key=key,
            cluster=cluster,
            url=response.url,
            body_hash=hashlib.blake2b(response.body, digest_size=16).hexdigest(),
            fetched_at=datetime.now(timezone.utc),
            position=stored.position if stored and stored.cluster == cluster else None,
        )
        if is_known and self._may_learn(record, page):
            record = replace(record, position=site.observe(page), html=response.text)
            self.stats.inc_value("noiseclean/pages/learned")
        elif stored is None or stored.body_hash != record.body_hash:
            record = replace(record, html=response.text)
        facts = page_facts(selector) if self.config.metadata else None
        visit = Visit(record, page, stored, facts)
        self._remember(response, visit)
        if not self.config.read_only:
            if not visit.is_final:
                self._add(record)
            if site.due:
                self._build(site)
        await self.flush_if_due()

    def find_visit(self, response: Response | None, url: str | None) -> Visit | None:
        """The page of `response`, unless `url` is another page that was seen lately."""
        own = None
        if response is not None:
            own = self._visits.get(response) or self._recent.get(response.url)
        if url is None or (own is not None and own.record.url == url):
            return own
        return self._recent.get(url, own)

    async def clean(self, visit: Visit) -> CleanPage:
        """The visit's page, cleaned with the newest tree of its site."""
        site = await self._site(visit.record.cluster)
        if visit.cleaned is None or visit.model is not site.model:
            visit.cleaned = site.clean(visit.page)
            visit.model, visit.version = site.model, site.version
        return visit.cleaned

    async def metadata(self, visit: Visit) -> Metadata | None:
        """What the visit's page tells of itself, read once; None where that is switched off."""
        page = await self.clean(visit)
        if visit.facts is not None:
            visit.metadata = extract_metadata(visit.facts, url=page.url, text=page.text)
            visit.facts = None
        return visit.metadata

    async def keep(self, visit: Visit) -> None:
        """Store the visit's page with its text; an item of it has passed all pipelines."""
        page = await self.clean(visit)
        if visit.kept is None:
            self.stats.inc_value("noiseclean/characters/visible", page.visible_characters)
            self.stats.inc_value("noiseclean/characters/kept", page.kept_characters)
        is_new = visit.kept is not page
        visit.kept = page
        if is_new and not self.config.read_only and not visit.is_final:
            cleaned, metadata = to_record(page, visit.version), await self.metadata(visit)
            self._add(replace(visit.record, html=None, cleaned=cleaned, metadata=metadata))
            await self.flush_if_due()

    async def close(self) -> None:
        """Build the trees that have learned new pages, and write what waits."""
        try:
            while not self.config.read_only and (self._sites or self._evicted):
                site = await self._site(next(iter(self._sites or self._evicted)))
                if site.learned > site.covered:
                    self._build(site)
                    await self.flush_if_due()
                del self._sites[site.name]
        finally:
            await self._flush()
            if self._buffer:
                logger.error("%d pages could not be stored and are lost", len(self._buffer))

    @property
    def sites(self) -> list[Site]:
        """The sites that are in memory."""
        return list(self._sites.values())

    @property
    def waiting(self) -> int:
        """Number of pages that wait to be written."""
        return len(self._buffer)

    async def flush_if_due(self) -> None:
        """Write when enough pages or a tree wait, or when they have waited long."""
        while self._is_due and not self._flushing:
            await self._flush()

    @property
    def _is_due(self) -> bool:
        is_enough = bool(self._trees) or len(self._buffer) >= self.config.batch_size
        # A store that has refused is left alone for a while.
        if is_enough and not self._refused:
            return True
        return bool(self._buffer or self._trees) and monotonic() > self._last_flush + _FLUSH_SECONDS

    # Sites and trees

    async def _site(self, name: str) -> Site:
        site = self._sites.get(name)
        if site is None:
            loaded = await run_in_thread(load_site, self.store, name, self.config)
            site = self._sites.setdefault(name, loaded)
            self._evicted.discard(name)
            self._clusters.add(name)
            self.stats.set_value("noiseclean/clusters", len(self._clusters))
            await self._make_room()
        self._sites.move_to_end(name)
        return site

    async def _make_room(self) -> None:
        """Let go of the site that was not needed for longest; the store knows all of it."""
        if len(self._sites) > _SITES_IN_MEMORY:
            await self._flush()
            is_stored = not self._buffer and not self._trees
            if is_stored and len(self._sites) > _SITES_IN_MEMORY:
                name, _ = self._sites.popitem(last=False)
                self._evicted.add(name)

    async def _look_up(self, cluster: str, key: str) -> tuple[Site, PageRecord | None, bool]:
        """A page's site, what is known of the page, and whether that could be found out."""
        while True:
            site = await self._site(cluster)
            try:
                stored, is_known = await self._find(key), True
            except StoreError as error:
                # What may have been learned before is not learned now, yet its items are cleaned.
                self._count_refusal(error)
                stored, is_known = None, False
            if self._sites.get(cluster) is site:
                return site, stored, is_known

    def _build(self, site: Site) -> None:
        self._trees[site.name] = site.build()
        self.stats.inc_value("noiseclean/trees/built")

    def _may_learn(self, record: PageRecord, page: Page) -> bool:
        return record.position is None and not self.config.read_only and bool(page.blocks)

    # The store

    async def _find(self, key: str) -> PageRecord | None:
        """What is known of a page: what waits to be written, else what the store has."""
        while key not in self._buffer:
            writes = self._writes
            stored = await run_in_thread(self.store.find, key)
            # A write that has ended meanwhile may have taken the page out of the buffer.
            if writes == self._writes and key not in self._buffer:
                return stored
        return self._buffer[key]

    def _add(self, record: PageRecord) -> None:
        """Let a record wait; what it leaves None is kept from an earlier one."""
        known = self._buffer.get(record.key)
        if known:
            record = replace(
                record,
                position=record.position or known.position,
                html=record.html or known.html,
                cleaned=record.cleaned or known.cleaned,
                metadata=record.metadata or known.metadata,
            )
        self._buffer[record.key] = record

    async def _flush(self) -> None:
        """Write pages, then the trees that cover them; what the store refuses goes on waiting."""
        if self._flushing:
            return
        self._flushing = True
        trees = list(self._trees.values())
        try:
            await self._write_pages(list(self._buffer.values()))
            await self._save_trees(trees)
            self._refused = False
        except StoreError as error:
            self._count_refusal(error)
        finally:
            self._flushing = False
            self._last_flush = monotonic()

    async def _write_pages(self, records: list[PageRecord]) -> None:
        if not records:
            return
        await run_in_thread(self.store.write, records, method=self.config.tree_kind)
        self._writes += 1
        for record in records:
            if self._buffer.get(record.key) is record:
                del self._buffer[record.key]
        self.stats.inc_value("noiseclean/store/batches")
        keys = " ".join(record.key for record in records)
        logger.debug("Stored %d pages: %s", len(records), keys)

    async def _save_trees(self, trees: list[TreeVersion]) -> None:
        for tree in trees:
            cleaned = await run_in_thread(tree.save, self.store)
            if self._trees.get(tree.cluster) is tree:
                del self._trees[tree.cluster]
            self.stats.inc_value("noiseclean/pages/recleaned", len(cleaned))

    def _count_refusal(self, error: StoreError) -> None:
        self.stats.inc_value("noiseclean/store/errors")
        if not self._refused:
            logger.error("%s; the crawl goes on, its pages wait for the next try", error)
        self._refused = True

    # Pages seen

    def _remember(self, response: Response, visit: Visit) -> None:
        self._visits[response] = visit
        self._recent[response.url] = visit
        self._recent.move_to_end(response.url)
        while len(self._recent) > _RECENT_PAGES:
            self._recent.popitem(last=False)

    def _note(self, page: Page) -> None:
        self.stats.inc_value("noiseclean/pages/seen")
        if page.characters_lost:
            self.stats.inc_value("noiseclean/pages/truncated")
            logger.debug(
                "The parser lost about %d characters of %s", page.characters_lost, page.url
            )
