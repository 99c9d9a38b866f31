"""A site that is redesigned in mid-crawl: until when that is seen, and what it costs.

    python benchmarks/drift.py                         # evidence and style-tree
    python benchmarks/drift.py --method feature-weighting --markdown drift.md

Two redesigns: the demo newspaper, whose second design has other class names, elements and
wrappers, and the nine news sites of big9-dev, 2005 and 2013, on average. A tree of the old design
is in use when pages of the new one come in. `kept` is the bag F1 of pages of the new design that
were not learned, cleaned by the tree after so many new ones; `old` that of pages of the old design
after all. False alarms are counted on a stream of pages of one design.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from benchmarks.corpora import SHARED, by_site, environment, load_scorer, read_corpus
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clean_page import clean_page
from noiseclean_scrapy.clusters import fit_watch
from noiseclean_scrapy.clusters.cluster import PageCluster
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.methods import METHODS, Model
from noiseclean_scrapy.page import Page, build_page

BEFORE = 100
"""Pages of the demo's old design that are learned."""
COUNTS = (0, 5, 10, 20, 40)
"""Pages of the new design that are learned; 0 is the old tree."""
HELD_OUT = 20
STREAM = 500
BACK = 0.005
"""Quality is back within this of that with all pages."""
VERSIONS = ("noiseclean-scrapy", "lxml", "parsel")


@dataclass(frozen=True)
class GoldPage:
    """A page and its gold text."""

    page: Page
    gold: str


@dataclass(frozen=True)
class Redesign:
    """Pages learned before, pages of the new design as they come, and pages for measuring."""

    before: Sequence[Page]
    after: Sequence[Page]
    old: Sequence[GoldPage]
    new: Sequence[GoldPage]


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = report_parser(__doc__, "drift")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--stream", type=int, default=STREAM, help="pages without a redesign")
    args = parser.parse_args(argv)
    scorer = load_scorer(args.shared)
    redesigns = {"demo newspaper": [demo_redesign()], "big9-dev": big9_redesigns(args.shared)}
    results = {}
    for method in args.method or ("evidence", "style-tree"):
        for name, group in redesigns.items():
            results[f"{method}, {name}"] = mean_of([measure(method, one, scorer) for one in group])
        results[f"{method}, demo newspaper"]["alarms"] = false_alarms(method, args.stream)
    figures = {**environment(VERSIONS), "stream": args.stream, "results": results}
    publish_figures(args, [table(results)], figures)
    return 0


def demo_redesign() -> Redesign:
    """The articles of the demo newspaper, later ones in another design."""
    pages = [page for page in DemoSite(articles=200).pages.values() if page.kind == "article"]
    random.Random(0).shuffle(pages)
    old, new = pages[:HELD_OUT], pages[HELD_OUT : 2 * HELD_OUT]
    rest = pages[2 * HELD_OUT :]
    return Redesign(
        [build_page(page.html) for page in rest[:BEFORE]],
        [build_page(second_design(page.html)) for page in rest[BEFORE : BEFORE + max(COUNTS)]],
        [GoldPage(build_page(page.html), page.gold) for page in old],
        [GoldPage(build_page(second_design(page.html)), page.gold) for page in new],
    )


def second_design(html: str) -> str:
    """The same page with other class names, other elements and two more wrappers."""
    html = re.sub(r'class="([^"]*)"', lambda found: f'class="{_renamed(found[1])}"', html)
    html = re.sub(r"<(/?)article\b", r"<\1section", html)
    html = re.sub(r"<(/?)header\b", r"<\1div", html)
    html = re.sub(r"<(/?)h4\b", r"<\1h3", html)
    html = re.sub(r"(<body[^>]*>)", r"\1<div class='shell'><div class='column'>", html)
    return html.replace("</body>", "</div></div></body>")


def _renamed(names: str) -> str:
    return " ".join(f"next-{name[::-1]}" for name in names.split())


