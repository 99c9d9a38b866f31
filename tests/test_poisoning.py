"""Pages of an attacker do not delete the text of another page; how benchmarks measure that."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from benchmarks import drift, poisoning
from benchmarks.poisoning import ATTACKS, MethodSite, Victim, paragraphs
from example_project.demo import DemoPage, DemoSite
from noiseclean_scrapy.page import build_page


@pytest.fixture(scope="module")
def articles() -> list[DemoPage]:
    """Articles of one template, enough for a site and an attacker."""
    pages = DemoSite(articles=60, seed=2).pages.values()
    fitting = [page for page in pages if page.template == "standard" and page.language == "en"]
    assert len(fitting) >= 20
    return fitting


@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_a_sixth_of_the_pages_deletes_nothing(attack: str, articles: list[DemoPage]) -> None:
    honest, own = articles[:15], articles[15:18]
    victim = Victim(honest[4], max(paragraphs(honest[4]), key=len))
    poison = [ATTACKS[attack](victim, page, random.Random(0)) for page in own]
    assert all(victim.paragraph in html for html in poison)
    before, *_, after = list(MethodSite("evidence", honest).texts(victim, poison))
    assert victim.paragraph in before
    assert set(victim.page.gold.split("\n")) & set(before.split("\n")) <= set(after.split("\n"))


def test_the_least_share_is_found(
    monkeypatch: pytest.MonkeyPatch, articles: list[DemoPage]
) -> None:
    class Site:
        def texts(self, victim: Victim, poison: list[str]) -> Iterator[str]:
            kept = victim.paragraph
            return iter([kept, kept, "", kept] if victim.page is articles[0] else [kept] * 4)

    monkeypatch.setattr(poisoning, "STEPS", (1, 5, 9))
    monkeypatch.setattr(poisoning, "HONEST", 15)
    victims = [Victim(page, paragraphs(page)[0]) for page in articles[:2]]
    found = poisoning.shares(Site(), victims, articles[2:], poisoning.exact_copy)
    assert found == {"victims": 2, "lost_before": 0, "least": [0.25, 1.0], "median": 1.0}


def test_the_second_design_has_the_texts_and_none_of_the_places(articles: list[DemoPage]) -> None:
    page = articles[0]
    one, other = (build_page(html) for html in (page.html, drift.second_design(page.html)))
    assert [block.text for block in one.blocks] == [block.text for block in other.blocks]
    classes = [{e.label for e in found.elements if "." in e.label} for found in (one, other)]
    assert classes[0]
    assert not classes[0] & classes[1]
