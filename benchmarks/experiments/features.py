"""Features that InfoDiscoverer finds, against those of the gold text (Lin & Ho, KDD 2002).

The features are the method's terms. Discovered are those of the blocks judged informative, desired
those of the gold text; recall and precision are the shares of either that both have.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.corpora import CorpusPage, read_corpus
from noiseclean_scrapy.methods.base import Model
from noiseclean_scrapy.methods.block_entropy import BlockEntropyMethod
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.stemming import Stemming

CORPORA = ("cleanportaleval", "big9-dev", "blogs-dev", "daniel-dev")
BLOCKS = ("element", "table")
MANY_PAGES = 5
"""Sites with as many pages are in the table."""
TRAINING_PAGES = (1, 2, 5, 10, 20, 50)
CURVE_PAGES = 10
"""Sites with as many pages are in the curves."""
DRAWS = 5
SEED = 2002
PUBLISHED = 0.956
"""Both recall and precision are above this on 13 sites of 26,518 pages (abstract of the paper)."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Recall and precision of features, shares in [0, 1]."""

    recall: float
    precision: float


@dataclass(frozen=True, slots=True)
class SitePage:
    """A built page and the features of its gold text; None where there is no gold."""

    page: Page
    desired: frozenset[str] | None


def run(
    shared: Path,
    console: Console,
    figure: Path | None = None,
    corpora: Sequence[str] = CORPORA,
) -> dict[str, Any]:
    """Measure every site of many pages, print the tables, and draw the curves into `figure`."""
    sites: list[dict[str, Any]] = []
    for corpus in corpora:
        for site, pages in sites_of(read_corpus(shared / "corpora" / corpus)).items():
            sites.append({"corpus": corpus, "site": site, **measure_site(pages)})
    result: dict[str, Any] = {
        "published": {"sites": 13, "recall_above": PUBLISHED, "precision_above": PUBLISHED},
        "mean": _means(sites),
        "curves": mean_curves(sites),
        "sites": sites,
    }
    _print_tables(console, result)
    if figure:
        draw(result["curves"], figure)
    return result


def sites_of(pages: Iterable[CorpusPage]) -> dict[str, list[SitePage]]:
    """The built pages of each site of `MANY_PAGES` pages or more, sites in alphabetical order."""
    sites: dict[str, list[CorpusPage]] = {}
    for source in pages:
        sites.setdefault(source.site, []).append(source)
    return {
        site: [_site_page(source) for source in sites[site]]
        for site in sorted(sites)
        if len(sites[site]) >= MANY_PAGES
    }


def measure_site(pages: Sequence[SitePage]) -> dict[str, Any]:
    """Agreement with all pages learned, and over the number of training pages, by kind of block."""
    found: dict[str, Any] = {"pages": len(pages)}
    for blocks in BLOCKS:
        model = learn([p.page for p in pages], blocks)
        agreement = page_agreement(model, pages)
        union = site_agreement(model, pages)
        found[blocks] = {
            "threshold": model.threshold,
            "recall": round(agreement.recall, 4),
            "precision": round(agreement.precision, 4),
            "site_recall": round(union.recall, 4),
            "site_precision": round(union.precision, 4),
        }
        if len(pages) >= CURVE_PAGES:
            found[blocks]["curve"] = training_curve(pages, blocks)
    return found


def learn(pages: Iterable[Page], blocks: str) -> Any:
    """The block-entropy model of the pages."""
    method = BlockEntropyMethod(blocks=blocks)
    for page in pages:
        method.observe(page)
    return method.model()


def agreement(discovered: Set[Any], desired: Set[Any]) -> Agreement:
    """Recall and precision of two sets of features (Lin & Ho 2002); of an empty set they are 1.

    >>> agreement({"fog", "port", "news"}, {"fog", "port", "ship", "late"})
    Agreement(recall=0.5, precision=0.6666666666666666)
    """
    common = len(discovered & desired)
    return Agreement(
        common / len(desired) if desired else 1.0,
        common / len(discovered) if discovered else 1.0,
    )


def page_agreement(model: Model, pages: Sequence[SitePage]) -> Agreement:
    """Agreement of the features page by page, counted together: a feature counts once a page."""
    return agreement(*_feature_sets(model, pages))


def site_agreement(model: Model, pages: Sequence[SitePage]) -> Agreement:
    """Agreement of the features of all pages together: a feature counts once a site."""
    discovered, desired = _feature_sets(model, pages)
    return agreement({name for _, name in discovered}, {name for _, name in desired})


def training_curve(pages: Sequence[SitePage], blocks: str) -> dict[str, dict[str, float]]:
    """Mean agreement on all pages by the number of pages learned, over `DRAWS` random draws."""
    rng = random.Random(SEED)
    curve = {}
    for number in TRAINING_PAGES:
        if number <= len(pages):
            found = [
                page_agreement(learn([p.page for p in rng.sample(pages, number)], blocks), pages)
                for _ in range(DRAWS)
            ]
            curve[str(number)] = {
                "recall": round(fmean(a.recall for a in found), 4),
                "precision": round(fmean(a.precision for a in found), 4),
            }
    return curve


