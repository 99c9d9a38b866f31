"""What the methods that learn a site style tree have in common: everything but the measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from noiseclean_scrapy.methods.base import Method
from noiseclean_scrapy.methods.options import Count, Share
from noiseclean_scrapy.methods.trees.site_style_tree import DEFAULT_NODES, SiteStyleTree
from noiseclean_scrapy.methods.trees.tree_state import read_tree, tree_state
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.presentation import Layout

if TYPE_CHECKING:
    from typing_extensions import Self


Place = TypeVar("Place")


class TreeMethod(Method):
    """Learns a tree of pages seen as `layout`; a `threshold` of None is chosen by the model.

    With `published` nothing is done that is not the paper's. Pages have to be read with the
    `display` of their budget then, as `SiteCleaner` and crawls do.
    """

    layout: ClassVar[type[Layout]] = Layout

    def __init__(
        self,
        *,
        threshold: Share | None = None,
        max_tree_nodes: Count = DEFAULT_NODES,
        published: bool = False,
    ) -> None:
        self.published = published
        self.threshold = None if threshold is None else float(threshold)
        self.tree = SiteStyleTree(max_nodes=max_tree_nodes)

    @property
    def pages(self) -> float:
        return self.tree.pages

    def observe(self, page: Page) -> None:
        self.tree.observe(self.layout(page, published=self.published))

    def merge(self, other: Self) -> None:
        self.tree.merge(other.tree)

    def decay(self, factor: float) -> None:
        self.tree.decay(factor)

    def state(self) -> dict[str, Any]:
        return {"tree": tree_state(self.tree)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.tree = read_tree(state["tree"], max_nodes=self.tree.max_nodes)


def map_blocks(
    layout: Layout,
    root: Place,
    below: Callable[[Place, tuple[str, ...]], Iterable[Place | None]],
    is_end: Callable[[Place], bool],
) -> list[Place | None]:
    """The place of each block of a page in a tree; None where the tree does not know it.

    `below` gives the places of a child sequence, None for an unknown child; the mapping descends to
    the page's leaves, or to where `is_end` says that all below belongs to one place.
    """
    mapped: list[Place | None] = [None] * len(layout.page.blocks)
    waiting = [] if layout.empty else [(root, layout.top)]
    while waiting:
        place, content = waiting.pop()
        if layout.is_leaf(content) or is_end(place):
            for block in layout.blocks(content):
                mapped[block.index] = place
            continue
        slots = layout.slots(content)
        labels = tuple(slot.label for slot in slots)
        for child, slot in zip(below(place, labels), slots, strict=True):
            if child is not None:
                waiting.extend((child, member) for member in slot.members)
    return mapped


def known_share(page: Page, mapped: Iterable[object | None]) -> float:
    """The share of the page's characters in blocks whose place the tree knows."""
    lengths = [len(block.text) for block in page.blocks]
    known = sum(length for length, place in zip(lengths, mapped, strict=True) if place)
    return known / sum(lengths) if any(lengths) else 1.0
