"""Text columns for all blocks at once, against one pattern and one block at a time."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from noiseclean_scrapy.evidence.model import Reading, load_model
from noiseclean_scrapy.evidence.text import HAN_KANA, text_columns
from noiseclean_scrapy.methods import create_method
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.features import block_features, block_words, targets, words

_MARKS = ".!?…。！？।؟,;:，、0٣7|›»/$€©®{}<=_\"“«「'”)] \u00a0@"
_WORDS = (
    "USD|EUR1|all rights|COPYRIGHT|copyrıght|https:|www.|a@b|İ|1999|12:30|Hello|world|ΣΑΣ|新闻|"
    "ニュース|한국|Ǆ|ǅ|ª|𝟙|𐐀"
)
_PARTS = st.sampled_from([*_MARKS, *_WORDS.split("|")])
_TEXTS = st.lists(
    st.lists(_PARTS | st.text(max_size=4), max_size=12).map(
        lambda parts: " ".join("".join(parts).split())
    ),
    min_size=1,
    max_size=6,
)


def slow_row(text: str, title: set[str], texts: list[str]) -> dict[str, float]:
    split, own = text.split(), set(words(text))
    return {
        "words": max(len(split), len(HAN_KANA.findall(text)) / 2),
        "sentences": len(re.findall(r"""[.!?…]["'”’»)\]]*(?:\s|$)|[。！？।؟]""", text)),
        "ends_sentence": bool(re.search(r"""[.!?…。！？।؟]["'”’»)\]」』]*$""", text)),
        "pauses": len(re.findall(r"[,;:，、；：،]", text)),
        "digits": len(re.findall(r"\d", text)),
        "capitals": sum(w[0].isupper() for w in split) / len(split) if split else 0,
        "upper": text.isupper(),
        "date": bool(re.search(r"\b(?:19|20)\d\d\b|\d{1,2}[:./-]\d{1,2}", text)),
        "separators": len(re.findall(r"[|›»•·→←▸►/]", text)),
        "currency": bool(re.search(r"[$€£¥₽]|\b(?:USD|EUR|GBP)\b", text)),
        "rights": bool(re.search(r"(?i)[©®™]|\ball rights\b|\bcopyright\b", text)),
        "address": bool(re.search(r"\bhttps?:|www\.|@\w", text)),
        "code": len(re.findall(r"[{}<>=;_\\#$]", text)),
        "quotes": bool(re.search(r"[\"“”„«»「」]", text)),
        "lower_start": text[:1].islower(),
        "colon": text.endswith((":", "：")),
        "in_title": len(own & title) / len(own) if own and title and len(text) < 300 else 0,
        "repeated_here": texts.count(text),
    }


@settings(deadline=None)
@given(_TEXTS, st.text(max_size=20))
def test_columns_are_those_of_one_text_at_a_time(texts: list[str], title_text: str) -> None:
    title = set(words(title_text)) | {"hello", "a"}
    columns = text_columns(texts, [words(text) for text in texts], title)
    for index, text in enumerate(texts):
        found = {name: column[index] for name, column in columns.items()}
        assert found == {name: float(v) for name, v in slow_row(text, title, texts).items()}


@settings(deadline=None)
@given(_TEXTS)
def test_words_of_a_page_are_those_of_its_blocks(texts: list[str]) -> None:
    page = build_page("".join(f"<p>{text}<a href='/{text}'>x</a><img src=i>" for text in texts))
    assert block_words(page) == [words(block.text) for block in page.blocks]
    assert block_words(page) is block_words(page)
    for block, found in zip(page.blocks, block_words(page), strict=True):
        assert sorted(block_features(block).elements()) == sorted([*found, *targets(block)])


def test_a_page_that_was_observed_is_not_read_again_and_judged_alike() -> None:
    source = "<nav><a href=/>Home</a></nav><h1>Fog</h1>" + "<p>The port is closed by fog.</p>" * 9
    method = create_method("evidence")
    method.observe(build_page("<nav><a href=/>Home</a></nav><p>Another page, on trams."))
    page = build_page(source)
    method.observe(page)
    reading = page.reading
    assert isinstance(reading, Reading)
    assert load_model().read(page) is reading
    judged = method.model().judge(page)
    assert page.reading is None
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
