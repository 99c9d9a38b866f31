"""What a focus computes: topics, terms, relevance, links, potentials, hubs. Values by hand."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from parsel import Selector
from scrapy import Request, Spider
from scrapy.settings import Settings
from w3lib.url import safe_url_string

from noiseclean_scrapy.clean_page import CleanPage, clean_page
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.focus.focus import Focus, Reading
from noiseclean_scrapy.focus.hubs import Hub, Hubs
from noiseclean_scrapy.focus.job import load_focus, save_focus
from noiseclean_scrapy.focus.links import MOST_LINKS, LinkBlock, link_address, page_links
from noiseclean_scrapy.focus.potential import Potential
from noiseclean_scrapy.focus.term_space import Stemmer, TermSpace, TopicVectors, cosine
from noiseclean_scrapy.focus.weights import AllWeights, SiteWeights
from noiseclean_scrapy.methods import create_method
from noiseclean_scrapy.methods.feature_weighting import FeatureWeightingMethod
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.topic import Example, Topic

WIND = (
    "The turbines of the wind farm at sea have stood still since Monday, although the wind was "
    "strong enough for all of them, because the cable to the grid has not been repaired."
)
CHOIR = (
    "The choir has sung in the old theatre for forty years, and nobody in the audience remembers "
    "an evening on which so many listeners asked the singers for another song."
)
URL = "http://news.example/"


def news(headline: str, text: str, teasers: str = "") -> str:
    return (
        f"<html lang='en'><head><title>{headline}</title></head><body>"
        "<nav><ul><li><a href='/'>Home</a></li><li><a href='/wind'>Wind and turbines</a></li>"
        "<li><a href='/culture'>Culture</a></li></ul></nav>"
        f"<main><h1>{headline}</h1><p>{text}</p><p>{text[::-1]}</p>{teasers}</main>"
        "<footer><p>All about wind and turbines, every day. All rights reserved.</p></footer>"
        "</body></html>"
    )


def focus(topic: Any = "wind turbines") -> Focus:
    return Focus(Config(topic=Topic.read(topic)))


def clean(html: str) -> tuple[Page, CleanPage]:
    page = build_page(html, url=URL)
    return page, clean_page(create_method("evidence").model(), page)


def read(one: Focus, html: str) -> Reading:
    page, cleaned = clean(html)
    root = Selector(html).root
    return one.read(page, cleaned, "site", root=root, join=lambda link: urljoin(URL, link))


# Topics


def test_words_and_texts_are_taken_as_they_are() -> None:
    assert Topic.read(" offshore wind ").examples == (Example("offshore wind"),)
    assert Topic.read(["wind", "power grid"]).examples == (Example("wind"), Example("power grid"))


def test_addresses_wait_to_be_fetched() -> None:
    topic = Topic.read(["https://news.example/a.html", "wind"])
    assert topic.addresses == ("https://news.example/a.html",)
    assert topic.examples == (Example("wind"),)


@pytest.mark.parametrize("as_entry", [str, Path, lambda path: path.as_uri()])
def test_an_example_page_gives_its_clean_text_and_language(tmp_path: Path, as_entry: Any) -> None:
    path = tmp_path / "a page.html"
    path.write_text(news("Turbines stand still", WIND))
    [example] = Topic.read([as_entry(path)]).examples
    assert example.language == "en"
    assert example.text.startswith(f"Turbines stand still\n{WIND}")
    assert "All rights reserved" not in example.text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (" ", "made of words"),
        ("12 + 34", "made of words"),
        ([], "words, a text, or pages"),
        (7, "words, a text, or pages: a string"),
        (["wind", 7], "made of strings and paths, not 7"),
        ("nowhere/page.html", "pages that can be read .*No such file"),
        (Path("nowhere"), "pages that can be read"),
    ],
)
def test_a_bad_topic_is_named(value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"NOISECLEAN_TOPIC must be {message}"):
        Config.from_settings(Settings({"NOISECLEAN_TOPIC": value}))


def test_a_page_without_text_is_no_example(tmp_path: Path) -> None:
    path = tmp_path / "empty.html"
    path.write_text("<html><body></body></html>")
    with pytest.raises(ConfigurationError, match="made of words, or of pages with text"):
        Topic.read(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("SITE_BUDGET", -1), ("REVISITS", "many"), ("REVISIT_SECONDS", 0), ("REVISIT_SECONDS", "inf")],
)
def test_bad_bounds_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"NOISECLEAN_{name} must be a"):
        Config.from_settings(Settings({f"NOISECLEAN_{name}": value}))


# Terms


def test_terms_are_stems_and_pairs_without_stop_words_and_numbers() -> None:
    stemmer = Stemmer()
    assert stemmer.count("The turbines of 2031 and a turbine", "en-GB") == {"turbin": 2}
    assert stemmer.count("海上风电", "zh") == {"海上": 1, "上风": 1, "风电": 1}
    weights = {"turbines": 0.5, "turbine": 0.25, "the": 3.0, "0": 1.0, "href:/a": 1.0}
    assert stemmer.weigh(weights, "en") == {"turbin": 0.75}


def test_cosine_of_two_vectors_by_hand() -> None:
    space = TermSpace()
    for terms in (["wind", "farm"], ["wind"], ["song"]):
        space.add(terms)
    # idf: wind ln(4/3) + 1, farm ln(4/2) + 1, song ln(4/2) + 1
    wind, farm = math.log(4 / 3) + 1, math.log(2) + 1
    page = [math.log(1 + 2.5) * wind, math.log(1 + 0.5) * farm]
    expected = page[0] / math.hypot(*page)
    vector = space.vector({"wind": 2.5, "farm": 0.5, "song": 0.0})
    assert cosine(vector, space.vector({"wind": 4})) == pytest.approx(expected)
    assert cosine(vector, space.vector({"song": 1})) == 0.0
    assert cosine(vector, space.vector({})) == 0.0
    assert cosine(vector, vector) == pytest.approx(1)


def test_rare_terms_are_forgotten_above_the_bound() -> None:
    space = TermSpace(most_terms=4)
    for terms in (["wind", "farm"], ["wind", "farm"], ["wind", "a", "b"], ["c", "d"]):
        space.add(terms)
    assert set(space.frequencies) == {"wind", "farm"}
    assert space.frequencies["wind"] == 3


def test_a_topic_is_the_sum_of_unit_vectors_in_the_language_of_the_page() -> None:
    stemmer = Stemmer()
    topic = TopicVectors((Example("Häfen"), Example("Häfen Schiffe")), TermSpace(), stemmer)
    ship, port = 1 / math.sqrt(2), 1 + 1 / math.sqrt(2)
    length = math.hypot(ship, port)
    german = topic.vector("de-AT")
    assert german == pytest.approx({"haf": port / length, "schiff": ship / length})
    assert set(topic.vector("")) == {"häfen", "schiffe"}
    topic.add(Example("wind"))
    assert "wind" in topic.vector("de")


# Relevance


def test_relevance_is_the_cosine_of_the_weights_of_kept_blocks() -> None:
    """Against a slow computation from the method's own verdicts."""
    one = focus("wind turbines cable")
    pages = [news(f"Report {n}", f"{WIND} Number {'abcdef'[n]} is new.") for n in range(6)]
    relevance = [read(one, html).relevance for html in pages][-1]

    method = FeatureWeightingMethod(max_tree_nodes=100_000)
    frequency: dict[str, int] = {}
    for seen, html in enumerate(pages, 1):
        page, cleaned = clean(html)
        method.observe(page)
        if seen in (1, 2, 4):
            model = method.model()
        weights: dict[str, float] = {}
        weighed, _ = model.weigh(page)
        for block, verdict in zip(weighed, cleaned.blocks, strict=True):
            for feature, weight in block.items() if verdict.kept else ():
                if not feature.startswith(("src:", "href:")):
                    for term in Stemmer().count(feature, "en"):
                        weights[term] = weights.get(term, 0) + weight
        for term in {term for term, weight in weights.items() if weight > 0}:
            frequency[term] = frequency.get(term, 0) + 1

    def idf(term: str) -> float:
        return math.log(7 / (1 + frequency.get(term, 0))) + 1

    vector = {term: math.log(1 + weight) * idf(term) for term, weight in weights.items()}
    # The topic's vector is rebuilt with a tenth more pages: here with all six.
    topic = {term: math.log(2) * idf(term) for term in ("wind", "turbin", "cabl")}
    product = sum(vector.get(term, 0) * weight for term, weight in topic.items())
    expected = product / math.hypot(*vector.values()) / math.hypot(*topic.values())
    assert 0.1 < relevance == pytest.approx(expected)


