"""The made-up shops: same pages every time, content where it belongs, noise as announced."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lxml import html

from example_project.shops import shop_pages
from example_project.shops.shops import SHOPS

PAGES = shop_pages()


def visible(source: str) -> str:
    body: Any = html.document_fromstring(source).find("body")
    return " ".join(" ".join(body.itertext()).split())


def test_the_same_seed_gives_the_same_pages_and_another_seed_others() -> None:
    assert shop_pages() == PAGES
    assert {page.html for page in shop_pages(seed=1)}.isdisjoint(page.html for page in PAGES)


def test_every_site_has_pages_of_every_category_under_addresses_of_their_own() -> None:
    counts = Counter((page.site, page.category) for page in PAGES)
    assert len({site for site, _ in counts}) == len({label for _, label in counts}) == 5
    assert len(counts) == 25
    assert min(counts.values()) >= 10
    assert len({page.url for page in PAGES}) == len(PAGES) >= 300


def test_every_page_shows_its_content_and_more_noise_than_content() -> None:
    for page in PAGES:
        text = visible(page.html)
        assert all(line in text for line in page.content.splitlines())
        assert len(text) > 2 * len(page.content)
        assert "{" not in page.content


def test_every_page_of_a_shop_advertises_the_promoted_category_and_names_all_others() -> None:
    promoted = {shop.domain: shop.promoted for shop in SHOPS}
    assert len(set(promoted.values())) == len(SHOPS)
    titles = ("Notebooks", "Digital Cameras", "Mobile Phones", "Printers", "Televisions")
    for page in PAGES:
        text = visible(page.html)
        assert all(title in text for title in titles)
        assert " week: " in text
        assert " week: " not in page.content
