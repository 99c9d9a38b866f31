"""Two promises: every method cleans every page of every corpus, and memory stays bounded.

    python benchmarks/robustness.py --all-corpora      # learn and clean each site's pages
    python benchmarks/robustness.py --thousand-pages   # learn 1,000 pages of one made-up site

Each method learns the thousand pages in a process of its own, so the peak memory is its own;
measuring it needs Linux.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.corpora import SHARED, by_site, environment, read_corpus
from benchmarks.measuring import in_new_process, peak_mib
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from example_project.demo import DemoSite
from noiseclean_scrapy.clean_page import CleanPage, clean_page
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.methods import METHODS, Method
from noiseclean_scrapy.methods.tree_method import TreeMethod
from noiseclean_scrapy.page import Page, build_page

T = TypeVar("T")

PAGES = 1_000
VERSIONS = ("noiseclean-scrapy", "lxml", "parsel")


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; the exit status is 1 where a method raised an exception."""
    parser = report_parser(__doc__, "robustness")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--method", action="append", choices=METHODS, help="default: all")
    parser.add_argument("--all-corpora", action="store_true")
    parser.add_argument("--thousand-pages", action="store_true")
    args = parser.parse_args(argv)
    if not (args.all_corpora or args.thousand_pages):
        parser.error("choose --all-corpora or --thousand-pages, or both")
    methods = args.method or list(METHODS)
    figures: dict[str, Any] = environment(VERSIONS)
    tables = []
    failures = 0
    if args.all_corpora:
        manifests = sorted((args.shared / "corpora").glob("*/manifest.jsonl"))
        figures["corpora"] = {m.parent.name: clean_corpus(m.parent, methods) for m in manifests}
        tables.append(_corpora_table(figures["corpora"]))
        rows = (row for corpus in figures["corpora"].values() for row in corpus["methods"].values())
        failures = sum(len(row["exceptions"]) for row in rows)
    if args.thousand_pages:
        figures["thousand_pages"] = {name: in_new_process(learn_pages, name) for name in methods}
        tables.append(_memory_table(figures["thousand_pages"]))
    publish_figures(args, tables, figures)
    return 1 if failures else 0


def clean_corpus(corpus: Path, methods: Sequence[str]) -> dict[str, Any]:
    """Learn and clean all pages of each site: the exceptions of each method, by page.

    `empty` counts pages with visible text of which none was kept.
    """
    rows: dict[str, dict[str, Any]] = {m: {"exceptions": [], "empty": 0} for m in methods}
    pages = read_corpus(corpus)
    sites = by_site(pages)
    for group in sites.values():
        built = {page.id: build_page(page.html, url=page.url) for page in group}
        for method, row in rows.items():
            cleaner = SiteCleaner(method)
            for page_id, source in built.items():
                _attempt(partial(cleaner.observe_page, source), page_id, row["exceptions"])
            for page_id, source in built.items():
                cleaned = _attempt(partial(_clean, cleaner, source), page_id, row["exceptions"])
                row["empty"] += bool(cleaned and cleaned.visible_characters and not cleaned.text)
    return {"pages": len(pages), "sites": len(sites), "methods": rows}


def _clean(cleaner: SiteCleaner, page: Page) -> CleanPage:
    return clean_page(cleaner.model(), page)


def _attempt(action: Callable[[], T], page_id: str, exceptions: list[str]) -> T | None:
    try:
        return action()
    except Exception:  # an exception is a result here
        exceptions.append(page_id)
        print(f"{page_id}: {traceback.format_exc()}", file=sys.stderr)
        return None


def learn_pages(method: str, count: int = PAGES, **options: Any) -> dict[str, Any]:
    """Learn `count` pages of a made-up newspaper: tree nodes, and memory in MiB.

    `peak_mib` is the peak of the process; `start_mib` its peak before the first page was learned,
    `half_mib` that after half of them.
    """
    pages = [page.html for page in DemoSite(articles=count).pages.values()][:count]
    cleaner = SiteCleaner(method, **options)
    figures: dict[str, Any] = {"pages": len(pages), "start_mib": peak_mib()}
    start = time.perf_counter()
    most_nodes = 0
    for number, html in enumerate(pages, 1):
        cleaner.observe(html)
        most_nodes = max(most_nodes, tree_nodes(cleaner._method))
        if number == len(pages) // 2:
            figures["half_mib"] = peak_mib()
    figures["learned_mib"] = peak_mib()
    cleaner.clean(pages[-1])
    figures["peak_mib"] = peak_mib()
    figures["seconds"] = round(time.perf_counter() - start, 1)
    figures["stored_mib"] = round(len(cleaner.to_bytes()) / 2**20, 2)
    if most_nodes:
        figures["most_nodes"] = most_nodes
    return figures


def tree_nodes(method: Method) -> int:
    """Element nodes that the method holds now; none where it has no tree."""
    return method.tree.nodes if isinstance(method, TreeMethod) else 0


def _corpora_table(corpora: dict[str, Any]) -> Table:
    header = ["corpus", "pages", "sites", "method", "exceptions", "no text kept"]
    rows = [
        [corpus, row["pages"], row["sites"], method, len(found["exceptions"]), found["empty"]]
        for corpus, row in corpora.items()
        for method, found in row["methods"].items()
    ]
    cells = [list(map(str, row)) for row in rows]
    return Table("Every page of every corpus", header, cells)


def _memory_table(methods: dict[str, Any]) -> Table:
    mib = ("start_mib", "half_mib", "learned_mib", "peak_mib", "stored_mib")
    names = ("most_nodes", *mib, "seconds")
    rows = [
        [method, *(str(found.get(name, "")) for name in names)] for method, found in methods.items()
    ]
    return Table(f"{PAGES:,} pages of one site", ["method", *names], rows)


if __name__ == "__main__":
    sys.exit(main())
