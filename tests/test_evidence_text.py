"""Text columns for all blocks at once, against one pattern and one block at a time."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy.methods import create_method
from noiseclean_scrapy.methods.evidence_model import text_features as text_module
from noiseclean_scrapy.methods.evidence_model.evidence_page import EvidencePage
from noiseclean_scrapy.methods.evidence_model.model import Reading, load_model
from noiseclean_scrapy.methods.evidence_model.text_features import (
    DENSE_LETTERS,
    FIELDS,
    LONGEST_KEPT,
    TextTable,
)
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.hashes import hash64
from noiseclean_scrapy.page.words import LONGEST, page_words, words

_MARKS = ".!?…。！？।؟,;:，、0٣7|›»/$©\"“«「'”)] \u00a0@"
_WORDS = "COPYRIGHT|copyrıght|İ|1999|12:30|Hello|world|ΣΑΣ|新闻|ニュース|한국|Ǆ|ǅ|ª|𝟙|𐐀"
_PARTS = st.sampled_from([*_MARKS, *_WORDS.split("|")])
_TEXTS = st.lists(
    st.lists(_PARTS | st.text(max_size=4), max_size=12).map(
        lambda parts: " ".join("".join(parts).split())
    ),
    min_size=1,
    max_size=6,
)


def slow_row(text: str) -> dict[str, float]:
    split = text.split()
    han = len(DENSE_LETTERS.findall(text))
    length = len(text) + 1.5 * han
    count = max(len(split), han / 2)
    return {
        "length": np.log1p(length),
        "words": np.log1p(count),
        "word_length": max(length, 1) / max(count, 1),
        "sentences": len(re.findall(r"""[.!?…]["'”’»)\]]*(?:\s|$)|[。！？।؟]""", text)),
        "ends_sentence": bool(re.search(r"""[.!?…。！？।؟]["'”’»)\]」』]*$""", text)),
        "capitals": sum(w[0].isupper() for w in split) / len(split) if split else 0,
        "separators": len(re.findall(r"[|›»•·→←▸►/]", text)),
    }


@given(_TEXTS)
def test_rows_are_those_of_one_text_at_a_time(texts: list[str]) -> None:
    table = TextTable(texts)
    for index, text in enumerate(texts):
        found = dict(zip(FIELDS, table.features[:, index].tolist(), strict=True))
        assert found == {name: float(value) for name, value in slow_row(text).items()}
        assert table.characters[index] == len(text)
        assert table.lengths[index] == len(text) + 1.5 * len(DENSE_LETTERS.findall(text))
        assert table.keys[index] == hash64(re.sub(r"\d+", "0", text.lower()))


@given(_TEXTS, _TEXTS)
def test_rows_do_not_depend_on_what_was_seen_before(texts: list[str], others: list[str]) -> None:
    texts = [*texts, *texts, "x" * (LONGEST_KEPT + 1)]
    text_module._kept.clear()
    alone = TextTable(texts)
    text_module._kept.clear()
    TextTable(others)
    later, again = TextTable(texts), TextTable(texts)
    for table in (later, again):
        assert np.array_equal(table.features, alone.features)
        assert np.array_equal(table.keys, alone.keys)


def test_a_sentence_may_end_far_behind_its_stop() -> None:
    table = TextTable(
        ["He left.')\"", "." + ")" * 1_000_000, "." + ")" * 1_000_000 + "x", "v1.2 a.b)"]
    )
    assert table.features[list(FIELDS).index("sentences")].tolist() == [1, 1, 0, 0]


def test_few_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "MOST_KEPT", 50)
    text_module._kept.clear()
    texts = [f"text {n}" for n in range(30)]
    tables = [TextTable([f"{text} {n}" for text in texts]) for n in range(5)]
    assert len(text_module._kept) <= 50
    TextTable([*texts, "x" * (LONGEST_KEPT + 1)])
    assert len(text_module._kept) == 30
    assert [table.characters[29] for table in tables] == [9] * 5


@given(_TEXTS)
def test_words_of_a_page_are_those_of_its_blocks(texts: list[str]) -> None:
    page = build_page("".join(f"<p>{text}<a href='/{text}'>x</a><img src=i>" for text in texts))
    page.table.texts[0] = " ".join(map(chr, range(0x61, 0x61 + LONGEST)))
    page.title = texts[0] if texts else ""
    page.description = texts[-1] if texts else ""
    title, described = (set(words(text)) for text in (page.title, page.description))
    wanted = [title, described] if described else [title]
    longest = sys.maxsize if described else LONGEST
    sets = [set(words(b.text)) if len(b.text) <= longest else set() for b in page.blocks]
    shared = [[len(own & among) for own in sets] for among in wanted]
    assert page_words(page).tolist() == [[*map(len, sets)], *shared]
    assert page_words(page) is page_words(page)


def test_a_page_that_was_observed_is_not_read_again_and_judged_alike() -> None:
    source = "<nav><a href=/>Home</a></nav><h1>Fog</h1>" + "<p>The port is closed by fog.</p>" * 9
    method = create_method("evidence")
    method.observe(build_page("<nav><a href=/>Home</a></nav><p>Another page, on trams."))
    page = build_page(source)
    method.observe(page)
    reading = EvidencePage.of(page).reading
    assert isinstance(reading, Reading)
    assert load_model().read(page) is reading
    judged = method.model().judge(page)
    assert EvidencePage.of(page).reading is reading
    fresh = method.model().judge(build_page(source))
    assert [v.score for v in judged.verdicts] == [v.score for v in fresh.verdicts]
    assert [dict(v.evidence) for v in judged.verdicts] == [dict(v.evidence) for v in fresh.verdicts]


def test_trees_score_as_one_question_after_the_other() -> None:
    trees = load_model().together
    rows = np.random.default_rng(1).normal(size=(5, len(trees.names))).astype(np.float32)
    for row, score in zip(rows, trees.score(rows).tolist(), strict=True):
        slow = trees.bias
        for asked, borders, values in zip(trees.features, trees.borders, trees.values, strict=True):
            yes = row[asked] > borders
            slow += float(values[sum(int(answer) << bit for bit, answer in enumerate(yes))])
        assert abs(score - slow) < 1e-9
