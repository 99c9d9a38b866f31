"""What the store tells of pages and sites beside a crawl, and cleaning stored pages again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from noiseclean_scrapy import Block, SiteCleaner
from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import QueryError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import (
    Cleaned,
    NewTree,
    PageRecord,
    SiteSummary,
    Store,
    clusters,
    page_rows,
)
from tests.support import databases
from tests.support.searching import NOON, page, write


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store(database_url, store_html=True) as store:
        yield store


def test_metadata_and_fit_come_back_and_stay(store: Store) -> None:
    facts = Metadata("Ann", NOON, "en", "http://a/canonical", "http://a/i.png")
    told = replace(page("1", "text"), metadata=facts)
    assert told.cleaned is not None
    told = replace(told, cleaned=replace(told.cleaned, fit=0.25))
    write(store, told, page("2", "text", language=None))
    assert store.pages.find("1") == told
    write(store, replace(told, metadata=None, cleaned=None))
    assert store.pages.find("1") == told
    untold = store.pages.find("2")
    assert untold is not None
    assert untold.metadata is None
    write(store, replace(told, metadata=Metadata()))
    assert store.pages.find("1") == replace(told, metadata=Metadata())


def test_all_that_a_visit_brings_is_written_and_renewed(store: Store) -> None:
    first = page("1", "text", html="<p>")
    news: dict[str, Any] = {
        "cluster": "b.example",
        "url": "http://b.example/1",
        "body_hash": "other",
        "fetched_at": NOON + timedelta(1),
    }
    others = {"key", "position", "learned_version", "html", "cleaned", "metadata"}
    assert news.keys() == {field.name for field in fields(PageRecord)} - others
    write(store, first, replace(first, key="2", **news))
    write(store, replace(first, **news))
    for key in "12":
        found = store.pages.find(key)
        assert found is not None
        assert {name: getattr(found, name) for name in news} == news


def test_a_url_is_found_as_it_was_last_fetched(store: Store) -> None:
    long = "http://a.example/" + "x" * 10_000
    old, new = (replace(page(key, key), url=long) for key in ("old", "new"))
    write(store, replace(old, fetched_at=NOON - timedelta(1)), new)
    found = store.pages.find_url(long)
    assert found is not None
    assert found.key == "new"
    assert store.pages.find_url("http://a.example/none") is None


def test_html_is_read_alone_and_with_its_pages(store: Store) -> None:
    pages = [page(f"{n}", "text", html=f"<p>{n}") for n in range(3)]
    write(store, *pages, page("none", "text"), page("b", "", cluster="b.example", html="<b>"))
    assert store.pages.html("1") == "<p>1"
    assert store.pages.html("none") is None
    assert list(store.pages.with_html("a.example")) == pages


def test_stored_pages_are_cleaned_again_in_chunks(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_rows, "CHUNK_PAGES", 2)
    write(store, *(page(f"{n}", "old", html=f"new{n}") for n in range(5)))
    seen = replace(page("seen", "", html="seen"), cleaned=None)
    write(store, page("bare", "old"), seen, page("b", "old", cluster="b.example", html="new"))

    def clean(record: PageRecord) -> Cleaned:
        return Cleaned("", record.html or "", (), 3, 7, 5, 0.5)

    steps = store.pages.clean_again("a.example", clean)
    assert next(steps) == 2
    assert store.search("old", site="a.example").total == 4
    assert list(store.pages.clean_again("a.example", clean)) == [2, 4, 5]
    assert [hit.key for hit in store.search("old").hits] == ["b", "bare"]
    assert [hit.key for hit in store.search("new4").hits] == ["4"]
    assert list(store.pages.clean_again("none", clean)) == []
    found = store.pages.find("4")
    assert found is not None
    assert found.cleaned == Cleaned("", "new4", (), 3, 7, 5, 0.5)
    assert found.metadata == Metadata()
    assert store.pages.find("seen") == replace(seen, html=None)


@pytest.mark.parametrize("where", ["rows", pytest.param("objects", marks=pytest.mark.extras)])
def test_a_chunk_ends_where_its_pages_fill_it(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    if where == "objects":
        pytest.importorskip("fsspec")
    monkeypatch.setattr(page_rows, "CHUNK_BYTES", 20_000)
    html_store = f"file://{tmp_path}" if where == "objects" else ""
    sizes = {"0": 9, "1": 99_999, "2": 9, "3": 15_000, "4": 15_000, "5": 9, "6": 9}
    pages = [
        page(key, "old", position=1 + int(key), html=f"<p>{' ' * size}")
        for key, size in sizes.items()
    ]
    with Store(database_url, store_html=True, html_store=html_store) as store:
        write(store, *pages)
        assert list(store.pages.with_html("a.example")) == pages
        assert list(store.pages.provisional("a.example")) == pages
        assert list(store.pages.damaged()) == []
        bare = [replace(page, html=None) for page in pages]
        assert list(store.pages.with_text()) == bare
        steps = store.pages.clean_again("a.example", lambda record: record.cleaned)
        assert list(steps) == [2, 5, 7]

        def train(_: object, keys: list[str], found: Iterator[PageRecord]) -> NewTree:
            # What somebody else holds is read without HTML.
            held = [replace(page, html=None) if page.key in "56" else page for page in pages]
            assert (list(found), keys) == (held, list(sizes))
            return NewTree("evidence", b"tree", lambda page: page.cleaned, holds)

        def holds(record: PageRecord) -> bool:
            return record.key in "56"

        made = store.clusters.add_tree(
            "a.example", method="evidence", limit=9, train=train, holds=holds
        )
        assert made.cleaned == tuple(sizes)


def test_a_chunk_that_fails_changes_nothing(store: Store) -> None:
    write(store, *(page(f"{n}", "old", html="new") for n in range(3)))

    def clean(record: PageRecord) -> Cleaned:
        if record.key == "2":
            raise ZeroDivisionError
        return Cleaned("", "new", (), 1, 1, 1)

    with pytest.raises(ZeroDivisionError):
        list(store.pages.clean_again("a.example", clean))
    assert (store.search("old").total, store.search("new").total) == (3, 0)


def test_sites_come_in_the_same_order_from_each_database(store: Store) -> None:
    """That of their characters: of languages each database knows others."""
    names = ["127.0.0.10:80", "127.0.0.1:80", "a.b.c", "a.b:8", "éa.example", "a-b.example"]
    for number, name in enumerate(names):
        write(store, page(f"{number}", "text", cluster=name, position=1))
    assert [summary.name for summary in store.clusters.summaries()] == sorted(names)
    assert [site.name for site in store.clusters.all()] == sorted(names)
    assert store.clusters.idle(NOON + timedelta(days=1)) == sorted(names)


def test_sites_in_numbers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "NEWEST_PAGES", 2)
    for number, fit in enumerate((0.1, 0.5, 0.75)):
        cleaned = Cleaned("", "text", (), 0, 100, 10, fit)
        record = replace(page(f"{number}", "", position=number + 1), cleaned=cleaned)
        write(store, replace(record, fetched_at=NOON + timedelta(number)))
    write(store, replace(page("3", "", position=4), cleaned=None))
    write(store, page("4", "", cluster="b.example"))
    store.pages.delete(["4"])
    first, second = store.clusters.summaries()
    assert first == SiteSummary(
        name="a.example",
        method="evidence",
        version=0,
        learned=4,
        pages=4,
        with_text=3,
        provisional=4,
        visible_characters=300,
        kept_characters=30,
        fit=0.625,
        empty=0,
        first_fetch=NOON,
        last_fetch=NOON + timedelta(2),
    )
    assert (second.name, second.pages, second.fit) == ("b.example", 0, None)
    assert (second.first_fetch, second.last_fetch) == (None, None)


def test_pages_are_listed_in_orders_and_parts(store: Store) -> None:
    for number, (kept, fit) in enumerate([(30, 0.5), (0, 1.0), (20, 0.25)]):
        record = page(f"{number}", "text")
        assert record.cleaned
        cleaned = replace(record.cleaned, visible_characters=40, kept_characters=kept, fit=fit)
        write(store, replace(record, cleaned=cleaned, fetched_at=NOON + timedelta(number)))
    write(store, replace(page("3", ""), cleaned=None), page("4", "x", cluster="b.example"))
    orders = {
        order: [line.key for line in store.pages.lines("a.example", order=order)]
        for order in ("newest", "fit", "kept")
    }
    assert orders == {
        "newest": ["2", "1", "0"],
        "fit": ["2", "0", "1"],
        "kept": ["1", "2", "0"],
    }
    (line,) = store.pages.lines("a.example", limit=1, offset=1)
    assert (line.key, line.noise) == ("1", 1.0)
    assert len(store.pages.lines()) == 4
    with pytest.raises(QueryError):
        store.pages.lines(limit=-1)
    (summary, _) = store.clusters.summaries()
    assert summary.empty == 1
    found, none = store.clusters.fits(["a.example", "nothing"], 60)
    assert (found, none) == ([(NOON + timedelta(n), f) for n, f in enumerate([0.5, 1, 0.25])], [])


def test_many_pages_are_deleted_with_all_that_is_theirs(store: Store, database_url: str) -> None:
    write(store, *(page(f"{n:04}", "text", html="<p>") for n in range(450)))
    assert store.pages.delete([f"{n:04}" for n in range(5, 2000)]) == 445
    for table in ("page", "page_html", "search"):
        query = f"SELECT count(*) FROM noiseclean_{table}"
        assert databases.read_rows(database_url, query) == [(5,)]


def test_a_text_that_a_new_tree_leaves_as_it_is_is_not_written_again(
    store: Store, database_url: str
) -> None:
    block = Block("ferry", "/p", "p", True, 0.5, {}, "p")
    pages = [page(f"{n}", "ferry", html=f"<p>{n}", position=n, language="en") for n in (1, 2)]
    write(store, *(with_blocks(record, [block]) for record in pages))
    databases.run_statement(database_url, "DELETE FROM noiseclean_search")

    def clean(record: PageRecord) -> Cleaned:
        assert record.cleaned is not None
        same = replace(record.cleaned, clean_version=1, fit=0.25)
        return same if record.key == "1" else replace(same, text="ferries", blocks=())

    store.clusters.save_tree(
        "a.example", method="evidence", version=1, tree=b"", learned=2, clean=clean
    )
    same, other = (record.cleaned for record in store.pages.with_text("a.example"))
    assert same == Cleaned("", "ferry", [block], 1, 5, 5, 0.25)
    assert other == Cleaned("", "ferries", [], 1, 5, 5, 0.25)
    # What was taken out of the index by hand has come back where the text is another one.
    assert [hit.key for hit in store.search("ferry").hits] == ["2"]


def with_blocks(record: PageRecord, blocks: list[Block]) -> PageRecord:
    return replace(record, cleaned=Cleaned("", "ferry", blocks, 0, 5, 5))


@pytest.mark.parametrize("store_html", [True, False])
def test_the_blocks_of_a_text_that_stays_are_those_that_are_stored(*, store_html: bool) -> None:
    config = Config(store_html=store_html)
    clean = SiteCleaner().clean("<h1>Fog</h1><p>Fog closes the port of Larkham for a day.")
    stored = to_record(clean, 1, config)
    again = to_record(clean, 2, config, stored)
    assert again == replace(stored, clean_version=2)
    assert again.blocks is stored.blocks
    assert to_record(clean, 2, config, replace(stored, text="Fog")).blocks is not stored.blocks
