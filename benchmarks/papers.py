"""The published methods to the letter beside our reading of them: `published=True` and the default.

    python benchmarks/papers.py
    python benchmarks/papers.py --corpus big9-dev --method style-tree --markdown papers.md

Each site of five pages or more is learned whole, its pages with gold text are cleaned and scored.
A run replaces the figures of its own corpora and methods in the JSON file; all others stay. The
corpora are in the folder `shared` beside the repository.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

from benchmarks.corpora import (
    SHARED,
    WHOLE_SITES,
    CorpusPage,
    by_site,
    environment,
    load_scorer,
    read_corpus,
)
from benchmarks.quality import VERSIONS
from benchmarks.reporting import earlier_figures, publish_figures, report_parser
from benchmarks.scores import MANY_PAGES
from benchmarks.tables import Table
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.methods import METHODS, method_parameters

PUBLISHED = tuple(name for name in METHODS if "published" in method_parameters(name))


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    args = _parser().parse_args(argv)
    scorer = load_scorer(args.shared)
    results = earlier_figures(args).get("results", {})
    for corpus in args.corpus:
        pages = read_corpus(args.shared / "corpora" / corpus)
        sites = [site for site in by_site(pages).values() if len(site) >= MANY_PAGES]
        for method in args.method:
            results.setdefault(corpus, {})[method] = compare(scorer, method, sites)
    publish_figures(args, tables(results), {**environment(VERSIONS), "results": results})
    return 0


def compare(
    scorer: ModuleType, method: str, sites: Sequence[Sequence[CorpusPage]]
) -> dict[str, Any]:
    """Bag scores of both readings over the pages with gold, and how many blocks are marked alike.

    `alike` is the share of the text blocks with the same verdict, `empty` counts pages of which
    nothing is kept.
    """
    scores: dict[str, list[Any]] = {"published": [], "default": []}
    empty = dict.fromkeys(scores, 0)
    blocks = alike = 0
    for pages in sites:
        cleaners = {name: SiteCleaner(method, **_options(name)) for name in scores}
        for cleaner in cleaners.values():
            for page in pages:
                cleaner.observe(page.html, url=page.url)
        for page in pages:
            if page.gold is None:
                continue
            gold = scorer.tokens(page.gold)
            marks = []
            for name, cleaner in cleaners.items():
                cleaned = cleaner.clean(page.html, url=page.url)
                scores[name].append(scorer.overlap(scorer.tokens(cleaned.text), gold))
                empty[name] += not cleaned.text
                marks.append([block.kept for block in cleaned.blocks])
            blocks += len(marks[0])
            alike += sum(one == other for one, other in zip(*marks, strict=True))
    return {
        "pages": len(scores["default"]),
        "sites": len(sites),
        "alike": round(alike / blocks, 4),
        **{name: {**_means(found), "empty": empty[name]} for name, found in scores.items()},
    }


def tables(results: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Both readings by method and corpus, the published one first."""
    corpora = [
        f"{corpus}\n{max(figures['pages'] for figures in found.values())} pages"
        for corpus, found in results.items()
    ]
    for title, cell in _CELLS.items():
        rows = [
            [name, *(cell(found[name]) if name in found else "" for found in results.values())]
            for name in PUBLISHED
        ]
        yield Table(title, ["method", *corpora], rows)


def _options(name: str) -> dict[str, Any]:
    return {"published": True} if name == "published" else {}


def _means(found: Sequence[Any]) -> dict[str, float]:
    return {key: round(fmean(getattr(s, key) for s in found), 4) for key in ("f1", "p", "r")}


def _both(found: Mapping[str, Any], *keys: str) -> str:
    return " / ".join(
        ", ".join(f"{found[name][key]:.3f}" for key in keys) for name in ("published", "default")
    )


_CELLS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "Bag F1, published / default": lambda found: _both(found, "f1"),
    "Bag precision and recall, published / default": lambda found: _both(found, "p", "r"),
    "Pages of which nothing is kept, published / default": lambda found: (
        f"{found['published']['empty']} / {found['default']['empty']}"
    ),
    "Text blocks with the same verdict, in %": lambda found: f"{100 * found['alike']:.1f}",
}


def _parser() -> argparse.ArgumentParser:
    parser = report_parser(__doc__, "papers")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument(
        "--corpus", nargs="+", default=WHOLE_SITES, help=f"default: {' '.join(WHOLE_SITES)}"
    )
    parser.add_argument("--method", nargs="+", choices=PUBLISHED, default=list(PUBLISHED))
    return parser


if __name__ == "__main__":
    sys.exit(main())
