"""Bytes that claim to be a learned tree: a clear error, and nothing is run, endless or huge."""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import re
import tracemalloc
import zlib
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.cleaner import _LARGEST, _MOST_SIGNS
from noiseclean_scrapy.errors import TreeDataError
from noiseclean_scrapy.methods import METHODS

MAGIC = b"noiseclean 1\n"
HEAD = len(MAGIC) + 16
PAGE = "<title>Flood</title><h1>Flood</h1><p>The river rose by a metre in one night.</p>"


def sealed(text: bytes) -> bytes:
    """Bytes with a right checksum around any text."""
    return sealed_payload(zlib.compress(text, 1))


def sealed_payload(payload: bytes) -> bytes:
    return MAGIC + hashlib.blake2b(payload, digest_size=16).digest() + payload


def learned(method: str, *, templates: bool = False) -> dict[str, Any]:
    cleaner = SiteCleaner(method, templates=templates)
    for number in range(3):
        cleaner.observe(PAGE + f"<ul><li>Menu</ul><p>Story {'abc'[number] * 9}")
    state: dict[str, Any] = json.loads(zlib.decompress(cleaner.to_bytes()[HEAD:]))
    return state


STATES = {
    (method, templates): learned(method, templates=templates)
    for method in METHODS
    for templates in (False, True)
}


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("run",))


FOREIGN = {
    "pickle": pickle.dumps(Evil()),
    "pickle inside": sealed(pickle.dumps(Evil())),
    "nothing inside": sealed(b""),
    "a number": sealed(b"1"),
    "a list": sealed(b"[]"),
    "no method": sealed(b"{}"),
    "a method that is a list": sealed(b'{"method": ["evidence"]}'),
    "deep": sealed(b"[" * 1_000_000),
    "deep state": sealed(b'{"method": "evidence", "state": ' + b'{"a":' * 100_000),
    "not compressed": sealed_payload(b'{"method": "evidence"}'),
    "cut off": sealed_payload(zlib.compress(json.dumps(STATES["evidence", False]).encode())[:-20]),
    "long number": sealed(b'{"method": ' + b"9" * 5000 + b"}"),
    "not UTF-8": sealed(b'{"method": "\xff"}'),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_data_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TreeDataError):
        SiteCleaner.from_bytes(FOREIGN[name])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "options",
    [
        {"lean": "everything"},
        {"unknown": 1},
        {"max_tree_nodes": 0},
        {"max_tree_nodes": "many"},
        {"budget": 5},
        {"method": "style-tree"},
        {"templates": True},
        ["lean"],
        "lean",
        None,
        3,
    ],
)
def test_hostile_options_are_refused(options: Any) -> None:
    state = {**STATES["evidence", False], "options": options}
    with pytest.raises(TreeDataError):
        SiteCleaner.from_bytes(sealed(json.dumps(state).encode()))


@pytest.mark.parametrize("part", ["method", "options", "templates", "headline", "state"])
def test_no_state_makes_a_long_message(part: str) -> None:
    state = {**STATES["evidence", False], part: "x" * 1_000_000}
    with pytest.raises(TreeDataError) as refused:
        SiteCleaner.from_bytes(sealed(json.dumps(state).encode()))
    assert len(str(refused.value)) <= 500


@pytest.mark.parametrize("key", STATES, ids=str)
@pytest.mark.parametrize(
    "value", ["1e999", "-1", "NaN", "-Infinity", "null", '"x"', "[]", "1e300", "9007199254740992.0"]
)
def test_hostile_numbers(key: tuple[str, bool], value: str) -> None:
    text = json.dumps(STATES[key])
    start = text.index('"state"')
    places = [found for found in re.finditer(r"\b\d+(?:\.\d+)?\b", text) if found.start() > start]
    assert places
    for found in random.Random(0).sample(places, min(12, len(places))):
        changed = f"{text[: found.start()]}{value}{text[found.end() :]}"
        assert is_usable_or_refused(sealed(changed.encode()))


def is_usable_or_refused(blob: bytes) -> bool:
    try:
        cleaner = SiteCleaner.from_bytes(blob)
    except TreeDataError:
        return True
    assert isinstance(cleaner.clean(PAGE).text, str)
    cleaner.observe(PAGE)
    again = SiteCleaner.from_bytes(cleaner.to_bytes())
    again.merge(cleaner)
    again.decay(0.25)
    return isinstance(again.clean(PAGE).text, str)


