"""The middlewares under the names that a project's settings may still have."""

from noiseclean_scrapy.crawl.middleware import ClusterMiddleware, ItemTieMiddleware

__all__ = ["ClusterMiddleware", "ItemTieMiddleware"]
