"""How a block is worded, against one gram at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model.wording import BUCKETS, LONGEST, Wording, grams

WEIGHTS = np.random.default_rng(0).integers(-127, 128, BUCKETS).astype(np.int8)
_PARTS = st.sampled_from("a B ç ß İ Σ ς 9 . - ! 中文 ñ é \ud800 \U00020000 😀 ǅ".split())
_TEXTS = st.lists(st.lists(_PARTS | st.text(max_size=4), max_size=40).map("".join), max_size=6)


def slow_grams(text: str) -> list[str]:
    """Its pairs, and what each makes with the one two before it."""
    letters = [
        character.lower()[0] if character.isalpha() and ord(character) < 0x20000 else " "
        for character in text[:LONGEST]
    ]
    words = "".join(letters).split(" ")
    line = f" {' '.join(filter(None, words))} ".replace("  ", " ")
    pairs = [line[at : at + 2] for at in range(len(line) - 1)]
    return pairs + [line[at : at + 4] for at in range(len(line) - 3)]


def slow_bucket(gram: str) -> int:
    mixer, mask = 0x9E3779B97F4A7C15, (1 << 64) - 1
    first, second = (ord(gram[at]) << 32 | ord(gram[at + 1]) for at in (0, len(gram) - 2))
    if len(gram) > 2:
        first = first * mixer & mask
        second = (first ^ first >> 29) + second & mask
    return (second * mixer & mask) >> 49


def slow_score(text: str) -> float:
    found = [int(WEIGHTS[slow_bucket(gram)]) for gram in slow_grams(text)]
    return 0.5 + 0.25 * sum(found) / math.sqrt(max(len(found), 1))


def test_grams_by_hand() -> None:
    assert slow_grams("On-AIR 24!") == [
        *(" o", "on", "n ", " a", "ai", "ir", "r "),
        *(" on ", "on a", "n ai", " air", "air "),
    ]
    assert slow_grams("a") == [" a", "a "]
    assert slow_grams("24!") == []


@given(_TEXTS)
def test_scores_are_those_of_one_gram_at_a_time(texts: list[str]) -> None:
    wording = Wording(WEIGHTS, 0.25, 0.5)
    expected = [slow_score(text) for text in texts]
    assert wording.score(texts).tolist() == pytest.approx(expected)
    with kernels.in_python():
        assert wording.score(texts).tolist() == pytest.approx(expected)


@given(_TEXTS)
def test_grams_belong_to_their_texts(texts: list[str]) -> None:
    _, text_of, buckets = grams(texts)
    for index, text in enumerate(texts):
        found = buckets[text_of == index].tolist()
        assert sorted(found) == sorted(map(slow_bucket, slow_grams(text)))


def test_letters_behind_the_longest_are_not_read() -> None:
    wording = Wording(WEIGHTS, 1.0, 0.0)
    long = "abc de " * 10_000
    assert wording.score([long]) == wording.score([long[:LONGEST]])


@pytest.mark.parametrize("size", [0, 1, 3, BUCKETS - 1])
def test_weights_that_no_hash_fits_are_refused(size: int) -> None:
    if kernels.texts is None:
        pytest.skip("nothing is compiled")
    letters = np.array([32], dtype=np.uint32)
    with pytest.raises(ValueError, match="no power of 2"):
        kernels.texts.gram_sums(["a"], letters, WEIGHTS[:size], LONGEST, 3)
