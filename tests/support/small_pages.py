"""Pages that are told by their body alone."""

from __future__ import annotations

from noiseclean_scrapy.page import Page, build_page


def page_of(body: str) -> Page:
    """The page of a body."""
    return build_page(f"<html><body>{body}</body></html>")
