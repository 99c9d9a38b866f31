"""Evidence of the site: numbers by hand, the slow definition, order, merging, bounds, state."""

from __future__ import annotations

import copy
import json
import random
import zlib
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy import SiteCleaner, cleaner
from noiseclean_scrapy.errors import TreeDataError
from noiseclean_scrapy.methods.evidence_model import (
    fingerprints,
    near_duplicates,
    places,
    sample,
    site_features,
)
from noiseclean_scrapy.methods.evidence_model.site_features import SiteEvidence, SiteTerms
from noiseclean_scrapy.methods.evidence_model.tree_index import page_arrays
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.hashes import DIGEST_SIZE, digest
from tests.support.slow_evidence import SlowSite, clipped, slow_min_hashes, slow_repetition
from tests.support.slow_small_sites import examples, sites
from tests.support.small_pages import page_of

FIELDS = ("place", "repetition", "place_pages", "text_pages")


def scores_of(page: Page) -> np.ndarray:
    """Log-odds that depend on a block's text alone, some beyond the clip; no model is asked."""
    values = [zlib.crc32(block.text.encode()) % 2001 / 100 - 10 for block in page.blocks]
    return np.array(values, dtype=np.float64)


def learn(pages: list[Page], most: int = 100_000) -> SiteEvidence:
    evidence = SiteEvidence(most)
    for page in pages:
        evidence.observe(page, scores_of(page))
    return evidence


def as_lists(terms: SiteTerms) -> dict[str, list[float]]:
    return {name: getattr(terms, name).tolist() for name in FIELDS}


def cleaner_of(pages: list[Page], **options: Any) -> SiteCleaner:
    learner = SiteCleaner("evidence", **options)
    for page in pages:
        learner.observe_page(page)
    return learner


# (a) Values by hand.

MENU = "<ul><li>Home</ul>"
STORIES = [
    (f"{MENU}<div class=story><p>Fog at 9</p></div>", [-2.0, 3.0]),
    (f"{MENU}<div class=story><p>Rain</p><p>Wind</p></div>", [-4.0, 1.0, 2.0]),
    (f"{MENU}<div class=story><p>Fog at 10</p></div><aside>Ad</aside>", [-3.0, 9.0, -1.0]),
]


def test_terms_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_features, "PLACE_WEIGHT", 0.5)
    monkeypatch.setattr(site_features, "REPETITION", 5.0)
    monkeypatch.setattr(site_features, "COMMON_REPETITION", 6.0)
    monkeypatch.setattr(site_features, "COMMON", 0.3)
    monkeypatch.setattr(site_features, "COMMON_SUPPORT", 3.0)
    monkeypatch.setattr(site_features, "SURE", 2.5)
    monkeypatch.setattr(site_features, "SUPPORT", 2.0)
    monkeypatch.setattr(site_features, "CLIP", 6.0)
    evidence = SiteEvidence(1000)
    for body, scores in STORIES:
        evidence.observe(page_of(body), np.array(scores))
    assert evidence.pages == 3
    terms = evidence.terms(page_of(STORIES[0][0]), np.array(STORIES[0][1]))
    # The menu's place: means -4 and -3 on two other pages, 0.5 * 4 / (4 + 4) = 0.25 of the way
    # from -2 to -3.5, once for LI and once for UL. The story's: means 1.5 and 9, their mean 5.25.
    assert terms.place == pytest.approx([2 * 0.25 * -1.5, 2 * 0.25 * 2.25])
    # "Home" is on both others, 5 * 2/2 * 2/3 + 6 * 2/5; "Fog at 0" on one, 5 * 1/2 * 1/2 + 6 * 1/4.
    # The page alone is sure of the story, 1 / (1 + exp(2 * (2.5 - 3))) = 0.73106, not of the menu,
    # 1 / (1 + exp(9)) = 0.00012; doubtful are 9 / (4 + 9) of two pages and 9 / (1 + 9) of one.
    sure = [0.00012339 * 9 / 13, 0.73105858 * 9 / 10]
    lost = [10 / 3 + 2.4, 1.25 + 1.5]
    assert terms.repetition == pytest.approx(
        [-x * (1 - y) for x, y in zip(lost, sure, strict=True)]
    )
    assert terms.place_pages.tolist() == [2, 2]
    assert terms.text_pages.tolist() == [2, 1]
    assert terms.total == pytest.approx(terms.place + terms.repetition)


