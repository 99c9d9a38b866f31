"""Formatting elements that would multiply a page when its markup is parsed as browsers do it.

Where a block ends another one with bold type open in it (`<p><b><p>`), HTML has the bold type begin
again, with its attributes, in each block that follows. libxml2 nests them instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from noiseclean_scrapy.page.parse import document_roots
from noiseclean_scrapy.page.tags import INLINE, MATHML

if TYPE_CHECKING:
    from lxml.etree import _Element

_FORMATTING = frozenset("a b big code em font i nobr s small strike strong tt u".split())
_ENDS_NOTHING = INLINE - MATHML - {"a", "nobr"}
"""Elements in which, and after which, no formatting element has to begin again."""
_MOST_REPEATED = 1 << 22
_NODE = 32


def bound_formatting(root: _Element) -> None:
    """Where formatting elements may begin again for millions of characters, make them SPANs."""
    repeated = 0
    around_blocks: list[_Element] = []
    begun: list[int] = []  # how many elements had begun that may end others, by level
    count = 0
    for part in document_roots(root):
        for event, node in etree.iterwalk(part, events=("start", "end")):
            if event == "start":
                count += node.tag not in _ENDS_NOTHING
                begun.append(count)
            elif (inside := count - begun.pop()) and node.tag in _FORMATTING:
                repeated += inside * _size(node)
                around_blocks.append(node)
    if repeated > _MOST_REPEATED:
        for node in around_blocks:
            node.tag = "span"


def _size(node: _Element) -> int:
    return _NODE + sum(len(name) + len(value) for name, value in node.items())
