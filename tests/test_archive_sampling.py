"""Which pages of an archive are learned, and that learning them in pieces is the same."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from example_project.demo import DemoSite
from noiseclean_scrapy.batch.sampling import SiteSample, sampling_key
from noiseclean_scrapy.batch.two_pass import Learning, SiteCleaners, SourcePage
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.methods import METHODS, method_parameters
from noiseclean_scrapy.page import build_page
from tests.support.archives import warc
from tests.support.command_line import noiseclean
from tests.support.crawl_site import story


@pytest.mark.parametrize("size", [1, 7, 100])
def test_sample_is_the_least_keys_in_any_order(size: int) -> None:
    numbers = random.Random(size)
    keys = [numbers.randrange(-60, 60) for _ in range(200)]
    least = set(sorted(set(keys))[:size])
    sample = SiteSample(size)
    for key in keys:
        had = set(sample.keys)
        assert sample.add(key) == (key in sample.keys and key not in had)
        assert len(sample.keys) <= size
    assert sample.keys == least
    assert sample.is_exceeded == (len(set(keys)) > size)


@pytest.mark.parametrize("templates", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_what_single_pages_teach_adds_up_to_what_all_of_them_do(
    method: str, templates: bool
) -> None:
    """The contract that Spark rests on, also where a bound drops the rarest, and of copies."""
    pages = [page.html for page in DemoSite(articles=3, seed=5).pages.values()][:14]
    pages += [pages[2], pages[5].replace("<title>", "<title>Copy of ")]
    bounds = (60, 100_000) if "max_tree_nodes" in method_parameters(method) else (None,)
    for bound in bounds:
        options: dict[str, Any] = {"max_tree_nodes": bound} if bound else {}
        unbounded: dict[str, Any] = {"max_tree_nodes": 1 << 40} if bound else {}
        whole = SiteCleaner(method, templates=templates, **options)
        merged = SiteCleaner(method, templates=templates, **options)
        for html in pages:
            one = SiteCleaner(method, templates=templates, **unbounded)
            one.observe(html)
            merged.merge(SiteCleaner.from_bytes(one.to_bytes()))
            whole.observe(html)
        assert merged.to_bytes() == whole.to_bytes()


def source_pages(number: int) -> list[SourcePage]:
    return [
        SourcePage(f"{site}{n}", f"http://{site}/{n}", site, story(n, noise=f"Noise of {site}"))
        for n in range(number)
        for site in ("a.org", "b.org")
    ]


def learned(pages: list[SourcePage], folder: Path, config: Config) -> dict[str, bytes]:
    folder.mkdir()
    cleaners = SiteCleaners(config, folder, sites_in_memory=1)
    learning = Learning(cleaners)
    assert list(learning.learn(pages)) == pages
    if learning.needs_samples:
        learning.learn_samples(pages)
    return {site: cleaners[site].to_bytes() for site in ("a.org", "b.org")}


def test_large_site_learns_its_sample_whatever_the_order(tmp_path: Path) -> None:
    config = Config(method="style-tree", archive_sample=5)
    pages = source_pages(4) + [page for page in source_pages(12) if page.site == "a.org"]
    expected = {}
    for site in ("a.org", "b.org"):
        own = {page.url: page for page in pages if page.site == site}
        cleaner = SiteCleaner("style-tree", **config.all_method_options)
        for url in sorted(own, key=sampling_key)[:5]:
            cleaner.observe_page(build_page(own[url].html, url=url))
        assert cleaner.pages == (5 if site == "a.org" else 4)
        expected[site] = cleaner.to_bytes()
    assert learned(pages, tmp_path / "one", config) == expected
    assert learned(pages[::-1], tmp_path / "other", config) == expected


def test_first_record_of_a_page_counts(tmp_path: Path) -> None:
    config = Config(method="style-tree")
    pages = source_pages(3)
    again = SourcePage("again", pages[0].url, "a.org", story(9))
    assert learned([*pages, again], tmp_path / "one", config) == learned(
        pages, tmp_path / "two", config
    )


def test_command_learns_the_sample(tmp_path: Path) -> None:
    records = [("response", f"http://a.org/{n}", "text/html", story(n).encode()) for n in range(9)]
    cut = (*records[8][:3], b"<p>cut")
    (tmp_path / "a.warc").write_bytes(warc(*records, cut, zipped=False)[:-20])
    options = ("--format", "jsonl", "--method", "style-tree", "-s", "NOISECLEAN_ARCHIVE_SAMPLE=3")
    done = noiseclean(tmp_path, "clean", "a.warc", *options, code=1)
    assert done.stderr.count("is damaged") == 1
    assert done.stderr.endswith("9 pages of 1 site cleaned (1 damaged)\n")
    cleaner = SiteCleaner("style-tree")
    for record in sorted(records, key=lambda record: sampling_key(record[1]))[:3]:
        cleaner.observe(record[3])
    assert [row["text"] for row in map(json.loads, done.stdout.splitlines())] == [
        cleaner.clean(record[3]).text for record in records
    ]
