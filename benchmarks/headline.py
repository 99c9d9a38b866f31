"""The table and the figures of the README, from the figures that are committed.

python -m benchmarks.headline
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from noiseclean_scrapy.config import Config

RESULTS = Path(__file__).parent / "results"
METHOD = Config().method
ROWS = (
    ("quality", "big9-dev", "news, {sites} sites of 10 pages"),
    (
        "quality",
        "daniel-dev",
        "news in Greek, Polish, Russian, Chinese, English, {sites} sites",
    ),
    ("quality", "cleanportaleval", "portals, {sites} sites"),
    ("single_pages", "chaos-dev", "single news pages, {sites} sites"),
    ("quality", "blogs-dev", "blogs, {sites} sites"),
    (
        "left_out",
        "fundus-dev",
        "news of 30 countries, {sites} sites, by models that had not seen them",
    ),
    ("left_out", "wcxb-dev", "articles, documentation, forums, products, {sites} sites, likewise"),
)
"""File of results, corpus, and what its pages are."""


def figures_of(file: str, results: Path = RESULTS) -> Any:
    """What a file of results holds, by its name without ending."""
    return json.loads((results / f"{file}.json").read_text("utf-8"))


def lines(read: Callable[[str], Any] = figures_of) -> Iterator[str]:
    """The table as Markdown: bag F1 of all pages of a corpus, the better one bold."""
    yield "| pages | all text | best other tool | noiseclean_scrapy |"
    yield "|---|---|---|---|"
    for file, corpus, pages in ROWS:
        report = read(file)["results"].get(corpus)
        if report is None:
            continue  # not measured then
        part = report.get("parts", report.get("kinds"))["all"]
        figures = {name: f"{text['bag']['f1']:.3f}" for name, text in part["texts"].items()}
        other, ours = figures[part["best_peer"]], figures[METHOD]
        tool = part["best_peer"].partition("-")[0]
        other = f"**{other}**" if other > ours else other
        ours = f"**{ours}**" if ours > figures[part["best_peer"]] else ours
        cells = [pages.format(**part), figures["no cleaning"], f"{other} {tool}", ours]
        yield f"| {' | '.join(cells)} |"


def pointing_sentence() -> str:
    """What clicks in the workbench change, as `docs/workbench.md` says it."""
    figures = figures_of("pointing")
    before, after, _, most = (f"{f1:.3f}" for f1 in figures["mean"])
    return (
        f"On the {len(figures['results'])} worst of {figures['candidates']} sites, one click of a "
        f"simulated person on the worst page takes the bag F1 of the site's other pages from "
        f"{before} to {after}, three to {most}."
    )


def search_sentence() -> str:
    """What cleaning does to a search index, as the README says it."""
    figures = figures_of("search")
    sizes = [figures["index"][text]["bytes"] for text in (METHOD, "no cleaning")]
    topics = figures["kinds"]["topic"]["all"]["texts"]
    right, before = (topics[text]["precision"]["mean"] for text in (METHOD, "no cleaning"))
    return (
        f"A search index over it takes {sizes[0] / sizes[1]:.0%} of the bytes, and of a topic's "
        f"first ten hits {right:.0%} are right instead of {before:.0%}."
    )


if __name__ == "__main__":
    print(*lines(), "", search_sentence(), pointing_sentence(), sep="\n")
