"""Memory that does not grow: of a site's tree with its pages, of a crawl with its sites.

    python benchmarks/memory.py trees --pages 50000 --markdown
    python benchmarks/memory.py sites --sites 10000 --markdown

`trees`: each method learns the pages of a made-up newspaper, all different, in a process of its
own. `sites`: a crawl visits one page of every site, then another page of every site, so that each
site has left memory before it is needed again; beside it the same crawl without the add-on.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.corpora import ROOT, environment
from benchmarks.loopback import serve
from benchmarks.measuring import in_new_process, resident_mib
from benchmarks.reporting import earlier_figures, publish_figures, report_parser
from benchmarks.tables import Table
from benchmarks.web import Newspapers
from example_project.demo import DemoSite
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.methods import METHODS

VERSIONS = ("noiseclean-scrapy", "scrapy", "lxml", "numpy", "sqlalchemy")
LEARNED = (100, 300, 1000, 3000, 10_000, 20_000, 30_000, 40_000, 50_000)
EDITION_PAGES = 1000
POINTS = 10

Curve = list[tuple[int, float]]
"""Pages or sites so far, and MiB of memory."""


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "memory")
    parser.add_argument("part", choices=["trees", "sites"])
    parser.add_argument("--pages", type=int, default=50_000, help="pages that a tree learns")
    parser.add_argument("--method", action="append", choices=METHODS, help="default: all")
    parser.add_argument("--sites", type=int, default=10_000, help="sites of the crawl")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs/images/memory.svg")
    args = parser.parse_args(argv)
    figures = {**earlier_figures(args), **environment(VERSIONS)}
    if args.part == "trees":
        methods = args.method or list(METHODS)
        curves = {name: in_new_process(learn_pages, name, args.pages) for name in methods}
        title = "MiB that a tree adds, by pages learned"
    else:
        with serve(Newspapers(args.sites, 2, editions=10, large=False)) as proxy:
            curves = {
                name: in_new_process(crawl_sites, name, args.sites, proxy)
                for name in ("bare", "add-on")
            }
        title = f"MiB of a crawl of {args.sites:,} sites, by pages seen"
    figures[args.part] = {**figures.get(args.part, {}), **curves}
    steps = [step for step, _ in max(curves.values(), key=len)]
    rows = [[name, *(f"{mib:.0f}" for _, mib in curve)] for name, curve in curves.items()]
    table = Table(title, ["", *(f"{step:,}" for step in steps)], rows)
    publish_figures(args, [table], figures)
    draw(figures, args.picture)
    return 0


def learn_pages(method: str, pages: int) -> Curve:
    """Memory that a method's tree adds while it learns pages."""
    cleaner = SiteCleaner(method)
    curve: Curve = []
    start = 0.0
    for number, html in enumerate(islice(endless_newspaper(), pages), 1):
        cleaner.observe(html)
        if number == 1:  # caches of words and stemmers are filled as well
            start = collected_mib()
        if number in LEARNED or number == pages:
            add_point(curve, number, collected_mib() - start)
    return curve


def endless_newspaper() -> Iterator[str]:
    """Pages of a newspaper that goes on forever: the layout stays, the stories are new."""
    for seed in count():
        yield from (page.html for page in DemoSite(EDITION_PAGES, seed=seed).pages.values())


def crawl_sites(candidate: str, sites: int, proxy: str) -> Curve:
    """Memory of a crawl while it visits all sites twice."""
    os.environ["http_proxy"] = proxy
    curve: Curve = []
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "ADDONS": {} if candidate == "bare" else {"noiseclean_scrapy.addon.Addon": 300},
            "DOWNLOAD_DELAY": 0,
            "LOG_LEVEL": "WARNING",
            "NOISECLEAN_DATABASE_URL": f"sqlite:///{folder}/crawl.db",
            "TELNETCONSOLE_ENABLED": False,
        }
        process = CrawlerProcess(settings)
        process.crawl(SitesSpider, sites=sites, curve=curve)
        process.start()
    return curve


class SitesSpider(scrapy.Spider):
    """Visits two pages of each site, the second ones after all first ones."""

    name = "sites"

    def __init__(self, sites: int, curve: Curve) -> None:
        super().__init__()
        self.sites = sites
        self.curve = curve
        self.seen = 0

    async def start(self) -> AsyncIterator[Any]:
        for path in ("/", "/de/"):
            for number in range(self.sites):
                yield scrapy.Request(f"http://paper-{number}.example{path}")

    def parse(self, response: Response) -> Iterator[Any]:
        self.seen += 1
        if self.seen % (2 * self.sites // POINTS) == 0:
            add_point(self.curve, self.seen, collected_mib())
        yield {"headline": response.css("h1::text").get()}


def add_point(curve: Curve, pages: int, mib: float) -> None:
    """Note a point of a curve, and tell of it: the next may be minutes away."""
    curve.append((pages, round(mib, 1)))
    print(f"{pages:,} pages: {mib:.0f} MiB", file=sys.stderr)


def collected_mib() -> float:
    """Memory of this process after a garbage collection."""
    gc.collect()
    return resident_mib()


def draw(figures: dict[str, Any], path: Path) -> None:
    """The curves as a picture; without matplotlib there is none."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(10, 4), layout="constrained")
    parts = {"trees": "one site's tree, by pages learned", "sites": "a crawl, by pages seen"}
    parts = {part: title for part, title in parts.items() if part in figures}
    places = figure.subplots(1, len(parts), squeeze=False)[0]
    for axes, (part, title) in zip(places, parts.items(), strict=True):
        for name, curve in figures[part].items():
            axes.plot(*zip(*curve, strict=True), marker="o", markersize=3, label=name)
        axes.set(title=f"Memory of {title}", xlabel="pages", ylabel="MiB")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
