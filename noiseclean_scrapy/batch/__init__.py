"""Pages that are already stored: reading archives and replaying them through a crawl."""
