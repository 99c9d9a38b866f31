"""A crawl of small pages that are large once they are read, and what memory it takes.

    python -m tests.support.costly_pages [PAGES] [NAME=VALUE ...]

crawls so many (100) with a database in a temporary folder, and prints its pages, its items, and the
most memory that the process has taken, in MiB. Each page has some 550 bytes as it is sent.
"""

from __future__ import annotations

import gzip
import json
import resource
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess

from tests.support.servers import Request, serving

LEVELS, NAME, BLOCKS = 95, 60, 25_000


def costly_page(number: int, blocks: int = BLOCKS) -> str:
    """Elements with long names in each other, and in the innermost very many blocks."""
    head = f"<html><body><h1>Page {number}</h1>"
    levels = "".join(f"<{chr(97 + level % 26) * NAME}>" for level in range(LEVELS))
    return head + levels + "<p>x y" * blocks


def _respond(request: Request) -> None:
    body = gzip.compress(costly_page(int(request.path.strip("/") or 0)).encode(), 9)
    request.answer(body, headers={"Content-Encoding": "gzip"})


class CostlySpider(scrapy.Spider):
    """Asks for all pages at once."""

    name = "costly"
    address = ""
    pages = 0

    async def start(self) -> Any:
        for number in range(1, self.pages + 1):
            yield scrapy.Request(f"{self.address}/{number}")

    def parse(self, response: Any) -> Iterator[dict[str, str]]:
        yield {"url": response.url}


def main(pages: int = 100, **settings: str) -> None:
    """Crawl, and print what it took."""
    with serving(_respond) as port, tempfile.TemporaryDirectory() as folder:
        process = CrawlerProcess(
            {
                "ADDONS": {"noiseclean_scrapy.addon.Addon": 300},
                "NOISECLEAN_DATABASE_URL": f"sqlite:///{folder}/noiseclean.db",
                "ROBOTSTXT_OBEY": False,
                "TELNETCONSOLE_ENABLED": False,
                "LOG_LEVEL": "ERROR",
                **settings,
            }
        )
        crawler = process.create_crawler(CostlySpider)
        process.crawl(crawler, address=f"http://127.0.0.1:{port}", pages=pages)
        process.start()
    assert crawler.stats
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    counts = {
        "pages": crawler.stats.get_value("noiseclean/pages/seen", 0),
        "items": crawler.stats.get_value("noiseclean/items/cleaned", 0),
        "errors": crawler.stats.get_value("noiseclean/errors", 0),
        "peak_mib": round(peak),
    }
    print(json.dumps(counts))


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if "=" not in argument]
    given: Any = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    main(*numbers, **given)
