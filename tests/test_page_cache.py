"""Pages that wait, as they were read, to be cleaned again."""

from __future__ import annotations

import copy
import gc
import pickle
from dataclasses import replace
from datetime import datetime, timezone

from noiseclean_scrapy.clusters.page_cache import PageCache, size
from noiseclean_scrapy.methods.evidence_model.evidence_page import EvidencePage
from noiseclean_scrapy.methods.evidence_model.fingerprints import page_keys
from noiseclean_scrapy.methods.evidence_model.model import load_model
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.store import PageRecord


def record(number: int, html: str = "<p>Fog</p>") -> PageRecord:
    url = f"https://example.com/{number}"
    return PageRecord(str(number), "example.com", url, "h1", datetime.now(timezone.utc), html=html)


def page(of: PageRecord) -> Page:
    return build_page(of.html or "", url=of.url)


def test_a_page_is_held_until_it_is_taken() -> None:
    held, one = PageCache(), record(1)
    fog = page(one)
    held.add(one, fog)
    assert held.take(replace(one, html=None)) == fog
    assert held.take(one) is None


def test_a_page_comes_back_as_it_was_with_what_was_read_in_it() -> None:
    article = build_page(
        "<html lang=en><title>Fog</title><body><main class=story><h1>Fog</h1>"
        "<p>It was <a href=/sea>the sea</a>.<img src=a.png></main><div hidden>Menu</div>"
        '<script type="application/ld+json">{"@type": "NewsArticle", "articleBody": "It was"}'
        "</script>",
        url="https://example.com/1",
        rules=lambda root: {next(root.iter("h1")): "title"},
    )
    keys = page_keys(article, load_model().read(article).scores)
    original = copy.deepcopy(article)
    held, one = PageCache(), record(1)
    held.add(one, article)
    back = held.take(one)
    assert back == original
    assert back.blocks[0].rule == "title"
    assert back.declared.body == "It was"
    assert load_model().read(back) is EvidencePage.of(article).reading
    assert page_keys(back, load_model().read(back).scores) is keys


def test_what_is_read_in_a_held_page_later_is_kept_with_it() -> None:
    held, one = PageCache(), record(1)
    fog = page(one)
    held.add(one, fog)
    reading = load_model().read(fog)
    held.note(one, fog)
    held.note(record(2), fog)
    back = held.take(one)
    assert back is not None
    assert load_model().read(back) is reading
    assert back.words is fog.words is not None


def test_a_held_page_is_a_handful_of_objects() -> None:
    article = build_page("<p>Held</p>" * 1000)
    article.elements, article.blocks  # noqa: B018
    held, one = PageCache(), record(1)
    gc.collect()
    before = len(gc.get_objects())
    held.add(one, article)
    del article
    gc.collect()
    assert len(gc.get_objects()) < before - 1990
    # Nor does the collector look at the texts and names in it.
    gc.collect()
    rows = (found for found in gc.get_objects() if type(found) in (list, tuple) and found)
    assert not [row for row in rows if type(row[0]) is str and row[0] == "Held"]


def test_another_body_or_address_is_another_page() -> None:
    held, one = PageCache(), record(1)
    held.add(one, page(one))
    assert held.take(replace(one, body_hash="h2")) is None
    assert held.take(replace(one, url="https://example.com/other")) is None


def test_what_was_read_in_a_page_is_remembered_for_longer() -> None:
    html = "<h1>Fog</h1><p>Fog closes the port of Larkham for a day.</p>"
    records = [record(number, html) for number in range(3)]
    held, pages = PageCache(room=2 * size(page(records[0]))), [page(one) for one in records]
    for one, article in zip(records, pages, strict=True):
        page_keys(article, load_model().read(article).scores)
        held.add(one, article)
    assert held.take(records[0]) is None
    again, changed, other = page(records[0]), page(replace(records[0], html="<p>Fog")), page(one)
    held.complete(replace(records[0], body_hash="h2"), other)
    assert other.kept is None
    held.complete(records[0], again)
    kept = EvidencePage.of(pages[0])
    assert load_model().read(again) is kept.reading
    assert page_keys(again, load_model().read(again).scores) is kept.keys
    held.complete(records[0], changed)
    assert changed.kept is None


def test_the_oldest_give_way() -> None:
    records = [record(number) for number in range(4)]
    held = PageCache(room=3 * size(page(records[0])))
    for one in (*records, records[-1]):
        held.add(one, page(one))
    assert [held.take(one) is not None for one in records] == [False, True, True, True]
    held.add(records[0], page(records[0]))
    assert held.take(records[0])


def test_a_page_larger_than_the_room_is_not_held() -> None:
    one = record(1)
    held = PageCache(room=size(page(one)) - 1)
    held.add(one, page(one))
    assert held.take(one) is None


def test_another_process_holds_its_own_pages() -> None:
    held, one = PageCache(room=1000), record(1)
    held.add(one, page(one))
    copy = pickle.loads(pickle.dumps(held))
    assert copy.room == 1000
    assert copy.take(one) is None
