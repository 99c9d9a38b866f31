"""SiteCleaner: the contract that others program against."""

from __future__ import annotations

import json
import random
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from parsel import Selector

from example_project.demo import DemoSite
from example_project.scoring import score
from noiseclean_scrapy import Block, CleanPage, SiteCleaner
from noiseclean_scrapy.cleaner import _MAGIC
from noiseclean_scrapy.errors import ConfigurationError, TreeDataError
from noiseclean_scrapy.page.hashes import DIGEST_SIZE, digest
from noiseclean_scrapy.page.inline import PLAIN, MarkupOptions
from tests.support.command_line import ROOT, run_process

STORIES = [
    "Fog closed the harbour on Monday and forty ferries stayed in port",
    "A bakery in the old town has won the national prize for rye bread",
    "Trams will run later at weekends, the council decided by one vote",
    "Two students built a bridge of paper that carries a grown elephant",
    "Rain filled the reservoir within days after the driest spring since records began",
]


def story_page(number: int) -> str:
    story = STORIES[number]
    return (
        f"<html><head><title>Story {number} of the day | The Paper</title></head><body>"
        "<nav><a href='/'>Home</a> <a href='/sport'>Sport</a></nav>"
        f"<div class=story><h1>Story {number} of the day</h1><p>{story}.</p>"
        f"<p>{' '.join(reversed(story.split()))}.</p></div>"
        "<footer>All rights reserved. The Paper is printed in town.</footer></body></html>"
    )


@pytest.fixture
def cleaner() -> SiteCleaner:
    cleaner = SiteCleaner("style-tree")
    for number in range(len(STORIES)):
        cleaner.observe(story_page(number), url=f"http://paper.example/{number}")
    return cleaner


def test_clean_page_has_what_the_contract_names(cleaner: SiteCleaner) -> None:
    page = cleaner.clean(story_page(0), url="http://paper.example/0")
    assert isinstance(page, CleanPage)
    assert page.url == "http://paper.example/0"
    assert page.title == "Story 0 of the day"
    assert page.text.splitlines() == [
        "Story 0 of the day",
        f"{STORIES[0]}.",
        f"{' '.join(reversed(STORIES[0].split()))}.",
    ]
    assert [block.kept for block in page.blocks] == [False, True, True, True, False]
    story = page.blocks[2]
    assert isinstance(story, Block)
    assert story.xpath == "/html[1]/body[1]/div[1]/p[1]"
    assert story.score > story.evidence["threshold"] > page.blocks[0].score
    assert page.weights["ferries"] == 2
    assert "sport" not in page.weights
    assert page.html.splitlines()[0] == "<h1>Story 0 of the day</h1>"
    assert page.kept_characters == sum(len(line) for line in page.text.splitlines())
    assert page.visible_characters == sum(len(block.text) for block in page.blocks)


def test_headline_can_be_left_out() -> None:
    cleaner = SiteCleaner(headline=False)
    cleaner.observe(story_page(0))
    page = cleaner.clean(story_page(0))
    assert "Story 0 of the day" not in page.text.splitlines()
    assert page.title == "Story 0 of the day"


def test_html_of_a_clean_page_is_inert() -> None:
    page = SiteCleaner("style-tree").clean(
        "<p>1 &lt; 2 &amp; <b onclick=x()>&lt;script&gt;</b></p>"
    )
    assert page.html == "<p>1 &lt; 2 &amp; <strong>&lt;script&gt;</strong></p>"


def test_all_kinds_of_source_give_the_same_page(cleaner: SiteCleaner) -> None:
    source = story_page(1)
    texts = {
        cleaner.clean(kind).text
        for kind in (
            source,
            source.encode(),
            Selector(text=source),
            lxml_html.document_fromstring(source),
        )
    }
    assert texts == {cleaner.clean(source).text}


def test_one_page_is_kept_whole() -> None:
    cleaner = SiteCleaner("style-tree")
    cleaner.observe(story_page(0))
    assert all(block.kept for block in cleaner.clean(story_page(0)).blocks)


@settings(max_examples=60)
@given(st.one_of(st.binary(max_size=400), st.text(max_size=400)))
def test_clean_never_raises(source: bytes | str) -> None:
    cleaner = SiteCleaner("style-tree")
    cleaner.observe(source)
    assert isinstance(cleaner.clean(source).text, str)


def test_halves_merge_to_the_whole(cleaner: SiteCleaner) -> None:
    halves = SiteCleaner("style-tree"), SiteCleaner("style-tree")
    for number in reversed(range(len(STORIES))):
        halves[number % 2].observe(story_page(number))
    halves[1].merge(halves[0])
    assert halves[1].to_bytes() == cleaner.to_bytes()
    assert halves[1].clean(story_page(3)) == cleaner.clean(story_page(3))


def test_options_in_another_order_give_the_same_bytes() -> None:
    one = SiteCleaner(lean="precision", include_comments=True)
    assert SiteCleaner(include_comments=True, lean="precision").to_bytes() == one.to_bytes()


