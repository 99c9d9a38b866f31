"""The site style tree: the paper's numbers, its slow definition, order, forgetting, bounds."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from slow_style_tree import Path, all_elements, kept_blocks, slow_tree

from noiseclean_scrapy.methods.style_tree import StyleTreeMethod, StyleTreeModel
from noiseclean_scrapy.page import Element, Page, TextBlock, build_page
from noiseclean_scrapy.page.layout import Layout
from noiseclean_scrapy.site import style_tree, threshold
from noiseclean_scrapy.site.counts import FeatureCounts, weighted_log
from noiseclean_scrapy.site.importance import MeasuredElement, mark, measure
from noiseclean_scrapy.site.style_tree import SiteStyleTree
from noiseclean_scrapy.site.threshold import choose_threshold
from noiseclean_scrapy.site.tree_state import read_tree, tree_state

REFUSALS = (KeyError, TypeError, ValueError, IndexError)
THRESHOLDS = (0.0, 0.31831, 0.57722, 0.74048, 0.84147, 0.91597, 1.1)
"""Numbers that no importance hits by chance, so that rounding cannot decide."""


def layout_of(body: str) -> Layout:
    return Layout(build_page(f"<html><body>{body}</body></html>"))


def learn(layouts: Iterable[Layout], *, max_nodes: int = 100_000) -> SiteStyleTree:
    tree = SiteStyleTree(max_nodes=max_nodes)
    for layout in layouts:
        tree.observe(layout)
    return tree


def by_path(root: MeasuredElement) -> dict[Path, MeasuredElement]:
    """Every element once, under the smallest of its places."""
    found: dict[Path, MeasuredElement] = {(): root}
    waiting: list[tuple[Path, MeasuredElement]] = [((), root)]
    seen = {id(root)}
    while waiting:
        path, element = waiting.pop()
        for labels in sorted(element.styles):
            for place, child in enumerate(element.styles[labels][1]):
                if id(child) not in seen:
                    seen.add(id(child))
                    below = (*path, (labels, place))
                    found[below] = child
                    waiting.append((below, child))
    return found


def measured(bodies: Iterable[str]) -> dict[Path, MeasuredElement]:
    return by_path(measure(learn(map(layout_of, bodies)))[0])


def only(elements: dict[Path, MeasuredElement], label: str) -> MeasuredElement:
    (element,) = [e for e in elements.values() if e.label == label]
    return element


def fast_kept(tree: SiteStyleTree, layout: Layout, limit: float) -> list[bool]:
    return [v.kept for v in StyleTreeModel(tree, limit).judge(layout.page).verdicts]


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, list):
        for entry in value:
            yield from numbers(entry)
    else:
        yield float(value)


def assert_close_states(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one["words"] == other["words"]
    assert list(numbers(one["nodes"])) == pytest.approx(list(numbers(other["nodes"])), abs=1e-9)


# (a) Values by hand.


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


# (b) The fast implementation and the definition.

WORDS = "abcd"
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
mixed = st.one_of(
    texts,
    texts.map("<p>{}</p>".format),
    st.tuples(texts, texts).map(lambda t: f"<p>{t[0]}</p>{t[1]}"),
    st.tuples(texts, texts).map(lambda t: f"{t[0]}<br><br>{t[1]}"),
    st.just("..."),
)
advertisements = st.sampled_from(["", "", "<div class=ad>a b</div>", "<p class=ad>c</p>"])


def _element_html(children: list[str]) -> st.SearchStrategy[str]:
    names = st.sampled_from(["div", "div class=x", "p", "section", "li"])
    return names.map(lambda name: f"<{name}>{''.join(children)}</{name.split()[0]}>")


random_trees = st.recursive(
    texts,
    lambda below: st.lists(below, min_size=1, max_size=3).flatmap(_element_html),
    max_leaves=8,
)


@st.composite
def columns(draw: st.DrawFn, fixed: str) -> str:
    """Two levels that an advertisement splits into several styles."""
    article = "".join(f"<p>{text}</p>" for text in draw(st.lists(texts, max_size=2)))
    box = f"<div class=box>{fixed}</div>"
    inner = draw(advertisements) + box + draw(st.sampled_from(["", article])) + box
    return f"<div class=main>{draw(advertisements)}<div class=col>{inner}</div></div>"


@st.composite
def template_pages(draw: st.DrawFn, fixed: str, items: list[str]) -> str:
    shown = [draw(mixed) if item == "?" else item for item in items]
    nav = "<ul>" + "".join(f"<li>{item}</li>" for item in shown) + "</ul>"
    rest = draw(st.sampled_from(["", "<div class=foot>a b</div>"]))
    mix = f"<div class=mix>{draw(mixed)}</div>" if draw(st.booleans()) else ""
    return draw(advertisements) + nav + draw(columns(fixed)) + mix + rest


@st.composite
def sites(draw: st.DrawFn, most: int = 8) -> tuple[list[Layout], Layout]:
    """One to `most` pages of a site, from a few distinct ones, and one page more, maybe unknown."""
    if draw(st.integers(0, 3)):
        fixed = draw(texts)
        items = draw(st.lists(st.sampled_from(["a", "a b", "?"]), max_size=3))
        pages = template_pages(fixed, items)
    else:
        pages = st.lists(random_trees, max_size=4).map("".join)
    pool = [layout_of(body) for body in draw(st.lists(pages, min_size=2, max_size=5))]
    least = draw(st.integers(1, most))
    chosen = draw(st.lists(st.sampled_from(pool), min_size=least, max_size=most))
    return chosen, layout_of(draw(pages))


examples = settings(
    deadline=None, max_examples=120, suppress_health_check=list(HealthCheck), print_blob=True
)
few_examples = settings(examples, max_examples=40)


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


@examples
@given(sites())
def test_fast_is_as_defined(site: tuple[list[Layout], Layout]) -> None:
    layouts, other = site
    if not all(layout.empty for layout in layouts):
        assert_like_definition(layouts, [other])


FIXED = "home news sport weather contact about imprint"
AD = "<div class=ad>buy</div>"


def two_level_site() -> list[str]:
    """BODY, MAIN and COL have two styles each; what is equal below is merged at every level."""
    box = f"<div class=box>{FIXED}</div>"
    foot = f"<div class=foot>{FIXED}</div>"
    columns_ = [f"<div class=col>{a}{box}{b}</div>" for a, b in [("", ""), (box, "")]]
    mains = [f"<div class=main>{column}{ad}</div>" for column in columns_ for ad in ("", foot)]
    return [main + ad for main in mains for ad in ("", AD)]


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


# (c) Order, and merging of trees.


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


# (d) Forgetting.


def test_decay_of_counts_by_hand() -> None:
    counts = FeatureCounts()
    counts.add_page([("a", 2), ("b", 1)])
    counts.add_page([("a", 1)])
    counts.dropped = 4
    counts.decay(0.5)
    # a: C 3 -> 1.5, T = 2 ln 2 -> (2 ln 2 + 3 ln 0.5) / 2 = -(ln 2) / 2; b: 1 ln 1 -> 0.5 ln 0.5
    assert counts.totals["a"] == pytest.approx([1.5, -math.log(2) / 2])
    assert counts.totals["b"] == pytest.approx([0.5, 0.5 * math.log(0.5)])
    assert counts.dropped == 2


def test_importance_after_decay() -> None:
    # a has shares 2/3, 1/3, b 1/2, 1/2; over four pages the base is 4, over the two left it is 2.
    # H: a 0.459148 -> 0.918296, b 0.5 -> 1; leaf 1 - 0.479574 -> 1 - 0.959148.
    tree = learn(map(layout_of, ["<p>a a</p>", "<p>a</p>", "<p>b</p>", "<p>b</p>"]))
    assert only(by_path(measure(tree)[0]), "p").importance == pytest.approx(0.520426, abs=1e-6)
    tree.decay(0.5)
    leaf = only(by_path(measure(tree)[0]), "p")
    assert (tree.pages, leaf.pages, leaf.leaf_pages) == (2, 2, 2)
    assert leaf.importance == pytest.approx(0.040852, abs=1e-6)


def test_pages_that_decayed_below_one_are_important() -> None:
    tree = learn([layout_of("<p>a</p>")] * 4)
    tree.decay(0.25)
    assert {e.importance for e in measure(tree)} == {1.0}


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
    for tree in (exact, bounded):
        tree.decay(0.5)
    wanted, found = (only(by_path(measure(t)[0]), "div.main") for t in (exact, bounded))
    assert found.dropped_styles[0] > 0
    assert wanted.node_importance < 0.5
    assert found.node_importance == pytest.approx(wanted.node_importance, abs=1e-9)


# (e) State.


@few_examples
@given(sites(), st.sampled_from([1.0, 0.5, 0.3]))
def test_state_round_trip(site: tuple[list[Layout], Layout], factor: float) -> None:
    tree = learn(site[0])
    tree.decay(factor)
    state = tree_state(tree)
    back = read_tree(json.loads(json.dumps(state)), max_nodes=100_000)
    assert tree_state(back) == state
    assert back.nodes == tree.nodes
    for limit in (None, 0.57722):
        model, copied = StyleTreeModel(tree, limit), StyleTreeModel(back, limit)
        assert model.threshold == copied.threshold
        assert model.judge(site[1].page) == copied.judge(site[1].page)


def test_state_round_trip_with_dropped_styles() -> None:
    tree = learn(map(layout_of, never_twice(40)), max_nodes=40)
    tree.observe(layout_of("<div class=main><p>a</p></div>"))
    state = tree_state(tree)
    assert any(row[6][0] for row in state["nodes"])
    assert tree_state(read_tree(json.loads(json.dumps(state)), max_nodes=40)) == state


def test_restored_tree_learns_on() -> None:
    layouts = [layout_of(body) for body in two_level_site()]
    back = read_tree(json.loads(json.dumps(tree_state(learn(layouts[:3])))), max_nodes=1000)
    for layout in layouts[3:]:
        back.observe(layout)
    assert tree_state(back) == tree_state(learn(layouts))


def good_state() -> dict[str, Any]:
    tree = learn(map(layout_of, ["<div>a</div><p>a b</p>", "<div><p>a</p></div>"]))
    state: dict[str, Any] = json.loads(json.dumps(tree_state(tree)))
    return state


def spoiled(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    state = good_state()
    change(state)
    return state


# Columns of a row: label, pages, leaf pages, dropped, features, frequency, dropped styles, styles.
SPOILED: dict[str, Callable[[dict[str, Any]], object]] = {
    "no words": lambda s: s.pop("words"),
    "no nodes": lambda s: s.pop("nodes"),
    "empty": lambda s: s["nodes"].clear(),
    "nodes is a number": lambda s: s.update(nodes=5),
    "nodes is text": lambda s: s.update(nodes="abc"),
    "words is a number": lambda s: s.update(words=5),
    "words is nothing": lambda s: s.update(words=None),
    "short row": lambda s: s["nodes"][0].pop(),
    "long row": lambda s: s["nodes"][0].append(0),
    "row is a number": lambda s: s["nodes"].__setitem__(1, 7),
    "row is an object": lambda s: s["nodes"].__setitem__(1, {"a": 1}),
    "label outside": lambda s: s["nodes"][1].__setitem__(0, 99),
    "label is text": lambda s: s["nodes"][1].__setitem__(0, "p"),
    "pages is text": lambda s: s["nodes"][0].__setitem__(1, "many"),
    "pages is a list": lambda s: s["nodes"][0].__setitem__(1, []),
    "feature outside": lambda s: s["nodes"][-1][4].append([99, 1.0, 0.0]),
    "short feature": lambda s: s["nodes"][-1][4].append([0, 1.0]),
    "frequency outside": lambda s: s["nodes"][-1][5].append([99, 1.0]),
    "dropped styles is nothing": lambda s: s["nodes"][0].__setitem__(6, None),
    "style outside": lambda s: s["nodes"][0][7].append([1.0, 99, 1]),
    "style too long": lambda s: s["nodes"][0][7].append([1.0, 1, 99]),
    "style of itself": lambda s: s["nodes"][1][7].append([1.0, 1, 1]),
    "style of its parent": lambda s: s["nodes"][1][7].append([1.0, 0, 1]),
    "style of negative length": lambda s: s["nodes"][0][7].append([1.0, 2, -1]),
    "style at a fraction": lambda s: s["nodes"][0][7].append([1.0, 1.5, 1]),
    "short style": lambda s: s["nodes"][0][7].append([1.0, 1]),
    # What follows has the right shape, and values no tree can have.
    "number too large": lambda s: s["nodes"][0].__setitem__(1, 10**400),
    "label from the end": lambda s: s["nodes"][1].__setitem__(0, -1),
    "feature from the end": lambda s: s["nodes"][-1][4].append([-1, 1.0, 0.0]),
    "word is a number": lambda s: s["words"].__setitem__(-1, 5),
    "words is text": lambda s: s.update(words="abcdefghij"),
    "pages is not a number": lambda s: s["nodes"][0].__setitem__(1, math.nan),
    "pages without end": lambda s: s["nodes"][0].__setitem__(1, math.inf),
    "pages below zero": lambda s: s["nodes"][0].__setitem__(1, -3.0),
    "style without pages": lambda s: s["nodes"][0][7][0].__setitem__(0, 0),
    "style below zero": lambda s: s["nodes"][0][7][0].__setitem__(0, -1.0),
    "feature without end": lambda s: s["nodes"][-1][4][0].__setitem__(1, math.inf),
    "two dropped numbers": lambda s: s["nodes"][0].__setitem__(6, [0.0, 0.0]),
    "four dropped numbers": lambda s: s["nodes"][0].__setitem__(6, [0.0] * 4),
    "dropped below zero": lambda s: s["nodes"][0].__setitem__(6, [-1.0, -9.0, 0.0]),
    "style twice": lambda s: s["nodes"][0][7].append(list(s["nodes"][0][7][0])),
}


@pytest.mark.parametrize("name", SPOILED)
def test_read_tree_refuses(name: str) -> None:
    with pytest.raises(REFUSALS):
        read_tree(spoiled(SPOILED[name]), max_nodes=100)


@pytest.mark.parametrize("state", [None, 5, "words", [], [1], {}])
def test_read_tree_refuses_other_values(state: Any) -> None:
    with pytest.raises(REFUSALS):
        read_tree(state, max_nodes=100)


def test_read_tree_refuses_shared_rows() -> None:
    """Rows that several styles point to make a small state a tree with 2^60 paths."""
    depth = 60
    nodes: list[list[Any]] = [
        [0, 1, 0, 0, [], [], [0, 0, 0], [[1, n + 1, 1], [1, n + 1, 2]]] for n in range(depth)
    ]
    nodes += [[0, 1, 0, 0, [], [], [0, 0, 0], []] for _ in range(3)]
    with pytest.raises(REFUSALS):
        read_tree({"words": ["p"], "nodes": nodes}, max_nodes=1000)


odd_values: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([None, True, "", "x", [], {}, [[]], -1, 0, 3, 99, 10**400, 0.5, -2.5]),
    st.sampled_from([math.nan, math.inf, -math.inf]),
)


@st.composite
def damaged_states(draw: st.DrawFn) -> dict[str, Any]:
    state = good_state()
    target: Any = state
    while True:
        keys = list(target) if isinstance(target, dict) else list(range(len(target)))
        key = draw(st.sampled_from(keys))
        below = target[key]
        if isinstance(below, list) and below and draw(st.integers(0, 5)):
            target = below
            continue
        target[key] = draw(odd_values)
        return state


@examples
@given(damaged_states())
def test_damaged_state_is_refused_or_can_be_used(state: dict[str, Any]) -> None:
    try:
        tree = read_tree(state, max_nodes=100)
    except REFUSALS:
        return
    page = layout_of("<div>a</div><p>a b</p>")
    StyleTreeModel(tree, None).judge(page.page)
    tree.observe(page)
    json.dumps(tree_state(tree))


def test_failed_restore_changes_nothing() -> None:
    method = StyleTreeMethod(threshold=0.5)
    method.observe(layout_of("<p>a</p>").page)
    before = copy.deepcopy(method.state())
    with pytest.raises(REFUSALS):
        method.restore({"threshold": 0.7, "tree": {}})
    assert method.state() == before


@pytest.mark.parametrize("limit", ["0.5", [], math.nan])
def test_restore_refuses_other_thresholds(limit: Any) -> None:
    with pytest.raises(REFUSALS):
        StyleTreeMethod().restore({"threshold": limit, "tree": good_state()})


# (f) Bounds.


def main_with(paragraphs: int) -> str:
    return f"<div class=main>{'<p>a</p>' * paragraphs}</div>"


def never_twice(pages: int) -> Iterator[str]:
    """Pages whose MAIN never has the same style again, with nine elements below it or fewer."""
    tags = ["p", "h2", "h3"]
    for number in range(pages):
        digits = [number // 3**place % 3 for place in range(5)]
        yield "<div class=main>" + "".join(f"<{tags[d]}>a</{tags[d]}>" for d in digits) + "</div>"


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
    monkeypatch.setattr(style_tree, "FEATURE_LIMIT", 10)
    tree = SiteStyleTree()
    for number in range(20):
        letter = chr(ord("a") + number)
        tree.observe(layout_of(f"<p>{letter}x {letter}y {letter}z</p>"))
        assert feature_names(tree) <= 10


def test_few_feature_names_after_merging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many workers' trees merged into one, which never observes a page itself."""
    monkeypatch.setattr(style_tree, "FEATURE_LIMIT", 10)
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


