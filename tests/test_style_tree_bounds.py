"""The site style tree: bounds, the threshold, deep and empty pages."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from example_project.shops import shop_pages
from noiseclean_scrapy.methods.style_tree import StyleTreeMethod, StyleTreeModel
from noiseclean_scrapy.methods.trees import noise_threshold, site_style_tree
from noiseclean_scrapy.methods.trees.counts import FeatureCounts, weighted_log
from noiseclean_scrapy.methods.trees.importance import measure
from noiseclean_scrapy.methods.trees.noise_threshold import choose_threshold
from noiseclean_scrapy.methods.trees.site_style_tree import SiteStyleTree
from noiseclean_scrapy.methods.trees.tree_state import read_tree, tree_state
from noiseclean_scrapy.page import Page, PageTable, build_page
from noiseclean_scrapy.page.presentation import MOST_SPREAD, Layout
from tests.support.style_trees import (
    by_path,
    examples,
    few_examples,
    layout_of,
    learn,
    main_with,
    never_twice,
    only,
)


@pytest.mark.parametrize("limit", [10, 20, 50, 100])
def test_tree_stays_small(limit: int) -> None:
    tree = SiteStyleTree(max_nodes=limit)
    for body in never_twice(200):
        tree.observe(layout_of(body))
        assert tree.nodes <= limit
        assert tree.nodes == sum(1 for _ in tree.root.walk())
    assert tree.pages == 200


def test_tree_stays_small_where_bodies_differ() -> None:
    """Styles of BODY itself must not grow without bound either."""
    tree = SiteStyleTree(max_nodes=50)
    for body in never_twice(100):
        tree.observe(layout_of(body.removeprefix("<div class=main>").removesuffix("</div>")))
        assert tree.nodes <= 50


def test_merged_tree_stays_small() -> None:
    layouts = [layout_of(body) for body in never_twice(100)]
    tree = learn(layouts[:50], max_nodes=50)
    tree.merge(learn(layouts[50:]))
    assert tree.nodes <= 50
    assert tree.nodes == sum(1 for _ in tree.root.walk())


@few_examples
@given(st.lists(st.integers(1, 4), max_size=8), st.integers(2, 30), st.integers(20, 70))
def test_node_importance_is_exact_without_dropped_styles(
    common: list[int], rare: int, limit: int
) -> None:
    """Each of the rare styles is met on one page, after the common ones."""
    bodies = [main_with(n) for n in (*common, *range(5, 5 + rare))]
    layouts = [layout_of(body) for body in bodies]
    exact, bounded = learn(layouts), learn(layouts, max_nodes=limit)
    wanted, found = (only(by_path(measure(t)[0]), "div.main") for t in (exact, bounded))
    assert found.pages == wanted.pages
    assert len(found.styles) + found.dropped_styles[0] == len(wanted.styles)
    assert found.node_importance == pytest.approx(wanted.node_importance, abs=1e-9)


counted_pages = st.lists(
    st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(1, 5), max_size=8), max_size=12
)


@examples
@given(counted_pages, st.integers(1, 8), st.integers(0, 12))
@example([{"a": 1}, {"b": 1}] * 6, 1, 0)
def test_pruning_changes_the_mean_entropy_little(
    pages: list[dict[str, int]], limit: int, split: int
) -> None:
    exact = FeatureCounts()
    parts = [FeatureCounts(), FeatureCounts()]
    for number, page in enumerate(pages):
        exact.add_page(page.items())
        part = parts[number < split]
        part.add_page(page.items())
        part.prune(limit)
        assert len(part.totals) <= limit
    pruned = parts[0]
    pruned.merge(parts[1])
    pruned.prune(limit)
    number_of_features = len(pruned.totals) + pruned.dropped
    change = abs(exact.mean_entropy(len(pages)) - pruned.mean_entropy(len(pages)))
    assert number_of_features >= len(exact.totals)
    if number_of_features:
        assert change <= 2 * pruned.dropped / number_of_features + 1e-12
    if not pruned.dropped:
        assert pruned.totals == exact.totals


def test_pruning_keeps_the_most_frequent_half() -> None:
    counts = FeatureCounts()
    counts.add_page([("a", 1), ("b", 3), ("c", 2), ("d", 1), ("e", 2)])
    counts.prune(5)
    assert len(counts.totals) == 5
    counts.prune(4)
    assert sorted(counts.totals) == ["b", "c"]  # c before e: alphabetical
    assert counts.dropped == 3


def feature_names(tree: SiteStyleTree) -> int:
    """Most names that one element node keeps."""
    return max(
        max(len(n.leaf_features.totals), len(n.document_frequency)) for n in tree.root.walk()
    )


def test_few_feature_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_style_tree, "FEATURE_LIMIT", 10)
    tree = SiteStyleTree()
    for number in range(20):
        letter = chr(ord("a") + number)
        tree.observe(layout_of(f"<p>{letter}x {letter}y {letter}z</p>"))
        assert feature_names(tree) <= 10


def test_few_feature_names_after_merging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many workers' trees merged into one, which never observes a page itself."""
    monkeypatch.setattr(site_style_tree, "FEATURE_LIMIT", 10)
    tree = SiteStyleTree()
    for number in range(20):
        letter = chr(ord("a") + number)
        tree.merge(learn([layout_of(f"<p>{letter}x {letter}y {letter}z</p>")]))
    assert feature_names(tree) <= 10


