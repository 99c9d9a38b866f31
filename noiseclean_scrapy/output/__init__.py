"""External indexes: the stored pages in Tantivy, Elasticsearch, OpenSearch or Meilisearch."""

from noiseclean_scrapy.output.bulk import ElasticsearchFiles, MeilisearchFiles
from noiseclean_scrapy.output.documents import Document, Fed, Index, feed
from noiseclean_scrapy.output.tantivy import TantivyIndex

__all__ = [
    "Document",
    "ElasticsearchFiles",
    "Fed",
    "Index",
    "MeilisearchFiles",
    "TantivyIndex",
    "feed",
]