def test_round_trip_of_bytes(cleaner: SiteCleaner) -> None:
    copy = SiteCleaner.from_bytes(cleaner.to_bytes())
    assert copy.to_bytes() == cleaner.to_bytes()
    assert copy.pages == len(STORIES)
    assert copy.clean(story_page(2)) == cleaner.clean(story_page(2))


def test_options_can_be_replaced_while_reading(cleaner: SiteCleaner) -> None:
    copy = SiteCleaner.from_bytes(cleaner.to_bytes(), max_tree_nodes=5)
    copy.observe(story_page(0))
    assert len(copy.to_bytes()) < len(cleaner.to_bytes())


@pytest.mark.parametrize(
    "data", [b"", b"noiseclean", b"noiseclean 1\n", b"noiseclean 2\nxxxxxxxxxxxxxxxx", b"\x80\x04."]
)
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(TreeDataError):
        SiteCleaner.from_bytes(data)


def test_damaged_bytes_are_refused(cleaner: SiteCleaner) -> None:
    data = cleaner.to_bytes()
    rng = random.Random(5)
    for _ in range(200):
        broken = bytearray(data)
        broken[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        with pytest.raises(TreeDataError):
            SiteCleaner.from_bytes(bytes(broken))
    with pytest.raises(TreeDataError):
        SiteCleaner.from_bytes(data[:-1])


@pytest.mark.parametrize("wrong", [b'"include_inks"', b'"include_links":1,"x"', b'"templates"'])
def test_switches_that_do_not_exist_are_refused(cleaner: SiteCleaner, wrong: bytes) -> None:
    head = len(_MAGIC) + DIGEST_SIZE
    state = zlib.decompress(cleaner.to_bytes()[head:])
    payload = zlib.compress(state.replace(b'"include_links"', wrong))
    with pytest.raises(TreeDataError):
        SiteCleaner.from_bytes(_MAGIC + digest(payload) + payload)


def test_a_tree_of_a_form_without_switches_for_markup_is_read(cleaner: SiteCleaner) -> None:
    head = len(_MAGIC) + DIGEST_SIZE
    state = json.loads(zlib.decompress(cleaner.to_bytes()[head:]))
    del state["markup"]
    payload = zlib.compress(json.dumps(state).encode())
    older = SiteCleaner.from_bytes(_MAGIC + digest(payload) + payload)
    assert (older.pages, older.markup) == (cleaner.pages, MarkupOptions())


def test_cleaners_of_different_make_do_not_merge(cleaner: SiteCleaner) -> None:
    with pytest.raises(TreeDataError, match="templates=True"):
        cleaner.merge(SiteCleaner(templates=True))


def test_unknown_method_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"no method 'magic'.*style-tree"):
        SiteCleaner("magic")


def test_a_threshold_of_ones_own(cleaner: SiteCleaner) -> None:
    strict, lenient = (SiteCleaner("style-tree", threshold=t) for t in (1.0, 0.0))
    for number in range(len(STORIES)):
        strict.observe(story_page(number))
        lenient.observe(story_page(number))
    page = story_page(0)
    assert lenient.clean(page).kept_characters == cleaner.clean(page).kept_characters
    assert strict.clean(page).text.splitlines()[0] == "Story 0 of the day"
    assert strict.clean(page).kept_characters < cleaner.clean(page).kept_characters


def test_forgetting_lets_a_redesign_win() -> None:
    cleaner = SiteCleaner("style-tree")
    for number in range(5):
        cleaner.observe(story_page(number))
    cleaner.decay(0.25)
    assert cleaner.pages == 1.25


def test_demo_site_is_cleaned_after_learning_in_any_order() -> None:
    demo = DemoSite(articles=24, seed=3)
    pages = list(demo.pages.values())
    cleaners = []
    for seed in (1, 2):
        random.Random(seed).shuffle(pages)
        cleaner = SiteCleaner("style-tree")
        for page in pages:
            cleaner.observe(page.html, url=page.path)
        cleaners.append(cleaner)
    assert cleaners[0].to_bytes() == cleaners[1].to_bytes()
    articles = [page for page in pages if page.kind == "article"]
    for page in articles:
        assert cleaners[0].clean(page.html).text == cleaners[1].clean(page.html).text
    noisy = SiteCleaner("style-tree")
    before = [score(noisy.clean(page.html).text, page.gold) for page in articles]
    after = [score(cleaners[0].clean(page.html).text, page.gold) for page in articles]
    assert sum(s.precision for s in after) > sum(s.precision for s in before) + 0.1 * len(articles)
    assert sum(s.recall for s in after) > 0.95 * len(articles)


def test_memory_stays_within_the_cap(tmp_path: Path) -> None:
    cleaner = SiteCleaner(max_tree_nodes=300)
    for page in DemoSite(articles=24, seed=3).pages.values():
        cleaner.observe(page.html)
    (tmp_path / "tree").write_bytes(cleaner.to_bytes())
    assert SiteCleaner.from_bytes((tmp_path / "tree").read_bytes()).pages == cleaner.pages


