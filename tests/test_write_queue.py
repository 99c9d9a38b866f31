"""Pages on their way into the store: what is put back does not hide what came later."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.spool import Spool
from noiseclean_scrapy.crawl.write_queue import WriteQueue
from noiseclean_scrapy.crawl.writer import Writer
from noiseclean_scrapy.store import Cleaned, PageRecord, Store

NOON = datetime(2031, 5, 21, 12, tzinfo=timezone.utc)
OLD = PageRecord("1", "a.example", "http://a.example/", "0", NOON, 1, "<p>old")
TEXT = Cleaned("", "old", (), 1, 3, 3)


def test_what_is_put_back_stands_below_what_came_since(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'noiseclean.db'}") as store:
        stats = MemoryStatsCollector(get_crawler())
        pages = WriteQueue(Config(), stats, Writer(store), Spool(tmp_path / "spool.db"))
        pages.put_back(OLD)
        assert asyncio.run(pages.find("1")) == OLD
        newer = replace(OLD, body_hash="1", html="<p>new", cleaned=replace(TEXT, text="new"))
        pages.add(newer)
        pages.put_back(replace(OLD, cleaned=TEXT))
        assert asyncio.run(pages.find("1")) == newer
        pages.add(replace(OLD, key="2"))
        pages.put_back(replace(OLD, key="2", cleaned=TEXT))
        assert asyncio.run(pages.find("2")) == replace(OLD, key="2", cleaned=TEXT)
