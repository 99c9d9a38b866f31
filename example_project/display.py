"""The crawl as its user sees it: live progress, then a report once the store is closed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from scrapy import signals
from scrapy.utils.asyncio import run_in_thread

from example_project.outcome import Outcome, read_outcome, removed_share
from example_project.report import print_report
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.crawl.progress import send_log_to_stderr
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store import Store

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

_SECONDS_BETWEEN_LINES = 5.0
_BAR_WIDTH = 36


@dataclass(frozen=True, slots=True)
class Figures:
    """The crawl so far, from its stats and items."""

    pages: int
    items: int
    clusters: int
    trees: int
    removed: float
    seconds: float

    @property
    def line(self) -> str:
        """The figures as one plain line."""
        return (
            f"Pages {self.pages}, items {self.items}, clusters {self.clusters}, "
            f"tree versions {self.trees}, characters removed {self.removed:.0%}, "
            f"{self.seconds:.0f} s"
        )


class CrawlDisplay:
    """Extension: on a terminal a live display on stderr, elsewhere a plain line now and then.

    A spider may have `known_pages`, a mapping of URLs to pages of known content: the report then
    tells the precision and recall of the texts. It goes to stdout, unless the items go there.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.urls: set[str] = set()
        self.clusters: set[str] = set()
        self._started: float | None = None
        self._last_line = 0.0
        self._live: Live | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        display = cls(crawler)
        crawler.signals.connect(display.request_scheduled, signals.request_scheduled)
        crawler.signals.connect(display.item_scraped, signals.item_scraped)
        crawler.signals.connect(display.spider_closed, signals.spider_closed)
        return display

    @property
    def figures(self) -> Figures:
        """The crawl so far."""
        get = self.crawler.stats.get_value
        return Figures(
            pages=get("noiseclean/pages/seen", 0),
            items=get("item_scraped_count", 0),
            # The stat noiseclean/clusters is set only when the crawl ends.
            clusters=len(self.clusters),
            trees=get("noiseclean/trees/built", 0),
            removed=removed_share(
                get("noiseclean/characters/visible", 0), get("noiseclean/characters/kept", 0)
            ),
            seconds=monotonic() - (self._started or monotonic()),
        )

    def request_scheduled(self) -> None:
        """Start with the first request: a crawl that is refused shows its error alone."""
        if self._started is not None:
            return
        self._started = self._last_line = monotonic()
        console = Console(stderr=True)
        if console.is_terminal and not console.is_dumb_terminal:
            self._live = Live(
                get_renderable=self._render,
                console=console,
                redirect_stdout=False,
                refresh_per_second=8,
            )
            self._live.start()
            send_log_to_stderr()

    def item_scraped(self, item: Any) -> None:
        adapter = ItemAdapter(item)
        self.urls.add(adapter.get("url", ""))
        if adapter.get("cluster"):
            self.clusters.add(adapter["cluster"])
        if self._live is None and monotonic() - self._last_line > _SECONDS_BETWEEN_LINES:
            self._last_line = monotonic()
            print(self.figures.line, file=sys.stderr)

    async def spider_closed(self, spider: Spider) -> None:
        """Read what is stored and report it; the pipelines are closed by now."""
        if self._started is None:
            return
        if self._live:
            self._live.stop()
            send_log_to_stderr()
        else:
            print(self.figures.line, file=sys.stderr)
        config = Config.from_settings(self.crawler.settings)
        try:
            outcome = await run_in_thread(self._read_outcome, config, spider)
        except StoreError as error:
            print(f"There is nothing to report: {error}", file=sys.stderr)
            return
        console = Console(stderr=self._items_go_to_stdout(), highlight=False)
        print_report(console, outcome, self.figures.trees, len(self.clusters), config.display_url)

    def _read_outcome(self, config: Config, spider: Spider) -> Outcome:
        with Store(config.database_url, read_only=True) as store:
            records = (
                page for name in sorted(self.clusters) for page in store.pages.with_text(name)
            )
            return read_outcome(records, self.urls, getattr(spider, "known_pages", {}))

    def _items_go_to_stdout(self) -> bool:
        return any(uri in ("-", "stdout:") for uri in self.crawler.settings.getdict("FEEDS"))

    def _render(self) -> Group:
        figures = self.figures
        expected = len(getattr(self.crawler.spider, "known_pages", {})) or (
            self.crawler.settings.getint("CLOSESPIDER_PAGECOUNT")
        )
        bar = ProgressBar(
            total=expected or None,
            completed=figures.pages,
            width=_BAR_WIDTH,
            pulse=not expected,
            complete_style="cyan",
            finished_style="green",
        )
        pages = f"{figures.pages} of {expected} pages" if expected else f"{figures.pages} pages"
        first, second = Table.grid(padding=(0, 2)), Text(style="dim")
        first.add_row(bar, pages, Text(f"{figures.seconds:.0f} s", style="dim"))
        for label, number in (
            ("items", str(figures.items)),
            ("clusters", str(figures.clusters)),
            ("tree versions", str(figures.trees)),
            ("characters removed", f"{figures.removed:.0%}"),
        ):
            second.append(f"{label} ").append(f"{number}   ", style="not dim bold")
        return Group(first, second)
