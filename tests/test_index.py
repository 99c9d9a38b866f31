"""External indexes: they follow the store, and lose nothing whenever they are killed."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from noiseclean_scrapy.errors import IndexingError, QueryError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.output import (
    Document,
    ElasticsearchFiles,
    Fed,
    MeilisearchFiles,
    TantivyIndex,
    feed,
    tantivy,
)
from noiseclean_scrapy.store import Cleaned, Store
from tests.support import databases, searching
from tests.support.command_line import start_program
from tests.support.searching import FOUND, NOON, keys, page, write


class Memory:
    """An index that remembers what it was told until it is asked to commit."""

    def __init__(self) -> None:
        self.committed: dict[str, Document] = {}
        self._waiting: dict[str, Document | None] = {}

    def add(self, documents: Sequence[Document]) -> None:
        self._waiting.update((document.key, document) for document in documents)

    def delete(self, keys: Sequence[str]) -> None:
        self._waiting.update(dict.fromkeys(keys))

    def commit(self) -> None:
        for key, document in self._waiting.items():
            self.committed.pop(key, None)
            if document is not None:
                self.committed[key] = document
        self._waiting.clear()


def outbox(url: str) -> list[tuple[Any, ...]]:
    query = "SELECT index_name, page_key FROM noiseclean_outbox ORDER BY index_name, page_key"
    return databases.read_rows(url, query)


def test_without_an_external_index_the_outbox_stays_empty(store: Store, database_url: str) -> None:
    write(store, page("1", "ferry"))
    store.pages.delete(["1"])
    assert outbox(database_url) == []
    assert store.outbox.indexes() == []


def test_an_index_is_told_of_every_change_once(store: Store, database_url: str) -> None:
    seen = replace(page("seen", "", position=9), cleaned=None)
    write(store, page("1", "one"), page("2", "two"), page("3", "three"), seen)
    index = Memory()
    assert feed(store, "x", index) == Fed(3, 0)
    assert store.outbox.indexes() == ["x"]
    assert feed(store, "x", index) == Fed(0, 0)
    for text in ("uno", "un"):
        write(store, page("1", text, position=1, html="<p>"), page("4", "four"))
    store.pages.delete(["2"])
    write(store, seen)
    assert outbox(database_url) == [("x", "1"), ("x", "2"), ("x", "4")]
    assert feed(store, "x", index) == Fed(2, 1)
    texts = {key: document.text for key, document in index.committed.items()}
    assert texts == {"1": "un", "3": "three", "4": "four"}
    again = Cleaned("", "again", (), 1, 1, 1)
    store.clusters.save_tree(
        "a.example", method="x", version=1, tree=b"", learned=2, clean=lambda _: again
    )
    assert feed(store, "x", index) == Fed(1, 0)
    assert index.committed["1"].text == "again"
    assert store.clusters.delete("a.example") == 4
    assert feed(store, "x", index) == Fed(0, 3)
    assert index.committed == {}
    assert outbox(database_url) == []


def test_indexes_are_told_apart(store: Store, database_url: str) -> None:
    write(store, page("1", "one"), page("2", "two"))
    first, second = Memory(), Memory()
    feed(store, "first", first)
    store.outbox.register("second")
    write(store, page("2", "zwei"))
    assert outbox(database_url) == [("first", "2"), ("second", "1"), ("second", "2")]
    assert feed(store, "first", first) == Fed(1, 0)
    assert feed(store, "second", second) == Fed(2, 0)
    assert first.committed == second.committed
    # To register once more is to be told of everything again.
    store.outbox.register("first")
    assert outbox(database_url) == [("first", "1"), ("first", "2")]
    assert store.outbox.unregister("first")
    assert not store.outbox.unregister("first")
    write(store, page("3", "three"))
    assert outbox(database_url) == [("second", "3")]


def test_a_page_that_changes_while_it_is_told_is_told_again(store: Store) -> None:
    write(store, page("1", "old"), page("2", "two"))
    store.outbox.register("x")
    changes = store.outbox.changes("x")
    write(store, page("1", "new"))
    store.outbox.acknowledge(changes)
    (change,) = store.outbox.changes("x")
    assert change.page is not None
    assert change.page.cleaned is not None
    assert (change.key, change.page.cleaned.text) == ("1", "new")


def test_an_index_that_fails_is_told_again(store: Store) -> None:
    class Failing(Memory):
        def commit(self) -> None:
            raise ZeroDivisionError

    write(store, page("1", "one"))
    with pytest.raises(ZeroDivisionError):
        feed(store, "x", Failing())
    index = Memory()
    assert feed(store, "x", index) == Fed(1, 0)
    assert list(index.committed) == ["1"]


def test_a_document_has_what_the_store_knows(store: Store) -> None:
    facts = Metadata("Ann", NOON, "en", "http://a/canonical", "http://a/i.png")
    write(store, replace(page("1", "text", title="Title"), metadata=facts))
    index = Memory()
    feed(store, "x", index)
    assert index.committed["1"] == Document(
        key="1",
        url="http://a.example/1",
        site="a.example",
        title="Title",
        text="text",
        fetched_at=NOON,
        author="Ann",
        published=NOON,
        language="en",
        canonical_url="http://a/canonical",
        image="http://a/i.png",
    )


def read_elasticsearch(folder: Path) -> dict[str, dict[str, Any]]:
    """What a server would hold after all files, in their order."""
    held: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.iterdir()):
        lines = path.read_bytes().decode().split("\n")
        assert lines.pop() == ""
        while lines:
            ((action, target),) = json.loads(lines.pop(0)).items()
            assert target.keys() == {"_index", "_id"}
            assert target["_index"] == "pages"
            if action == "delete":
                held.pop(target["_id"], None)
            else:
                assert action == "index"
                held[target["_id"]] = json.loads(lines.pop(0))
    return held


def read_meilisearch(folder: Path) -> dict[str, dict[str, Any]]:
    """What a server would hold after all files, in their order."""
    held: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.iterdir()):
        if path.name.endswith(".deletions.json"):
            for key in json.loads(path.read_bytes()):
                held.pop(key, None)
        else:
            assert path.name.endswith(".documents.ndjson")
            rows = [json.loads(line) for line in path.read_bytes().splitlines()]
            held.update((row["key"], row) for row in rows)
    return held


FILES = [
    (lambda folder: ElasticsearchFiles(folder, "pages", max_bytes=2000), read_elasticsearch),
    (lambda folder: MeilisearchFiles(folder, max_bytes=2000), read_meilisearch),
]


def test_each_file_of_deletions_holds_one_list(tmp_path: Path) -> None:
    files = MeilisearchFiles(tmp_path)
    for deleted in (["a"], [], ["b", "c"]):
        files.delete(deleted)
    files.commit()
    assert [json.loads(path.read_bytes()) for path in sorted(tmp_path.iterdir())] == [
        ["a"],
        ["b", "c"],
    ]


@pytest.mark.parametrize(("make", "read"), FILES, ids=["elasticsearch", "meilisearch"])
def test_bulk_files_add_up_to_the_store(
    sqlite_url: str, tmp_path: Path, make: Any, read: Any
) -> None:
    folder = tmp_path / "bulk"
    with Store(sqlite_url) as store:
        write(store, *(page(f"{n:02}", f"text\n\u2028{n} 新闻" * 20) for n in range(30)))
        feed(store, "x", make(folder))
        assert len(list(folder.iterdir())) > 5
        assert all(path.stat().st_size <= 2000 for path in folder.iterdir())
        write(store, page("05", "new"), page("99", "x" * 5000))
        store.pages.delete(["07", "08"])
        feed(store, "x", make(folder))
        store.outbox.register("x")
        feed(store, "x", make(folder))
        held = read(folder)
        stored = {
            record.key: record.cleaned.text for record in store.pages.with_text() if record.cleaned
        }
    assert {key: row["text"] for key, row in held.items()} == stored
    row = held["05"]
    assert row["key"] == "05"
    assert row["url"] == "http://a.example/05"
    assert row["published"] is None
    assert datetime.fromisoformat(row["fetched_at"]) == NOON
    if read is read_meilisearch:
        assert row["time"] == NOON.timestamp()


def test_an_unfinished_file_does_not_count(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "unfinished-000001.bulk.ndjson").write_text("half a l")
    with Store(sqlite_url) as store:
        write(store, page("1", "one"))
        feed(store, "x", ElasticsearchFiles(tmp_path, "pages"))
    assert (tmp_path / "000001.bulk.ndjson").read_bytes().count(b"\n") == 2


def test_tantivy_finds_what_the_store_finds(sqlite_url: str, tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "index")
    with Store(sqlite_url) as store:
        write(store, *searching.text_pages())
        write(store, page("dated", "quay", cluster="b.example", published=NOON - timedelta(1)))
        assert feed(store, "tantivy", index) == Fed(len(searching.TEXTS) + 1, 0)
        for query, right in FOUND:
            results = index.search(query, limit=20)
            assert set(keys(results)) == right, query
            assert results.total == len(right)
            snippets = {hit.key: hit.snippet for hit in store.search(query, limit=20).hits}
            assert {hit.key: hit.snippet for hit in results.hits} == snippets
        assert index.search("quay", site="b.example", until=NOON).total == 1
        assert index.search("quay", since=NOON).total == 0
        assert index.search("ferry", language="en").total == 2
        for odd in ("\ud800", "e\x00n"):
            for found in (store.search, index.search):
                assert found("ferry", language=odd).total == found("ferry", site=odd).total == 0
        assert index.search("ferry", site="a.example", limit=1, offset=2).total == 3
        hit = index.search("quay").hits[0]
        assert replace(hit, score=0.0) == replace(store.search("quay").hits[0], score=0.0)
        write(store, page("ferry", "changed", language="en"))
        store.pages.delete(["harbour"])
        assert feed(store, "tantivy", index) == Fed(1, 1)
    assert keys(TantivyIndex(tmp_path / "index").search("ferry")) == ["plain"]
    assert keys(index.search("changed")) == ["ferry"]
    for name, value in searching.WRONG:
        with pytest.raises(QueryError, match=name):
            index.search("ferry", **{name: value})
    assert index.search("ferry", limit=2**63 - 1).total == 1
    assert index.search("ferry", offset=2**63 - 1).hits == ()


def test_a_folder_that_is_no_index_of_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(IndexingError, match="cannot be used as a Tantivy index"):
        TantivyIndex(tmp_path)


def test_tantivy_finds_a_word_as_the_language_of_a_page_stems_it(
    sqlite_url: str, tmp_path: Path
) -> None:
    rng = random.Random(5)
    pages = searching.mixed_pages(rng)
    index = TantivyIndex(tmp_path)
    with Store(sqlite_url) as store:
        write(store, *(page(key, text, language=code) for key, (text, code) in pages.items()))
        feed(store, "tantivy", index)
    for query, right in searching.mixed_queries(rng, pages):
        assert keys(index.search(query, limit=100)) == right, query


@pytest.mark.parametrize("ending", ["idx", "pos", "term", "store", "fast"])
def test_a_damaged_tantivy_index_is_told(sqlite_url: str, tmp_path: Path, ending: str) -> None:
    """Whatever the library makes of it: some damage is a panic in it, and no Exception."""
    folder = tmp_path / "index"
    with Store(sqlite_url) as store:
        write(store, *(page(f"{n}", "ferry harbour " * n) for n in range(1, 9)))
        feed(store, "tantivy", TantivyIndex(folder))
    for file in folder.glob(f"*.{ending}"):
        data = file.read_bytes()
        footer = len(data) - int.from_bytes(data[-8:-4], "little") - 8
        file.write_bytes(b"\xff" * footer + data[footer:])
    with pytest.raises(IndexingError, match="cannot be used as a Tantivy index"):
        TantivyIndex(folder).search('"ferry harbour"', site="a.example")
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexingError, match="cannot be used as a Tantivy index"):
        TantivyIndex(tmp_path / "file")


def test_two_cannot_write_a_tantivy_index_at_once(tmp_path: Path) -> None:
    first, second = TantivyIndex(tmp_path), TantivyIndex(tmp_path)
    first.delete(["1"])
    with pytest.raises(IndexingError, match="another process may be writing"):
        second.delete(["1"])
    first.commit()
    second.delete(["1"])


def test_without_the_library_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tantivy, "HAS_TANTIVY", False)
    with pytest.raises(IndexingError, match=r"pip install 'noiseclean-scrapy\[tantivy\]'"):
        TantivyIndex(tmp_path)


# Feeds an index again and again while pages change, and says so after each time.
FEEDER = """
import itertools, sys, time
from noiseclean_scrapy.output import TantivyIndex, ElasticsearchFiles, documents, feed
from noiseclean_scrapy.store import Store
from tests.support import searching
documents._BATCH_PAGES = 5
url, folder = sys.argv[1:]
with Store(url) as store:
    files = ElasticsearchFiles(folder + "/e", "pages")
    indexes = [("t", TantivyIndex(folder + "/t")), ("e", files)]
    for turn in itertools.count(time.time_ns()):
        keys = [f"{n:02}" for n in range(turn % 7, 40, 7)]
        store.pages.write([searching.page(key, f"turn{turn} ferry") for key in keys], method="x")
        store.pages.delete(keys[:2])
        for name, index in indexes:
            feed(store, name, index)
            print(turn, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 4, 9])
def test_an_index_killed_at_any_time_ends_up_as_the_store(
    database_url: str, tmp_path: Path, lines: int
) -> None:
    for _ in range(2):
        with start_program(FEEDER, database_url, str(tmp_path)) as feeder:
            assert feeder.stdout is not None
            for _ in range(lines):
                assert feeder.stdout.readline()
            feeder.kill()
    with Store(database_url) as store:
        index = TantivyIndex(tmp_path / "t")
        feed(store, "t", index)
        feed(store, "e", ElasticsearchFiles(tmp_path / "e", "pages"))
        stored = {
            record.key: record.cleaned.text for record in store.pages.with_text() if record.cleaned
        }
    held = read_elasticsearch(tmp_path / "e")
    assert {key: row["text"] for key, row in held.items()} == stored
    hits = index.search("ferry", limit=100).hits
    assert {hit.key: hit.marked("", "") for hit in hits} == stored
