"""Feature weighting: numbers by hand, the slow definition, order, merging, state."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy.methods.feature_weighting import (
    FeatureWeightingMethod,
    FeatureWeightingModel,
    _children_by_label,
    choose_threshold,
)
from noiseclean_scrapy.methods.trees.counts import FeatureCounts
from noiseclean_scrapy.methods.trees.structure_tree import StructureElement
from noiseclean_scrapy.page import Page
from tests.support.slow_small_sites import examples, sites
from tests.support.slow_structure_tree import SlowNode, slow_nodes, slow_weights
from tests.support.small_pages import page_of


def learn(pages: Iterable[Page]) -> FeatureWeightingMethod:
    method = FeatureWeightingMethod()
    for page in pages:
        method.observe(page)
    return method


def elements_of(bodies: Iterable[str]) -> list[StructureElement]:
    return learn(map(page_of, bodies)).model().elements


def only(elements: list[StructureElement], label: str) -> StructureElement:
    (element,) = [element for element in elements if element.label == label]
    return element


# (a) Values by hand.


def test_figure_2_of_the_paper() -> None:
    # Two pages, BODY has two styles: NodeImp(BODY) = -(0.5 log_2 0.5 + 0.5 log_2 0.5) = 1.
    deep = "<div class=t><div><p>x</p></div></div>"
    elements = elements_of([deep, f"{deep}<h2>y</h2>"])
    assert elements[0].node_importance == pytest.approx(1)
    assert elements[0].path_importance == pytest.approx(1)


def test_leaves_are_grandparents_of_text() -> None:
    elements = elements_of(["<div class=t><p>a</p><p>b <i>c</i></p></div><section><p>d</section>"])
    assert {e.label for e in elements} == {"", "div.t", "section"}
    assert only(elements, "div.t").leaf_features.totals.keys() == {"a", "b", "c"}


def test_weights_by_hand() -> None:
    # BODY: one style on four pages, NodeImp 0. The menu: "home" H = 1, "x" on one page H = 0:
    # NodeImp = (0 + 1) / 2 = 0.5 = PathImp; home weighs 0, x 0.5.
    # The article: four different words, NodeImp 1; "k" twice weighs 2.
    menus = ["home x", "home", "home", "home"]
    bodies = [
        f"<ul class=menu><li>{menu}</li></ul><div class=text><p>{word} {word}</p><p>!</p></div>"
        "<div><div><p>?</p></div></div>"
        for menu, word in zip(menus, "klmn", strict=True)
    ]
    method = learn(map(page_of, bodies))
    model = method.model()
    menu, text = only(model.elements, "ul.menu"), only(model.elements, "div.text")
    assert (model.root.node_importance, model.root.path_importance) == (0, 0)
    assert (menu.tags, menu.node_importance, menu.path_importance) == (4, 0.5, 0.5)
    assert (text.node_importance, text.path_importance) == (1, 1)
    verdict = model.judge(page_of(bodies[0]))
    assert verdict.weights == pytest.approx({"home": 0, "x": 0.5, "k": 2})
    assert [v.score for v in verdict.verdicts] == pytest.approx([0.25, 1, 1, 1])
    assert verdict.fit == 1


def test_path_importance_adds_up() -> None:
    # div: styles (p, div) on three of four pages and (p, p, div) on one:
    # -3/4 log_4 3/4 - 1/4 log_4 1/4 = 0.75 * 0.207519 + 0.25 = 0.405639. BODY: one style, 0.
    # The first p is "a" on 3 pages and merges with those of the other style, all "a": importance 0.
    # PathImp(p) = 1 - (1 - 0)(1 - 0.405639)(1 - 0) = 0.405639.
    deep = "<div class=s><div><p>z</p></div></div>"
    bodies = [f"<div class=t><p>a</p>{deep}</div>"] * 3 + [
        f"<div class=t><p>a</p><p>a</p>{deep}</div>"
    ]
    elements = elements_of(bodies)
    assert only(elements, "div.t").node_importance == pytest.approx(0.405639, abs=1e-6)
    paragraph = only(elements, "p")
    assert (paragraph.tags, paragraph.leaf_importance) == (5, 0)
    assert paragraph.path_importance == pytest.approx(0.405639, abs=1e-6)
    assert paragraph.feature_weight("a") == 0


def test_without_characteristic_features_nothing_merges() -> None:
    # The three p of one page share no word; three of another page do.
    deep = "<div><div><p>z</p></div></div>"
    assert len([e for e in elements_of([f"<p>a</p><p>b</p><p>c</p>{deep}"]) if e.label == "p"]) == 3
    assert len([e for e in elements_of([f"<p>a</p><p>a</p><p>a</p>{deep}"]) if e.label == "p"]) == 1
    assert len([e for e in elements_of([f"<p>?</p><p>?</p>{deep}"]) if e.label == "p"]) == 2


def test_merging_goes_on_with_the_merged_node() -> None:
    # Seven words and seven with one changed: 6 / 8 < 0.85. Both share 13 of 14 with a third.
    deep = "<div><div><p>z</p></div></div>"
    common = [f"w{letter}" for letter in "abcdefghijkl"]
    one, other, between = ([*common, *more] for more in (["x"], ["y"], ["x", "y"]))
    body = "".join(f"<p>{' '.join(words)}</p>" for words in (one, other, between))
    assert [e.tags for e in elements_of([body + deep]) if e.label == "p"] == [3]


def test_one_page_weighs_its_counts() -> None:
    verdict = learn([page_of("<p>a a b</p>")]).model().judge(page_of("<p>a a b</p>"))
    assert verdict.weights == {"a": 2, "b": 1}
    assert [v.kept for v in verdict.verdicts] == [True]


def test_unknown_places_weigh_their_counts() -> None:
    model = learn(map(page_of, ["<p>a</p>"] * 3)).model()
    verdict = model.judge(page_of("<p>a</p><div><section><h2>b b</h2><div>c</div></section></div>"))
    assert verdict.weights["b"] == 2
    assert verdict.fit < 1


def test_of_children_with_one_label_an_unknown_sequence_takes_the_commonest() -> None:
    def element(tags: float) -> StructureElement:
        return StructureElement("p", tags, tags, FeatureCounts())

    rare, common, other = element(1), element(3), element(2)
    parent = element(6)
    parent.styles = {("a",): (other,), ("p",): (rare,), ("p", "p"): (common, other)}
    assert _children_by_label(parent) == {"p": common}
    parent.styles = {("a",): (common,), ("p",): (rare,)}
    assert _children_by_label(parent)["p"] is common


def test_nothing_learned() -> None:
    model = FeatureWeightingMethod().model()
    assert model.judge(page_of("")).verdicts == ()
    assert [v.kept for v in model.judge(page_of("<p>a</p>")).verdicts] == [True]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ({}, 0.0),
        ({1.0: 5}, 0.0),
        ({0.0: 1, 1.0: 1}, 0.5),
        # Between-class variances n1 n2 d^2: 4 * 5 * (0.8 - 0.1)^2 beats 1 * 8 and 7 * 2 splits.
        ({0.0: 2, 0.2: 2, 0.7: 2, 0.9: 3}, 0.45),
    ],
)
def test_cut_is_otsus(weights: dict[float, int], expected: float) -> None:
    class Leaf:
        def __init__(self, weight: float, mass: int) -> None:
            self.mean_weight = lambda: (mass, weight)

    leaves: Any = [Leaf(weight, mass) for weight, mass in weights.items()]
    assert choose_threshold(leaves) == pytest.approx(expected)
    assert choose_threshold(reversed(leaves)) == choose_threshold(leaves)


# (b) The fast implementation and the definition.


def same_shape(element: StructureElement, node: SlowNode) -> None:
    """Compares two elements and all below them."""
    waiting = [(element, node)]
    while waiting:
        fast, slow = waiting.pop()
        assert (fast.tags, fast.leaf_tags) == (len(slow.tags), len(slow.leaves))
        assert fast.node_importance == pytest.approx(slow.node_importance, abs=1e-9)
        assert fast.path_importance == pytest.approx(slow.path_importance(), abs=1e-9)
        for feature in slow.totals:
            assert fast.feature_weight(feature) == pytest.approx(slow.weight(feature), abs=1e-9)
        children = {
            (labels, place): child
            for labels, below in fast.styles.items()
            for place, child in enumerate(below)
        }
        assert len({id(child) for child in children.values()}) == len(slow.children)
        for below_slow in slow.children:
            parents = [tag for tag in slow.tags if not tag.is_leaf()]
            places = {
                (parent.style(), place)
                for parent in parents
                for place, child in enumerate(parent.children())
                if child in below_slow.tags
            }
            (match,) = {id(children[place]): children[place] for place in places}.values()
            waiting.append((match, below_slow))


@pytest.mark.slow
@examples
@given(sites())
def test_fast_is_as_defined(bodies: list[str]) -> None:
    pages = [page_of(body) for body in bodies]
    nodes = slow_nodes(pages)
    if not nodes:
        return
    model = learn(pages).model()
    same_shape(model.root, nodes[0])
    for page in pages:
        verdict = model.judge(page)
        weights, means = slow_weights(nodes, page)
        assert verdict.weights == pytest.approx(weights, abs=1e-9)
        assert [v.score for v in verdict.verdicts] == pytest.approx(means, abs=1e-9)


@examples
@given(sites())
def test_path_importance_grows_downwards_within_bounds(bodies: list[str]) -> None:
    for element in elements_of(bodies):
        assert 0 <= element.path_importance <= element.leaf_path_importance <= 1
        assert 0 <= element.node_importance <= 1
        for child in [child for below in element.styles.values() for child in below]:
            assert child.path_importance >= element.path_importance


# (c) Order, merging, forgetting, state.


@examples
@given(sites(), st.randoms(use_true_random=False), st.integers(0, 7))
def test_order_and_halves_do_not_matter(bodies: list[str], random: Any, cut: int) -> None:
    pages = [page_of(body) for body in bodies]
    shuffled = random.sample(pages, len(pages))
    whole, other, half = learn(pages), learn(shuffled), learn(shuffled[:cut])
    half.merge(learn(shuffled[cut:]))
    assert whole.state() == other.state() == half.state()
    for page in pages:
        assert whole.model().judge(page) == other.model().judge(page) == half.model().judge(page)


def test_every_order_of_four_pages() -> None:
    bodies = ["<p>a b</p><div><p>c</p></div>", "<p>a</p>", "<div><ul><li>b</li></ul></div>", "d"]
    states = [learn(map(page_of, order)).state() for order in permutations(bodies)]
    assert all(state == states[0] for state in states)


def test_decay_of_all_pages_keeps_places_and_changes_numbers() -> None:
    method = learn(map(page_of, ["<p>a</p>", "<p>b</p>"] * 3))
    method.decay(0.5)
    assert method.pages == 3
    with pytest.raises(ValueError, match="factor"):
        method.decay(0)


@examples
@given(sites())
def test_state_goes_through_json(bodies: list[str]) -> None:
    method = learn(map(page_of, bodies))
    copied = FeatureWeightingMethod()
    copied.restore(json.loads(json.dumps(method.state())))
    assert copied.state() == method.state()
    for body in bodies:
        assert copied.model().judge(page_of(body)) == method.model().judge(page_of(body))


def test_bad_states_are_refused() -> None:
    method = learn([page_of("<p>a</p>")])
    state = method.state()
    damages: list[dict[str, Any]] = [
        {"tree": {}},
        {"tree": {"words": [1], "nodes": []}},
        {"tree": {"words": ["a"], "nodes": []}},
        {"tree": None},
    ]
    for damage in damages:
        with pytest.raises((KeyError, TypeError, ValueError)):
            method.restore({**copy.deepcopy(state), **damage})
        assert method.state() == state
    for missing in state:
        with pytest.raises(KeyError):
            method.restore({key: value for key, value in state.items() if key != missing})


def test_nodes_are_bounded() -> None:
    method = FeatureWeightingMethod(max_tree_nodes=20)
    for number in range(30):
        method.observe(page_of("<div><section><p>a</p></section></div>" * (number % 9)))
    assert method.tree.nodes <= 20
    assert isinstance(method.model(), FeatureWeightingModel)
