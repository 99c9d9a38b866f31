"""The method `evidence` as a whole: cold start, explanations, options, hostile input, a site."""

from __future__ import annotations

import json
import math
import pickle
import random
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_project.demo import DemoPage, DemoSite
from example_project.scoring import score
from noiseclean_scrapy import CleanPage, SiteCleaner
from noiseclean_scrapy.errors import ConfigurationError, TreeDataError
from noiseclean_scrapy.methods import METHODS, method_parameters
from noiseclean_scrapy.methods.evidence import EvidenceMethod, SiteModel
from noiseclean_scrapy.methods.evidence_model import exclusions, site_features
from noiseclean_scrapy.methods.evidence_model.context_features import CONTEXT
from noiseclean_scrapy.methods.evidence_model.exclusions import SHORT_CELL
from noiseclean_scrapy.methods.evidence_model.explanation import STRONGEST
from noiseclean_scrapy.methods.evidence_model.model import load_model
from noiseclean_scrapy.methods.evidence_model.page_features import PAGE, PageFeatures
from noiseclean_scrapy.methods.evidence_model.plain_reasons import _GROUPS, _TOPICS, plain_reasons
from noiseclean_scrapy.methods.evidence_model.site_features import SiteEvidence
from noiseclean_scrapy.methods.evidence_model.threshold import (
    LEANS,
    LEAST_TEXT,
    MUCH_TEXT,
    behind_the_end,
    reach,
    stand_apart,
    table_holes,
    threshold,
)
from noiseclean_scrapy.methods.evidence_model.tree_index import PageArrays
from noiseclean_scrapy.page import Page, build_page
from tests.support.slow_evidence import slow_apart
from tests.support.slow_small_sites import examples, random_bodies

THINGS = "ferries lanterns bakeries ropes gulls sailors timber tides anchors nets".split()
MENU = "".join(f"<li><a href=/{thing}>{thing.title()}</a>" for thing in THINGS)
NAV = f"<nav class=menu><ul>{MENU}</ul></nav>"
STORY = "".join(
    f"<p>The harbour master said on Monday that the {thing} of the old pier would be away until "
    f"the end of the winter, because storms had washed out its stones. The council agreed.</p>"
    for thing in THINGS[:6]
)
COMMENTS = "".join(
    f"<div class=comment><b>Reader {thing[0]}</b><p>I think that the {thing} were a waste of "
    f"money, and that the council should have known so long ago. They never listen!</p></div>"
    for thing in THINGS[:5]
)
COMMENTS = f"<section class=comments id=comments><h3>Comments</h3>{COMMENTS}</section>"
FIGURE = (
    "<figure><img src=pier.jpg><figcaption>The old pier in the storm of last winter, seen from "
    "the lighthouse.</figcaption></figure>"
)
TABLE = "".join(f"<tr><td>{1990 + n}<td>{n * 37} ships" for n in range(8))
TABLE = f"<table class=data><tr><th>Year<th>Ships{TABLE}</table>"
LINKS = "".join(
    f"<li><a href=/all/{thing}>All about the {thing} of the town and its people</a>"
    for thing in THINGS[:4]
)
FOOTER = "<footer class=footer>Copyright 2031 Harbour Times. All rights reserved.</footer>"


def article(story: str = STORY, after: str = "") -> str:
    return (
        f"<html><head><title>Old pier closes for repairs</title></head><body>{NAV}"
        f"<article><h1>Old pier closes for repairs</h1>{story}</article>{after}{FOOTER}"
    )


FULL = article(STORY + FIGURE + TABLE + f"<ul>{LINKS}</ul>", COMMENTS)
DISCUSSION = f"<html><head><title>Piers</title></head><body>{NAV}{COMMENTS}{FOOTER}"


MOVES = {
    "neighbours: stands apart from the main text": "outside of the main text",
    "neighbours: most of its table is kept": "most of its table is kept",
}


def clean(source: str, learned: tuple[str, ...] = (), **options: Any) -> CleanPage:
    cleaner = SiteCleaner("evidence", **options)
    for page in learned:
        cleaner.observe(page)
    return cleaner.clean(source)