@settings(max_examples=150)
@given(st.sampled_from(list(STATES)), st.data())
def test_any_part_replaced(key: tuple[str, bool], data: st.DataObject) -> None:
    state = json.loads(json.dumps(STATES[key]))
    part: Any = {"root": state}
    place: Any = "root"
    while isinstance(part[place], (dict, list)) and part[place]:
        part = part[place]
        places = sorted(part) if isinstance(part, dict) else list(range(len(part)))
        place = data.draw(st.sampled_from(places))
        if data.draw(st.integers(0, 3)) == 0:
            break
    numbers = st.integers() | st.floats() | st.sampled_from([5e-324, 2.0**53, 2**53, 2**63, 2**79])
    values = st.none() | st.booleans() | numbers | st.text(max_size=3)
    part[place] = data.draw(values | st.lists(values, max_size=3) | st.just({}))
    assert is_usable_or_refused(sealed(json.dumps(state).encode()))


def test_dropped_styles_on_no_pages() -> None:
    state = learned("style-tree")
    state["state"]["tree"] = {"words": [""], "nodes": [[0, 1.0, 0.0, 0.0, [], [], [1, 0, 0], []]]}
    cleaner = SiteCleaner.from_bytes(sealed(json.dumps(state).encode()))
    assert cleaner.clean(PAGE).text.startswith("Flood")


def test_one_place_counts_so_much_that_no_other_does() -> None:
    state = learned("feature-weighting")
    leaves = [features for *_, features, _, _, _ in state["state"]["tree"]["nodes"] if features]
    for most in (2.0**53, 2.0**79):
        for heavy in leaves:
            for leaf in leaves:
                for row in leaf:
                    row[1] = most if leaf is heavy else 0.25
            assert is_usable_or_refused(sealed(json.dumps(state).encode()))


def test_a_part_for_each_page() -> None:
    state = learned("style-tree", templates=True)
    (part,) = state["state"].values()
    state["state"] = {str(number): part for number in range(100)}
    with pytest.raises(TreeDataError, match="at most 32 parts"):
        SiteCleaner.from_bytes(sealed(json.dumps(state).encode()))


def test_a_tree_above_its_bound_is_cut_when_it_is_read() -> None:
    cleaner = SiteCleaner("style-tree")
    for number in range(10):
        cleaner.observe(
            "".join(f"<p class={'abcdefghij'[number] * 4}-{place}>x" for place in "klmnopqrst")
        )
    state = json.loads(zlib.decompress(cleaner.to_bytes()[HEAD:]))
    assert len(state["state"]["tree"]["nodes"]) > 100
    again = SiteCleaner.from_bytes(cleaner.to_bytes(), max_tree_nodes=50)
    state = json.loads(zlib.decompress(again.to_bytes()[HEAD:]))
    assert len(state["state"]["tree"]["nodes"]) <= 50


@pytest.mark.slow
def test_a_small_file_does_not_fill_the_memory() -> None:
    blanks = b" " * 2**20
    peak = peak_of_refusal(blanks for _ in range(600))
    assert peak < 600 * 2**20


@pytest.mark.parametrize("value", [b"[],", b"{},", b'"",', b"0,", b"[[]],"])
def test_small_values_are_counted_before_they_are_read(value: bytes) -> None:
    size = 64 * 2**20
    peak = peak_of_refusal([b'{"method":[', value * (size // len(value)), b"0]}"])
    assert peak < 3 * size


@pytest.mark.parametrize("templates", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_no_learned_tree_is_too_large_to_be_read_back(
    method: str, templates: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte of a file may hold so much: what real pages teach has room without the rest."""
    cleaner = SiteCleaner(method, templates=templates)
    for page in list(DemoSite().pages.values())[:20]:
        cleaner.observe(page.html, url=page.path)
    monkeypatch.setattr("noiseclean_scrapy.cleaner._LARGEST", (0, _LARGEST[1]))
    for signs, (_, each) in _MOST_SIGNS.items():
        monkeypatch.setitem(_MOST_SIGNS, signs, (0, each))
    assert SiteCleaner.from_bytes(cleaner.to_bytes()).pages == cleaner.pages


def peak_of_refusal(pieces: Iterable[bytes]) -> int:
    packer = zlib.compressobj(1)
    payload = b"".join(map(packer.compress, pieces)) + packer.flush()
    assert len(payload) < 3 * 2**20
    tracemalloc.start()
    try:
        with pytest.raises(TreeDataError, match="too large"):
            SiteCleaner.from_bytes(sealed_payload(payload))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return peak
