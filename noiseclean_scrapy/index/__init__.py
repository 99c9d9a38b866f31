"""External indexes: the stored pages in Tantivy, Elasticsearch, OpenSearch or Meilisearch."""

from noiseclean_scrapy.index.base import Document, Fed, Index, SearchableIndex, feed
from noiseclean_scrapy.index.bulk import ElasticsearchFiles, MeilisearchFiles
from noiseclean_scrapy.index.tantivy import TantivyIndex

__all__ = [
    "Document",
    "ElasticsearchFiles",
    "Fed",
    "Index",
    "MeilisearchFiles",
    "SearchableIndex",
    "TantivyIndex",
    "feed",
]
