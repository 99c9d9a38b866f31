"""The store: pages, their clean text and the trees of their clusters, in SQLite or PostgreSQL."""

from noiseclean_scrapy.store.patience import Patience
from noiseclean_scrapy.store.records import (
    Change,
    Cleaned,
    ClusterRecord,
    NewTree,
    PageCounts,
    PageLine,
    PageRecord,
    SiteSummary,
    TreeUpdate,
    TreeVersionRecord,
    Written,
)
from noiseclean_scrapy.store.schema import SCHEMA_VERSION
from noiseclean_scrapy.store.search.ranking import Hit, SearchResults
from noiseclean_scrapy.store.store import Store
from noiseclean_scrapy.store.stored_blocks import StoredBlocks

__all__ = [
    "SCHEMA_VERSION",
    "Change",
    "Cleaned",
    "ClusterRecord",
    "Hit",
    "NewTree",
    "PageCounts",
    "PageLine",
    "PageRecord",
    "Patience",
    "SearchResults",
    "SiteSummary",
    "Store",
    "StoredBlocks",
    "TreeUpdate",
    "TreeVersionRecord",
    "Written",
]