@examples
@given(st.lists(st.integers(1, 10_000), max_size=40), st.randoms(use_true_random=False))
def test_weighted_logs_add_up_in_any_order(counts: list[int], random: Any) -> None:
    total = sum(map(weighted_log, counts))
    assert sum(map(weighted_log, random.sample(counts, len(counts)))) == total
    exact = math.fsum(count * math.log(count) for count in counts)
    assert total == pytest.approx(exact, abs=len(counts) * 2**-32)


def test_of_too_many_words_the_same_ones_are_counted_around_them() -> None:
    words = ["".join(found) for found in permutations("abcdefghi", 5)][:9000]
    layouts = [layout_of(f"<div><p>{' '.join(words[n:])}") for n in (0, 100)]
    found = [layout.features_below((0,)) for layout in layouts]
    assert [len(features) for features in found] == [MOST_SPREAD, MOST_SPREAD]
    assert len(found[0] & found[1]) > MOST_SPREAD * 0.97
    assert len(layout_of(f"<div><p>{' '.join(words[:200])}").features_below((0,))) == 200


def test_weighted_log_of_nothing() -> None:
    assert [weighted_log(0), weighted_log(1)] == [0, 0]


@examples
@given(counted_pages)
def test_entropy_lies_between_zero_and_one(pages: list[dict[str, int]]) -> None:
    counts = FeatureCounts()
    for page in pages:
        counts.add_page(page.items())
    m = len(pages)
    for feature in counts.totals:
        occurrences = [page.get(feature, 0) for page in pages]
        shares = [count / sum(occurrences) for count in occurrences if count]
        exact = -math.fsum(p * math.log(p, m) for p in shares) if m > 1 else 0.0
        assert 0 <= counts.entropy(feature, m) <= 1
        assert counts.entropy(feature, m) == pytest.approx(exact, abs=1e-9)
        assert counts.entropy(feature, 1) == counts.entropy(feature, 0.5) == 0
        assert 0 <= counts.entropy(feature, 1.01) <= 1
    assert counts.entropy("unknown", m) == 0
    assert 0 <= counts.mean_entropy(m) <= 1
    assert counts.mean_entropy(1) == FeatureCounts().mean_entropy(5) == 0


def leaves(importances: Iterable[float]) -> dict[float, float]:
    """A word in each leaf, and enough words in leaves of full importance."""
    return {**dict.fromkeys(importances, 1.0), 1.0: 1000.0}


