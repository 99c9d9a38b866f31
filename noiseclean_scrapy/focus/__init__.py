"""Focused crawling: pages and links are weighed by a topic, and the best ones are fetched first."""