def test_rare_and_common_repetitions_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_features, "REPETITION", 5.0)
    monkeypatch.setattr(site_features, "COMMON_REPETITION", 6.0)
    monkeypatch.setattr(site_features, "COMMON", 0.3)
    monkeypatch.setattr(site_features, "COMMON_SUPPORT", 3.0)
    monkeypatch.setattr(site_features, "SURE", 2.5)
    evidence = learn([page_of(f"<p>{n}") for n in ("one", "two", "two x", "three", "four")])
    page = page_of("<p>one</p><p>five</p>")
    # Log-odds of 0: the page alone is sure by 1 / (1 + exp(5)).
    scores, sure = np.zeros(2), 0.0066928509
    assert evidence.terms(page, scores).repetition.tolist() == pytest.approx(
        [-5 * 1 / 5 * 1 / 2 * (1 - sure * 9 / 10), 0]
    )
    for word in ("six", "seven"):
        other = page_of(f"<div>{word}</div><p>one</p><p>one</p>")
        evidence.observe(other, scores_of(other))
    # On three of seven pages, which is above 0.3.
    assert evidence.terms(page, scores).repetition.tolist() == pytest.approx(
        [(-5 * 3 / 7 * 3 / 4 - 6 * 3 / 6) * (1 - sure * 9 / 18), 0]
    )


def test_few_pages_do_not_outvote_a_page_that_is_sure() -> None:
    """A text that the page alone is sure of stays where two of three pages show it."""
    evidence = SiteEvidence(100_000)
    body = "<div>Parameters</div><p>{}</p>"
    page, left = page_of(body.format("one")), []
    for other in range(12):
        left.append(float(4 + evidence.terms(page, np.array([4.0, 4.0])).repetition[0]))
        evidence.observe(page_of(body.format(chr(0x4E00 + other))), np.array([4.0, 4.0]))
    assert left == sorted(left, reverse=True)
    assert left[0] == 4
    assert left[2] > 0 > left[11]
    doubtful = evidence.terms(page, np.array([-1.0, 4.0])).repetition[0]
    assert doubtful < left[11] - 4


def test_headings_of_what_is_content_lose_nothing_by_repetition() -> None:
    evidence = SiteEvidence(100_000)
    body = "<h2>History</h2><h3>Early</h3><p>{}</p><h2>Related</h2><p>Menu</p><h2>End</h2>"
    scores = np.array([3.0, 2.0, 4.0, 2.0, -1.0, 2.0])
    for number in range(12):
        evidence.observe(page_of(body.format(chr(0x4E00 + number))), scores)
    lost = evidence.terms(page_of(body.format("one")), scores).repetition
    # What is not content follows the next one, nothing at all the last one.
    assert (lost < 0).tolist() == [False, False, False, True, True, True]
    doubtful = np.array([3.0, -6.0, 4.0, 2.0, -1.0, 2.0])
    lost = evidence.terms(page_of(body.format("one")), doubtful).repetition
    assert (lost < 0).tolist() == [True, True, False, True, True, True]


def test_items_among_content_lose_nothing_by_repetition() -> None:
    evidence = SiteEvidence(100_000)
    menu = "".join(f"<li>{name}" for name in ("Home", "News", "Sport"))
    body = f"<h2>Parts</h2><ul><li>Salt<li>Oil<li>{{0}} a</ul><ul>{menu}<li>{{0}} b</ul>"
    scores = np.full(8, 2.0)
    for number in range(12):
        evidence.observe(page_of(body.format(chr(0x4E00 + number))), scores)
    lost = evidence.terms(page_of(body.format("one")), scores).repetition
    # Of the first list one item of three is new, of the second one of four, which is no more.
    assert (lost < 0).tolist() == [False] * 4 + [True] * 3 + [False]


@pytest.mark.parametrize(
    "box",
    [
        "<h2>Early</h2>",
        "<div><h2>Early</h2><a href=/e>edit</a></div>",
        "<header><div><h3>Early</h3></div></header>",
    ],
)
def test_a_heading_in_boxes_of_its_own_stands_above_what_comes_next(box: str) -> None:
    body = f"<main>{box}<p>{{}}</main>"
    for below in (3.0, -3.0):
        evidence = SiteEvidence(100_000)
        scores = np.array([2.0, *[-2.0] * box.count("edit"), below])
        for number in range(12):
            evidence.observe(page_of(body.format(chr(0x4E00 + number))), scores)
        lost = evidence.terms(page_of(body.format("one")), scores).repetition
        assert (lost[0] < 0) == (below < 0)


def test_a_line_above_a_list_of_content_loses_nothing_by_repetition() -> None:
    evidence = SiteEvidence(100_000)
    body = "<p>You need</p><ul><li>{0} a</ul><p>Share</p><p>{0} b"
    scores = np.full(4, 2.0)
    for number in range(12):
        evidence.observe(page_of(body.format(chr(0x4E00 + number))), scores)
    lost = evidence.terms(page_of(body.format("one")), scores).repetition
    assert (lost < 0).tolist() == [False, False, True, False]


def test_data_tables_lose_neither_figures_nor_what_these_are_called() -> None:
    evidence = SiteEvidence(100_000)
    row = "<tr><th>Height<td>{0} m<td><a href=/h>More</a>"
    table = f"<table>{row}</table><table>{row.replace('{0} m', 'unknown')}</table>"
    scores = np.full(6, 2.0)
    for number in range(12):
        evidence.observe(page_of(table.format(number)), scores)
    lost = evidence.terms(page_of(table.format(99)), scores).repetition
    # What stands in a row of new figures is new, a link as well; of the second table nothing is.
    assert (lost < 0).tolist() == [False, False, False, True, True, True]


