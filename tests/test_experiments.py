"""The papers' experiments: features of informative blocks, and levels of cleaned pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpora import SHARED, CorpusPage, load_scorer, read_corpus
from benchmarks.experiments import features, levels
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.methods.block_entropy import BlockEntropyMethod
from noiseclean_scrapy.page import build_page
from tests.support.corpora import needs_corpora, needs_scorer, write_corpus

STORIES = (
    "Fog closes harbour ferries cancelled captains waiting",
    "Bakery wins gold medal rye loaf judges praised",
    "Trams delayed frozen points engineers repair overnight",
    "Museum buys painting lost decades collectors surprised",
    "Choir sings cathedral tickets sold within minutes",
)
MENU = "Sports Weather Concerts"


def write_site(shared: Path, pages: dict[str, tuple[str, str]]) -> Path:
    """A corpus `small` of one site: HTML and gold text by page id."""
    rows = [
        {"id": name, "site": "example.com", "html": html, "gold": gold}
        for name, (html, gold) in pages.items()
    ]
    return write_corpus(shared / "corpora/small", rows)


def article(menu: str, story: str) -> str:
    return f"<html lang=en><title>News</title><body><div>{menu}</div><p>{story}</p></body></html>"


def news(count: int) -> dict[str, tuple[str, str]]:
    """Pages of one menu and different stories; story and gold of page n carry its own words."""
    pages = {}
    for number in range(count):
        letter = chr(ord("a") + number // len(STORIES))
        story = " ".join(letter + word for word in STORIES[number % len(STORIES)].split())
        pages[f"p{number}"] = (article(MENU, story), story)
    return pages


def test_recall_and_precision_of_features_by_hand() -> None:
    found = features.agreement({"fog", "port", "news"}, {"fog", "port", "ship", "late"})
    assert (found.recall, found.precision) == (2 / 4, 2 / 3)
    assert features.agreement(set(), {"fog"}) == features.Agreement(0.0, 1.0)
    assert features.agreement({"fog"}, set()) == features.Agreement(1.0, 0.0)


def source(html: str, gold: str | None) -> CorpusPage:
    return CorpusPage("page", "example.com", "", html.encode(), gold, {})


def test_features_count_once_a_page_or_once_a_site() -> None:
    """Of the first page fog, port and news are kept, of the second fog and ship."""
    pages = [
        features.site_page(source("<p>fog fog port news</p>", "fog port"), "element"),
        features.site_page(source("<p>fog ship</p>", "ship late"), "element"),
        features.site_page(source("<p>no gold</p>", None), "element"),
    ]
    keeps_all = features.learn(pages[:1])
    assert features.page_agreement(keeps_all, pages) == features.Agreement(3 / 4, 3 / 5)
    assert features.site_agreement(keeps_all, pages) == features.Agreement(3 / 4, 3 / 4)


@pytest.mark.parametrize("blocks", features.BLOCKS)
def test_stemming_a_page_once_changes_nothing(blocks: Any) -> None:
    """The same threshold and features as with the pages themselves learned and judged."""
    htmls = [html for html, _ in news(8).values()]
    method = BlockEntropyMethod(blocks=blocks)
    for html in htmls:
        method.observe(build_page(html))
    slow = method.model()
    pages = [features.site_page(source(html, ""), blocks) for html in htmls]
    fast = features.learn(pages)
    assert fast.threshold == slow.threshold
    for html, page in zip(htmls, pages, strict=True):
        judged = slow.judge(build_page(html)).weights
        entropies = features.feature_entropies(fast, page)
        assert {name for name, h in entropies.items() if h <= fast.threshold} == set(judged)


@pytest.mark.parametrize(
    ("golds", "optimal", "shares"),
    [
        # Up to 0.3 nothing is discovered, from 0.4 on the stories, at 1.0 the menus as well.
        (["fog port home", "ship late"], 0.4, [(0, 1), (1, 5 / 6), (1, 5 / 8)]),
        (["fog port home sport", "ship late home sport"], 1.0, [(0, 1), (6 / 8, 1), (1, 1)]),
        (["fog", None], 0.4, [(0, 1), (1, 1 / 3), (1, 1 / 4)]),
        (["", ""], 0.1, [(1, 1), (1, 0), (1, 0)]),
    ],
)
def test_recall_and_precision_over_the_threshold_by_hand(
    golds: list[str | None], optimal: float, shares: list[tuple[float, float]]
) -> None:
    """ "home" and "sport" have entropy 1, all other words 0: a story 1/3, a menu 1."""
    stories = ["fog port home", "ship late home"]
    pages = [
        features.site_page(source(f"<p>home sport</p><p>{story}</p>", gold), "element")
        for story, gold in zip(stories, golds, strict=True)
    ]
    model = features.learn(pages)
    curve = features.threshold_curve(model, pages)
    steps = [shares[0]] * 3 + [shares[1]] * 6 + [shares[2]]
    assert [(a.recall, a.precision) for a in curve.values()] == [pytest.approx(s) for s in steps]
    assert curve[model.threshold] == features.page_agreement(model, pages)
    found = features.measure_site(pages)
    assert (found["threshold"], found["optimal"]) == (0.4, optimal)


def test_optimal_and_chosen_threshold_of_a_site_stand_side_by_side(tmp_path: Path) -> None:
    """The gold holds the menu as well, which no threshold below 1 discovers."""
    pages = {name: (html, f"{MENU} {gold}") for name, (html, gold) in news(5).items()}
    write_site(tmp_path, pages)
    result = json.loads(json.dumps(features.run(tmp_path, corpora=["small"])))
    *_, thresholds, means, sites = features.tables(result)
    words = sum(len(set(gold.split())) for _, gold in news(5).values())
    recall = words / (words + 5 * len(MENU.split()))
    chosen = f"{recall:.3f} / 1.000"
    with_f = f"{chosen} / {2 * recall / (recall + 1):.3f}"
    assert means.rows[0][:5] == ["small", "1", with_f, "1.000 / 1.000 / 1.000", "0 / 0"]
    assert sites.rows[0][:5] == [
        "small",
        "example.com",
        "5",
        f"0.1: {chosen}",
        "1.0: 1.000 / 1.000",
    ]
    assert thresholds.rows[0] == ["elements", "small", "1", *[chosen] * 9, "1.000 / 1.000"]


@pytest.mark.parametrize(
    ("recall", "precision", "expected"),
    [
        (1.0, 1.0, "A"),
        (0.95, 0.95, "A"),
        (0.95, 0.9499, "B"),
        (1.0, 0.5, "B"),
        (1.0, 0.4999, "C"),
        (0.9499, 1.0, "C"),
        (0.0, 0.0, "C"),
    ],
)
def test_level_at_its_boundaries(recall: float, precision: float, expected: str) -> None:
    assert levels.level(recall, precision) == expected


def test_features_of_a_small_site(tmp_path: Path) -> None:
    write_site(tmp_path, news(10))
    result = features.run(tmp_path, corpora=["small"])
    (site,) = result["sites"]
    assert (site["corpus"], site["site"], site["pages"]) == ("small", "example.com", 10)
    assert (site["element"]["recall"], site["element"]["precision"]) == (1.0, 1.0)
    curve = site["element"]["curve"]
    assert list(curve) == ["1", "2", "5", "10"]
    words = sum(len(set(gold.split())) for _, gold in news(10).values())
    alone = words / (words + 10 * len(MENU.split()))  # one page learned: all is informative
    assert curve["1"] == {"recall": 1.0, "precision": pytest.approx(alone, abs=1e-3)}
    assert curve["10"] == {"recall": 1.0, "precision": 1.0}
    assert result["mean"]["all"]["element"]["as_published"] == 1
    means, curves, thresholds, optimal, sites = features.tables(json.loads(json.dumps(result)))
    assert means.rows[1][:3] == ["small", "1", "1.000 / 1.000"]
    assert len(curves.rows) == len(features.BLOCKS)
    assert len(thresholds.rows) == 2 * len(features.BLOCKS)
    assert sites.rows[0][:3] == ["small", "example.com", "10"]
    for table in (means, curves, thresholds, optimal, sites):
        assert all(len(row) == len(table.header) for row in table.rows)


@pytest.mark.extras
def test_curves_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="drawing needs the extra bench")
    write_site(tmp_path, news(10))
    features.run(tmp_path, tmp_path / "images", corpora=["small"])
    names = ["infodiscoverer-threshold.png", "infodiscoverer.png"]
    pictures = sorted((tmp_path / "images").iterdir())
    assert [picture.name for picture in pictures] == names
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)


def test_sites_of_few_pages_are_left_out(tmp_path: Path) -> None:
    corpus = write_site(tmp_path, news(4))
    assert features.sites_of(read_corpus(corpus)) == {}


@needs_scorer
def test_levels_of_small_pages(tmp_path: Path) -> None:
    """A long text is kept, a short one lost, and one with noise in its own block keeps it."""
    long = "The ferry left the harbour before dawn and came back late. " * 20
    noise = "Buy tickets now. " * 40
    corpus = write_site(
        tmp_path,
        {
            "whole": (article(MENU, long), f"News {long}"),
            "noisy": (article(MENU, long + noise), f"News {long}"),
            "short": (article(MENU, "Fog closes the port."), "Fog closes the port."),
        },
    )
    cleaned, speed = levels.clean_all(SiteCleaner("satisfiable-subtree"), read_corpus(corpus))
    scorer = load_scorer(SHARED)
    for page, expected in zip(cleaned, "ABC", strict=True):
        counts = levels.count_levels(scorer, [page], levels.kept_text)
        assert counts[expected] == 1, page[0].id
        assert sum(counts[name] for name in levels.LEVELS) == 1
    assert speed > 0


@needs_scorer
def test_levels_are_reported_by_corpus_language_and_portal(tmp_path: Path) -> None:
    corpus = write_site(tmp_path, news(2))
    first, second = read_corpus(corpus)
    first.row["lang"], second.row["lang"] = "en", "zh"
    cleaned, _ = levels.clean_all(SiteCleaner("satisfiable-subtree"), [first, second])
    assert {name: len(g) for name, g in levels.groups("small", cleaned).items()} == {
        "small": 2,
        "small en": 1,
        "small zh": 1,
    }
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/score.py").write_bytes((SHARED / "bench/score.py").read_bytes())
    result = levels.run(tmp_path, corpora=["small"])
    assert result["groups"]["small"]["pages"] == 2
    assert result["published"]["www.qq.com"] == [97, 0, 3]
    found, speed = levels.tables(json.loads(json.dumps(result)))
    assert found.rows[1][3] == "97 / 0 / 3"
    assert [row[0] for row in found.rows[4:]] == ["small"]
    assert all(len(row) == len(t.header) for t in (found, speed) for row in t.rows)


@pytest.mark.slow
@needs_corpora
def test_informative_blocks_of_portals_hold_most_features_and_less_noise() -> None:
    sites = features.sites_of(read_corpus(SHARED / "corpora/cleanportaleval"))
    for sources in sites.values():
        pages = [features.site_page(page, "element") for page in sources]
        learned = features.page_agreement(features.learn(pages), pages)
        one_page = features.page_agreement(features.learn(pages[:1]), pages)
        assert learned.recall > 0.8
        assert learned.precision > one_page.precision
