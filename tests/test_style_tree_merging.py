"""The site style tree: order of pages, merging and forgetting."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy.methods.trees.counts import FeatureCounts
from noiseclean_scrapy.methods.trees.importance import measure
from noiseclean_scrapy.methods.trees.tree_state import tree_state
from noiseclean_scrapy.page.presentation import Layout
from tests.support.style_trees import (
    by_path,
    fast_kept,
    few_examples,
    layout_of,
    learn,
    main_with,
    never_twice,
    only,
    sites,
    two_level_site,
)


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, (list, tuple)):
        for entry in value:
            yield from numbers(entry)
    else:
        yield float(value)


def assert_close_states(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one["words"] == other["words"]
    assert list(numbers(one["nodes"])) == pytest.approx(list(numbers(other["nodes"])), abs=1e-9)


@few_examples
@given(sites(), st.randoms(use_true_random=False), st.data())
def test_order_and_grouping_do_not_matter(
    site: tuple[list[Layout], Layout], random: Any, data: st.DataObject
) -> None:
    layouts, other = site
    state = tree_state(learn(layouts))
    shuffled = random.sample(layouts, len(layouts))
    assert tree_state(learn(shuffled)) == state
    parts = [data.draw(st.integers(0, 2)) for _ in layouts]
    pages = [[p for p, part in zip(layouts, parts, strict=True) if part == n] for n in range(3)]
    for order in permutations(range(3)):
        one, two, three = (learn(pages[n]) for n in order)
        one.merge(two)
        one.merge(three)
        assert tree_state(one) == state
        left, middle, right = (learn(pages[n]) for n in order)
        middle.merge(right)
        left.merge(middle)
        assert tree_state(left) == state
        for limit in (0.57722, 0.84147):
            assert fast_kept(left, other, limit) == fast_kept(learn(layouts), other, limit)
    assert left.nodes == sum(1 for _ in left.root.walk())


def test_two_halves_give_the_whole_tree() -> None:
    layouts = [layout_of(body) for body in two_level_site()]
    whole, half = learn(layouts), learn(layouts[::2])
    half.merge(learn(layouts[1::2]))
    assert tree_state(half) == tree_state(whole)
    assert half.nodes == whole.nodes


@few_examples
@given(sites(), sites())
def test_merge_leaves_its_source(
    one: tuple[list[Layout], Layout], other: tuple[list[Layout], Layout]
) -> None:
    target, source = learn(one[0]), learn(other[0])
    before = copy.deepcopy(tree_state(source))
    target.merge(source)
    assert tree_state(source) == before
    for layout in one[0]:
        target.observe(layout)
    target.decay(0.5)
    assert tree_state(source) == before  # and nothing is shared with it


def test_merge_with_itself_counts_double() -> None:
    layouts = [layout_of(body) for body in two_level_site()]
    tree = learn(layouts)
    tree.merge(tree)
    assert tree_state(tree) == tree_state(learn(layouts * 2))


def test_state_is_not_changed_by_later_learning() -> None:
    layouts = list(map(layout_of, never_twice(40)))
    tree = learn(layouts[:20], max_nodes=40)
    state = tree_state(tree)
    before = copy.deepcopy(state)
    for layout in layouts[20:]:
        tree.observe(layout)
    assert state == before


def test_decay_of_counts_by_hand() -> None:
    counts = FeatureCounts()
    counts.add_page([("a", 2), ("b", 1)])
    counts.add_page([("a", 1)])
    counts.dropped = 4
    counts.decay(0.5)
    # a: C 3 -> 1.5, T = 2 ln 2 -> (2 ln 2 + 3 ln 0.5) / 2 = -(ln 2) / 2; b: 1 ln 1 -> 0.5 ln 0.5
    assert counts.totals["a"] == pytest.approx([1.5, -math.log(2) / 2])
    assert counts.totals["b"] == pytest.approx([0.5, 0.5 * math.log(0.5)])
    assert counts.dropped == 4


def test_what_fades_alike_keeps_its_importance_where_names_were_dropped() -> None:
    counts = FeatureCounts()
    for page in range(10):
        common = [(f"common{number}", 1) for number in range(6)]
        counts.add_page(common + [(f"{page} {number}", 1) for number in range(10)])
        counts.prune(40)
    pages = 10.0
    # Six of 106 names are on all pages: H 1 each, of all others 0.
    for _ in range(3):
        assert counts.mean_entropy(pages) == pytest.approx(6 / 106)
        counts.decay(0.25)


def test_importance_after_decay() -> None:
    # a has shares 2/3, 1/3, b 1/2, 1/2, over four pages: H 0.459148 and 0.5, leaf 1 - 0.479574.
    # What fades alike keeps its shares, and four pages are as many as they were.
    tree = learn(map(layout_of, ["<p>a a</p>", "<p>a</p>", "<p>b</p>", "<p>b</p>"]))
    assert only(by_path(measure(tree)[0]), "p").importance == pytest.approx(0.520426, abs=1e-6)
    tree.decay(0.5)
    leaf = only(by_path(measure(tree)[0]), "p")
    assert (tree.pages, leaf.pages, leaf.leaf_pages) == (2, 2, 2)
    assert (leaf.base, leaf.leaf_base) == pytest.approx((4, 4))
    assert leaf.importance == pytest.approx(0.520426, abs=1e-6)


def test_less_than_a_page_supports_no_verdict() -> None:
    tree = learn([layout_of("<p>a</p>")] * 4)
    tree.decay(0.25)
    assert {e.supported_importance for e in measure(tree)} == {1.0}
    assert only(by_path(measure(tree)[0]), "p").importance == pytest.approx(0, abs=1e-9)


@few_examples
@given(sites(), sites(), st.floats(0.06, 1))
def test_decay_of_a_merge_is_the_merge_of_decays(
    one: tuple[list[Layout], Layout], other: tuple[list[Layout], Layout], factor: float
) -> None:
    merged, left, right = learn([*one[0], *other[0]]), learn(one[0]), learn(other[0])
    for tree in (merged, left, right):
        tree.decay(factor)
    left.merge(right)
    assert_close_states(tree_state(left), tree_state(merged))
    assert left.nodes == merged.nodes


def test_styles_are_forgotten() -> None:
    main = "<div class=main>{}</div>".format
    bodies = [main("<p>a</p>"), main("<p>a</p>"), main("<h2>b</h2><h3>c</h3>")]
    tree = learn(map(layout_of, bodies))
    assert tree.nodes == 1 + 1 + 1 + 2
    for _ in range(5):
        tree.decay(0.5)
    (node,) = [node for node in tree.root.walk() if node.label == "div.main"]
    assert list(node.styles) == [("p",)]  # 2/32 is above 0.05, 1/32 below
    assert node.pages == 3 / 32
    assert tree.nodes == sum(1 for _ in tree.root.walk()) == 3
    tree.observe(layout_of(bodies[2]))
    assert tree.nodes == 5


@pytest.mark.parametrize("factor", [0, -0.5, 1.0001, math.inf, math.nan])
def test_decay_refuses_other_factors(factor: float) -> None:
    tree = learn([layout_of("<p>a</p>")])
    before = copy.deepcopy(tree_state(tree))
    with pytest.raises(ValueError, match="decay needs a factor"):
        tree.decay(factor)
    assert tree_state(tree) == before


def test_decay_reaches_styles_that_were_dropped() -> None:
    """p_i does not change when all pages count half, so neither may what dropped styles add."""
    bodies = [main_with(paragraphs) for paragraphs in (*[1] * 60, *range(2, 20))]
    exact, bounded = learn(map(layout_of, bodies)), learn(map(layout_of, bodies), max_nodes=60)
    before = only(by_path(measure(bounded)[0]), "div.main")
    for tree in (exact, bounded):
        tree.decay(0.5)
    wanted, found = (only(by_path(measure(t)[0]), "div.main") for t in (exact, bounded))
    assert found.dropped_styles[0] == before.dropped_styles[0] > 0
    assert found.importance == pytest.approx(before.importance, abs=1e-9)
    assert wanted.node_importance < 0.5
    assert found.node_importance == pytest.approx(wanted.node_importance, abs=1e-9)


def test_styles_that_were_dropped_are_forgotten_as_others_are() -> None:
    """Ten styles of a page each: no more are left than can have 0.05 pages, as others need."""
    tree = learn([layout_of("<p>a</p>")] * 64)
    tree.root.dropped_styles = (10.0, 10.0, 0.0)
    left = []
    for _ in range(4):
        tree.decay(0.25)
        left.append(tree.root.dropped_styles[0])
    assert left == pytest.approx([10, 10, 10 / 64 / 0.05, 10 / 256 / 0.05])


def test_thousands_of_like_siblings_take_linear_time() -> None:
    # By the definition alone each of them is compared with each: hours.
    sites = [layout_of("<div>" + "<p>same words" * (5000 + number) + "</div>") for number in (0, 1)]
    elements = measure(learn(sites))
    paragraphs = [element for element in elements if element.label == "p"]
    assert len(paragraphs) == 5001
    assert sum(element.pages for element in paragraphs) == 10_001