def kept(page: CleanPage) -> list[int]:
    return [index for index, block in enumerate(page.blocks) if block.kept]


def page_alone(page: Page) -> list[float]:
    model = load_model()
    return list(map(float, model.score(model.features(page))))


def judged(page: Page, scores: list[float]) -> list[float]:
    """Log-odds with what blocks lose that stand apart, and gain in tables that are mostly kept.

    Comments that are left out are not sure.
    """
    features = load_model().features(page)
    kinds = {"comments": exclusions.comments(features)}
    found = exclusions.excluded(("comments",), kinds, features.lengths, np.array(scores))
    left_out = found.get("comments", np.zeros(len(scores), dtype=bool))
    chances = [
        0.0 if out else 1 / (1 + math.exp(-score))
        for score, out in zip(scores, left_out, strict=True)
    ]
    apart = slow_apart(page, chances, features.lengths.tolist())
    moved = [s - math.log(3) * is_apart for s, is_apart in zip(scores, apart, strict=True)]
    eligible = np.array(moved) >= 0
    holes = table_holes(PageArrays(page), eligible & ~left_out, features.lengths)
    return [1e-9 if hole else s for s, hole in zip(moved, holes & ~left_out, strict=True)]


def other_story(number: int) -> str:
    """A story of the same site in the same layout, with other words."""
    words = random.Random(number)
    sentences = (
        " ".join(words.choices(THINGS, k=14)).capitalize() + f", said {chr(0x391 + number)}."
        for _ in range(12)
    )
    return article("".join(f"<p>{sentence}</p>" for sentence in sentences))


def test_is_one_of_the_methods() -> None:
    assert METHODS["evidence"] is EvidenceMethod
    assert set(method_parameters("evidence")) >= {
        *("lean", "include_comments", "include_tables", "drop_captions", "drop_link_lists"),
        *("include_repeats", "max_tree_nodes"),
    }


# Page model and site.


@pytest.mark.parametrize("source", [FULL, DISCUSSION, article()])
def test_the_first_page_is_judged_by_itself(source: str) -> None:
    page = build_page(source)
    scores = judged(page, page_alone(page))
    expected = [1 / (1 + math.exp(-s)) for s in scores]
    for learned in ((), (source,), (source, source)):
        cleaner = SiteCleaner("evidence")
        for observed in learned:
            cleaner.observe(observed)
        verdicts = cleaner.model().judge(page).verdicts
        assert [v.score for v in verdicts] == pytest.approx(expected)
        assert [v.evidence["log_odds"] for v in verdicts] == pytest.approx(scores, abs=1e-3)
        assert all(v.evidence["site"] == 0 for v in verdicts)
    assert clean(source, (source,)).text == clean(source).text


@pytest.mark.parametrize("line", ["<p class=newsletter>", "<p>"])
@pytest.mark.parametrize("text", ["", "Subscribe to the letter of the harbour"])
def test_what_the_site_says_is_told_by_name(line: str, text: str) -> None:
    """All parts of it are named, and plain words are told of those that count."""
    pages = [
        f"<h1>Fog {number}</h1><p>{number} ferries stood, {'as people said, ' * number}on Monday"
        f"{line}{text or f'Letter {chr(0x4E00 + number)} of the harbour'}</p>"
        for number in range(2, 9)
    ]
    evidence = clean(pages[0], tuple(pages)).blocks[-1].evidence
    told = {name: part for name, part in evidence.items() if name.startswith("site: ")}
    assert sum(told.values()) == pytest.approx(evidence["site"])
    called = "the site calls it an advert, a newsletter or the like"
    is_insert = "newsletter" in line
    assert evidence.get(f"because: {called}") == (-site_features.INSERT if is_insert else None)


