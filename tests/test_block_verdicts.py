"""Blocks that are stored as verdicts alone: they are read again from the HTML when asked for."""

from __future__ import annotations

import json
import pickle
import struct
import zlib
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.page.reader import DEEPEST
from noiseclean_scrapy.store import PageRecord, Store, StoredBlocks
from noiseclean_scrapy.store.compression import compress
from tests.support.databases import run_statement

NOON = datetime(2031, 5, 1, 12, tzinfo=timezone.utc)
HTML = (
    "<body class=site><ul><li><a href=/>Home</a><li><a href=/news>News</a></ul><div><h1>Fog</h1>"
    "<p>Fog closes the port of Larkham for a day, and nobody knows when it will be open again."
    "<p>The ferries stay.<br>So do the trams.</div><p hidden>Not to be seen\ud800"
)


def cleaned() -> CleanPage:
    return SiteCleaner().clean(HTML)


def page(clean: CleanPage, config: Config | None = None, **values: object) -> PageRecord:
    record = PageRecord("1", "a.example", "http://a.example/", "0", NOON, 1, HTML)
    return replace(record, cleaned=to_record(clean, 0, config or Config()), **values)  # type: ignore[arg-type]


def test_the_store_tells_of_blocks_what_the_page_has(database_url: str) -> None:
    clean = cleaned()
    with Store(database_url, store_html=True) as store:
        store.pages.write([page(clean)], method="evidence")
        shown = [
            (block.text, block.xpath, block.place, block.kept, block.hidden)
            for block in clean.blocks
        ]
        (change,) = _changes(store)
        found = (
            store.pages.find("1"),
            store.pages.find_url("http://a.example/"),
            *store.pages.with_text(),
            change,
        )
        html = (*store.pages.with_html("a.example"), *store.pages.provisional("a.example"))
        for record in (*found, *html):
            assert record is not None
            assert record.cleaned is not None
            blocks = record.cleaned.blocks
            assert shown == [(b.text, b.xpath, b.place, b.kept, b.hidden) for b in blocks]
            scores = [block.score for block in blocks]
            assert scores == pytest.approx([b.score for b in clean.blocks], abs=1 / 510 + 1e-4)
            assert len(blocks) == len(shown)


def _changes(store: Store) -> list[PageRecord | None]:
    store.outbox.register("x")
    return [change.page for change in store.outbox.changes("x")]


def test_a_block_takes_two_bits_and_a_byte() -> None:
    html = "".join(f"<p>The story of number {number} is a long one." for number in range(800))
    record = to_record(SiteCleaner().clean(html), 0, Config())
    assert isinstance(record.blocks, StoredBlocks)
    assert len(record.blocks.packed) == 17 + 100 + 100 + 800


def test_without_html_the_texts_are_stored(database_url: str) -> None:
    clean = cleaned()
    with Store(database_url) as store:
        record = page(clean, Config(store_html=False), position=None)
        store.pages.write([record], method="evidence")
        (stored,) = store.pages.with_text()
        assert store.pages.html("1") is None
    assert stored.cleaned is not None
    assert [b.text for b in stored.cleaned.blocks] == [b.text for b in clean.blocks]


def test_a_text_that_stays_is_stored_anew_where_its_blocks_need_their_texts() -> None:
    """A site that was crawled with its HTML may be crawled without."""
    stored = to_record(cleaned(), 1, Config())
    again = to_record(cleaned(), 2, Config(store_html=False), stored)
    assert isinstance(again.blocks, StoredBlocks)
    assert again.blocks.has_texts


def test_blocks_of_an_older_schema_are_read_as_they_are(database_url: str) -> None:
    texts = [block.text for block in cleaned().blocks]
    with Store(database_url) as store:
        store.pages.write([page(cleaned(), Config(store_html=False))], method="evidence")
    run_statement(database_url, "UPDATE noiseclean_schema SET version = 2")
    with Store(database_url) as store:
        (stored,) = store.pages.with_text()
    assert stored.cleaned is not None
    assert [block.text for block in stored.cleaned.blocks] == texts


