"""Evidence of the site: what other pages hold at a block's place, and how many show its text."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.exclusions import LINK_LIST, SHORT_CELL
from noiseclean_scrapy.methods.evidence_model.fingerprints import PageKeys, page_keys
from noiseclean_scrapy.methods.evidence_model.sample import PageSample, PageVotes
from noiseclean_scrapy.methods.evidence_model.tree_index import (
    Floats,
    Integers,
    PageArrays,
    page_arrays,
)
from noiseclean_scrapy.methods.evidence_model.vocabulary import TAG_GROUPS
from noiseclean_scrapy.methods.trees.counts import read_number
from noiseclean_scrapy.page import Page, PageTable
from noiseclean_scrapy.page.inline import BEGIN, BREAK, END, NAMED
from noiseclean_scrapy.page.outline import CELLS, ITEMS

PLACE_WEIGHT = 0.4
"""How far a block's log-odds move towards the mean of its place on other pages, at full support."""
REPETITION = 5.0
"""Log-odds that a text loses by the share of the other pages that show it."""
COMMON = 0.3
"""Share of the other pages from which on a text is common."""
COMMON_REPETITION = 6.0
"""Log-odds that a common text loses besides."""
SUPPORT, COMMON_SUPPORT = 6.0, 3.0
"""Pages that give a place, and a common text, half of the full weight."""
SURE = 2.5
"""Log-odds from which on the page alone is rather sure of a text. Such a text loses only as far as
the pages that show it are believed, `COMMON_SUPPORT` of them by half: two of three are too few."""
INSERT = 6.0
"""Log-odds that an insert loses where other pages have its place: what a site calls an advert, a
newsletter or a link to read besides."""
MOST, FEW = 0.5, 3.0
"""Share of the other pages, and their number, from which on most pages show a text."""
AMONG_CONTENT, CELLS_AMONG_CONTENT = 1 / 4, 1 / 8
"""Share of the items of a list, and of the cells of a data table, that are content, above which
none is left out for being known."""
BOXES = 4
"""Elements, one in the other, that may hold no more than a heading and a link to edit it; levels
below its list or table at which the first text stands."""
CLIP = 6.0
"""Log-odds of single blocks and of places are cut off here."""

LAYOUT = 0.9
"""Share of a page's blocks whose places are on no more pages than the page's layout."""
ENTRIES = 125
"""Places and texts that are reckoned a page, to bound the number of pages that vote."""

_HEADINGS = frozenset(TAG_GROUPS["heading"].split())
_ABOVE = _HEADINGS - {"h1"} | {"dt"}  # H1 names the site where it recurs
_LISTS = frozenset(("table", *TAG_GROUPS["list"].split()))
_INSERT = re.compile(
    r"(?:^|[.#_-])(?:ads?|advert\w*|sponsored|newsletter|read-?also|also-?read|lire-?aussi"
    r"|auch-?interessant|sign-?up|subscribe)(?![a-z])",
    re.IGNORECASE,
)
_MARKED = rf"{BEGIN}[^{BEGIN}{END}]*{END}"
_EMPHASIZED = re.compile(
    rf"\s*{BEGIN}(?:b|strong|u)[0-9]*{NAMED}(?:[^{BEGIN}{END}]|{_MARKED})*{END}\s*{BREAK}?\s*"
)
_CROSSHEAD = re.compile(
    r"(?:^|[.#_-])(?:question|cross-?head(?:ing)?|sub-?head(?:ing|line)?|intertitle)(?![a-z])",
    re.IGNORECASE,
)
_Sums: TypeAlias = tuple[Floats, Floats, Floats, NDArray[np.bool_]]
_NOBODY = PageVotes(0, 0, array("Q"), array("Q"), array("d"), 0.0)
_LEAST = 2.0**-10