def test_other_pages_change_what_is_thought_of_repeated_text() -> None:
    stories = tuple(other_story(number) for number in range(4))
    alone, learned = clean(article()), clean(article(), stories)
    menu = [i for i, block in enumerate(alone.blocks) if "/nav" in block.xpath]
    assert menu
    for index in menu:
        evidence = learned.blocks[index].evidence
        assert evidence["site: this text on 4 other pages"] < 0
        assert evidence["site: this place on 4 other pages"] <= evidence["site"] + 10
        assert learned.blocks[index].score <= alone.blocks[index].score + 0.05
    for block in learned.blocks:
        if "said on Monday" in block.text:
            assert not any("this text" in name for name in block.evidence)
            assert block.kept


def test_scores_are_page_and_site_together() -> None:
    stories = [build_page(other_story(number)) for number in range(3)]
    method = EvidenceMethod()
    for story in stories:
        method.observe(story)
    page = build_page(article())
    alone = np.array(page_alone(page))
    total = np.array(judged(page, (alone + method.site.terms(page, alone).total).tolist()))
    verdicts = method.model().judge(page).verdicts
    assert [v.score for v in verdicts] == pytest.approx((1 / (1 + np.exp(-total))).tolist())
    assert all(v.kept == (v.evidence["log_odds"] >= v.evidence["threshold"]) for v in verdicts)
    assert [v.evidence["log_odds"] for v in verdicts] == pytest.approx(total.tolist(), abs=1e-3)


def test_fit_tells_whether_places_are_known() -> None:
    stories = tuple(other_story(number) for number in range(3))
    assert clean(article()).fit == 1
    assert clean(article(), stories).fit == pytest.approx(1)
    moved = article().replace("<p>", "<div class=new-look>").replace("</p>", "</div>")
    assert clean(moved, stories).fit < 0.5
    assert clean("", stories).fit == 1


def test_the_model_does_not_see_what_is_learned_later() -> None:
    method = EvidenceMethod()
    method.observe(build_page(other_story(0)))
    page = build_page(article())
    model = method.model()
    before = model.judge(page)
    method.observe(build_page(other_story(1)))
    method.decay(0.5)
    assert model.judge(page) == before


def test_images_are_no_text() -> None:
    page = clean("<img src=a.gif><div><img src=b.gif></div>")
    assert (page.blocks, page.text) == ((), "")
    mixed = clean(article(STORY.replace("<p>", "<p><img src=a.gif><br><br>")))
    assert all(block.text for block in mixed.blocks)


# Explanations.


def test_explanations_add_up() -> None:
    stories = tuple(other_story(number) for number in range(3))
    for learned in ((), stories):
        for block in clean(FULL, learned).blocks:
            evidence = block.evidence
            parts = [evidence[kind] for kind in ("prior", "page", "neighbours", "site")]
            assert sum(parts) == pytest.approx(evidence["log_odds"], abs=1e-6)
            assert 1 / (1 + math.exp(-evidence["log_odds"])) == pytest.approx(block.score, abs=1e-4)
            assert all(math.isfinite(value) for value in evidence.values())
            plain = {name for name in evidence if name.startswith("because: ")}
            assert plain
            named = [name for name in evidence if ": " in name and name not in plain]
            assert all(name.split(": ")[0] in ("page", "neighbours", "site") for name in named)
            of_site = [evidence[name] for name in named if name.startswith("site: ")]
            assert sum(of_site) == pytest.approx(evidence["site"], abs=1e-9)
            moves = MOVES.keys() & set(named)
            assert all(f"because: {MOVES[move]}" in plain for move in moves)
            assert len(named) - len(of_site) - len(moves) == STRONGEST
            assert bool(of_site) <= bool(learned)


@pytest.mark.parametrize(
    ("name", "value", "against"),
    [
        ("text_position", 0.95, "near the end of the page"),
        ("text_position", 0.01, "at the top of the page"),
        ("text_position", 0.5, ""),
        ("section_link_share", 0.8, "below a heading with mostly links"),
        ("section_link_share", 0.1, ""),
        ("separators", 4.0, "words with signs between them"),
        ("any:anchor", 1.0, "inside a link"),
        ("page_cells", 9.0, ""),
    ],
)
def test_words_are_those_of_the_value(name: str, value: float, against: str) -> None:
    for change, words in ((-1.0, against), (1.0, "")):
        told = dict(plain_reasons([(name, value)], [(name, change)]))
        assert told == ({words: change} if words else {})