# (g) The threshold.


def test_threshold_without_leaves_is_the_middle() -> None:
    assert choose_threshold([]) == pytest.approx(0.91)
    assert choose_threshold([0.1, 0.88, 0.94, 1.0]) == pytest.approx(0.91)  # none inside the range


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
        assert choose_threshold(order) == pytest.approx(expected)
    assert choose_threshold(importances * 3) == pytest.approx(expected)


def test_threshold_of_equal_gaps_is_the_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threshold, "THRESHOLD_RANGE", (0.5, 1.0))
    assert choose_threshold([0.75]) == 0.625
    assert choose_threshold([0.625, 0.75, 0.875]) == 0.5625


@few_examples
@given(st.lists(st.floats(0, 1)))
def test_threshold_lies_in_its_range(importances: list[float]) -> None:
    low, high = threshold.THRESHOLD_RANGE
    chosen = choose_threshold(importances)
    assert low <= chosen <= high
    assert chosen == choose_threshold(sorted(importances))


def test_model_chooses_its_threshold_from_leaves_on_two_pages_or_more() -> None:
    # The h2 stands on one page only and has importance 1 for want of others; p has 0: no gap.
    tree = learn(map(layout_of, ["<p>a</p>", "<p>a</p>", "<h2>b</h2>"]))
    assert StyleTreeModel(tree, None).threshold == pytest.approx(0.91)
    assert StyleTreeModel(tree, 0.0).threshold == 0.0


# (h) Deep pages and pages without content.


def deep_page(levels: int) -> Page:
    elements = [Element(n, n - 1, "div", "div", "/div[1]", [n + 1]) for n in range(levels)]
    elements[-1].content = [~0]
    block = TextBlock(0, levels - 1, "deep text", 0, (), ())
    return Page("", "", "", elements, [block])


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