def big9_redesigns(shared: Path) -> list[Redesign]:
    """Each site of 2005 becomes that of 2013; half of the pages of each year are measured."""
    sites = by_site(read_corpus(shared / "corpora/big9-dev"))
    found = []
    for name in sorted({site.rpartition("-")[0] for site in sites}):
        old, new = (
            [GoldPage(build_page(page.html), page.gold or "") for page in sites[f"{name}-{year}"]]
            for year in (2005, 2013)
        )
        before, after = ([gold.page for gold in pages[::2]] for pages in (old, new))
        found.append(Redesign(before, after, old[1::2], new[1::2]))
    return found


def measure(method: str, redesign: Redesign, scorer: ModuleType) -> dict[str, float | None]:
    """The figures of one redesign."""
    before = taught(method, redesign.before)
    tree = before.to_bytes()
    figures: dict[str, float | None] = {
        "old before": quality(before.model(), redesign.old, scorer),
        "seen after": pages_until_seen(
            before.model(), method, [*redesign.after, *(gold.page for gold in redesign.new)]
        ),
    }
    for count in (*COUNTS, len(redesign.after)):
        cleaner = SiteCleaner.from_bytes(tree)
        if count:
            cleaner.note_redesign()
        for page in redesign.after[:count]:
            cleaner.observe_page(page)
        figures[f"kept {count}"] = quality(cleaner.model(), redesign.new, scorer)
    whole = figures[f"kept {len(redesign.after)}"]
    assert whole is not None
    figures["kept all"] = whole
    figures["old after"] = quality(cleaner.model(), redesign.old, scorer)
    figures["back after"] = next(
        (n for n in COUNTS if (figures[f"kept {n}"] or 0.0) >= whole - BACK), None
    )
    return figures


def taught(method: str, pages: Sequence[Page]) -> SiteCleaner:
    """A cleaner that has learned the pages."""
    cleaner = SiteCleaner(method)
    for page in pages:
        cleaner.observe_page(page)
    return cleaner


def pages_until_seen(model: Model, method: str, pages: Sequence[Page]) -> int | None:
    """How many pages a crawl's site judges until it takes itself for redesigned."""
    site = _site(model, method)
    for number, page in enumerate(pages, 1):
        site.clean(page)
        if site.redesigned:
            return number
    return None


def false_alarms(method: str, count: int) -> float:
    """Alarms per 10,000 pages of the demo newspaper in the order of its addresses."""
    pages = [build_page(page.html) for page in DemoSite(articles=count // 2).pages.values()]
    model = taught(method, random.Random(1).sample(pages, BEFORE)).model()
    site, alarms = _site(model, method), 0
    for page in pages[:count]:
        site.clean(page)
        if site.redesigned:
            alarms += 1
            site = _site(model, method)
    return 10_000 * alarms / len(pages[:count])


def _site(model: Model, method: str) -> PageCluster:
    site = PageCluster("", Config(method=method))
    site.model, site.version = model, 1
    return site


def quality(model: Model, pages: Sequence[GoldPage], scorer: ModuleType) -> float:
    """Mean bag F1."""
    scores = [
        scorer.overlap(scorer.tokens(clean_page(model, gold.page).text), scorer.tokens(gold.gold))
        for gold in pages
    ]
    return sum(float(score.f1) for score in scores) / len(scores)


def mean_of(figures: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Means over redesigns; None where a figure has no value in one of them."""
    means: dict[str, float | None] = {}
    for name in figures[0]:
        values = [value for one in figures if (value := one[name]) is not None]
        means[name] = sum(values) / len(values) if len(values) == len(figures) else None
    return means


def table(results: Mapping[str, Mapping[str, float | None]]) -> Table:
    """One row a method and redesign."""
    kept = [f"kept {count}" for count in COUNTS]
    names = ["seen after", *kept, "kept all", "back after", "old before", "old after", "alarms"]
    return Table(
        f"A redesign (seen after {fit_watch.PAGES} pages at the soonest; alarms per 10,000 pages)",
        ["method", *names],
        [
            [row, *(_cell(name, figures.get(name, 0.0)) for name in names)]
            for row, figures in results.items()
        ],
    )


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if name.startswith(("kept", "old")) else f"{value:.1f}"


if __name__ == "__main__":
    sys.exit(main())
