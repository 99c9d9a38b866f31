"""How many pages of a site an attacker needs to have a text of another page deleted.

    python benchmarks/poisoning.py                     # all methods, and deboiler beside them
    python benchmarks/poisoning.py --method evidence --markdown poisoning.md

The site is the demo newspaper. For each victim, an article, one paragraph is copied onto pages of
the attacker's own; all pages are learned, and the victim is cleaned. A cell is the least share of
the site's pages that deletes the paragraph of half of the victims.
"""

from __future__ import annotations

import logging
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median_high
from typing import Any

from benchmarks.corpora import SHARED, environment, load_module
from benchmarks.extraction import is_installed
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from example_project.demo import DemoPage, DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.methods import METHODS

HONEST = 20
STEPS = (1, 2, 4, 7, 10, 14, 20, 30, 47, 80)
"""Numbers of the attacker's pages."""
VICTIMS = 3
PEER = "deboiler"
RUNNER = "bench/peers.py"
VERSIONS = ("noiseclean-scrapy", "lxml", "parsel")
NEVER = 1.0
TEMPLATE = "standard"
_ARTICLE = re.compile(r"<(article|main)\b.*</\1>", re.DOTALL)


@dataclass(frozen=True)
class Victim:
    """An article, and the paragraph that is to vanish."""

    page: DemoPage
    paragraph: str


Attack = Callable[[Victim, DemoPage, random.Random], str]
"""An attacker's page, made of the victim's and of one of his own."""


def exact_copy(victim: Victim, own: DemoPage, rng: random.Random) -> str:
    return victim.page.html


def near_copy(victim: Victim, own: DemoPage, rng: random.Random) -> str:
    """The victim's page with one word of each other paragraph changed."""
    html = victim.page.html
    for line in paragraphs(victim.page):
        if line != victim.paragraph:
            words = line.split()
            words[rng.randrange(len(words))] = f"noise{rng.randrange(10**6)}"
            html = html.replace(line, " ".join(words))
    return html


def in_article(victim: Victim, own: DemoPage, rng: random.Random) -> str:
    """Another article, one of whose paragraphs is the victim's."""
    return own.html.replace(max(paragraphs(own), key=len), victim.paragraph)


def whole_article(victim: Victim, own: DemoPage, rng: random.Random) -> str:
    """Another headline over the victim's article."""
    html = own.html
    lines = paragraphs(victim.page)
    for number, line in enumerate(paragraphs(own)):
        html = html.replace(line, lines[number % len(lines)])
    return html.replace(max(paragraphs(own), key=len), victim.paragraph)


def article_element(victim: Victim, own: DemoPage, rng: random.Random) -> str:
    """Another page around the victim's whole article element."""
    return _ARTICLE.sub(lambda _: _element(victim.page), own.html, count=1)


def _element(page: DemoPage) -> str:
    found = _ARTICLE.search(page.html)
    return found[0] if found else ""


def in_template(victim: Victim, own: DemoPage, rng: random.Random) -> str:
    """Another article with the victim's paragraph in the page's footer."""
    place = '<div class="legal">'
    return own.html.replace(place, f"{place}<p>{victim.paragraph}</p>")