def test_every_pattern_of_a_topic_names_a_feature() -> None:
    names = PAGE.names + CONTEXT.names
    for pattern, _ in _TOPICS:
        assert any(re.fullmatch(pattern, name) for name in names), pattern
    kinds = {name.partition(":")[2] for name in names}
    assert _GROUPS.keys() <= kinds


def test_named_features_are_the_strongest() -> None:
    model = load_model()
    matrix = model.matrix(model.features(build_page(article())))
    for row, block in zip(matrix, clean(article()).blocks, strict=True):
        [changes] = load_model().together.changes(row[None])
        named = [
            abs(value)
            for name, value in block.evidence.items()
            if name.startswith(("page: ", "neighbours: ")) and name not in MOVES
        ]
        assert named == pytest.approx(np.sort(np.abs(changes))[::-1][:STRONGEST].tolist())


def test_explanations_are_mappings() -> None:
    block = clean(article()).blocks[0]
    evidence = block.evidence
    assert isinstance(evidence, Mapping)
    assert len(evidence) == len(list(evidence)) == len(dict(evidence))
    assert evidence == dict(evidence)
    assert repr(evidence) == repr(dict(evidence))
    assert "log_odds" in evidence
    assert "nothing" not in evidence
    assert evidence.get("nothing") is None
    with pytest.raises(KeyError):
        evidence["nothing"]
    assert json.loads(json.dumps(dict(evidence))) == evidence


@pytest.mark.parametrize("looked_at", [True, False])
def test_clean_pages_can_be_pickled(looked_at: bool) -> None:
    page = clean(FULL, (article(), other_story(1)))
    if looked_at:
        assert all(len(block.evidence) for block in page.blocks)
    copied = pickle.loads(pickle.dumps(page))
    assert copied == page
    assert [dict(b.evidence) for b in copied.blocks] == [dict(b.evidence) for b in page.blocks]


def test_models_and_methods_can_be_pickled() -> None:
    cleaner = SiteCleaner("evidence", lean="recall")
    cleaner.observe(article())
    copied = pickle.loads(pickle.dumps(cleaner))
    assert copied.to_bytes() == cleaner.to_bytes()
    assert copied.clean(FULL).text == cleaner.clean(FULL).text


# Options.


@pytest.mark.parametrize("learned", [0, 4])
@pytest.mark.parametrize("source", [FULL, DISCUSSION, article(), "<p>a</p><p>b c</p>"])
def test_leans_are_in_order(source: str, learned: int) -> None:
    stories = tuple(other_story(number) for number in range(learned))
    precise, balanced, complete = (
        clean(source, stories, lean=lean) for lean in ("precision", "balanced", "recall")
    )
    assert set(kept(precise)) <= set(kept(balanced)) <= set(kept(complete))
    assert LEANS["precision"] > LEANS["balanced"] > LEANS["recall"]
    assert [b.score for b in precise.blocks] == [b.score for b in complete.blocks]
    assert clean(source, stories).text == balanced.text


def test_a_block_is_kept_from_the_threshold_on() -> None:
    for name, lean in LEANS.items():
        page = clean(FULL, lean=name, include_comments=True)
        (least,) = {block.evidence["threshold"] for block in page.blocks}
        assert 1 / (1 + math.exp(-least)) <= lean + 1e-9
        assert all(
            block.kept == (block.evidence["log_odds"] >= least)
            for block in page.blocks
            if block is not page.headline and abs(block.evidence["log_odds"] - least) > 1e-3
        )


