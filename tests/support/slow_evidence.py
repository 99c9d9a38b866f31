"""The method `evidence` by definition, page by page and row by row: slow, for tests only."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from noiseclean_scrapy.methods.evidence_model import near_duplicates, places, site_features
from noiseclean_scrapy.methods.evidence_model.boosted_trees import BoostedTrees
from noiseclean_scrapy.methods.evidence_model.fingerprints import PageKeys
from noiseclean_scrapy.methods.evidence_model.sample import PageVotes
from noiseclean_scrapy.page import Page

# Trees.


def slow_answers(trees: BoostedTrees, tree: int, row: Sequence[float]) -> list[bool]:
    return [
        bool(row[int(feature)] > border)
        for feature, border in zip(trees.features[tree], trees.borders[tree], strict=True)
    ]


def slow_score(trees: BoostedTrees, row: Sequence[float]) -> float:
    """Walk every tree; the answer of level d is bit d of the leaf's number."""
    total = trees.bias
    for tree in range(len(trees.features)):
        leaf = sum(2**level for level, yes in enumerate(slow_answers(trees, tree, row)) if yes)
        total += float(trees.values[tree][leaf])
    return total


def slow_mean(
    leaves: Sequence[float], weights: Sequence[float], first_answers: Sequence[bool]
) -> float:
    """Weighted mean of the leaves with these first answers; the plain one where none weighs."""
    fitting = [
        leaf
        for leaf in range(len(leaves))
        if all(bool(leaf >> level & 1) is yes for level, yes in enumerate(first_answers))
    ]
    total = sum(float(weights[leaf]) for leaf in fitting)
    if total <= 0:
        return sum(float(leaves[leaf]) for leaf in fitting) / len(fitting)
    return sum(float(leaves[leaf]) * float(weights[leaf]) for leaf in fitting) / total


def slow_contributions(
    trees: BoostedTrees, weights: Any, row: Sequence[float]
) -> tuple[float, list[float]]:
    """Saabas: each answer's change of the mean goes to the feature that was asked for."""
    base = trees.bias
    changes = [0.0] * len(trees.names)
    for tree in range(len(trees.features)):
        answers = slow_answers(trees, tree, row)
        means = [
            slow_mean(trees.values[tree], weights[tree], answers[:level])
            for level in range(len(answers) + 1)
        ]
        base += means[0]
        for level, feature in enumerate(trees.features[tree]):
            changes[int(feature)] += means[level + 1] - means[level]
    return base, changes


# The page as arrays.


def slow_ancestors(page: Page, element: int) -> list[int]:
    """The element, its parent, and so on up to BODY."""
    return [above.index for above in page.path(element)]


def slow_below(page: Page, values: Sequence[float]) -> list[float]:
    return [
        sum(values[b.index] for b in page.blocks if e.index in slow_ancestors(page, b.element))
        for e in page.elements
    ]


def slow_inherit(page: Page, masks: Sequence[int]) -> list[int]:
    inherited = []
    for element in page.elements:
        bits = 0
        for above in slow_ancestors(page, element.index):
            bits |= masks[above]
        inherited.append(bits)
    return inherited


def slow_group_sizes(page: Page) -> list[int]:
    """Siblings with the same label, the element among them."""
    return [
        sum((o.parent, o.label) == (e.parent, e.label) for o in page.elements)
        for e in page.elements
    ]


def slow_repeated_item(page: Page) -> list[int]:
    sizes = slow_group_sizes(page)
    return [
        next((above for above in slow_ancestors(page, e.index) if sizes[above] > 1), 0)
        for e in page.elements
    ]


def slow_same_place(page: Page, one: int, other: int) -> bool:
    def place(index: int) -> tuple[str, str]:
        element = page.elements[index]
        return page.elements[max(element.parent, 0)].label, element.label

    return place(one) == place(other)


def slow_apart(page: Page, chances: Sequence[float], lengths: Sequence[float]) -> list[bool]:
    """Which blocks are outside of the element with nine tenths of the sure text, and unlike it."""
    sure = [chance >= 0.75 for chance in chances]
    below = slow_below(
        page, [n if is_sure else 0.0 for n, is_sure in zip(lengths, sure, strict=True)]
    )
    main = max(index for index, text in enumerate(below) if text >= 0.9 * below[0])
    apart = [
        below[0] >= 200
        and main not in slow_ancestors(page, block.element)
        and not any(
            slow_same_place(page, block.element, other.element)
            for other in page.blocks
            if sure[other.index]
        )
        for block in page.blocks
    ]
    doubtful = sum(
        length
        for length, chance, is_apart in zip(lengths, chances, apart, strict=True)
        if is_apart and chance >= 0.5
    )
    return [is_apart and doubtful <= 3.5 * below[0] for is_apart in apart]


