"""Training pages of our own making: pages with a layout that their sites do not have.

Comments, and further stories below an article, look like content and are none; single pages hardly
teach it, since a forum's posts are content where they stand alone. So posts of a forum, another
article, or a list are grafted behind the content of an article, as noise. On the other hand content
may stand in several boxes like them: so the content of some pages is wrapped into sections.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from noiseclean_scrapy.page import Element, Page

_MAIN_SHARE = 0.8
_LEAST_CONTENT = 500

WRAPPERS = (
    ("div",),
    ("section",),
    ("div.section",),
    ("div.outline-0", "div.outline-text-0"),
    ("div.block", "div.inner"),
    ("div.row", "div.col"),
)
"""Labels of the boxes that content is wrapped into, the outer one first."""

Origin = tuple[bool, int]
"""Whether something comes from the article, and its index there."""


def graft(
    article: Page, trunk: int, other: Page, scion: int, seed: int
) -> tuple[Page, list[Origin]]:
    """The article with the element `scion` of another page, and where each of its blocks is from.

    The graft stands right behind the element `trunk` or behind one of the two around it.
    """
    around = [e.index for e in article.path(trunk) if e.index][:3]
    place = random.Random(seed).choice(around)
    made = replace(article, elements=[], blocks=[])
    origins: list[Origin] = []
    indices: dict[Origin, int] = {}
    waiting: list[tuple[bool, int]] = [(True, 0)]
    while waiting:
        own, content = waiting.pop()
        source = article if own else other
        if content < 0:
            block = source.blocks[~content]
            element = made.elements[indices[own, block.element]]
            element.content.append(~len(made.blocks))
            made.blocks.append(replace(block, index=len(made.blocks), element=element.index))
            origins.append((own, block.index))
            continue
        original = source.elements[content]
        root = not own and content == scion
        above = (True, article.elements[place].parent) if root else (own, original.parent)
        parent = indices.get(above, -1)
        indices[own, content] = _append(made, replace(original, parent=parent, content=[]))
        for child in reversed(original.content):
            if own and child == place:
                waiting.append((False, scion))
            waiting.append((own, child))
    return made, origins


def wrap(page: Page, trunk: int, seed: int) -> Page:
    """The page with the children of the element `trunk` in boxes of several each."""
    chance = random.Random(seed)
    labels = chance.choice(WRAPPERS)
    children = page.elements[trunk].content
    size = chance.randint(2, 8)
    starts = {child for number, child in enumerate(children) if number % size == 0}
    made = replace(page, elements=[], blocks=[])
    indices: dict[int, int] = {}
    box = -1
    waiting = [0]
    while waiting:
        content = waiting.pop()
        if content in starts:
            box = indices[trunk]
            for label in labels:
                box = _append(made, Element(0, box, label.partition(".")[0], label, "*", 1))
        if content < 0:
            block = page.blocks[~content]
            element = box if content in children else indices[block.element]
            made.elements[element].content.append(~len(made.blocks))
            made.blocks.append(replace(block, index=len(made.blocks), element=element))
            continue
        original = page.elements[content]
        parent = box if content in children else indices.get(original.parent, -1)
        indices[content] = _append(made, replace(original, parent=parent, content=[]))
        waiting.extend(reversed(original.content))
    return made


def _append(page: Page, element: Element) -> int:
    element.index = len(page.elements)
    page.elements.append(element)
    if element.parent >= 0:
        page.elements[element.parent].content.append(element.index)
    return element.index


def content_element(page: Page, labels: Sequence[float]) -> int:
    """Deepest element that holds most of the page's content; 0 (BODY) without much of it."""
    mass = [0.0] * len(page.elements)
    for block in page.blocks:
        mass[block.element] += max(labels[block.index], 0.0) * len(block.text)
    for element in reversed(page.elements[1:]):
        mass[element.parent] += mass[element.index]
    if mass[0] < _LEAST_CONTENT:
        return 0
    return max(e.index for e in page.elements if mass[e.index] >= _MAIN_SHARE * mass[0])
