"""A newspaper crawled with the add-on, and the demo site it crawls."""