def test_topic_words_in_navigation_do_not_count() -> None:
    one = focus()
    assert read(one, news("Turbines stand still", WIND)).relevance > 0.2
    assert read(one, news("An evening of songs", CHOIR)).relevance == 0.0


def test_a_chinese_page_is_judged_in_pairs() -> None:
    one = focus("海上风电")
    wind = "海上风电场的风机自星期一以来一直停止运转,因为连接电网的海底电缆仍未修复。"
    song = "合唱团已经在老剧院演唱了四十年,没有观众记得哪个夜晚有这么多听众要求歌手再唱一首歌曲。"
    pages = [f"<html lang='zh'><body><h1>{t[:9]}</h1><p>{t}</p></body>" for t in (wind, song)]
    relevant, other = (read(one, page).relevance for page in pages)
    assert relevant > 0.2
    assert other == 0.0


def test_weights_of_blocks_add_up_to_those_of_the_page() -> None:
    method = FeatureWeightingMethod()
    pages = [build_page(news(f"Report {n}", f"{WIND} {n * 'x'}")) for n in range(4)]
    for page in pages:
        method.observe(page)
    model = method.model()
    weighed, fit = model.weigh(pages[0])
    verdict = model.judge(pages[0])
    assert fit == verdict.fit == 1.0
    total: dict[str, float] = {}
    for block in weighed:
        for feature, weight in block.items():
            total[feature] = total.get(feature, 0) + weight
    assert total == pytest.approx(dict(verdict.weights))


