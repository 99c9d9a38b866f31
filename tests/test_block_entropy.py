"""Block entropy: numbers by hand, the slow definition, order, merging, state."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from noiseclean_scrapy.methods import block_entropy
from noiseclean_scrapy.methods.block_entropy import (
    BlockEntropyMethod,
    content_blocks,
    greedy_threshold,
)
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.stemming import Stemming
from tests.support.slow_block_entropy import SlowDiscoverer
from tests.support.slow_small_sites import examples, sites

MODES = st.sampled_from(["element", "table"])


def page_of(body: str, language: str = "") -> Page:
    return build_page(f"<html lang='{language}'><body>{body}</body></html>")


def learn(pages: Iterable[Page], **options: Any) -> BlockEntropyMethod:
    method = BlockEntropyMethod(**options)
    for page in pages:
        method.observe(page)
    return method


# (a) Values by hand.


def test_entropies_by_hand() -> None:
    # a: shares 2/3 and 1/3 of four pages, log_4: 2/3 * 0.292481 + 1/3 * 0.792481 = 0.459148.
    # b: once on each of four pages: 1. c: on one page: 0.
    bodies = ["<p>a a c</p><p>b</p>", "<p>a</p><p>b</p>", "<p>b</p>", "<div>b</div>"]
    model = learn(map(page_of, bodies)).model()
    assert model.block_entropy(["a"]) == pytest.approx(0.459148, abs=1e-6)
    assert (model.block_entropy(["b"]), model.block_entropy(["c", "new"])) == (1, 0)
    verdict = model.judge(page_of(bodies[0]))
    # {a, c}: (0.459148 + 0) / 2
    assert [v.evidence["block_entropy"] for v in verdict.verdicts] == pytest.approx(
        [0.229574, 1], abs=1e-6
    )
    assert [v.score for v in verdict.verdicts] == pytest.approx([0.770426, 0], abs=1e-6)
    assert [v.kept for v in verdict.verdicts] == [True, False]
    assert verdict.weights == {"a": 2, "c": 1}


def test_a_block_without_terms_is_at_home_everywhere() -> None:
    model = learn([page_of("<p>fog")]).model()
    assert model.judge(page_of("<p>fog</p><p>...")).fit == 1
    assert model.judge(page_of("<p>fog</p><p>new")).fit == 0.5


def test_strings_of_nested_tables_are_not_in_the_outer_one() -> None:
    page = page_of(
        "one<table><tr><td>two<table><tr><td>three</td></tr></table>four</td></tr></table><p>five"
    )
    tables = content_blocks(page, tables_only=True)
    assert [sorted(block.terms) for block in tables] == [
        ["five", "one"],
        ["four", "two"],
        ["three"],
    ]
    assert len(content_blocks(page, tables_only=False)) == 4  # BODY, outer TD, inner TD, P


@pytest.mark.parametrize(
    ("blocks", "least_gain", "expected"),
    [
        ([], 0.0, 1.0),
        ([(0.05, "ab"), (0.9, "xy")], 0.0, 0.1),
        ([(0.05, "ab"), (0.2, "c"), (0.3, "ab"), (0.9, "xy")], 0.0, 0.2),
        ([(0.05, "ab"), (0.15, "c"), (0.21, "d"), (1.0, "xy")], 0.0, 0.3),
        ([(0.45, "ab"), (0.9, "xy")], 0.0, 0.5),  # nothing is included before 0.5
        ([(0.05, "abcd"), (0.15, "e"), (0.25, "fghi"), (0.5, "k")], 0.2, 0.1),  # 1 of 5
        ([(0.05, "abcd"), (0.15, "e"), (0.25, "fghi"), (0.5, "k")], 0.19, 0.3),
    ],
)
def test_greedy_threshold(
    blocks: list[tuple[float, str]], least_gain: float, expected: float
) -> None:
    assert greedy_threshold(blocks, least_gain) == expected
    assert greedy_threshold(reversed(blocks), least_gain) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en-US", "The ports of the northern islands", ["port", "northern", "island"]),
        ("de", "Die Häfen und der Hafen", ["haf", "haf"]),
        ("nb_NO", "Husene og huset", ["hus", "hus"]),
        ("zh", "新闻网 2031", ["新闻", "闻网", "0"]),
        ("", "The ports", ["the", "ports"]),
        ("xx-klingon", "The ports", ["the", "ports"]),
    ],
)
def test_terms(language: str, text: str, expected: list[str]) -> None:
    assert Stemming(language).terms(text) == expected


def test_one_page_and_nothing_learned_keep_all() -> None:
    page = page_of("<p>a a</p><p>...</p><img src=x.gif>")
    for method in (learn([page]), BlockEntropyMethod(), learn([page_of("")])):
        verdict = method.model().judge(page)
        assert all(v.kept for v in verdict.verdicts)
        assert verdict.weights == {"a": 2}
    assert BlockEntropyMethod().model().judge(page_of("")).verdicts == ()


# (b) The fast implementation and the definition.


B = "<div class=box><div><p>b</p></div></div>"
AAA = "<div class=box><div><p>a</p></div></div>" * 3


@pytest.mark.slow
@examples
@example([B, B, AAA, AAA], "element", 0.0)  # an entropy of just the threshold
@given(sites(), MODES, st.sampled_from([0.0, 0.031, 0.17]))
def test_fast_is_as_defined(bodies: list[str], mode: str, least_gain: float) -> None:
    pages = [page_of(body) for body in bodies]
    model = learn(pages, blocks=mode, least_gain=least_gain).model()
    definition = SlowDiscoverer(pages, mode)
    if any(page.blocks for page in pages):
        assert model.threshold == definition.threshold(least_gain)
    for page in pages:
        slow = definition.block_entropies(page)
        verdicts = model.judge(page).verdicts
        found = [v.evidence["block_entropy"] for v in verdicts]
        assert found == pytest.approx(slow, abs=1e-9)
        limit = model.threshold + 1e-10
        assert [v.kept for v in verdicts] == [entropy <= limit for entropy in slow]


# (c) Order, merging, forgetting, bounds, state.


@examples
@given(sites(), MODES, st.randoms(use_true_random=False), st.integers(0, 7), st.booleans())
def test_order_and_halves_do_not_matter(
    bodies: list[str], mode: str, random: Any, cut: int, few: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_entropy, "BLOCK_LIMIT", 3 if few else 4096)
        pages = [page_of(body) for body in bodies]
        shuffled = random.sample(pages, len(pages))
        whole, other = learn(pages, blocks=mode), learn(shuffled, blocks=mode)
        half = learn(shuffled[:cut], blocks=mode)
        half.merge(learn(shuffled[cut:], blocks=mode))
        assert whole.state() == other.state() == half.state()
        assert not few or len(whole.state()["sample"]) <= 3
        for page in pages:
            judged = whole.model().judge(page)
            assert judged == other.model().judge(page) == half.model().judge(page)


def test_different_blocks_do_not_merge() -> None:
    with pytest.raises(ValueError, match="table"):
        BlockEntropyMethod().merge(BlockEntropyMethod(blocks="table"))


def test_forgetting() -> None:
    method = learn(map(page_of, ["<p>a</p>", "<p>b</p>"] * 2))
    method.decay(0.5)
    assert method.pages == 2
    assert len(method.sample.blocks()) == 2
    method.decay(0.01)
    assert method.sample.blocks() == []
    with pytest.raises(ValueError, match="factor"):
        method.decay(0)


def test_terms_and_blocks_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_entropy, "TERM_LIMIT", 20)
    monkeypatch.setattr(block_entropy, "BLOCK_TERM_LIMIT", 5)
    method = learn(page_of(f"<p>x{chr(97 + n)} home a b c d e f</p>") for n in range(26))
    assert len(method.counts.totals) <= 20
    assert method.counts.dropped
    assert max(map(len, method.sample.blocks())) == 5
    assert method.model().block_entropy(["home"]) == 1


@examples
@given(sites(), MODES)
def test_state_goes_through_json(bodies: list[str], mode: str) -> None:
    method = learn(map(page_of, bodies), blocks=mode)
    copied = BlockEntropyMethod()
    copied.restore(json.loads(json.dumps(method.state())))
    assert copied.state() == method.state()
    for body in bodies:
        assert copied.model().judge(page_of(body)) == method.model().judge(page_of(body))


@pytest.mark.parametrize(
    "damage",
    [
        {"blocks": "div"},
        {"pages": -1},
        {"pages": float("nan")},
        {"pages": True},
        {"dropped": "1"},
        {"terms": None},
        {"terms": [["a", 1]]},
        {"terms": [[1, 1.0, 0.0]]},
        {"terms": [["a", 1.0, float("inf")]]},
        {"sample": None},
        {"sample": [[1.0, [2]]]},
        {"sample": [[1.0]]},
        {"sample": [["1", ["a"]]]},
        {"sample": [[1.0, [f"t{n}"]] for n in range(5000)]},
    ],
)
def test_bad_states_are_refused(damage: dict[str, Any]) -> None:
    method = learn([page_of("<p>a</p>")])
    state = copy.deepcopy(method.state())
    with pytest.raises((KeyError, TypeError, ValueError)):
        method.restore({**state, **damage})
    with pytest.raises(KeyError):
        method.restore({key: value for key, value in state.items() if key not in damage})
    assert method.state() == state
