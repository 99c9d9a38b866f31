"""The clusters that a crawl has in memory, and how they follow the store."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import run_in_thread, sleep

from noiseclean_scrapy.clusters.cluster import PageCluster, load_cluster
from noiseclean_scrapy.clusters.page_cache import PageCache
from noiseclean_scrapy.clusters.training import (
    Training,
    load_learner,
    newest_readable,
    repair_tree,
)
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.writer import Writer
from noiseclean_scrapy.errors import TreeDataError, UnknownMethodError
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store import ClusterRecord, PageRecord

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from noiseclean_scrapy.crawl.write_queue import WriteQueue

logger = get_logger(__name__)

_CLUSTERS_IN_MEMORY = 256
_TREE_BYTES_IN_MEMORY = 32 * 2**20
"""Of stored trees: as `evidence` some 300 MiB in memory, as style trees up to 1 GiB."""
_NAMES_AT_ONCE = 500
_BUSY_SECONDS = 0.05
_IDLE_CLUSTERS_AT_ONCE = 20


class ClusterCache:
    """Loads clusters, lets go of idle ones, and brings those in memory up to the store's trees.

    Other processes may learn the same clusters: what is here is the newest tree that was heard of,
    and the pages that this process has observed since. Trees are trained in the store, in a thread.
    """

    def __init__(self, config: Config, stats: StatsCollector, writer: Writer) -> None:
        self.config = config
        self.stats = stats
        self.store = writer.store
        self.writer = writer
        self._clusters: OrderedDict[str, PageCluster] = OrderedDict()
        self._seen: set[str] = set()
        self._held = PageCache()
        self._foreign: set[str] = set()  # clusters of methods that are not here
        self._repairing: set[str] = set()
        self._unreadable: dict[str, int] = {}  # newest versions that can be neither read nor mended

    def __iter__(self) -> Iterator[PageCluster]:
        return iter(list(self._clusters.values()))

    def __contains__(self, cluster: PageCluster) -> bool:
        return self._clusters.get(cluster.name) is cluster

    async def get(self, name: str) -> PageCluster:
        """A cluster; raises StoreError when it is not in memory and the store does not answer."""
        cluster = self._clusters.get(name)
        if cluster is None:
            cluster = self._clusters.setdefault(name, await self._loaded(name))
            self._note_cluster(name)
        self._clusters.move_to_end(name)
        return cluster

    async def _loaded(self, name: str) -> PageCluster:
        """A cluster as the store has it, or with the newest tree that can be read."""
        try:
            return await run_in_thread(load_cluster, self.store, name, self.config)
        except UnknownMethodError:
            raise
        except TreeDataError:
            # Another page may have had it mended meanwhile.
            older = None if name in self._clusters else await self._repair(name)
        if older:
            return PageCluster(name, self.config, older)
        if name in self._clusters:
            return self._clusters[name]
        return await run_in_thread(load_cluster, self.store, name, self.config)

    def begin(self, name: str) -> PageCluster:
        """A cluster of which the store tells nothing; it catches up when the store is back."""
        if name not in self._clusters:
            self._clusters[name] = PageCluster(name, self.config)
            self._note_cluster(name)
        return self._clusters[name]

    def make_room(self) -> None:
        """Let go of the clusters that were not needed for longest; the store knows all of them."""
        clusters, size = len(self._clusters), sum(cluster.size for cluster in self)
        for cluster in self:
            if (clusters <= _CLUSTERS_IN_MEMORY and size <= _TREE_BYTES_IN_MEMORY) or clusters == 1:
                break
            if not cluster.busy and not cluster.unwritten:
                del self._clusters[cluster.name]
                clusters, size = clusters - 1, size - cluster.size

    async def renew_interim(self, cluster: PageCluster) -> None:
        """Take what a cluster without a tree has learned so far into use."""
        learner = cluster.take_learner()
        assert learner
        async with self._lent(cluster):
            await run_in_thread(learner.cleaner.model)
            cluster.adopt_interim(learner)

    def take_due(self) -> list[tuple[PageCluster, Training]]:
        """The clusters whose trees are due, and their trainings, for when the pages are written."""
        return [(cluster, self._training(cluster)) for cluster in self if cluster.due]

    def hold(self, record: PageRecord, page: Page) -> None:
        """Keep a page parsed until it is cleaned again, as far as there is room."""
        if not self.writer.is_process:
            self._held.add(record, page)

    def note_read(self, record: PageRecord, page: Page) -> None:
        """Keep what was read in a page that no learner had time for when it came."""
        self._held.note(record, page)

    async def train(self, cluster: PageCluster, training: Training) -> None:
        """Train a cluster, and take its new tree into use."""
        async with self._lent(cluster):
            result = await self.writer.train(training)
            if result.learner:
                cluster.adopt(result.learner, result.cluster)
            else:
                cluster.give_back(None)
            for stat, count in (
                ("noiseclean/trees/built", result.built),
                ("noiseclean/trees/redesigns", result.redesigned),
                ("noiseclean/pages/recleaned", len(result.cleaned)),
                ("noiseclean/errors", len(result.errors)),
            ):
                if count:
                    self.stats.inc_value(stat, count)

    def note_written(self, records: Iterable[PageRecord], waiting: WriteQueue) -> None:
        """Take note of pages that have been written, from the spool by others as well."""
        for record in records:
            if record.cluster in self._clusters:
                self._clusters[record.cluster].note_written(record.key)
        if len(waiting) == waiting.in_memory:
            for cluster in self:
                cluster.unwritten = {key for key in cluster.unwritten if key in waiting}

    async def follow(self, states: Iterable[ClusterRecord] | None = None) -> None:
        """Take note of what others have done to the clusters in memory, and adopt their trees."""
        if states is None:
            names = list(self._clusters)
            states = await run_in_thread(self.store.clusters.among, names)
        for state in states:
            cluster = self._clusters.get(state.name)
            if cluster is not None and not cluster.busy:
                cluster.note(state)
                if state.version not in (cluster.version, self._unreadable.get(state.name)):
                    await self._renew(cluster)
                    adopted = "%s: adopted version %d of its tree"
                    logger.debug(adopted, cluster.name, cluster.version)

    async def _renew(self, cluster: PageCluster) -> None:
        cluster.take_learner()
        async with self._lent(cluster):
            loaded = await run_in_thread(load_learner, self.store, cluster.name, self.config)
            if loaded is None:
                cluster.give_back(None)
            else:
                cluster.adopt(*loaded)

    @asynccontextmanager
    async def _lent(self, cluster: PageCluster) -> AsyncIterator[None]:
        """While a thread has a cluster's learner: after a failure it may be ahead, and is dropped.

        A damaged tree is repaired, and that is the end of what was to be done. A cluster that
        somebody has learned again, by a method that is not here, is let go of.
        """
        try:
            yield
        except UnknownMethodError as error:
            cluster.give_back(None)
            self._clusters.pop(cluster.name, None)
            self._tell_foreign(cluster.name, error)
        except BaseException as error:
            cluster.give_back(None)
            if not isinstance(error, TreeDataError):
                raise
            await self._repair(cluster.name)

    async def _repair(self, name: str) -> ClusterRecord | None:
        """Mend a tree that cannot be read, once for all pages that wait for it.

        In a crawl that only reads: the cluster with the newest tree that can be read instead.
        """
        if name in self._repairing:
            while name in self._repairing:
                await sleep(_BUSY_SECONDS)
            return None
        self._repairing.add(name)
        try:
            self.stats.inc_value("noiseclean/errors")
            if not self.config.read_only:
                await run_in_thread(repair_tree, self.store, name, self.config)
            elif newest := await run_in_thread(self.store.clusters.find, name):
                self._unreadable[name] = newest.version
                return await run_in_thread(newest_readable, self.store, newest, self.config)
            return None
        finally:
            self._repairing.discard(name)

    async def finish(self) -> None:
        """Build the trees that have provisional pages to learn, and forget the clusters.

        Of all clusters seen here, and of those that a process has left which came to its end.
        """
        names = sorted(self._seen.union(await self._idle()))
        for start in range(0, len(names), _NAMES_AT_ONCE):
            async for cluster, state in self._stored(names[start : start + _NAMES_AT_ONCE]):
                while cluster.busy:
                    await sleep(_BUSY_SECONDS)
                await self._cover(cluster, state)
                self._tell_redesign(cluster)
                self._clusters.pop(state.name, None)

    def _tell_redesign(self, cluster: PageCluster) -> None:
        """Say of a site that looks different now that none of its pages were new to learn."""
        if cluster.redesigned:
            logger.warning(
                "Pages of %s have stopped fitting its tree, and none of them are new: to learn it "
                "again from the pages as they are now: scrapy noiseclean reclean %s --method %s",
                cluster.name,
                cluster.name,
                cluster.config.tree_kind,
            )

    async def cover_idle(self) -> None:
        """Build the trees of clusters with provisional pages that had no new page for a while.

        Whichever process fetched them: not every crawl comes to an end.
        """
        idle = await self._idle()
        names = [name for name in idle if name not in self._foreign][:_IDLE_CLUSTERS_AT_ONCE]
        async for cluster, state in self._stored(names):
            if not cluster.busy and not cluster.unwritten:
                await self._cover(cluster, state)

    async def _stored(self, names: list[str]) -> AsyncIterator[tuple[PageCluster, ClusterRecord]]:
        """Clusters, in memory or not, whose methods are here, each with its state in the store."""
        for state in await run_in_thread(self.store.clusters.among, names):
            cluster = self._clusters.get(state.name) or self._known(state)
            if cluster is not None:
                yield cluster, state

    def _known(self, state: ClusterRecord) -> PageCluster | None:
        """A cluster that is not in memory; None, once told, where its method is not here."""
        try:
            return PageCluster(state.name, self.config, state)
        except UnknownMethodError as error:
            self._tell_foreign(state.name, error)
            return None

    def _tell_foreign(self, name: str, error: UnknownMethodError) -> None:
        """Say, once, of a cluster that its method is not here."""
        if name not in self._foreign:
            self._foreign.add(name)
            self.stats.inc_value("noiseclean/errors")
            logger.error("%s gets no tree from this crawl: %s", name, error)

    async def _idle(self) -> list[str]:
        since = datetime.now(timezone.utc) - timedelta(seconds=self.config.idle_seconds)
        return await run_in_thread(self.store.clusters.idle, since)

    async def _cover(self, cluster: PageCluster, state: ClusterRecord) -> None:
        """Let the tree of a cluster learn all provisional pages."""
        cluster.note(state)
        tries = 2  # one more when the tree has to be repaired
        while cluster.learned > cluster.covered and tries:
            before = cluster.covered
            await self.train(cluster, self._training(cluster, pages_due=1))
            tries = 2 if cluster.covered > before else tries - 1

    def _training(self, cluster: PageCluster, *, pages_due: int | None = None) -> Training:
        return replace(cluster.training(pages_due=pages_due), held=self._held)

    def _note_cluster(self, name: str) -> None:
        self._seen.add(name)
        self.stats.set_value("noiseclean/clusters", len(self._seen))