def test_names_of_a_definition_list_stay_with_what_they_name() -> None:
    evidence, body = SiteEvidence(100_000), "<dl><dt>Maker<dd>{} a<dt>Shape<dd>round</dl>"
    scores = np.full(4, 2.0)
    for number in range(12):
        evidence.observe(page_of(body.format(chr(0x4E00 + number))), scores)
    lost = evidence.terms(page_of(body.format("one")), scores).repetition
    assert lost.tolist() == [0] * 4


def test_sections_that_a_site_repeats_keep_their_headings() -> None:
    cleaner = SiteCleaner()
    names = ("History", "Geography", "Economy", "Culture")

    def town(number: int) -> str:
        chance = random.Random(number)
        sentences = (
            " ".join(chance.choices("river stone market bridge old people trade sea".split(), k=25))
            for _ in names
        )
        sections = "".join(
            f"<h2>{name}</h2><p>{text.capitalize()}, in {1500 + number}.</p>"
            for name, text in zip(names, sentences, strict=True)
        )
        return f"<nav><a href=/>Home</a></nav><main><h1>Town {number}</h1>{sections}</main>"

    for number in range(30):
        cleaner.observe(town(number))
    lines = cleaner.clean(town(31)).text.splitlines()
    assert [line for line in lines if line in names] == [*names]
    assert "Home" not in lines


def test_own_place_and_surroundings_count_apart() -> None:
    evidence = SiteEvidence(1000)
    evidence.observe(page_of("<div class=a><p>x</div>"), np.array([4.0]))
    inside = evidence.terms(page_of("<div class=a><h2>y</div>"), np.array([1.0]))
    at_once = evidence.terms(page_of("<div class=a><p>y</div>"), np.array([1.0]))
    elsewhere = evidence.terms(page_of("<div class=b><p>y</div>"), np.array([1.0]))
    pull = site_features.PLACE_WEIGHT * 1 / (1 + site_features.SUPPORT**2) * (4 - 1)
    assert inside.place == pytest.approx([pull])
    assert at_once.place == pytest.approx([2 * pull])
    assert (inside.place_pages[0], at_once.place_pages[0]) == (0, 1)
    assert as_lists(elsewhere) == {name: [0.0] for name in FIELDS}


def test_a_wrapper_far_up_moves_nothing() -> None:
    inner = "<div class=x>" * places.PLACE_LEVELS + "<p>"
    evidence = learn([page_of(f"{inner}a")])
    page = page_of(f"<main class=new>{inner}b")
    assert evidence.terms(page, scores_of(page)).place_pages.tolist() == [1]
    nearer = page_of("<main><div class=x><p>b")
    assert evidence.terms(nearer, scores_of(nearer)).place_pages.tolist() == [0]


def test_scores_are_clipped() -> None:
    evidence = SiteEvidence(1000)
    evidence.observe(page_of("<p>a"), np.array([1e6]))
    far = evidence.terms(page_of("<p>b"), np.array([-1e6])).place[0]
    assert far == pytest.approx(
        2 * site_features.PLACE_WEIGHT / (1 + site_features.SUPPORT**2) * 2 * site_features.CLIP
    )


def test_digits_and_capitals_make_no_new_text() -> None:
    evidence = learn([page_of("<p>12 Comments")])
    page = page_of("<p>7 comments</p><p>x")
    assert evidence.terms(page, scores_of(page)).text_pages.tolist() == [1, 0]


@pytest.mark.parametrize(
    "body",
    [
        *("<p>It ended {}:1.</p>", "<p>${}</p>", "<ul><li>{} eggs", "<table><tr><td>{} kg"),
        *("<pre>connect(port={})</pre>", "<p>Goals: {} to 1<br>Fouls: 12 to 7"),
    ],
)
def test_other_figures_are_another_text(body: str) -> None:
    evidence = learn([page_of(body.format(2))])
    shown = [evidence.terms(page_of(f"<b>x</b>{body.format(n)}"), np.zeros(2)) for n in (2, 3)]
    assert [terms.text_pages[1] for terms in shown] == [1, 0]


@pytest.mark.parametrize(
    "body", ["Goals: {} to 1, at 10:30", "On 12/{}", "March {}, 2026", "{} of us"]
)
def test_dates_times_and_counters_of_a_paragraph_make_no_new_text(body: str) -> None:
    evidence = learn([page_of(f"<p>{body.format(2)}")])
    page = page_of(f"<p>{body.format(3)}</p><b>x</b>")
    assert evidence.terms(page, np.zeros(2)).text_pages.tolist() == [1, 0]


