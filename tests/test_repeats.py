"""Passages that a page shows again: which are left out, which stay, and who is told why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy import CleanPage, SiteCleaner
from noiseclean_scrapy.methods.base import LEFT_OUT
from noiseclean_scrapy.methods.evidence_model.repeats import repeated_runs, repeats
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.report.reasons import plain_reasons, verdict_in_words

URL = "https://example.com/fog"
LINES = [
    f"The ferry of {day} left the harbour of Porto an hour late, because fog lay on the river."
    for day in ("Monday", "Tuesday", "Wednesday")
]
STORY = "".join(f"<p>{line}</p>" for line in LINES)
TWICE = (
    "<html><head><title>Fog stops the ferries</title></head><body><nav><a href=/>Home</a></nav>"
    f"<article><h1>Fog stops the ferries</h1><div class=wide>{STORY}</div>"
    f"<div class=narrow>{STORY}</div></article></body></html>"
)


def left_out(body: str, *, kept: list[bool] | None = None) -> list[str]:
    """Texts that `repeats` leaves out of a page whose other blocks are all kept, or these."""
    page = build_page(f"<body>{body}")
    texts = page.table.texts
    lengths = np.array([float(len(text)) for text in texts])
    found = repeats(page, np.array(kept or [True] * len(texts)), lengths)
    return [text for text, is_out in zip(texts, found.tolist(), strict=True) if is_out]


def clean(source: str, **options: Any) -> CleanPage:
    return SiteCleaner(**options).clean(source)


def test_a_text_that_stands_twice_is_given_once() -> None:
    page = clean(TWICE)
    assert page.text.splitlines() == ["Fog stops the ferries", *LINES]
    for line in LINES:
        assert page.markdown.count(line) == page.html.count(line) == 1
    assert page.weights["ferry"] == len(LINES)
    assert [block.kept for block in page.blocks if block.text in LINES] == [True] * 3 + [False] * 3


def test_an_option_keeps_it_twice() -> None:
    assert clean(TWICE, include_repeats=True).text.splitlines()[1:] == LINES * 2


def test_the_reason_is_told() -> None:
    first, second = [block for block in clean(TWICE).blocks if block.text == LINES[0]]
    words = "the page says the same further up (include_repeats)"
    assert f"{LEFT_OUT}: {words}" not in first.evidence
    assert second.evidence[f"{LEFT_OUT}: {words}"] == 1.0
    assert plain_reasons(second) == [words]
    assert verdict_in_words(second, headline=False) == f"Left out: {words}."


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("<div class=wide>{}</div>", "<div class=narrow>{}</div>"),
        ("<section>{}</section>", "<div>{}</div>"),
        ("{}", "<div class=popup><div class=plan>{}</div></div>"),
        ("<div class=post>{}</div>", "<div class=post><blockquote>{}</blockquote>Yes!</div>"),
        ("<div class=post>{}</div>", "<div class=post><div class=bbQuote>{}</div>Yes!</div>"),
        ("<p>{}</p>", "<aside><ul><li>{}</ul></aside>"),
    ],
)
def test_left_out_in_another_part_and_in_quotations(first: str, second: str) -> None:
    body = first.format(LINES[0]) + second.format(LINES[0])
    assert left_out(f"<p>Fog</p>{body}<p>Rain</p>") == [LINES[0]]


@pytest.mark.parametrize(
    "body",
    [
        "<div class=card id=one>Small<p>{}</div><div class=card id=two>Large<p>{}</div>",
        "<div class=card><p>Small<p>{}</div><div class=card><p>Large<p>{}</div>",
        "<section id=a><p>{}</section><section id=b><p>{}</section>",
        "<table><tr><td>Monday<td>{}<tr><td>Tuesday<td>{}</table>",
        "<p>{}</p><p>It cleared.</p><p>{}</p>",
        "<pre>{}</pre><div class=answer><pre>{}</pre></div>",
        "{}<br><br>{}",
    ],
)
def test_kept_in_parts_alike_and_as_code(body: str) -> None:
    assert left_out(body.format(LINES[0], LINES[0])) == []


def test_short_texts_are_no_passage_but_lines_of_one_are() -> None:
    short = "<p>Read on</p><p>Fog, again</p>"
    assert left_out(f"<div class=a>{short}</div><div class=b>{short}</div>") == []
    body = f"<div class=a>{short}{STORY}</div><div class=b>{short}{STORY}</div>"
    assert left_out(body) == ["Read on", "Fog, again", *LINES]


def test_what_is_not_shown_is_not_repeated(tmp_path: Path) -> None:
    body = f"<div class=wide>{STORY}</div><div class=narrow>{STORY}</div>"
    assert left_out(body, kept=[False] * 3 + [True] * 3) == []
    more = "".join(f"<p>{line} It rained.</p>" for line in LINES)
    assert left_out(body.replace("class=wide", "class=wide hidden") + more) == []
    path = tmp_path / "rules.toml"
    for rule, lines in (('drop = ".wide"', LINES), ('keep = ".narrow"', LINES * 2)):
        path.write_text(f'["example.com"]\n{rule}\n', encoding="utf-8")
        page = SiteCleaner().clean(TWICE, url=URL, overrides=Overrides.read(path))
        assert page.text.splitlines()[1:] == lines


@given(st.lists(st.sampled_from("abcd"), max_size=30))
def test_runs_are_as_long_as_can_be_and_stand_apart(texts: list[str]) -> None:
    runs = list(repeated_runs(texts))
    for origin, start, end in runs:
        size = end - start
        assert origin + size <= start < end
        assert texts[origin : origin + size] == texts[start:end]
        assert end == len(texts) or origin + size == start or texts[origin + size] != texts[end]
    repeated = [number for _, start, end in runs for number in range(start, end)]
    assert repeated == [n for n, text in enumerate(texts) if text in texts[:n]]