def test_a_site_is_learned_to_its_quota_and_again_after_a_redesign() -> None:
    site = SiteWeights(quota=8, max_tree_nodes=1_000)
    pages = [build_page(news(f"Report {n}", WIND)) for n in range(8)]
    for page in pages:
        site.observe(page)
    learned = site.model
    site.observe(pages[0])
    assert site.model is learned
    redesigned = build_page("<div class=new><section><div>Wholly new</div></section></div>")
    for _ in range(10):
        site.weigh(redesigned, [])
    assert site.model is not learned
    assert site.pages == 0


def test_the_site_unused_for_longest_is_forgotten() -> None:
    weights = AllWeights(10, 1_000, most_sites=2)
    first = weights.site("a")
    weights.site("b")
    assert weights.site("a") is first
    second = weights.site("b")
    weights.site("c")
    assert weights.site("b") is second
    assert weights.site("a") is not first


# Links

TEASER = "<div class=teaser><h2><a href='{0}?a=1#top'>{1}</a></h2><p>{2}</p></div>"


def test_a_link_has_its_anchor_its_teaser_and_its_block() -> None:
    teasers = TEASER.format("/a", "Blades on their way", WIND) + TEASER.format("/b", "Song", CHOIR)
    links = read(focus(), news("An evening of songs", CHOIR, teasers)).links
    link = links[f"{URL}a?a=1"]
    assert link.anchor == "Blades on their way"
    assert link.context == f"Blades on their way {WIND}"
    assert link.place.endswith("div.teaser/h2")
    assert link.is_list
    navigation = links[f"{URL}wind"]
    assert navigation.context == "Wind and turbines"
    assert not navigation.kept
    assert navigation.importance < link.importance


def test_a_link_in_a_long_text_has_its_paragraph_around_it() -> None:
    html = f"<body><main><p>{CHOIR * 4}</p><p>{WIND} <a href='/a'>More</a></p></main></body>"
    link = read(focus(), html).links[f"{URL}a"]
    assert link.anchor == "More"
    assert link.context == f"{WIND} More"
    assert not link.is_list


def test_a_target_that_stands_twice_counts_where_it_is_more_important() -> None:
    teasers = TEASER.format("/wind", "Turbines stand still", WIND).replace("?a=1#top", "")
    other = TEASER.format("/b", "Song", CHOIR)
    link = read(focus(), news("An evening", CHOIR, teasers + other)).links[f"{URL}wind"]
    assert link.place.endswith("div.teaser/h2")


