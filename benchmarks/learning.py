"""Learning curves: how good the clean text is after a site's first pages.

A page is scored after 1, 2, 5, ... pages of its site have been learned: itself, and others drawn at
random. Every number of pages seen is scored on the same pages, and what is seen only grows, so the
points of a curve are paired.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.corpora import CorpusPage, by_site, read_corpus
from benchmarks.scores import MEASURES
from noiseclean_scrapy.clean_page import clean_page
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.page import build_page

COUNTS = (1, 2, 3, 5, 10, 20, 50)
FIRST = COUNTS[1:5]
"""Numbers of pages that are held against one page alone, on all sites that have so many."""
CLEARLY = 0.005
"""Bag F1 by which a site is counted as better or worse."""
LEAST_PAGES = (10, 50)
"""Sites of so many pages have a curve of their own, up to that count: all its sites have it all."""


@dataclass(frozen=True, slots=True)
class CurvePage:
    """F1 of a page with one method, by number of pages seen and measure."""

    method: str
    site: str
    site_pages: int
    scores: dict[int, dict[str, float]]


def learning_curves(
    scorer: ModuleType, corpora: Sequence[Path], methods: Sequence[str], *, most: int
) -> list[dict[str, Any]]:
    """The curve of each set of sites, with up to `most` scored pages a site."""
    pages = [
        page
        for corpus in corpora
        for site, group in _sites(corpus, min(LEAST_PAGES)).items()
        for page in _site_curve(scorer, f"{corpus.name}/{site}", group, methods, most)
    ]
    curves = []
    for least in LEAST_PAGES:
        chosen = [page for page in pages if page.site_pages >= least]
        if chosen:
            curves.append(_curve(scorer, chosen, methods, least))
    return curves


def first_pages(
    scorer: ModuleType, corpora: Sequence[Path], method: str, *, most: int
) -> dict[str, Any]:
    """What a site's first pages add to one page alone: bag F1 by corpus, and sites that change."""
    corpus_gains = {}
    sites = {str(count): {"sites": 0, "worse": 0, "better": 0} for count in FIRST}
    for corpus in corpora:
        gains: dict[int, list[list[float]]] = {}
        for site, group in _sites(corpus, min(FIRST)).items():
            pages = [*_site_curve(scorer, f"{corpus.name}/{site}", group, [method], most)]
            for count in FIRST:
                if len(group) >= count:
                    bags = [(p.scores[count]["bag"], p.scores[1]["bag"]) for p in pages]
                    gains.setdefault(count, []).append([after - alone for after, alone in bags])
        corpus_gains[corpus.name] = {str(n): _interval(scorer, of) for n, of in gains.items()}
        for count, of_sites in gains.items():
            means = [sum(of_site) / len(of_site) for of_site in of_sites]
            sites[str(count)]["sites"] += len(means)
            sites[str(count)]["worse"] += sum(mean < -CLEARLY for mean in means)
            sites[str(count)]["better"] += sum(mean > CLEARLY for mean in means)
    return {"method": method, "gain": corpus_gains, "sites": sites}


def _sites(corpus: Path, least: int) -> dict[str, list[CorpusPage]]:
    return {
        site: pages
        for site, pages in by_site(read_corpus(corpus)).items()
        if len(pages) >= least and any(page.gold for page in pages)
    }


def _site_curve(
    scorer: ModuleType,
    site: str,
    pages: Sequence[CorpusPage],
    methods: Sequence[str],
    most: int,
) -> Iterator[CurvePage]:
    rng = random.Random(f"0 {site}")
    built = [build_page(page.html, url=page.url) for page in pages]
    golds = {number: page.gold for number, page in enumerate(pages) if page.gold}
    for number in sorted(rng.sample(sorted(golds), min(most, len(golds)))):
        others = [other for other in range(len(pages)) if other != number]
        order = [number, *rng.sample(others, min(max(COUNTS), len(pages)) - 1)]
        gold = scorer.tokens(golds[number])
        for method in methods:
            cleaner = SiteCleaner(method)
            scores = {}
            for seen, other in enumerate(order, 1):
                cleaner.observe_page(built[other])
                if seen in COUNTS:
                    text = clean_page(cleaner.model(), built[number]).text
                    found = scorer.score_tokens(scorer.tokens(text), gold)
                    scores[seen] = {measure: found[measure].f1 for measure in MEASURES}
            yield CurvePage(method, site, len(pages), scores)


def _curve(
    scorer: ModuleType, pages: Sequence[CurvePage], methods: Sequence[str], least: int
) -> dict[str, Any]:
    """Means over pages with their intervals, and the gain from the first count to the last."""
    counts = [count for count in COUNTS if count <= least]
    curve: dict[str, Any] = {
        "least_pages": least,
        "counts": counts,
        "sites": len({page.site for page in pages}),
        "pages": len(pages) // len(methods),
        "methods": {},
    }
    for method in methods:
        sites: dict[str, list[dict[int, dict[str, float]]]] = {}
        for page in pages:
            if page.method == method:
                sites.setdefault(page.site, []).append(page.scores)
        f1: dict[str, Any] = {}
        gain: dict[str, Any] = {}
        for measure in MEASURES:
            for count in counts:
                values = [[page[count][measure] for page in site] for site in sites.values()]
                f1.setdefault(str(count), {})[measure] = _interval(scorer, values)
            first, last = counts[0], counts[-1]
            gains = [[p[last][measure] - p[first][measure] for p in s] for s in sites.values()]
            gain[measure] = _interval(scorer, gains)
        curve["methods"][method] = {"f1": f1, "gain": gain}
    return curve


def _interval(scorer: ModuleType, values: Sequence[Sequence[float]]) -> list[float]:
    return [round(value, 4) for value in scorer.bootstrap_difference(values)]


def draw_curves(curves: Sequence[dict[str, Any]], path: Path) -> None:
    """A picture with one panel a set of sites: bag F1 over pages seen, intervals as bands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * len(curves), 4.4), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for panel, curve in zip(panels, curves, strict=True):
        for method, points in curve["methods"].items():
            means, lows, highs = zip(
                *(points["f1"][str(count)]["bag"] for count in curve["counts"]), strict=True
            )
            panel.plot(curve["counts"], means, marker="o", markersize=4, label=method)
            panel.fill_between(curve["counts"], lows, highs, alpha=0.06)
        panel.set_xscale("log")
        panel.set_xticks(curve["counts"], [str(count) for count in curve["counts"]])
        panel.minorticks_off()
        panel.set_xlabel("pages of the site seen")
        panel.set_title(
            f"{curve['sites']} sites of {curve['least_pages']} pages or more", fontsize=11
        )
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("bag F1")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
