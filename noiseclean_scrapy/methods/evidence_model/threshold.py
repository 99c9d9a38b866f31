"""From probabilities to a choice of blocks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.exclusions import SHORT_CELL
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, PageArrays, page_arrays
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.hidden import hidden_blocks
from noiseclean_scrapy.page.page import PageTable
from noiseclean_scrapy.page.tags import VERBATIM_TAGS

LEANS = {"recall": 0.25, "balanced": 0.5, "precision": 0.75}
"""Least probability of a kept block, by what the user leans to."""
LEAST_TEXT = 200.0
"""Where less text than this would be kept (weighted characters), the best candidates are taken."""
HOPELESS = 0.01
"""A block of less than this probability is never one of them: a page may have no text at all."""
MUCH_TEXT, DOUBTFUL = 3000.0, 0.4
"""Where at least so much is kept, what is doubtful is as well if that is expected to pay: down to
this probability, and with the lean `balanced` alone."""

SURE = LEANS["precision"]
"""Probability from which on a block is sure to be content."""
SURE_SHARE = 0.9
"""Share of the sure text that is in the main element, the deepest one that has so much of it."""
APART = math.log(SURE / (1 - SURE))
"""Log-odds that a block loses which stands apart: of those, `balanced` keeps what is sure."""
MOST_APART = 3.5
"""Times the sure text: where more than that stands apart, lists and posts are the content."""

GAP = 4
"""Blocks of noise in a row, less probable than `recall` keeps, behind which a text has ended."""

LEAST_CELLS, WHOLE = 6, 0.7
"""Of so many blocks in a data table all are kept where this share of them is."""


def stand_apart(arrays: PageArrays, chances: Floats, lengths: Floats) -> NDArray[np.bool_]:
    """Which of B blocks stand outside of the main element, at a place that has no sure text.

    A place is that of `PageArrays.places`. Teasers below a short story are worded like one, and its
    element tells them apart. None does on a page without `LEAST_TEXT` of sure text, or where what
    `balanced` would keep of it is more than `MOST_APART` times that text.
    """
    none = np.zeros(len(chances), dtype=bool)
    is_sure = chances >= SURE
    below = arrays.below(np.where(is_sure, lengths, 0.0))
    if below[0] < LEAST_TEXT:
        return none
    main = int(np.flatnonzero(below >= SURE_SHARE * below[0])[-1])
    index, places = np.arange(len(chances)), arrays.places[arrays.element]
    has_sure = np.zeros(len(arrays.parent), dtype=bool)
    has_sure[places[is_sure]] = True
    is_outside = (index < arrays.first[main]) | (index >= arrays.end[main])
    apart: NDArray[np.bool_] = is_outside & ~has_sure[places]
    doubtful = lengths[apart & (chances >= LEANS["balanced"])].sum()
    return none if doubtful > MOST_APART * below[0] else apart


def behind_the_end(
    page: Page, chances: Floats, eligible: NDArray[np.bool_], lengths: Floats
) -> NDArray[np.bool_]:
    """Which of B blocks stand behind the end of the text: its last sure block, and then noise.

    What follows is another text, such as the next article. None is code, or where sure text stands
    at the same path of tags, or on a page without `LEAST_TEXT` of that. What is not `eligible` (B),
    such as comments, is neither text nor noise.
    """
    behind = np.zeros(len(chances), dtype=bool)
    is_sure = eligible & (chances >= SURE)
    doubtful = eligible & ~is_sure & (chances >= LEANS["balanced"])
    last = len(is_sure) - 1 - int(is_sure[::-1].argmax())
    if lengths[is_sure].sum() < LEAST_TEXT or not doubtful[last + 1 :].any():
        return behind
    table, arrays, hidden = page.table, page_arrays(page), hidden_blocks(page)
    numbers = _tag_paths(table)
    paths = [numbers[owner] for owner in table.owners]
    of_sure = {paths[number] for number in np.flatnonzero(is_sure)}
    is_verbatim = arrays.tagged(VERBATIM_TAGS)
    is_code = is_verbatim[arrays.nearest(is_verbatim)][arrays.element]
    noise = 0
    for number in range(last + 1, len(paths)):
        if hidden[number] or not eligible[number] or not table.texts[number]:
            continue
        if noise < GAP:
            is_noise = chances[number] < LEANS["recall"] and not is_code[number]
            noise = noise + 1 if is_noise else 0
        else:
            behind[number] = paths[number] not in of_sure and not is_code[number]
    return behind


def _tag_paths(table: PageTable) -> list[int]:
    """A number for each element, the same where the tags from the root on are the same."""
    numbers: dict[tuple[int, str], int] = {}
    found: list[int] = []
    for parent, tag in zip(table.parents, table.tags, strict=True):
        above = found[parent] if parent >= 0 else -1
        found.append(numbers.setdefault((above, tag), len(numbers)))
    return found


def table_holes(arrays: PageArrays, kept: NDArray[np.bool_], lengths: Floats) -> NDArray[np.bool_]:
    """Which of B blocks are not kept in a data table of which most is: a column without its name.

    A reader cannot tell a cell that was left out from an empty one.
    """
    none = np.zeros(len(kept), dtype=bool)
    is_table = arrays.tagged({"table"})
    if not is_table.any():
        return none
    nearest = arrays.nearest(is_table)[arrays.element]
    inside = is_table[nearest]
    if not (inside & kept).any():
        return none
    cells, chosen, size = (
        np.bincount(nearest[inside], values[inside], len(is_table))
        for values in (np.ones(len(kept)), kept, lengths)
    )
    is_whole = (cells >= LEAST_CELLS) & (chosen >= WHOLE * cells) & (size < SHORT_CELL * cells)
    holes: NDArray[np.bool_] = inside & is_whole[nearest] & ~kept
    return holes


def reach(chance: float) -> float:
    """Log-odds of a probability, and so much more that rounding does not fall below it.

    >>> 1 / (1 + math.exp(-reach(0.4))) >= 0.4
    True
    """
    return math.log(chance / (1 - chance)) + 1e-9


def threshold(chances: Floats, lengths: Floats, lean: float) -> float:
    """Least probability of a kept block: `lean`, or lower on a page with little or much content.

    There it is the one with the highest expected F over characters: with the blocks above it kept,
    `sum(p n) / sum(n)` of the kept text is content, and `sum(p n)` of all content is kept (Lipton,
    Elkan & Naryanaswamy, ECML 2014).

    >>> chances, lengths = np.array([0.9, 0.4, 0.1]), np.array([100.0, 100.0, 800.0])
    >>> threshold(chances, lengths, 0.5), threshold(chances, 10 * lengths, 0.5)
    (0.25, 0.5)
    >>> chances = np.array([0.9, 0.45, 0.1])
    >>> threshold(chances, 50 * lengths, 0.5), threshold(chances, 50 * lengths, 0.75)
    (0.4, 0.75)
    """
    balanced = LEANS["balanced"]
    text = lengths[chances >= balanced].sum()
    enough = MUCH_TEXT if lean == balanced else math.inf
    if not len(chances) or LEAST_TEXT <= text < enough:
        return lean
    least = DOUBTFUL if text >= LEAST_TEXT else HOPELESS
    order = np.argsort(-chances, kind="stable")
    content = np.cumsum((chances * lengths)[order])
    expected = 2 * content / np.maximum(np.cumsum(lengths[order]) + content[-1], 1e-9)
    best = int(expected.argmax())
    # Half way to the next block: sums of the same numbers in another order are never on its edge.
    between = float(np.append(chances[order], 0.0)[best : best + 2].mean())
    return min(max(between, least), lean)