def mean_curves(sites: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mean curves over sites that have the same numbers of training pages, so the same sites."""
    groups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for site in sites:
        for blocks in BLOCKS:
            curve = site[blocks].get("curve")
            if curve:
                groups.setdefault((blocks, max(map(int, curve))), []).append(curve)
    return [
        {
            "blocks": blocks,
            "sites": len(curves),
            "training_pages": [int(number) for number in curves[0]],
            **{
                share: [round(fmean(c[n][share] for c in curves), 4) for n in curves[0]]
                for share in ("recall", "precision")
            },
        }
        for (blocks, _), curves in sorted(groups.items())
    ]


def draw(curves: Iterable[Mapping[str, Any]], figure: Path) -> None:
    """Recall and precision over the number of training pages, as an image file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = Figure(figsize=(10, 4.2), layout="constrained")
    FigureCanvasAgg(picture)
    panels = picture.subplots(1, 2, sharey=True)
    markers = {10: "o", 20: "s", 50: "^"}
    for panel, share in zip(panels, ("recall", "precision"), strict=True):
        for curve in curves:
            numbers, element = curve["training_pages"], curve["blocks"] == "element"
            panel.plot(
                numbers,
                curve[share],
                color="#1f77b4" if element else "#d1611c",
                linestyle="-" if element else "--",
                marker=markers[numbers[-1]],
                label=f"{curve['blocks']}, {curve['sites']} sites up to {numbers[-1]}",
            )
        panel.axhline(PUBLISHED, color="grey", linewidth=1, linestyle=":", label="published")
        panel.set(title=f"{share} of features", xlabel="training pages", xscale="log", ylim=(0, 1))
        panel.set_xticks(TRAINING_PAGES, [str(number) for number in TRAINING_PAGES])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[1].legend(fontsize="small", loc="lower right")
    figure.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(figure, dpi=110)


def _site_page(source: CorpusPage) -> SitePage:
    page = build_page(source.html, url=source.url)
    if source.gold is None:
        return SitePage(page, None)
    return SitePage(page, frozenset(Stemming(page.language).terms(source.gold)))


def _feature_sets(
    model: Model, pages: Sequence[SitePage]
) -> tuple[set[tuple[int, str]], set[tuple[int, str]]]:
    """Discovered and desired features of the pages with gold, each with its page's number."""
    discovered: set[tuple[int, str]] = set()
    desired: set[tuple[int, str]] = set()
    for number, page in enumerate(pages):
        if page.desired is not None:
            discovered.update((number, name) for name in model.judge(page.page).weights)
            desired.update((number, name) for name in page.desired)
    return discovered, desired


def _means(sites: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means over sites, of each corpus and of all, and how many sites reach the published."""
    groups = {corpus: [s for s in sites if s["corpus"] == corpus] for corpus in CORPORA}
    groups["all"] = list(sites)
    shares = ("recall", "precision", "site_recall", "site_precision")
    return {
        group: {
            "sites": len(members),
            **{
                blocks: {
                    **{
                        share: round(fmean(s[blocks][share] for s in members), 4)
                        for share in shares
                    },
                    "as_published": sum(
                        min(s[blocks]["recall"], s[blocks]["precision"]) > PUBLISHED
                        for s in members
                    ),
                }
                for blocks in BLOCKS
            },
        }
        for group, members in groups.items()
        if members
    }


def _print_tables(console: Console, result: Mapping[str, Any]) -> None:
    heads = [f"{blocks} {head}" for blocks in BLOCKS for head in ("H", "R", "P")]
    table = Table("corpus", "site", "pages", *heads, title="Recall and precision of features")
    for site in result["sites"]:
        figures = [
            f"{site[blocks][key]:.3f}"
            for blocks in BLOCKS
            for key in ("threshold", "recall", "precision")
        ]
        table.add_row(site["corpus"], site["site"], str(site["pages"]), *figures)
    console.print(table)
    heads = [f"{blocks} {head}" for blocks in BLOCKS for head in ("R", "P", "R site", "P site")]
    above = [f"{blocks} > {PUBLISHED}" for blocks in BLOCKS]
    table = Table("corpus", "sites", *heads, *above, title="Means over sites")
    for group, means in result["mean"].items():
        figures = [
            f"{means[blocks][key]:.3f}"
            for blocks in BLOCKS
            for key in ("recall", "precision", "site_recall", "site_precision")
        ]
        reached = [str(means[blocks]["as_published"]) for blocks in BLOCKS]
        table.add_row(group, str(means["sites"]), *figures, *reached)
    console.print(table)
    table = Table("blocks", "sites", "training pages", "R", "P", title="Over the training pages")
    for curve in result["curves"]:
        rows = zip(curve["training_pages"], curve["recall"], curve["precision"], strict=True)
        for number, recall, precision in rows:
            row = (curve["blocks"], str(curve["sites"]), str(number))
            table.add_row(*row, f"{recall:.3f}", f"{precision:.3f}")
    console.print(table)
