"""A Scrapy add-on that learns each site's template while it crawls and gives clean text."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noiseclean_scrapy.addon import Addon
    from noiseclean_scrapy.clean_page import CleanPage
    from noiseclean_scrapy.cleaner import SiteCleaner
    from noiseclean_scrapy.errors import NoiseCleanError
    from noiseclean_scrapy.items import PageItem
    from noiseclean_scrapy.page.block import Block

__all__ = ["Addon", "Block", "CleanPage", "NoiseCleanError", "PageItem", "SiteCleaner"]
__version__ = "0.1.0"
_MODULES = {
    "Addon": "addon",
    "Block": "page.block",
    "CleanPage": "clean_page",
    "NoiseCleanError": "errors",
    "PageItem": "items",
    "SiteCleaner": "cleaner",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for: every `scrapy` command imports this."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
