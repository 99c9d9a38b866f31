"""The places of a page's blocks, against one block at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from noiseclean_scrapy.methods.evidence_model.places import (
    AROUND,
    FACTORS,
    OWN,
    PLACE_LEVELS,
    page_places,
)
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.hashes import hash64
from tests.support.slow_small_sites import examples, random_bodies


def slow_key(page: Page, kind: int, element: int) -> int:
    labels = [above.label for above in page.path(element)][:PLACE_LEVELS]
    key = kind ^ sum(hash64(label) * f for label, f in zip(labels, FACTORS, strict=False)) % 2**64
    for shift, factor in ((30, FACTORS[1]), (27, FACTORS[2]), (31, 1)):
        key = (key ^ key >> shift) * factor % 2**64
    return key


def assert_places(page: Page) -> None:
    places = page_places(page)
    assert places.keys.tolist() == sorted(set(places.keys.tolist()))
    for block, own, around in zip(page.blocks, places.own, places.around, strict=True):
        parent = max(page.elements[block.element].parent, 0)
        assert places.keys[own] == slow_key(page, OWN, block.element)
        assert places.keys[around] == slow_key(page, AROUND, parent)


@examples
@given(random_bodies)
def test_places_are_as_defined(body: str) -> None:
    assert_places(build_page(f"<body>{body}</body>"))


@pytest.mark.parametrize("levels", range(1, 2 * PLACE_LEVELS))
def test_places_near_the_root(levels: int) -> None:
    nested = "".join("<div>" + "".join(f"<div>{n}" for n in range(levels)) for _ in range(3))
    assert_places(build_page(f"<body>a{nested}"))


def test_means_by_hand() -> None:
    page = build_page("<body><ul><li>a<li>b</ul><p>c</p>d")
    places = page_places(page)
    means = places.means(np.array([1.0, 2.0, -4.0, 8.0]))
    # Own: LI, P, BODY; around: UL of the items, BODY of all else.
    assert means[places.own].tolist() == [1.5, 1.5, -4, 8]
    assert means[places.around].tolist() == [1.5, 1.5, 2, 2]


def test_a_page_without_blocks_has_no_places() -> None:
    assert page_places(build_page("")).keys.tolist() == []
