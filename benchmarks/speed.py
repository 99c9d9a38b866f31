"""What a page costs, ours and other extractors side by side, in processor time.

    python benchmarks/speed.py --markdown      # all, on 36 pages of the corpus big9-dev
    python benchmarks/speed.py --pages 18 --peer trafilatura --method evidence

Every page is timed with every candidate in each round, one candidate after the other, so that
what else the machine does meets all alike; a page's cost is the median over the rounds. The floor
is lxml's parser. Our methods have learned all pages of the page's site before, other extractors
that learn (deboiler) learn and clean the whole site. The parts of a page's cost are measured of
parsed pages; a bare loop over the nodes is what no reading in Python can be faster than.
"""

from __future__ import annotations

import logging
import runpy
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from parsel import Selector

from benchmarks.corpora import ROOT, SHARED, CorpusPage, by_site, environment, read_corpus
from benchmarks.extraction import is_installed
from benchmarks.growth import LEARNED, PANELS, PARAGRAPHS, draw_growth, growth, milliseconds
from benchmarks.measuring import in_new_process, peak_mib
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from noiseclean_scrapy import kernels
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.page import Element, TextBlock, build_page
from noiseclean_scrapy.page.decoding import decode
from noiseclean_scrapy.page.parse import parse_html

FLOOR = "lxml-parse"
PEERS = (FLOOR, "trafilatura", "resiliparse", "readability", "justext", "deboiler")
VERSIONS = ("noiseclean-scrapy", "lxml", "numpy", "parsel")
RIVAL = "trafilatura"
TREES = 6
PICTURE = ROOT / "docs/images/speed-growth.png"

