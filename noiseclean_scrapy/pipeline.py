"""The pipeline under the name that a project's settings may still have."""

from noiseclean_scrapy.crawl.pipeline import CleanPipeline

__all__ = ["CleanPipeline"]
