"""Templates by pagelets: values by hand, the slow definition, order, bounds."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.methods.shingle_template import (
    ShingleTemplateMethod,
    fingerprint,
    hyperlinks,
    pagelets,
)
from noiseclean_scrapy.page import Page, build_page
from tests.support.slow_shingle_template import hashed, slow_kept
from tests.support.small_pages import page_of

METHOD = "shingle-template"
MENU = (
    "<ul><li><a href=/>Home</a></li><li><a href=/n>News</a></li><li><a href=/s>Sport</a></li></ul>"
)


def learn(pages: list[Page], **options: Any) -> ShingleTemplateMethod:
    method = ShingleTemplateMethod(**options)
    for page in pages:
        method.observe(page)
    return method


def kept(method: ShingleTemplateMethod, page: Page) -> list[str]:
    verdicts = method.model().judge(page).verdicts
    return [b.text for b, v in zip(page.blocks, verdicts, strict=True) if v.kept]


# (a) Values by hand.


def test_fingerprints() -> None:
    assert fingerprint(["home", "news"]) == hashed("home news")
    assert fingerprint("a b c d e".split()) == min(hashed("a b c d"), hashed("b c d e"))
    # The same in every process and on every machine: the values are stored.
    assert f"{fingerprint(['home', 'news', 'sport']):016x}" == "af3e6cce83eed95f"


def test_near_copies_share_a_fingerprint_as_often_as_shingles_agree() -> None:
    # 40 words are 37 shingles; another last word changes one: Jaccard index 36 / 38.
    same = 0
    for start in range(400):
        sequence = [f"w{start}x{n}" for n in range(40)]
        same += fingerprint(sequence) == fingerprint([*sequence[:-1], "other"])
    assert same / 400 == pytest.approx(36 / 38, abs=0.04)


def tags_of(page: Page, k: int) -> list[str]:
    return [page.elements[p.element].tag for p in pagelets(page, k)]


def test_pagelets() -> None:
    # BODY and ASIDE have a child with three hyperlinks: the page falls into UL, P, ARTICLE, FOOTER.
    page = page_of(
        f"<aside>{MENU}<p><a href=/more>More</a></p></aside>"
        "<article><p>See <a href=/1>one</a> and <a href=/2>two</a>.</p><p><a href=/3>Three</a></p>"
        "</article><footer><a href=/c>Contact</a> <a href=/i>Imprint</a></footer>"
    )
    assert tags_of(page, 3) == ["ul", "p", "article", "footer"]
    found = pagelets(page, 3)
    assert [p.links for p in found] == [3, 1, 3, 2]
    assert [b.text for b in found[0].blocks] == ["Home", "News", "Sport"]
    assert [b.text for b in found[2].blocks] == ["See one and two.", "Three"]
    assert found[0].fingerprint == hashed("home news sport")
    assert tags_of(page, 2) == ["ul", "p", "p", "p", "footer"]
    assert tags_of(page, 5) == tags_of(page, 10) == ["body"]
    assert [p.links for p in pagelets(page, 5)] == [9]


def test_parts_without_links_are_pagelets() -> None:
    # Menu, main part and footer; only the menu has hyperlinks.
    page = page_of(f"{MENU}<div><p>Story</p><p>Goes on</p></div><div>All rights reserved</div>")
    assert [(p.links, [b.text for b in p.blocks]) for p in pagelets(page, 3)] == [
        (3, ["Home", "News", "Sport"]),
        (0, ["Story", "Goes on"]),
        (0, ["All rights reserved"]),
    ]
    assert tags_of(page_of("<p>One</p><p>Two</p>"), 3) == ["body"]


def test_text_beside_a_list_of_links_is_a_pagelet() -> None:
    found = pagelets(page_of(f"One <a href=/x>two</a>{MENU}three"), 3)
    assert [(p.element, p.is_element, p.links, [b.text for b in p.blocks]) for p in found] == [
        (0, False, 1, ["One two"]),
        (1, True, 3, ["Home", "News", "Sport"]),
        (0, False, 0, ["three"]),
    ]


def test_an_anchor_around_blocks_is_one_hyperlink() -> None:
    card = "<a href=/x><h3>Title</h3><p>Text</p><p>More</p></a>"
    page = page_of(card)
    assert [page.elements[n].tag for n, links in enumerate(hyperlinks(page)) if links] == ["a"]
    assert sum(hyperlinks(page)) == 1
    assert [p.links for p in pagelets(page, 3)] == [1]
    # Of two images and titles with the same target each is a hyperlink of its own.
    twice = page_of(
        "<div><p><a href=/x>A</a></p><p><a href=/x>B</a></p><p><a href=/x>C</a></p></div>"
    )
    assert [p.links for p in pagelets(twice, 3)] == [3]


def test_links_in_an_anchor_without_a_target_are_hyperlinks() -> None:
    page = page_of("<a name=top><p><a href=/1>One</a></p><p><a href=/2>Two</a></p></a>")
    assert sum(hyperlinks(page)) == 2


def test_a_pagelet_without_words_is_left_alone() -> None:
    icons = "<p><a href=/1><img src=1></a><a href=/2><img src=2></a><a href=/3><img src=3></a></p>"
    assert pagelets(page_of(icons), 3) == []


def test_template_from_two_pages_on() -> None:
    one, two, three = (page_of(f"{MENU}<p>Story {word}</p>") for word in ("one", "two", "three"))
    assert kept(learn([one]), one) == ["Home", "News", "Sport", "Story one"]
    assert kept(learn([one]), two) == ["Home", "News", "Sport", "Story two"]
    assert kept(learn([one, two]), three) == ["Story three"]
    # Twice on one page is one page.
    double = page_of(f"<div>{MENU}</div><div>{MENU}</div>")
    assert kept(learn([double]), double) == ["Home", "News", "Sport"] * 2


def test_the_whole_pagelet_goes() -> None:
    links = "".join(f"<a href=/{n}>Link {word}</a> " for n, word in enumerate(("a", "b", "c")))
    pages = [page_of(f"<div><p>About</p>text{links}<img src=i></div><p>{w}</p>") for w in "kl"]
    method = learn(pages)
    assert kept(method, pages[0]) == ["k"]
    assert method.model().judge(pages[0]).weights == {"k": 1}


def test_a_footer_without_links_goes() -> None:
    footer = "<div>All rights reserved</div>"
    pages = [page_of(f"{MENU}<p>{word}</p>{footer}") for word in ("one", "two")]
    assert kept(learn(pages), pages[0]) == ["one"]


def test_a_page_that_is_template_throughout_says_so() -> None:
    cleaner = SiteCleaner(METHOD)
    for _ in range(2):
        cleaner.observe(f"<p>Told twice</p>{MENU}")
    page = cleaner.clean(f"<p>Told twice</p>{MENU}")
    assert (page.text, page.problem) == ("", "nothing kept: all of its text was taken for noise")
    assert cleaner.clean("<p>Told once</p>").problem == ""


def test_score_evidence_and_fit() -> None:
    pages = [page_of(f"{MENU}<p>{word}</p>") for word in ("one", "two", "three", "four")]
    method = learn(pages)
    model = method.model()
    verdict = model.judge(pages[0])
    assert [(v.kept, v.score) for v in verdict.verdicts] == [(False, 0.25)] * 3 + [(True, 1.0)]
    assert verdict.verdicts[0].evidence == {"links": 3.0, "template_pages": 4.0}
    assert verdict.verdicts[3].evidence == {"links": 0.0, "template_pages": 0.0}
    assert verdict.fit == 1
    redesigned = page_of(MENU.replace("Sport", "Weather"))
    assert model.judge(redesigned).fit == 0
    assert [(v.kept, v.score) for v in model.judge(redesigned).verdicts] == [(True, 1.0)] * 3
    assert model.judge(page_of("<img src=i>")).fit == 1
    assert ShingleTemplateMethod().model().judge(redesigned).fit == 1
    method.decay(0.25)
    assert model.judge(pages[0]) == verdict  # a model does not change any more
    assert (method.pages, len(kept(method, pages[0]))) == (1, 4)


# (b) Against the definition, on the DOM.


texts = st.sampled_from(["a", "b", "c d", "e f g h i", "On 3 May"])
link = st.tuples(st.sampled_from("xyz"), texts).map(lambda p: f"<a href=/{p[0]}>{p[1]}</a>")
card = st.tuples(st.sampled_from("xyz"), texts, texts).map(
    lambda p: f"<a href=/{p[0]}><div>{p[1]}</div><div>{p[2]}</div></a>"
)
parts = st.recursive(
    st.one_of(texts, link, link, link, card),
    lambda inner: st.lists(inner, min_size=1, max_size=4).map(
        lambda p: f"<div>{' '.join(p)}</div>"
    ),
    max_leaves=8,
)
sources = st.lists(parts, min_size=1, max_size=4).map(
    lambda p: f"<html><body>{' '.join(p)}</body></html>"
)
sites = st.lists(sources, min_size=1, max_size=4)


@pytest.mark.slow
@given(sites, st.integers(1, 4))
def test_as_the_slow_definition(site: list[str], k: int) -> None:
    model = learn([build_page(source) for source in site], links=k).model()
    for source in site:
        verdict = model.judge(build_page(source))
        assert [v.kept for v in verdict.verdicts] == slow_kept(site, source, k)
        assert all(0 <= v.score <= 1 for v in verdict.verdicts)


# (c) Order, merging, forgetting, storing, bounds.


@pytest.mark.slow
@given(sites)
def test_order_and_parts_do_not_matter(site: list[str]) -> None:
    pages = [build_page(source) for source in site]
    whole = learn(pages)
    for order in permutations(pages):
        assert learn(list(order)).state() == whole.state()
    for cut in range(len(pages) + 1):
        one, other = learn(pages[:cut]), learn(pages[cut:])
        one.merge(other)
        assert one.state() == whole.state()


@given(sites)
def test_a_state_survives_json(site: list[str]) -> None:
    method = learn([build_page(source) for source in site])
    method.decay(0.7)
    again = ShingleTemplateMethod()
    again.restore(json.loads(json.dumps(method.state())))
    assert again.state() == method.state()
    page = build_page(site[0])
    assert again.model().judge(page) == method.model().judge(page)


def test_bytes() -> None:
    cleaner = SiteCleaner(METHOD, links=2)
    for word in ("one", "two"):
        cleaner.observe(f"{MENU}<p>{word}</p>")
    again = SiteCleaner.from_bytes(cleaner.to_bytes())
    assert again.to_bytes() == cleaner.to_bytes()
    assert again.clean(f"{MENU}<p>three</p>").text == "three"


def test_a_menu_of_two_pages_is_template_until_both_are_half_forgotten() -> None:
    pages = [page_of(f"{MENU}<p>{word}</p>") for word in ("one", "two")]
    method = learn(pages)
    method.decay(0.6)
    assert kept(method, pages[0]) == ["one"]
    method.decay(0.8)
    assert kept(method, pages[0]) == ["Home", "News", "Sport", "one"]
    alone = learn(pages[:1])
    alone.decay(0.99)
    assert "Home" in kept(alone, pages[0])


GOOD = "00000000000000ff"


@pytest.mark.parametrize(
    "state",
    [
        {},
        None,
        {"pages": 1},
        {"pages": 1, "counts": [GOOD]},
        {"pages": 1, "counts": {"ff": 1}},
        {"pages": 1, "counts": {GOOD.upper(): 1}},
        {"pages": 1, "counts": {GOOD + "\n": 1}},
        {"pages": 1, "counts": {GOOD: -1}},
        {"pages": 1, "counts": {GOOD: float("inf")}},
        {"pages": 1, "counts": {GOOD: "1"}},
        {"pages": True, "counts": {}},
    ],
)
def test_other_states_are_refused(state: Any) -> None:
    method = learn([page_of(MENU)])
    before = method.state()
    with pytest.raises((KeyError, TypeError, ValueError)):
        method.restore(state)
    assert method.state() == before


def own_menu(number: int) -> str:
    return "".join(f"<a href=/{x}>{x}{chr(0x4E00 + number)}</a> " for x in "xyz")


def test_the_bound_drops_the_rarest() -> None:
    pages = [page_of(f"{MENU}<div>{own_menu(n)}</div>") for n in range(50)]
    exact, bounded = learn(pages), learn(pages, max_fingerprints=6)
    assert len(exact.state()["counts"]) == 51
    assert len(bounded.state()["counts"]) <= 6
    # The menu is as frequent as it is; nothing else counts more than it should.
    assert bounded.state()["counts"].items() <= exact.state()["counts"].items()
    assert max(bounded.state()["counts"].values()) == 50
    halves = learn(pages[:25], max_fingerprints=6)
    halves.merge(learn(pages[25:], max_fingerprints=6))
    assert len(halves.state()["counts"]) <= 6
    smaller = ShingleTemplateMethod(max_fingerprints=6)
    smaller.restore(exact.state())
    assert len(smaller.state()["counts"]) == 3
    assert learn(pages, max_fingerprints=1).state()["pages"] == 50
