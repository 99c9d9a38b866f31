"""The requests of one crawl in Redis, for any number of processes on any number of machines."""
