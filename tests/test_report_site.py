"""The site report over a real store, in a real browser: figures, tree, charts, gallery."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from example_project.demo import DemoSite
from noiseclean_scrapy import Block, NoiseCleanError
from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.clusters.cluster import PageCluster
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.report import site_report
from noiseclean_scrapy.store import Cleaned, PageRecord, Store
from tests.support.browsing import listening, opened
from tests.support.training import train_cluster

START = datetime(2031, 3, 1, 12, tzinfo=timezone.utc)


def stored_site(folder: Path, config: Config, *, pages: int, html: bool = True) -> Store:
    """A store with the first pages of the demo newspaper and their tree."""
    store = Store(f"sqlite:///{folder / 'site.db'}", store_html=html)
    config = replace(config, store_html=html)
    site = PageCluster("courier.example", config)
    for number, (path, page) in enumerate(list(DemoSite().pages.items())[:pages], 1):
        built = build_page(page.html, url=f"https://courier.example{path}")
        site.observe(f"{number:04x}", built)
        record = PageRecord(
            key=f"{number:04x}",
            cluster=site.name,
            url=built.url,
            body_hash=f"{number}",
            fetched_at=START + timedelta(days=number),
            position=number,
            html=page.html,
            cleaned=to_record(site.clean(built), 0, config),
        )
        store.pages.write([record], method=config.tree_kind)
    train_cluster(store, site)
    return store


@pytest.fixture(scope="module")
def courier(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The store and the report of 30 pages of the demo newspaper."""
    with stored_site(tmp_path_factory.mktemp("courier"), Config(), pages=30) as store:
        yield store, site_report(store, "courier.example")


def test_figures_and_texts(courier: tuple[Store, str], browser: Any, tmp_path: Path) -> None:
    store, document = courier
    cleaned = [page.cleaned for page in store.pages.with_text() if page.cleaned]
    visible = sum(page.visible_characters for page in cleaned)
    kept = sum(page.kept_characters for page in cleaned)
    pages_without: dict[str, int] = defaultdict(int)
    for page in cleaned:
        for text in {block.text for block in page.blocks if not block.kept}:
            pages_without[text] += 1
    with opened(browser, document, tmp_path) as report:
        page = report.page
        assert page.title() == "courier.example · noiseclean inspector"
        figures = page.locator(".figures dd").all_inner_texts()
        assert figures[0].startswith("30 ")
        assert figures[1].startswith(f"{visible / 1000:.0f} k")
        assert figures[2] == f"{100 * kept / visible:.0f} %"
        first = page.locator("#texts table").first.locator("tbody tr").first
        assert first.locator("td").first.inner_text() == str(max(pages_without.values()))
        assert page.locator("#drift .page.fit").count() == 30
        assert page.locator("#versions table").first.locator("tbody tr").count() == 1
        assert "threshold 0.50" in page.locator("#importance").text_content()
        report.assert_quiet()


def test_the_tree_adds_up(courier: tuple[Store, str], browser: Any, tmp_path: Path) -> None:
    store, document = courier
    characters: dict[str, int] = defaultdict(int)
    kept: dict[str, int] = defaultdict(int)
    weighted: dict[str, float] = defaultdict(float)
    standing: dict[str, set[str]] = defaultdict(set)
    for page in store.pages.with_text():
        for block in page.cleaned.blocks if page.cleaned else ():
            labels = block.place.split("/")
            for depth in range(1, len(labels) + 1):
                place = "/".join(labels[:depth])
                characters[place] += len(block.text)
                kept[place] += len(block.text) * block.kept
                weighted[place] += len(block.text) * block.score
                standing[place].add(page.key)
    with opened(browser, document, tmp_path) as report:
        boxes = json.loads(report.page.locator("#boxes").text_content())
        assert boxes[0]["path"] == "body"
        for box in boxes:
            if box["merged"]:
                continue
            place = box["path"]
            assert box["characters"] == characters[place]
            assert box["pages"] == len(standing[place])
            assert box["height"] == pytest.approx(characters[place] / characters["body"], abs=1e-5)
            assert box["importance"] == pytest.approx(weighted[place] / characters[place], abs=1e-3)
            assert box["keptShare"] == pytest.approx(kept[place] / characters[place], abs=1e-3)
        # Boxes lie inside the box that holds them, one below the other.
        ends: dict[int, float] = {}
        for box in boxes[1:]:
            outer = boxes[box["parent"]]
            assert box["level"] == outer["level"] + 1
            assert box["top"] >= ends.get(box["parent"], outer["top"]) - 1e-5
            ends[box["parent"]] = box["top"] + box["height"]
            assert ends[box["parent"]] <= outer["top"] + outer["height"] + 1e-5
        drawn = report.page.evaluate(
            "[...document.querySelectorAll('[data-box] rect')].map(r => +r.getAttribute('height'))"
        )
        scale = drawn[0]
        levels = int(report.page.locator("[data-icicle]").get_attribute("data-levels"))
        for height, box in zip(drawn, boxes, strict=True):
            if box["level"] < levels:  # the others come into sight by zooming
                assert height == pytest.approx(max(box["height"] * scale, 0.5), abs=0.01)