def test_what_stands_apart_by_hand() -> None:
    page = build_page(
        "<nav><a>Home</a></nav><article><h1>Fog</h1><p>It rose.</p><p>It fell.</p><h3>Sums</h3>"
        "</article><div><p>Teaser</p></div><section><article><p>More</p></article></section>"
    )
    texts = "Home Fog It It Sums Teaser More".split()
    assert [block.text.split()[0] for block in page.blocks] == texts
    arrays, lengths = PageArrays(page), np.full(7, 100.0)
    chances = np.array([0.1, 0.6, 0.8, 0.75, 0.3, 0.7, 0.7])
    # Of the teaser the place is P in DIV; of the last block it is that of the story's paragraphs.
    assert stand_apart(arrays, chances, lengths).tolist() == [1, 0, 0, 0, 0, 1, 0]
    chances[6] = 0.9  # two thirds of what is sure are in the article, so all of it is in BODY
    assert not stand_apart(arrays, chances, lengths).any()
    lengths[6] = 20  # 200 of 220 characters are
    assert stand_apart(arrays, chances, lengths).tolist() == [1, 0, 0, 0, 0, 1, 0]
    assert not stand_apart(arrays, chances, lengths - 20).any()  # 160 sure characters are too few
    lengths[5] = 770  # of the teaser, to 220 that are sure
    assert stand_apart(arrays, chances, lengths).tolist() == [1, 0, 0, 0, 0, 1, 0]
    lengths[5] = 771
    assert not stand_apart(arrays, chances, lengths).any()


@examples
@given(random_bodies, st.randoms(use_true_random=False))
def test_what_stands_apart_is_what_one_block_at_a_time_tells(
    body: str, chance: random.Random
) -> None:
    page = build_page(f"{body}<p>a b")
    lengths = np.array([float(chance.choice((10, 100, 300))) for _ in page.blocks])
    chances = np.array([chance.choice((0.2, 0.7, 0.75, 0.9)) for _ in page.blocks])
    expected = slow_apart(page, chances.tolist(), lengths.tolist())
    assert stand_apart(PageArrays(page), chances, lengths).tolist() == expected


def test_what_is_behind_the_end_by_hand() -> None:
    noise = "".join(f"<li><a href=/{number}>n</a>" for number in range(4))
    page = build_page(
        f"<main><p>It rose.</p><p>It fell.</p><h3>Sums</h3></main><ul>{noise}</ul>"
        "<div><p>Next</p><pre>x = 1</pre><p hidden>y</p></div><main><p>More</p></main><p>Last</p>"
    )
    texts = "It It Sums n n n n Next x y More Last".split()
    assert [block.text.split()[0] for block in page.blocks] == texts
    lengths, eligible = np.full(12, 100.0), np.ones(12, dtype=bool)
    chances = np.array([0.8, 0.75, 0.6, *[0.2] * 4, 0.7, 0.7, 0.7, 0.7, 0.6])

    def behind() -> list[int]:
        return np.flatnonzero(behind_the_end(page, chances, eligible, lengths)).tolist()

    # Neither code, nor what is hidden, nor what stands in a P in a MAIN as the sure text does.
    assert behind() == [7, 11]
    lengths[:2] = 99  # characters that are sure are too few
    assert behind() == []
    lengths[:2] = 100
    chances[5] = 0.25  # the third of four in a row, and "Next" comes behind one
    assert behind() == []
    chances[5], chances[2] = 0.2, 0.1  # five in a row
    assert behind() == [6, 7, 11]
    eligible[6] = False  # four in a row
    assert behind() == [7, 11]
    eligible[5] = False
    assert behind() == []
    eligible[:] = True
    chances[3] = 0.9  # the last sure one, and three behind it
    assert behind() == []


def test_holes_of_tables_by_hand() -> None:
    rows = "<tr><td>a<td>b<tr><td>c<td>d<tr><td>e<td>f"
    inner = "<tr><td>g<td>h<tr><td>i<td>j<tr><td>k<td>l<tr><td>m"
    page = build_page(f"<p>x<table>{rows}<tr><td><table>{inner}</table></table><p>y")
    arrays, lengths = PageArrays(page), np.full(15, 10.0)
    kept = np.ones(15, dtype=bool)
    assert not table_holes(arrays, kept, lengths).any()
    kept[[0, 2, 8, 9, 14]] = False  # 5 of 6 cells are kept, 5 of the 7 in the table within
    assert np.flatnonzero(table_holes(arrays, kept, lengths)).tolist() == [2, 8, 9]
    kept[3] = False  # 4 of 6
    assert np.flatnonzero(table_holes(arrays, kept, lengths)).tolist() == [8, 9]
    lengths[7] = 7 * SHORT_CELL - 60  # a layout, not data
    assert not table_holes(arrays, kept, lengths).any()
    lengths[7] -= 1
    assert np.flatnonzero(table_holes(arrays, kept, lengths)).tolist() == [8, 9]
    few = PageArrays(build_page("<table><tr><td>a<td>b<td>c<td>d<td>e</table>"))
    assert not table_holes(few, np.array([1, 1, 1, 1, 0], dtype=bool), np.full(5, 10.0)).any()


