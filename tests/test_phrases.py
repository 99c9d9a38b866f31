"""Which short lines announce something, and how far it reaches."""

from __future__ import annotations

import re
import time

import pytest

from noiseclean_scrapy.methods.evidence_model.page_features import PAGE, PageFeatures
from noiseclean_scrapy.methods.evidence_model.phrases import LONGEST, PHRASES, announced
from noiseclean_scrapy.page import build_page


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Related stories", "related"),
        ("READ MORE", "related"),
        ("Don’t miss", "related"),
        ("Czytaj także", "related"),
        ("相关新闻", "related"),
        ("12 Comments", "comments"),
        ("Leave a Reply", "comments"),
        ("Комментарии", "comments"),
        ("Product description", "about"),
        ("Technische Daten", "about"),
        ("Subscribe to our newsletter", "service"),
        ("Fog closes the port", None),
        ("Commentary", None),
        ("", None),
        ("Related " * 10, None),
    ],
)
def test_announced(line: str, expected: str | None) -> None:
    assert announced(line) == expected


def test_blocks_since() -> None:
    lines = ["Fog", "Related stories", "One", "Comments", "Two", "x " * LONGEST]
    body = "".join(f"<p>{line}</p>" for line in lines) + "<p><a href=/>Reviews</a></p>"
    features = PageFeatures(build_page(f"<body>{body}</body>"))
    found = {
        name: features.matrix[:, PAGE.names.index(f"since_{name}")].tolist() for name in PHRASES
    }
    assert found == {
        "related": [40, 0, 1, 2, 3, 4, 5],
        "comments": [40, 40, 40, 0, 1, 2, 3],
        "about": [40] * 7,
        "service": [40] * 7,
    }


@pytest.mark.parametrize("piece", ["comment", "read ", "description ", "a", "more "])
def test_long_lines_cost_nothing(piece: str) -> None:
    begin = time.process_time()
    announced(piece * 1_000_000)
    assert time.process_time() - begin < 5


def test_patterns_compile() -> None:
    assert all(re.compile(pattern) for pattern in PHRASES.values())