def test_threshold_without_leaves_is_the_middle() -> None:
    assert choose_threshold({}) == pytest.approx(0.91)
    assert choose_threshold(leaves([0.1, 0.88, 0.94])) == pytest.approx(0.91)  # none in the range


@pytest.mark.parametrize(
    ("importances", "expected"),
    [
        ([0.9], 0.92),  # gaps 0.02 and 0.04
        ([0.92, 0.2], 0.9),  # gaps 0.04 and 0.02
        ([0.925, 0.89, 0.9], 0.9125),  # 0.01, 0.01, 0.025, 0.015
    ],
)
def test_threshold_is_the_middle_of_the_widest_gap(
    importances: list[float], expected: float
) -> None:
    for order in permutations(importances):
        assert choose_threshold(leaves(order)) == pytest.approx(expected)


def test_threshold_of_equal_gaps_is_the_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_threshold, "THRESHOLD_RANGE", (0.5, 1.0))
    assert choose_threshold(leaves([0.75])) == 0.625
    assert choose_threshold(leaves([0.625, 0.75, 0.875])) == 0.5625


@few_examples
@given(st.lists(st.floats(0, 1)))
def test_threshold_of_diverse_text_lies_in_its_range(importances: list[float]) -> None:
    low, high = noise_threshold.THRESHOLD_RANGE
    chosen = choose_threshold(leaves(importances))
    assert low <= chosen <= high
    assert chosen == choose_threshold(leaves(sorted(importances)))


def test_threshold_of_text_that_shares_its_words_parts_two_classes() -> None:
    # A menu of 50 words, data sheets of 31, and 19 of 100 words above the range, or 20.
    shop = {0.02: 50.0, 0.7: 31.0, 0.99: 19.0}
    assert choose_threshold(shop) == pytest.approx((0.02 + 0.7) / 2)
    assert choose_threshold({**shop, 0.99: 20.25}) == pytest.approx(0.91)
    # Nothing tells two classes apart: no threshold above all that there is.
    assert choose_threshold({0.5: 10.0}) == 0.0
    assert choose_threshold({0.0: 0.0, 0.5: 1.0}) == 0.0


@few_examples
@given(st.dictionaries(st.floats(0, 1), st.floats(0, 1e6)))
def test_threshold_is_never_above_its_range(words: dict[float, float]) -> None:
    assert 0 <= choose_threshold(words) <= noise_threshold.THRESHOLD_RANGE[1]


def test_no_page_of_a_shop_comes_out_empty() -> None:
    domain = "products.zettel.example"
    pages = [build_page(page.html) for page in shop_pages() if page.site == domain]
    method = StyleTreeMethod()
    for page in pages:
        method.observe(page)
    model = method.model()
    assert 0.1 < model.threshold < 0.4
    for page in pages:
        kept = zip(model.judge(page).kept, page.blocks, strict=True)
        text = "\n".join(block.text for is_kept, block in kept if is_kept)
        assert len(text) > 200
        assert " week: " not in text


def test_a_page_that_is_noise_throughout_keeps_one_place() -> None:
    main = "<div class=main>The story so far, told on all pages.</div>"
    pages = [layout_of(f"<ul><li>Home</ul>{main}<h2>{word}</h2>") for word in "abc"]
    model = StyleTreeModel(learn(pages), 0.5)
    known = model.judge(pages[0].page)
    assert [v.kept for v in known.verdicts] == [False, False, True]
    assert known.weights == {"a": 1}
    alone = model.judge(layout_of(f"<ul><li>Home</ul>{main}").page)
    assert [v.kept for v in alone.verdicts] == [False, True]
    assert alone.weights.keys() >= {"story", "told"}
    assert StyleTreeModel(learn([]), 0.5).judge(layout_of("").page).verdicts == ()
    pictures = model.judge(layout_of("<h2><img src=x></h2>").page)
    assert [v.kept for v in pictures.verdicts] == [True]


