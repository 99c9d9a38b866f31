"""The store on real databases: what is written is read back, all or nothing, by any process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from noiseclean_scrapy import Block
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store import (
    Cleaned,
    ClusterRecord,
    NewTree,
    PageCounts,
    PageRecord,
    Store,
    TreeUpdate,
    Written,
    page_rows,
)
from noiseclean_scrapy.store.records import EARLIER_BODY
from tests.support import databases

METHOD = "style-tree"
NOON = datetime(2025, 3, 1, 12, tzinfo=timezone.utc)
HTML_KEYS = "SELECT key FROM noiseclean_page_html ORDER BY key"
CLEANED = Cleaned("Title", "Text\nmore", (Block("", "/p", "p", True, 0.5, {}, "p"),), 0, 90, 9)


def page(number: int, *, cluster: str = "a.example", cleaned: Cleaned | None = None) -> PageRecord:
    key = f"{number:08x}"
    url = f"http://{cluster}/{number}"
    return PageRecord(key, cluster, url, "00ff", NOON, number, f"<p>{number}</p>", cleaned)


def stored(page: PageRecord, learned_version: int | None = None) -> PageRecord:
    return replace(page, html=None, learned_version=learned_version)


def clean_again(page: PageRecord) -> Cleaned:
    return replace(CLEANED, text=f"again {page.html}", clean_version=1)


def save_first_tree(store: Store, learned: int) -> list[str]:
    return store.clusters.save_tree(
        "a.example", method=METHOD, version=1, tree=b"tree", learned=learned, clean=clean_again
    )


def test_pages_come_back_as_written(store: Store) -> None:
    seen = page(1)
    unlearned = replace(page(2, cleaned=CLEANED), position=None)
    store.pages.write([unlearned, seen], method=METHOD)
    assert store.pages.find(seen.key) == stored(seen)
    assert store.pages.find(unlearned.key) == stored(unlearned)
    assert store.pages.find("none") is None
    assert list(store.pages.provisional("a.example")) == [seen]
    assert list(store.pages.with_text()) == [stored(unlearned)]
    assert store.clusters.find("a.example") == ClusterRecord("a.example", METHOD, 0, 1, None)
    assert store.clusters.find("b.example") is None
    assert store.pages.count() == PageCounts(pages=2, with_text=1, provisional=1)


def test_times_come_back_in_utc_and_need_a_zone(store: Store) -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    store.pages.write([replace(page(1), fetched_at=elsewhere)], method=METHOD)
    found = store.pages.find(page(1).key)
    assert found is not None
    assert found.fetched_at == NOON
    assert found.fetched_at.utcoffset() == timedelta(0)
    with pytest.raises(StoreError, match="time without a time zone"):
        store.pages.write([replace(page(2), fetched_at=NOON.replace(tzinfo=None))], method=METHOD)
    assert store.pages.count().pages == 1


def test_writing_twice_leaves_the_same_rows(store: Store) -> None:
    pages = [page(1, cleaned=CLEANED), page(2), replace(page(3), position=None)]
    store.pages.write(pages, method=METHOD)
    before = [store.pages.find(page.key) for page in pages]
    store.pages.write([*pages, *pages], method="another")
    assert [store.pages.find(page.key) for page in pages] == before
    assert store.pages.count() == PageCounts(pages=3, with_text=1, provisional=2)
    assert [cluster.method for cluster in store.clusters.all()] == [METHOD]


def test_item_after_response_and_response_after_item(store: Store) -> None:
    seen, item = page(1), replace(page(1, cleaned=CLEANED), position=None, html=None)
    of_before = replace(CLEANED, clean_version=EARLIER_BODY)
    for first, second, cleaned in [(seen, item, CLEANED), (item, seen, of_before)]:
        store.pages.write([first], method=METHOD)
        store.pages.write([replace(second, body_hash="new")], method=METHOD)
        assert list(store.pages.provisional("a.example")) == [
            replace(seen, body_hash="new", cleaned=cleaned)
        ]
        assert store.clusters.delete("a.example") == 1


def test_the_store_gives_positions_by_the_order_of_the_wishes(store: Store) -> None:
    wishes = [replace(page(n), position=wish) for n, wish in [(1, 30), (2, 10), (3, None), (4, 20)]]
    written = store.pages.write(wishes, method=METHOD)
    state = ClusterRecord("a.example", METHOD, 0, 3, None)
    assert written == Written(3, (state,))
    assert [page.key for page in store.pages.provisional("a.example")] == [
        page(n).key for n in (2, 4, 1)
    ]
    # Another process has the same wishes, and a page of another cluster.
    other = page(5, cluster="b.example")
    written = store.pages.write([*wishes, replace(page(6), position=1), other], method=METHOD)
    assert written.learned == 2
    assert [(cluster.name, cluster.learned) for cluster in written.clusters] == [
        ("a.example", 4),
        ("b.example", 1),
    ]
    positions = [page.position for page in store.pages.provisional("a.example")]
    assert positions == [1, 2, 3, 4]


def test_a_position_once_given_stays(store: Store) -> None:
    store.pages.write([page(7)], method=METHOD)
    store.pages.write([replace(page(7), position=9)], method=METHOD)
    store.pages.write([replace(page(7), position=None)], method=METHOD)
    assert store.pages.find(page(7).key) == stored(replace(page(7), position=1))


def test_a_page_in_another_cluster_is_learned_there(store: Store) -> None:
    store.pages.write([page(1), page(2)], method=METHOD)
    save_first_tree(store, learned=2)
    store.pages.write([replace(page(2), cluster="b.example", position=1)], method=METHOD)
    assert [page.position for page in store.pages.provisional("b.example")] == [1]
    assert store.clusters.find("b.example") == ClusterRecord("b.example", METHOD, 0, 1, None)


def test_save_tree_covers_cleans_again_and_drops_html(store: Store, database_url: str) -> None:
    store.pages.write([page(1, cleaned=CLEANED), page(2), page(3, cleaned=CLEANED)], method=METHOD)
    assert save_first_tree(store, learned=2) == [page(1).key]
    again = replace(CLEANED, text="again <p>1</p>", clean_version=1)
    assert store.pages.find(page(1).key) == stored(page(1, cleaned=again), learned_version=1)
    assert store.pages.find(page(2).key) == stored(page(2), learned_version=1)
    assert list(store.pages.provisional("a.example")) == [page(3, cleaned=CLEANED)]
    assert store.clusters.find("a.example") == ClusterRecord("a.example", METHOD, 1, 3, b"tree", 2)
    store.pages.write([page(1), page(2, cleaned=again)], method=METHOD)
    assert [page.position for page in store.pages.provisional("a.example")] == [3]
    assert databases.read_rows(database_url, HTML_KEYS) == [(page(3).key,)]


def test_store_html_keeps_the_html_of_all_pages(database_url: str) -> None:
    with Store(database_url, store_html=True) as store:
        store.pages.write([page(1), replace(page(2), position=None)], method=METHOD)
        save_first_tree(store, learned=1)
        store.pages.write([page(1)], method=METHOD)
        assert list(store.pages.provisional("a.example")) == []
    assert databases.read_rows(database_url, HTML_KEYS) == [(page(1).key,), (page(2).key,)]


def test_a_text_of_an_older_tree_is_not_taken(store: Store) -> None:
    store.pages.write([page(1), page(2, cleaned=CLEANED)], method=METHOD)
    save_first_tree(store, learned=2)
    late = [page(1, cleaned=CLEANED), page(2, cleaned=CLEANED)]
    written = store.pages.write(late, method=METHOD)
    assert written.stale == {page(1).key, page(2).key}
    (again,) = store.pages.with_text()
    assert again.cleaned == replace(CLEANED, text="again <p>2</p>", clean_version=1)
    newer = replace(CLEANED, text="newer", clean_version=1)
    assert not store.pages.write([page(1, cleaned=newer)], method=METHOD).stale
    assert [page.cleaned and page.cleaned.text for page in store.pages.with_text()] == [
        "newer",
        "again <p>2</p>",
    ]


def add_tree(
    store: Store, *, limit: int = 100, due: int = 1
) -> tuple[TreeUpdate, ClusterRecord, list[str], list[PageRecord]]:
    """Grow the tree of a.example by one letter; what was given and what came of it."""
    given: list[Any] = []

    def make(newest: ClusterRecord, keys: list[str], pages: Iterator[PageRecord]) -> NewTree | None:
        given.extend([newest, keys, list(pages)])
        if len(keys) < due:
            return None
        return NewTree(METHOD, (newest.tree or b"") + b"x", clean_again)

    update = store.clusters.add_tree("a.example", method=METHOD, limit=limit, train=make)
    return (update, *given)


def test_a_tree_grows_by_the_pages_of_all_processes(store: Store, database_url: str) -> None:
    store.pages.write([page(1, cleaned=CLEANED), page(3)], method=METHOD)
    with Store(database_url) as another:
        another.pages.write([page(2, cleaned=CLEANED)], method=METHOD)
        update, newest, keys, pages = add_tree(another, limit=2)
    assert newest == ClusterRecord("a.example", METHOD, 0, 3, None)
    assert keys == [page(1).key, page(3).key] == [page.key for page in pages]
    assert update == TreeUpdate(ClusterRecord("a.example", METHOD, 1, 3, None, 2), (keys[0],))
    update, newest, keys, _ = add_tree(store)
    assert newest == ClusterRecord("a.example", METHOD, 1, 3, b"x", 2)
    assert keys == [page(2).key]
    assert update.cluster == ClusterRecord("a.example", METHOD, 2, 3, None, 3)
    assert [tree.pages for tree in store.clusters.tree_versions("a.example")] == [2, 3]
    assert store.pages.count() == PageCounts(pages=3, with_text=2, provisional=0)


def test_a_tree_that_is_not_due_changes_nothing(store: Store, database_url: str) -> None:
    store.pages.write([page(1), page(2), replace(page(3), html=None)], method=METHOD)
    update, *_ = add_tree(store, due=3)
    # The page without HTML cannot be learned, and no longer counts as waiting.
    assert update == TreeUpdate(ClusterRecord("a.example", METHOD, 0, 3, None, 1), ())
    assert store.pages.count().provisional == 3
    store.pages.delete([page(1).key])
    update, *_ = add_tree(store, due=3)
    assert update.cluster.learned - update.cluster.covered == 1


def test_a_failing_clean_leaves_everything_as_before(store: Store) -> None:
    pages = [page(number, cleaned=CLEANED) for number in range(1, 4)]
    store.pages.write(pages, method=METHOD)

    def clean(page: PageRecord) -> Cleaned:
        if page.position == 3:
            raise ZeroDivisionError
        return clean_again(page)

    with pytest.raises(ZeroDivisionError):
        store.clusters.save_tree(
            "a.example", method="x", version=1, tree=b"", learned=3, clean=clean
        )
    assert list(store.pages.provisional("a.example")) == pages
    assert store.clusters.find("a.example") == ClusterRecord("a.example", METHOD, 0, 3, None)
    assert store.clusters.tree_versions("a.example") == []


def test_only_the_two_newest_trees_keep_their_bytes(store: Store, database_url: str) -> None:
    for version in range(1, 5):
        store.clusters.save_tree(
            "a", method=METHOD, version=version, tree=b"12", learned=version, clean=clean_again
        )
    versions = [(tree.version, tree.pages, tree.size) for tree in store.clusters.tree_versions("a")]
    assert versions == [(1, 1, 2), (2, 2, 2), (3, 3, 2), (4, 4, 2)]
    age = datetime.now(timezone.utc) - store.clusters.tree_versions("a")[0].created_at
    assert timedelta(0) <= age < timedelta(minutes=5)
    kept = "SELECT version FROM noiseclean_tree WHERE tree IS NOT NULL ORDER BY version"
    assert databases.read_rows(database_url, kept) == [(3,), (4,)]
    with pytest.raises(StoreError, match="has tree version 4, so version 4 is too old"):
        store.clusters.save_tree(
            "a", method=METHOD, version=4, tree=b"", learned=9, clean=clean_again
        )


def test_chunks_are_complete_and_ordered(
    store: Store, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_rows, "CHUNK_PAGES", 3)
    pages = [replace(page(n, cleaned=CLEANED), position=1 + n) for n in range(10)]
    others = [
        replace(page(10 + n, cluster="b.example", cleaned=CLEANED), position=n) for n in (1, 2, 3)
    ]
    store.pages.write([*reversed(pages), *others], method=METHOD)
    assert list(store.pages.provisional("a.example")) == pages
    assert [page.key for page in store.pages.with_text()] == [page.key for page in pages + others]
    assert list(store.pages.with_text("b.example")) == [stored(page) for page in others]
    assert save_first_tree(store, learned=8) == [page.key for page in pages[:8]]
    assert store.pages.count("a.example") == PageCounts(pages=10, with_text=10, provisional=2)
    assert store.clusters.delete("a.example") == 10
    assert [cluster.name for cluster in store.clusters.all()] == ["b.example"]
    assert databases.read_rows(database_url, HTML_KEYS) == [(page.key,) for page in others]


def test_nul_and_lone_surrogates(store: Store) -> None:
    bad = "a\x00b\ud800c"
    cleaned = replace(
        CLEANED, title=bad, text=bad, blocks=(Block(bad, "/p", "p", True, 0.5, {}, bad),)
    )
    record = PageRecord("k" + bad, bad, bad, bad, NOON, 1, bad, cleaned)
    store.pages.write([record], method=bad)
    good = "a\ufffdb\ufffdc"
    (found,) = store.pages.provisional(bad)
    assert found == PageRecord(
        "k" + good, good, good, good, NOON, 1, bad, replace(cleaned, title=good, text=good)
    )
    assert store.pages.find(record.key) == stored(found)
    assert store.clusters.save_tree(
        bad, method=bad, version=1, tree=b"\x00", learned=1, clean=lambda page: cleaned
    ) == ["k" + good]


def test_restart_reads_back_tree_and_provisional_pages(database_url: str) -> None:
    with Store(database_url) as store:
        store.pages.write([page(number, cleaned=CLEANED) for number in range(1, 6)], method=METHOD)
        save_first_tree(store, learned=3)
    with Store(database_url) as store:
        assert store.clusters.find("a.example") == ClusterRecord(
            "a.example", METHOD, 1, 5, b"tree", 3
        )
        assert [page.position for page in store.pages.provisional("a.example")] == [4, 5]


def test_a_site_is_idle_when_its_provisional_pages_are_old(store: Store) -> None:
    """Pages that a tree has learned may be fetched again meanwhile."""
    later = NOON + timedelta(hours=1)
    old = [page(number, cleaned=CLEANED) for number in (1, 2)]
    store.pages.write([*old, page(3, cluster="b.example")], method=METHOD)
    save_first_tree(store, learned=1)
    store.pages.write([replace(old[0], fetched_at=later)], method=METHOD)
    store.pages.write([replace(page(4, cluster="b.example"), fetched_at=later)], method=METHOD)
    assert store.clusters.idle(NOON) == []
    assert store.clusters.idle(later) == ["a.example"]
    assert store.clusters.idle(later + timedelta(seconds=1)) == ["a.example", "b.example"]
