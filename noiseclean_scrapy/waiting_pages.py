"""The pages of a crawl that wait to be written."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import run_in_thread

from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store import PageRecord, Written
from noiseclean_scrapy.writer import Writer, write_pages

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)


class WaitingPages:
    """Pages on their way into the store: each once, with all that is known of it."""

    def __init__(self, config: Config, stats: StatsCollector, writer: Writer) -> None:
        self.config = config
        self.stats = stats
        self.writer = writer
        self.refused = False
        self._records: dict[str, PageRecord] = {}
        self._writes = 0

    def __len__(self) -> int:
        return len(self._records)

    def add(self, record: PageRecord) -> None:
        """Let a record wait; what it leaves None is kept from an earlier one."""
        known = self._records.get(record.key)
        if known:
            record = replace(
                record,
                position=record.position or known.position,
                html=record.html or known.html,
                cleaned=record.cleaned or known.cleaned,
                metadata=record.metadata or known.metadata,
            )
        self._records[record.key] = record

    async def find(self, key: str) -> PageRecord | None:
        """What is known of a page: what waits to be written, else what the store has."""
        while key not in self._records:
            writes = self._writes
            stored = await run_in_thread(self.writer.store.find, key)
            # A write that has ended meanwhile may have taken the page away from here.
            if writes == self._writes and key not in self._records:
                return stored
        return self._records[key]

    async def write(self) -> tuple[list[PageRecord], Written]:
        """Write what waits; the records, and what became of them.

        Raises StoreError, and all goes on waiting.
        """
        records = list(self._records.values())
        if not records:
            return records, Written(0, ())
        written = await self.writer.run(
            write_pages, records, method=self.config.tree_kind, metadata=self.config.metadata
        )
        self._writes += 1
        for record in records:
            if self._records.get(record.key) is record:
                del self._records[record.key]
        self.stats.inc_value("noiseclean/store/batches")
        if written.learned:
            self.stats.inc_value("noiseclean/pages/learned", written.learned)
        keys = " ".join(record.key for record in records)
        logger.debug("Stored %d pages: %s", len(records), keys)
        return records, written

    def count_refusal(self, error: StoreError) -> None:
        """Count what the store has refused, and say so once."""
        self.stats.inc_value("noiseclean/store/errors")
        if not self.refused:
            logger.error("%s; the crawl goes on, its pages wait for the next try", error)
        self.refused = True

    async def close(self) -> None:
        if self._records:
            logger.error("%d pages could not be stored and are lost", len(self._records))
