"""Two promises: every method cleans every page of every corpus, and memory stays bounded.

    python benchmarks/robustness.py --all-corpora      # learn and clean each site's pages
    python benchmarks/robustness.py --thousand-pages   # learn 1,000 pages of one made-up site

Each method learns the thousand pages in a process of its own, so the peak memory is its own;
measuring it needs Linux.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

from benchmarks.corpora import ROOT, SHARED, by_site, environment, read_corpus
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--method", action="append", choices=METHODS, help="default: all")
    parser.add_argument("--all-corpora", action="store_true")
    parser.add_argument("--thousand-pages", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/robustness.json")
    args = parser.parse_args(argv)
    if not (args.all_corpora or args.thousand_pages):
        parser.error("choose --all-corpora or --thousand-pages, or both")
    methods = args.method or list(METHODS)
    report: dict[str, Any] = environment(VERSIONS)
    failures = 0
    if args.all_corpora:
        manifests = sorted((args.shared / "corpora").glob("*/manifest.jsonl"))
        report["corpora"] = {m.parent.name: clean_corpus(m.parent, methods) for m in manifests}
        _print_corpora(report["corpora"])
        rows = (row for corpus in report["corpora"].values() for row in corpus["methods"].values())
        failures = sum(len(row["exceptions"]) for row in rows)
    if args.thousand_pages:
        report["thousand_pages"] = {method: in_own_process(method) for method in methods}
        _print_memory(report["thousand_pages"])
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
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


def in_own_process(method: str, count: int = PAGES) -> dict[str, Any]:
    """`learn_pages` with the default settings in a new process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(learn_pages, method, count).result()


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


def peak_mib() -> float:
    # Not ru_maxrss: a new process takes that over from the one that started it.
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    (kib,) = re.findall(r"^VmHWM:\s+(\d+) kB$", status, flags=re.MULTILINE)
    return round(int(kib) / 1024, 1)


def _print_corpora(corpora: dict[str, Any]) -> None:
    table = Table("corpus", "pages", "sites", "method", "exceptions", "no text kept")
    for corpus, row in corpora.items():
        for method, found in row["methods"].items():
            figures = row["pages"], row["sites"], method, len(found["exceptions"]), found["empty"]
            table.add_row(corpus, *map(str, figures))
    Console().print(table)


def _print_memory(methods: dict[str, Any]) -> None:
    names = ("most_nodes", "start_mib", "half_mib", "learned_mib", "peak_mib", "stored_mib")
    table = Table("method", *names, "seconds")
    for method, figures in methods.items():
        table.add_row(method, *(str(figures.get(name, "")) for name in (*names, "seconds")))
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
