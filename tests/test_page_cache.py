"""Pages that wait, as they were read, to be cleaned again."""

from __future__ import annotations

import copy
import gc
import pickle
from dataclasses import replace
from datetime import datetime, timezone

import numpy as np

from noiseclean_scrapy.clusters.page_cache import PageCache
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
    reading = load_model().read(article, ["tables"])
    keys = page_keys(article, reading.scores)
    original = copy.deepcopy(article)
    held, one = PageCache(), record(1)
    held.add(one, article)
    back = held.take(one)
    assert back == original
    assert back.blocks[0].rule == "title"
    assert back.declared.body == "It was"
    # Neither is made again, and what is large is not held.
    kept = EvidencePage.of(back)
    assert load_model().read(back, ["tables"]) is kept.reading
    assert page_keys(back, load_model().read(back).scores) is kept.keys
    assert kept.arrays is None
    assert kept.texts is None
    for name in ("scores", "lengths", "characters"):
        np.testing.assert_array_equal(getattr(kept.reading, name), getattr(reading, name))
    np.testing.assert_array_equal(kept.reading.kinds["tables"], reading.kinds["tables"])
    assert kept.keys is not None
    assert (kept.keys.places, kept.keys.texts) == (keys.places, keys.texts)
    assert (kept.keys.signature, kept.keys.layout) == (keys.signature, keys.layout)


def test_what_is_read_in_a_held_page_later_is_kept_with_it() -> None:
    held, one = PageCache(), record(1)
    fog = page(one)
    held.add(one, fog)
    scores = load_model().read(fog).scores
    held.note(one, fog)
    held.note(record(2), fog)
    back = held.take(one)
    assert back is not None
    kept = EvidencePage.of(back).reading
    assert kept is not None
    np.testing.assert_array_equal(kept.scores, scores)
    assert back.words is not None
    assert fog.words is not None
    np.testing.assert_array_equal(back.words, fog.words)
    assert held.take(record(2)) is None


def test_a_held_page_is_a_handful_of_objects() -> None:
    held, article = PageCache(), build_page("<p>Held</p>" * 1000)
    article.elements, article.blocks  # noqa: B018
    for number in range(4):
        held.add(record(number), article)

    def objects_of(number: int) -> int:
        gc.collect()
        before = len(gc.get_objects())
        held.take(record(number))
        gc.collect()
        return before - len(gc.get_objects())

    assert min(map(objects_of, range(3))) <= 5  # others' objects come and go as well


class Kept:
    """What a method of the user's keeps of a page."""

    def __reduce__(self) -> str:
        raise RuntimeError("not to be copied")


def test_what_cannot_be_copied_is_not_held() -> None:
    held, one = PageCache(), record(1)
    fog = page(one)
    held.add(one, fog)
    fog.kept = Kept()
    held.note(one, fog)
    assert held.take(one) == fog  # as it was held before
    held.add(one, fog)
    assert held.take(one) is None


def test_another_body_or_address_is_another_page() -> None:
    held, one = PageCache(), record(1)
    held.add(one, page(one))
    assert held.take(replace(one, body_hash="h2")) is None
    assert held.take(replace(one, url="https://example.com/other")) is None


def packed(of: PageRecord) -> int:
    """Bytes that a held page takes."""
    held = PageCache()
    held.add(of, page(of))
    return held.size


def test_the_oldest_give_way() -> None:
    records = [record(number) for number in range(4)]
    held = PageCache(room=3 * packed(records[0]))
    for one in (*records, records[-1]):
        held.add(one, page(one))
    assert 0 < held.size <= held.room
    assert [held.take(one) is not None for one in records] == [False, True, True, True]
    assert held.size == 0
    held.add(records[0], page(records[0]))
    assert held.take(records[0])


TEMPLATE = "".join(f'<li><a href="/section/{number}">Section {number}' for number in range(200))


def article(number: int, cluster: str = "example.com") -> PageRecord:
    html = f"<ul>{TEMPLATE}</ul><h1>Storm {number}</h1><p>Ship {number} lies in harbour {number}."
    return replace(record(number, html), cluster=cluster)


def test_of_many_pages_of_a_site_each_takes_little_more_than_its_text() -> None:
    held, articles = PageCache(), [article(number) for number in range(40)]
    for one in articles:
        held.add(one, page(one))
    assert held.size < 0.5 * len(articles) * packed(articles[0])
    for one in articles:
        assert held.take(one) == page(one)
    assert held.size == 0


def test_pages_of_several_sites_give_way_and_come_back_as_they_were() -> None:
    names = "a.example", "b.example"
    articles = [article(number, names[number % 2]) for number in range(400)]
    held = PageCache(room=30 * packed(articles[0]))
    for one in articles:
        held.add(one, page(one))
        assert held.size <= held.room
    back = [held.take(one) for one in articles]
    assert back[-10:] == [page(one) for one in articles[-10:]]
    assert back[0] is None
    assert held.size == 0
    for one in articles[:2]:
        held.add(one, page(one))
        assert held.take(one) == page(one)


def test_a_page_larger_than_the_room_is_not_held() -> None:
    one = record(1)
    held = PageCache(room=packed(one) - 1)
    held.add(one, page(one))
    assert held.take(one) is None
    assert held.size == 0


def test_another_process_holds_its_own_pages() -> None:
    held, one = PageCache(room=1000), record(1)
    held.add(one, page(one))
    copy = pickle.loads(pickle.dumps(held))
    assert copy.room == 1000
    assert copy.take(one) is None
