"""What a page's controls show and hide: the parts that tabs and headings of accordions name."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lxml import etree

from noiseclean_scrapy import kernels
from noiseclean_scrapy.page.attributes import LONGEST_VALUE

if TYPE_CHECKING:
    from lxml.etree import _Element

NAMING = ("aria-controls", "data-target", "data-bs-target")
"""The attributes of a control that name what it opens or closes: ids, or selectors of one."""
_xpath = etree.XPath(f"descendant-or-self::*[{' or '.join(f'@{name}' for name in NAMING)}]")


def named_by_controls(node: _Element) -> frozenset[str]:
    """The ids that the controls of a node's document name."""
    found: set[str] = set()
    for control in _controls(node.getroottree().getroot()):
        for name in NAMING:
            names = control.get(name, "")[:LONGEST_VALUE].split()
            found.update(name.removeprefix("#") for name in names)
    return frozenset(found)


def _controls(root: _Element) -> list[_Element]:
    if kernels.nodes is not None:
        found: list[_Element] = kernels.nodes.named(root, NAMING, by_attributes=True)
        return found
    return cast("list[_Element]", _xpath(root))
