"""The links of a page: their anchor texts, the text around them, the blocks they stand in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING

from lxml import etree
from w3lib.url import canonicalize_url

from noiseclean_scrapy.page import Page, TextBlock
from noiseclean_scrapy.page.tags import local_name
from noiseclean_scrapy.page.urls import LONGEST_ADDRESS, has_overlong_host

if TYPE_CHECKING:
    from lxml.etree import _Element

MOST_LINKS = 5_000
"""Different links of a page that are looked at: each takes a twentieth of a millisecond."""
_MOST_CHARACTERS = 1_000
_TEASER_CHARACTERS = 500
_MANY = "\n"  # no target holds a line break


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link as it stands on a page.

    `context` is the text of the largest element around it that has no other link and at most 500
    characters, such as a teaser, else that of its block; `importance` in [0, 1] and `kept` are the
    verdict on its block, `place` is where that stands. `is_list` tells that the block is a link and
    hardly anything else.
    """

    anchor: str
    context: str
    importance: float
    kept: bool
    place: str
    is_list: bool


@dataclass(frozen=True, slots=True)
class LinkBlock:
    """A text block and the verdict on it."""

    source: TextBlock
    importance: float
    kept: bool
    place: str


def page_links(
    page: Page,
    blocks: Sequence[LinkBlock],
    root: _Element | None,
    join: Callable[[str], str],
) -> dict[str, PageLink]:
    """The first links of a page by their canonical addresses; of equal ones the most important.

    `root` is the document, of which anchor texts are read; `join` makes a link absolute.
    """
    anchors = _anchor_texts(root)
    around = _Surroundings(page)
    found: dict[str, PageLink] = {}
    address_of = lru_cache(maxsize=None)(partial(link_address, join=join))  # one spans many blocks
    for block in blocks:
        source = block.source
        context = None
        for link in dict.fromkeys(source.links):
            address = address_of(link)
            if address_of.cache_info().currsize > MOST_LINKS:
                return found
            known = found.get(address)
            rank = block.importance, block.kept
            if not address or (known and (known.importance, known.kept) >= rank):
                continue
            context = around.context(source) if context is None else context
            found[address] = PageLink(
                anchor=anchors.get(link) or (known.anchor if known else ""),
                context=context,
                importance=block.importance,
                kept=block.kept,
                place=block.place,
                is_list=2 * source.link_characters >= len(source.text) > 0,
            )
    return found


def link_address(link: str, join: Callable[[str], str] = str) -> str:
    """The canonical form of a link, without its fragment; empty for what is no address."""
    link = link.strip()
    if len(link) > LONGEST_ADDRESS or has_overlong_host(link):
        return ""
    try:
        address = join(link)
        return canonicalize_url(address) if len(address) <= LONGEST_ADDRESS else ""
    except ValueError:
        return ""


def _anchor_texts(root: _Element | None) -> dict[str, str]:
    """The longest anchor text of each target."""
    texts: dict[str, str] = {}
    for node in () if root is None else root.iter("a", "{*}a"):
        target = node.get("href") or ""
        text = _begin(node)
        if len(text) > len(texts.get(target, "")):
            texts[target] = text
    return texts


def _begin(node: _Element) -> str:
    """The beginning of an anchor's text, up to the next anchor: with that browsers end it."""
    pieces: list[str] = []
    length = 0
    for event, part in islice(
        etree.iterwalk(node, events=("start", "end", "comment")), 2 * _MOST_CHARACTERS
    ):
        if event == "start" and part is not node and local_name(part.tag) == "a":
            break
        tail = part.tail if part is not node else None
        piece = part.text if event == "start" else tail
        pieces.append((piece or "")[:_MOST_CHARACTERS])
        length += len(pieces[-1])
        if length > _MOST_CHARACTERS:
            break
    return " ".join("".join(pieces).split())[:_MOST_CHARACTERS]


class _Surroundings:
    """For each element the one target of the links below it, if there is just one, and its length.

    The length is that of the text below it, in characters.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self._targets = [""] * len(page.elements)
        self._lengths = [0] * len(page.elements)
        self._texts: dict[int, str] = {}
        for element in reversed(page.elements):
            target, length = "", 0
            for child in element.content:
                if child >= 0:
                    below: Sequence[str] = (self._targets[child],)
                    length += self._lengths[child]
                else:
                    below = page.blocks[~child].links
                    length += len(page.blocks[~child].text)
                for other in below:
                    if other and target and other != target:
                        target = _MANY
                    target = target or other
            self._targets[element.index] = target
            self._lengths[element.index] = length

    def context(self, block: TextBlock) -> str:
        """The text of the largest small element around a block that has no other link than it."""
        top = -1
        for element in self.page.path(block.element):
            is_small = self._lengths[element.index] <= _TEASER_CHARACTERS
            if not is_small or self._targets[element.index] not in block.links:
                break
            top = element.index
        if top < 0:
            return block.text[:_MOST_CHARACTERS]
        if top not in self._texts:
            self._texts[top] = self._text_below(top)
        return self._texts[top]

    def _text_below(self, top: int) -> str:
        pieces: list[str] = []
        waiting = [top]
        while waiting:
            content = waiting.pop()
            if content >= 0:
                waiting.extend(reversed(self.page.elements[content].content))
            elif text := self.page.blocks[~content].text:
                pieces.append(text)
        return " ".join(pieces)