def test_model_chooses_its_threshold_from_leaves_on_two_pages_or_more() -> None:
    # The h2 stands on one page only and has importance 1 for want of others; p has 0: no gap.
    tree = learn(map(layout_of, ["<p>a</p>", "<p>a</p>", "<h2>b</h2>"]))
    assert StyleTreeModel(tree, None).threshold == pytest.approx(0.91)
    assert StyleTreeModel(tree, 0.0).threshold == 0.0


def deep_page(levels: int) -> Page:
    table = PageTable()
    for above in range(-1, levels - 1):
        table.add_element(above, "div", "div", "div", 1, False)
    table.add_block(levels - 1, "deep text", 0, (), ())
    return Page("", "", "", table)


@pytest.mark.slow
def test_deep_page() -> None:
    layouts = [Layout(deep_page(5000)), Layout(deep_page(4999))]
    tree = learn(layouts)
    assert tree.nodes == 5000
    state = json.loads(json.dumps(tree_state(tree)))
    back = read_tree(state, max_nodes=10_000)
    back.merge(tree)
    back.decay(0.5)
    assert tree_state(back)["words"] == state["words"]
    # Def. 4, one element at a time: one style each, NodeImp 0, so 0.9 of what is below.
    model = StyleTreeModel(tree, None)
    values = [element.importance for element in model.elements]
    assert values[0] == pytest.approx(0.9**4998 * values[4998])
    assert len(model.judge(layouts[0].page).verdicts) == 1
    bounded = learn(layouts, max_nodes=100)
    assert bounded.nodes <= 100


def test_deep_html() -> None:
    source = "<div>" * 5000 + "text" + "</div>" * 5000
    layout = layout_of(f"<p>before</p>{source}")
    tree = learn([layout, layout])
    assert tree_state(read_tree(json.loads(json.dumps(tree_state(tree))), max_nodes=10**6)) == (
        tree_state(tree)
    )
    StyleTreeModel(tree, 0.5).judge(layout.page)


@pytest.mark.parametrize("body", ["", " ", "<div><p> </p></div>", "<script>a</script>", "<br>"])
def test_page_without_content_teaches_nothing(body: str) -> None:
    tree = learn([layout_of("<p>a</p>")])
    before = copy.deepcopy(tree_state(tree))
    tree.observe(layout_of(body))
    assert tree_state(tree) == before
    assert tree.pages == 1
    assert StyleTreeModel(tree, None).judge(layout_of(body).page).verdicts == ()


def test_untaught_tree_keeps_everything() -> None:
    for body in ("a", "<p>a</p><div>b<p>c</p></div>"):
        verdict = StyleTreeModel(SiteStyleTree(), None).judge(layout_of(body).page)
        assert all(v.kept for v in verdict.verdicts)


def test_few_feature_names_in_the_whole_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_style_tree, "FEATURES_A_NODE", 3)
    tree, exact = SiteStyleTree(max_nodes=30), SiteStyleTree(max_nodes=30)
    for number in range(60):
        word = chr(ord("a") + number % 20) + "bcd"[number // 20]
        layout = layout_of(f"<h1>News</h1><div><p>{word}x {word}y {word}z</p></div>")
        tree.observe(layout)
        assert tree.features <= 90
        assert tree.features == sum(node.features for node in tree.root.walk())
        with monkeypatch.context() as unbounded:
            unbounded.setattr(site_style_tree, "FEATURES_A_NODE", 1000)
            exact.observe(layout)
    assert exact.features > 90
    # What recurs is still known, and what does not counts as before: as seen on one page.
    assert tree.root.document_frequency["news"] == exact.root.document_frequency["news"] == 60
    importances = [[e.importance for e in measure(learned)] for learned in (tree, exact)]
    assert importances[0] == pytest.approx(importances[1])
