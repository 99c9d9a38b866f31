"""Satisfiable sub-trees: values by hand, the slow definition, bookkeeping."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.methods import create_method
from noiseclean_scrapy.methods.satisfiable_subtree import (
    ALPHABETIC,
    HAN_KANA,
    SatisfiableSubtreeMethod,
    is_han_kana,
)
from noiseclean_scrapy.page import build_page
from tests.support.slow_satisfiable_subtree import slow_kept

METHOD = "satisfiable-subtree"
SMALL = {"generations": 2, "alpha": 4, "beta": 10, "gamma": 0.3}


def judged(body: str, **constants: Any) -> dict[str, tuple[bool, float]]:
    """Whether each text is kept, and its score."""
    page = build_page(f"<html><body>{body}</body></html>")
    verdict = create_method(METHOD, **{**SMALL, **constants}).model().judge(page)
    return {
        block.text: (v.kept, round(v.score, 6))
        for block, v in zip(page.blocks, verdict.verdicts, strict=True)
    }


def kept(body: str, **constants: Any) -> set[str]:
    return {text for text, (keep, _) in judged(body, **constants).items() if keep}


# (a) Values by hand.


def test_example_of_the_paper() -> None:
    # N1 is the first DIV: the longest text is 13 characters ("Paragraph one"), 13 + 13 + 12 = 38
    # in all, 12 of them anchor text: 12 <= 0.35 * 38 = 13.3. The second DIV is anchor text only.
    body = (
        "<section><h2>News title</h2></section>"
        "<section><div><p><b>Paragraph one</b></p><p align=center><img src=Imgpath></p>"
        "<p>Paragraph two</p><p><a href=Infopath>Related Info</a></p></div></section>"
        "<section><div><a href=link1>Link1</a> <a href=link2>Link2</a></div></section>"
    )
    constants = {"alpha": 12, "beta": 30, "gamma": 0.35}
    texts = {"Paragraph one", "", "Paragraph two", "Related Info"}
    assert kept(body, **constants) == texts
    # 10 of the 11 characters are anchor text: of the wanted 0.65 of other text 1/11 is there.
    assert judged(body, **constants)["Link1 Link2"] == (False, 0.13986)
    # Only "News title" is in its SECTION: 10/12 of alpha and 10/30 of beta are reached.
    assert judged(body, **constants)["News title"] == (False, 0.333333)


@pytest.mark.parametrize(
    ("constants", "keep"),
    [
        ({}, True),
        ({"alpha": 6}, True),  # "abcdef" has six characters
        ({"alpha": 6.5}, False),
        ({"beta": 12}, True),  # 6 + 4 + 2 characters
        ({"beta": 13}, False),
        ({"gamma": 0.25}, False),  # 4 of 12 characters are anchor text: a third
        ({"gamma": 0.34}, True),
    ],
)
def test_each_condition_at_its_limit(constants: dict[str, float], keep: bool) -> None:
    body = "<main><div><p>abcdef</p><p><a href=/>ghij</a></p><p>kl</p></div></main>"
    expected = {"abcdef", "ghij", "kl"} if keep else set()
    assert kept(body, **{"gamma": 0.4, **constants}) == expected


def test_generations() -> None:
    # One generation up is P, two DIV, three MAIN. P alone has 8 characters, DIV 12, MAIN 20.
    body = "<main><div><p>abcdefgh</p><p>ijkl</p></div><div><p>mnopqrst</p></div></main>"
    assert kept(body, generations=1) == set()
    assert kept(body, generations=2) == {"abcdefgh", "ijkl"}
    assert kept(body, generations=3) == {"abcdefgh", "ijkl", "mnopqrst"}
    assert kept(body, generations=99) == {"abcdefgh", "ijkl", "mnopqrst"}  # BODY at most


def test_the_long_text_may_stand_higher_but_not_lower_than_the_generations() -> None:
    # Seen from MAIN the long text is four generations away: none of its texts within two has 8.
    deep = "<main><p>abc</p><p>def</p><div><div><p>ghijklmnop</p></div></div></main>"
    assert kept(deep, alpha=8) == {"ghijklmnop"}
    # Here it stands directly in MAIN, to which "abc" climbs.
    assert kept("<main><p>abc</p>ghijklmnop</main>", alpha=8) == {"abc", "ghijklmnop"}


def test_the_largest_satisfiable_sub_tree_decides() -> None:
    # Each DIV is satisfiable; MAIN, to which the text directly in the first one climbs, is not.
    parts = "<div>{}<p>abcdefghijkl</p></div><div><p>mnopqrstuvwx</p></div>"
    linked = f"<main>{parts.format('yz')}<a href=/>{'n' * 12}</a></main>"
    assert kept(linked) == {"yz", "abcdefghijkl", "mnopqrstuvwx"}
    # 12 of 38 characters are anchor text now, less than 0.4 of them: MAIN takes all.
    assert kept(linked, gamma=0.4) == {"yz", "abcdefghijkl", "mnopqrstuvwx", "n" * 12}


def test_scores_evidence_and_weights() -> None:
    page = build_page(
        "<body><main><div><p>one two <a href=/x>six</a></p><img src=i.png></div></main>"
        "<main><div><p><a href=/y>seven</a> eig</p></div></main><main><img src=j.png></main></body>"
    )
    verdict = create_method(METHOD, **SMALL).model().judge(page)
    first, image, second, alone = verdict.verdicts
    # "one two six": 11 characters, 3 of them anchor text.
    assert (first.kept, first.score) == (True, 1.0)
    assert first.evidence == {
        "longest_text": 11.0,
        "total_text": 11.0,
        "link_share": 3 / 11,
        "alpha": 4.0,
        "beta": 10.0,
        "gamma": 0.3,
    }
    assert image == first
    # "seven eig": 9 of 10 characters; of its text 4/9 are no anchor text, of 0.7 wanted.
    assert not second.kept
    assert second.score == pytest.approx(4 / 9 / 0.7)
    # No text climbs to the last MAIN.
    assert (alone.kept, alone.score, dict(alone.evidence)) == (False, 0.0, {})
    expected = {"one": 1, "two": 1, "six": 1, "href:/x": 1, "src:i.png": 1}
    assert verdict.weights == expected
    assert verdict.fit == 1


def test_constants_follow_the_script_of_the_page() -> None:
    chinese = "新" * 40 + "闻" * 60
    assert len(SiteCleaner(METHOD).clean(f"<p>{chinese}</p>").text) == 100
    assert SiteCleaner(METHOD).clean(f"<p>{'x' * 100}</p>").text == ""
    enough = "x" * int(max(ALPHABETIC.alpha, ALPHABETIC.beta))
    assert SiteCleaner(METHOD).clean(f"<p>{enough}</p>").text == enough
    assert SiteCleaner(METHOD, beta=101).clean(f"<p>{chinese}</p>").text == ""
    assert SiteCleaner(METHOD, alpha=40, beta=100).clean(f"<p>{'x' * 100}</p>").text
    assert (HAN_KANA.generations, HAN_KANA.alpha, HAN_KANA.beta, HAN_KANA.gamma) == (
        2,
        40,
        100,
        0.3,
    )
    assert is_han_kana("かな漢字")
    assert not is_han_kana("Привет, 12 世界 и Ελλάδα")


# (b) Against the definition.


words = st.integers(1, 12).map(lambda n: "x" * n)
leaves = words | words.map(lambda w: f"<a href=/>{w}</a>") | st.just("<img src=i>")
parts = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4).map(lambda p: f"<div>{'<br><br>'.join(p)}</div>"),
    max_leaves=12,
)
bodies = st.lists(parts, max_size=5).map(" ".join)
all_constants = st.fixed_dictionaries(
    {
        "generations": st.integers(1, 4),
        "alpha": st.integers(0, 14),
        "beta": st.integers(0, 40),
        "gamma": st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0]),
    }
)


@given(bodies, all_constants)
def test_as_the_slow_definition(body: str, constants: dict[str, Any]) -> None:
    page = build_page(f"<body>{body}</body>")
    method = SatisfiableSubtreeMethod(**constants)
    verdict = method.model().judge(page)
    assert [v.kept for v in verdict.verdicts] == slow_kept(page, constants)
    assert all(0 <= v.score <= 1 for v in verdict.verdicts)
    assert all(v.score == 1 for v in verdict.verdicts if v.kept)


# (c) Bookkeeping.


def test_pages_are_counted_merged_forgotten_stored() -> None:
    page = build_page("<p>x</p>")
    one, other = SatisfiableSubtreeMethod(), SatisfiableSubtreeMethod()
    model = one.model()
    before = model.judge(page)
    for method in (one, one, other):
        method.observe(page)
    assert model.judge(page) == before == one.model().judge(page)
    one.merge(other)
    assert one.pages == 3
    one.decay(0.5)
    assert one.pages == 1.5
    other.restore(json.loads(json.dumps(one.state())))
    assert (other.pages, other.state()) == (1.5, one.state())


def test_bytes_keep_the_options() -> None:
    cleaner = SiteCleaner(METHOD, alpha=1, beta=1)
    cleaner.observe("<p>short</p>")
    again = SiteCleaner.from_bytes(cleaner.to_bytes())
    assert again.clean("<p>short</p>").text == "short"
    assert again.to_bytes() == cleaner.to_bytes()


@pytest.mark.parametrize(
    "state", [{}, {"pages": -1}, {"pages": "3"}, {"pages": None}, {"pages": float("nan")}, [], None]
)
def test_other_states_are_refused(state: Any) -> None:
    method = SatisfiableSubtreeMethod()
    method.observe(build_page("<p>x</p>"))
    with pytest.raises((KeyError, TypeError, ValueError)):
        method.restore(state)
    assert method.pages == 1
