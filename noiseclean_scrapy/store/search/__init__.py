"""Full-text search over the stored pages, and the index that it needs."""