def test_a_cell_is_that_of_its_row() -> None:
    rows = "<tr><td>Goals<td>{}<td>{}<tr><td>Cards<td>{}<td>{}"
    evidence = learn([page_of(f"<table>{rows.format(*'3142')}"), page_of("<table><tr><td>Goals")])
    page = page_of(f"<table>{rows.format(*'3132')}<tr><td>Goals")
    shown = evidence.terms(page, np.zeros(7)).text_pages.tolist()
    assert shown == [1, 1, 1, 0, 0, 0, 1]  # a cell alone in its row is itself
    long = "x" * fingerprints.LONGEST_ROW
    layout = [page_of(f"<table><tr><td>Menu<td>{long}{letter}") for letter in "ab"]
    assert learn(layout[:1]).terms(layout[1], np.zeros(2)).text_pages.tolist() == [1, 0]


def test_classes_of_sections_hide_no_repetition() -> None:
    bodies = [f"<div class='story story--{s}'><p>Support us<p>{s}</div>" for s in ("war", "sea")]
    evidence, pages = learn([page_of(body) for body in bodies]), list(map(page_of, bodies))
    for page in pages:
        terms = evidence.terms(page, np.zeros(2))
        assert terms.text_pages.tolist() == [1, 0]
        # As many pages as have the layout, of which none has the place.
        assert terms.repetition[0] == pytest.approx(slow_repetition(1, 0, 0.0))


def test_a_text_votes_where_it_stands() -> None:
    evidence = learn([page_of(f"<aside><p>The fog</p></aside><p>{word}") for word in "abc"])
    page = page_of("<p>The fog</p><aside><p>The fog</p><b>The fog</b></aside><div>The fog")
    terms = evidence.terms(page, scores_of(page))
    assert terms.text_pages.tolist() == [0, 3, 0, 0]
    assert (terms.repetition < 0).tolist() == [False, True, False, False]


def test_a_text_is_rare_among_the_pages_of_its_layout() -> None:
    """Of 20 pages 4 have the new design, and all of these show its menu."""
    old = [page_of(f"<nav>Home</nav><p>{chr(0x4E00 + n)}") for n in range(16)]
    new = [page_of(f"<ul><li>Start</ul><div>{chr(0x5E00 + n)}</div>") for n in range(4)]
    evidence = learn(old + new)
    for pages, others in ((old, 15), (new, 3)):
        scores = scores_of(pages[0])
        terms = evidence.terms(pages[0], scores)
        assert terms.text_pages.tolist() == [others, 0]
        assert terms.repetition[0] == pytest.approx(slow_repetition(others, others, scores[0]))


def test_a_page_does_not_vote_on_itself() -> None:
    pages = [page_of(body) for body, _ in STORIES]
    for index, page in enumerate(pages):
        scores = scores_of(page)
        with_it, without = learn(pages), learn(pages[:index] + pages[index + 1 :])
        assert as_lists(with_it.terms(page, scores)) == as_lists(without.terms(page, scores))
        alone = learn([page]).terms(page, scores)
        assert as_lists(alone) == dict.fromkeys(FIELDS, [0.0] * len(page.blocks))


def test_a_new_page_hears_all_votes() -> None:
    pages = [page_of(body) for body, _ in STORIES]
    new = page_of(f"{MENU}<div class=story><p>Snow</p></div>")
    terms = learn(pages).terms(new, scores_of(new))
    assert terms.place_pages.tolist() == terms.text_pages[:1].tolist() * 2 == [3, 3]
    assert terms.repetition[0] == pytest.approx(slow_repetition(3, 3, scores_of(new)[0]))


def test_a_page_seen_twice_votes_once() -> None:
    pages = [page_of(body) for body, _ in STORIES]
    twice, once = learn([*pages, pages[1], pages[2], pages[1]]), learn(pages)
    assert twice.pages == 6
    assert {**twice.state(), "pages": 3} == once.state()
    merged = learn(pages)
    merged.merge(once)
    assert {**merged.state(), "pages": 3} == once.state()
    redesigned = page_of("<p>Home</p><table><tr><td>Rain</td></tr><tr><td>Wind</td></tr></table>")
    assert len(learn([*pages, redesigned]).sample.votes) == 4
    later = page_of(STORIES[1][0].replace("Rain", "RAIN"))
    assert len(learn([*pages, later]).sample.votes) == 3


WORDS = [f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300)]


def near_copies(number: int) -> list[Page]:
    """Pages of one story of 300 words; in each another one of the words is changed."""
    copies = [[*WORDS[:n], f"changed{n}x", *WORDS[n + 1 :]] for n in range(number)]
    return [page_of(f"<nav>Home</nav><p>{' '.join(words)}") for words in copies]


def scored(page: Page) -> np.ndarray:
    return np.array([3.0 if len(block.text) > 40 else -3.0 for block in page.blocks])