def test_the_package_loads_its_parts_when_they_are_asked_for() -> None:
    code = (
        "import sys, noiseclean_scrapy as n; print('numpy' in sys.modules, n.SiteCleaner.__name__)"
    )
    found = run_process(ROOT, sys.executable, "-c", code)
    assert found.stdout.split() == ["False", "SiteCleaner"]
    with pytest.raises(ImportError, match="no_such_name"):
        from noiseclean_scrapy import no_such_name  # noqa: F401


def test_options_replace_those_of_the_learned_tree() -> None:
    cleaner = SiteCleaner("style-tree", threshold=0.9, headline=False, include_links=True)
    cleaner.observe("<p>One <a href=http://a.example/>link</a></p>")
    data = cleaner.to_bytes()
    back = SiteCleaner.from_bytes(data)
    assert (back.headline, back.markup) == (False, cleaner.markup)
    assert vars(back._method)["threshold"] == 0.9
    other = SiteCleaner.from_bytes(data, headline=True, include_links=False, threshold=0.1)
    assert (other.headline, other.markup) == (True, PLAIN)
    assert vars(other._method)["threshold"] == 0.1
    entropy = SiteCleaner("block-entropy", threshold=0.5, least_gain=0.2)
    changed = SiteCleaner.from_bytes(entropy.to_bytes(), threshold=0.3, least_gain=0.1)
    assert vars(changed._method)["threshold"] == 0.3
    assert vars(changed._method)["least_gain"] == 0.1


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"templates": True}, "learned with templates=False"),
        ({"method": "evidence"}, "learned with method=style-tree"),
        ({"published": True}, "learned with published=False"),
    ],
)
def test_what_a_tree_was_not_learned_with_is_refused(wrong: dict[str, Any], told: str) -> None:
    data = SiteCleaner("style-tree").to_bytes()
    with pytest.raises(TreeDataError, match=told):
        SiteCleaner.from_bytes(data, **wrong)
    same = {"templates": False, "method": "style-tree", "published": False}
    assert SiteCleaner.from_bytes(data, **same).method == "style-tree"


def test_flags_of_numpy_are_flags() -> None:
    flags: dict[str, Any] = {"headline": np.True_, "include_links": np.False_}
    cleaner = SiteCleaner("style-tree", **flags)
    assert (cleaner.headline, cleaner.markup) == (True, PLAIN)


def test_a_mistake_of_the_caller_is_no_damage_of_the_tree() -> None:
    data = SiteCleaner("style-tree").to_bytes()
    for wrong in ({"budget": 5}, {"headline": "no"}, {"include_links": 1}):
        with pytest.raises(TypeError):
            SiteCleaner.from_bytes(data, **wrong)
        with pytest.raises(TypeError):
            SiteCleaner(**wrong)
    with pytest.raises(ConfigurationError, match="colour"):
        SiteCleaner.from_bytes(data, colour="red")
    with pytest.raises(TypeError, match="PageBudget"):
        SiteCleaner(budget=5)  # type: ignore[arg-type]
    cleaner = SiteCleaner("style-tree")
    with pytest.raises(TypeError, match="neither true nor false"):
        cleaner.clean("<p>Fog.").to_html(include_links="no")  # type: ignore[arg-type]
    for mistake in (lambda: SiteCleaner(3), lambda: cleaner.merge(data)):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"method|SiteCleaner"):
            mistake()


def test_what_does_not_add_up_is_refused() -> None:
    for one, other in (
        (SiteCleaner("style-tree"), SiteCleaner("style-tree", published=True)),
        (SiteCleaner("block-entropy"), SiteCleaner("block-entropy", blocks="table")),
    ):
        one.observe("<p>Fog")
        other.observe("<p>Fog")
        with pytest.raises(TreeDataError):
            one.merge(other)
        assert one.pages == 1


@pytest.mark.parametrize("templates", [False, True])
@pytest.mark.parametrize(
    ("method", "first", "second"),
    [
        ("block-entropy", {"blocks": "element"}, {"blocks": "table"}),
        ("shingle-template", {"links": 3}, {"links": 7}),
    ],
)
def test_a_tree_is_read_with_the_options_it_was_learned_with(
    method: str, first: dict[str, Any], second: dict[str, Any], templates: bool
) -> None:
    cleaner = SiteCleaner(method, templates=templates, **first)
    cleaner.observe("<ul><li>Home</ul><p>Fog closes the port.")
    told = "".join(f"{name}={value}" for name, value in first.items())
    with pytest.raises(TreeDataError, match=f"learned with {told}: learn it again"):
        SiteCleaner.from_bytes(cleaner.to_bytes(), **second)
    assert SiteCleaner.from_bytes(cleaner.to_bytes(), **first).pages == 1
    assert SiteCleaner.from_bytes(cleaner.to_bytes()).pages == 1
    with pytest.raises(TreeDataError, match=f"cannot take over from one with {told}"):
        SiteCleaner(method, templates=templates, **second).merge(cleaner)
