"""The pages of a crawl that wait to be written."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from time import monotonic
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import run_in_thread

from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.spool import Spool, Spooled, completed
from noiseclean_scrapy.crawl.writer import Writer, write_pages
from noiseclean_scrapy.errors import DamagedError, RefusedValueError, StoreError
from noiseclean_scrapy.page.characters import counted
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store import PageRecord, Written

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

logger = get_logger(__name__)


_BATCHES_WAITING = 20
_BYTES_WAITING = 128 * 2**20
_SPOOLED_AT_ONCE = 500
_ROOMS_WITHOUT_SPOOL = 10


class WriteQueue:
    """Pages on their way into the store: each once, with all that is known of it.

    While the store refuses, more than `room` pages, or 128 MiB of them, go to the spool, a local
    folder, and from there to the store when it is back, in this crawl or in a later one. Where
    the spool refuses as well, pages stay in memory, and above ten times as many, or as much, the
    oldest keep their text only.
    """

    def __init__(self, config: Config, stats: StatsCollector, writer: Writer, spool: Spool) -> None:
        self.config = config
        self.stats = stats
        self.writer = writer
        self.spool = spool
        self.refused = False
        self.room = _BATCHES_WAITING * config.batch_size
        self._records: dict[str, PageRecord] = {}
        self._bytes = 0
        self._writes = 0
        self.damaged: set[str] = set()

    def __len__(self) -> int:
        return len(self._records) + self.spool.pages

    @property
    def in_memory(self) -> int:
        """Number of pages that wait here, without those of the spool."""
        return len(self._records)

    def __contains__(self, key: str) -> bool:
        return key in self._records

    @property
    def is_full(self) -> bool:
        """Whether more pages wait in memory than there is room for."""
        return len(self._records) > self.room or self._bytes > _BYTES_WAITING

    def add(self, record: PageRecord) -> None:
        """Let a record wait; what it leaves None is kept from an earlier one of the same body."""
        known = self._records.get(record.key)
        self._put(completed(record, known) if known else record)

    def put_back(self, record: PageRecord) -> None:
        """Let a record wait again; what has come of its page since stays above it."""
        newer = self._records.get(record.key)
        self._put(completed(newer, record) if newer else record)

    async def find(self, key: str, *, is_new: bool = False) -> PageRecord | None:
        """What is known of a page: the pending record, else what the store has.

        With `is_new` the store is known not to have it.
        """
        while key not in self._records:
            # While the store refuses, whether the page was learned is for it to decide later.
            if is_new or self.refused:
                return None
            writes = self._writes
            stored = await run_in_thread(self._find_stored, key)
            # A write that has ended meanwhile may have taken the page away from here.
            if writes == self._writes and key not in self._records:
                return stored
        return self._records[key]

    async def find_url(self, url: str) -> PageRecord | None:
        """What is known of the page last fetched from an address, with HTML that is kept.

        That is the pending record, else what the store has.
        """
        waiting = [record for record in self._records.values() if record.url == url]
        if waiting or self.refused:
            return max(waiting, key=lambda record: record.fetched_at, default=None)
        return await run_in_thread(self._find_stored_url, url)

    async def write(self) -> tuple[list[PageRecord], Written]:
        """Write the pending pages, first those of the spool; the records, and what became of them.

        Raises StoreError, and all goes on waiting.
        """
        spooled = await run_in_thread(self._read_spool)
        waiting = dict(self._records)
        first = {
            page.key: completed(waiting[page.key], page) if page.key in waiting else page
            for page, _ in spooled
        }
        records = [*first.values(), *(page for key, page in waiting.items() if key not in first)]
        if not records:
            return records, Written(0, ())
        began = monotonic() - self.stats.get_value("noiseclean/store/seconds", 0.0)
        written = await self._write(records)
        if spooled:
            await run_in_thread(self.spool.remove, spooled)
        self._writes += 1
        self._forget(waiting.values())
        self.stats.inc_value("noiseclean/store/batches")
        self.stats.set_value("noiseclean/store/seconds", round(monotonic() - began, 3))
        if written.learned:
            self.stats.inc_value("noiseclean/pages/learned", written.learned)
        logger.info("Stored what is new of %s", counted(len(records), "page"))
        logger.debug("Keys of stored pages: %s", " ".join(record.key for record in records))
        return records, written

    async def _write(self, records: list[PageRecord]) -> Written:
        """Write records together; a page whose values are refused is set aside, with its reason."""
        rewrite = self.damaged.intersection(record.key for record in records)
        try:
            written = await self.writer.run(
                write_pages,
                records,
                method=self.config.tree_kind,
                metadata=self.config.metadata,
                rewrite=rewrite,
            )
        except RefusedValueError as error:
            if len(records) == 1:
                await self._set_aside(records[0], error)
                return Written(0, ())
            middle = len(records) // 2
            return await self._write(records[:middle]) + await self._write(records[middle:])
        self.damaged -= rewrite
        return written

    async def _set_aside(self, record: PageRecord, error: RefusedValueError) -> None:
        self.stats.inc_value("noiseclean/store/errors")
        try:
            name = await run_in_thread(self.spool.set_aside, record)
        except StoreError:
            self.stats.inc_value("noiseclean/pages/lost")
            logger.error("%s could not be stored and is lost: %s", record.url, error)
        else:
            logger.error("%s could not be stored, and is now %s: %s", record.url, name, error)

    def count_refusal(self, error: StoreError) -> None:
        """Count what the store has refused, and say so once."""
        self.stats.inc_value("noiseclean/store/errors")
        if not self.refused:
            logger.error("%s; the crawl goes on, its pages wait for the next try", error)
        self.refused = True

    async def spill(self) -> bool:
        """Let all pages in memory wait in the spool; whether it took them all."""
        taken: list[PageRecord] = []
        try:
            await run_in_thread(self.spool.add, list(self._records.values()), taken.append)
        except StoreError as error:
            self._forget(taken)
            self.stats.inc_value("noiseclean/store/errors")
            logger.error("No spool for pages that wait: %s", error)
            self._drop_html()
            return False
        self._forget(taken)
        return True

    async def close(self) -> None:
        """Leave nothing in memory."""
        if self._records and not await self.spill():
            lost = await run_in_thread(self._count_lost)
            if lost:
                self.stats.inc_value("noiseclean/pages/lost", lost)
                logger.error("%d pages could not be stored and are lost", lost)
            if known := len(self._records) - lost:
                what = "What came last of %s, such as a text, could not be stored"
                logger.error(what, counted(known, "page"))
        self._tell_spooled()

    def abandon(self) -> None:
        """Let what waits go to the spool, where nothing can be awaited any longer."""
        if not self.refused:
            with suppress(StoreError):  # a write that was under way has gone on in its thread
                self._forget([page for page in self._records.values() if self._is_stored(page)])
        try:
            if waiting := list(self._records.values()):
                self.spool.add(waiting, lambda page: self._forget([page]))
        except StoreError as error:
            self.stats.inc_value("noiseclean/pages/lost", len(self._records))
            logger.error("%s are lost: %s", counted(len(self._records), "page"), error)
        self._tell_spooled()

    def _is_stored(self, record: PageRecord) -> bool:
        stored = self._find_stored(record.key)
        return (
            stored is not None
            and stored.body_hash == record.body_hash
            and (stored.cleaned is not None or record.cleaned is None)
        )

    def _tell_spooled(self) -> None:
        if self.spool.pages:
            logger.error(
                "%d pages could not be stored; they wait in %s for the next crawl with this "
                "database",
                self.spool.pages,
                self.spool.path,
            )

    def _count_lost(self) -> int:
        """Number of pages that are in memory alone, as they were fetched last."""
        lost = dict(self._records)
        for find in (self.spool.find, self._find_stored):
            with suppress(StoreError):  # who refuses is asked for no other page
                for key, record in self._records.items():
                    found = find(key)
                    if found is not None and found.body_hash == record.body_hash:
                        lost.pop(key, None)
        return len(lost)

    def _find_stored(self, key: str) -> PageRecord | None:
        """What the store has of a page; one that it cannot read is to be written again."""
        try:
            return self.writer.store.pages.find(key)
        except DamagedError:
            self.damaged.add(key)
            return None

    def _find_stored_url(self, url: str) -> PageRecord | None:
        pages = self.writer.store.pages
        try:
            record = pages.find_url(url)
            return replace(record, html=pages.html(record.key)) if record else None
        except DamagedError:
            return None

    def _read_spool(self) -> list[Spooled]:
        pages: list[Spooled] = []
        old: list[Spooled] = []
        now = datetime.now(timezone.utc)
        for spooled in self.spool.read(_SPOOLED_AT_ONCE, _BYTES_WAITING):
            stored = self._find_stored(spooled.page.key)
            # Another process may have fetched the page again meanwhile.
            is_newest = (
                stored is None
                or stored.fetched_at <= spooled.page.fetched_at
                or stored.fetched_at > now  # by a clock that was wrong
            )
            (pages if is_newest else old).append(spooled)
        if old:
            logger.info("%s of the spool: newer ones are stored", counted(len(old), "page"))
            self.spool.remove(old)
        return pages

    def _forget(self, records: Iterable[PageRecord]) -> None:
        for record in records:
            if self._records.get(record.key) is record:
                del self._records[record.key]
                self._bytes -= record.size

    def _drop_html(self) -> None:
        excess = len(self._records) - _ROOMS_WITHOUT_SPOOL * self.room
        for number, record in enumerate(list(self._records.values())):
            if number >= excess and self._bytes <= _ROOMS_WITHOUT_SPOOL * _BYTES_WAITING:
                break
            self._put(replace(record, html=None, position=None))

    def _put(self, record: PageRecord) -> None:
        known = self._records.get(record.key)
        self._bytes += record.size - (known.size if known else 0)
        self._records[record.key] = record