def test_near_copies_vote_once() -> None:
    evidence = SiteEvidence(100_000)
    for page in near_copies(100):
        evidence.observe(page, scored(page))
    assert len(evidence.sample.votes) <= 25  # each has its own signature with probability 0.2
    victim = page_of(f"<nav>Home</nav><p>{' '.join(WORDS)}")
    assert evidence.terms(victim, scored(victim)).text_pages[0] < len(evidence.sample.votes)
    titled = build_page("<title>Another story</title><nav>Home</nav><p>" + " ".join(WORDS))
    before = len(evidence.sample.votes)
    evidence.observe(titled, scored(titled))
    assert len(evidence.sample.votes) == before + 1


@pytest.mark.parametrize(
    ("html", "is_above"),
    [
        ("<h2>News</h2><p>It rained.", True),
        ("<div><h2>News</h2></div><p>It rained.", True),
        ("<div><p>Menu</p><h2>News</h2></div><p>It rained.", False),
        ("<div><h2>News</h2><p>Menu</p><p>More</p></div><p>It rained.", False),
        ("<p>News</p><p>It rained.", False),
        ("<p> <b>News</b> <br></p><p>It rained.", True),
        ("<p><strong>Ne<i>w</i>s</strong></p><p>It rained.", True),
        ("<p><strong>News</strong></p><p>Menu</p><p>It rained.", False),
        ("<p><b>Ne</b>ws</p><p>It rained.", False),
        ("<p><b>Ne</b><b>ws</b></p><p>It rained.", False),
        ("<p><b><a href=/n>News</a></b></p><p>It rained.", False),
        ("<p><b>News:</b></p><p>It rained.", False),
    ],
)
def test_a_heading_is_above_content_where_it_fills_its_box(html: str, is_above: bool) -> None:
    page = page_of(html)
    texts = page.table.texts
    is_content = np.array([text == "It rained." for text in texts])
    arrays, number = (
        page_arrays(page),
        next(n for n, text in enumerate(texts) if text.startswith("News")),
    )
    found = site_features._is_above_content(arrays, page.table, number, is_content)
    assert found is is_above


def test_of_near_copies_the_same_one_votes_in_any_order() -> None:
    pages = near_copies(12)
    found = []
    for order in (pages, pages[::-1], pages[6:] + pages[:6]):
        evidence = SiteEvidence(100_000)
        for page in order:
            evidence.observe(page, scored(page))
        found.append({name: votes.rank for name, votes in evidence.sample.votes.items()})
    assert found[0] == found[1] == found[2]
    assert len(found[0]) < len(pages)


@examples
@given(st.binary(min_size=near_duplicates.SHINGLE, max_size=120))
def test_min_hashes_are_as_defined(data: bytes) -> None:
    assert tuple(near_duplicates._min_hashes(data)) == slow_min_hashes(data)


def test_pages_without_blocks() -> None:
    empty = page_of("")
    evidence = learn([empty, page_of("<p>a")])
    assert as_lists(evidence.terms(empty, np.zeros(0))) == {name: [] for name in FIELDS}
    assert evidence.pages == 2


# (b) The fast implementation and the definition.


@examples
@given(sites())
def test_fast_is_as_defined(bodies: list[str]) -> None:
    pages = [page_of(body) for body in bodies]
    slow, fast = SlowSite(), SiteEvidence(100_000)
    for page in pages[1:]:  # the first is judged without having been observed
        slow.observe(page, scores_of(page).tolist())
        fast.observe(page, scores_of(page))
    for page in pages:
        expected = slow.terms(page, scores_of(page).tolist())
        terms = fast.terms(page, scores_of(page))
        for name in FIELDS:
            assert getattr(terms, name).tolist() == pytest.approx(expected[name], abs=1e-5)
    assert len(fast.sample.votes) == len(slow.pages)


@examples
@given(sites())
def test_terms_keep_their_bounds(bodies: list[str]) -> None:
    pages = [page_of(body) for body in bodies]
    evidence = learn(pages)
    for page in pages:
        scores = scores_of(page)
        terms = evidence.terms(page, scores)
        assert (terms.repetition <= 0).all()
        assert (
            terms.repetition >= -site_features.REPETITION - site_features.COMMON_REPETITION
        ).all()
        reach = [
            2 * site_features.PLACE_WEIGHT * (site_features.CLIP + abs(clipped(score)))
            for score in scores
        ]
        assert (np.abs(terms.place) <= np.array(reach)).all()
        assert (terms.place_pages <= evidence.pages).all()
        assert (terms.text_pages <= evidence.pages).all()


# (c) Order, merging, forgetting, bounds.


@examples
@given(sites(), st.randoms(use_true_random=False), st.integers(0, 7))
def test_order_and_halves_do_not_matter(bodies: list[str], random: Any, cut: int) -> None:
    pages = [page_of(body) for body in bodies]
    shuffled = random.sample(pages, len(pages))
    half, rest = learn(shuffled[:cut]), learn(shuffled[cut:])
    turned = learn(shuffled[cut:])
    turned.merge(half)
    half.merge(rest)
    assert learn(pages).state() == learn(shuffled).state() == half.state() == turned.state()


