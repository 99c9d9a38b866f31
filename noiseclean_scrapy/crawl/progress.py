"""What a crawl tells while it runs: a log line now and then, and a live display on a terminal."""

from __future__ import annotations

import atexit
import logging
import sys
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Group
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.table import Table
from rich.text import Text
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.log import get_scrapy_root_handler

from noiseclean_scrapy.crawl.middleware import CrawlComponent
from noiseclean_scrapy.crawl.starting import is_trial, keeps_stats
from noiseclean_scrapy.page.characters import counted, share_left_out
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall
    from typing_extensions import Self

    from noiseclean_scrapy.clusters.cluster import PageCluster

logger = get_logger(__name__)

_SECONDS_BETWEEN_PICTURES = 0.25
_CLUSTERS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Progress:
    """The crawl so far.

    `noise` is the share of characters removed from the pages of items, in [0, 1], None before the
    first item. `waiting` pages are not in the database yet.
    """

    pages: int
    clusters: int
    trees: int
    noise: float | None
    waiting: int

    def line(self, pages_per_minute: float) -> str:
        """All of it in one line.

        >>> Progress(412, 1, 3, 0.4567, 12).line(98.2)
        '412 pages (at 98 pages/min) in 1 cluster, 3 trees built, 46% noise, 12 pages waiting'
        """
        noise = "" if self.noise is None else f"{self.noise:.0%} noise, "
        return (
            f"{counted(self.pages, 'page')} (at {pages_per_minute:.0f} pages/min) "
            f"in {counted(self.clusters, 'cluster')}, {counted(self.trees, 'tree')} built, "
            f"{noise}{counted(self.waiting, 'page')} waiting"
        )


class CrawlProgress(CrawlComponent):
    """Extension: logs how far the crawl is, every `LOGSTATS_INTERVAL` seconds.

    With `NOISECLEAN_LIVE`, and a terminal at stderr, a display shows the same and the largest
    clusters below the log, drawn by the event loop itself: no thread looks into a running crawl.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        self._pages_before = 0
        self._display: LiveDisplay | None = None
        self._calls: list[AsyncioLoopingCall | LoopingCall] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        progress = super().from_crawler(crawler)
        if not (progress.interval or progress.config.live):
            raise NotConfigured("LOGSTATS_INTERVAL and NOISECLEAN_LIVE are off")
        crawler.signals.connect(progress.spider_opened, signals.spider_opened)
        crawler.signals.connect(progress.spider_closed, signals.spider_closed)
        return progress

    def spider_opened(self) -> None:
        if self.interval:
            self._call_every(self.interval, self.log)
        if self.config.live and not is_trial(self.crawler) and LiveDisplay.is_possible():
            self._display = LiveDisplay()
            self._call_every(_SECONDS_BETWEEN_PICTURES, self.show)

    def spider_closed(self) -> None:
        for call in self._calls:
            if call.running:
                call.stop()
        if self._display:
            self.show()
            self._display.stop()

    def log(self) -> None:
        """Log one line."""
        progress = self.progress
        pages_per_minute = (progress.pages - self._pages_before) * 60 / self.interval
        self._pages_before = progress.pages
        assert self.crawler.stats
        if keeps_stats(self.crawler.stats):
            line = progress.line(pages_per_minute)
        else:
            line = f"{counted(progress.waiting, 'page')} waiting"
        logger.info("noiseclean: %s", line, extra={"spider": self.crawler.spider})

    def show(self) -> None:
        """Draw the display again."""
        assert self._display
        self._display.draw(self.progress, self.clusters)

    @property
    def progress(self) -> Progress:
        """The crawl so far."""
        assert self.crawler.stats
        get = self.crawler.stats.get_value
        visible = get("noiseclean/characters/visible", 0)
        return Progress(
            pages=get("noiseclean/pages/seen", 0),
            clusters=get("noiseclean/clusters", 0),
            trees=get("noiseclean/trees/built", 0),
            noise=share_left_out(get("noiseclean/characters/kept", 0), visible)
            if visible
            else None,
            waiting=self.crawl.waiting if self.crawl else 0,
        )

    @property
    def clusters(self) -> Sequence[PageCluster]:
        """The page clusters that are in memory."""
        return self.crawl.clusters if self.crawl else ()

    def _call_every(self, seconds: float, action: Callable[[], None]) -> None:
        call = create_looping_call(action)
        call.start(seconds, now=False)
        self._calls.append(call)


class LiveDisplay:
    """A few lines at the bottom of a terminal; what is logged or printed scrolls above them."""

    def __init__(self) -> None:
        self._started = monotonic()
        self._live = Live(
            console=Terminal(stderr=True),
            auto_refresh=False,
            # Items that are piped elsewhere must not come out on the terminal.
            redirect_stdout=sys.stdout.isatty(),
        )
        self._live.start()
        send_log_to_stderr()
        # A crawl that is forced to stop (Ctrl-C twice) would leave the cursor hidden.
        atexit.register(self.stop)

    @staticmethod
    def is_possible() -> bool:
        """Whether stderr is a terminal that can move its cursor, and nobody else draws on it."""
        return (
            sys.stderr.isatty()
            and not Terminal(stderr=True).is_dumb_terminal
            and not isinstance(sys.stderr, FileProxy)
        )

    def draw(self, progress: Progress, clusters: Sequence[PageCluster]) -> None:
        """Show how far the crawl is, as long as the terminal is there."""
        seconds = int(monotonic() - self._started)
        with suppress(OSError):
            self._live.update(Group(_totals(progress, seconds), _largest(clusters)), refresh=True)

    def stop(self) -> None:
        """Leave the last picture on the terminal and give the log back its stream."""
        atexit.unregister(self.stop)
        with suppress(OSError):
            self._live.stop()
        send_log_to_stderr()


def _totals(progress: Progress, seconds: int) -> Text:
    minutes, seconds = divmod(seconds, 60)
    text = Text(f"{minutes:02}:{seconds:02}  ", style="dim")
    for name, figure in (
        ("pages", str(progress.pages)),
        ("clusters", str(progress.clusters)),
        ("trees", str(progress.trees)),
        ("noise", "-" if progress.noise is None else f"{progress.noise:.0%}"),
        ("waiting", str(progress.waiting)),
    ):
        text.append(f"{name} ").append(f"{figure}  ", style="not dim bold cyan")
    return text


def _largest(clusters: Sequence[PageCluster]) -> Table:
    table = Table.grid(padding=(0, 3))
    for name in ("cluster", "pages learned", "in its tree", "version"):
        table.add_column(Text(name, style="dim"), justify="left" if name == "cluster" else "right")
    largest = sorted(clusters, key=lambda cluster: (-cluster.pages, cluster.name))[:_CLUSTERS_SHOWN]
    table.show_header = bool(largest)
    for cluster in largest:
        numbers = (str(number) for number in (cluster.pages, cluster.covered, cluster.version))
        table.add_row(Text(cluster.name), *numbers)
    return table


def send_log_to_stderr() -> None:
    """Let log lines pass through what stderr is now: above the display while it is on."""
    handler = get_scrapy_root_handler()
    if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
        handler.setStream(sys.stderr)
