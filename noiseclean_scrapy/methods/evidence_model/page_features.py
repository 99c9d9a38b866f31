"""Features of where a block stands: in what elements, beside which blocks, on what kind of page."""

from __future__ import annotations

import numpy as np

from noiseclean_scrapy.methods.evidence_model.block_features import PAGE
from noiseclean_scrapy.methods.evidence_model.features import (
    ITEMS,
    SAME_PLACE,
    Rows,
    merged,
    of_ancestors,
    told,
)
from noiseclean_scrapy.methods.evidence_model.measures import LEVELS, PageMeasures
from noiseclean_scrapy.methods.evidence_model.naming import Naming
from noiseclean_scrapy.methods.evidence_model.phrases import PHRASES
from noiseclean_scrapy.methods.evidence_model.tree_index import (
    Integers,
    group_sums,
    last_marked,
    window_means,
)
from noiseclean_scrapy.methods.evidence_model.wording import Wording
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.declared import KINDS

__all__ = ["PAGE", "PageFeatures"]

_REACHES = (5, 15)
_TITLED, _TITLE = 0.6, 10  # a headline: the share of its words in the title; more characters
_LEAST_DISTANCE, _MOST_DISTANCE, _NO_HEADLINE = -30, 60, -100  # from a headline, in blocks
_SECTION, _NO_SECTION = 30, 40  # blocks below a heading, at most, and without one
_FAR = 40  # blocks below a line that announces something, at most


class PageFeatures(PageMeasures):
    """The features of a page's blocks: `matrix` is (blocks, features), float32."""

    def __init__(
        self, page: Page, wording: Wording | None = None, naming: Naming | None = None
    ) -> None:
        super().__init__(page, wording, naming)
        self.matrix = PAGE.matrix(self, len(self.lengths))


@PAGE.group(
    "ancestors",
    "page",
    of_ancestors(
        LEVELS,
        *("text", "text_share", "long_share", "link_share", "block_length", "sentences"),
        "siblings",
    ),
)
def _ancestors(page: PageMeasures) -> Rows:
    arrays = page.arrays
    text, linked, long, sentences = page.below
    count = np.maximum(arrays.end - arrays.first, 1)
    rows = (
        *(np.log1p(text), text / page.total, long / page.all_long),
        *(linked / np.maximum(text, 1), text / count, sentences / count),
        np.log1p(arrays.group_sizes),
    )
    of_elements = np.array(rows, dtype=np.float32)
    for level in page.ancestors:
        yield of_elements.take(level, axis=1)


@PAGE.group(
    "repeated siblings",
    "neighbours",
    merged(
        told(
            f"{item}_{{}}",
            f"{{}} of {words}",
            *("count", "text", "mean_text", "link_share", "sentences", "text_share", "number"),
        )
        for item, words in ITEMS.items()
    ),
)
def _repeated(page: PageMeasures) -> Rows:
    """Posts of a forum, cards of a listing, items of a menu."""
    arrays, group = page.arrays, page.arrays.groups
    sizes = np.bincount(group)
    text, linked, _, sentences = group_sums(page.below, group)
    rows = (
        *(np.log1p(sizes), np.log1p(text / sizes), linked / np.maximum(text, 1)),
        *(sentences / sizes, text / page.total),
    )
    of_groups = np.array(rows, dtype=np.float32)
    log_text, log_number = np.log1p(page.below[0]), np.log1p(arrays.group_numbers)
    for item in arrays.repeated_items:
        found = of_groups.take(group[item], axis=1)
        yield found[0] * (item > 0)
        yield log_text[item]
        yield found[1:]
        yield log_number[item]


@PAGE.group(
    "same place",
    "neighbours",
    told(
        "place_{}",
        SAME_PLACE,
        "count",
        "length",
        "link_share",
        "text_share",
    ),
)
def _same_place(page: PageMeasures) -> Rows:
    """Of blocks whose element and parent are labelled alike, anywhere on the page."""
    place = page.places
    size = np.maximum(np.bincount(place), 1)
    text, linked = group_sums(np.array((page.lengths, page.linked)), place)
    rows = np.log1p(size), np.log1p(text / size), linked / np.maximum(text, 1), text / page.total
    yield np.array(rows, dtype=np.float32).take(place, axis=1)


@PAGE.group(
    "main element",
    "page",
    {
        "in_main": "in the element of the long text",
        "main_direct": "direct of the main element",
        "before_main": "before main",
        "after_main": "after main",
        **told("main_{}", "{} of the main element", "text_share", "link_share"),
    },
)
def _main(page: PageMeasures) -> Rows:
    main, index, (text, linked) = page.main, page.index, page.below[:2]
    first, end = page.arrays.first[main], page.arrays.end[main]
    yield (index >= first) & (index < end)
    yield (page.ancestors[1] == main) + 2 * (page.ancestors[0] == main)
    yield np.maximum(first - index, 0) / len(index)
    yield np.maximum(index - end + 1, 0) / len(index)
    yield text[main] / page.total
    yield linked[main] / max(text[main], 1)


