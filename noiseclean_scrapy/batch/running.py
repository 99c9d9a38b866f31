"""Running a spider of this package by itself, to its end."""

from __future__ import annotations

import logging
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from noiseclean_scrapy.addon import Addon
from noiseclean_scrapy.crawl.placing import place_mends
from noiseclean_scrapy.errors import ConfigurationError

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

POLITE: dict[str, Any] = {
    "ROBOTSTXT_OBEY": True,
    "AUTOTHROTTLE_ENABLED": True,
    "AUTOTHROTTLE_START_DELAY": 1,
    "DOWNLOAD_DELAY": 1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_MAXSIZE": 64 * 2**20,  # bytes, unpacked; of a page only the budget is read
}
"""What holds unless the project or the command line says otherwise."""

_OWN: dict[str, Any] = {
    # The project's feeds and pipelines wait for other items.
    "ITEM_PIPELINES": {},
    "FEEDS": {},
    "JOBDIR": None,
    "NOISECLEAN_FRONTIER": None,  # which other crawls of the project share
    "TELNETCONSOLE_ENABLED": False,
    "LOG_INSTALL_ROOT_HANDLER": False,  # whoever calls has set up the log
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
}

# The spiders themselves say in one line of each address why it gave no page.
_TALKATIVE = ("scrapy.downloadermiddlewares.retry", "scrapy.downloadermiddlewares.robotstxt")


class _Mends:
    """In place of the add-on, where pages do not go through it: what it mends of Scrapy itself."""

    def update_settings(self, settings: BaseSettings) -> None:
        place_mends(settings)


def run_spider(
    spider: type[Spider], settings: Settings, *, with_addon: bool, **arguments: Any
) -> StatsCollector:
    """Crawl with a spider and its arguments, politely; the stats, with the `finish_reason`.

    The settings stay as they are; where Scrapy cannot start with them, this raises
    ConfigurationError. `with_addon` tells whether pages go through the add-on.
    """
    settings = settings.copy()
    settings.setdict(POLITE, priority="command")
    settings.setdict({**_OWN, "NOISECLEAN_ENABLED": with_addon}, priority="cmdline")
    addons = settings.getdict("ADDONS")
    ours = [addon for addon in addons if load_object(addon) is Addon]
    if with_addon and not ours:
        settings.set("ADDONS", {**addons, Addon: 300}, priority="cmdline")
    elif not with_addon:
        others = {addon: priority for addon, priority in addons.items() if addon not in ours}
        settings.set("ADDONS", {**others, _Mends: 300}, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    for name in _TALKATIVE:  # now, since the process resets the levels of Scrapy's loggers
        logging.getLogger(name).setLevel(logging.CRITICAL)
    crawler = process.create_crawler(spider)
    crawl = process.crawl(crawler, **arguments)
    process.start()
    if crawl.done() and not crawl.cancelled() and (error := crawl.exception()):
        raise ConfigurationError(f"Scrapy cannot start: {_why(error)}") from error
    assert crawler.stats
    if not crawl.done() and not crawler.stats.get_value("finish_reason"):
        # Ctrl-C has stopped it before it began, or for the second time.
        crawler.stats.set_value("finish_reason", "shutdown")
    return crawler.stats


def _why(error: BaseException) -> str:
    """What a start has failed of, with the setting that Scrapy was reading."""
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    reading = (frame for frame in frames if frame.f_globals["__name__"] == Settings.__module__)
    names = [str(frame.f_locals["name"]) for frame in reading if "name" in frame.f_locals]
    return ": ".join([*names[:1], type(error).__name__, str(error)])
