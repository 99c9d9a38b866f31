"""What pointing is worth: clean text of a site's pages after a person has clicked on one of them.

    python -m benchmarks.pointing --markdown pointing.md

The twenty sites of the development corpora with the lowest mean bag F1 are learned from all of
their pages. A simulated person opens the worst page of each, and drops or keeps the box (as the
workbench offers them) with the most characters that are wrong there, less those that are right;
up to three times. A rule is not taken where the workbench shows, before it is written, that a page
would lose more than half of its text or get more than half as much again. Scored are the site's
other pages, which nobody has looked at.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

from lxml.cssselect import CSSSelector

from benchmarks.corpora import (
    SHARED,
    WHOLE_SITES,
    CorpusPage,
    by_site,
    environment,
    load_scorer,
    read_corpus,
)
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from noiseclean_scrapy import CleanPage, SiteCleaner
from noiseclean_scrapy.page.block import Block
from noiseclean_scrapy.page.decoding import decode
from noiseclean_scrapy.page.element_paths import ElementPaths
from noiseclean_scrapy.page.overrides import NO_OVERRIDES, Overrides
from noiseclean_scrapy.page.parse import parse_html
from noiseclean_scrapy.web.boxes import PlaceCounts, blocks_in, levels
from noiseclean_scrapy.web.rules import Rule, with_rule

CLICKS = 3
SITES = 20
WRONG_GOLD = frozenset(
    {
        "bbc.co.uk_news_04",
        "ru-aif.ru-20111128-8615176c4d",
        "ru-likar.info-20111128-33b13a3a8f",
        "zh-news.sohu.com-20120117-71b0d2b363",
    }
)
"""Left out: gold that is a placeholder, a menu or unreadable, as the notes on the corpora say."""
LEAST_PAGES, MOST_PAGES = 5, 30
"""Sites of fewer pages are left out; of larger ones the first pages are taken."""
TRIED = 5
"""Rules that the person tries before giving up."""
POINTED_AT = 40
"""Blocks that are wrong and that the person looks at, the longest."""
VERSIONS = ("noiseclean-scrapy", "lxml")
_SHINGLE = 4


@dataclass(frozen=True)
class Site:
    """A site that is learned: its pages as text with their gold, and their address on it."""

    name: str
    host: str
    pages: list[tuple[str, str, str]]
    """Address, HTML, gold."""
    cleaner: SiteCleaner

    def clean(self, overrides: Overrides) -> list[CleanPage]:
        return [
            self.cleaner.clean(html, url=url, overrides=overrides) for url, html, _ in self.pages
        ]


@dataclass(frozen=True)
class Click:
    """A rule, and by how many characters it makes the page that was looked at better."""

    verdict: str
    selector: str
    gain: int


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = report_parser(__doc__, "pointing")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--corpus", action="append", choices=WHOLE_SITES, help="default: all")
    parser.add_argument("--sites", type=int, default=SITES)
    args = parser.parse_args(argv)
    logging.disable(logging.INFO)
    scorer = load_scorer(args.shared)
    sites = [
        learn(f"{corpus}/{name}", pages)
        for corpus in args.corpus or WHOLE_SITES
        for name, pages in by_site(read_corpus(args.shared / "corpora" / corpus)).items()
        if sum(bool(page.gold) for page in pages) >= LEAST_PAGES
    ]
    scored = [(fmean(scores(scorer, site, site.clean(NO_OVERRIDES))), site) for site in sites]
    scored.sort(key=lambda pair: (pair[0], pair[1].name))
    results = [point(scorer, site) for _, site in scored[: args.sites]]
    figures = {
        **environment(VERSIONS),
        "candidates": len(sites),
        "results": results,
        "mean": [fmean(site["f1"][n] for site in results) for n in range(CLICKS + 1)],
    }
    publish_figures(args, [table(figures)], figures)
    return 0


def learn(name: str, pages: Sequence[CorpusPage]) -> Site:
    """A site, learned from its pages that have gold text."""
    host = f"{name.rpartition('/')[2].lower().replace('_', '-')}.example"
    found = [
        (f"https://{host}/{number}", decode(page.html), page.gold)
        for number, page in enumerate(pages)
        if page.gold and page.id not in WRONG_GOLD
    ][:MOST_PAGES]
    cleaner = SiteCleaner()
    for url, html, _ in found:
        cleaner.observe(html, url=url)
    return Site(name, host, found, cleaner)


def point(scorer: ModuleType, site: Site) -> dict[str, Any]:
    """Bag F1 of the pages that nobody looked at, after no click, one, two, three."""
    before = scores(scorer, site, site.clean(NO_OVERRIDES))
    looked_at = before.index(min(before))
    _, html, gold = site.pages[looked_at]
    source, clicks = "", []
    f1 = [others(before, looked_at)]
    pages = site.clean(NO_OVERRIDES)
    for _ in range(CLICKS):
        for click in best_clicks(scorer, pages[looked_at], html, gold):
            added = with_rule(source, Rule(site.host, click.verdict, click.selector))
            changed = site.clean(Overrides.parse(added))
            if all(map(is_small_change, pages, changed)):
                clicks.append({"verdict": click.verdict, "selector": click.selector})
                source, pages = added, changed
                break
        f1.append(others(scores(scorer, site, pages), looked_at))
    return {"site": site.name, "pages": len(site.pages) - 1, "f1": f1, "clicks": clicks}


def best_clicks(scorer: ModuleType, page: CleanPage, html: str, gold: str) -> list[Click]:
    """The boxes that are worth most on this page, without those that do more harm than good."""
    root = parse_html(html).root
    blocks = page.blocks
    is_content = contents(scorer, blocks, gold)
    wrong = [
        number
        for number, block in enumerate(blocks)
        if block.kept != is_content[number] and block is not page.headline
    ]
    wrong.sort(key=lambda number: -len(blocks[number].text))
    selectors = {
        level.selector
        for number in wrong[:POINTED_AT]
        for level in levels(root, blocks, number, PlaceCounts(Counter(), 0))
    }
    paths = ElementPaths(root)
    homes = [paths.find(block.xpath) for block in blocks]
    clicks = []
    for selector in sorted(selectors):
        found: Any = CSSSelector(selector, translator="html")(root)
        inside = blocks_in(found, homes)
        for verdict, kept in (("drop", True), ("keep", False)):
            changed = [number for number in inside if blocks[number].kept == kept]
            gain = sum(len(blocks[n].text) * (1 if is_content[n] != kept else -1) for n in changed)
            clicks.append(Click(verdict, selector, gain))
    clicks.sort(key=lambda click: (-click.gain, len(click.selector), click.selector))
    return [click for click in clicks if click.gain > 0][:TRIED]


def is_small_change(before: CleanPage, after: CleanPage) -> bool:
    """Whether a page keeps half of its text at least, and gets no more than half as much again."""
    return 0.5 <= (after.kept_characters + 1) / (before.kept_characters + 1) <= 1.5


def contents(scorer: ModuleType, blocks: Sequence[Block], gold: str) -> list[bool]:
    """Whether each block is content: half of its runs of four words stand in the gold text."""
    wanted = set(_runs(scorer.tokens(gold)))
    words = f" {' '.join(scorer.tokens(gold))} "
    found = []
    for block in blocks:
        tokens = scorer.tokens(block.text)
        if len(tokens) < _SHINGLE:
            found.append(bool(tokens) and f" {' '.join(tokens)} " in words)
        else:
            runs = _runs(tokens)
            found.append(2 * sum(run in wanted for run in runs) >= len(runs))
    return found


def scores(scorer: ModuleType, site: Site, pages: Sequence[CleanPage]) -> list[float]:
    """Bag F1 of each page."""
    return [
        float(scorer.score_text(page.text, gold)["bag"].f1)
        for page, (_, _, gold) in zip(pages, site.pages, strict=True)
    ]


def others(values: Sequence[float], looked_at: int) -> float:
    return fmean(value for number, value in enumerate(values) if number != looked_at)


def table(figures: Any) -> Table:
    """The mean of the sites, and each of them."""
    header = ["site", "pages", *("no click", "1 click", "2 clicks", "3 clicks")]
    rows = [
        [site["site"], str(site["pages"]), *(f"{f1:.3f}" for f1 in site["f1"])]
        for site in figures["results"]
    ]
    mean = [f"**{f1:.3f}**" for f1 in figures["mean"]]
    pages = sum(site["pages"] for site in figures["results"])
    title = "Bag F1 of the pages that nobody looked at"
    return Table(title, header, [["**mean**", f"**{pages}**", *mean], *rows])


def _runs(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(tokens[n : n + _SHINGLE]) for n in range(len(tokens) - _SHINGLE + 1)]


if __name__ == "__main__":
    sys.exit(main())
