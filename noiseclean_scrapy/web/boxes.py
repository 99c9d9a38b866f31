"""Boxes: what was pointed at, as CSS selectors, and on how many pages of its site it stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lxml import etree
from lxml.cssselect import CSSSelector

from noiseclean_scrapy.page.labels import stable_tokens

if TYPE_CHECKING:
    from lxml.etree import _Element

    from noiseclean_scrapy.page.block import Block
    from noiseclean_scrapy.store import PageRecord

LEVELS = 12
"""Most boxes around a block that can be pointed at."""
SAMPLE = 300
"""Most pages of a site on which places are counted: the first by key, a fair sample."""

_MOST_PLACES = 100_000
_FIRST = re.compile(r"\[1\]")  # libxml2 counts elements only where there are several
_TAG = re.compile(r"[A-Za-z][\w-]{0,60}", re.ASCII)
_NAME = re.compile(r"-?[A-Za-z_][A-Za-z_-]{0,60}")


@dataclass(frozen=True, slots=True)
class Level:
    """A box around a block, the block itself first.

    `place` is its label path, `selector` finds it (and what stands at the same place) in CSS,
    `elements` and `characters` tell how much of this page that is, `pages` on how many pages of the
    sample the place stands.
    """

    name: str
    place: str
    selector: str
    elements: int
    characters: int
    pages: int


@dataclass(frozen=True, slots=True)
class PlaceCounts:
    """On how many of `of` pages each place has text."""

    pages: Counter[str]
    of: int

    @classmethod
    def count(cls, records: Iterable[PageRecord]) -> PlaceCounts:
        pages: Counter[str] = Counter()
        of = 0
        for record in records:
            places = {block.place for block in record.cleaned.blocks} if record.cleaned else set()
            pages.update({above for place in places for above in _prefixes(place)})
            of += 1
            if len(pages) > _MOST_PLACES:
                pages = Counter(dict(pages.most_common(_MOST_PLACES // 2)))
        return cls(pages, of)


def levels(
    root: _Element, blocks: Sequence[Block], number: int, counts: PlaceCounts
) -> list[Level]:
    """The boxes around a block of a page, from the inside; none where its element is gone."""
    element = _element_at(root, blocks[number].xpath)
    place = blocks[number].place
    found: list[Level] = []
    while element is not None and element.tag not in ("body", "html") and len(found) < LEVELS:
        selector = selector_of(element)
        if selector is None:
            break
        elements = found_by(root, selector)
        inside = blocks_in(elements, blocks)
        characters = sum(len(blocks[number].text) for number in inside)
        name, pages = place.rpartition("/")[2], counts.pages[place]
        level = Level(name, place, selector, len(elements), characters, pages)
        # A box with nothing but another one inside is that one to a person.
        if not found or (level.characters, level.elements) != (
            found[-1].characters,
            found[-1].elements,
        ):
            found.append(level)
        element, place = element.getparent(), place.rpartition("/")[0]
    return found


def blocks_in(elements: Iterable[_Element], blocks: Sequence[Block]) -> list[int]:
    """The numbers of the blocks that stand in some elements of their page."""
    paths = {_FIRST.sub("", element.getroottree().getpath(element)) for element in elements}
    return [
        number
        for number, block in enumerate(blocks)
        if not paths.isdisjoint(_prefixes(_FIRST.sub("", block.xpath)))
    ]


def selector_of(element: _Element) -> str | None:
    """The shortest CSS path that finds an element and its like, and nothing else on the page.

    Its like are the elements at the end of the same tags, ids and classes from BODY down.

    >>> from noiseclean_scrapy.page.parse import parse_html
    >>> root = parse_html("<div class='box'><p>1<p>2</div><div class='story'><p>3</div>").root
    >>> selector_of(next(root.iter("p")))
    'div.box > p'
    """
    steps = [_step(element)]
    for above in element.iterancestors():
        if above.tag in ("body", "html"):
            break
        steps.insert(0, _step(above))
    steps = steps[-40:]
    root = element.getroottree().getroot()
    like = found_by(root, " > ".join(steps))
    if element not in like:
        return None
    is_named = any(set(step) & set("#.") for step in steps)
    for start in reversed(range(len(steps))):
        part = steps[start:]
        if is_named and not any(set(step) & set("#.") for step in part):
            continue
        if len(found_by(root, " > ".join(part))) == len(like):
            return " > ".join(part)
    return " > ".join(steps)


def found_by(root: _Element, selector: str) -> list[_Element]:
    """What a CSS selector finds."""
    return cast("list[_Element]", CSSSelector(selector, translator="html")(root))


def _step(element: _Element) -> str:
    """Tag and stable names of an element, as far as CSS can write them."""
    tag = element.tag if isinstance(element.tag, str) and _TAG.fullmatch(element.tag) else "*"
    names = [f"#{name}" for name in _stable(element.get("id", ""))[:1]]
    names = names or [f".{name}" for name in _stable(element.get("class", ""))]
    return tag + "".join(names)


def _stable(value: str) -> list[str]:
    """Tokens of an attribute that are the same on other pages: no numbers of posts, no hashes."""
    return [
        token
        for token in dict.fromkeys(value.split(None, 20)[:20])
        if _NAME.fullmatch(token) and stable_tokens(token) == [token]
    ]


def _element_at(root: _Element, path: str) -> _Element | None:
    found = root.getroottree().xpath(path)
    first = found[0] if isinstance(found, list) and found else None
    return first if etree.iselement(first) else None


def _prefixes(path: str) -> Iterator[str]:
    """A path and those above it.

    >>> list(_prefixes("body/div/p"))
    ['body/div/p', 'body/div', 'body']
    """
    while path:
        yield path
        path = path.rpartition("/")[0]
