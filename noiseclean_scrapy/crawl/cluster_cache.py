"""The sites that a crawl has in memory, and how they follow the store."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import run_in_thread, sleep

from noiseclean_scrapy.clusters.cluster import Site, load_site
from noiseclean_scrapy.clusters.page_cache import HeldPages
from noiseclean_scrapy.clusters.training import Grower, load_learner, repair_tree
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.writer import Writer
from noiseclean_scrapy.errors import TreeDataError
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.urls import former_name
from noiseclean_scrapy.store import ClusterRecord, PageRecord

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)

_SITES_IN_MEMORY = 256
_TREE_BYTES_IN_MEMORY = 32 * 2**20
"""Of stored trees: as `evidence` some 300 MiB in memory, as style trees up to 1 GiB."""
_NAMES_AT_ONCE = 500
_BUSY_SECONDS = 0.05
_IDLE_SITES_AT_ONCE = 20


class SiteCache:
    """Loads sites, lets go of idle ones, and brings those in memory up to the store's trees.

    Other processes may learn the same sites: what is here is the newest tree that was heard of, and
    the pages that this process has observed since. Trees grow in the store, in a thread.
    """

    def __init__(self, config: Config, stats: StatsCollector, writer: Writer) -> None:
        self.config = config
        self.stats = stats
        self.store = writer.store
        self.writer = writer
        self._sites: OrderedDict[str, Site] = OrderedDict()
        self._seen: set[str] = set()
        self._held = HeldPages()
        self._renamed: set[str] = set()

    def __iter__(self) -> Iterator[Site]:
        return iter(list(self._sites.values()))

    def __contains__(self, site: Site) -> bool:
        return self._sites.get(site.name) is site

    async def get(self, name: str) -> Site:
        """A site; raises StoreError when it is not in memory and the store does not answer."""
        site = self._sites.get(name)
        if site is None:
            try:
                loaded = await run_in_thread(self._load, name)
            except TreeDataError:
                await self._repair(name)
                loaded = await run_in_thread(self._load, name)
            site = self._sites.setdefault(name, loaded)
            self._note_cluster(name)
        self._sites.move_to_end(name)
        return site

    def _load(self, name: str) -> Site:
        site = load_site(self.store, name, self.config)
        former = former_name(name)
        is_news = former != name and former not in self._renamed and not site.pages
        if is_news and self.store.clusters.among([former]):
            self._renamed.add(former)
            logger.warning(
                "%s is a site of its own now and learned from the start. What is stored as %s, "
                "where it was learned together with others, stays there until it is fetched "
                "again, or until scrapy noiseclean forget %s",
                name,
                former,
                former,
            )
        return site

    def begin(self, name: str) -> Site:
        """A site of which the store tells nothing; it catches up when the store is back."""
        if name not in self._sites:
            self._sites[name] = Site(name, self.config)
            self._note_cluster(name)
        return self._sites[name]

    def make_room(self) -> None:
        """Let go of the sites that were not needed for longest; the store knows all of them."""
        sites, size = len(self._sites), sum(site.size for site in self)
        for site in self:
            if (sites <= _SITES_IN_MEMORY and size <= _TREE_BYTES_IN_MEMORY) or sites == 1:
                break
            if not site.busy and not site.unwritten:
                del self._sites[site.name]
                sites, size = sites - 1, size - site.size

    async def renew_interim(self, site: Site) -> None:
        """Take what a site without a tree has learned so far into use."""
        learner = site.take_learner()
        assert learner
        try:
            await run_in_thread(learner.cleaner.model)
        except BaseException:
            site.give_back(None)
            raise
        site.adopt_interim(learner)

    def take_due(self) -> list[tuple[Site, Grower]]:
        """The sites whose trees are due, with what makes them once the pages are written."""
        return [(site, self._grower(site)) for site in self if site.due]

    def hold(self, record: PageRecord, page: Page) -> None:
        """Keep a page parsed until it is cleaned again, as far as there is room."""
        if not self.writer.is_process:
            self._held.add(record, page)

    async def grow(self, site: Site, grower: Grower) -> None:
        """Let the tree of a site grow, and take it into use."""
        try:
            grower, growth = await self.writer.train(grower)
        except TreeDataError:
            site.give_back(None)
            await self._repair(site.name)
            return
        except BaseException:
            # The learner is ahead of the store now.
            site.give_back(None)
            raise
        if grower.built:
            self.stats.inc_value("noiseclean/trees/built")
            if grower.redesigned_version is not None:
                self.stats.inc_value("noiseclean/trees/redesigns")
        if grower.learner:
            site.adopt(grower.learner, growth.cluster)
        else:
            site.give_back(None)
        if growth.cleaned:
            self.stats.inc_value("noiseclean/pages/recleaned", len(growth.cleaned))
        if grower.errors:
            self.stats.inc_value("noiseclean/errors", len(grower.errors))

    def note_written(self, records: Iterable[PageRecord]) -> None:
        """Take note of pages that have been written."""
        for record in records:
            if record.cluster in self._sites:
                self._sites[record.cluster].note_written(record.key)

    async def follow(self, states: Iterable[ClusterRecord] | None = None) -> None:
        """Take note of what others have done to the sites in memory, and adopt their trees."""
        if states is None:
            names = list(self._sites)
            states = await run_in_thread(self.store.clusters.among, names)
        for state in states:
            site = self._sites.get(state.name)
            if site is not None and not site.busy:
                site.note(state)
                if state.version != site.version:
                    await self._renew(site)
                    logger.debug("%s: adopted version %d of its tree", site.name, site.version)

    async def _renew(self, site: Site) -> None:
        site.take_learner()
        try:
            loaded = await run_in_thread(load_learner, self.store, site.name, site.config)
        except TreeDataError:
            site.give_back(None)
            await self._repair(site.name)
            return
        except BaseException:
            site.give_back(None)
            raise
        if loaded is None:
            site.give_back(None)
        else:
            site.adopt(*loaded)

    async def _repair(self, name: str) -> None:
        self.stats.inc_value("noiseclean/errors")
        await run_in_thread(repair_tree, self.store, name, self.config)

    async def finish(self) -> None:
        """Build the trees that have provisional pages to learn, and forget the sites.

        Of all sites seen here, and of those that a process has left which came to its end.
        """
        names = sorted(self._seen.union(await self._idle()))
        for start in range(0, len(names), _NAMES_AT_ONCE):
            part = names[start : start + _NAMES_AT_ONCE]
            for state in await run_in_thread(self.store.clusters.among, part):
                site = self._sites.pop(state.name, None) or Site(state.name, self.config, state)
                while site.busy:
                    await sleep(_BUSY_SECONDS)
                await self._cover(site, state)

    async def cover_idle(self) -> None:
        """Build the trees of sites with provisional pages that had no new page for a while.

        Whichever process fetched them: not every crawl comes to an end.
        """
        names = (await self._idle())[:_IDLE_SITES_AT_ONCE]
        for state in await run_in_thread(self.store.clusters.among, names):
            site = self._sites.get(state.name) or Site(state.name, self.config, state)
            if not site.busy and not site.unwritten:
                await self._cover(site, state)

    async def _idle(self) -> list[str]:
        since = datetime.now(timezone.utc) - timedelta(seconds=self.config.idle_seconds)
        return await run_in_thread(self.store.clusters.idle, since)

    async def _cover(self, site: Site, state: ClusterRecord) -> None:
        """Let the tree of a site learn all provisional pages."""
        site.note(state)
        tries = 2  # one more when the tree has to be repaired
        while site.learned > site.covered and tries:
            before = site.covered
            await self.grow(site, self._grower(site, pages_due=1))
            tries = 2 if site.covered > before else tries - 1

    def _grower(self, site: Site, *, pages_due: int | None = None) -> Grower:
        return replace(site.grower(pages_due=pages_due), held=self._held)

    def _note_cluster(self, name: str) -> None:
        self._seen.add(name)
        self.stats.set_value("noiseclean/clusters", len(self._seen))