# The site.


HEADINGS = ("h2", "h3", "h4", "h5", "h6")
CELLS, LISTS = ("td", "th"), ("ul", "ol", "dl", "menu", "table")


def slow_is_item_or_cell(page: Page, index: int, is_content: Sequence[bool]) -> bool:
    """Whether a block is one of a list or a data table of which some are content."""
    element = page.elements[page.blocks[index].element]

    def share(numbers: Sequence[int]) -> float:
        return sum(is_content[number] for number in numbers) / len(numbers)

    owners = [page.elements[block.element] for block in page.blocks]
    if element.tag in ("li", "dt", "dd"):
        key = element.parent, element.label
        return share([i for i, o in enumerate(owners) if (o.parent, o.label) == key]) > 1 / 4
    table = slow_table(page, element.index)
    if element.tag not in CELLS or table is None:
        return False
    cells = [
        i for i, o in enumerate(owners) if o.tag in CELLS and slow_table(page, o.index) == table
    ]
    is_short = sum(len(page.blocks[i].text) for i in cells) / len(cells) < 40
    block = page.blocks[index]
    is_link = block.link_characters > 0.8 * len(block.text)
    return is_short and not is_link and share(cells) > 1 / 8


def slow_table(page: Page, element: int) -> int | None:
    """The nearest TABLE around an element."""
    tables = [e for e in slow_ancestors(page, element) if page.elements[e].tag == "table"]
    return max(tables, default=None)


def slow_is_above(page: Page, index: int, is_content: Callable[[int], bool]) -> bool:
    """Whether a heading, a label or what introduces a list stands above content."""
    own = page.elements[page.blocks[index].element]
    number = index + 1
    for box in slow_ancestors(page, own.index)[1:5]:
        inside = [b.index for b in page.blocks if box in slow_ancestors(page, b.element)]
        behind = max(inside) + 1
        if number < behind and is_content(number):
            path = slow_ancestors(page, page.blocks[number].element)
            steps = path.index(box)
            introduces = 0 < steps <= 4 and page.elements[path[steps - 1]].tag in LISTS
            next_tag = page.elements[path[0]].tag
            is_name = own.tag in CELLS and next_tag in CELLS
            return own.tag in (*HEADINGS, "dt") or is_name or introduces
        if behind > index + 2 or min(inside) < index:
            return False
        number = behind
    return False


class SlowSite:
    """All pages of a site are kept, with the log-odds of their blocks by the page alone."""

    def __init__(self) -> None:
        self.pages: dict[Any, tuple[Page, list[float]]] = {}

    def observe(self, page: Page, scores: Sequence[float]) -> None:
        """Of near-duplicates one votes: any, but always the same."""
        new = page, [float(score) for score in scores]
        known = self.pages.setdefault(identity(*new), new)
        self.pages[identity(*new)] = max(known, new, key=lambda one: _rank(*one))

    def terms(self, page: Page, scores: Sequence[float]) -> dict[str, list[float]]:
        """As `SiteTerms`, one list a field."""
        own = identity(page, scores)
        others = [seen for key, seen in self.pages.items() if key != own]
        rows = [
            self._block_terms(page, index, float(score), others)
            for index, score in enumerate(scores)
        ]
        support = sorted(row[2] for row in rows)
        most = support[int(site_features.LAYOUT * (len(rows) - 1))] if rows else 0.0
        rows = [
            (r[0], slow_repetition(r[3], max(most, r[2]), float(score)), r[2], r[3])
            for r, score in zip(rows, scores, strict=True)
        ]

        def is_content(index: int) -> bool:
            return scores[index] + sum(rows[index][:2]) >= 0

        mays = [score + row[0] >= 0 for score, row in zip(scores, rows, strict=True)]
        before = [is_content(index) for index in range(len(rows))]
        for index in reversed(range(len(rows))):
            is_part = slow_is_item_or_cell(page, index, before)
            is_part |= slow_is_above(page, index, is_content)
            if is_part and mays[index]:
                rows[index] = (rows[index][0], 0.0, *rows[index][2:])
        names = ("place", "repetition", "place_pages", "text_pages")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def _block_terms(
        self, page: Page, index: int, score: float, others: list[tuple[Page, list[float]]]
    ) -> tuple[float, float, float, float]:
        if not others:
            return 0.0, 0.0, 0.0, 0.0
        moved, support = 0.0, []
        for levels_up in (0, 1):
            place = slow_place(page, index, levels_up)
            means = []
            for other, other_scores in others:
                here = [
                    other_scores[b.index]
                    for b in other.blocks
                    if slow_place(other, b.index, levels_up) == place
                ]
                if here:
                    means.append(sum(here) / len(here))
            support.append(len(means))
            if means:
                pull = (
                    site_features.PLACE_WEIGHT
                    * len(means) ** 2
                    / (len(means) ** 2 + site_features.SUPPORT**2)
                )
                moved += pull * (clipped(sum(means) / len(means)) - clipped(score))
        text = slow_text(page, index)
        shown = sum(
            any(slow_text(other, block.index) == text for block in other.blocks)
            for other, _ in others
        )
        return moved, 0.0, float(support[0]), float(shown)


