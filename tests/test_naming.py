"""What elements are called, against one name at a time."""

from __future__ import annotations

import math
import re
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.naming import (
    LEVELS,
    LONGEST,
    MOST_NAMES,
    Naming,
    PageNames,
)
from noiseclean_scrapy.methods.evidence_model.text_features import text_table
from noiseclean_scrapy.methods.evidence_model.tree_index import PageArrays
from noiseclean_scrapy.methods.evidence_model.wording import BUCKETS
from noiseclean_scrapy.page import Page, build_page

NEAR, AROUND = np.random.default_rng(0).integers(-127, 128, (2, BUCKETS)).astype(np.int8)
NAMING = Naming(NEAR, AROUND, 0.25, 0.5)
STORY = """
<div class="page page-Wide" id="top"><nav class="main-nav"><a href="/">Home</a></nav>
<article class="story" role="main"><div class="story body_text"><p>It rose.<p class="note">It fell.
</div></article><div class="teaser"><p>More</div></div>
"""


def slow_names(label: str) -> set[str]:
    """The tag, each name as a whole, and the words of names."""
    tag, rest = re.fullmatch(r"([^.#\[]*)(.*)", label, re.DOTALL).groups()  # type: ignore[union-attr]
    whole = [name.lstrip(".#[").lower() for name in re.findall(r"[.#\[][^.#\[\]]+", rest)]
    words = re.findall(r"[a-z]+=[a-zA-Z]+|[A-Z]?[a-z]+|[A-Z]+(?![a-z])", rest)
    return {f"<{tag}", *whole, *(f"w{word.lower()}" for word in words)}


def slow_bucket(name: str, level: int = 0) -> int:
    mask = (1 << 64) - 1
    key = crc32(name.encode()) ^ level * 0xC2B2AE3D27D4EB4F & mask
    return (key * 0x9E3779B97F4A7C15 & mask) >> 49


def slow_scores(page: Page) -> list[list[float]]:
    """Sums of weights by the root of their number, less the mean over the page's text."""
    near, around, shares = [], [], []
    for block in page.blocks:
        path = [element.label for element in page.path(block.element)]
        levels = (path + [path[-1]] * LEVELS)[:LEVELS]
        found = [slow_bucket(n, at) for at, label in enumerate(levels) for n in slow_names(label)]
        near.append(0.25 * sum(map(int, NEAR[found])) / math.sqrt(len(found)))
        names = set().union(*map(slow_names, path))
        weights = [int(AROUND[slow_bucket(name)]) for name in names]
        around.append(0.5 * sum(weights) / math.sqrt(len(weights)))
        shares.append(min(len(block.text), LONGEST) + 1)
    return [
        [score - float(np.average(scores, weights=shares)) for score in scores]
        for scores in (near, around)
    ]


def scores(page: Page) -> list[list[float]]:
    found: list[list[float]] = NAMING.score(PageArrays(page), text_table(page).lengths).tolist()
    return found


def test_names_by_hand() -> None:
    assert slow_names("div#top.page-Wide[role=main]") == {
        *("<div", "top", "page-wide", "role=main"),
        *("wtop", "wpage", "wwide", "wrole=main"),
    }


def test_scores_are_those_of_one_name_at_a_time() -> None:
    page = build_page(STORY)
    assert len(page.blocks) == 4
    expected = [pytest.approx(row) for row in slow_scores(page)]
    assert scores(page) == expected
    with kernels.in_python():
        assert scores(page) == expected
    assert max(map(abs, scores(page)[0])) > 1


def test_what_a_page_calls_all_of_its_text_tells_nothing() -> None:
    page = build_page("<div class=menu><p>One</p><p>Two</p></div>")
    assert scores(page) == [[0, 0], [0, 0]]


_LABELS = st.sampled_from(["a", "a b", "b-a", "menu", "c", ""])


@given(st.recursive(st.just("x"), lambda inner: st.lists(st.tuples(_LABELS, inner), max_size=4)))
def test_any_nesting(tree: object) -> None:
    def markup(node: object) -> str:
        if not isinstance(node, list):
            return "<p>text</p>"
        return "".join(f'<div class="{name}">{markup(inner)}</div>' for name, inner in node)

    page = build_page(f"<p>first{markup(tree)}")
    compiled = scores(page)
    assert compiled == [pytest.approx(row, abs=1e-9) for row in slow_scores(page)]
    with kernels.in_python():
        assert scores(page) == compiled


def counts(page: Page) -> list[list[int]]:
    """How many names near and around each element count, compiled and in Python."""
    names = PageNames(PageArrays(page))
    found = names.sums(NEAR, AROUND)
    with kernels.in_python():
        assert names.sums(NEAR, AROUND).tolist() == found.tolist()
    rows: list[list[int]] = found[:, 1].astype(int).tolist()
    return rows


def test_of_names_on_a_path_the_outermost_counts() -> None:
    page = build_page('<div class="a b"><div class="b c"><p class=a>x</p></div></div>')
    # BODY; DIV and twice two names; of the second DIV c alone, twice; P.
    assert counts(page)[1] == [1, 1 + 5, 1 + 5 + 2, 1 + 5 + 2 + 1]
    assert PageNames(PageArrays(page)).first[0].tolist() == [0, *[1] * 5, 2, 2, 3]


def test_what_is_made_of_names_is_bounded_by_the_page() -> None:
    many = " ".join(f"n{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200))
    page = build_page(f'<div class="{many}">' * 200 + "x")
    near, around = counts(page)
    assert max(near) == LEVELS * MOST_NAMES
    assert set(around) == {1, 1 + MOST_NAMES}  # BODY, and the outermost DIV


def test_arrays_that_do_not_fit_are_refused() -> None:
    if kernels.blocks is None:
        pytest.skip("nothing is compiled")

    def name_sums(
        parents: list[int],
        labels: list[int],
        starts: list[int],
        names: int,
        weights: tuple[int, int] | None = None,
    ) -> None:
        arrays = (np.array(values, dtype=np.int64) for values in (parents, labels, starts))
        near, around = weights or (names, names)
        shapes = (LEVELS, near), (around,)
        found = (np.zeros(shape, dtype=np.int8) for shape in shapes)
        kernels.blocks.name_sums(*arrays, np.zeros(names, dtype=np.uint64), *found)

    name_sums([0, 0], [0, 1], [0, 1, 2], 2)
    with pytest.raises(ValueError, match="labels"):
        name_sums([0, 0], [0], [0, 1], 1)
    with pytest.raises(ValueError, match="labels"):
        name_sums([0], [1], [0, 1], 1)
    with pytest.raises(ValueError, match="starts"):
        name_sums([0], [0], [0, 3], 1)
    with pytest.raises(ValueError, match="ends before"):
        name_sums([0], [0], [1, 0], 1)
    with pytest.raises(IndexError, match="parent of element 1"):
        name_sums([0, 1], [0, 0], [0, 1], 1)
    for weights in ((0, 1), (2, 1), (1, 0), (1, 2)):
        with pytest.raises(ValueError, match="weights"):
            name_sums([0], [0], [0, 1], 1, weights)
