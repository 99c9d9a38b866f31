"""A site stays in the form in which it was learned, whatever the settings of a later crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clusters.cluster import load_cluster
from noiseclean_scrapy.clusters.maintenance import import_cleaner, load_stored_model
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import TreeDataError
from noiseclean_scrapy.report import site_report
from noiseclean_scrapy.store import Store
from tests.support import crawl_site, crawling
from tests.support.crawl_site import ChainSpider, story
from tests.support.crawling import Plan
from tests.support.training import SITE, learn_site

EVIDENCE: dict[str, Any] = {"NOISECLEAN_METHOD": "evidence"}
PUBLISHED: dict[str, Any] = {
    "NOISECLEAN_METHOD": "style-tree",
    "NOISECLEAN_METHOD_OPTIONS": {"published": True},
}


@pytest.fixture
def store() -> Any:
    with Store("sqlite://", store_html=True) as store:
        yield store


def newest_tree(store: Store) -> SiteCleaner:
    record = store.clusters.find(SITE)
    assert record
    assert record.tree
    return SiteCleaner.from_bytes(record.tree)


@pytest.mark.parametrize("other", [EVIDENCE, {"NOISECLEAN_METHOD": "block-entropy"}])
def test_a_tree_of_another_method_keeps_its_form(store: Store, other: dict[str, Any]) -> None:
    learn_site(store, Config.from_settings(PUBLISHED), range(1, 9))
    learn_site(store, Config.from_settings(other), range(9, 12))
    cleaner = newest_tree(store)
    assert (cleaner.method, cleaner.pages, cleaner.budget.display) == ("style-tree", 11, True)
    learned = SiteCleaner("style-tree", **Config.from_settings(PUBLISHED).all_method_options)
    for number in range(1, 12):
        html = store.pages.html(f"k{number}")
        assert html
        learned.observe(html, url=f"http://{SITE}/{number}")
    assert cleaner.to_bytes() == learned.to_bytes()


def test_pages_are_read_in_the_form_of_their_tree(store: Store) -> None:
    learn_site(store, Config.from_settings(EVIDENCE), range(1, 4))
    cluster = load_cluster(store, SITE, Config.from_settings(PUBLISHED))
    assert not cluster.config.page_budget.display
    learned = SiteCleaner("style-tree", published=True)
    learned.observe("<p>fog")
    for settings in (EVIDENCE, PUBLISHED):
        saved = import_cleaner(store, SITE, learned, Config.from_settings(settings))
        assert saved.config.page_budget.display
        record = store.clusters.find(SITE)
        assert record
        stored = load_stored_model(store, record, Config.from_settings(settings))
        assert stored.config.page_budget.display


def test_the_same_method_in_another_form_is_to_be_learned_again(store: Store) -> None:
    learn_site(store, Config.from_settings(PUBLISHED), range(1, 9))
    with pytest.raises(TreeDataError, match="learned with published=True: learn it again"):
        load_cluster(store, SITE, Config.from_settings({"NOISECLEAN_METHOD": "style-tree"}))


def test_a_report_needs_no_settings(store: Store) -> None:
    learn_site(store, Config.from_settings(PUBLISHED), range(1, 9))
    assert "Story number 8" in site_report(store, SITE)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [(PUBLISHED, EVIDENCE), (EVIDENCE, PUBLISHED)])
def test_a_crawl_with_another_method_goes_on_in_the_form_of_the_tree(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    paths = [f"/{number}" for number in range(12)]
    quota = {"NOISECLEAN_SAMPLE_QUOTA": 4, "CONCURRENT_REQUESTS": 1}
    with crawl_site.serve({path: story(n) for n, path in enumerate(paths)}) as server:
        for name, others in (("changed", second), ("same", first)):
            database = {"NOISECLEAN_DATABASE_URL": f"sqlite:///{tmp_path}/{name}.db", **quota}
            begun = {"url": server.url, "paths": paths[:8]}
            more = {"url": server.url, "paths": paths[8:]}
            _, last = crawling.crawl(
                tmp_path,
                Plan(ChainSpider, {**first, **database}, begun),
                Plan(ChainSpider, {**others, **database}, more),
            )
            assert not last.lines("ERROR", logger="")
    trees, texts = [], []
    for name in ("changed", "same"):
        with Store(f"sqlite:///{tmp_path}/{name}.db", read_only=True) as store:
            (site,) = store.clusters.all()
            record = store.clusters.find(site.name)
            assert record
            trees.append(record.tree)
            texts.append({page.url: page.cleaned for page in store.pages.with_text()})
    assert trees[0] == trees[1]
    assert len(texts[0]) == len(paths)
    assert texts[0] == texts[1]
