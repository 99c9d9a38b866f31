"""Focused crawls beside Scrapy's breadth first and depth first, and the freshness of revisits.

    python benchmarks/focused.py --harvest      # relevant pages per page fetched
    python benchmarks/focused.py --freshness    # age of new stories when they are fetched

Real crawls of made-up newspapers from servers on the loopback interface, one seed after the other.
Results go to `benchmarks/results/focused.json`, a picture to `docs/images/focused.png`.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.corpora import ROOT, environment
from benchmarks.focused_crawls import STRATEGIES, harvest
from benchmarks.focused_freshness import POLICIES, freshness
from benchmarks.measuring import in_new_process
from benchmarks.reporting import earlier_figures, publish_figures, report_parser
from benchmarks.tables import Table

VERSIONS = ("noiseclean-scrapy", "Scrapy", "lxml", "snowballstemmer", "matplotlib")
PICTURE = ROOT / "docs/images/focused.png"
FIRST_SEED = 10
"""The formula's constants were chosen on seeds 0 to 2."""
POINTS = (50, 100, 200, 300)
_SAMPLES = 2_000


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "focused")
    parser.add_argument("--harvest", action="store_true")
    parser.add_argument("--freshness", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--articles", type=int, default=240, help="stories of each newspaper")
    parser.add_argument("--pages", type=int, default=max(POINTS), help="pages fetched in a crawl")
    parser.add_argument("--seconds", type=float, default=45.0, help="of a crawl for --freshness")
    parser.add_argument("--picture", type=Path, default=PICTURE)
    args = parser.parse_args(argv)
    if not (args.harvest or args.freshness):
        parser.error("choose --harvest or --freshness, or both")
    figures = {**earlier_figures(args), **environment(VERSIONS)}
    seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
    if args.harvest:
        runs = [
            in_new_process(harvest, strategy, seed, args.articles, args.pages)
            for seed in seeds
            for strategy in STRATEGIES
        ]
        figures["harvest"] = summarise_harvest(runs)
    if args.freshness:
        runs = [
            in_new_process(freshness, policy, seed, args.articles, args.seconds)
            for seed in seeds
            for policy in POLICIES
        ]
        figures["freshness"] = summarise_freshness(runs)
    publish_figures(args, tables(figures), figures)
    if "harvest" in figures:
        draw(figures["harvest"], args.picture)
    return 0


def summarise_harvest(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """By strategy the harvest rate over the pages fetched: mean over seeds, and its interval."""
    found: dict[str, Any] = {
        "seeds": sorted({run["seed"] for run in runs}),
        "pages": mean(run["pages"] for run in runs),
        "relevant": mean(run["relevant"] for run in runs),
        "errors": sum(run["errors"] for run in runs),
        "strategies": {},
    }
    for strategy in STRATEGIES:
        curves = [run["hits"] for run in runs if run["strategy"] == strategy]
        length = min(map(len, curves))
        found["strategies"][strategy] = {
            str(n): interval([sum(hits[:n]) / n for hits in curves])
            for n in range(10, length + 1, 10)
        }
    return found


def summarise_freshness(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """By policy the mean age of new stories in seconds, over seeds with intervals."""
    found: dict[str, Any] = {"seeds": sorted({run["seed"] for run in runs}), "policies": {}}
    for policy in POLICIES:
        own = [run for run in runs if run["policy"] == policy]
        found["policies"][policy] = {
            "relevant": interval([mean(run["relevant"]) for run in own]),
            "all": interval([mean(run["all"]) for run in own]),
            "found": interval([run["found"] for run in own]),
            "revisits": mean(run["revisits"] for run in own),
            "fetched": mean(run["fetched"] for run in own),
        }
    return found


def interval(values: Sequence[float]) -> list[float]:
    """Mean, and the 2.5th and 97.5th percentile of means of resampled seeds (bootstrap)."""
    rng = random.Random(0)
    means = sorted(mean(rng.choices(values, k=len(values))) for _ in range(_SAMPLES))
    low, high = means[_SAMPLES // 40], means[-_SAMPLES // 40]
    return [round(value, 4) for value in (mean(values), low, high)]


def tables(report: Mapping[str, Any]) -> Iterator[Table]:
    """One table of the harvest, one of the freshness."""
    if "harvest" in report:
        found = report["harvest"]
        points = [str(n) for n in POINTS]
        yield Table(
            f"Harvest rate: relevant pages per page fetched, {len(found['seeds'])} seeds, "
            f"{found['relevant']:.0f} relevant of {found['pages']:.0f} pages",
            ["strategy", *(f"{n} pages" for n in points)],
            [
                [strategy, *(_cell(curve[n]) if n in curve else "" for n in points)]
                for strategy, curve in found["strategies"].items()
            ],
        )
    if "freshness" in report:
        found = report["freshness"]
        yield Table(
            f"Age of new stories when fetched, in seconds, {len(found['seeds'])} seeds",
            ["revisits", "on the topic", "all", "share fetched", "revisits of pages fetched"],
            [
                [
                    policy,
                    _cell(row["relevant"], 1),
                    _cell(row["all"], 1),
                    _cell(row["found"]),
                    f"{row['revisits']:.0f} of {row['fetched']:.0f}",
                ]
                for policy, row in found["policies"].items()
            ],
        )


def _cell(values: Sequence[float], digits: int = 3) -> str:
    centre, low, high = (f"{value:.{digits}f}" for value in values)
    return f"{centre}\n[{low}, {high}]"


def draw(found: Mapping[str, Any], path: Path) -> None:
    """Harvest rate over pages fetched, intervals as bands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.6), layout="constrained")
    panel = figure.subplots()
    for strategy, curve in found["strategies"].items():
        pages = [int(n) for n in curve]
        centre, low, high = zip(*curve.values(), strict=True)
        panel.plot(pages, centre, label=strategy)
        panel.fill_between(pages, low, high, alpha=0.12)
    panel.axhline(found["relevant"] / found["pages"], color="grey", linestyle=":", linewidth=1)
    panel.set_xlabel("pages fetched")
    panel.set_ylabel("share of them on the topic")
    panel.set_ylim(bottom=0)
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
