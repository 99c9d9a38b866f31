"""Titles, authors and days of publication beside other tools, against parsers written by hand.

    python -m benchmarks.facts                      # beside whatever other tool is installed
    python -m benchmarks.facts --half a --misses    # what is wrong of ours

The same measure for all: a title is right when its words are the gold's, without case and
punctuation; authors are sets of such names, of which the share of the union counts; the day is
that of the gold. Every page is read by itself. Rules were made by looking at publishers of half a
alone; quote half b.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.corpora import SHARED, CorpusPage, environment, read_corpus
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.metadata import extract_metadata
from noiseclean_scrapy.page.characters import SOFT_HYPHEN
from noiseclean_scrapy.page.decoding import decode

CORPUS = "fundus-dev"
FACTS = ("title", "authors", "day")
HALVES = ("a", "b", "all")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a tool, or the gold, says of a page; None where it says nothing of that kind."""

    title: str | None = None
    authors: Sequence[str] | None = None
    day: date | None = None


Tool: TypeAlias = Callable[[CorpusPage], Facts]


def ours(page: CorpusPage) -> Facts:
    cleaned = SiteCleaner().clean(page.html, url=page.url)
    found = extract_metadata(page.html, url=page.url, text=cleaned.text)
    day = found.published.date() if found.published else None
    return Facts(cleaned.title, _names(found.author), day)


def trafilatura(page: CorpusPage) -> Facts:
    from trafilatura import bare_extraction

    found: Any = bare_extraction(page.html, url=page.url, with_metadata=True)
    if found is None:
        return Facts("", ())
    return Facts(found.title or "", _names(found.author or ""), _day(found.date))


def newspaper4k(page: CorpusPage) -> Facts:
    from newspaper import Article

    article: Any = Article(page.url, fetch_images=False)
    article.download(input_html=decode(page.html))
    article.parse()
    return Facts(article.title, article.authors, _day(article.publish_date))


def htmldate(page: CorpusPage) -> Facts:
    from htmldate import find_date

    return Facts(day=_day(find_date(decode(page.html), url=page.url, original_date=True)))


TOOLS: dict[str, tuple[str, Tool]] = {
    "noiseclean_scrapy": ("noiseclean-scrapy", ours),
    "trafilatura": ("trafilatura", trafilatura),
    "newspaper4k": ("newspaper4k", newspaper4k),
    "htmldate": ("htmldate", htmldate),
}
"""Distribution and face of each tool."""


def gold(page: CorpusPage) -> Facts:
    """The facts of the manifest; the day is that of the publisher's own clock."""
    row = page.row
    authors = row.get("authors")
    return Facts(row.get("title"), authors or None, _day(row.get("date")))


def scores(found: Facts, right: Facts) -> dict[str, float]:
    """The score of each fact that the gold has and the tool looks for.

    >>> right = Facts("Fog: ferries stay!", ["Ana Sousa", "Rui Melo"], date(2024, 5, 3))
    >>> scores(Facts("fog ferries stay", ["ana sousa"], date(2024, 5, 3)), right)
    {'title': 1.0, 'authors': 0.5, 'day': 1.0}
    """
    scored = {}
    if right.title and found.title is not None:
        scored["title"] = float(words(found.title) == words(right.title))
    if right.authors and found.authors is not None:
        names, expected = set(map(words, found.authors)), set(map(words, right.authors))
        scored["authors"] = len(names & expected) / len(names | expected)
    if right.day:
        scored["day"] = float(found.day == right.day)
    return scored


def words(text: str) -> tuple[str, ...]:
    """The words of a text without case and punctuation."""
    return tuple(_WORD.findall(text.replace(SOFT_HYPHEN, "").casefold()))


def half(pages: Iterable[CorpusPage], which: str) -> list[CorpusPage]:
    """The pages of every second publisher, in the order of their names; or all."""
    pages = list(pages)
    sites = sorted({page.site for page in pages})
    chosen = {"a": sites[::2], "b": sites[1::2], "all": sites}[which]
    return [page for page in pages if page.site in chosen]


def measure(tool: Tool, pages: Iterable[CorpusPage]) -> Iterator[tuple[CorpusPage, Facts]]:
    """What a tool finds on each page; nothing where it fails."""
    for page in pages:
        yield page, _found(tool, page)


def _found(tool: Tool, page: CorpusPage) -> Facts:
    try:
        return tool(page)
    except Exception as error:
        print(f"{tool.__name__} failed at {page.id}: {error}", file=sys.stderr)
        return Facts("", ())


def mean_scores(found: Iterable[tuple[CorpusPage, Facts]]) -> dict[str, float]:
    """The mean of each fact over the pages of which the gold has it."""
    sums: dict[str, list[float]] = {name: [] for name in FACTS}
    for page, facts in found:
        for name, score in scores(facts, gold(page)).items():
            sums[name].append(score)
    return {name: sum(values) / len(values) for name, values in sums.items() if values}


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = report_parser(__doc__, "facts")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--tool", action="append", choices=TOOLS, help="default: all")
    parser.add_argument("--half", action="append", choices=HALVES, help="default: all three")
    parser.add_argument("--misses", action="store_true", help="print what is wrong of ours")
    args = parser.parse_args(argv)
    corpus = args.shared / "corpora" / CORPUS
    if not corpus.is_dir():
        parser.error(f"no corpora in {args.shared}: name the folder with --shared")
    pages = read_corpus(corpus)
    halves = args.half or HALVES
    results: dict[str, dict[str, dict[str, float]]] = {}
    versions = []
    for name in args.tool or TOOLS:
        distribution, tool = TOOLS[name]
        try:
            importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            print(f"{name} is left out: it is not installed", file=sys.stderr)
            continue
        versions.append(distribution)
        asked = {page.id for which in halves for page in half(pages, which)}
        found = list(measure(tool, [page for page in pages if page.id in asked]))
        results[name] = {
            which: mean_scores(pair for pair in found if pair[0] in half(pages, which))
            for which in halves
        }
        if args.misses and tool is ours:
            _print_misses(found)
    publish_figures(args, tables(results), {**environment(versions), "results": results})
    return 0


def tables(results: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[Table]:
    """One a half of the publishers: the mean score of each tool for each fact."""
    for which in dict.fromkeys(which for found in results.values() for which in found):
        rows = [
            [name, *(f"{found[which][fact]:.3f}" if fact in found[which] else "" for fact in FACTS)]
            for name, found in results.items()
        ]
        title = {"all": "all publishers"}.get(which, f"half {which} of the publishers")
        yield Table(f"Titles, authors, days: {title}", ["tool", *FACTS], rows)


def _print_misses(found: Iterable[tuple[CorpusPage, Facts]]) -> None:
    for page, facts in found:
        right = gold(page)
        for name, score in scores(facts, right).items():
            if score < 1:
                print(f"{page.id} {name} {score:.2f}")
                print(f"   found {getattr(facts, name)!r}\n   gold  {getattr(right, name)!r}")


def _names(joined: str) -> list[str]:
    return [name.strip() for name in joined.split(";") if name.strip()]


def _day(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    try:
        return date.fromisoformat(str(value)[:10]) if value else None
    except ValueError:
        return None


if __name__ == "__main__":
    sys.exit(main())
