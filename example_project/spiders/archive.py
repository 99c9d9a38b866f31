"""Cleans pages that are already stored: scrapy crawl archive -a source=pages.warc.gz"""

from __future__ import annotations

from noiseclean_scrapy.batch.replay import ReplaySpider


class ArchiveSpider(ReplaySpider):
    """One item a stored page; the add-on fills in its text and title."""

    name = "archive"