def test_a_table_that_is_mostly_kept_is_kept_whole() -> None:
    head = "<tr><th>Setting<th>PLA<th>Wood<th>PETG"
    rows = "".join(
        f"<tr><td>Temperature of part {n}<td>{200 + n} degrees<td>{190 + 3 * n} degrees"
        f"<td>{230 - n} degrees"
        for n in range(4)
    )
    table = f"<table>{head}{rows}<tr><td>Total<td><td>183<td>98</table>"
    page = clean(article(f"{STORY}{table}{STORY}"), lean="precision")
    cells = [block for block in page.blocks if "table" in block.xpath]
    *_, named = MOVES
    filled = [block.text for block in cells if named in block.evidence]
    assert 0 < len(filled) < len(cells) * 0.3
    assert all(block.kept for block in cells)
    for block in cells:
        evidence = block.evidence
        assert evidence["log_odds"] >= evidence["threshold"]
        parts = sum(evidence[part] for part in ("prior", "page", "neighbours", "site"))
        assert parts == pytest.approx(evidence["log_odds"])
        assert (named in evidence) == ("because: most of its table is kept" in evidence)
        assert named not in evidence or evidence["log_odds"] == pytest.approx(reach(0.75))
    without = clean(article(f"{STORY}{table}{STORY}"), lean="precision", include_tables=False)
    assert not any(block.kept for block in without.blocks if "table" in block.xpath)


def test_thresholds_by_hand() -> None:
    chances = np.array([0.9, 0.4, 0.1])
    few, many = np.array([100.0, 100.0, 800.0]), np.array([LEAST_TEXT, 100.0, 800.0])
    assert threshold(chances, many, 0.5) == 0.5
    half_way = (0.4 + 0.1) / 2  # F 180/310, 260/410, 420/1210
    assert threshold(chances, few, 0.5) == half_way
    assert threshold(chances, few, 0.2) == 0.2
    assert threshold(chances[::-1], few[::-1], 0.5) == half_way
    assert threshold(chances[:2], few[:2], 0.5) == 0.2  # and of the last block half way to 0
    assert threshold(np.zeros(0), np.zeros(0), 0.5) == 0.5
    # With much text what is doubtful comes along where that pays, but not below its bound.
    much = np.array([MUCH_TEXT, MUCH_TEXT, 8 * MUCH_TEXT])
    doubtful = np.array([0.9, 0.45, 0.1])
    assert threshold(doubtful, much, 0.5) == 0.4  # F 1.8/3.15, 2.7/4.15, 4.3/12.15
    assert threshold(np.array([0.9, 0.35, 0.05]), much, 0.5) == 0.4  # F 1.8/2.65, 2.5/3.65
    assert threshold(doubtful, much, 0.75) == 0.75
    assert threshold(doubtful, much - 1, 0.5) == 0.5


def test_thresholds_are_in_the_order_of_the_leans() -> None:
    chances = np.array([0.8, 0.6, 0.45])
    lengths = np.array([0.5, 0.75, 10.0]) * LEAST_TEXT
    found = [threshold(chances, lengths, LEANS[n]) for n in ("precision", "balanced", "recall")]
    assert found == sorted(found, reverse=True)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="magic"):
        SiteCleaner("evidence", magic=1)
    data = SiteCleaner("evidence").to_bytes()
    with pytest.raises((ConfigurationError, TreeDataError)):
        SiteCleaner.from_bytes(data, lean="sideways")