def slow_repetition(shown: float, others: float, score: float) -> float:
    """What a text loses that `shown` of `others` pages show, and that has this log-odds alone."""
    if not shown:
        return 0.0
    others = max(others, shown)  # pages show it at places with other classes as well
    lost = site_features.REPETITION * shown / others * shown / (shown + 1)
    if shown / others >= site_features.COMMON:
        lost += site_features.COMMON_REPETITION * shown / (shown + site_features.COMMON_SUPPORT)
    doubt = site_features.COMMON_SUPPORT**2 / (shown**2 + site_features.COMMON_SUPPORT**2)
    return -lost * (1 - doubt / (1 + math.exp(2 * (site_features.SURE - clipped(score)))))


def identity(page: Page, scores: Sequence[float]) -> tuple[object, ...]:
    """What pages have in common that are near-duplicates of each other."""
    places = PageKeys(page, np.array(scores)).places
    title = re.sub(r"\d+", "0", page.title.lower())
    content = [b.text for b, score in zip(page.blocks, scores, strict=True) if score > 0]
    data = " ".join(content).encode()[: near_duplicates.MOST_CONTENT]
    if len(data) < near_duplicates.LEAST_CONTENT:
        texts = tuple(slow_text(page, block.index) for block in page.blocks)
        return min(places, default=0), title, texts
    return min(places, default=0), title, *slow_min_hashes(data)


def slow_min_hashes(data: bytes) -> tuple[int, ...]:
    """Every shingle hashed by itself."""
    found = []
    for mixer in near_duplicates._MIXERS:
        hashes = []
        for start in range(len(data) - near_duplicates.SHINGLE + 1):
            value = 0
            for power, byte in enumerate(data[start : start + near_duplicates.SHINGLE]):
                value = (value + byte * pow(near_duplicates._BASE, power, 2**64)) % 2**64
            value ^= value >> 31
            value = value * mixer % 2**64
            value ^= value >> 32
            hashes.append(value * near_duplicates._BASE % 2**64)
        found.append(min(hashes))
    return tuple(found)


def _rank(page: Page, scores: Sequence[float]) -> tuple[float, bytes]:
    return PageVotes.of(PageKeys(page, np.array(scores))).rank


def slow_text(page: Page, block: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The text, digits masked or not, the row that it is of, and the tags of its place."""
    text, tag = page.blocks[block].text, page.elements[page.blocks[block].element].tag
    ends = text.rstrip("\"'”’»)]」』").endswith(tuple(".!?…。！？।؟"))
    holds_figures = tag in ("li", "dt", "dd", *CELLS) or not any(map(str.isalpha, text))
    holds_figures |= tag in ("pre", "textarea", "listing", "xmp", "plaintext")
    is_dated = re.search(r"19\d\d|20\d\d|\d[:.]\d\d(?!\d)|\d[/.-]\d", text)
    holds_figures |= tag == "p" and len(re.findall(r"\d+", text)) > 1 and not is_dated
    is_figure = re.search(r"\d", text) and (ends or holds_figures)
    row = slow_row(page, block)
    is_cell = len(row) > 1 and sum(map(len, row)) <= 200
    seen = text if is_figure or is_cell else masked_texts(page)[block]
    return seen, row if is_cell else (), slow_place(page, block, 0, "tag")


def slow_row(page: Page, block: int) -> tuple[str, ...]:
    """The texts in the cells that are siblings of the block's own cell."""
    element = page.elements[page.blocks[block].element]
    if element.tag not in CELLS or not page.blocks[block].text:
        return ()
    cells = [
        other.index
        for other in page.elements
        if other.parent == element.parent and other.tag in CELLS
    ]
    return tuple(other.text for other in page.blocks if other.text and other.element in cells)


def masked_texts(page: Page) -> tuple[str, ...]:
    return tuple(re.sub(r"\d+", "0", block.text.lower()) for block in page.blocks)


def slow_place(page: Page, block: int, levels_up: int, named_by: str = "label") -> tuple[str, ...]:
    element = page.blocks[block].element
    for _ in range(levels_up):
        element = max(page.elements[element].parent, 0)
    names = (getattr(above, named_by) for above in page.path(element))
    return tuple(names)[: places.PLACE_LEVELS]


def clipped(score: float) -> float:
    return float(np.clip(score, -site_features.CLIP, site_features.CLIP))
