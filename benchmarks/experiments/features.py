"""Features that InfoDiscoverer finds, against those of the gold text (Lin & Ho, KDD 2002).

The features are the method's terms. Discovered are those of the blocks judged informative, desired
those of the gold text; recall and precision are the shares of either that both have. The optimal
threshold of a site is the one with the highest F of both, which only gold tells.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from benchmarks.corpora import WHOLE_SITES, CorpusPage, by_site, read_corpus
from benchmarks.scores import MANY_PAGES
from benchmarks.tables import Table
from noiseclean_scrapy.methods.block_entropy import (
    BlockEntropyMethod,
    BlockEntropyModel,
    Kind,
    content_blocks,
)
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.stemming import Stemming

BLOCKS: tuple[Kind, ...] = ("element", "table")
TRAINING_PAGES = (1, 2, 5, 10, 20, 50)
CURVE_PAGES = 10
"""Sites with as many pages are in the curves."""
DRAWS = 3
SEED = 2002
THRESHOLDS = tuple(number / 10 for number in range(1, 11))
"""Those on H(CB) that the greedy approach can choose."""
PUBLISHED = 0.956
"""Both recall and precision are above this on 13 sites of 26,518 pages (abstract of the paper)."""
COLOURS: Mapping[Kind, str] = {"element": "#1f77b4", "table": "#d1611c"}
SHARES = ("recall", "precision", "site_recall", "site_precision")

PageFeature: TypeAlias = tuple[int, str]
"""The number of a page and a feature of it."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Recall and precision of features, shares in [0, 1]."""

    recall: float
    precision: float

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        total = self.recall + self.precision
        return 2 * self.recall * self.precision / total if total else 0.0


@dataclass(frozen=True, slots=True)
class SitePage:
    """What one page teaches, the terms of each of its content blocks, and those of its gold text.

    The stemming is done once a page, so that a site can be learned many times. `desired` is None
    where there is no gold.
    """

    learned: BlockEntropyMethod
    blocks: Sequence[frozenset[str]]
    desired: frozenset[str] | None


def run(
    shared: Path, pictures: Path | None = None, corpora: Sequence[str] = WHOLE_SITES
) -> dict[str, Any]:
    """Measure every site of many pages, and draw the curves into the folder `pictures`."""
    sites: list[dict[str, Any]] = []
    for corpus in corpora:
        for site, pages in sites_of(read_corpus(shared / "corpora" / corpus)).items():
            found: dict[str, Any] = {
                kind: measure_site([site_page(p, kind) for p in pages]) for kind in BLOCKS
            }
            sites.append({"corpus": corpus, "site": site, "pages": len(pages), **found})
    result: dict[str, Any] = {
        "published": {"sites": 13, "recall_above": PUBLISHED, "precision_above": PUBLISHED},
        "draws": DRAWS,
        "mean": _means(sites),
        "curves": mean_curves(sites),
        "sites": sites,
    }
    if pictures:
        draw_training(result["curves"], pictures / "infodiscoverer.png")
        draw_thresholds(sites, pictures / "infodiscoverer-threshold.png")
    return result


def sites_of(pages: Iterable[CorpusPage]) -> dict[str, list[CorpusPage]]:
    """The pages of each site of `MANY_PAGES` pages or more, sites in alphabetical order."""
    sites = by_site(pages)
    return {site: sites[site] for site in sorted(sites) if len(sites[site]) >= MANY_PAGES}


def site_page(source: CorpusPage, blocks: Kind) -> SitePage:
    """A page built, stemmed and learned alone."""
    page = build_page(source.html, url=source.url)
    method = BlockEntropyMethod(blocks=blocks)
    method.observe(page)
    content = content_blocks(page, tables_only=blocks == "table")
    desired = None
    if source.gold is not None:
        desired = frozenset(Stemming(page.language).terms(source.gold))
    return SitePage(method, [frozenset(block.terms) for block in content], desired)


def measure_site(pages: Sequence[SitePage]) -> dict[str, Any]:
    """Agreement with all pages learned, over the threshold, and over the number of pages learned.

    `optimal` is the threshold of the highest F, the lowest of several.
    """
    model = learn(pages)
    by_page, union = page_agreement(model, pages), site_agreement(model, pages)
    by_threshold = threshold_curve(model, pages)
    found: dict[str, Any] = {
        "threshold": model.threshold,
        "recall": round(by_page.recall, 4),
        "precision": round(by_page.precision, 4),
        "site_recall": round(union.recall, 4),
        "site_precision": round(union.precision, 4),
        "optimal": max(by_threshold, key=lambda threshold: by_threshold[threshold].f1),
        "by_threshold": {
            str(threshold): {"recall": round(a.recall, 4), "precision": round(a.precision, 4)}
            for threshold, a in by_threshold.items()
        },
    }
    if len(pages) >= CURVE_PAGES:
        found["curve"] = training_curve(pages)
    return found


def learn(pages: Sequence[SitePage]) -> BlockEntropyModel:
    """The model of the pages: what they teach alone, merged, which is exact."""
    method = BlockEntropyMethod(blocks=pages[0].learned.blocks)
    for page in pages:
        method.merge(page.learned)
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


