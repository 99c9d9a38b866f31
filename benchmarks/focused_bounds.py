"""Which bound tells relevant pages from others: fixed ones, and the crawl's own (Otsu's).

    python -m benchmarks.focused_bounds

Recipes of the corpus recipes-dev are wanted among news of fundus-dev; prints the table that stands
in `docs/focused.md`.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Sequence

from benchmarks.corpora import SHARED, CorpusPage, environment, read_corpus
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clean_page import clean_page
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.focus.distribution import Relevances
from noiseclean_scrapy.focus.focus import Focus
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.topic import Topic

TOPIC = "baking and cooking at home: ingredients, flour, butter, oven, recipe, minutes"
FIXED = (0.05, 0.15)
SEEDS = range(3)


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "focused_bounds")
    parser.add_argument("--relevant", type=int, default=40, help="recipes in the mixture")
    args = parser.parse_args(argv)
    recipes, news = (read_corpus(SHARED / "corpora" / n) for n in ("recipes-dev", "fundus-dev"))
    rows = []
    for seed in SEEDS:
        rng = random.Random(seed)
        mixed = [(page, True) for page in rng.sample(recipes, args.relevant)]
        mixed += [(page, False) for page in news]
        rng.shuffle(mixed)
        rows.append([f"mixture {seed + 1}", *kept(mixed)])
    header = ["recipes among news", *(f"above {bound}" for bound in FIXED), "above the bound"]
    table = Table("Relevant pages, and others", header, rows)
    publish_figures(args, [table], {**environment(["noiseclean-scrapy"]), "rows": rows})
    return 0


def kept(mixed: Sequence[tuple[CorpusPage, bool]]) -> list[str]:
    """What each bound keeps, the crawl's own last."""
    focus, seen = Focus(Config(topic=Topic.read(TOPIC))), Relevances()
    cleaners: defaultdict[str, SiteCleaner] = defaultdict(SiteCleaner)
    found = []
    for corpus_page, is_relevant in mixed:
        cleaner = cleaners[corpus_page.site]
        page = build_page(corpus_page.html, url=corpus_page.url)
        cleaner.observe_page(page)
        cleaned = clean_page(cleaner.model(), page)
        relevance = focus.read(page, cleaned, corpus_page.site).relevance
        seen.add(relevance)
        found.append((relevance, is_relevant))
    return [_counts(found, bound) for bound in FIXED] + [
        f"{_counts(found, seen.bound)} ({seen.bound:.2f})"
    ]


def _counts(found: Sequence[tuple[float, bool]], bound: float) -> str:
    right = sum(relevant for _, relevant in found)
    hits = sum(relevant for relevance, relevant in found if relevance > bound)
    others = sum(not relevant for relevance, relevant in found if relevance > bound)
    return f"{hits} of {right}, {others} of {len(found) - right}"


if __name__ == "__main__":
    sys.exit(main())
