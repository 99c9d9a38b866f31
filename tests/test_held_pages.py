"""Pages that wait, parsed, to be cleaned again."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import datetime, timezone

from noiseclean_scrapy.held_pages import HeldPages
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.store import PageRecord


def record(number: int, html: str = "<p>Fog</p>") -> PageRecord:
    url = f"https://example.com/{number}"
    return PageRecord(str(number), "example.com", url, "h1", datetime.now(timezone.utc), html=html)


def page(of: PageRecord) -> Page:
    return build_page(of.html or "", url=of.url)


def test_a_page_is_held_until_it_is_taken() -> None:
    held, one = HeldPages(), record(1)
    fog = page(one)
    held.add(one, fog)
    assert held.take(replace(one, html=None)) is fog
    assert held.take(one) is None


def test_another_body_or_address_is_another_page() -> None:
    held, one = HeldPages(), record(1)
    held.add(one, page(one))
    assert held.take(replace(one, body_hash="h2")) is None
    assert held.take(replace(one, url="https://example.com/other")) is None


def test_the_oldest_give_way() -> None:
    # BODY, P and one text block are 300 bytes, the HTML 10.
    records = [record(number) for number in range(4)]
    held = HeldPages(room=3 * 310)
    for one in (*records, records[-1]):
        held.add(one, page(one))
    assert [held.take(one) is not None for one in records] == [False, True, True, True]
    held.add(records[0], page(records[0]))
    assert held.take(records[0])


def test_a_page_larger_than_the_room_is_not_held() -> None:
    held, one = HeldPages(room=309), record(1)
    held.add(one, page(one))
    assert held.take(one) is None


def test_another_process_holds_its_own_pages() -> None:
    held, one = HeldPages(room=1000), record(1)
    held.add(one, page(one))
    copy = pickle.loads(pickle.dumps(held))
    assert copy.room == 1000
    assert copy.take(one) is None
