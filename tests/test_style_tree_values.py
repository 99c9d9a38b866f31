"""The site style tree: the paper's numbers, and the definition followed slowly."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given

from noiseclean_scrapy.methods.style_tree import StyleTreeModel
from noiseclean_scrapy.methods.trees.importance import MeasuredElement, mark, measure
from noiseclean_scrapy.page.presentation import Layout
from tests.support.slow_style_tree import Path, all_elements, kept_blocks, slow_tree
from tests.support.style_trees import (
    FIXED,
    by_path,
    examples,
    fast_kept,
    layout_of,
    learn,
    only,
    sites,
    two_level_site,
)

THRESHOLDS = (0.0, 0.31831, 0.57722, 0.74048, 0.84147, 0.91597, 1.1)
"""Numbers that no importance hits by chance, so that rounding cannot decide."""


def measured(bodies: Iterable[str]) -> dict[Path, MeasuredElement]:
    return by_path(measure(learn(map(layout_of, bodies)))[0])


def paper_page(style: str) -> str:
    return (
        "<div class=top><p>Home</p><p>News</p></div><img src=logo.gif>"
        f"<div class=main>{style}</div><div class=bottom>Contact</div>"
    )


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        # The figure of the paper: -0.35 log 0.35 - 2 * 0.25 log 0.25 - 0.15 log 0.15
        # = (0.367437 + 0.693147 + 0.284568) / 4.605170
        ((35, 25, 25, 15), 0.292096),
        # -0.35 log 0.35 - 0.25 log 0.25 - 0.4 log 0.4 = (0.367437 + 0.346574 + 0.366516) / 4.605170
        ((35, 25, 40), 0.234634),
    ],
)
def test_example_of_the_paper(shares: tuple[int, ...], expected: float) -> None:
    styles = ["<p>x</p>", "<p>x</p><h2>y</h2>", "<h2>y</h2><p>x</p>", "<h3>z</h3>"]
    bodies = [paper_page(style) for style, n in zip(styles, shares, strict=False) for _ in range(n)]
    elements = measured(bodies)
    body = elements[()]
    assert body.pages == 100
    assert list(body.styles) == [("div.top", "#text", "div.main", "div.bottom")]
    assert body.node_importance == 0  # one style: -1 log 1
    main = only(elements, "div.main")
    assert [pages for pages, _ in main.styles.values()] == list(shares)
    assert main.node_importance == pytest.approx(expected, abs=1e-6)


def test_three_styles_on_three_pages_are_most_important() -> None:
    elements = measured(
        [paper_page(style) for style in ("<p>x</p>", "<h2>y</h2>", "<p>x</p><h2>y</h2>")]
    )
    assert only(elements, "div.main").node_importance == pytest.approx(1.0)  # -3 * 1/3 log_3 1/3


def test_one_page_is_all_important() -> None:
    elements = measured([paper_page("<p>x</p>")])
    assert {(e.node_importance, e.importance) for e in elements.values()} == {(1.0, 1.0)}


def test_leaf_and_composite_importance() -> None:
    # H(a) = -2 * 1/2 log_2 1/2 = 1, H(b) = H(c) = 0: the leaf has 1 - 1/3 = 2/3.
    # BODY: one style, NodeImp 0: (1 - 0.9) * 0 + 0.9 * 2/3 = 0.6.
    elements = measured(["<p>a b</p>", "<p>a c</p>"])
    assert only(elements, "p").importance == pytest.approx(2 / 3)
    assert elements[()].importance == pytest.approx(0.6)


def test_leaf_importance_counts_occurrences() -> None:
    # a: shares 2/3 and 1/3 of three pages, log_3: 2/3 * 0.369070 + 1/3 * 1 = 0.579380.
    # b: H = 0. Leaf: 1 - 0.579380 / 2 = 0.710310. BODY: 0.9 * 0.710310 = 0.639279.
    elements = measured(["<p>a a</p>", "<p>a</p>", "<p>b</p>"])
    assert only(elements, "p").importance == pytest.approx(0.710310, abs=1e-6)
    assert elements[()].importance == pytest.approx(0.639279, abs=1e-6)


def test_composite_importance_of_two_styles() -> None:
    # Four pages; BODY shows (p, h2) on three and (h3,) on one.
    # p is "a" on all three: H = 1, leaf 0. h2 differs on each: leaf 1. h3: one page: 1.
    # NodeImp(BODY) = -3/4 log_4 3/4 - 1/4 log_4 1/4 = 0.75 * 0.207519 + 0.25 = 0.405639.
    # CompImp = (1 - 0.81) * 0.405639 + 0.81 * (3/4 * (0 + 1)/2 + 1/4 * 1) = 0.583321.
    bodies = [f"<p>a</p><h2>{word}</h2>" for word in ("k", "l", "m")]
    elements = measured([*bodies, "<h3>z</h3>"])
    assert [only(elements, tag).importance for tag in ("p", "h2", "h3")] == pytest.approx([0, 1, 1])
    assert elements[()].node_importance == pytest.approx(0.405639, abs=1e-6)
    assert elements[()].importance == pytest.approx(0.583321, abs=1e-6)


def test_a_dropped_style_is_one_of_importance_1() -> None:
    # The tree above, without the names of the style (h3,): h3 had importance 1.
    tree = learn(layout_of(f"<p>a</p><h2>{word}</h2>") for word in ("k", "l", "m"))
    tree.observe(layout_of("<h3>z</h3>"))
    tree._drop_rare_styles(tree.nodes - 1)
    body = measure(tree)[0]
    assert list(body.styles) == [("p", "h2")]
    assert body.node_importance == pytest.approx(0.405639, abs=1e-6)
    assert body.importance == pytest.approx(0.583321, abs=1e-6)


def test_leaf_on_some_pages_is_one_more_style() -> None:
    # div: leaf with "a" on two of four pages (H = 1, leaf 0), (p,) on two, p = "a" (leaf 0).
    # NodeImp = -2 * 1/2 log_4 1/2 = 0.5; CompImp = 0.19 * 0.5 + 0.81 * 0 = 0.095.
    bodies = ["<div>a</div>", "<div>a</div>", "<div><p>a</p></div>", "<div><p>a</p></div>"]
    elements = measured(bodies)
    div = only(elements, "div")
    assert (div.pages, div.leaf_pages, div.leaf_importance) == (4, 2, 0)
    assert div.node_importance == pytest.approx(0.5)
    assert div.importance == pytest.approx(0.095)
    assert elements[()].importance == pytest.approx(0.9 * 0.095)


def test_several_styles_on_one_page_count_once_each() -> None:
    # The folded run of TR shows (td,) and (td, td) on page one, (td,) twice on page two:
    # shares 2/3 and 1/3, log_2: 2/3 * 0.584963 + 1/3 * 1.584963 = 0.918296.
    one, two = "<tr><td>a</td></tr>", "<tr><td>b</td><td>c</td></tr>"
    elements = measured([f"<table>{one}{two}</table>", f"<table>{one}{one}</table>"])
    row = only(elements, "tr")
    assert row.pages == 2
    assert row.node_importance == pytest.approx(0.918296, abs=1e-6)


def test_noisy_and_meaningful() -> None:
    elements = measure(learn(layout_of(f"<p>a</p><h2>{word}</h2>") for word in "klm"))
    # p 0, h2 1, BODY 0.9 * 0.5 = 0.45
    for limit, noisy, meaningful in [
        (0.0, set(), {"", "p", "h2"}),
        (0.5, {"p"}, {"h2"}),
        (1.1, {"", "p", "h2"}, set()),
    ]:
        mark(elements, limit)
        assert {e.label for e in elements if e.noisy} == noisy
        assert {e.label for e in elements if e.meaningful} == meaningful


def test_local_noise_weights_and_fit() -> None:
    bodies = [f"<p>share this<br><br>{word} this</p>" for word in ("one", "two", "three")]
    model = StyleTreeModel(learn(map(layout_of, bodies)), 0.01)
    verdict = model.judge(layout_of(f"{bodies[0]}").page)
    assert [v.kept for v in verdict.verdicts] == [False, True]
    assert verdict.weights == {"one": 1}
    assert verdict.fit == 1
    # p is known by its label, h2 is not: 4 of 8 characters
    assert model.judge(layout_of("<p>four</p><h2>five</h2>").page).fit == 0.5


def assert_like_definition(layouts: list[Layout], others: Iterable[Layout] = ()) -> None:
    tree = learn(layouts)
    slow = slow_tree(layouts)
    elements = measure(tree)
    fast, exact = by_path(elements[0]), all_elements(slow)
    assert set(fast) == set(exact)
    assert len(elements) == len(exact)
    for path, element in exact.items():
        found = fast[path]
        assert (found.pages, found.leaf_pages) == (element.pages, len(element.leaf_visits())), path
        assert found.importance == pytest.approx(element.importance, abs=1e-9), path
        assert {labels: n for labels, (n, _) in found.styles.items()} == {
            labels: element.style_pages(labels) for labels in element.styles
        }
        if element.styles:
            assert found.node_importance == pytest.approx(element.node_importance(), abs=1e-9), path
        if element.leaf_visits():
            assert found.leaf_importance == pytest.approx(element.leaf_importance(), abs=1e-9), path
    pages = {id(layout): layout for layout in [*layouts, *others]}.values()
    for limit in THRESHOLDS:
        mark(elements, limit)
        for path, element in exact.items():
            assert fast[path].noisy == element.noisy(limit), (limit, path)
            assert fast[path].meaningful == element.meaningful(limit), (limit, path)
        for layout in pages:
            assert fast_kept(tree, layout, limit) == kept_blocks(slow, layout, limit), limit


@pytest.mark.slow
@examples
@given(sites())
def test_fast_is_as_defined(site: tuple[list[Layout], Layout]) -> None:
    layouts, other = site
    if not all(layout.empty for layout in layouts):
        assert_like_definition(layouts, [other])


def test_merging_at_two_levels() -> None:
    layouts = [layout_of(body) for body in two_level_site()]
    assert_like_definition(layouts, [layout_of(f"<h2>x</h2>{two_level_site()[0]}")])
    elements = by_path(measure(learn(layouts))[0])
    # Two styles of BODY hold one MAIN, whose styles, met in both, hold one COL.
    assert (only(elements, "div.main").pages, only(elements, "div.col").pages) == (8, 8)
    assert sorted(n for n, _ in only(elements, "div.col").styles.values()) == [4, 4]
    # COL's own style (box, box) has two boxes; only one of them can join the single one.
    assert sorted(e.pages for e in elements.values() if e.label == "div.box") == [4, 8]


def test_merged_elements_need_three_quarters_of_the_parents_pages() -> None:
    shared = [f"<div>{FIXED}</div>" + more for more in ("", "<p>a</p>", "<ul><li>b</ul>")]
    for others, merged in [(1, True), (2, False)]:
        bodies = shared + [f"<h{n}>z</h{n}>" for n in range(1, others + 1)]
        assert_like_definition([layout_of(body) for body in bodies])
        divisions = [e for e in measured(bodies).values() if e.label == "div"]
        assert [e.pages for e in divisions] == ([3] if merged else [1, 1, 1])


def test_elements_without_characteristic_features_are_not_alike() -> None:
    bodies = ["<div>...</div>", "<div>...</div><p>a</p>"]
    assert_like_definition([layout_of(body) for body in bodies])
    assert len([e for e in measured(bodies).values() if e.label == "div"]) == 2


@pytest.mark.parametrize("size", range(1, 81))
def test_likeness_at_its_limit(size: int) -> None:
    """Sets with a Jaccard index of just 0.85 or more are merged, just below are not."""
    least = -(-85 * size // 100)
    for shared, merged in [(least, True), (least - 1, False)]:
        words = [chr(97 + n // 26) + chr(97 + n % 26) for n in range(size)]
        one, other = " ".join(words), " ".join(words[:shared])
        bodies = [f"<div>{one}</div>", f"<div>{other or '...'}</div><p>...</p>"]
        divisions = [e for e in measured(bodies).values() if e.label == "div"]
        assert len(divisions) == (1 if merged else 2), shared


@pytest.mark.parametrize(("with_word", "merged"), [(17, True), (16, False)])
def test_characteristic_feature_at_its_limit(with_word: int, merged: bool) -> None:
    one = [f"<div>{'word' if n < with_word else '...'}</div>" for n in range(20)]
    bodies = [*one, "<div>word</div><p>a</p>"]
    assert len([e for e in measured(bodies).values() if e.label == "div"]) == (1 if merged else 2)
    assert_like_definition([layout_of(body) for body in bodies])


def test_leaf_and_inner_in_one_folded_run() -> None:
    bodies = ["<ul><li>a</li><li><p>b</p></li></ul>", "<ul><li>a</li></ul>", "<ul><li>c</li></ul>"]
    assert_like_definition([layout_of(body) for body in bodies])
    item = only(measured(bodies), "li")
    assert (item.pages, item.leaf_pages, [n for n, _ in item.styles.values()]) == (3, 3, [1])
