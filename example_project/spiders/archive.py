"""Cleans pages that are already stored: scrapy crawl archive -a source=pages.warc.gz"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy.http import Response

from noiseclean_scrapy.batch.replay import ReplaySpider


class ArchiveSpider(ReplaySpider):
    """One item a stored page; the add-on fills in its text and title."""

    name = "archive"

    def parse(self, response: Response, page_id: str, site: str) -> Iterator[dict[str, Any]]:
        yield {"id": page_id, "url": response.url, "site": site}