ATTACKS: dict[str, Attack] = {
    "exact copies": exact_copy,
    "near copies": near_copy,
    "whole article, other headline": whole_article,
    "article element": article_element,
    "paragraph in articles": in_article,
    "paragraph in the footer": in_template,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = report_parser(__doc__, "poisoning")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--method", action="append", choices=METHODS, help="default: all")
    parser.add_argument("--victims", type=int, default=VICTIMS)
    args = parser.parse_args(argv)
    logging.disable(logging.INFO)
    articles = [
        page
        for page in DemoSite(articles=5 * max(STEPS)).pages.values()
        if page.kind == "article" and page.language == "en" and len(paragraphs(page)) > 3
    ]
    honest = articles[:HONEST]
    # The attacker's pages have the victims' template, so that places agree.
    own = [page for page in articles[HONEST:] if page.template == TEMPLATE][: max(STEPS)]
    targets = [page for page in honest if page.template == TEMPLATE][: args.victims]
    victims = [Victim(page, max(paragraphs(page), key=len)) for page in targets]
    cleaners: dict[str, Any] = {m: MethodSite(m, honest) for m in args.method or METHODS}
    runner = args.shared / RUNNER
    if runner.is_file() and is_installed(PEER):
        cleaners[PEER] = PeerSite(runner, honest)
    results = {
        name: {attack: shares(site, victims, own, make) for attack, make in ATTACKS.items()}
        for name, site in cleaners.items()
    }
    versions = [*VERSIONS, *([PEER] if PEER in cleaners else [])]
    figures = {**environment(versions), "honest": HONEST, "steps": STEPS, "results": results}
    publish_figures(args, [table(results)], figures)
    return 0


def paragraphs(page: DemoPage) -> list[str]:
    """The lines of an article, without its headline, that stand in its HTML as they are."""
    return [line for line in page.gold.split("\n")[1:] if len(line) > 60 and line in page.html]


class MethodSite:
    """The honest pages, learned by one of our methods."""

    def __init__(self, method: str, honest: Sequence[DemoPage]) -> None:
        cleaner = SiteCleaner(method)
        for page in honest:
            cleaner.observe(page.html)
        self._learned = cleaner.to_bytes()

    def texts(self, victim: Victim, poison: Sequence[str]) -> Iterator[str]:
        """The victim's clean text after 0 and each number of the attacker's pages."""
        cleaner = SiteCleaner.from_bytes(self._learned)
        yield cleaner.clean(victim.page.html).text
        for first, end in pairwise((0, *STEPS)):
            for html in poison[first:end]:
                cleaner.observe(html)
            yield cleaner.clean(victim.page.html).text


class PeerSite:
    """The honest pages, and a site-level peer that reads them all again each time."""

    def __init__(self, runner: Path, honest: Sequence[DemoPage]) -> None:
        self._honest = honest
        self._clean = load_module(runner).SITE_PEERS[PEER][0]()

    def texts(self, victim: Victim, poison: Sequence[str]) -> Iterator[str]:
        """As of `MethodSite`; the attacker's addresses are next to the victim's."""
        for count in (0, *STEPS):
            yield self._text(victim, poison[:count])

    def _text(self, victim: Victim, poison: Sequence[str]) -> str:
        pages = [(page.path, page.path, page.html) for page in self._honest]
        pages += [(f"{victim.page.path}-{n}", f"poison{n}", html) for n, html in enumerate(poison)]
        rows = [
            ({"id": name, "url": f"https://news.example.com{path}"}, html.encode())
            for path, name, html in pages
        ]
        return str(self._clean(rows).get(victim.page.path, ""))


def shares(
    site: Any, victims: Sequence[Victim], own: Sequence[DemoPage], make: Attack
) -> dict[str, Any]:
    """The least share of the attacker's pages by victim, `NEVER` where all do not do."""
    needed = []
    lost = 0
    for number, victim in enumerate(victims):
        rng = random.Random(number)
        poison = [make(victim, page, rng) for page in own]
        found = (_stands_in(victim.paragraph, text) for text in site.texts(victim, poison))
        if not next(found):
            lost += 1
            continue
        least = next((n for n, kept in zip(STEPS, found, strict=False) if not kept), None)
        needed.append(NEVER if least is None else least / (HONEST + least))
    middle = median_high(needed) if needed else None
    return {"victims": len(needed), "lost_before": lost, "least": sorted(needed), "median": middle}


def _stands_in(paragraph: str, text: str) -> bool:
    return " ".join(paragraph.split()) in " ".join(text.split())


def table(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Table:
    """One row a method, one column an attack."""
    return Table(
        f"Attacker's share of the site's pages that deletes a paragraph ({HONEST} honest pages)",
        ["method", *ATTACKS],
        [
            [name, *(_cell(attacks[attack]) for attack in ATTACKS)]
            for name, attacks in results.items()
        ],
    )


def _cell(figures: Mapping[str, Any]) -> str:
    if not figures["victims"]:
        return "lost without attack"
    share = figures["median"]
    return f"over {max(STEPS) / (HONEST + max(STEPS)):.0%}" if share == NEVER else f"{share:.0%}"


if __name__ == "__main__":
    sys.exit(main())
