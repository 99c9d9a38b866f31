"""What the method `evidence` reads from a page, and the trees that weigh it."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.evidence_weights import level_means, save_model
from noiseclean_scrapy.methods.evidence_model import model as evidence_model
from noiseclean_scrapy.methods.evidence_model.boosted_trees import BoostedTrees
from noiseclean_scrapy.methods.evidence_model.context_features import CONTEXT, context_features
from noiseclean_scrapy.methods.evidence_model.exclusions import KINDS
from noiseclean_scrapy.methods.evidence_model.features import Feature, FeatureTable, Rows
from noiseclean_scrapy.methods.evidence_model.measures import BITS
from noiseclean_scrapy.methods.evidence_model.model import EvidenceModel, load_model, read_model
from noiseclean_scrapy.methods.evidence_model.naming import Naming
from noiseclean_scrapy.methods.evidence_model.page_features import PAGE, PageFeatures
from noiseclean_scrapy.methods.evidence_model.tree_index import PageArrays
from noiseclean_scrapy.methods.evidence_model.vocabulary import NAMES
from noiseclean_scrapy.methods.evidence_model.wording import BUCKETS, Wording
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.declared import Declared
from noiseclean_scrapy.page.words import words
from tests.support.slow_evidence import (
    slow_ancestors,
    slow_below,
    slow_contributions,
    slow_group_sizes,
    slow_inherit,
    slow_repeated_item,
    slow_same_place,
    slow_score,
)
from tests.support.slow_small_sites import examples, random_bodies, sites

WEIGHTS = Path(str(evidence_model.WEIGHTS))


def page_of(body: str, head: str = "") -> Page:
    return build_page(f"<html><head>{head}</head><body>{body}</body></html>")


def column(features: PageFeatures, name: str) -> list[float]:
    return list(map(float, features.matrix[:, PAGE.names.index(name)]))


def context_column(features: PageFeatures, scores: list[float], name: str) -> list[float]:
    matrix = context_features(features, np.array(scores, dtype=np.float64))
    return list(map(float, matrix[:, CONTEXT.names.index(name)]))


# (a) Trees.

NUMBERS = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 3.5])
LEAVES = st.floats(-3, 3, width=32)


@st.composite
def forests(draw: st.DrawFn) -> tuple[BoostedTrees, np.ndarray, np.ndarray]:
    """Trees, the weights of their leaves, and rows to score."""
    count, depth = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    features = draw(st.integers(1, 5))

    def array(shape: tuple[int, int], values: st.SearchStrategy[Any], kind: Any) -> np.ndarray:
        size = shape[0] * shape[1]
        drawn = draw(st.lists(values, min_size=size, max_size=size))
        return np.array(drawn, dtype=kind).reshape(shape)

    values = array((count, 2**depth), LEAVES, np.float32)
    weights = array((count, 2**depth), st.integers(0, 3), np.float64)
    trees = BoostedTrees(
        tuple(f"f{index}" for index in range(features)),
        array((count, depth), st.integers(0, features - 1), np.int64),
        array((count, depth), st.one_of(NUMBERS, st.just(np.inf)), np.float32),
        values,
        level_means(values, weights),
        draw(st.floats(-2, 2)),
    )
    rows = array((draw(st.integers(0, 4)), features), NUMBERS, np.float32)
    return trees, weights, rows


@examples
@given(forests())
def test_scores_are_those_of_a_walk(forest: tuple[BoostedTrees, np.ndarray, np.ndarray]) -> None:
    trees, _, rows = forest
    assert trees.score(rows).tolist() == pytest.approx(
        [slow_score(trees, row) for row in rows], abs=1e-9
    )


@examples
@given(forests())
def test_contributions_are_changes_of_means(
    forest: tuple[BoostedTrees, np.ndarray, np.ndarray],
) -> None:
    trees, weights, rows = forest
    for row, score in zip(rows, trees.score(rows), strict=True):
        base, changes = trees.base, trees.changes(row[None])[0]
        slow_base, slow_changes = slow_contributions(trees, weights, row)
        assert base == pytest.approx(slow_base, abs=1e-5)
        assert changes.tolist() == pytest.approx(slow_changes, abs=1e-5)
        assert base + changes.sum() == pytest.approx(score, abs=1e-5)
        asked = set(trees.features.ravel().tolist())
        assert all(not change for i, change in enumerate(changes) if i not in asked)


def small_trees() -> BoostedTrees:
    """Two trees of depth 2; the second asks nothing in its second level."""
    values = np.array([[1, 2, 3, 4], [0, 10, 0, 10]], dtype=np.float32)
    return BoostedTrees(
        ("a", "b", "c"),
        np.array([[0, 1], [1, 0]]),
        np.array([[0.5, 2.0], [1.0, np.inf]], dtype=np.float32),
        values,
        level_means(values, np.ones((2, 4))),
        -1.0,
    )


def test_trees_by_hand() -> None:
    trees = small_trees()
    rows = np.array([[0, 0, 9], [1, 0, 9], [0, 3, 9], [1, 3, 9], [0.5, 2, 9]], dtype=np.float32)
    # The last row: neither 0.5 > 0.5 nor 2 > 2, but 2 > 1.
    assert trees.score(rows).tolist() == [0, 1, 12, 13, 10]
    base, changes = trees.base, trees.changes(rows[3:4])[0]
    assert base == 2.5 + 5 - 1
    # a: from 2.5 to the mean of 2 and 4. b: from 3 to 4, and in the second tree from 5 to 10.
    assert changes.tolist() == [0.5, 1 + 5, 0]


def test_a_level_that_asks_nothing_is_always_a_no() -> None:
    trees = small_trees()
    rows = np.array([[np.inf, 0, 0], [np.finfo(np.float32).max, 0, 0]], dtype=np.float32)
    assert trees.score(rows).tolist() == [1, 1]


def test_level_means_by_hand() -> None:
    values = np.array([[1, 2, 3, 4]], dtype=np.float32)
    first, second = level_means(values, np.array([[1.0, 0, 3, 0]]))
    # All: (1 + 9) / 4. First answer no: leaves 0 and 2; yes: 1 and 3, which have no weight.
    assert first.tolist() == [[2.5]]
    assert second.tolist() == [[2.5, 3]]
    eight = np.arange(8, dtype=np.float32)[None]
    assert [m.tolist() for m in level_means(eight, np.ones((1, 8)))] == [
        [[3.5]],
        [[3, 4]],
        [[2, 3, 4, 5]],
    ]


def test_many_rows_and_none() -> None:
    trees = small_trees()
    rows = np.random.default_rng(3).normal(1, 2, (9001, 3)).astype(np.float32)
    scores = trees.score(rows)
    assert scores.shape == (9001,)
    for index in (0, 4095, 4096, 8191, 8192, 9000):
        assert scores[index] == slow_score(trees, rows[index])
    assert trees.score(rows[:0]).shape == (0,)


# (b) Layout.


@examples
@given(random_bodies)
def test_arrays_are_as_defined(body: str) -> None:
    page = page_of(body)
    arrays = PageArrays(page)
    lengths = [float(len(block.text)) for block in page.blocks]
    assert arrays.below(np.array(lengths)).tolist() == slow_below(page, lengths)
    masks = [1 << element.index % 60 for element in page.elements]
    assert arrays.inherit(np.array(masks)).tolist() == slow_inherit(page, masks)
    assert arrays.group_sizes.tolist() == slow_group_sizes(page)
    assert arrays.nearest(arrays.group_sizes > 1).tolist() == slow_repeated_item(page)
    for level, found in enumerate(arrays.ancestors(6)):
        paths = [slow_ancestors(page, block.element) for block in page.blocks]
        assert found.tolist() == [path[min(level, len(path) - 1)] for path in paths]
    for element in page.elements:
        assert arrays.depth[element.index] == len(slow_ancestors(page, element.index)) - 1
        inside = range(arrays.first[element.index], arrays.end[element.index])
        assert list(inside) == [
            b.index for b in page.blocks if element.index in slow_ancestors(page, b.element)
        ]
        for other in page.elements:
            alike = arrays.places[element.index] == arrays.places[other.index]
            assert alike == slow_same_place(page, element.index, other.index)


def test_arrays_of_a_page_without_blocks() -> None:
    arrays = PageArrays(page_of("<div></div><div></div>"))
    assert arrays.below(np.zeros(0)).tolist() == [0, 0, 0]
    assert arrays.ancestors(1)[1].tolist() == []
    assert arrays.nearest(arrays.group_sizes > 1).tolist() == [0, 1, 2]
    assert (arrays.first == arrays.end).all()


# (c) Features of the page.

SMALL = page_of(
    """
    <nav id=menu><ul><li><a href=/>Home</a><li><a href=/w>Weather</a></ul></nav>
    <h1>Fog closes the port</h1>
    <div class=story-body>
      <p>Fog closed the old port for <a href=/t>two whole</a> days.</p>
      <h2>今天</h2>
      <p style="display:none">Ships wait, and wait; all of them.</p>
    </div>
    <footer class=legal>© 2031</footer>
    """,
    '<title>Fog closes the port</title><meta name=description content="Fog closed the old port">'
    '<script type="application/ld+json">{"@type": "Article", "articleBody": "'
    + "Fog closed the old port for two whole days. " * 3
    + '"}</script>',
)


def test_small_page_has_these_blocks() -> None:
    texts = [block.text for block in SMALL.blocks]
    assert [text.split()[0] for text in texts] == [
        *("Home", "Weather", "Fog", "Fog", "今天", "Ships", "©")
    ]


def test_text_features_by_hand() -> None:
    features = PageFeatures(SMALL)
    story = "Fog closed the old port for two whole days."
    hidden = "Ships wait, and wait; all of them."
    lengths = [4, 7, 19, len(story), 5, len(hidden), 6]
    assert features.lengths.tolist() == lengths
    assert column(features, "length") == pytest.approx(np.log1p(lengths).tolist())
    assert features.link_share.tolist() == pytest.approx([1, 1, 0, 9 / len(story), 0, 0, 0])
    assert column(features, "link_share") == pytest.approx(features.link_share.tolist())
    # A share of the block's words; in the second paragraph none is of the title.
    assert column(features, "in_title") == pytest.approx([0, 0, 1, 3 / 9, 0, 0, 0])
    # Of the headline "fog", "the" and "port"; of the story "closed" and "old" as well.
    assert column(features, "in_description") == pytest.approx([0, 0, 3 / 4, 5 / 9, 0, 0, 0])
    assert column(features, "declared")[3] == 1
    assert column(features, "declared")[5:] == [0, 0]
    assert column(features, "sentences") == [0, 0, 0, 1, 0, 1, 0]
    assert column(features, "ends_sentence") == [0, 0, 0, 1, 0, 1, 0]
    assert column(features, "capitals") == pytest.approx([1, 1, 1 / 4, 1 / 9, 0, 1 / 7, 0])
    assert column(features, "links") == [1, 1, 0, 1, 0, 0, 0]


def test_texts_are_looked_for_in_what_is_declared_as_long_as_it_is_short() -> None:
    line = "The harbour stayed closed, number {} in the list of the year"
    lines = [line.format(number) for number in range(1200)]
    body = " ".join(lines)
    for declared in (body, f"{body} {'more ' * 9000}"[:100_000]):
        found = min(100_000_000 // (len(" ".join(words(declared))) + 1), 1200)
        assert (found < 1200) == (declared != body)
        page = page_of("".join(f"<p>{text}" for text in lines))
        page.declared = Declared(body=declared)
        stated = column(PageFeatures(page), "declared")
        assert stated == [1] * found + [0] * (1200 - found)


def test_without_metadata_nothing_is_said_of_it() -> None:
    features = PageFeatures(page_of("<p>a b c d e"))
    assert column(features, "in_description") == column(features, "declared") == [-1]


def test_groups_by_hand() -> None:
    features = PageFeatures(SMALL)
    bits = {name: column(features, name) for name in PAGE.names if ":" in name}
    assert bits["own:li"] == [1, 1, 0, 0, 0, 0, 0]
    assert bits["own:p"] == [0, 0, 0, 1, 0, 1, 0]
    assert bits["any:nav"] == bits["any:list"] == [1, 1, 0, 0, 0, 0, 0]
    assert bits["near:c_nav"] == [1, 1, 0, 0, 0, 0, 0]  # the NAV's id, two levels up
    assert bits["near:c_body"] == bits["any:c_body"] == [0, 0, 0, 1, 1, 1, 0]
    assert bits["own:heading"] == [0, 0, 1, 0, 1, 0, 0]
    assert bits["any:h1"] == [0, 0, 1, 0, 0, 0, 0]
    assert bits["near:c_footer"] == bits["any:footer"] == [0, 0, 0, 0, 0, 0, 1]
    assert bits["any:hidden"] == [0, 0, 0, 0, 0, 1, 0]
    assert features.inside("nav").tolist() == [True] * 2 + [False] * 5
    assert features.near("c_body").tolist() == [False] * 3 + [True] * 3 + [False]


def test_wrappers_of_the_whole_page_say_nothing() -> None:
    wrapped = PageFeatures(page_of("<div class='comments nav'><p>a</p><p>b</p></div>"))
    assert column(wrapped, "any:c_nav") == column(wrapped, "near:c_nav") == [0, 0]
    assert not wrapped.inside("x_comment").any()
    beside = PageFeatures(page_of("<div class='comments nav'><p>a</p><p>b</p></div><p>c"))
    assert column(beside, "any:c_nav") == [1, 1, 0]
    assert beside.inside("x_comment").tolist() == [True, True, False]


def test_surroundings_by_hand() -> None:
    features = PageFeatures(SMALL)
    lengths = features.lengths
    total, menu, story = lengths.sum(), lengths[:2].sum(), lengths[3:6].sum()
    expected = [menu, menu, total, story, story, story, total]
    assert column(features, "up1_text_share") == pytest.approx([n / total for n in expected])
    assert column(features, "up0_text_share") == pytest.approx((lengths / total).tolist())
    # Two LI, one H1, two P, one H2, one FOOTER.
    sizes = [2, 2, 1, 2, 1, 2, 1]
    assert column(features, "up0_siblings") == pytest.approx(np.log1p(sizes).tolist())
    assert column(features, "up1_link_share")[:2] == pytest.approx([1, 1])
    assert column(features, "item_count") == pytest.approx(
        [np.log1p(n) if n > 1 else 0 for n in sizes]
    )
    assert column(features, "depth") == [3, 3, 1, 2, 2, 2, 1]


def test_places_on_the_page_by_hand() -> None:
    features = PageFeatures(SMALL)
    assert column(features, "from_h1") == [-2, -1, 0, 1, 2, 3, 4]
    assert column(features, "from_title") == [-2, -1, 0, 1, 2, 3, 4]
    assert column(features, "since_heading") == [40, 40, 0, 1, 0, 1, 2]
    assert column(features, "position") == pytest.approx([n / 7 for n in range(7)])
    assert column(features, "from_end") == pytest.approx(np.log1p(range(6, -1, -1)).tolist())
    without = PageFeatures(page_of("<p>a</p><p>b</p>"))
    assert column(without, "from_h1") == column(without, "from_title") == [-100, -100]


def test_the_window_ends_with_the_page() -> None:
    features = PageFeatures(page_of("".join(f"<p>{'x' * n}</p>" for n in range(1, 9))))
    log = np.log1p(range(1, 9))
    before, after = (column(features, f"window5_length_{side}") for side in ("before", "after"))
    assert before == pytest.approx(
        [0, *(log[max(0, i - 5) : i].mean() for i in range(1, 8))], abs=1e-6
    )
    assert after == pytest.approx([*(log[i + 1 : i + 6].mean() for i in range(7)), 0], abs=1e-6)


def test_long_text_is_long_and_no_link() -> None:
    linked = "<p><a href=/x>" + "l" * 60 + "</a> " + "x" * 39
    page = page_of(f"<p>{'a' * 79}<p>{'b' * 80}{linked}<p>{'今' * 32}")
    assert PageFeatures(page).long.tolist() == [0, 80, 0, 80]


def test_tables_have_a_mean_cell() -> None:
    page = page_of("<p>out<table><tr><td>ab<td>abcd<td><table><tr><td>abc</table></table>")
    assert PageFeatures(page).cell_lengths.tolist() == [np.inf, 3, 3, 3]


def test_bits_fit_into_an_integer() -> None:
    assert len(set(NAMES)) == len(NAMES) <= 62
    hidden = PageFeatures(page_of("<div>a</div><div hidden>b</div>")).groups[0] & BITS["hidden"]
    assert hidden.tolist() == [0, BITS["hidden"]] == [0, 1 << NAMES.index("hidden")]


ODD_PAGES = {
    "images only": "<img src=a.gif><div><img src=b.gif></div>",
    "one block": "<p>Just this one.</p>",
    "one letter": "x",
    "signs": "<p>...</p><p>—</p><li>|</li>",
    "surrogate": "<p>\ud800</p>",
    "no blocks": "<div><p></p></div>",
    "nothing": "",
    "deep": "<div>" * 100 + "a",
    "broad": "<p>word</p>" * 300,
    "han": "<p>今天的新闻网报道。</p>",
}


@pytest.mark.parametrize("body", ODD_PAGES.values(), ids=ODD_PAGES.keys())
def test_odd_pages_have_finite_features(body: str) -> None:
    assert_sound(build_page(body))


@examples
@given(sites(2))
def test_features_are_finite_and_named(bodies: list[str]) -> None:
    for body in bodies:
        assert_sound(page_of(body, "<title>a b c</title><meta name=description content='a b c d'>"))


def assert_sound(page: Page) -> None:
    features = PageFeatures(page)
    count = len(page.blocks)
    assert features.matrix.dtype == np.float32
    assert features.matrix.shape == (count, len(PAGE.names))
    assert np.isfinite(features.matrix).all()
    model = load_model()
    if not count:
        assert model.score(features).shape == (0,)
        return
    for score in (np.zeros(count), np.linspace(-40, 40, count), np.full(count, -30.0)):
        matrix = context_features(features, score)
        assert matrix.shape == (count, len(CONTEXT.names))
        assert np.isfinite(matrix).all()
    for excluded in KINDS.values():
        found = excluded(features)
        assert (found.shape, found.dtype) == ((count,), np.dtype(bool))
    assert np.isfinite(model.score(features)).all()


ALL = {feature.name: feature for feature in (*PAGE.features, *CONTEXT.features)}


@pytest.mark.parametrize("feature", ALL.values(), ids=ALL.keys())
def test_every_feature_has_words(feature: Feature) -> None:
    assert feature.words == feature.words.strip() != ""
    assert "_" not in feature.words


def test_no_two_features_are_called_the_same() -> None:
    assert len(ALL) == len(PAGE.names) + len(CONTEXT.names)
    described = [(feature.kind, feature.words) for feature in ALL.values()]
    assert sorted(described) == sorted(set(described))


def test_features_by_example() -> None:
    page = ("length", "in_title", "own:p", "near:c_nav", "any:hidden", "depth", "score", "declared")
    assert {ALL[name].kind for name in page} == {"page"}
    around = ("before1_p", "window4_p_after", "up0_p", "mass_before", "levels_to_main")
    assert {ALL[name].kind for name in around} == {"neighbours"}
    words = {name: ALL[name].words for name in ("up2_link_share", "any:c_footer", "before1_p")}
    assert words == {
        "up2_link_share": "share of links 2 levels up",
        "any:c_footer": "elements above: class names of footer",
        "before1_p": "expected share of content 1 block before",
    }


def test_a_group_that_computes_too_few_or_too_many_is_refused() -> None:
    table = FeatureTable[int]()

    @table.group("sizes", "page", {"one": "one", "two": "two"})
    def rows(count: int) -> Rows:
        yield from [1.0] * count

    assert table.matrix(2, 3).tolist() == [[1.0, 1.0]] * 3
    for wrong in (1, 3):
        with pytest.raises(ValueError, match=f"rows computes {wrong} of 2 features"):
            table.matrix(wrong, 3)


# (d) Context.

TINY = page_of(
    f"<ul><li>{'m' * 10}</li></ul>"
    f"<div><p>{'a' * 100}</p><p>{'b' * 60}</p><section><p>{'c' * 40}</p></section></div>"
    f"<footer>{'f' * 20}</footer>"
)
TINY_SCORES = [-3.0, 2.0, -1.0, 4.0, -5.0]
P = [1 / (1 + np.exp(-score)) for score in TINY_SCORES]
LENGTHS = [10, 100, 60, 40, 20]
MASS = [p * n for p, n in zip(P, LENGTHS, strict=True)]


def context(name: str) -> list[float]:
    return context_column(PageFeatures(TINY), TINY_SCORES, name)


def test_neighbours_by_hand() -> None:
    assert context("score") == TINY_SCORES
    assert context("before1_p") == pytest.approx([-0.1, *P[:4]])
    assert context("after1_p") == pytest.approx([*P[1:], -0.1])
    assert context("before3_p") == pytest.approx([-0.1, -0.1, -0.1, *P[:2]])
    weighted = [sum(MASS[:n]) / sum(LENGTHS[:n]) for n in range(1, 5)]
    assert context("window4_p_before") == pytest.approx([0, *weighted])
    weighted = [sum(MASS[n:]) / sum(LENGTHS[n:]) for n in range(1, 5)]
    assert context("window4_p_after") == pytest.approx([*weighted, 0])


def test_a_window_of_four_reaches_no_farther() -> None:
    page = page_of("".join(f"<p>{c * 10}</p>" for c in "abcdefg"))
    scores = [9.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    p = 1 / (1 + np.exp(-np.array(scores)))
    found = context_column(PageFeatures(page), scores, "window4_p_before")
    assert found[5:] == pytest.approx([p[1:5].mean(), p[2:6].mean()])


def test_levels_by_hand() -> None:
    # None but the block itself in its element; the others of the same parent; the rest of BODY.
    assert context("up0_p") == pytest.approx([-0.1] * 5)
    rest_of_body = (sum(MASS) - MASS[4]) / (sum(LENGTHS) - LENGTHS[4])
    in_div = [(sum(MASS[1:4]) - MASS[n]) / (sum(LENGTHS[1:4]) - LENGTHS[n]) for n in (1, 2)]
    assert context("up1_p") == pytest.approx([-0.1, *in_div, -0.1, rest_of_body])
    mixed = page_of("<div>aaaa<p>bb</p>cccccc</div>")
    found = context_column(PageFeatures(mixed), [1.0, -1.0, 2.0], "up0_p")
    p = 1 / (1 + np.exp(-np.array([1.0, -1.0, 2.0])))
    first, last = (2 * p[1] + 6 * p[2]) / 8, (4 * p[0] + 2 * p[1]) / 6
    assert found == pytest.approx([first, -0.1, last])


def test_masses_by_hand() -> None:
    total = sum(MASS)
    before = [sum(MASS[:n]) / total for n in range(5)]
    assert context("mass_before") == pytest.approx(before, abs=1e-6)
    after = [sum(MASS[n:]) / total for n in range(1, 6)]
    assert context("mass_after") == pytest.approx(after, abs=1e-6)
    assert context("up0_mass_share") == pytest.approx([mass / total for mass in MASS])
    assert context("page_p") == pytest.approx([total / sum(LENGTHS)] * 5)


def test_noise_by_hand() -> None:
    # The second and the fourth block are content: before them stand 10 and 60 letters of noise.
    since = [10, 0, 60, 0, 20]
    assert context("noise_since_good") == pytest.approx(np.log1p(since).tolist())
    assert context("good_before") == pytest.approx(np.log1p([0, 0, 1, 1, 1]).tolist())


def test_noise_until_the_next_content() -> None:
    page = page_of("".join(f"<p>{'x' * n}</p>" for n in (10, 20, 30, 40, 50)))
    scores = [5.0, -5.0, -5.0, 5.0, -5.0]
    since = context_column(PageFeatures(page), scores, "noise_since_good")
    assert since == pytest.approx(np.log1p([0, 20, 50, 0, 50]).tolist())
    # None where the block is content, else without the block itself.
    until = context_column(PageFeatures(page), scores, "noise_until_good")
    assert until == pytest.approx(np.log1p([0, 30, 0, 0, 0]).tolist())


def test_the_main_element_by_hand() -> None:
    # DIV holds more than 70 % of the mass, no element in it does.
    assert sum(MASS[1:4]) > 0.7 * sum(MASS) > 0.7 * sum(MASS[1:4]) > MASS[1]
    assert context("in_mass_main") == [0, 1, 1, 1, 0]
    assert context("levels_to_main") == [1, 0, 0, 0, 1]
    assert context("mass_main_text_share") == pytest.approx([200 / 230] * 5)
    assert context("main_p") == pytest.approx([sum(MASS[1:4]) / 200] * 5)


def test_levels_to_a_deep_main_element() -> None:
    page = page_of(f"<p>x</p><div><p>y</p><section><main><p>{'z' * 200}</p></main></section></div>")
    found = context_column(PageFeatures(page), [-5.0, -5.0, 5.0], "levels_to_main")
    # The main element is the last P, below MAIN, SECTION, DIV and BODY.
    assert found == [4, 3, 0]


# (e) The weights.


def test_weights_hold_arrays_alone() -> None:
    assert WEIGHTS.stat().st_size < 1_000_000
    with np.load(WEIGHTS, allow_pickle=False) as data:
        assert all(not data[name].dtype.hasobject for name in data.files)
    model = load_model()
    assert model is load_model()
    for weights in (model.wording.weights, model.naming.near, model.naming.around):
        assert (weights.shape, str(weights.dtype)) == ((BUCKETS,), "int8")
    assert model.alone.names == PAGE.names
    assert model.together.names == PAGE.names + CONTEXT.names
    for trees in (model.alone, model.together):
        count, depth = trees.features.shape
        assert trees.borders.shape == (count, depth)
        assert trees.values.shape == (count, 2**depth)
        assert [means.shape for means in trees.means] == [(count, 2**d) for d in range(depth)]
        assert trees.features.max() < len(trees.names)
        assert np.isfinite(trees.values).all()
        assert all(np.isfinite(means).all() for means in trees.means)
        assert not np.isnan(trees.borders).any()


def test_pickles_in_weights_are_refused(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"alone_names": np.array([{"a": 1}], dtype=object)}
    with np.load(WEIGHTS) as data:
        arrays = {name: data[name] for name in data.files} | arrays
    path = tmp_path / "weights.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="allow_pickle"):
        read_model(path)


def test_weights_say_where_they_come_from() -> None:
    origin = json.loads(WEIGHTS.with_suffix(".json").read_text(encoding="utf-8"))
    assert origin["corpora"]
    licences = ("CC-BY", "CC0", "MIT", "Apache-2.0", "BSD")
    for corpus, licence in origin["corpora"].items():
        assert corpus
        assert licence.startswith(licences)
    assert {"catboost", "numpy", "lxml"} <= origin["versions"].keys()
    assert all(origin["versions"].values())
    assert len(set(origin["seeds"])) == len(origin["seeds"]) > 0


def test_attribution_stands_beside_the_weights() -> None:
    text = (WEIGHTS.parent / "WEIGHTS.md").read_text(encoding="utf-8")
    origin = json.loads(WEIGHTS.with_suffix(".json").read_text(encoding="utf-8"))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for corpus, licence in origin["corpora"].items():
        (row,) = (row for row in rows if re.search(rf"\b{corpus}\b", row))
        assert row.rstrip(" |").endswith(licence)
        assert "github.com/" in row


def test_weights_are_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    trees = small_trees()
    model = EvidenceModel(
        Wording(np.arange(-64, 64, dtype=np.int8), 0.25, -1.5),
        Naming(np.arange(8, dtype=np.int8), np.arange(9, dtype=np.int8), 0.5, 0.75),
        replace(trees, names=PAGE.names),
        replace(trees, names=PAGE.names + CONTEXT.names),
    )
    save_model(model, path, {"corpora": {"über": "MIT"}})
    read = read_model(path)
    assert np.array_equal(read.wording.weights, model.wording.weights)
    assert (read.wording.scale, read.wording.bias) == (0.25, -1.5)
    assert (read.naming.near.tolist(), read.naming.around.tolist()) == ([*range(8)], [*range(9)])
    assert (read.naming.near_scale, read.naming.around_scale) == (0.5, 0.75)
    for ours, theirs in ((model.alone, read.alone), (model.together, read.together)):
        assert (ours.names, ours.bias) == (theirs.names, theirs.bias)
        for name in ("features", "borders", "values"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name))
        assert all(map(np.array_equal, ours.means, theirs.means))
    assert json.loads(path.with_suffix(".json").read_text("utf-8")) == {"corpora": {"über": "MIT"}}
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())


def test_the_model_scores_as_its_stages() -> None:
    model = load_model()
    features = model.features(SMALL)
    worded = model.wording.score([block.text for block in SMALL.blocks])
    assert column(features, "wording") == pytest.approx(worded.tolist())
    near, around = model.naming.score(features.arrays, features.lengths).tolist()
    assert column(features, "named_near") == pytest.approx(near)
    assert column(features, "named_around") == pytest.approx(around)
    first = model.alone.score(features.matrix)
    assert first.tolist() == pytest.approx(
        [slow_score(model.alone, row) for row in features.matrix.tolist()], abs=1e-4
    )
    matrix = np.hstack([features.matrix, context_features(features, first)])
    assert np.array_equal(model.matrix(features), matrix)
    assert model.score(features).tolist() == pytest.approx(
        [slow_score(model.together, row) for row in matrix], abs=1e-4
    )
    for row, score in zip(matrix, model.score(features), strict=True):
        changes = model.together.changes(row[None])
        assert model.together.base + changes.sum() == pytest.approx(score, abs=1e-3)
