"""The settings: what reads them, and the frozen `Config` that all else is given."""

from noiseclean_scrapy.config.config import Config
from noiseclean_scrapy.config.readers import ITEM_VALUES, METADATA_VALUES, PREFIX, by_domain

__all__ = ["ITEM_VALUES", "METADATA_VALUES", "PREFIX", "Config", "by_domain"]