@PAGE.group(
    "blocks around",
    "neighbours",
    merged(
        told(f"window{reach}_{{}}_{side}", f"{{}} in the {reach} blocks {side}", term)
        for reach in _REACHES
        for term in ("length", "link_share", "long")
        for side in ("before", "after")
    ),
)
def _windows(page: PageMeasures) -> Rows:
    values = np.array((page.texts.features[0], page.link_share, np.log1p(page.long)))
    means = window_means(values, np.ones(len(page.lengths)), _REACHES)
    yield means.reshape(-1, len(page.lengths))


@PAGE.group(
    "position",
    "page",
    told(
        *("{}", "{}", "depth", "position", "text_position", "from_start", "from_end"),
        *("long_before", "long_after", "from_h1", "from_title"),
    )
    | {"h1_before": "main headings so far"},
)
def _position(page: PageMeasures) -> Rows:
    index, count = page.index, len(page.lengths)
    log, long = np.log1p(index), np.cumsum(page.long)
    titled = np.where(page.lengths > _TITLE, page.in_title, 0.0)
    is_h1 = page.own("h1")
    yield page.arrays.depth[page.ancestors[0]]
    yield index / count
    yield np.cumsum(page.lengths) / page.total
    yield log
    yield log[::-1]
    yield (long - page.long) / page.all_long
    yield 1 - long / page.all_long
    yield _distance(index, int(is_h1.argmax()) if is_h1.any() else None)
    yield _distance(index, int(titled.argmax()) if titled.max() >= _TITLED else None)
    yield np.cumsum(is_h1)


def _distance(index: Integers, start: int | None) -> Integers | int:
    """Blocks since a headline, cut off."""
    if start is None:
        return _NO_HEADLINE
    return np.minimum(np.maximum(index - start, _LEAST_DISTANCE), _MOST_DISTANCE)


@PAGE.group(
    "position",
    "page",
    told("{}", "{}", "since_heading")
    | told("section_{}", "{} of the section below a heading", "length", "link_share"),
)
def _section(page: PageMeasures) -> Rows:
    """Of what stands below the same heading."""
    is_heading = page.own("heading")
    last = last_marked(is_heading)
    section = np.cumsum(is_heading, dtype=np.int64)
    text, linked = group_sums(np.array((page.lengths, page.linked)), section)
    yield np.where(last >= 0, np.minimum(page.index - last, _SECTION), _NO_SECTION)
    yield np.log1p(text)[section]
    yield (linked / np.maximum(text, 1))[section]


@PAGE.group(
    "announcing lines",
    "page",
    {
        "since_related": "blocks since a line that announces related stories",
        "since_comments": "blocks since a line that announces comments",
        "since_about": "blocks since a line that announces a description",
        "since_service": "blocks since a line on sharing, subscribing and the like",
    },
)
def _announced(page: PageMeasures) -> Rows:
    said = np.where(page.is_plain, page.texts.announced, 0.0)
    last = last_marked(said == np.arange(1, len(PHRASES) + 1)[:, None])
    yield np.where(last >= 0, np.minimum(page.index - last, _FAR), _FAR)


@PAGE.group(
    "kind of page",
    "page",
    told(
        *("page_{}", "{} of the page", "blocks", "text", "link_share", "long_share", "long_blocks"),
        *("long_length", "paragraph_share", "headings", "h1", "items", "cells", "han"),
    )
    | {
        f"page_is_{kind}": f"the page declares itself {'an' if kind == 'article' else 'a'} {kind}"
        for kind in KINDS
    },
)
def _page(page: PageMeasures) -> Rows:
    total, long = page.total, float(page.long.sum())
    long_blocks = int(np.count_nonzero(page.long))
    cells = page.arrays.tagged({"td"})
    yield np.log1p(len(page.lengths))
    yield np.log1p(total)
    yield page.linked.sum() / total
    yield long / total
    yield np.log1p(long_blocks)
    yield np.log1p(long / max(long_blocks, 1))
    yield page.lengths[page.own("p")].sum() / total
    yield np.log1p(np.count_nonzero(page.own("heading")))
    yield np.count_nonzero(page.own("h1"))
    yield np.log1p(np.count_nonzero(page.own("li")))
    yield np.log1p(np.count_nonzero(cells[page.ancestors[0]]))
    yield page.lengths.sum() / max(float(page.texts.characters.sum()), 1)
    for kind in KINDS:
        yield kind in page.page.declared.kinds