@examples
@given(sites(), st.integers(0, 7), st.integers(0, 7))
def test_merging_is_associative(bodies: list[str], one: int, two: int) -> None:
    pages = [page_of(body) for body in bodies]
    low, high = sorted((one, two))
    parts = [pages[:low], pages[low:high], pages[high:]]
    left, middle, right = map(learn, parts)
    left.merge(middle)
    left.merge(right)
    first, second, third = map(learn, parts)
    second.merge(third)
    first.merge(second)
    assert first.state() == left.state()


def test_equal_bytes_in_any_order_and_merged() -> None:
    pages = [page_of(body) for body, _ in STORIES]
    whole = cleaner_of(pages).to_bytes()
    for order in permutations(pages):
        assert cleaner_of(list(order)).to_bytes() == whole
        for cut in range(len(order) + 1):
            half = cleaner_of(list(order[:cut]))
            half.merge(cleaner_of(list(order[cut:])))
            assert half.to_bytes() == whole
    copied = SiteCleaner.from_bytes(whole)
    assert copied.to_bytes() == whole
    new = page_of(f"{MENU}<div class=story><p>Snow</p></div>")
    assert copied.model().judge(new) == cleaner_of(pages).model().judge(new)


def test_merging_does_not_touch_the_other() -> None:
    one, other = learn([page_of(STORIES[0][0])]), learn([page_of(STORIES[1][0])])
    before = copy.deepcopy(other.state())
    one.merge(other)
    one.observe(page_of(STORIES[2][0]), scores_of(page_of(STORIES[2][0])))
    assert other.state() == before


def test_forgetting() -> None:
    pages = [page_of(body) for body, _ in STORIES]
    evidence, full = learn(pages), learn(pages)
    evidence.decay(0.5)
    assert evidence.pages == 1.5
    new = page_of(f"{MENU}<div class=story><p>Snow</p></div>")
    terms, before = (e.terms(new, scores_of(new)) for e in (evidence, full))
    assert (terms.place_pages * 2).tolist() == before.place_pages.tolist()
    assert (terms.text_pages * 2).tolist() == before.text_pages.tolist()
    assert (np.abs(terms.total) <= np.abs(before.total) + 1e-12).all()
    assert terms.repetition[0] == pytest.approx(slow_repetition(1.5, 1.5, scores_of(new)[0]))


def test_forgetting_moves_no_mean() -> None:
    """On a place where all pages agree the mean stays, only its support shrinks."""
    evidence = SiteEvidence(1000)
    for word in "abcdefgh":
        evidence.observe(page_of(f"<p>{word}"), np.array([3.0]))
    new, known = page_of("<p>new"), page_of("<p>a")
    for _ in range(3):
        evidence.decay(0.75)
        for page in (new, known):
            terms = evidence.terms(page, np.array([3.0]))
            assert terms.place[0] == pytest.approx(0, abs=1e-12)
            assert terms.place_pages[0] <= evidence.pages


def test_a_redesign_wins_after_forgetting() -> None:
    """The old verdict on a place weighs less than the new one."""
    evidence = SiteEvidence(1000)
    for word in "abcd":
        evidence.observe(page_of(f"<p>{word}"), np.array([-4.0]))
    evidence.decay(0.25)
    for word in "efg":
        evidence.observe(page_of(f"<p>{word}"), np.array([4.0]))
    assert evidence.terms(page_of("<p>h"), np.array([0.0])).place[0] > 0


def plain(number: int) -> Page:
    return page_of(f"<ul><li>Home</ul><p>{chr(0x4E00 + number)}")


def redesigned(number: int) -> Page:
    return page_of(f"<ol><li>Start</ol><div>{chr(0x6E00 + number)}</div>")


def test_votes_are_bounded() -> None:
    evidence = SiteEvidence(20 * site_features.ENTRIES)
    for number in range(300):
        page = plain(number)
        evidence.observe(page, scores_of(page))
        assert len(evidence.sample.votes) <= 25
    assert evidence.pages == 300
    assert len(evidence.state()["votes"]) == 20
    assert max(evidence.texts.values()) == 20
    assert len(evidence.texts) == 21
    smaller = SiteEvidence(5 * site_features.ENTRIES)
    smaller.restore(evidence.state())
    assert len(smaller.sample.votes) == 5


def test_a_page_votes_on_a_bounded_number_of_texts_and_places() -> None:
    body = "".join(f"<i{n}><p>{chr(0x4E00 + n)}</i{n}>" for n in range(2 * sample.MOST_KEYS))
    evidence = learn([page_of(body)])
    assert len(evidence.texts) == len(evidence.place_sums) == sample.MOST_KEYS


