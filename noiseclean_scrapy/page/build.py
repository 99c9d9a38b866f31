"""An lxml element to a Page, in one pass without recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from lxml import etree

from noiseclean_scrapy import kernels
from noiseclean_scrapy.page.budget import DEFAULT_BUDGET, PageBudget
from noiseclean_scrapy.page.declared import read_metadata
from noiseclean_scrapy.page.document import (
    after_body,
    base_address,
    find_parts,
    has_content_in_head,
    has_more_in_fallbacks,
    language,
    path,
    title,
)
from noiseclean_scrapy.page.page import Page, PageTable, Rule
from noiseclean_scrapy.page.parse import ParsedHtml, parse_html
from noiseclean_scrapy.page.reader import BudgetSpent, NodeReader, NotCompiled
from noiseclean_scrapy.page.sources import Html
from noiseclean_scrapy.page.tags import SKIPPED

if TYPE_CHECKING:
    from lxml.etree import _Element

Rules: TypeAlias = "Callable[[_Element], Mapping[_Element, Rule]]"
"""Given a document's root, the elements that a rule of the user names."""


def build_page(
    source: Html,
    *,
    url: str = "",
    text: str | None = None,
    rules: Rules | None = None,
    budget: PageBudget = DEFAULT_BUDGET,
) -> Page:
    """The page model of `source`; see `load` for what it may be and `parse_html` for `text`.

    Never raises on any page: what is not HTML gives one without blocks, or a best-effort one.
    What is beyond the budget is cut off. Elements below a hundred levels of others are not told
    apart: their blocks belong to the element at that depth, and rules for them do not count.
    An element that `rules` names is block-level, and its blocks know the rule. Of the elements
    that are never read, scripts for example, a rule to keep opens the one that it names.

    >>> page = build_page("<title>News</title><h1>Flood</h1><p>The <a href=/r>river</a> rose.")
    >>> page.title, page.text
    ('News', 'Flood\\nThe river rose.')
    >>> page.xpath(page.blocks[1]), page.blocks[1].links
    ('/html[1]/body[1]/p[1]', ('/r',))
    """
    parsed = parse_html(source, text=text, budget=budget)
    try:
        return _page(parsed, url, rules, budget)
    except UnicodeDecodeError:  # a surrogate, which libxml2 takes from XML and lxml cannot read
        markup: bytes = etree.tostring(parsed.root, method="html", encoding="utf-8")
        readable = parse_html(markup.decode("utf-8", "replace"), budget=budget)
        return _page(readable, url, rules, budget)


def _page(parsed: ParsedHtml, url: str, rules: Rules | None, budget: PageBudget) -> Page:
    ruled = rules(parsed.root) if rules else {}
    parts = find_parts(parsed.root)
    table, truncated, body = _read(parsed.root, parts.body, SKIPPED, ruled, budget)
    # Some forums and picture galleries keep all they have in NOSCRIPT.
    if parts.has_fallbacks and has_more_in_fallbacks(parsed.root, table.characters):
        skipped = SKIPPED - {"noscript"}
        table, truncated, body = _read(parsed.root, parts.body, skipped, ruled, budget)
    page = Page(url, title(parts), language(parsed.root, body), table)
    page.base = base_address(parts, url)
    page.description, page.declared = read_metadata(parts.data)
    page.characters_lost = parsed.characters_lost
    page.truncated = truncated or parsed.truncated
    page.reads_hidden = budget.hidden
    page.other = parsed.other
    return page


def _read(
    root: _Element,
    body: _Element,
    skipped: frozenset[str],
    ruled: Mapping[_Element, Rule],
    budget: PageBudget,
) -> tuple[PageTable, bool, _Element]:
    """What stands in the document, whether there is more, and the element that was read as BODY."""
    if has_content_in_head(root, skipped):
        body = root
        skipped = skipped - {"head"}
    if kernels.nodes is not None and not ruled and not budget.display:
        with suppress(NotCompiled):
            return *_table(kernels.nodes.NodeReader(body, skipped, budget), body, root), body
    return *_table(NodeReader(body, skipped, ruled, budget), body, root), body


def _table(reader: NodeReader, body: _Element, root: _Element) -> tuple[PageTable, bool]:
    """What a reader finds in the document, and whether the budget was spent before its end."""
    try:
        reader.walk(body, *path(body))
        if body is not root:
            reader.add(body.tail)
        for part, test, number in after_body(body, root):
            if number:
                reader.walk(part, test, number)
            reader.add(part.tail)
        reader.flush()
    except BudgetSpent:
        return reader.table, True
    return reader.table, False
