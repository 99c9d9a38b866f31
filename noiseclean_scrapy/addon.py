"""The add-on: one line in ADDONS wires everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from noiseclean_scrapy.config import Config
from noiseclean_scrapy.focus.middleware import FocusMiddleware, FocusSpiderMiddleware
from noiseclean_scrapy.focus.revisits import HubRevisits
from noiseclean_scrapy.middleware import ClusterMiddleware, ItemTieMiddleware
from noiseclean_scrapy.pipeline import CleanPipeline
from noiseclean_scrapy.progress import CrawlProgress

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Addon:
    """`ADDONS = {"noiseclean_scrapy.addon.Addon": 300}` in settings.py.

    Components that the project has placed itself keep their places.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        config = Config.from_settings(settings)
        if not config.enabled:
            raise NotConfigured("NOISECLEAN_ENABLED is False")
        for setting, component, priority in (
            # Nearer to the engine than redirects, retries, the cache and decompression.
            ("DOWNLOADER_MIDDLEWARES", ClusterMiddleware, 543),
            # Last to see what the spider yields, after every middleware that may replace it.
            ("SPIDER_MIDDLEWARES", ItemTieMiddleware, 10),
            # First to see an item, so that all other pipelines find its text.
            ("ITEM_PIPELINES", CleanPipeline, 10),
            ("EXTENSIONS", CrawlProgress, 500),
            *(_FOCUS if config.topic else ()),
        ):
            settings.setdefault_in_component_priority_dict(setting, component, priority)


_FOCUS = (
    # Sees a response when ClusterMiddleware has learned it.
    ("DOWNLOADER_MIDDLEWARES", FocusMiddleware, 540),
    # Sees what the spider yields after every middleware that may replace or drop it.
    ("SPIDER_MIDDLEWARES", FocusSpiderMiddleware, 20),
    ("EXTENSIONS", HubRevisits, 500),
)
