"""The add-on: one line in ADDONS wires everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import load_object

from noiseclean_scrapy.crawl.companions import FRONTIER, PLACE, companions_of
from noiseclean_scrapy.crawl.pipeline import CleanPipeline
from noiseclean_scrapy.crawl.placing import place, place_mends
from noiseclean_scrapy.crawl.progress import CrawlProgress
from noiseclean_scrapy.crawl.starting import read_config
from noiseclean_scrapy.page.logs import get_logger

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from noiseclean_scrapy.config import Config

logger = get_logger(__name__)


class Addon:
    """`ADDONS = {"noiseclean_scrapy.Addon": 300}` in settings.py.

    Components that the project has placed itself keep their places.
    """

    def __init__(self) -> None:
        self.config: Config | None = None

    def __repr__(self) -> str:
        if self.config is None:
            return "Addon()"
        return f"Addon(method={self.config.method!r}, database={self.config.display_url!r})"

    def update_settings(self, settings: BaseSettings) -> None:
        self.config = config = read_config(settings)
        if not config.enabled:
            raise NotConfigured  # with a reason Scrapy would warn of what was asked for
        if not config.topic and (config.site_budget or config.revisits):
            logger.warning(
                "NOISECLEAN_SITE_BUDGET and NOISECLEAN_REVISITS change nothing without "
                "NOISECLEAN_TOPIC"
            )
        if config.frontier:
            settings.set("SCHEDULER", FRONTIER, priority="addon")
        place(settings, "ITEM_PIPELINES", CleanPipeline, PLACE)
        for one in companions_of(config):
            place(settings, one.setting, load_object(one.path), one.priority)
        if config.live or settings.getfloat("LOGSTATS_INTERVAL"):
            place(settings, "EXTENSIONS", CrawlProgress, 500)
        place_mends(settings)
