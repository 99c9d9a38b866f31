"""How the cost of a page grows with its size, and with the pages of its site learned before."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from example_project.demo import DemoSite
from noiseclean_scrapy.cleaner import SiteCleaner

PARAGRAPHS = tuple(2**power for power in range(4, 12))
LEARNED = (3, 10, 30, 100, 300)
PANELS = {
    "page_size": ("cleaning a page", "paragraphs of the page"),
    "clean": ("cleaning a page", "pages of the site learned before"),
    "learn": ("learning a page", "pages of the site learned before"),
}
_PARAGRAPH = (
    "<div class='teaser'><a href='/news/story'>Harbour</a></div>\n"
    "<p class='text'>The ferry left the harbour at seven, and the fog came in behind it.</p>\n"
)


def growth(
    method: str, rounds: int, paragraphs: Sequence[int], learned: Sequence[int]
) -> dict[str, dict[str, Any]]:
    """Milliseconds by amount, and their slope in double logarithmic scale: 1 is linear, 0 constant.

    `page_size` is cleaning a made-up page, by its length; `clean` and `learn` are cleaning and
    learning one page of a made-up newspaper, by the pages learned before.
    """
    cleaned, observed = _by_pages_learned(method, rounds, learned)
    return {
        "page_size": _curve(paragraphs, _by_size(method, rounds, paragraphs)),
        "clean": _curve(learned, cleaned),
        "learn": _curve(learned, observed),
    }


def draw_growth(found: Mapping[str, Mapping[str, Mapping[str, Any]]], path: Path) -> None:
    """A picture with a panel for each of `PANELS`: one line a method, in double logarithmic scale.

    A grey line has the slope 1.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.4), layout="constrained")
    for panel, (name, (title, label)) in zip(figure.subplots(1, 3), PANELS.items(), strict=True):
        for method, curves in found.items():
            curve = curves[name]
            panel.plot(curve["amounts"], curve["ms"], marker="o", markersize=4, label=method)
        panel.set_xscale("log")
        panel.set_yscale("log")
        if name == "page_size":
            start = curve["amounts"][0], min(curve["ms"])
            panel.axline(start, (10 * start[0], 10 * start[1]), color="0.85", zorder=0)
        panel.set_xlabel(label)
        panel.set_title(title, fontsize=11)
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("milliseconds of processor time")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def milliseconds(action: Callable[[], object]) -> float:
    """Processor time of an action."""
    start = time.process_time()
    action()
    return 1e3 * (time.process_time() - start)


def slope(amounts: Sequence[int], costs: Sequence[float]) -> float:
    """The exponent with which costs grow."""
    logs = np.log(np.maximum(costs, 1e-3))
    return round(float(np.polyfit(np.log(amounts), logs, 1)[0]), 3)


def _by_size(method: str, rounds: int, paragraphs: Sequence[int]) -> list[float]:
    costs = []
    for count in paragraphs:
        html = f"<title>T</title><body>{_PARAGRAPH * count}".encode()
        cleaner = SiteCleaner(method)
        cleaner.observe(html)
        cleaner.model()
        costs.append(_median(partial(_text, cleaner, html), rounds))
    return costs


def _by_pages_learned(
    method: str, rounds: int, learned: Sequence[int]
) -> tuple[list[float], list[float]]:
    articles = DemoSite(articles=max(learned) + 1).pages.values()
    *pages, last = [page.html for page in articles][: max(learned) + 1]
    cleaner = SiteCleaner(method)
    cleaned, observed = [], []
    for number, page in enumerate(pages, 1):
        cleaner.observe(page)
        if number in learned:
            cleaner.model()
            cleaned.append(_median(partial(_text, cleaner, last), rounds))
            state = cleaner.to_bytes()
            others = [SiteCleaner.from_bytes(state) for _ in range(rounds)]
            observed.append(
                statistics.median(milliseconds(partial(c.observe, last)) for c in others)
            )
    return cleaned, observed


def _text(cleaner: SiteCleaner, html: str | bytes) -> str:
    return cleaner.clean(html).text


def _curve(amounts: Sequence[int], costs: Sequence[float]) -> dict[str, Any]:
    rounded = [round(cost, 3) for cost in costs]
    return {"slope": slope(amounts, costs), "amounts": list(amounts), "ms": rounded}


def _median(action: Callable[[], object], rounds: int) -> float:
    return statistics.median(milliseconds(action) for _ in range(rounds))