def test_hover_click_and_zoom(courier: tuple[Store, str], browser: Any, tmp_path: Path) -> None:
    with opened(browser, courier[1], tmp_path) as report:
        page = report.page
        boxes = json.loads(page.locator("#boxes").text_content())
        number = max(
            (n for n, box in enumerate(boxes) if box["level"] == 2 and not box["merged"]),
            key=lambda n: boxes[n]["height"],
        )
        box = page.locator(f"[data-box='{number}']")
        box.hover()
        tip = page.locator(".tip.shown").inner_text()
        assert boxes[number]["label"] in tip
        assert f"{boxes[number]['pages']} pages" in tip
        box.click()
        detail = page.locator("[data-detail]")
        name = boxes[number]["label"].split(" / ")[-1]
        assert detail.locator("h3").inner_text() == name
        assert f"{boxes[number]['characters']:,}" in detail.inner_text()
        assert detail.locator(".examples li").count() == len(boxes[number]["examples"])
        before = float(box.locator("rect").get_attribute("height"))
        detail.get_by_role("button", name="Zoom to this place").click()
        assert float(box.locator("rect").get_attribute("height")) > before
        assert page.locator("[data-box='0']").is_hidden()
        assert page.evaluate("document.activeElement.dataset.box") == str(number)
        page.locator("[data-trail]").get_by_role("button", name="whole page").click()
        assert page.locator("[data-box='0']").is_visible()
        assert page.evaluate("document.activeElement.dataset.box") == "0"
        assert detail.get_attribute("aria-live") == "polite"
        report.assert_quiet()


def test_the_gallery_opens_pages(courier: tuple[Store, str], browser: Any, tmp_path: Path) -> None:
    with opened(browser, courier[1], tmp_path) as report:
        page = report.page
        cards = page.locator(".page-card")
        assert cards.count() == 30
        assert page.locator("[data-open]").count() == 12
        title = cards.first.locator("strong").inner_text()
        page.locator("[data-filter]").fill(title)
        assert page.locator(".page-card:visible").count() >= 1
        assert page.locator("[data-found]").inner_text() == ""
        page.locator("[data-filter]").fill("no page has this")
        assert page.locator(".page-card:visible").count() == 0
        assert page.locator("[data-found]").inner_text().startswith("No page has this")
        page.locator("[data-filter]").fill("")
        assert page.locator("[data-found]").inner_text() == ""
        page.locator("[data-sort=noise]").click()
        shares = [float(card.get_attribute("data-noise")) for card in cards.all()]
        assert shares == sorted(shares, reverse=True)
        page.locator("[data-sort=new]").click()
        cards.first.click()
        assert page.locator("dialog h2").inner_text() == title
        frame = page.frame_locator("dialog iframe")
        frame.locator("nav [data-verdict=dropped]").first.click()
        page.get_by_role("button", name="Show this place in the tree").click()
        assert page.locator("dialog").is_hidden()
        assert page.locator(".box.on").count() == 1
        report.assert_quiet()


# What a phone shows: texts in pixels, what sticks out, what is named twice, colours without a name.
LOOKED_AT = """() => {
  const box = (element) => element.getBoundingClientRect();
  const all = (selector) => [...document.querySelectorAll(selector)];
  const styled = (elements, name) => [...new Set(elements.map((e) => getComputedStyle(e)[name]))];
  return {
    width: document.documentElement.scrollWidth,
    outside: all("body *").filter((e) => !e.closest("svg, dialog, .tip, .url"))
      .filter((e) => box(e).width && (box(e).right > innerWidth + 1 || box(e).left < -1))
      .map((e) => e.outerHTML.slice(0, 80)),
    axes: all("[data-axis]").map((axis) => [...axis.children]
      .filter((tick) => box(tick).width)
      .map((tick) => [tick.textContent, box(tick).left, box(tick).right, box(tick).top])),
    small: all("body *")
      .filter((e) => e.offsetWidth && parseFloat(getComputedStyle(e).fontSize) < 11)
      .map((e) => e.outerHTML.slice(0, 80)),
    scale: box(document.querySelector("[data-icicle]")).width
      / document.querySelector("[data-icicle]").viewBox.baseVal.width,
    columns: styled(all("#importance rect.kept, #importance rect.dropped"), "fill"),
    lines: styled(all("#drift polyline"), "stroke"),
    named: ["importance", "drift"].map((id) => styled(all(`#${id} .dot`), "backgroundColor")),
    legend: document.querySelector("#tree .legend").textContent,
  };
}"""