def feature_entropies(model: BlockEntropyModel, page: SitePage) -> dict[str, float]:
    """The features of a page, each with the least H(CB) of the blocks that have it.

    A threshold discovers the features that are not above it.
    """
    least: dict[str, float] = {}
    for block in page.blocks:
        entropy = model.block_entropy(block)
        least.update({name: min(entropy, least.get(name, entropy)) for name in block})
    return least


def page_agreement(model: BlockEntropyModel, pages: Sequence[SitePage]) -> Agreement:
    """Agreement of the features page by page, counted together: a feature counts once a page."""
    entropies, desired = _feature_sets(model, pages)
    return agreement(_up_to(model.threshold, entropies), desired)


def site_agreement(model: BlockEntropyModel, pages: Sequence[SitePage]) -> Agreement:
    """Agreement of the features of all pages together: a feature counts once a site."""
    entropies, desired = _feature_sets(model, pages)
    discovered = _up_to(model.threshold, entropies)
    return agreement({name for _, name in discovered}, {name for _, name in desired})


def threshold_curve(model: BlockEntropyModel, pages: Sequence[SitePage]) -> dict[float, Agreement]:
    """Agreement page by page for each of the `THRESHOLDS` in the place of the model's own."""
    entropies, desired = _feature_sets(model, pages)
    return {t: agreement(_up_to(t, entropies), desired) for t in THRESHOLDS}


def training_curve(pages: Sequence[SitePage]) -> dict[str, dict[str, float]]:
    """Mean agreement on all pages by the number of pages learned, over `DRAWS` random draws."""
    rng = random.Random(SEED)
    curve = {}
    for number in TRAINING_PAGES:
        if number <= len(pages):
            draws = [rng.sample(pages, number) for _ in range(DRAWS)]
            found = [page_agreement(learn(training), pages) for training in draws]
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


def draw_training(curves: Iterable[Mapping[str, Any]], figure: Path) -> None:
    """Recall and precision over the number of training pages, as an image file."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(10, 4.2), layout="constrained")
    panels = picture.subplots(1, 2, sharey=True)
    markers = {10: "o", 20: "s", 50: "^"}
    for panel, share in zip(panels, ("recall", "precision"), strict=True):
        for curve in curves:
            numbers, blocks = curve["training_pages"], curve["blocks"]
            panel.plot(
                numbers,
                curve[share],
                color=COLOURS[blocks],
                linestyle="-" if blocks == "element" else "--",
                marker=markers[numbers[-1]],
                label=f"{blocks}s, {curve['sites']} sites, up to {numbers[-1]} pages",
            )
        panel.axhline(PUBLISHED, color="grey", linewidth=1, linestyle=":", label="published, above")
        panel.set(
            title=f"{share} of features",
            xlabel="training pages of the site",
            xscale="log",
            ylim=(0, 1),
        )
        panel.set_xticks(TRAINING_PAGES, [str(number) for number in TRAINING_PAGES])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[1].legend(fontsize="small", loc="lower right")
    _save(picture, figure)


def draw_thresholds(sites: Sequence[Mapping[str, Any]], figure: Path) -> None:
    """Recall and precision over the threshold on H(CB), a thin line a site, as an image file."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(10, 7), layout="constrained")
    panels = picture.subplots(2, 2, sharex=True, sharey=True)
    for row, blocks in zip(panels, BLOCKS, strict=True):
        for panel, share in zip(row, ("recall", "precision"), strict=True):
            curves = [[a[share] for a in s[blocks]["by_threshold"].values()] for s in sites]
            for curve in curves:
                panel.plot(THRESHOLDS, curve, color=COLOURS[blocks], linewidth=0.8, alpha=0.25)
            mean = [fmean(values) for values in zip(*curves, strict=True)]
            label = f"mean of {len(sites)} sites"
            panel.plot(THRESHOLDS, mean, color=COLOURS[blocks], linewidth=2.5, label=label)
            panel.set(title=f"{share} of features, {blocks}s", ylim=(0, 1.02))
            panel.grid(alpha=0.3)
        row[1].legend(fontsize="small", loc="lower right")
    for panel in panels[1]:
        panel.set_xlabel("threshold on H(CB)")
    _save(picture, figure)


def _save(picture: Any, figure: Path) -> None:
    figure.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(figure, dpi=110)


def _feature_sets(
    model: BlockEntropyModel, pages: Sequence[SitePage]
) -> tuple[dict[PageFeature, float], set[PageFeature]]:
    """The features of the pages with gold and their least entropies, and the desired features."""
    entropies: dict[PageFeature, float] = {}
    desired: set[PageFeature] = set()
    for number, page in enumerate(pages):
        if page.desired is not None:
            found = feature_entropies(model, page)
            entropies.update(((number, name), entropy) for name, entropy in found.items())
            desired.update((number, name) for name in page.desired)
    return entropies, desired


def _up_to(threshold: float, entropies: Mapping[PageFeature, float]) -> set[PageFeature]:
    return {feature for feature, entropy in entropies.items() if entropy <= threshold}


