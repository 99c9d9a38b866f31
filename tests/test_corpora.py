"""Real pages: the corpora beside the repository, where they are."""

from __future__ import annotations

import random

import pytest

from benchmarks.corpora import read_corpus
from example_project.scoring import score
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.page import Page, build_page
from tests.support.corpora import CORPORA, needs_corpora

pytestmark = [needs_corpora, pytest.mark.slow]


def site_pages(corpus: str, site: str) -> list[Page]:
    return [build_page(page.html) for page in read_corpus(CORPORA / corpus) if page.site == site]


def learn(pages: list[Page]) -> SiteCleaner:
    cleaner = SiteCleaner()
    for page in pages:
        cleaner.observe_page(page)
    return cleaner


@pytest.mark.slow
@pytest.mark.parametrize(
    ("corpus", "site"),
    [
        ("cleanportaleval", "tv.msnbc.com"),
        ("big9-dev", "nypost-2013"),
        pytest.param("blogs-dev", "coldnew.github.io", marks=pytest.mark.night),
        pytest.param("daniel-dev", "finance.ifeng.com", marks=pytest.mark.night),
    ],
)
def test_order_and_halves_give_the_same_tree_and_the_same_texts(corpus: str, site: str) -> None:
    pages = site_pages(corpus, site)
    whole = learn(pages)
    shuffled = random.Random(11).sample(pages, len(pages))
    other_order, half = learn(shuffled), learn(shuffled[::2])
    half.merge(learn(shuffled[1::2]))
    assert whole.to_bytes() == other_order.to_bytes() == half.to_bytes()
    first, *others = (cleaner.model() for cleaner in (whole, other_order, half))
    for page in pages:
        verdict = first.judge(page)
        assert all(model.judge(page) == verdict for model in others)


def test_portals_are_cleaned_far_better_than_not_at_all() -> None:
    cleaners: dict[str, SiteCleaner] = {}
    pages = read_corpus(CORPORA / "cleanportaleval")
    for page in pages:
        cleaners.setdefault(page.site, SiteCleaner()).observe(page.html)
    visible, cleaned = [], []
    for page in pages:
        if page.gold:
            clean = cleaners[page.site].clean(page.html)
            everything = "\n".join(block.text for block in clean.blocks)
            visible.append(score(everything, page.gold))
            cleaned.append(score(clean.text, page.gold))
    assert sum(s.precision for s in cleaned) > 1.5 * sum(s.precision for s in visible)
    assert sum(s.recall for s in cleaned) > 0.95 * sum(s.recall for s in visible)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["chaos-dev", "zh-cold-dev", "scrapinghub-dev"])
def test_single_pages_of_many_sites_are_cleaned_without_an_exception(corpus: str) -> None:
    for page in read_corpus(CORPORA / corpus):
        clean = SiteCleaner().clean(page.html)
        assert clean.text or not page.gold
        assert clean.kept_characters <= clean.visible_characters


@pytest.mark.slow
@pytest.mark.parametrize("method", ["block-entropy", "feature-weighting"])
@pytest.mark.parametrize("corpus", ["cleanportaleval", "big9-dev"])
def test_all_pages_of_a_corpus_are_learned_and_judged(method: str, corpus: str) -> None:
    learned: dict[str, SiteCleaner] = {}
    pages = []
    for source in read_corpus(CORPORA / corpus):
        page = build_page(source.html)
        learned.setdefault(source.site, SiteCleaner(method)).observe_page(page)
        pages.append((source.site, page))
    kept = 0
    for site, page in pages:
        verdict = learned[site].model().judge(page)
        assert len(verdict.verdicts) == len(page.blocks)
        assert verdict.fit == 1
        assert all(0 <= v.score <= 1 for v in verdict.verdicts)
        assert all(weight >= 0 for weight in verdict.weights.values())
        kept += any(v.kept for v in verdict.verdicts)
    assert kept >= 0.95 * len(pages)
