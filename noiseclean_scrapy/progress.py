"""The extension under the name that a project's settings may still have."""

from noiseclean_scrapy.crawl.progress import CrawlProgress

__all__ = ["CrawlProgress"]