def test_options_survive_bytes() -> None:
    cleaner = SiteCleaner("evidence", lean="recall", include_tables=False)
    cleaner.observe(article())
    copied = SiteCleaner.from_bytes(cleaner.to_bytes())
    assert copied.to_bytes() == cleaner.to_bytes()
    assert copied.clean(FULL).text == cleaner.clean(FULL).text


def everything_but(source: str, *left_out: str) -> set[str]:
    """Texts that are left out of a page of which else everything is kept."""
    page = build_page(source)
    verdict = SiteModel(SiteEvidence(10), 1e-14, left_out).judge(page)
    pairs = zip(page.blocks, verdict.verdicts, strict=True)
    return {block.text for block, judged in pairs if not judged.kept}


def texts_of(markup: str) -> set[str]:
    return {block.text for block in build_page(markup).blocks}


def test_what_options_leave_out() -> None:
    assert everything_but(FULL) == set()
    assert everything_but(FULL, "comments") == texts_of(COMMENTS)
    assert everything_but(FULL, "tables") == texts_of(TABLE)
    assert everything_but(FULL, "captions") == texts_of(FIGURE)
    assert everything_but(FULL, "link_lists") == texts_of(f"<ul>{LINKS}</ul>{NAV}")
    assert everything_but(FULL, "tables", "link_lists") == texts_of(f"{TABLE}<ul>{LINKS}</ul>{NAV}")


def test_comments_are_left_out_of_articles() -> None:
    without, with_them = (
        clean(FULL, lean="recall"),
        clean(FULL, lean="recall", include_comments=True),
    )
    comments = texts_of(COMMENTS)
    assert not comments & set(without.text.splitlines())
    assert {block.text for block in with_them.blocks} >= comments
    sure = {block.text for block in with_them.blocks if block.score > LEANS["recall"]}
    assert sure <= {with_them.blocks[i].text for i in kept(with_them)}
    assert sure - comments <= {without.blocks[i].text for i in kept(without)}


def test_discussions_keep_their_comments() -> None:
    page = clean(DISCUSSION)
    assert kept(page) == kept(clean(DISCUSSION, include_comments=True))
    assert "never listen!" in page.text
    assert everything_but(DISCUSSION, "comments") == set()


def test_what_makes_a_discussion() -> None:
    page = build_page(
        "<p>aaaaaaaaaa</p><div class=comments><p>bbbbbbbbbb</p><p>cccccccccc</p></div>"
    )
    features = PageFeatures(page)
    for scores, expected in (
        ([1, 1, 1], {}),  # 10 characters of content, 20 of comments
        ([1, 1, -1], {"comments": [False, True, True]}),
        ([-1, 1, 1], {}),
        ([1, -1, -1], {"comments": [False, True, True]}),
        ([-1, -1, -1], {"comments": [False, True, True]}),
    ):
        kinds = {"comments": exclusions.comments(features)}
        found = exclusions.excluded(["comments"], kinds, features.lengths, np.array(scores))
        assert {name: blocks.tolist() for name, blocks in found.items()} == expected


@pytest.mark.parametrize(
    ("outside", "inside", "expected"),
    [(150, 160, True), (150, 140, False), (210, 220, False), (210, 800, True)],
)
def test_a_headline_and_whose_post_it_is_are_no_article(
    outside: int, inside: int, expected: bool
) -> None:
    lengths = np.array([float(outside), float(inside)])
    is_comment, scores = np.array([False, True]), np.ones(2)
    assert exclusions.is_discussion(is_comment, lengths, scores) is expected


