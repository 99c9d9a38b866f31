"""A Scrapy add-on that learns each site's template while it crawls and gives clean text."""

from noiseclean_scrapy.clean_page import Block, CleanPage
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.errors import NoiseCleanError
from noiseclean_scrapy.items import PageItem

__all__ = ["Block", "CleanPage", "NoiseCleanError", "PageItem", "SiteCleaner"]
__version__ = "0.1.0"
