"""Which class and id tokens tell the place, and which only the page."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseclean_scrapy.page.labels import element_label, stable_tokens
from noiseclean_scrapy.page.locations import steps_of


@pytest.mark.parametrize(
    "value",
    [
        "card card--large",
        "Header_title",
        "block__element",
        "block__element--modifier",
        "article-body",
        "story content",
        "entry-title",
        "post post-content",
        "ArticleBody",
        "nav-item",
        "text_small",
        "style-guide",
        "comment-text",
        "tagline",
    ],
)
def test_style_stays(value: str) -> None:
    assert stable_tokens(value) == sorted(value.split())


@pytest.mark.parametrize(
    "value",
    [
        "post-4711",
        "postid-4711 page-id-12 category-sport tag-world-cup author-jane term-9",
        "active current selected open is-open has-children js-toggle no-js",
        "first last odd even",
        "css-1x2y3z emotion-0 sc-1a2b3c jsx-2871293847 svelte-1tky8bj",
        "a1b2c3d4e5",
        "deadbeef01",
        "menu-item-381",
        "comment-98213",
        "x" * 41,
        "{broken}",
        "",
    ],
)
def test_content_goes_away(value: str) -> None:
    assert stable_tokens(value) == []


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        ("Header_title__3xYz1", ["Header_title"]),
        ("grid-12", ["grid-0"]),
        ("text-org8a096bc", ["text-org0"]),
        ("outline-container-org1a2b3c4", ["outline-container-org0"]),
        ("box-550e8400-e29b-41d4-a716-446655440000", ["box-0"]),
        ("widget-A1B2C3D4", ["widget-0"]),
        ("h1 grid2 facade1 feed-2024", ["facade0", "feed-0", "grid0", "h0"]),
        ("post-4711 post type-post hentry", ["hentry", "post", "type-post"]),
    ],
)
def test_part_of_a_token_stays(value: str, tokens: list[str]) -> None:
    assert stable_tokens(value) == tokens


def test_pages_of_one_template_have_one_label() -> None:
    first = {"id": "post-17", "class": "post-17 post hentry category-sport tag-cup"}
    second = {"id": "post-4711", "class": "post-4711 post hentry category-politics"}
    assert element_label("article", first) == element_label("article", second)
    assert element_label("article", first) == "article.hentry.post"


def test_attributes() -> None:
    assert element_label("p", {}) == "p"
    assert element_label("p", {"class": "b a b", "style": "color: red", "title": "x"}) == "p.a.b"
    assert element_label("div", {"role": " Main ", "itemprop": "item4"}) == (
        "div[itemprop=item0][role=main]"
    )
    assert element_label("a", {"id": "one two", "class": "z"}) == "a#one.z"


@pytest.mark.parametrize(
    "piece", ["a", "1", "a1", "-", "_", "a-", "css-", "a ", "post-1", "\u0661"]
)
def test_linear_time(piece: str) -> None:
    begin = time.process_time()
    stable_tokens(piece * (1_000_000 // len(piece)))
    assert time.process_time() - begin < 5


@given(st.text("ab/[]\n", max_size=15))
def test_a_slash_before_the_end_of_a_bracket_parts_no_labels(place: str) -> None:
    assert steps_of(place) == re.split(r"/(?![^\[\]]*\])", place)


def test_steps_take_linear_time() -> None:
    begin = time.process_time()
    assert len(steps_of("/".join(["div"] * 50_000))) == 50_000
    assert time.process_time() - begin < 5