@given(st.lists(st.integers(0, 60), max_size=60), st.randoms(use_true_random=False))
@examples
def test_the_sample_depends_on_the_pages_alone(numbers: list[int], random: Any) -> None:
    pages = [redesigned(n) if n % 7 == 0 else plain(n) for n in numbers]
    shuffled = random.sample(pages, len(pages))
    cut = random.randint(0, len(pages))
    small = 10 * site_features.ENTRIES
    half = learn(shuffled[:cut], small)
    half.merge(learn(shuffled[cut:], small))
    whole = learn(pages, small)
    assert whole.state() == learn(shuffled, small).state() == half.state()
    counted = SiteEvidence(small)
    counted.restore(whole.state())
    assert counted.texts == whole.texts
    assert counted.place_pages == whole.place_pages
    assert counted.place_sums == whole.place_sums


def test_a_new_design_is_in_the_sample_after_many_pages() -> None:
    small = 40 * site_features.ENTRIES
    evidence = learn([*map(plain, range(500)), *map(redesigned, range(12))], small)
    assert evidence.terms(redesigned(20), scores_of(redesigned(20))).text_pages[0] >= 10
    assert evidence.terms(plain(600), scores_of(plain(600))).text_pages[0] >= 25


def test_many_layouts_do_not_crowd_out_the_site() -> None:
    """Half of the sample is drawn from all pages alike."""
    small = 40 * site_features.ENTRIES
    odd = [page_of(f"<x{n}x><p>{chr(0x6E00 + n)}") for n in range(300)]
    evidence = learn([*map(plain, range(300)), *odd], small)
    assert evidence.terms(plain(600), scores_of(plain(600))).text_pages[0] >= 5


def test_the_bound_holds_through_the_cleaner() -> None:
    pages = [plain(number) for number in range(26)]
    state = json.loads(payload(cleaner_of(pages, max_tree_nodes=6 * site_features.ENTRIES)))[
        "state"
    ]
    assert len(state["votes"]) == 6
    assert state["pages"] == 26


# (d) State.


def payload(learner: SiteCleaner) -> str:
    data = learner.to_bytes()
    start = len(cleaner._MAGIC) + DIGEST_SIZE
    return zlib.decompress(data[start:]).decode()


def packed(state: Any) -> bytes:
    """Bytes with a right checksum, whatever they hold."""
    body = zlib.compress(json.dumps(state).encode())
    return cleaner._MAGIC + digest(body) + body


@examples
@given(sites())
def test_state_goes_through_json(bodies: list[str]) -> None:
    pages = [page_of(body) for body in bodies]
    evidence, copied = learn(pages), SiteEvidence(100_000)
    copied.restore(json.loads(json.dumps(evidence.state())))
    assert copied.state() == evidence.state()
    for page in pages:
        ours, theirs = (e.terms(page, scores_of(page)) for e in (evidence, copied))
        assert as_lists(ours) == as_lists(theirs)


KEY = "0123456789abcdef"


@pytest.mark.parametrize(
    "damage",
    [
        {"pages": -1},
        {"pages": float("nan")},
        {"pages": True},
        {"pages": "1"},
        {"pages": None},
        {"keys": None},
        {"keys": 1},
        {"keys": [1]},
        {"keys": {KEY: 1}, "votes": [[KEY, KEY, 1.0, [1], [], []]]},
        {"keys": [KEY.upper()]},
        {"keys": [KEY[1:]]},
        {"keys": [KEY + "\n"]},
        {"votes": None},
        {"votes": 1},
        {"votes": [1]},
        {"votes": [[]]},
        *(
            {"keys": [KEY, KEY[::-1]], "votes": votes}
            for votes in (
                [[KEY, KEY, 1.0, [0], [0]]],
                [[KEY, KEY, 1.0, [0], [0], [5], 1]],
                [["x", KEY, 1.0, [0], [0], [5]]],
                [[KEY, 7, 1.0, [0], [0], [5]]],
                [[KEY, KEY, 0.0, [0], [0], [5]]],
                [[KEY, KEY, -1.0, [0], [0], [5]]],
                [[KEY, KEY, 2.0, [0], [0], [5]]],
                [[KEY, KEY, float("nan"), [0], [0], [5]]],
                [[KEY, KEY, True, [0], [0], [5]]],
                [[KEY, KEY, 1.0, [2], [0], [5]]],
                [[KEY, KEY, 1.0, [-1], [0], [5]]],
                [[KEY, KEY, 1.0, [True], [0], [5]]],
                [[KEY, KEY, 1.0, [0, 0], [0], [5]]],
                [[KEY, KEY, 1.0, [1, 0], [0], [5]]],
                [[KEY, KEY, 1.0, None, [0], [5]]],
                [[KEY, KEY, 1.0, [0], [0], []]],
                [[KEY, KEY, 1.0, [0], [0], [5.5]]],
                [[KEY, KEY, 1.0, [0], [0], ["5"]]],
                [[KEY, KEY, 1.0, [0], [0], [10**4000]]],
                [[KEY, KEY, 1.0, [0], [0], [5]]] * 2,
            )
        ),
    ],
)
def test_bad_states_are_refused(damage: dict[str, Any]) -> None:
    learner = cleaner_of([page_of(body) for body, _ in STORIES])
    good = json.loads(payload(learner))
    with pytest.raises(TreeDataError):
        SiteCleaner.from_bytes(packed({**good, "state": {**good["state"], **damage}}))
    evidence = learn([page_of("<p>a")])
    before = copy.deepcopy(evidence.state())
    with pytest.raises((KeyError, TypeError, ValueError)):
        evidence.restore({**before, **damage})
    with pytest.raises(KeyError):
        evidence.restore({key: value for key, value in before.items() if key not in damage})
    assert evidence.state() == before


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=16), st.just(KEY)
    ),
    lambda below: st.one_of(
        st.lists(below, max_size=3), st.dictionaries(st.text(max_size=16), below, max_size=3)
    ),
    max_leaves=5,
)


