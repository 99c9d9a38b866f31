"""Placing components in settings: those that mend Scrapy itself, and any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.misc import load_object

from noiseclean_scrapy.crawl.charsets import CHARSET_PLACE, CharsetMiddleware
from noiseclean_scrapy.crawl.content_types import CONTENT_TYPE_PLACE, ContentTypeMiddleware
from noiseclean_scrapy.crawl.robots import RobotsMiddleware

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"


def place(settings: BaseSettings, setting: str, component: type, priority: int) -> None:
    """Place a component, unless the project has placed it, or one of its own made of it."""
    if not _is_placed(settings, setting, component):
        settings.setdefault_in_component_priority_dict(setting, component, priority)


def place_mends(settings: BaseSettings) -> None:
    """Place what any crawl is better with; of robots.txt, in the place of Scrapy's own."""
    place(settings, _MIDDLEWARES, ContentTypeMiddleware, CONTENT_TYPE_PLACE)
    place(settings, _MIDDLEWARES, CharsetMiddleware, CHARSET_PLACE)
    placed = settings.get_component_priority_dict_with_base(_MIDDLEWARES)
    numbers = {load_object(one): number for one, number in placed.items()}
    number = numbers.get(RobotsTxtMiddleware)
    if number is not None:
        settings.set_in_component_priority_dict(_MIDDLEWARES, RobotsTxtMiddleware, None)
        if not _is_placed(settings, _MIDDLEWARES, RobotsMiddleware):
            settings.set_in_component_priority_dict(_MIDDLEWARES, RobotsMiddleware, number)


def _is_placed(settings: BaseSettings, setting: str, component: type) -> bool:
    """Whether the project has placed a component, or one of its own made of it."""
    return any(
        isinstance(placed := load_object(one), type)
        and issubclass(placed, component)
        and number is not None
        for one, number in settings.getdict(setting).items()
    )
