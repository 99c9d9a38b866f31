"""HTML to Page: elements, text blocks, links, and their place in the layout."""

from noiseclean_scrapy.page.budget import DEFAULT_BUDGET, PageBudget
from noiseclean_scrapy.page.build import Rules, build_page
from noiseclean_scrapy.page.page import Element, Page, PageTable, Rule, TextBlock
from noiseclean_scrapy.page.sources import Html

__all__ = [
    "DEFAULT_BUDGET",
    "Element",
    "Html",
    "Page",
    "PageBudget",
    "PageTable",
    "Rule",
    "Rules",
    "TextBlock",
    "build_page",
]