IS_DRAWN = """() => {
  const icicle = document.querySelector("[data-icicle]");
  return Math.abs(icicle.getBoundingClientRect().width - icicle.viewBox.baseVal.width) < 1e-3;
}"""


@pytest.mark.parametrize("count", [2, 30])
@pytest.mark.parametrize("width", [390, 800])
def test_a_report_fits_its_window(count: int, width: int, browser: Any, tmp_path: Path) -> None:
    with stored_site(tmp_path, Config(), pages=count) as store:
        document = site_report(store, "courier.example")
    with opened(browser, document, tmp_path) as report:
        report.page.set_viewport_size({"width": width, "height": 844})
        report.page.wait_for_function(IS_DRAWN)  # again, for this width
        seen = report.page.evaluate(LOOKED_AT)
        report.assert_quiet()
    assert seen["width"] == width
    assert seen["outside"] == seen["small"] == []
    assert seen["scale"] == pytest.approx(1)
    assert len(seen["axes"]) == 5
    for axis in seen["axes"]:
        labels = [label for label, *_ in axis]
        assert len(labels) == len(set(labels))
        for (_, _, right, top), (_, left, _, below) in pairwise(axis):
            assert left > right or below > top
    columns, lines = seen["named"]
    assert set(seen["columns"]) <= set(columns)
    assert set(seen["lines"]) <= set(lines)
    assert "several small places" in seen["legend"]
    assert "nothing further inside" in seen["legend"]


def test_hostile_texts_stay_texts(browser: Any, tmp_path: Path) -> None:
    evil = "</script><script>hacked=1</script><img src=x onerror=hacked=1>{{7*1111}}\u2028\u2029'\""
    with listening() as (server, asked):
        url = f"javascript:fetch('{server}')"
        blocks = (
            Block(evil, "/html[1]/body[1]/p[1]", "p", True, 1.0, {}, evil),
            Block(f"<img src={server}>", "/html[1]/*[1]", "*", False, 0.0, {}),
        )
        with Store(f"sqlite:///{tmp_path / 'evil.db'}", store_html=True) as store:
            for number in range(4):
                record = PageRecord(
                    key=f"{evil}{number}",
                    cluster=evil,
                    url=url,
                    body_hash="",
                    fetched_at=START,
                    html=f"<title>{evil}</title><p>{evil}</p><script>top.hacked=1</script>",
                    position=number + 1,
                    cleaned=Cleaned(evil, evil, blocks, 0, 200, 100),
                )
                store.pages.write([record], method="evidence")
            document = site_report(store, evil)
        with opened(browser, document, tmp_path) as report:
            page = report.page
            assert page.locator("h1").text_content() == evil
            page.locator("[data-open]").first.click()
            page.frame_locator("dialog iframe").locator("p").first.click()
            page.keyboard.press("Escape")
            page.locator("[data-box]").first.hover()
            page.wait_for_timeout(100)
            assert page.evaluate("window.hacked") is None
            assert "7777" not in page.inner_text("body")
            report.assert_quiet()
        assert asked == []


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("templates", [False, True])
def test_every_method_has_a_report(method: str, templates: bool, tmp_path: Path) -> None:
    config = Config(method=method, templates=templates)
    with stored_site(tmp_path, config, pages=8) as store:
        document = site_report(store, "courier.example", config=config)
    assert f"<b>{config.tree_kind}</b>" in document
    assert document.count("data-open=") == 8


def test_sites_without_html_tree_or_pages(browser: Any, tmp_path: Path) -> None:
    with stored_site(tmp_path, Config(), pages=5, html=False) as store:
        assert "data-open=" not in site_report(store, "courier.example")
        with pytest.raises(NoiseCleanError, match=r"no site 'other'.*courier\.example"):
            site_report(store, "other")
        record = PageRecord("k", "empty.example", "https://empty.example/", "", START)
        store.pages.write([record], method="evidence")
        with opened(browser, site_report(store, "empty.example"), tmp_path) as report:
            assert "No page of this site has a text yet." in report.page.inner_text("#tree")
            report.assert_quiet()


def test_rows_without_place_fall_back_to_tags(tmp_path: Path) -> None:
    blocks = (
        Block("Fog", "/html[1]/body[1]/div[2]/p[1]", "p", True, 0.9, {}),
        Block("Home", "/html[1]/body[1]/ul[1]/li[1]", "li", False, 0.1, {}),
    )
    with Store(f"sqlite:///{tmp_path / 'old.db'}") as store:
        cleaned = Cleaned("Fog", "Fog", blocks, 0, 7, 3)
        page = PageRecord("k", "old.example", "https://old.example/", "", START, cleaned=cleaned)
        store.pages.write([page], method="evidence")
        document = site_report(store, "old.example")
    assert '"path": "body/div/p"' in document
    assert '"path": "body/ul/li"' in document
