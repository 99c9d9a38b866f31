"""Which pages of a site to learn: its first k, or k at random of the first 5 k?

    python -m benchmarks.sampling
    python -m benchmarks.sampling --method evidence --draws 3

Sites are those of the corpora with many pages, in the order of the manifest (by address or by
day), and the demo newspaper in the order of a breadth-first crawl. After either sample is learned,
all pages with gold text are cleaned and scored. The corpora are in the folder `shared` beside the
repository.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any
from urllib.parse import urljoin

from benchmarks.corpora import SHARED, WHOLE_SITES, by_site, environment, load_scorer, read_corpus
from benchmarks.quality import VERSIONS
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clean_page import clean_page
from noiseclean_scrapy.page import Page, build_page

SIZES = (5, 10, 20)
SPREAD = 5
"""A random sample is drawn from so many times its own number of first pages."""
DRAWS = 5
SEED = 0
LEAST_PAGES = 45
DEMO = "demo newspaper"
METHODS: Mapping[str, Mapping[str, Any]] = {
    "evidence": {},
    "style-tree": {},
    "style-tree, published": {"published": True},
}


@dataclass(frozen=True, slots=True)
class SampledSite:
    """The pages of a site in the order in which a crawl meets them; None where there is no gold."""

    name: str
    sources: Sequence[tuple[bytes | str, str]]
    golds: Sequence[str | None]


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = report_parser(__doc__, "sampling")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--corpus", nargs="*", default=WHOLE_SITES)
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--draws", type=int, default=DRAWS, help="random samples a site and size")
    parser.add_argument("--articles", type=int, default=120, help="stories of the demo newspaper")
    args = parser.parse_args(argv)
    scorer = load_scorer(args.shared)
    sites = [*corpus_sites(args.shared, args.corpus), demo_site(args.articles)]
    results = {
        site.name: {
            "pages": len(site.sources),
            "methods": {name: compare(scorer, site, name, args.draws) for name in args.method},
        }
        for site in sites
    }
    figures = {**environment(VERSIONS), "draws": args.draws, "spread": SPREAD, "results": results}
    publish_figures(args, [table(results, args.draws)], figures)
    return 0


def corpus_sites(shared: Path, corpora: Sequence[str]) -> Iterator[SampledSite]:
    """The sites of `LEAST_PAGES` pages or more."""
    for corpus in corpora:
        for name, pages in by_site(read_corpus(shared / "corpora" / corpus)).items():
            if len(pages) >= LEAST_PAGES:
                sources = [(page.html, page.url) for page in pages]
                yield SampledSite(name, sources, [page.gold for page in pages])


def demo_site(articles: int) -> SampledSite:
    """The demo newspaper, as a crawl meets its pages that follows links in their order."""
    pages = DemoSite(articles=articles).pages
    order = ["/"]
    for path in order:
        links = (urljoin(path, href) for href in re.findall(r'href="([^"#]*)', pages[path].html))
        order.extend(link for link in dict.fromkeys(links) if link in pages and link not in order)
    sources = [(pages[path].html, f"https://demo.example{path}") for path in order]
    return SampledSite(DEMO, sources, [pages[path].gold for path in order])


def compare(
    scorer: ModuleType, site: SampledSite, name: str, draws: int
) -> dict[str, dict[str, float]]:
    """Bag F1 by the size of the sample: of first pages, and mean and worst of random ones."""
    options = METHODS[name]
    method = name.partition(",")[0]
    budget = SiteCleaner(method, **options).budget
    pages = [build_page(html, url=url, budget=budget) for html, url in site.sources]
    golds = [
        (page, scorer.tokens(gold))
        for page, gold in zip(pages, site.golds, strict=True)
        if gold is not None
    ]
    rng = random.Random(f"{SEED} {site.name}")

    def quality(sample: Sequence[Page]) -> float:
        cleaner = SiteCleaner(method, **options)
        for page in sample:
            cleaner.observe_page(page)
        model = cleaner.model()
        return fmean(
            scorer.overlap(scorer.tokens(clean_page(model, page).text), gold).f1
            for page, gold in golds
        )

    found = {}
    for size in SIZES:
        scores = [quality(rng.sample(pages[: SPREAD * size], size)) for _ in range(draws)]
        first = quality(pages[:size])
        found[str(size)] = {
            "first": round(first, 4),
            "random": round(fmean(scores), 4),
            "worst": round(min(scores), 4),
        }
    return found


def table(results: Mapping[str, Any], draws: int) -> Table:
    """One row a method and size of the sample, one column a site, and the mean over sites."""
    methods = next(iter(results.values()))["methods"]
    rows = []
    for name in methods:
        for size in methods[name]:
            cells = [result["methods"][name][size] for result in results.values()]
            mean = {key: fmean(cell[key] for cell in cells) for key in cells[0]}
            rows.append([name, size, *map(_cell, [*cells, mean])])
    return Table(
        f"Bag F1 of all pages: first k pages learned / k at random of the first {SPREAD} k, "
        f"mean [worst] of {draws} draws",
        ["method", "k", *(f"{n}\n{r['pages']} pages" for n, r in results.items()), "mean"],
        rows,
    )


def _cell(scores: Mapping[str, float]) -> str:
    return f"{scores['first']:.3f} / {scores['random']:.3f} [{scores['worst']:.3f}]"


if __name__ == "__main__":
    sys.exit(main())