def _means(sites: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means over sites, of each corpus and of all, and how many sites reach the published."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for site in sites:
        groups.setdefault(site["corpus"], []).append(site)
    groups["all"] = list(sites)
    return {
        group: {
            "sites": len(members),
            **{
                blocks: {
                    **{
                        share: round(fmean(s[blocks][share] for s in members), 4)
                        for share in SHARES
                    },
                    "as_published": sum(
                        min(s[blocks]["recall"], s[blocks]["precision"]) > PUBLISHED
                        for s in members
                    ),
                    "chosen": _mean_agreement(s[blocks] for s in members),
                    "optimal": _mean_agreement(_at_optimal(s[blocks]) for s in members),
                    **{
                        name: sum(
                            round(10 * abs(s[blocks]["threshold"] - s[blocks]["optimal"])) <= steps
                            for s in members
                        )
                        for steps, name in enumerate(("same", "next"))
                    },
                    "by_threshold": {
                        str(t): _mean_agreement(s[blocks]["by_threshold"][str(t)] for s in members)
                        for t in THRESHOLDS
                    },
                }
                for blocks in BLOCKS
            },
        }
        for group, members in groups.items()
    }


def _at_optimal(found: Mapping[str, Any]) -> Mapping[str, float]:
    at: Mapping[str, float] = found["by_threshold"][str(found["optimal"])]
    return at


def _mean_agreement(found: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Means of recall, precision and F over sites."""
    agreements = [Agreement(shares["recall"], shares["precision"]) for shares in found]
    return {
        name: round(fmean(getattr(a, name) for a in agreements), 4)
        for name in ("recall", "precision", "f1")
    }


def tables(result: Mapping[str, Any]) -> Iterator[Table]:
    """Means over sites beside the paper's figures, and the curves."""
    heads = [f"{kind}s{what}" for kind in BLOCKS for what in ("", ", one set a site", ": above")]
    yield Table(
        f"Features of informative blocks: recall / precision; sites with both above {PUBLISHED}",
        ["corpus", "sites", *heads],
        [
            ["the paper", str(result["published"]["sites"]), "", "", "", *_published_cells()],
            *(
                [group, str(means["sites"]), *(c for k in BLOCKS for c in _mean_cells(means[k]))]
                for group, means in result["mean"].items()
            ),
        ],
    )
    yield Table(
        f"Features by the number of training pages: recall / precision, {result['draws']} draws",
        ["blocks", "sites", *map(str, TRAINING_PAGES)],
        [
            [
                f"{curve['blocks']}s",
                str(curve["sites"]),
                *(
                    f"{recall:.3f} / {precision:.3f}"
                    for recall, precision in zip(curve["recall"], curve["precision"], strict=True)
                ),
                *([""] * (len(TRAINING_PAGES) - len(curve["training_pages"]))),
            ]
            for curve in result["curves"]
        ],
    )
    yield Table(
        "Features by the threshold on H(CB): recall / precision, mean over sites",
        ["blocks", "corpus", "sites", *map(str, THRESHOLDS)],
        [
            [f"{kind}s", group, str(means["sites"])]
            + [_cell(at) for at in means[kind]["by_threshold"].values()]
            for kind in BLOCKS
            for group, means in result["mean"].items()
        ],
    )
    yield Table(
        "Recall / precision / F with the threshold that each site chooses and with its optimal one",
        [
            *("corpus", "sites"),
            *(
                f"{kind}s{what}"
                for kind in BLOCKS
                for what in (", chosen", ", optimal", ": same / within 0.1")
            ),
        ],
        [
            [group, str(means["sites"])]
            + [cell for kind in BLOCKS for cell in _optimal_cells(means[kind])]
            for group, means in result["mean"].items()
        ],
    )
    yield Table(
        "Threshold that a site chooses and its optimal one: recall / precision of features",
        ["corpus", "site", "pages"]
        + [f"{kind}s, {what}" for kind in BLOCKS for what in ("chosen", "optimal")],
        [
            [site["corpus"], site["site"], str(site["pages"])]
            + [
                f"{threshold:.1f}: {_cell(at)}"
                for found in (site[kind] for kind in BLOCKS)
                for threshold, at in (
                    (found["threshold"], found),
                    (found["optimal"], _at_optimal(found)),
                )
            ]
            for site in result["sites"]
        ],
    )


def _published_cells() -> list[str]:
    return [f"above {PUBLISHED} / above {PUBLISHED}", "", "13"]


def _mean_cells(means: Mapping[str, Any]) -> list[str]:
    one_set = {"recall": means["site_recall"], "precision": means["site_precision"]}
    return [_cell(means), _cell(one_set), str(means["as_published"])]


def _optimal_cells(means: Mapping[str, Any]) -> list[str]:
    cells = [f"{_cell(means[name])} / {means[name]['f1']:.3f}" for name in ("chosen", "optimal")]
    return [*cells, f"{means['same']} / {means['next']}"]


def _cell(shares: Mapping[str, float]) -> str:
    return f"{shares['recall']:.3f} / {shares['precision']:.3f}"
