"""Satisfiable sub-trees by definition, every sub-tree walked: slow, for tests only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noiseclean_scrapy.page import Page


def climb(page: Page, element: int, generations: int) -> int:
    """The root that a text in `element` climbs to; BODY at most."""
    for _ in range(generations - 1):
        element = max(page.elements[element].parent, 0)
    return element


def texts_below(page: Page, root: int, depth: int = 1) -> list[tuple[int, int, int]]:
    """(generations below the root, length, anchor length) of every text in the sub-tree."""
    found = []
    for content in page.elements[root].content:
        if content < 0:
            block = page.blocks[~content]
            found.append((depth, len(block.text), block.link_characters))
        else:
            found += texts_below(page, content, depth + 1)
    return found


def is_satisfiable(page: Page, root: int, constants: Mapping[str, Any]) -> bool:
    texts = texts_below(page, root)
    total = sum(length for _, length, _ in texts)
    near = [length for depth, length, _ in texts if depth <= constants["generations"]]
    return (
        any(length >= constants["alpha"] for length in near)
        and total >= constants["beta"]
        and sum(anchor for *_, anchor in texts) <= constants["gamma"] * total
    )


def slow_kept(page: Page, constants: Mapping[str, Any]) -> list[bool]:
    """Which blocks lie in a satisfiable sub-tree, by the largest of them."""
    roots = {climb(page, b.element, constants["generations"]) for b in page.blocks if b.text}
    satisfiable = {root for root in roots if is_satisfiable(page, root, constants)}
    maximal = {
        root
        for root in satisfiable
        if not any(e.index in satisfiable for e in list(page.path(root))[1:])
    }
    return [any(e.index in maximal for e in page.path(b.element)) for b in page.blocks]
