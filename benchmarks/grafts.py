"""Training pages of our own making: pages with a layout that their sites do not have.

Comments, and further stories below an article, look like content and are none; single pages hardly
teach it, since a forum's posts are content where they stand alone. So posts of a forum, another
article, or a list are grafted behind the content of an article, as noise. On the other hand content
may stand in several boxes like them: so the content of some pages is wrapped into sections. What is
one paragraph on a site is a line in a large block on another: so some content is cut anew.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from noiseclean_scrapy.page import Element, Page, TextBlock

_MAIN_SHARE = 0.8
_LEAST_CONTENT = 500
_SENTENCE = re.compile(r"\S.*?(?:[.!?]+(?=\s|$)|[。！？]+|$)")

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
            _append_block(made, block, indices[own, block.element])
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
            _append_block(made, block, element)
            continue
        original = page.elements[content]
        parent = box if content in children else indices.get(original.parent, -1)
        indices[content] = _append(made, replace(original, parent=parent, content=[]))
        waiting.extend(reversed(original.content))
    return made


def join(page: Page, trunk: int, seed: int) -> tuple[Page, list[tuple[int, ...]]]:
    """The page with paragraphs of the element `trunk` in blocks of several each.

    As where lines end with BR. With each block come the indexes of those that it is made of.
    """
    chance = random.Random(seed)
    most = chance.choice((2, 4, 8, 100))

    def runs(content: list[int]) -> Iterator[list[int]]:
        for plain, found in groupby(content, partial(_is_paragraph, page)):
            run = list(found)
            size = most if plain else 1
            yield from (run[start : start + size] for start in range(0, len(run), size))

    made = replace(page, elements=[], blocks=[])
    origins: list[tuple[int, ...]] = []
    indices: dict[int, int] = {}
    waiting = [[0]]
    while waiting:
        contents = waiting.pop()
        if len(contents) > 1:
            blocks = [page.blocks[~page.elements[child].content[0]] for child in contents]
            _append_block(made, _joined(blocks), indices[trunk])
            origins.append(tuple(block.index for block in blocks))
        elif contents[0] < 0:
            block = page.blocks[~contents[0]]
            _append_block(made, block, indices[block.element])
            origins.append((block.index,))
        else:
            element = page.elements[contents[0]]
            parent = indices.get(element.parent, -1)
            indices[element.index] = _append(made, replace(element, parent=parent, content=[]))
            single = [[child] for child in element.content]
            waiting += reversed([*runs(element.content)] if element.index == trunk else single)
    return made, origins


def split(page: Page, trunk: int) -> tuple[Page, list[tuple[int, ...]]]:
    """The page with every sentence in `trunk` in an element like that of its paragraph.

    Blocks with links stay whole. With each block comes the index of that which it is from.
    """
    made = replace(page, elements=[], blocks=[])
    origins: list[tuple[int, ...]] = []
    indices: dict[int, int] = {}
    inside: set[int] = set()
    waiting = [0]
    while waiting:
        content = waiting.pop()
        if content < 0:
            block = page.blocks[~content]
            _append_block(made, block, indices[block.element])
            origins.append((block.index,))
            continue
        element = page.elements[content]
        parent = indices.get(element.parent, -1)
        if content == trunk or element.parent in inside:
            inside.add(content)
        if content in inside and content != trunk and _is_paragraph(page, content):
            block = page.blocks[~element.content[0]]
            pieces = [block.text] if block.links else _SENTENCE.findall(block.text)
            for piece in pieces:
                place = _append(made, replace(element, parent=parent, content=[]))
                _append_block(made, replace(block, text=piece), place)
                origins.append((block.index,))
            continue
        indices[content] = _append(made, replace(element, parent=parent, content=[]))
        waiting.extend(reversed(element.content))
    return made, origins


def _is_paragraph(page: Page, content: int) -> bool:
    """Whether it is an element with one text block and nothing else."""
    if content < 0:
        return False
    inside = page.elements[content].content
    return len(inside) == 1 and inside[0] < 0 and bool(page.blocks[~inside[0]].text)


def _joined(blocks: Sequence[TextBlock]) -> TextBlock:
    return replace(
        blocks[0],
        text=" ".join(block.text for block in blocks),
        link_characters=sum(block.link_characters for block in blocks),
        images=tuple(image for block in blocks for image in block.images),
        links=tuple(link for block in blocks for link in block.links),
    )


def _append_block(page: Page, block: TextBlock, element: int) -> None:
    page.elements[element].content.append(~len(page.blocks))
    page.blocks.append(replace(block, index=len(page.blocks), element=element))


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
