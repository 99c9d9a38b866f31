"""Levels A, B and C of pages cleaned by satisfiable sub-trees (Qi & Sun, section 4)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.corpora import WHOLE_SITES, CorpusPage, load_scorer, read_corpus
from benchmarks.tables import Table
from noiseclean_scrapy import CleanPage, SiteCleaner
from noiseclean_scrapy.methods.satisfiable_subtree import HAN_KANA

WHOLE = 0.95
"""Least recall of "without loss of information", and least precision of "all noise"."""
MOST = 0.5
"""Least precision of "most of noise": more content than noise is left."""
LEVELS = ("A", "B", "C")
TEXTS = ("no cleaning", "published constants", "fitted constants")
"""Published: those of the paper on every page. Fitted: the method's default, by script."""
PORTALS = ("sina.com", "qq.com", "sohu.com", "163.com")
"""The paper's four portals, as part of a host's name."""
PUBLISHED = {
    "www.sina.com.cn": (94, 1, 5),
    "www.qq.com": (97, 0, 3),
    "www.sohu.com": (94, 2, 4),
    "www.163.com": (95, 2, 3),
}
"""Pages of level A, B and C out of 100 (Qi & Sun, Table 1)."""
PUBLISHED_SPEED = 30
"""Pages a second, file I/O and parsing included, on a dual core of 2 GHz."""

CleanedPages = list[tuple[CorpusPage, CleanPage]]


def run(shared: Path, corpora: Sequence[str] = WHOLE_SITES) -> dict[str, Any]:
    """Count the levels by corpus, language and portal, and measure the speed."""
    scorer = load_scorer(shared)
    cleaners = {
        TEXTS[1]: SiteCleaner("satisfiable-subtree", **asdict(HAN_KANA)),
        TEXTS[2]: SiteCleaner("satisfiable-subtree"),
    }
    result: dict[str, Any] = {
        "rule": {"whole": WHOLE, "most": MOST},
        "published": {portal: list(levels) for portal, levels in PUBLISHED.items()},
        "published_pages_per_second": PUBLISHED_SPEED,
        "groups": {},
        "pages_per_second": {},
    }
    for corpus in corpora:
        pages = [p for p in read_corpus(shared / "corpora" / corpus) if p.gold is not None]
        for name, cleaner in cleaners.items():
            cleaned, speed = clean_all(cleaner, pages)
            result["pages_per_second"].setdefault(corpus, {})[name] = round(speed, 1)
            for group, members in groups(corpus, cleaned).items():
                counts = result["groups"].setdefault(group, {"pages": len(members)})
                if TEXTS[0] not in counts:
                    counts[TEXTS[0]] = count_levels(scorer, members, visible_text)
                counts[name] = count_levels(scorer, members, kept_text)
    return result


def level(recall: float, precision: float) -> str:
    """The level of a page by recall and precision of its tokens, shares in [0, 1].

    A: all noise eliminated without loss. B: most of the noise eliminated without loss. C: the rest.

    >>> level(0.95, 0.95), level(1.0, 0.5), level(0.94, 1.0)
    ('A', 'B', 'C')
    """
    if recall < WHOLE or precision < MOST:
        return "C"
    return "A" if precision >= WHOLE else "B"


def clean_all(cleaner: SiteCleaner, pages: Iterable[CorpusPage]) -> tuple[CleanedPages, float]:
    """The cleaned pages, and pages cleaned a second: parsing included, reading files not."""
    started = time.perf_counter()
    cleaned = [(page, cleaner.clean(page.html, url=page.url)) for page in pages]
    return cleaned, len(cleaned) / (time.perf_counter() - started)


def groups(corpus: str, pages: CleanedPages) -> dict[str, CleanedPages]:
    """All pages of a corpus; where it has several languages, those of each; those of a portal."""
    found = {corpus: pages}
    languages = sorted({page.row["lang"] for page, _ in pages if "lang" in page.row})
    if len(languages) > 1:
        for language in languages:
            found[f"{corpus} {language}"] = [p for p in pages if p[0].row.get("lang") == language]
    for portal in PORTALS:
        members = [p for p in pages if f".{portal}" in f".{p[0].site}"]
        if members:
            found[f"{corpus} {portal}"] = members
    return found


def count_levels(
    scorer: ModuleType, pages: CleanedPages, text: Callable[[CleanPage], str]
) -> dict[str, int]:
    """Pages of each level, and how many of those of level C lost content."""
    counts: Counter[str] = Counter()
    lost = 0
    for source, cleaned in pages:
        scores = scorer.overlap(scorer.tokens(text(cleaned)), scorer.tokens(source.gold))
        counts[level(scores.r, scores.p)] += 1
        lost += scores.r < WHOLE
    return {**{name: counts[name] for name in LEVELS}, "lost": lost}


def kept_text(page: CleanPage) -> str:
    """The kept text; the headline comes from TITLE where the page shows none, as in the paper."""
    return page.text if page.headline else f"{page.title}\n{page.text}"


def visible_text(page: CleanPage) -> str:
    """All text of the page, one line a block."""
    return "\n".join(block.text for block in page.blocks)


def tables(result: Mapping[str, Any]) -> Iterator[Table]:
    """Levels beside the paper's, and the speed."""
    yield Table(
        "Levels, pages out of 100: A / B / C",
        ["pages of", "pages", *TEXTS],
        [
            *(
                [f"{portal} (the paper)", "100", "", " / ".join(map(str, counts)), ""]
                for portal, counts in result["published"].items()
            ),
            *(
                [group, str(counts["pages"]), *(_shares(counts, text) for text in TEXTS)]
                for group, counts in result["groups"].items()
            ),
        ],
    )
    yield Table(
        "Pages a second",
        ["corpus", *TEXTS[1:]],
        [
            ["four portals (the paper)", str(result["published_pages_per_second"]), ""],
            *(
                [corpus, *(f"{speeds[text]:.0f}" for text in TEXTS[1:])]
                for corpus, speeds in result["pages_per_second"].items()
            ),
        ],
    )


def _shares(counts: Mapping[str, Any], text: str) -> str:
    return " / ".join(f"{100 * counts[text][found] / counts['pages']:.0f}" for found in LEVELS)