def test_of_anchors_in_anchors_each_has_the_text_up_to_the_next() -> None:
    many = "".join(f"<div><a href=/{number}>n{number} " for number in range(300))
    links = read(focus(), f"<body>{many}{'word ' * 2000}").links
    assert links[f"{URL}299"].anchor.startswith("n299 word word")
    assert links[f"{URL}0"].anchor == "n0"
    assert all(len(link.anchor) <= 1000 for link in links.values())
    spaced = read(focus(), "<body><p><a href=/1>a<!-- b --> c<i>d</i> e</a> f").links
    assert spaced[f"{URL}1"].anchor == "a cd e"


def test_an_address_of_no_end_is_no_link() -> None:
    html = f"<body><a href='/{'x' * 5000}'><div>one</div><div>two</div></a><a href=/b>b</a>"
    assert list(read(focus(), html).links) == [f"{URL}b"]


def test_potential_by_hand() -> None:
    one = focus()
    teasers = TEASER.format("/a", "A song", "For the turbines") + TEASER.format("/b", "B", CHOIR)
    reading = read(one, news("Turbines stand still", WIND, teasers))
    potential, link = one.potential(reading, f"{URL}a?a=1")
    assert link
    topic = one.topic.vector("en")
    context = one.space.vector({"song": 1, "turbin": 1})
    assert potential.anchor == 0.0
    assert potential.context == pytest.approx(context["turbin"] * topic["turbin"])
    assert potential.terms == 2
    inherited = 0.25 * reading.relevance
    promise = (2 * potential.context + 3 * (inherited + 0.05)) / 5
    factor = 0.5 + 0.5 * link.importance
    assert potential.priority == round(1000 * promise * factor)


def test_informative_text_counts_more_than_noise() -> None:
    values: Any = {"page": 0.4, "before": 0.0, "anchor": 0.5, "context": 0.5, "terms": 3}
    # (3 0.5 + 3 (0.25 0.4 + 0.05)) / 6
    assert Potential(**values, importance=1.0).priority == 325
    assert Potential(**values, importance=0.0).priority == 162


def test_what_says_little_comes_before_what_says_something_else() -> None:
    bare = Potential(page=0.0, before=0.0, terms=1, importance=0.0)
    other = Potential(page=0.0, before=0.0, terms=25, importance=0.8)
    assert (bare.priority, other.priority) == (19, 5)


def test_a_request_that_is_no_link_inherits() -> None:
    reading = Reading("en", 0.4, 0.6, {})
    potential, link = focus().potential(reading, f"{URL}made-by-a-script")
    assert link is None
    assert potential.priority == 150  # (0.25 0.6 + 0.05) (0.5 + 0.5 0.5)


# Hubs


def test_the_rate_of_changes_by_hand() -> None:
    hubs = Hubs(interval=100)
    hub, other = Hub("a", "site", None, 0.0), Hub("b", "site", None, 0.0)
    assert hubs.visit(hub, [("ul", "one"), ("ul", "two")], 0.5, 0.0) == 0
    assert hub.rate(100) == 1 / 100
    assert hubs.visit(other, [("ul", "five")], 0.5, 100.0) == 0
    links = [("ul", "two"), ("ul", "three"), ("p", "four"), ("p", "five")]
    assert hubs.visit(hub, links, 0.5, 200.0) == 2  # the other hub had shown "five"
    assert hub.rate(100) == 3 / 300
    assert hubs.visit(hub, [("ul", "one"), ("ul", "three")], 0.5, 300.0) == 0
    assert hub.changes == 0.9 * 2
    assert hub.watched == 0.9 * 200 + 100
    assert hub.places == {"ul": 1, "p": 1}
    assert hub.gain(100, 350.0) == pytest.approx((2.8 / 380) * 50 * (0.01 + 0.5))


def test_the_hub_that_changes_more_comes_first() -> None:
    hubs = Hubs(interval=10)
    for name, fresh in (("lively", 5), ("still", 0)):
        hub = Hub(name, name, None, 0.0)
        hubs.visit(hub, [("ul", "old")], 0.5, 0.0)
        hubs.visit(hub, [("ul", f"new {n}") for n in range(fresh)], 0.5, 100.0)
    assert hubs.next(109.0, ()) is None
    assert hubs.next(111.0, ()) is hubs.known["lively"]
    # Watched for 100 seconds without a change, it is left alone for half of 100 + 10.
    assert hubs.next(154.9, {"lively"}) is None
    assert hubs.next(155.0, {"lively"}) is hubs.known["still"]
    hubs.visit(hubs.known["lively"], [], 0.5, 150.0)
    assert hubs.next(155.0, ()) is hubs.known["still"]


