"""Boxes: what was pointed at, as CSS selectors, and on how many pages of its site it stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING

from lxml import etree

from noiseclean_scrapy.page.element_paths import ElementPaths
from noiseclean_scrapy.page.hashes import hash64
from noiseclean_scrapy.page.labels import stable_tokens
from noiseclean_scrapy.page.locations import steps_of

if TYPE_CHECKING:
    from lxml.etree import _Element

    from noiseclean_scrapy.page.block import Block
    from noiseclean_scrapy.store import PageRecord

LEVELS = 12
"""Most boxes around a block that can be pointed at."""
SAMPLE = 300
"""Most pages of a site on which places are counted: the first by key, a fair sample."""

_MOST_PLACES = 100_000
_MOST_STEPS = 40
_MOST_NAMES = 20
_BLANKS = re.compile("[ \t\n\r\f]+")  # as CSS has them
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
    """On how many of `of` pages each place, by its hash, has text."""

    pages: Counter[int]
    of: int

    @classmethod
    def count(cls, records: Iterable[PageRecord]) -> PlaceCounts:
        pages: Counter[int] = Counter()
        of = 0
        for record in records:
            places = {block.place for block in record.cleaned.blocks} if record.cleaned else set()
            pages.update(map(hash64, _all_prefixes(places)))
            of += 1
            if len(pages) > _MOST_PLACES:
                pages = Counter(dict(pages.most_common(_MOST_PLACES // 2)))
        return cls(pages, of)


def levels(
    root: _Element, blocks: Sequence[Block], number: int, counts: PlaceCounts
) -> list[Level]:
    """The boxes around a block of a page, from the inside; none where its element is gone."""
    paths = ElementPaths(root)
    homes = [paths.find(block.xpath) for block in blocks]
    element, place = homes[number], steps_of(blocks[number].place)
    found: list[Level] = []
    while element is not None and element.tag not in ("body", "html") and len(found) < LEVELS:
        selector, elements = selector_of(element)
        if not selector:
            break
        inside = blocks_in(elements, homes)
        characters = sum(len(blocks[number].text) for number in inside)
        path = "/".join(place)
        name, pages = place[-1] if place else "", counts.pages[hash64(path)]
        level = Level(name, path, selector, len(elements), characters, pages)
        # A box with nothing but another one inside is that one to a person.
        if not found or (level.characters, level.elements) != (
            found[-1].characters,
            found[-1].elements,
        ):
            found.append(level)
        element, place = element.getparent(), place[:-1]
    return found


def blocks_in(elements: Iterable[_Element], homes: Sequence[_Element | None]) -> list[int]:
    """The numbers of the blocks whose element is one of some elements, or stands in one."""
    is_inside: dict[_Element | None, bool] = {None: False, **dict.fromkeys(elements, True)}
    for home in homes:
        passed = []
        element = home
        while element not in is_inside:
            assert element is not None
            passed.append(element)
            element = element.getparent()
        is_inside.update(dict.fromkeys(passed, is_inside[element]))
    return [number for number, home in enumerate(homes) if is_inside[home]]


def selector_of(element: _Element) -> tuple[str, list[_Element]]:
    """The shortest CSS path that finds an element and its like and nothing else, and these.

    Its like are the elements at the end of the same tags, ids and classes from BODY down. The path
    is empty where CSS cannot find the element.

    >>> from noiseclean_scrapy.page.parse import parse_html
    >>> root = parse_html("<div class='box'><p>1<p>2</div><div class='story'><p>3</div>").root
    >>> selector_of(next(root.iter("p")))[0]
    'div.box > p'
    """
    above = takewhile(lambda node: node.tag not in ("body", "html"), element.iterancestors())
    steps = [_Step.of(node) for node in islice(chain([element], above), _MOST_STEPS)]
    root = element.getroottree().getroot()
    # Each step outwards leaves fewer of the elements: those below what it matches.
    below = {node: [node] for node in root.iter(etree.Element) if steps[0].matches(node)}
    if element not in below:
        return "", []
    counts = [len(below)]
    for step in steps[1:]:
        around: dict[_Element, list[_Element]] = {}
        for node, found in below.items():
            parent = node.getparent()
            if parent is not None:
                around.setdefault(parent, []).extend(found)
        below = {parent: found for parent, found in around.items() if step.matches(parent)}
        counts.append(sum(map(len, below.values())))
    named = (number for number, step in enumerate(steps) if step.is_named)
    enough = max(counts.index(counts[-1]), min(named, default=0))
    path = " > ".join(step.css for step in reversed(steps[: enough + 1]))
    return path, [node for found in below.values() for node in found]


@dataclass(frozen=True, slots=True)
class _Step:
    """Tag and stable names of an element, as far as CSS can write them: its id, or its classes."""

    tag: str
    id: str
    classes: tuple[str, ...]

    @classmethod
    def of(cls, element: _Element) -> _Step:
        tag = element.tag if _TAG.fullmatch(element.tag) else "*"
        (own,) = _stable(element.get("id", ""))[:1] or [""]
        return cls(tag, own, () if own else tuple(_stable(element.get("class", ""))))

    @property
    def is_named(self) -> bool:
        return bool(self.id or self.classes)

    @property
    def css(self) -> str:
        return self.tag + (f"#{self.id}" if self.id else "".join(f".{n}" for n in self.classes))

    def matches(self, element: _Element) -> bool:
        if self.tag not in ("*", element.tag):
            return False
        if self.id:
            return element.get("id") == self.id
        return not self.classes or set(self.classes).issubset(
            _BLANKS.split(element.get("class", ""))
        )


def _stable(value: str) -> list[str]:
    """Tokens of an attribute that are the same on other pages: no numbers of posts, no hashes."""
    return [
        token
        for token in dict.fromkeys(_BLANKS.split(value, _MOST_NAMES)[:_MOST_NAMES])
        if _NAME.fullmatch(token) and stable_tokens(token) == [token]
    ]


def _all_prefixes(paths: Iterable[str]) -> set[str]:
    """Paths and all above them; each is looked up once, for they share most of these."""
    found: set[str] = set()
    for path in paths:
        for above in _prefixes(path):
            if above in found:
                break
            found.add(above)
    return found


def _prefixes(path: str) -> Iterator[str]:
    """A path and those above it.

    >>> list(_prefixes("body/div/p"))
    ['body/div/p', 'body/div', 'body']
    """
    steps = steps_of(path)
    while steps:
        yield "/".join(steps)
        steps.pop()
