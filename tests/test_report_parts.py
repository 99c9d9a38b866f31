"""What the reports are made of: bounded trees and surveys, reasons, notebook cards."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from noiseclean_scrapy import Block, SiteCleaner
from noiseclean_scrapy.notebook import cleaner_card, page_card
from noiseclean_scrapy.report import charts
from noiseclean_scrapy.report.charts import FIT_HEIGHT, FIT_TOP, NOISE_HEIGHT, drift
from noiseclean_scrapy.report.icicle import lay_out
from noiseclean_scrapy.report.place_tree import Example, PlacedText, PlaceTree
from noiseclean_scrapy.report.reasons import reasons, verdict_in_words
from noiseclean_scrapy.report.survey import NEWEST, Moment, SiteSurvey, stripes
from noiseclean_scrapy.store import Cleaned, PageRecord, TreeVersionRecord


def placed(place: str, characters: int, position: float = 0.5) -> PlacedText:
    example = Example(f"text at {place}", True, "A page", "key")
    return PlacedText(place, 1, characters, characters, 0.5 * characters, position, example)


def record(number: int, *texts: str) -> PageRecord:
    blocks = tuple(
        Block(text, "/html[1]/body[1]/p[1]", "p", i > 0, float(i > 0), {}, f"body/p.c{i}")
        for i, text in enumerate(texts)
    )
    visible = sum(map(len, texts))
    kept = sum(map(len, texts[1:]))
    cleaned = Cleaned(f"Page {number}", "", blocks, 0, visible, kept)
    time = datetime.fromtimestamp(number, tz=timezone.utc)
    return PageRecord(f"{number:08x}", "s", f"https://s/{number}", "", time, cleaned=cleaned)


def test_a_tree_stays_bounded_and_loses_no_text() -> None:
    tree = PlaceTree(limit=100)
    for page in range(500):
        tree.add_page([placed("body/main/p", 1000), placed(f"body/aside/div.x{page}/p", 3)])
    assert tree.root.characters == 500 * 1003
    main = tree.root.below["body"].below["main"]
    assert (main.characters, main.pages, main.below["p"].own) == (500_000, 500, 500_000)
    aside = tree.root.below["body"].below["aside"]
    assert (aside.characters, aside.pages) == (1500, 500)
    assert len(aside.below) <= 100
    assert aside.characters > aside.own + sum(part.characters for part in aside.below.values())


def test_boxes_follow_the_order_on_the_page_and_chains_are_one_box() -> None:
    tree = PlaceTree()
    tree.add_page(
        [placed("body/div/footer", 10, 0.9), placed("body/div/main/article/p", 80, 0.5),
         placed("body/div/header", 10, 0.0)]
    )  # fmt: skip
    boxes = lay_out(tree)
    assert [box.label for box in boxes] == ["body / div", "header", "main / article / p", "footer"]
    assert [round(box.top, 3) for box in boxes] == [0.0, 0.0, 0.1, 0.9]
    assert [round(box.height, 3) for box in boxes] == [1.0, 0.1, 0.8, 0.1]
    assert boxes[2].path == "body/div/main/article/p"
    assert all(box.parent == 0 for box in boxes[1:])


def test_small_places_are_drawn_as_one() -> None:
    tree = PlaceTree()
    tree.add_page([placed("body/p", 100_000), *[placed(f"body/i{n}", 5) for n in range(300)]])
    boxes = lay_out(tree)
    assert [box.label for box in boxes] == ["body", "p", "300 small places"]
    assert boxes[2].height == pytest.approx(1500 / 101_500)


def test_a_survey_counts_texts_once_a_page_with_digits_masked() -> None:
    survey = SiteSurvey()
    for number in range(100):
        survey.add(record(number, f"{number} readers online", "Shared", f"Story {'x' * number}"))
    assert [(t.dropped_pages, t.pages) for t in survey.removed(5)] == [(100, 100)]
    assert [(t.text, t.kept_pages) for t in survey.kept_though_repeated(5)] == [("Shared", 100)]
    gallery = survey.gallery()
    assert len(gallery) == NEWEST
    assert [page.record.url for page in gallery[:2]] == ["https://s/99", "https://s/98"]
    assert sum(map(sum, survey.histogram)) == survey.visible
    assert [moment.title for moment in survey.moments()][:2] == ["Page 0", "Page 1"]


def test_many_pages_leave_an_even_sample() -> None:
    survey = SiteSurvey()
    for number in range(4000):
        survey.add(record(number, "Menu", "Story"))
    times = [moment.fetched_at.timestamp() for moment in survey.moments()]
    assert 750 <= len(times) <= 1501
    assert len({b - a for a, b in pairwise(times)}) == 1
    assert survey.pages == 4000


def test_versions_close_together_share_a_label() -> None:
    moments = [
        Moment(datetime.fromtimestamp(second, tz=timezone.utc), 0.25, 0.5, "")
        for second in range(10)
    ]
    versions = [
        TreeVersionRecord(
            "s", number, "evidence", 1, datetime.fromtimestamp(at, tz=timezone.utc), 1
        )
        for number, at in ((1, 1.5), (2, 1.6), (3, 7.5))
    ]
    found = drift(moments, versions)
    assert [(mark.x, mark.label) for mark in found.versions] == [
        (200, ""),
        (200, "v2"),
        (800, "v3"),
    ]
    assert {(dot.noise_y, dot.fit_y) for dot in found.dots} == {
        (NOISE_HEIGHT * 0.75, FIT_TOP + FIT_HEIGHT * 0.5)
    }
    assert found.ticks[0].label == "00:00:00"


@pytest.mark.parametrize("seconds", [0, 0.1, 40, 3600, 14_390, 20_000, 90_000, 3e6])
def test_no_time_is_named_twice(seconds: float) -> None:
    start = datetime(2031, 3, 1, 12, 0, 30, tzinfo=timezone.utc)
    moments = [Moment(start + timedelta(seconds=number * seconds), 0, 1, "") for number in range(7)]
    ticks = drift(moments, []).ticks
    assert ticks
    assert len({tick.label for tick in ticks}) == len(ticks)
    assert not ticks[0].dense
    shown = [tick.x for tick in ticks if not tick.dense]
    assert all(b - a >= 300 for a, b in pairwise(shown))


def test_stripes_cover_the_page() -> None:
    blocks = [Block("x" * 10, "/p", "p", False, 0.0, {})] * 500
    blocks += [Block("y" * 5000, "/p", "p", True, 1.0, {})]
    found = stripes(blocks)
    assert len(found) < 60
    assert sum(stripe.share for stripe in found) == pytest.approx(1)
    assert (found[-1].kept, found[-1].share, found[-1].importance) == (True, 0.5, 1.0)


def test_stripes_are_few_however_verdicts_change() -> None:
    blocks = [Block("x" * 10, "/p", "p", bool(number % 2), 0.5, {}) for number in range(50_000)]
    found = stripes(blocks)
    assert len(found) < 300
    assert sum(stripe.share for stripe in found) == pytest.approx(1)


def test_reasons_in_words() -> None:
    evidence = {
        "log_odds": -7.0, "threshold": 0.0, "prior": 0.5, "page": 1.0, "neighbours": 0.5,
        "site": -9.0, "page: length of text = 80": 1.0, "site: this text on 12 other pages": -9.0,
        "because: stands on 12 other pages": -9.0, "because: a long text": 1.0,
        "because: others like it are no content": -20.0, "because: mostly links": -1.0,
        "because: no whole sentence": -0.5,
    }  # fmt: skip
    block = Block(text="x", xpath="/p", tag="p", kept=False, score=0.0, evidence=evidence)
    assert verdict_in_words(block, headline=False) == (
        "Left out: stands on 12 other pages; mostly links; no whole sentence."
    )
    assert [reason.kind for reason in reasons(evidence)] == ["site", "page"]
    ruled = Block(
        text="x", xpath="/p", tag="p", kept=True, score=0.0, evidence=evidence, rule="keep"
    )
    assert verdict_in_words(ruled, headline=False) == "Kept: an override says so."


class Tags(HTMLParser):
    """The tags of a document, and whether each end tag meets its start tag."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_notebook_cards_are_plain_and_escaped() -> None:
    cleaner = SiteCleaner("style-tree")
    html = "<title>&lt;script&gt;</title><h1>A &lt;img src=x onerror=1&gt; title</h1><p>Fog.</p>"
    cleaner.observe(html)
    page = cleaner.clean(html, url="javascript:1")
    for card in (page_card(page), cleaner_card(cleaner)):
        tags = Tags(card)
        assert tags.open == []
        assert not {"script", "img", "a", "link", "html", "body"} & set(tags.found)
    assert "A &lt;img src=x onerror=1&gt; title" in page_card(page)
    assert "style-tree" in cleaner_card(cleaner)
    assert "<dt>pages learned</dt><dd>1</dd>" in cleaner_card(cleaner)
    for _ in range(1_234):
        cleaner.observe(html)
    assert "<dt>pages learned</dt><dd>1,235</dd>" in cleaner_card(cleaner)
    assert page._repr_html_() == page_card(page)
    for word, kept in (("kept", True), ("left out", False)):
        blocks = sum(block.kept is kept for block in page.blocks)
        assert page_card(page).count(f"><span>{word} ") == blocks
    assert "<dt>kept</dt><dd>–</dd>" in page_card(cleaner.clean("<p></p>"))
    long = cleaner.clean(f"<h1>Fog</h1><p>{'Fog on the river. ' * 20_000}")
    assert len(long.text) > 300_000 > 50_000 > len(page_card(long))
    assert cleaner._repr_html_() == cleaner_card(cleaner)


def test_a_short_time_has_all_its_labels() -> None:
    for number in range(2, 7):
        days = [datetime(2031, 5, 1 + day, tzinfo=timezone.utc) for day in range(number)]
        marks = charts._ticks(days, 100.0)
        assert len(marks) == number
        assert marks[-1].label.startswith(f"May {number:02}")
