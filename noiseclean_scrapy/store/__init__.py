"""The store: pages, their clean text and the trees of their clusters, in SQLite or PostgreSQL."""

from noiseclean_scrapy.store.records import (
    Cleaned,
    ClusterRecord,
    PageCounts,
    PageRecord,
    TreeVersionRecord,
)
from noiseclean_scrapy.store.schema import SCHEMA_VERSION
from noiseclean_scrapy.store.store import Store

__all__ = [
    "SCHEMA_VERSION",
    "Cleaned",
    "ClusterRecord",
    "PageCounts",
    "PageRecord",
    "Store",
    "TreeVersionRecord",
]