def test_where_a_rule_or_a_setting_decided_the_texts_are_stored(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('["a.example"]\nkeep = "li"\n')
    rules = Overrides.read(file)
    ruled = SiteCleaner().clean(HTML, url="http://a.example/", overrides=rules)
    stored = to_record(ruled, 1, Config())
    assert next((b.text, b.rule) for b in stored.blocks) == ("Home", "keep")
    larger = to_record(cleaned(), 1, Config(max_page_elements=30_000))
    assert [b.text for b in larger.blocks] == [b.text for b in cleaned().blocks]


@pytest.mark.parametrize("html", [None, "<p>Another page", HTML.replace("Home", "Here")])
def test_of_another_page_or_none_there_are_the_verdicts_alone(html: str | None) -> None:
    blocks = StoredBlocks.of_verdicts(cleaned())
    for found in (blocks, pickle.loads(pickle.dumps(blocks))):
        found.read_html = lambda: html
        assert [b.kept for b in found] == [b.kept for b in cleaned().blocks]
        assert {(b.text, b.xpath, b.place) for b in found} == {("", "", "")}


def test_html_that_is_damaged_costs_the_texts_of_the_blocks(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(sqlite_url, store_html=True) as store:
        store.pages.write([page(cleaned())], method="evidence")
        with store._database._engine.begin() as connection:
            connection.exec_driver_sql("UPDATE noiseclean_page_html SET html = x'00'")
        (stored,) = store.pages.with_text()
        assert stored.cleaned is not None
        assert {block.text for block in stored.cleaned.blocks} == {""}
        assert store.damaged == 1
    assert "The stored page 1 cannot be read" in caplog.text


def test_a_flipped_bit_is_noticed() -> None:
    packed = StoredBlocks.of_verdicts(cleaned()).packed
    for at in range(1, len(packed)):
        flipped = bytes([*packed[:at], packed[at] ^ 4, *packed[at + 1 :]])
        with pytest.raises(ValueError, match="damaged"):
            StoredBlocks(flipped)
    for length in (1, 10, len(packed) - 1):
        with pytest.raises(ValueError, match=r"damaged|cut off"):
            StoredBlocks(packed[:length])


def test_a_number_of_blocks_that_cannot_be_takes_no_memory() -> None:
    rest = struct.pack("<8sI", b"", 0xFFFFFFFF)
    with pytest.raises(ValueError, match="damaged"):
        StoredBlocks(struct.pack("<BI", 1, zlib.crc32(rest)) + rest)


def columns(depth: int, *, name: str = "div", label: str = "div.a", number: int = 1) -> bytes:
    """One block as it is stored with its text, below so many elements in each other."""
    value = {
        "names": [name, label],
        "parents": list(range(-1, depth - 1)),
        "tests": [0] * depth,
        "numbers": [number] * depth,
        "labels": [1] * depth,
        "owners": [depth - 1],
        "texts": ["Fog"],
        "kept": [True],
        "scores": [1],
        "rules": [""],
        "hidden": [False],
    }
    return compress(json.dumps(value))


def test_blocks_stand_no_deeper_than_any_page_has_them() -> None:
    [block] = StoredBlocks(columns(DEEPEST))
    assert block.xpath == "/div[1]" * DEEPEST
    for page_html in ("<div>x" * 5000, f"<noscript>{'<div>some words' * 300}", "<p>" * 200 + "x"):
        blocks = StoredBlocks.of(SiteCleaner().clean(page_html))
        assert list(StoredBlocks(blocks.packed)) == list(blocks)
    for packed in (
        columns(DEEPEST + 1),
        columns(9, name="x" * 65),
        columns(9, label="x" * 1001),
        columns(9, number=10**100),
        columns(9, number=-1),
    ):
        with pytest.raises(ValueError, match="where no page has any"):
            StoredBlocks(packed)
