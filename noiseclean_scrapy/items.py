"""PageItem, for people without items of their own, and what an item of any kind holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from itemadapter import ItemAdapter


def held(item: Mapping[str, Any], field: str) -> Any:
    """What a field of an item holds; None where it is not there, or was never set."""
    whole = item.item if isinstance(item, ItemAdapter) else item
    if isinstance(whole, dict):
        return dict.get(whole, field)  # a defaultdict's own would make what is missing
    try:
        return item.get(field)
    except AttributeError:  # of a dataclass
        return None


def _written(published: datetime | None) -> str | None:
    """A date in feeds, in the form of ISO 8601: not every format knows dates."""
    return published.isoformat() if published else None


@dataclass(repr=False)
class PageItem:
    """A cleaned page. Give it the response's URL; the pipeline fills in the rest.

    `published` keeps the offset that the page gives. `tree_version` is the version of the site's
    tree that cleaned the text, 0 before there was one, None where the item has no page.
    """

    url: str
    title: str = ""
    text: str = ""
    html: str = ""
    markdown: str = ""
    author: str = ""
    published: datetime | None = field(default=None, metadata={"serializer": _written})
    language: str = ""
    canonical_url: str = ""
    image: str = ""
    cluster: str = ""
    tree_version: int | None = None

    def __repr__(self) -> str:
        # Scrapy logs each item: half of a log would be articles.
        return f"PageItem(url={self.url!r}, title={self.title!r}, characters={len(self.text)})"
