"""How a crawl begins, and how it is stopped; what keeps it from beginning is told in one line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakMethod

from scrapy import signals
from scrapy.utils.asyncio import sleep
from scrapy.utils.job import job_dir
from scrapy.utils.reactor import is_reactor_installed

from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page.logs import get_logger

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

logger = get_logger(__name__)

_MOMENT_SECONDS = 0.05
_LONGEST_END_SECONDS = 600.0
_BEGAN = "noiseclean.began"
EVER = datetime.min.replace(tzinfo=timezone.utc)
"""Before all times: whatever is stored counts."""
_CONFIGS: WeakKeyDictionary[Crawler, Config] = WeakKeyDictionary()


def config_of(crawler: Crawler) -> Config:
    """The crawl's settings, read once for all components; raises as `read_config` does."""
    if crawler not in _CONFIGS:
        _CONFIGS[crawler] = read_config(crawler.settings)
    return _CONFIGS[crawler]


def read_config(settings: BaseSettings) -> Config:
    """The crawl's settings; raises ConfigurationError, which the log has told then."""
    try:
        config = Config.from_settings(settings)
        config.require_libraries()
    except ConfigurationError as error:
        logger.error("%s", error)
        with suppress(RuntimeError):  # Twisted's own loops have no tasks
            task = asyncio.current_task()
            if task is not None:
                task.add_done_callback(_retrieve)
        raise
    return config


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Look at what ended the crawl: asyncio prints a traceback of what nobody looks at."""
    if not task.cancelled():
        task.exception()


def is_trial(crawler: Crawler) -> bool:
    """Whether this is no crawl but a look at pages: `scrapy shell`, `parse`, `fetch` or `check`.

    The shell runs an engine without a crawl; the others give the spider a start of their own.
    """
    start = crawler.spidercls.start
    return not crawler.crawling or start.__module__.startswith("scrapy.commands.")


def crawl_began(crawler: Crawler, config: Config) -> datetime | None:
    """Since when an earlier run or another process of this crawl may have seen pages, if any.

    A job's folder (`JOBDIR`) keeps when its first run began. Of several processes each begins at a
    time of its own: then it is the earliest there is.
    """
    if is_trial(crawler):
        return None
    if config.frontier:
        return EVER
    folder = job_dir(crawler.settings)
    if folder is None:
        return None
    now, path = datetime.now(timezone.utc), Path(folder, _BEGAN)
    try:
        with suppress(FileExistsError), path.open("x", encoding="ascii") as file:
            file.write(now.isoformat())
        return datetime.fromisoformat(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        logger.warning("When this job began is not known, from %s: %s", path, error)
        return now


def count(crawler: Crawler, name: str, number: int = 1) -> None:
    """Count into the crawl's stats, below `noiseclean/`."""
    assert crawler.stats
    crawler.stats.inc_value(f"noiseclean/{name}", number)


def keeps_stats(stats: StatsCollector) -> bool:
    """Whether what was counted can be looked up: Scrapy's `DummyStatsCollector` keeps nothing."""
    return bool(stats.get_stats())


def at_shutdown(before: Callable[[], None], after: Callable[[], None]) -> Callable[[], object]:
    """Call methods when the event loop is stopped, as by a second Ctrl-C.

    The first when threads may still wait for something, the second when nothing can be awaited any
    more. Who is gone by then is not called. What it returns is to be called when the crawl is over.
    """
    calls = WeakMethod(before), WeakMethod(after)

    def call(reference: WeakMethod[Callable[[], None]]) -> None:
        if method := reference():
            method()

    if is_reactor_installed():
        from twisted.internet import reactor

        running: Any = reactor
        for phase, reference in zip(("before", "after"), calls, strict=True):
            running.addSystemEventTrigger(phase, "shutdown", call, reference)
        return bool  # a trigger that has fired cannot be taken back

    over = asyncio.Event()

    async def watch() -> None:
        try:
            await over.wait()
        except asyncio.CancelledError:  # which is how Scrapy ends a loop of its own
            for reference in calls:
                call(reference)
            raise

    task = asyncio.create_task(watch())

    def end() -> None:
        if not task.done():  # whoever holds this holds the task
            over.set()

    return end


def end_before_stop(crawler: Crawler) -> None:
    """Let a crawl that is stopped while it ends by itself, as by Ctrl-C, come to its end first.

    Scrapy would stop the event loop at once: feeds would lose what they have not written yet, and
    the log the crawl's stats. Not for ever: who waits may be a part of the end itself.
    """

    async def wait() -> None:
        engine, until = crawler.engine, monotonic() + _LONGEST_END_SECONDS
        while engine and engine.spider is not None and monotonic() < until:
            await sleep(_MOMENT_SECONDS)

    crawler.signals.connect(wait, signals.engine_stopped, weak=False)


def exit_with_error(crawler: Crawler) -> None:
    """Let `scrapy crawl` exit with code 1 when the crawl, which could not begin, has ended."""

    def forget_spider() -> None:
        # A crawler that ends without a spider is what Scrapy's commands take for a failed start.
        crawler.spider = None

    crawler.signals.connect(forget_spider, signals.spider_closed, weak=False)
