"""The site style tree: its state, and what is refused as one."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy.methods.style_tree import StyleTreeMethod, StyleTreeModel
from noiseclean_scrapy.methods.trees.tree_state import read_tree, tree_state
from noiseclean_scrapy.page.presentation import Layout
from tests.support.style_trees import (
    examples,
    few_examples,
    layout_of,
    learn,
    never_twice,
    sites,
    two_level_site,
)

REFUSALS = (KeyError, TypeError, ValueError, IndexError)


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
    assert json.dumps(tree_state(tree))


def test_failed_restore_changes_nothing() -> None:
    method = StyleTreeMethod(threshold=0.5)
    method.observe(layout_of("<p>a</p>").page)
    before = copy.deepcopy(method.state())
    with pytest.raises(REFUSALS):
        method.restore({"threshold": 0.7, "tree": {}})
    assert method.state() == before
