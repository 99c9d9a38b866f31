"""PageItem, for people without items of their own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class PageItem:
    """A cleaned page. Give it the response's URL; the pipeline fills in the rest.

    `tree_version` is the version of the site's tree that cleaned the text, 0 before there was one.
    """

    url: str
    title: str = ""
    text: str = ""
    html: str = ""
    cluster: str = ""
    tree_version: int = 0