def replaced(draw: st.DrawFn, value: Any) -> Any:
    """The value with one part of it, however deep, made another or taken away."""
    if isinstance(value, (dict, list)) and value and draw(st.integers(0, 3)):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = draw(st.sampled_from(keys))
        changed = copy.copy(value)
        if draw(st.integers(0, 4)) == 0:
            del changed[key]
        else:
            changed[key] = replaced(draw, value[key])
        return changed
    return draw(JSON)


@st.composite
def damaged(draw: st.DrawFn, whole: Any) -> Any:
    return replaced(draw, whole)


LEARNED = json.loads(payload(cleaner_of([page_of(body) for body, _ in STORIES])))


@examples
@given(damaged(LEARNED["state"]))
def test_changed_states_are_refused_or_work(state: Any) -> None:
    try:
        read = SiteCleaner.from_bytes(packed({**LEARNED, "state": state}))
    except TreeDataError:
        return
    page = page_of(STORIES[0][0])
    judged = read.model().judge(page)
    assert all(0 <= verdict.score <= 1 for verdict in judged.verdicts)
    assert SiteCleaner.from_bytes(read.to_bytes()).to_bytes() == read.to_bytes()


# Crossheads


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("<p>Which book changed your life?", True),
        ("<p>どの本ですか？", True),
        ("<p><u>Books", True),
        ("<p class=question>Books", True),
        ("<p class='text story-crosshead'>Books", True),
        ("<p>Books", False),
        ("<p class=questionable>Books", False),
        ("<p class=question>Books:", False),
        ("<p><a href=/books>Which book changed your life?</a>", False),
    ],
)
def test_a_line_that_is_a_heading_stays_above_content(line: str, stays: bool) -> None:
    evidence, scores = SiteEvidence(100_000), np.full(2, 2.0)
    for number in range(12):
        evidence.observe(page_of(f"{line}<p>{chr(0x4E00 + number)}"), scores)
    lost = evidence.terms(page_of(f"{line}<p>one"), scores).repetition
    assert (lost < 0).tolist() == [not stays, False]


# Inserts


@pytest.mark.parametrize(
    ("attributes", "is_insert"),
    [
        ("p class=newsletter", True),
        ("p class='text read-also'", True),
        ("div class='ad ad-4' id=ad-99", True),
        ("div id=advertisement", True),
        ("p class=newsletter-signup__text", True),
        ("h3 class=advert", False),
        ("p", False),
        ("p class=address", False),
        ("p class=head", False),
        ("p class='lead already'", False),
        ("div class=broadsheet", False),
    ],
)
def test_what_a_site_calls_an_insert_loses_where_other_pages_have_it(
    attributes: str, is_insert: bool
) -> None:
    tag = attributes.split()[0]
    story = "<p>Fog closes the port of the island for the {}th day"
    bodies = [f"{story.format(n)}<{attributes}>Read {n * 'on '}</{tag}>" for n in range(1, 5)]
    pages = list(map(page_of, bodies))
    alone, terms, scores = learn(pages[:1]), learn(pages), np.full(2, 2.0)
    for page in pages:
        assert alone.terms(pages[0], scores).insert.tolist() == [0, 0]
        lost = terms.terms(page, scores).insert.tolist()
        assert lost[1] == pytest.approx(-site_features.INSERT if is_insert else 0)


def test_what_the_page_is_about_is_no_insert() -> None:
    """A classified advertisement, or a letter in an archive of newsletters."""
    body = "<h1>Lamp</h1><p class=ad-description>An old lamp of a storm, {}<p>Year: {}"
    pages = [page_of(body.format(chr(0x4E00 + number) * 9, 2000 + number)) for number in range(12)]
    evidence = learn(pages)
    scores = np.array([2.0, 2.0, 2.0])
    assert evidence.terms(pages[0], scores).insert[1] == 0
    # By the page alone it is none of the content.
    scores[1] = -0.5
    assert evidence.terms(pages[0], scores).insert[1] == pytest.approx(-site_features.INSERT)
