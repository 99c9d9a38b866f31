"""The add-on: one line in ADDONS wires everything."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import load_object

from noiseclean_scrapy.crawl.charsets import CHARSET_PLACE, CharsetMiddleware
from noiseclean_scrapy.crawl.metrics import CrawlMetrics
from noiseclean_scrapy.crawl.pipeline import COMPANIONS, PLACE, CleanPipeline
from noiseclean_scrapy.crawl.progress import CrawlProgress
from noiseclean_scrapy.crawl.starting import read_config
from noiseclean_scrapy.crawl.warc_output import WarcOutput
from noiseclean_scrapy.focus.middleware import FocusMiddleware, FocusSpiderMiddleware
from noiseclean_scrapy.focus.revisits import HubRevisits

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from noiseclean_scrapy.config import Config

logger = logging.getLogger(__name__)


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
            raise NotConfigured("NOISECLEAN_ENABLED is False")
        if not config.topic and (config.site_budget or config.revisits):
            logger.warning(
                "NOISECLEAN_SITE_BUDGET and NOISECLEAN_REVISITS change nothing without "
                "NOISECLEAN_TOPIC"
            )
        if config.frontier:
            settings.set("SCHEDULER", _FRONTIER, priority="addon")
        for setting, component, priority in (
            *((needed.setting, load_object(needed.path), needed.priority) for needed in COMPANIONS),
            ("ITEM_PIPELINES", CleanPipeline, PLACE),
            ("DOWNLOADER_MIDDLEWARES", CharsetMiddleware, CHARSET_PLACE),
            *(_PROGRESS if config.live or settings.getfloat("LOGSTATS_INTERVAL") else ()),
            *(_METRICS if config.metrics else ()),
            *(_WARC if config.warc else ()),
            *(_FOCUS if config.topic else ()),
            *(_REVISITS if config.topic and config.revisits else ()),
        ):
            settings.setdefault_in_component_priority_dict(setting, component, priority)


_FRONTIER = "noiseclean_scrapy.frontier.scheduler.FrontierScheduler"
_FOCUS = (
    # Sees a response when ClusterMiddleware has learned it.
    ("DOWNLOADER_MIDDLEWARES", FocusMiddleware, 540),
    # Sees what the spider yields after every middleware that may replace or drop it.
    ("SPIDER_MIDDLEWARES", FocusSpiderMiddleware, 20),
)
_REVISITS = (("EXTENSIONS", HubRevisits, 500),)
_WARC = (("EXTENSIONS", WarcOutput, 500),)
_METRICS = (("EXTENSIONS", CrawlMetrics, 500),)
_PROGRESS = (("EXTENSIONS", CrawlProgress, 500),)
