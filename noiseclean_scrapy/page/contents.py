"""The text blocks of a page with what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain

from noiseclean_scrapy.page.attributes import is_formula, names_formula
from noiseclean_scrapy.page.inline import BEGIN, BREAK, NAMED, PLAIN, Inline, References
from noiseclean_scrapy.page.outline import HEADINGS
from noiseclean_scrapy.page.page import Page
from noiseclean_scrapy.page.tags import VERBATIM_TAGS

MOST_OF_BASES = 1 << 22
"""Characters that a page's base may add to its addresses; above, relative ones are left out."""
MOST_REPEATED = 1 << 22
"""Characters of addresses of links that go on in other blocks; above, links are left out."""
MOST_INLINE = 200_000
"""Inline elements and line breaks that are shown of a page; where it has more, none are."""
_FIGURES = frozenset({"figure", "figcaption"})
_LINK = re.compile(f"{BEGIN}a([0-9]+){NAMED}")


class Contents:
    """What each text block of a page holds, by the block's number: text, emphasis, links, breaks.

    >>> from noiseclean_scrapy.page import build_page
    >>> contents = Contents(build_page("<h1><b>Weather</b><i>Fog closes the port</i></h1><p>On"))
    >>> contents[0].plain, list(contents.lines)
    ('Weather Fog closes the port', ['Weather Fog closes the port', 'On'])
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._table = page.table

    def __getitem__(self, block: int) -> Inline:
        source = self._table.sources.get(block)
        if source is None or self._has_too_many_marks:
            return Inline(self._table.texts[block])
        is_verbatim = self._keeps_space and self._table.is_verbatim(block)
        is_heading = self._table.tags[self._table.owners[block]] in HEADINGS
        text, references = self._table.texts[block], self._references
        return Inline(text, source, is_verbatim, references, is_heading)

    def plain(self, block: int) -> str:
        """The text of a block with its line breaks."""
        if self._table.sources.get(block) is None:  # as most: no object is made for it
            return self._table.texts[block]
        return self[block].plain

    @cached_property
    def formulas(self) -> frozenset[int]:
        """The blocks without text that show a formula, which is a picture."""
        table = self._table
        if not names_formula("\n".join(chain.from_iterable(table.images))):  # as most pages
            return frozenset()
        return frozenset(
            block
            for block, (text, images) in enumerate(zip(table.texts, table.images, strict=True))
            if images and not text and any(map(is_formula, images)) and self[block].shows(PLAIN)
        )

    @property
    def lines(self) -> Iterator[str]:
        """The lines of all blocks as they are shown, without those that tell of a picture."""
        for block, owner in enumerate(self._table.owners):
            if owner not in self._in_figures:
                yield from self.plain(block).splitlines()

    def tells_of_picture(self, block: int) -> bool:
        """Whether a text stands in a picture's FIGURE, and is no link to elsewhere."""
        table = self._table
        is_link = 2 * table.link_characters[block] > len(table.texts[block])
        return table.owners[block] in self._in_figures and not is_link

    @cached_property
    def _in_figures(self) -> set[int]:
        """The elements in pictures; what has a heading in it is more than a picture."""
        tags, parents = self._table.tags, self._table.parents
        headed: set[int] = set()
        found: set[int] = set()
        if _FIGURES.isdisjoint(tags):
            return found
        for element in reversed(range(len(tags))):
            if element in headed or tags[element] in HEADINGS:
                headed.add(parents[element])
        for element, tag in enumerate(tags):
            if parents[element] in found or (tag in _FIGURES and element not in headed):
                found.add(element)
        return found

    @cached_property
    def _has_too_many_marks(self) -> bool:
        sources = self._table.sources.values()
        if self._size <= MOST_INLINE:
            return False
        return sum(source.count(BEGIN) + source.count(BREAK) for source in sources) > MOST_INLINE

    @cached_property
    def _keeps_space(self) -> bool:
        """Whether any element of the page keeps white space."""
        return not VERBATIM_TAGS.isdisjoint(self._table.tags)

    @cached_property
    def _references(self) -> References:
        details, base = self._table.details, self._page.base
        again = self._links_again if self._has_many_links else []
        is_bounded = len(base) * (len(details) + len(again)) <= MOST_OF_BASES
        has_links = sum(len(details[number]) for number in again) <= MOST_REPEATED
        return References(details, base if is_bounded else "", has_links)

    @property
    def _has_many_links(self) -> bool:
        """Whether addresses may become too long, if each link went on in a later block."""
        details = self._table.details
        links = self._size // len(f"{BEGIN}a0{NAMED}")
        longest = max(map(len, (self._page.base, *details)))
        return (len(details) + links) * longest > min(MOST_OF_BASES, MOST_REPEATED)

    @cached_property
    def _size(self) -> int:
        """Characters of all texts with marks."""
        return sum(map(len, self._table.sources.values()))

    @property
    def _links_again(self) -> list[int]:
        """The details of links that began in an earlier block, in each where they go on."""
        found: list[int] = []
        latest = -1
        for source in self._table.sources.values():
            for match in _LINK.finditer(source):
                number = int(match[1])
                if number <= latest:
                    found.append(number)
                latest = max(latest, number)
        return found
