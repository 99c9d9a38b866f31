"""The elements of a document by the XPaths of its blocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from noiseclean_scrapy.page.tags import node_test

if TYPE_CHECKING:
    from lxml.etree import _Element

_STEP = re.compile(r"([^\[]+)\[(\d+)\]")


class ElementPaths:
    """Finds elements at paths such as `/html[1]/body[1]/p[2]`; each step is taken once.

    lxml would count thousands of siblings for each path. Paths are known by their hashes: those of
    a hostile page would fill the memory.
    """

    def __init__(self, root: _Element) -> None:
        self._root = root
        self._known: dict[int, _Element | None] = {}
        self._children: dict[_Element, dict[str, list[_Element]]] = {}

    def find(self, path: str) -> _Element | None:
        """The element at a path, None where there is none."""
        unknown = []
        while path and hash(path) not in self._known:
            unknown.append(path)
            path = path.rpartition("/")[0]
        element = self._known[hash(path)] if path else None
        for path in reversed(unknown):
            above, _, step = path.rpartition("/")
            is_lost = bool(above) and element is None
            element = None if is_lost else self._child(element, step)
            self._known[hash(path)] = element
        return element

    def _child(self, element: _Element | None, step: str) -> _Element | None:
        found = _STEP.fullmatch(step)
        if not found:
            return None
        test, number = found[1], int(found[2])
        like = self._below(element).get(test, [])
        return like[number - 1] if 0 < number <= len(like) else None

    def _below(self, element: _Element | None) -> dict[str, list[_Element]]:
        """The children of an element by what stands for them in an XPath; None has the root."""
        if element is None:
            return {test: [self._root] for test in ("*", node_test(self._root.tag))}
        if element not in self._children:
            found: dict[str, list[_Element]] = {"*": list(element.iterchildren(etree.Element))}
            for child in found["*"]:
                if (test := node_test(child.tag)) != "*":
                    found.setdefault(test, []).append(child)
            self._children[element] = found
        return self._children[element]
