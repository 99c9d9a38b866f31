"""One crawl: from a response to an item and to what is written."""