SPEEDS = ("pages_a_second", f"times_{RIVAL}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """`prepare` gets a page ready outside of the clock, `run` is timed."""

    prepare: Callable[[CorpusPage], Any]
    run: Callable[[Any], object]


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "speed")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--corpus", default="big9-dev")
    parser.add_argument("--pages", type=int, default=36, help="so many pages, of all sites alike")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--method", action="append", choices=METHODS, help="default: all")
    parser.add_argument("--peer", action="append", help=f"default: {', '.join(PEERS)}")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="of the growth of cost")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    methods = args.method or list(METHODS)
    runner = runpy.run_path(str(args.shared / "bench/peers.py"))
    peers = [FLOOR, *(peer for peer in args.peer or PEERS if peer != FLOOR)]
    peers = [peer for peer in peers if is_installed(_distribution(runner, peer))]
    pages = read_corpus(args.shared / "corpora" / args.corpus)
    sites = by_site(pages)
    chosen = list(_alike(sites.values(), args.pages))
    figures: dict[str, Any] = environment([*VERSIONS, *(_distribution(runner, p) for p in peers)])
    figures |= {"corpus": args.corpus, "pages": len(chosen), "rounds": args.rounds}
    figures["bytes"] = round(statistics.mean(len(page.html) for page in chosen))
    page_candidates = page_peers(runner, [peer for peer in peers if peer in runner["PAGE_PEERS"]])
    candidates = {**page_candidates, **our_candidates(methods, sites)}
    figures["cost"] = _with_ratios(measure(candidates, chosen, args.rounds))
    parts = measure({FLOOR: candidates[FLOOR], **PARTS}, chosen, args.rounds)
    figures["parts"] = _with_ratios(parts)
    for peer in peers:
        if peer in runner["SITE_PEERS"]:
            cost = site_peer_cost(runner["SITE_PEERS"][peer][0](), sites, args.rounds)
            figures["cost"][peer] = {"mean_ms": cost}
    figures["cost"] = _with_ratios(figures["cost"])
    some = dict(islice(sites.items(), TREES))
    figures["trees"] = {method: tree_costs(method, some, args.rounds) for method in methods}
    figures["growth"] = {
        method: growth(method, args.rounds, PARAGRAPHS, LEARNED) for method in methods
    }
    figures["memory"] = {
        name: in_new_process(_memory, args.shared, args.corpus, len(chosen), name)
        for name in [*peers, *methods]
    }
    draw_growth(figures["growth"], args.picture)
    publish_figures(args, tables(figures), figures)
    return 0


def page_peers(runner: Mapping[str, Any], names: Iterable[str]) -> dict[str, Candidate]:
    """Other extractors that see one page, from bytes to text."""
    found = {}
    for name in names:
        peer = runner["PAGE_PEERS"][name][0]()
        found[name] = Candidate(lambda page: page, partial(_run_peer, peer))
    return found


def our_candidates(
    methods: Iterable[str], sites: Mapping[str, Sequence[CorpusPage]]
) -> dict[str, Candidate]:
    """Our methods: from bytes (also with nothing compiled), and of a page that is parsed: cleaning
    and learning it."""
    found = {}
    for method in methods:
        learned = {site: learn(method, pages) for site, pages in sites.items()}
        clean = partial(_clean, learned)
        found[method] = Candidate(lambda page: (page, page.html), clean)
        found[f"{method}, in Python"] = Candidate(
            lambda page: (page, page.html), partial(_clean_in_python, learned)
        )
        found[f"{method}, parsed"] = Candidate(lambda page: (page, _parsed(page)), clean)
        found[f"{method}, learning"] = Candidate(_Learner(method).prepare, _observe)
    return found


def learn(method: str, pages: Iterable[CorpusPage]) -> SiteCleaner:
    """A cleaner that has seen the pages, and made its model."""
    cleaner = SiteCleaner(method)
    for page in pages:
        cleaner.observe(page.html, url=page.url)
    cleaner.model()
    return cleaner


def measure(
    candidates: Mapping[str, Candidate], pages: Sequence[CorpusPage], rounds: int
) -> dict[str, dict[str, float]]:
    """The cost of a page in milliseconds: mean, percentiles and the worst page."""
    times = {name: np.full((len(pages), rounds), np.nan) for name in candidates}
    for turn in range(rounds):
        for number, page in enumerate(pages):
            for name, candidate in _rotated(candidates, turn + number):
                ready = candidate.prepare(page)
                start = time.process_time()
                candidate.run(ready)
                times[name][number, turn] = 1e3 * (time.process_time() - start)
    return {name: _figures(np.median(found, axis=1)) for name, found in times.items()}


def _tree(page: CorpusPage) -> Any:
    return parse_html(page.html).root


def _loop(root: Any) -> None:
    for node in root.iter():
        node.tag, node.text, node.tail  # noqa: B018


def _loop_with_attributes(root: Any) -> None:
    for node in root.iter():
        node.tag, node.text, node.tail, node.items()


def _counts(page: CorpusPage) -> tuple[int, int]:
    built = build_page(page.html)
    return len(built.elements), len(built.blocks)


def _objects(counts: tuple[int, int]) -> object:
    elements = [Element(index, 0, "p", "p", "p", 1, [], False) for index in range(counts[0])]
    return elements, [TextBlock(index, 0, "", 0, (), (), None) for index in range(counts[1])]


PARTS = {
    "loop over the nodes: tag, text, tail": Candidate(_tree, _loop),
    "the same and attributes": Candidate(_tree, _loop_with_attributes),
    "an object for each element and block": Candidate(_counts, _objects),
    "page model": Candidate(_tree, build_page),
}


def site_peer_cost(
    peer: Callable[..., Any], sites: Mapping[str, Sequence[CorpusPage]], rounds: int
) -> float:
    """Milliseconds a page of an extractor that learns and cleans a whole site."""
    groups = [[(page.row, page.html) for page in group] for group in sites.values()]
    costs = []
    for _ in range(rounds):
        start = time.process_time()
        for group in groups:
            peer(group)
        costs.append(time.process_time() - start)
    return round(1e3 * statistics.median(costs) / sum(map(len, groups)), 3)


def tree_costs(
    method: str, sites: Mapping[str, Sequence[CorpusPage]], rounds: int
) -> dict[str, float]:
    """Milliseconds to merge two halves of a site's tree, to write it and to read it; its bytes."""
    costs: dict[str, list[float]] = {"merge_ms": [], "to_bytes_ms": [], "from_bytes_ms": []}
    sizes = []
    for pages in sites.values():
        half = len(pages) // 2
        first, second = (learn(method, part).to_bytes() for part in (pages[:half], pages[half:]))
        found: dict[str, list[float]] = {name: [] for name in costs}
        for _ in range(rounds):
            one, two = SiteCleaner.from_bytes(first), SiteCleaner.from_bytes(second)
            found["merge_ms"].append(milliseconds(lambda: one.merge(two)))  # noqa: B023
            found["to_bytes_ms"].append(milliseconds(one.to_bytes))
            whole = one.to_bytes()
            found["from_bytes_ms"].append(milliseconds(lambda: SiteCleaner.from_bytes(whole)))  # noqa: B023
        sizes.append(len(whole))
        for name, values in found.items():
            costs[name].append(statistics.median(values))
    means = {name: round(statistics.mean(values), 3) for name, values in costs.items()}
    return {**means, "bytes": round(statistics.mean(sizes))}


def tables(report: Mapping[str, Any]) -> Iterator[Table]:
    """The report's tables."""
    size = f"{report['pages']} pages of {report['bytes'] / 1000:.0f} kB"
    names = ("mean_ms", "times_floor", "p50_ms", "p95_ms", "p99_ms", "worst_ms", *SPEEDS)
    yield _table(f"Milliseconds a page ({size})", report["cost"], names)
    yield _table("Parts of the cost of a page", report["parts"], ("mean_ms", "times_floor"))
    costs = ("merge_ms", "to_bytes_ms", "from_bytes_ms", "bytes")
    yield _table("A learned tree", report["trees"], costs)
    slopes = {
        method: {name: curve["slope"] for name, curve in curves.items()}
        for method, curves in report["growth"].items()
    }
    yield _table("Growth of cost (1 is linear)", slopes, tuple(PANELS))
    yield _table("Memory in MiB", report["memory"], ("start_mib", "peak_mib"))


def _memory(shared: Path, corpus: str, count: int, name: str) -> dict[str, float]:
    """Peak memory of a candidate in MiB, over the pages of the corpus."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    pages = list(_alike(by_site(read_corpus(shared / "corpora" / corpus)).values(), count))
    sites = by_site(pages)
    start = peak_mib()
    if name in METHODS:
        for group in sites.values():
            cleaner = learn(name, group)
            for page in group:
                cleaner.clean(page.html, url=page.url)
    else:
        runner = runpy.run_path(str(shared / "bench/peers.py"))
        if name in runner["SITE_PEERS"]:
            peer = runner["SITE_PEERS"][name][0]()
            for group in sites.values():
                peer([(page.row, page.html) for page in group])
        else:
            candidate = page_peers(runner, [name])[name]
            for page in pages:
                candidate.run(page)
    return {"start_mib": start, "peak_mib": peak_mib()}


def _run_peer(peer: Callable[..., str], page: CorpusPage) -> str:
    try:
        return peer(page.html, page.row)
    except Exception:  # a failure of theirs has its cost too
        return ""


def _clean(learned: Mapping[str, SiteCleaner], ready: tuple[CorpusPage, Any]) -> str:
    page, source = ready
    return learned[page.site].clean(source, url=page.url).text


def _clean_in_python(learned: Mapping[str, SiteCleaner], ready: tuple[CorpusPage, Any]) -> str:
    with kernels.in_python():
        return _clean(learned, ready)


class _Learner:
    """Gives each page to a cleaner that has not seen it, but others of its site."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.cleaners: dict[str, SiteCleaner] = {}
        self.seen: set[str] = set()

    def prepare(self, page: CorpusPage) -> tuple[SiteCleaner, Selector]:
        if page.id in self.seen:
            self.cleaners.clear()
            self.seen.clear()
        self.seen.add(page.id)
        return self.cleaners.setdefault(page.site, SiteCleaner(self.method)), _parsed(page)


def _observe(ready: tuple[SiteCleaner, Selector]) -> None:
    cleaner, source = ready
    cleaner.observe(source)


def _parsed(page: CorpusPage) -> Selector:
    return Selector(decode(page.html))


def _alike(sites: Iterable[Sequence[CorpusPage]], count: int) -> Iterator[CorpusPage]:
    """`count` pages, the first of each site, then the second of each."""
    groups = list(sites)
    longest = max(map(len, groups))
    turns = (group[turn] for turn in range(longest) for group in groups if turn < len(group))
    yield from (page for page, _ in zip(turns, range(count), strict=False))


def _distribution(runner: Mapping[str, Any], peer: str) -> str:
    return str({**runner["PAGE_PEERS"], **runner["SITE_PEERS"]}[peer][1])


def _rotated(candidates: Mapping[str, Candidate], by: int) -> Iterator[tuple[str, Candidate]]:
    items = list(candidates.items())
    at = by % len(items)
    return chain(items[at:], items[:at])


def _figures(times: np.ndarray[Any, Any]) -> dict[str, float]:
    p50, p95, p99 = np.percentile(times, (50, 95, 99)).tolist()
    figures = {"mean_ms": float(times.mean()), "p50_ms": p50, "p95_ms": p95, "p99_ms": p99}
    figures["worst_ms"] = float(times.max())
    return {name: round(value, 3) for name, value in figures.items()}


def _with_ratios(cost: Mapping[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The costs with their multiples of the floor's, and pages a second with those of the rival."""
    floor, rival = cost[FLOOR]["mean_ms"], cost.get(RIVAL)
    found = {}
    for name, row in cost.items():
        speed = {"times_floor": round(row["mean_ms"] / floor, 2)}
        speed["pages_a_second"] = round(1e3 / row["mean_ms"])
        if rival:
            speed[f"times_{RIVAL}"] = round(rival["mean_ms"] / row["mean_ms"], 2)
        found[name] = {**row, **speed}
    return found


def _table(title: str, rows: Mapping[str, Mapping[str, float]], columns: Sequence[str]) -> Table:
    return Table(
        title,
        ["", *(column.replace("_", " ") for column in columns)],
        [[name, *(str(row.get(column, "")) for column in columns)] for name, row in rows.items()],
    )


if __name__ == "__main__":
    sys.exit(main())
