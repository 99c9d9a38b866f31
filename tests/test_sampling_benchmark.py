"""First pages against random ones: the order of a crawl, the scores of a small site, a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urljoin

import pytest

from benchmarks import sampling
from benchmarks.corpora import ROOT, SHARED, load_scorer
from tests.support.corpora import needs_scorer
from tests.test_experiments import write_site
from tests.test_quality import shared_folder

__all__ = ["shared_folder"]

MENU = "<ul><li>Home</li><li>Sport and games</li><li>Weather tomorrow</li></ul>"


def small_site(without_menu: int, pages: int = 50) -> sampling.SampledSite:
    """The first pages show no menu; no word of an article stands on another page."""
    names = [chr(97 + number // 26) + chr(97 + number % 26) for number in range(pages)]
    golds = [f"alpha{name} beta{name} gamma{name} delta{name}" for name in names]
    sources = [
        (f"<body>{'' if number < without_menu else MENU}<p>{gold}</p></body>", "")
        for number, gold in enumerate(golds)
    ]
    return sampling.SampledSite("small", sources, golds)


@needs_scorer
def test_what_the_first_pages_do_not_show_only_a_random_sample_learns() -> None:
    scorer = load_scorer(SHARED)
    found = sampling.compare(scorer, small_site(without_menu=20), "style-tree", draws=3)
    # Of 50 pages 30 keep a menu of six words beside four of the article: precision 4/10.
    kept = (20 + 30 * 2 * 4 / (10 + 4)) / 50
    assert list(found) == [str(size) for size in sampling.SIZES]
    assert all(scores["first"] == pytest.approx(kept, abs=1e-4) for scores in found.values())
    assert found["10"]["random"] == found["20"]["random"] == 1.0
    same = sampling.compare(scorer, small_site(without_menu=0), "style-tree, published", draws=1)
    assert all(set(scores.values()) == {1.0} for scores in same.values())


def test_a_crawl_meets_each_page_of_the_demo_newspaper_by_a_link_of_an_earlier_one() -> None:
    site = sampling.demo_site(articles=20)
    urls = [url for _, url in site.sources]
    linked = {urls[0]}
    for html, url in site.sources:
        assert url in linked
        linked.update(urljoin(url, href) for href in re.findall(r'href="([^"#]*)', str(html)))
    assert len(set(urls)) == len(urls) > 40
    assert None not in site.golds


def test_sites_of_many_pages_in_the_order_of_the_manifest(tmp_path: Path) -> None:
    pages = {f"p{n:02}": (f"<p>{n}</p>", str(n)) for n in range(sampling.LEAST_PAGES)}
    write_site(tmp_path, pages)
    (site,) = sampling.corpus_sites(tmp_path, ["small"])
    assert [html for html, _ in site.sources] == [html.encode() for html, _ in pages.values()]
    assert site.golds == [gold for _, gold in pages.values()]


@needs_scorer
def test_a_run_writes_its_figures_and_the_table(shared: Path) -> None:
    """No site of the corpus has enough pages, so that the demo newspaper is alone."""
    out, markdown = shared / "sampling.json", shared / "sampling.md"
    command = ["--shared", str(shared), "--corpus", "tiny", "--method", "style-tree"]
    command += ["--draws", "1", "--articles", "20", "--out", str(out), "--markdown", str(markdown)]
    assert sampling.main(command) == 0
    report = json.loads(out.read_text())
    assert (report["draws"], list(report["results"])) == (1, [sampling.DEMO])
    found = report["results"][sampling.DEMO]["methods"]["style-tree"]
    row = found["20"]
    cell = f"{row['first']:.3f} / {row['random']:.3f} [{row['worst']:.3f}]"
    assert row["worst"] == row["random"]
    assert f"| style-tree | 20 | {cell} | {cell} |" in markdown.read_text()


def test_the_table_of_the_documentation_is_that_of_the_figures() -> None:
    report = json.loads((ROOT / "benchmarks/results/sampling.json").read_text(encoding="utf-8"))
    shown = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    table = sampling.table(report["results"], report["draws"])
    assert table.to_markdown().partition("\n\n")[2] in shown
