"""Where the add-on's time goes in a crawl: processor time a page by what is done, as a picture.

    python -m benchmarks.crawl_stages
    python -m benchmarks.crawl_stages --before ../checkout-of-an-earlier-revision

The functions of each stage are timed while the crawl of `benchmarks.crawl` runs, in whatever
thread; what one of them calls that is timed as well counts for that one alone. What is spent
between them, in Scrapy and in SQLAlchemy's engine, is not in the picture.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora import ROOT, environment
from benchmarks.crawl import VERSIONS, Task, crawl, in_own_process
from benchmarks.loopback import serve
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from benchmarks.web import Newspapers

STAGES = {
    "reading pages": "page.build:build_page crawl.bounded:bounded_response",
    "scores of blocks": "methods.evidence_model.model:EvidenceModel.read",
    "learning, trees": "cleaner:SiteCleaner.observe_page cleaner:SiteCleaner.to_bytes "
    "cleaner:SiteCleaner.from_bytes cleaner:SiteCleaner.model clusters.training:learn_pages "
    "clusters.training:Training._train clusters.page_cache:PageCache.add "
    "clusters.page_cache:PageCache.take",
    "judging, text": "methods.evidence:SiteModel.judge clean_page:clean_page "
    "clean_page:CleanPage.text page.headline:find_headline page.headline:choose_title",
    "author, date, language": "page.facts:page_facts metadata:extract_metadata "
    "metadata:read_facts page.publication:author_and_date languages:_asked_language",
    "blocks as stored": "clusters.cleaning:to_record store.stored_blocks:StoredBlocks.of "
    "store.stored_blocks:StoredBlocks._read store.block_verdicts:BlockVerdicts.read",
    "compressing": "store.stored_blocks:compress store.compression:compress "
    "store.compression:decompress",
    "full-text index": "store.search.indexing:index_pages store.search.terms:Analyzer.terms",
    "rows": "store.writing:write_pages store.writing:write_cleaned store.pages:Pages.write "
    "store.page_rows:read_provisional store.cluster_rows:read_cluster "
    "store.cluster_rows:read_clusters "
    "store.tree_rows:save_tree clusters.training:Training.run",
}
"""What the add-on does, and the functions that do it; those that are missing are left out."""
PACKAGE = "noiseclean_scrapy"


class Stopwatch:
    """Processor time by stage, of all threads."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._inner = threading.local()

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose time without that of timed ones below it is added up."""

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            above = getattr(self._inner, "seconds", 0.0)
            self._inner.seconds = 0.0
            start = time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                spent = time.thread_time() - start
                self.seconds[stage] += spent - self._inner.seconds
                self._inner.seconds = above + spent

        return call

    def watch(self) -> None:
        """Time the functions of all stages from now on."""
        for stage, names in STAGES.items():
            for name in names.split():
                module, _, path = name.partition(":")
                try:
                    self._watch(stage, importlib.import_module(f"{PACKAGE}.{module}"), path)
                except (AttributeError, ImportError, KeyError):
                    print(f"{name} is left out: this revision has none", file=sys.stderr)

    def _watch(self, stage: str, module: Any, path: str) -> None:
        *owners, name = path.split(".")
        owner = functools.reduce(getattr, owners, module)
        found = vars(owner)[name]
        if isinstance(found, functools.cached_property):
            made: Any = functools.cached_property(self.timed(stage, found.func))
            made.__set_name__(owner, name)
        elif isinstance(found, (classmethod, property)):
            function = found.fget if isinstance(found, property) else found.__func__
            assert function
            made = type(found)(self.timed(stage, function))
        else:
            made = self.timed(stage, found)
        setattr(owner, name, made)
        for other in list(sys.modules.values()):  # who has imported it by its name
            if getattr(other, "__name__", "").startswith(PACKAGE):
                for known in [key for key, value in vars(other).items() if value is found]:
                    setattr(other, known, made)


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "crawl_stages")
    parser.add_argument("--sites", type=int, default=5)
    parser.add_argument("--articles", type=int, default=110, help="of each site")
    parser.add_argument("--before", type=Path, help="a checkout of an earlier revision")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs/images/crawl-stages.svg")
    args = parser.parse_args(argv)
    web = Newspapers(args.sites, args.articles)
    urls = tuple(f"http://{host}/" for host in web.hosts)
    checkouts = {"before": args.before.resolve()} if args.before else {}
    stages = {}
    with serve(web) as proxy:
        for name, checkout in {**checkouts, "now": None}.items():
            task = Task("add-on", proxy, urls, True, None, checkout)
            stages[name] = in_own_process(timed_crawl, task)
    rows = [[stage, *(f"{found[stage]:.2f}" for found in stages.values())] for stage in STAGES]
    rows.append(["all of these", *(f"{sum(found.values()):.1f}" for found in stages.values())])
    table = Table("CPU ms a page", ["", *stages], rows)
    publish_figures(args, [table], {**environment(VERSIONS), "stages": stages})
    draw(stages, args.picture)
    return 0


def timed_crawl(task: Task) -> dict[str, float]:
    """The processor time of a page in each stage, ms."""
    importlib.import_module(f"{PACKAGE}.crawl.pipeline")  # whose imports are to be timed
    stopwatch = Stopwatch()
    stopwatch.watch()
    pages = crawl(task)["pages"]
    return {stage: round(1e3 * stopwatch.seconds[stage] / pages, 2) for stage in STAGES}


def draw(stages: dict[str, dict[str, float]], path: Path) -> None:
    """A bar a stage for each name; without matplotlib there is no picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    height = 0.8 / len(stages)
    for number, (name, found) in enumerate(stages.items()):
        places = [place + number * height for place in range(len(STAGES))]
        label = f"{name}: {sum(found.values()):.1f} ms"
        axes.barh(places, [found[stage] for stage in STAGES], height, label=label)
    axes.set_yticks([place + 0.4 - height / 2 for place in range(len(STAGES))], list(STAGES))
    axes.invert_yaxis()
    axes.set_xlabel("processor time of a page, ms")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
