"""Passages that a page shows again: for screens of another width, or as a quotation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.measures import LONG
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats
from noiseclean_scrapy.page import Page, PageTable
from noiseclean_scrapy.page.hidden import hidden_blocks
from noiseclean_scrapy.page.labels import without_identity

_QUOTATION = "quote"  # in the label of a BLOCKQUOTE, or of what a forum calls a quote


def repeats(page: Page, kept: NDArray[np.bool_], lengths: Floats) -> NDArray[np.bool_]:
    """Which of B blocks are kept (B) and say again what shown ones before them have said.

    A passage is a run of shown blocks of `LONG` characters or more, by their `lengths` (B), with
    the texts of an earlier run. It is left out in a quotation, and where the two stand in parts of
    the page that are not alike: posts, rows and packages of one list may say the same, and code is
    shown again where it is needed again. Shown is what is kept, by a rule of the user as well, and
    neither by a rule nor by the page's markup hidden.
    """
    table, rules = page.table, page.table.rules
    found = np.zeros(len(kept), dtype=bool)
    choices = enumerate(zip(table.texts, kept.tolist(), rules, strict=True))
    shown = [n for n, (text, is_kept, rule) in choices if text and (is_kept or rule == "keep")]
    if len({table.texts[number] for number in shown}) == len(shown):
        return found
    hidden = hidden_blocks(page)
    shown = [n for n in shown if rules[n] == "keep" or not (hidden[n] or rules[n])]
    for origin, start, end in repeated_runs([table.texts[number] for number in shown]):
        run = shown[start:end]
        if lengths[run].sum() >= LONG and not all(map(table.is_verbatim, run)):
            found[run] = _is_shown_again(table, shown[origin], shown[start])
    return found


def repeated_runs(texts: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Runs of texts that stand further up as well: where they begin there, begin here, and end.

    What stands further up ends before the run begins. A text is looked for where the run goes on,
    and where it stands for the first time.

    >>> list(repeated_runs(["A", "B", "C", "A", "B", "D", "B"]))
    [(0, 3, 5), (1, 6, 7)]
    """
    first: dict[str, int] = {}
    origin, start = -1, 0
    for here, text in enumerate(texts):
        follows = origin + here - start
        if origin < 0 or follows >= start or texts[follows] != text:
            if origin >= 0:
                yield origin, start, here
            origin, start = first.setdefault(text, here), here
            if origin == here:
                origin = -1
    if origin >= 0:
        yield origin, start, len(texts)


def _is_shown_again(table: PageTable, original: int, copy: int) -> bool:
    """Whether a block repeats another that stands in another kind of part, or quotes it."""
    above, here = table.owners[original], table.owners[copy]
    around_original = around_copy = ""
    while above != here:
        if above > here:
            around_original, above = table.labels[above], table.parents[above]
        else:
            around_copy, here = table.labels[here], table.parents[here]
            if _QUOTATION in around_copy.lower():
                return True
    return without_identity(around_original) != without_identity(around_copy)