def test_declared_discussions_keep_their_comments() -> None:
    body = "<p>aaaaaaaaaa</p><div class=comments><p>bbbbbbbbbb</p></div>"
    for kind, expected in (("DiscussionForumPosting", False), ("QAPage", False), ("Thing", True)):
        script = f'<script type="application/ld+json">{{"@type": "{kind}"}}</script>'
        features = PageFeatures(build_page(script + body))
        assert exclusions.comments(features).tolist() == [False, expected]


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ({"include_tables": False}, TABLE),
        ({"drop_captions": True}, FIGURE),
        ({"drop_link_lists": True}, f"<ul>{LINKS}</ul>{NAV}"),
    ],
)
def test_options_only_take_away(option: dict[str, Any], part: str) -> None:
    whole = clean(FULL, lean="recall")
    less = clean(FULL, lean="recall", **option)
    # Without some blocks the threshold may be another one, within its bounds.
    sure = {block.text for block in whole.blocks if block.score > LEANS["recall"]}
    assert not texts_of(part) & {less.blocks[i].text for i in kept(less)}
    assert sure - texts_of(part) - texts_of(COMMENTS) <= {less.blocks[i].text for i in kept(less)}


def test_layout_tables_are_no_data() -> None:
    source = f"<table><tr><td>{NAV}<td>{STORY}</table>"
    assert everything_but(source, "tables") == set()


def test_weights_are_those_of_kept_blocks() -> None:
    page = clean(article())
    assert page.weights["monday"] == page.text.count("Monday") > 0
    assert not any(name.startswith("href:") for name in page.weights)


# Hostile input.

HOSTILE: dict[str, Any] = {
    "empty": b"",
    "nul": b"\0",
    "white space": " \n",
    "deep": "<div>" * 3000 + "deep",
    "deep lists": "<ul><li class=comment>" * 1500 + "deep",
    "less-than": "<" * 1_000_000,
    "not HTML": bytes(range(256)) * 20,
    "json": json.dumps({"articleBody": "<p>It rose.</p>" * 50}),
    "broken json-ld": "<script type=application/ld+json>{'articleBody': [</script><p>a b",
    "deep json-ld": f'<script type=application/ld+json>{"[" * 100_000}"Body"</script><p>a b',
    "surrogates": "<title>\ud800</title><p class='\udfff comment'>a \ud800 b</p><p>\udc00",
    "one signs": "<p>.</p>" * 2000,
    "one block": "word " * 100_000,
    "digits": "<p>" + "9" * 10_000,
    "many classes": f"<div class='{' '.join(f'c{n}x' for n in range(3000))}'><p>a</div>",
    "description": f"<meta name=description content='{'word ' * 50_000}'><p>word",
    "frameset": "<frameset><frame src=a></frameset>",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_input_raises(source: Any) -> None:
    cleaner = SiteCleaner("evidence")
    cleaner.observe(article())
    cleaner.observe(source)
    page = cleaner.clean(source)
    assert isinstance(page.text, str)
    for block in page.blocks[:30]:
        assert math.isfinite(sum(block.evidence.values()))
        assert 0 <= block.score <= 1
    assert SiteCleaner.from_bytes(cleaner.to_bytes()).clean(source).text == page.text


# The shipped weights are of use.


@pytest.fixture(scope="module")
def articles() -> list[DemoPage]:
    pages = DemoSite(articles=40, seed=5).pages.values()
    return [page for page in pages if page.kind == "article"]


def mean_f1(articles: list[DemoPage], learned: int) -> float:
    cleaner = SiteCleaner("evidence")
    for page in articles[:learned]:
        cleaner.observe(page.html)
    scores = [score(cleaner.clean(page.html).text, page.gold) for page in articles]
    f1 = [2 * s.precision * s.recall / max(s.precision + s.recall, 1e-9) for s in scores]
    return float(np.mean(f1))


def test_the_demo_newspaper_is_cleaned(articles: list[DemoPage]) -> None:
    alone, learned = mean_f1(articles, 1), mean_f1(articles, 20)
    assert alone > 0.9
    assert learned > 0.9
    # Other pages may cost a rare block, never the use of the method.
    assert learned >= alone - 0.01


def test_navigation_of_the_demo_newspaper_is_dropped(articles: list[DemoPage]) -> None:
    cleaner = SiteCleaner("evidence")
    for page in articles[:20]:
        cleaner.observe(page.html)
    menu = body = 0
    for page in articles[20:]:
        for block in cleaner.clean(page.html).blocks:
            if "/nav[" in block.xpath:
                menu += 1
                assert not block.kept
            body += block.kept
    assert menu > 100
    assert body > 100