@dataclass(frozen=True, slots=True)
class SiteTerms:
    """What the site adds to each block's log-odds, and why.

    Its `place`, the `repetition` of its text, and that it is called an `insert` add up to `total`.
    `place_pages` and `text_pages` count the other pages that have the block's place, and that show
    its text there; `known` tells whether any page has the place, this one included if it was
    observed, `common` whether most other pages of its layout show its text there.
    """

    place: Floats
    repetition: Floats
    insert: Floats
    place_pages: Floats
    text_pages: Floats
    known: NDArray[np.bool_]
    common: NDArray[np.bool_]

    @property
    def total(self) -> Floats:
        return self.place + (self.repetition + self.insert)


class SiteEvidence:
    """Sums over the pages of a site: additive, mergeable, bounded.

    For each place the number of pages that have it and the sum of their mean log-odds there; for
    each text, digits masked, the number of pages that show it at the same place. A place is named
    twice: as that of a block and as that of the block's surroundings. Of pages with nearly the same
    content and layout one counts. Above `max_entries / ENTRIES` pages a sample of them does.
    """

    def __init__(self, max_entries: int) -> None:
        self.max_entries = max_entries
        self.pages = 0.0
        self.sample = PageSample(max(1, max_entries // ENTRIES))
        # Numbers alone: the garbage collector does not look at them.
        self.place_pages: dict[int, float] = {}
        self.place_sums: dict[int, float] = {}
        self.texts: dict[int, float] = {}

    def observe(self, page: Page, scores: Floats) -> None:
        """Count a page whose blocks have these log-odds by the page alone."""
        self.pages += 1
        self._add(PageVotes.of(page_keys(page, scores)))
        if len(self.sample.votes) > 1.25 * self.sample.most:
            self._prune()

    def terms(self, page: Page, scores: Floats) -> SiteTerms:
        """What the other pages of the site say of each block; zeros where there are none."""
        count = len(page.table.texts)
        zeros = np.zeros(count)
        if not self.sample.votes or not count:
            none = np.zeros(count, dtype=bool)
            return SiteTerms(zeros, zeros, zeros, zeros, zeros, none, none)
        keys = page_keys(page, scores)
        # Neither the page nor a copy of it votes on itself.
        own = self.sample.votes.get(keys.signature, _NOBODY)
        moved, support, shown, known = self._sums(keys, own)
        share = np.minimum(shown / np.maximum(_pages_of_layout(support), _LEAST), 1)
        lost = REPETITION * share * shown / (shown + 1)
        lost += np.where(share >= COMMON, COMMON_REPETITION * shown / (shown + COMMON_SUPPORT), 0)
        sure = 1 / (1 + np.exp(2 * (SURE - np.clip(scores, -CLIP, CLIP))))
        lost *= 1 - sure * (1 - _trust(shown, COMMON_SUPPORT))
        insert = np.where(support > 0, INSERT * _inserts(page, scores), 0)
        parts = _parts_of_content(page, scores + moved, lost + insert)
        lost[parts] = insert[parts] = 0
        common = (share >= MOST) & (shown >= FEW)
        return SiteTerms(moved, -lost, -insert, support, shown, known, common)

    def _sums(self, keys: PageKeys, own: PageVotes) -> _Sums:
        """What places add to each block, their other pages, those of texts, what is known at all.

        `own` are the votes of the page itself.
        """
        pages = seen = _looked_up(self.place_pages, keys.places)
        total = _looked_up(self.place_sums, keys.places)
        shown = _looked_up(self.texts, keys.texts)
        if own.places:
            at, mine = _found(keys.places, own.places)
            pages = seen - own.weight * mine
            total -= own.weight * np.where(mine, np.array(own.means)[at], 0.0)
        if own.texts:
            shown -= own.weight * _found(keys.texts, own.texts)[1]
        there = np.clip(total / np.where(pages > 0, pages, 1.0), -CLIP, CLIP)
        pull = PLACE_WEIGHT * _trust(pages, SUPPORT)
        here = np.clip(keys.scores, -CLIP, CLIP)
        moved = pull[keys.own] * (there[keys.own] - here)
        moved += pull[keys.around] * (there[keys.around] - here)
        return moved, pages[keys.own], shown, (seen > 0)[keys.own]

    def merge(self, other: SiteEvidence) -> None:
        """Add what was learned from other pages; copies of pages count once."""
        self.pages += other.pages
        for votes in other.sample.votes.values():
            self._add(votes)
        self._prune()

    def copy(self) -> SiteEvidence:
        """The same evidence, which later pages do not change."""
        self._prune()
        copied = SiteEvidence(self.max_entries)
        copied.pages = self.pages
        copied.sample.votes = dict(self.sample.votes)
        copied.texts = dict(self.texts)
        copied.place_pages = dict(self.place_pages)
        copied.place_sums = dict(self.place_sums)
        return copied

    def decay(self, factor: float) -> None:
        """Let every page so far count `factor` of a page."""
        self._prune()
        self.pages *= factor
        self.sample.decay(factor)
        self._recount()

    def state(self) -> dict[str, Any]:
        """All votes, as JSON values in a fixed order."""
        self._prune()
        return {"pages": self.pages, **self.sample.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned; raises KeyError, TypeError or ValueError on others."""
        pages = read_number(state["pages"])
        sample = PageSample(self.sample.most)
        sample.restore(state)
        self.pages, self.sample = pages, sample
        self._recount()
        self._prune()

    def _add(self, votes: PageVotes) -> None:
        replaced = self.sample.add(votes)
        if replaced is not votes:
            self._tally(votes, votes.weight)
            if replaced is not None:
                self._tally(replaced, -replaced.weight)

    def _prune(self) -> None:
        for votes in self.sample.prune():
            self._tally(votes, -votes.weight)

    def _recount(self) -> None:
        self.place_pages, self.place_sums, self.texts = {}, {}, {}
        for votes in self.sample.votes.values():
            self._tally(votes, votes.weight)

    def _tally(self, votes: PageVotes, weight: float) -> None:
        """Add a page's votes to the sums, or take them out where `weight` is below 0."""
        texts, pages, sums = self.texts, self.place_pages, self.place_sums
        if kernels.blocks is not None:
            keys = votes.texts, votes.places, votes.means
            kernels.blocks.tally(texts, pages, sums, *keys, weight)
            return
        for text in votes.texts:
            total = texts.get(text, 0.0) + weight
            if total:
                texts[text] = total
            else:
                del texts[text]
        for place, mean in zip(votes.places, votes.means, strict=True):
            count = pages.get(place, 0.0) + weight
            if count:
                pages[place] = count
                sums[place] = sums.get(place, 0.0) + weight * mean
            else:
                del pages[place], sums[place]


def _looked_up(values: dict[int, float], keys: array[int]) -> Floats:
    """The value of each key; 0 where there is none."""
    if kernels.blocks is not None:
        found: Floats = kernels.blocks.looked_up(values, keys)
        return found
    return np.array([values.get(key, 0.0) for key in keys])


def _found(keys: array[int], among: array[int]) -> tuple[Integers, NDArray[np.bool_]]:
    """Where each key would stand among ascending ones, of which there are some; whether it does."""
    sought, known = np.array(keys), np.array(among)
    at = np.minimum(known.searchsorted(sought), len(known) - 1)
    return at, known[at] == sought


def _pages_of_layout(support: Floats) -> Floats:
    """Other pages with a block's layout: those with its place, or with nearly the commonest one.

    A text of a new design is not rare because many pages still have the old one.
    """
    most: float = np.sort(support)[int(LAYOUT * (len(support) - 1))]
    return np.maximum(support, most)


def _parts_of_content(page: Page, scores: Floats, lost: Floats) -> list[int]:
    """What is content but for its repetition, among content: headings, items, cells of data tables.

    "History" stands above another text on each page of an encyclopedia, "2 eggs" among other
    ingredients, "Height" beside another figure. `scores` are what blocks have without what they
    have `lost`. Some of the items like an item are content, some of the cells of its table, or what
    it stands above.
    """
    wanted = np.flatnonzero((scores >= 0) & (lost > 0)).tolist()
    if not wanted:
        return []
    arrays, tags = page_arrays(page), page.table.tags
    elements = arrays.element
    is_content = scores - lost >= 0
    groups = arrays.groups[elements]
    shares = np.bincount(groups, is_content) / np.maximum(np.bincount(groups), 1)
    found = [n for n in wanted if tags[elements[n]] in ITEMS and shares[groups[n]] > AMONG_CONTENT]
    if not CELLS.isdisjoint(arrays.label_tags):
        found += _cells_of_content(page, wanted, is_content)
    is_content[found] = True
    for number in reversed(wanted):
        if _is_above_content(arrays, page.table, number, is_content):
            is_content[number] = True
            found.append(number)
    return found


def _cells_of_content(page: Page, wanted: list[int], is_content: NDArray[np.bool_]) -> list[int]:
    """Which of the `wanted` blocks are in data tables of whose cells some are content; no links."""
    arrays, table = page_arrays(page), page.table
    is_cell = arrays.tagged(CELLS)[arrays.element]
    tables = arrays.nearest(arrays.tagged({"table"}))[arrays.element]
    lengths = np.array([len(text) for text in table.texts])
    cells = np.maximum(np.bincount(tables, is_cell), 1)
    is_part = np.bincount(tables, is_cell & is_content) / cells > CELLS_AMONG_CONTENT
    is_part &= np.bincount(tables, is_cell * lengths) / cells < SHORT_CELL
    is_link = LINK_LIST * lengths < np.array(table.link_characters)
    found = is_cell & is_part[tables] & ~is_link
    return [number for number in wanted if found[number]]


def _is_above_content(
    arrays: PageArrays, table: PageTable, number: int, is_content: NDArray[np.bool_]
) -> bool:
    """Whether content comes next, in the block's own element or behind boxes that it fills."""
    tags = table.tags
    behind, element = number + 1, int(arrays.element[number])
    own = tags[element]
    for _ in range(BOXES):
        box = arrays.parent[element]
        end = arrays.end[box]
        if behind < end and is_content[behind]:
            is_name = own in CELLS and tags[arrays.element[behind]] in CELLS
            is_title = own in _ABOVE or is_name or _is_crosshead(table, number)
            return is_title or _starts_list(arrays, tags, box, behind)
        if end > number + 2 or arrays.first[box] < number:
            return False
        behind, element = end, box
    return False


def _is_crosshead(table: PageTable, number: int) -> bool:
    """Whether a block is a heading that is no H, as the questions of an interview are.

    It ends with a question mark, is bold or underlined throughout, or is called so. Neither a link
    nor what announces some, as "See also:" does.
    """
    text, owner = table.texts[number], table.owners[number]
    if table.link_characters[number] or text.endswith((":", "\uff1a")):
        return False
    return (
        text.endswith(("?", "\uff1f", "\u061f"))
        or _EMPHASIZED.fullmatch(table.sources.get(number, "")) is not None
        or _CROSSHEAD.search(table.labels[owner], len(table.tags[owner])) is not None
    )


def _starts_list(arrays: PageArrays, tags: Sequence[str], box: int, number: int) -> bool:
    """Whether a block is in a list or a table right below a box that holds it."""
    element = int(arrays.element[number])
    for _ in range(BOXES):
        above = int(arrays.parent[element])
        if above == box:
            return tags[element] in _LISTS
        element = above
    return False


def _inserts(page: Page, scores: Floats) -> NDArray[np.bool_]:
    """Which blocks stand right in an element whose class or id says that it is an insert.

    None where such hold most of what is content by these log-odds: a classified advertisement is
    what its page is about, a letter that of an archive of newsletters.
    """
    arrays = page_arrays(page)
    found: NDArray[np.bool_] = arrays.named(_is_insert)[arrays.element]
    if not found.any():
        return found
    content = np.array([len(text) for text in page.table.texts]) * (scores >= 0)
    return found & bool(2 * content[found].sum() <= content.sum())


@lru_cache(maxsize=20_000)
def _is_insert(tag: str, label: str) -> bool:
    return tag not in _HEADINGS and bool(_INSERT.search(label, len(tag)))


def _trust(pages: Floats, support: float) -> Floats:
    """How far so many other pages are believed, of which `support` are by half: few may all err.

    >>> _trust(np.array([3.0, 6.0, 18.0]), 6.0).tolist()
    [0.2, 0.5, 0.9]
    """
    return pages**2 / (pages**2 + support**2)
