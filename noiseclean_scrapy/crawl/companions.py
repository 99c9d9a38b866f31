"""The components of a crawl: where each belongs, and what is told where one is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from scrapy.crawler import Crawler
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from noiseclean_scrapy.crawl.starting import is_trial
from noiseclean_scrapy.page.logs import get_logger

if TYPE_CHECKING:
    from noiseclean_scrapy.config import Config

logger = get_logger(__name__)

PLACE = 10
"""Of `CleanPipeline` among the item pipelines: others find the text of an item when they see it."""
FRONTIER = "noiseclean_scrapy.frontier.scheduler.FrontierScheduler"
_FIND: dict[str, Callable[[Crawler, type], object | None]] = {
    "DOWNLOADER_MIDDLEWARES": Crawler.get_downloader_middleware,
    "SPIDER_MIDDLEWARES": Crawler.get_spider_middleware,
    "EXTENSIONS": Crawler.get_extension,
}


class Companion(NamedTuple):
    """A component beside the pipeline: where it belongs, and what is missing without it.

    It is needed where all settings are set that it is `needed_for`.
    """

    path: str
    setting: str
    priority: int
    lack: str
    needed_for: tuple[str, ...] = ()


_COMPANIONS = (
    # Nearer to the engine than redirects, retries, the cache and decompression.
    Companion(
        "noiseclean_scrapy.crawl.middleware.ClusterMiddleware",
        "DOWNLOADER_MIDDLEWARES",
        543,
        "No page is learned, and no item gets a text",
    ),
    # Last to see what the spider yields, after every middleware that may replace it.
    Companion(
        "noiseclean_scrapy.crawl.middleware.ItemTieMiddleware",
        "SPIDER_MIDDLEWARES",
        10,
        "Items get a text only where their field url names their page",
    ),
    # Sees a response when ClusterMiddleware has learned it.
    Companion(
        "noiseclean_scrapy.focus.middleware.FocusMiddleware",
        "DOWNLOADER_MIDDLEWARES",
        540,
        "NOISECLEAN_TOPIC changes nothing",
        ("topic",),
    ),
    # Sees what the spider yields after every middleware that may replace or drop it.
    Companion(
        "noiseclean_scrapy.focus.middleware.FocusSpiderMiddleware",
        "SPIDER_MIDDLEWARES",
        20,
        "NOISECLEAN_TOPIC puts no link before another",
        ("topic",),
    ),
    Companion(
        "noiseclean_scrapy.focus.revisits.HubRevisits",
        "EXTENSIONS",
        500,
        "NOISECLEAN_REVISITS visits nothing again",
        ("topic", "revisits"),
    ),
    Companion(
        "noiseclean_scrapy.crawl.warc_output.WarcOutput",
        "EXTENSIONS",
        500,
        "NOISECLEAN_WARC writes no file",
        ("warc",),
    ),
    Companion(
        "noiseclean_scrapy.crawl.metrics.CrawlMetrics",
        "EXTENSIONS",
        500,
        "NOISECLEAN_METRICS shows nothing",
        ("metrics",),
    ),
)


def companions_of(config: Config) -> list[Companion]:
    """The components that a crawl with these settings needs."""
    return [one for one in _COMPANIONS if all(getattr(config, name) for name in one.needed_for)]


def tell_what_is_missing(crawler: Crawler, config: Config) -> None:
    """Name the components that the project has not placed, and what is missing without them."""
    missing = [
        (needed.lack, f"add { ({needed.path: needed.priority})!r} to {needed.setting}")
        for needed in companions_of(config)
        # Looks at pages have no need of the others, which stay away by themselves.
        if not (needed.needed_for and is_trial(crawler))
        and _FIND[needed.setting](crawler, load_object(needed.path)) is None
    ]
    if config.frontier:
        scheduler = load_object(crawler.settings["SCHEDULER"])
        # To `issubclass` all schedulers are one, since they have the same methods.
        if load_object(FRONTIER) not in scheduler.__mro__:
            missing.append(("NOISECLEAN_FRONTIER shares nothing", f"set SCHEDULER to {FRONTIER!r}"))
    for lack, remedy in missing:
        logger.warning(
            "%s: %s, or name noiseclean_scrapy.Addon in ADDONS instead of its components",
            lack,
            remedy,
        )


def tell_who_comes_too_early(crawler: Crawler, pipeline: type) -> None:
    """Name the project's own pipelines that see items before they have a text."""
    placed = crawler.settings.get_component_priority_dict_with_base("ITEM_PIPELINES")
    numbers = {load_object(one): number for one, number in placed.items()}
    order = sorted(numbers, key=numbers.__getitem__)
    early = {
        global_object_name(one): numbers[one]
        for one in order[: order.index(pipeline)]
        if hasattr(one, "process_item")
        and not one.__module__.startswith("scrapy.")
        and crawler.get_item_pipeline(one)
    }
    if early:
        logger.warning(
            "Before %d, where CleanPipeline stands in ITEM_PIPELINES, items have no text yet: %r; "
            "what needs it must stand behind",
            numbers[pipeline],
            early,
        )
