"""Training pages of our own making: pages with a layout that their sites do not have.

Comments, and further stories below an article, look like content and are none; single pages hardly
teach it, since a forum's posts are content where they stand alone. So posts of a forum, another
article, or a list are grafted behind the content of an article, as noise. On the other hand content
may stand in several boxes like them: so the content of some pages is wrapped into sections. What is
one paragraph on a site is a line in a large block on another: so some content is split otherwise.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias, cast

from noiseclean_scrapy.page import Element, Page, PageTable, TextBlock

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


@dataclass(frozen=True, slots=True)
class Origin:
    """A block of the page that another one was made of, or of the one grafted into it."""

    index: int
    is_grafted: bool = False


Made: TypeAlias = tuple[Page, list[tuple[Origin, ...]]]
"""A page, and for each of its blocks those that it is made of."""


@dataclass(slots=True, eq=False)
class _Leaf:
    block: TextBlock
    origins: tuple[Origin, ...]


@dataclass(slots=True, eq=False)
class _Node:
    element: Element
    content: list[_Part]


_Part: TypeAlias = "_Node | _Leaf"


def graft(article: Page, trunk: int, other: Page, scion: int, seed: int) -> Made:
    """The article with the element `scion` of another page behind its element `trunk`.

    Right behind it, or behind one of the two around it.
    """
    around = [e.index for e in article.path(trunk) if e.index][:3]
    place = article.elements[random.Random(seed).choice(around)]
    nodes = _nodes(article)
    siblings = nodes[place.parent].content
    siblings.insert(siblings.index(nodes[place.index]) + 1, _nodes(other, is_grafted=True)[scion])
    return _page(article, nodes[0])


def wrap(page: Page, trunk: int, seed: int) -> Made:
    """The page with the children of the element `trunk` in boxes of several each."""
    chance = random.Random(seed)
    labels = chance.choice(WRAPPERS)
    size = chance.randint(2, 8)
    nodes = _nodes(page)
    boxes: list[_Part] = []
    for content in _runs(nodes[trunk].content, size):
        for label in reversed(labels):
            content = [_Node(Element(0, 0, label.partition(".")[0], label, "*", 1), content)]
        boxes += content
    nodes[trunk].content = boxes
    return _page(page, nodes[0])


def join(page: Page, trunk: int, seed: int) -> Made:
    """The page with paragraphs of the element `trunk` in blocks of several each.

    As where lines end with BR.
    """
    most = random.Random(seed).choice((2, 4, 8, 100))
    nodes = _nodes(page)
    content: list[_Part] = []
    for _, found in groupby(nodes[trunk].content, lambda part: _paragraph(part) is None):
        for run in _runs([*found], most):
            leaves = [leaf for part in run if (leaf := _paragraph(part))]
            content += [_joined(leaves)] if len(leaves) > 1 else run
    nodes[trunk].content = content
    return _page(page, nodes[0])


def split(page: Page, trunk: int) -> Made:
    """The page with every sentence in `trunk` in an element like that of its paragraph.

    Blocks with links stay whole.
    """
    nodes = _nodes(page)
    for node in nodes.values():
        if any(above.index == trunk for above in page.path(node.element.index)):
            node.content = [piece for part in node.content for piece in _sentences(part)]
    return _page(page, nodes[0])


def _sentences(part: _Part) -> Iterator[_Part]:
    leaf = _paragraph(part)
    if leaf is None or leaf.block.links:
        yield part
        return
    for text in _SENTENCE.findall(leaf.block.text):
        piece = _Leaf(replace(leaf.block, text=text), leaf.origins)
        yield replace(cast("_Node", part), content=[piece])


def _paragraph(part: _Part) -> _Leaf | None:
    """The text of an element that has one text block and nothing else."""
    if isinstance(part, _Node) and len(part.content) == 1:
        [only] = part.content
        return only if isinstance(only, _Leaf) and only.block.text else None
    return None


def _joined(leaves: Sequence[_Leaf]) -> _Leaf:
    blocks = [leaf.block for leaf in leaves]
    joined = replace(
        blocks[0],
        text=" ".join(block.text for block in blocks),
        link_characters=sum(block.link_characters for block in blocks),
        images=tuple(image for block in blocks for image in block.images),
        links=tuple(link for block in blocks for link in block.links),
    )
    return _Leaf(joined, tuple(origin for leaf in leaves for origin in leaf.origins))


def _runs(parts: list[_Part], size: int) -> Iterator[list[_Part]]:
    return (parts[start : start + size] for start in range(0, len(parts), size))


def _nodes(page: Page, *, is_grafted: bool = False) -> dict[int, _Node]:
    """The page's elements as nodes that hold one another, by their index."""
    nodes: dict[int, _Node] = {}
    for element in reversed(page.elements):
        nodes[element.index] = _Node(
            element,
            [
                nodes[at] if at >= 0 else _Leaf(page.blocks[~at], (Origin(~at, is_grafted),))
                for at in element.content
            ],
        )
    return nodes


def _page(like: Page, root: _Node) -> Made:
    """A page of the nodes, and what its blocks are made of; else like another one."""
    table = PageTable()
    origins: list[tuple[Origin, ...]] = []
    waiting: list[tuple[int, _Part]] = [(-1, root)]
    while waiting:
        parent, part = waiting.pop()
        if isinstance(part, _Leaf):
            block = part.block
            table.add_block(parent, block.text, block.link_characters, block.images, block.links)
            origins.append(part.origins)
        else:
            here, index = part.element, len(table.tags)
            table.add_element(
                parent, here.tag, here.label, here.node_test, here.number, here.hidden
            )
            waiting.extend((index, child) for child in reversed(part.content))
    return replace(like, table=table), origins


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