def test_the_hub_that_promises_least_is_forgotten() -> None:
    hubs = Hubs(interval=10, most=2)
    for name, value in (("a", 0.5), ("b", 0.1), ("c", 0.3)):
        hub = Hub(name, name, None, 0.0)
        hub.visit([], value, 0.0)
        hubs.add(hub, 20.0)
    assert set(hubs.known) == {"a", "c"}


def test_a_page_is_a_hub_from_five_links_in_kept_lists_on() -> None:
    one = focus()
    teasers = [
        TEASER.format(f"/{n}", f"{word} of the turbines and the cable at sea", WIND)
        for n, word in enumerate(("Blades", "Towers", "Cables", "Gusts", "Storms"))
    ]
    for count, expected in ((4, 0), (5, 1)):
        reading = read(one, news("What matters today", WIND, "".join(teasers[:count])))
        assert len(reading.list_links) == count
        one.visit_hub(reading, f"{URL}?page={count}", "news.example", None, 0.0)
        assert len(one.hubs.known) == expected
    [hub] = one.hubs
    assert hub.value > 0.1


def test_the_links_of_a_page_are_bounded() -> None:
    links = "".join(f"<a href='/{number}'>Story {number}</a> " for number in range(8_000))
    assert len(read(focus(), f"<p>{links}</p>").links) == MOST_LINKS
    page, cleaned = clean(f"<p>{links}</p>")
    base = URL + "x/" * 1500
    reading = focus().read(page, cleaned, "site", join=lambda link: urljoin(base, link.lstrip("/")))
    assert not reading.links


def test_the_rate_of_a_hub_that_does_not_answer_falls() -> None:
    hub = Hub("a", "a", None, visited=0.0, visits=1)
    hub.miss(30.0)
    assert hub.visited == 30.0
    assert hub.rate(10.0) == 1 / 40


def test_a_link_is_found_in_the_encoding_of_its_page() -> None:
    page = build_page("<p>The ferry <a href='/s?q=ä'>in search of words</a> at sea.</p>", url=URL)

    def join(link: str) -> str:
        return safe_url_string(urljoin(URL, link), "windows-1252")

    links = page_links(page, [LinkBlock(page.blocks[0], 1.0, True, "p")], None, join)
    asked = Request(urljoin(URL, "/s?q=ä"), encoding="windows-1252")
    assert link_address(asked.url) in links


# What a job keeps


def test_hubs_that_cannot_be_kept_are_left_out_of_a_job(tmp_path: Path) -> None:
    class OldSpider(Spider):
        def start_requests_of_old(self, response: Any) -> None: ...

    spider = OldSpider("news")
    one = focus()
    one.space.pages = 7
    for relevance in (0.0, 0.0, 0.01, 0.5, 0.6):
        one.relevances.add(relevance)
    for name, options in (
        ("plain", {}),
        ("own", {"callback": lambda response: None}),
        ("lost", {"callback": spider.start_requests_of_old}),
        ("browser", {"meta": {"playwright_page": threading.Lock()}}),  # what a page object holds
    ):
        request: Any = Request(URL + name, **options)
        one.hubs.add(Hub(request.url, "news.example", request, time.monotonic()), time.monotonic())
    path = tmp_path / "focus"
    path.write_bytes(save_focus(one, spider))
    other = focus()
    load_focus(other, path, Spider("news"))
    assert other.space.pages == 7
    assert other.relevances.counts == one.relevances.counts
    assert other.relevances.bound == one.relevances.bound > 0
    assert [hub.address for hub in other.hubs] == [f"{URL}plain"]


@pytest.mark.parametrize(("step", "elapsed"), [(0, 500), (3_000, 3_500), (-3_000, 0)])
def test_a_job_knows_how_long_ago_a_hub_was_visited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, elapsed: int
) -> None:
    one, other = focus(), focus()
    visited = time.monotonic() - 500
    one.hubs.add(Hub(URL, "news.example", Request(URL), visited), visited)
    path = tmp_path / "focus"
    path.write_bytes(save_focus(one, Spider("news")))
    now = time.time() + step
    monkeypatch.setattr("time.time", lambda: now)
    load_focus(other, path, Spider("news"))
    [hub] = other.hubs
    assert time.monotonic() - hub.visited == pytest.approx(elapsed, abs=100)
