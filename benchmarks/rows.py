"""What PostgreSQL does for a page: rows, updates that are HOT, bytes, with small made-up pages.

    python -m benchmarks.rows --markdown
    python -m benchmarks.rows --filled 0 --filled 10000000 --markdown

Pages of some hundred characters go through the store as a crawl's do: written without a text, then
with it, then cleaned again by the first tree of their site. One database a run: with the search
index and without, with room left in each block for updates (fillfactor), in parts. The server is
that of NOISECLEAN_TEST_POSTGRESQL; with `autovacuum_naptime = 1s` one vacuums within the run.
With --filled the database has so many pages before, copied by SQL, and is asked as well.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from hashlib import sha1
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import create_engine, text

from benchmarks.corpora import environment
from benchmarks.distributed import own_database
from benchmarks.reporting import earlier_figures, publish_figures, report_parser
from benchmarks.row_copies import measure_filled
from benchmarks.tables import Table
from noiseclean_scrapy.store import Cleaned, PageRecord, Store
from noiseclean_scrapy.store.partitioning import create_parts

PAGES_OF_A_SITE = 100
ASKED = 30
PAGE_TABLES = (
    "SELECT relname FROM pg_class WHERE relname ~ '^noiseclean_page(_[0-9]+)?$' AND relkind = 'r'"
)
COUNTS = (
    "SELECT sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_hot_upd), sum(n_dead_tup), "
    "sum(autovacuum_count) FROM pg_stat_user_tables"
)


@dataclass(frozen=True)
class Run:
    """A database: with the search index, storage parameters of its pages, parts, HTML in files."""

    search: bool = True
    storage: str = ""
    parts: int = 0
    folder: bool = False


RUNS = {
    "as it is": Run(),
    "without search": Run(search=False),
    "fillfactor 70": Run(storage="fillfactor = 70"),
    "fillfactor 50": Run(storage="fillfactor = 50"),
    "autovacuum at 2 %": Run(storage="autovacuum_vacuum_scale_factor = 0.02"),
    "HTML in a folder": Run(folder=True),
    "16 parts": Run(parts=16),
    "16 parts, fillfactor 70": Run(parts=16, storage="fillfactor = 70"),
}
NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "rows")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--filled", type=int, action="append", help="pages that are there before")
    args = parser.parse_args(argv)
    if args.filled:
        runs = {f"{n:,} pages": measure_filled(n, args.pages, write_site) for n in args.filled}
    else:
        runs = {name: measure(args.pages, run) for name, run in RUNS.items()}
    versions = environment(["noiseclean-scrapy", "sqlalchemy", "psycopg"])
    figures = {**versions, "runs": runs, "pages": args.pages}
    if before := earlier_figures(args):  # these runs are kept beside those
        kept = {"filled": before["filled"]} if "filled" in before else {}
        figures = {**before, "filled": figures} if args.filled else {**figures, **kept}
    publish_figures(args, [table_of(runs)], figures)
    return 0


def table_of(runs: Mapping[str, Mapping[str, float]]) -> Table:
    """A row for each run, or for each figure where these are more."""
    names = next(iter(runs.values()))
    rows = [["", *names]]
    rows += [[run, *(f"{found[name]:,}" for name in names)] for run, found in runs.items()]
    if len(names) > 2 * len(runs):
        rows = list(map(list, zip(*rows, strict=True)))
    return Table("A small page in PostgreSQL", rows[0], rows[1:])


def measure(pages: int, run: Run) -> dict[str, float]:
    """The figures of one database."""
    prepare = partial(create_parts, parts=run.parts, storage={}) if run.parts else None
    with own_database(prepare) as url, TemporaryDirectory() as folder:
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            tables = list(connection.execute(text(PAGE_TABLES)).scalars())
            for table in tables if run.storage else ():
                connection.execute(text(f"ALTER TABLE {table} SET ({run.storage})"))
            html_store = Path(folder).as_uri() if run.folder else ""
            began = time.monotonic()
            with Store(url, store_html=True, search=run.search, html_store=html_store) as store:
                for site in range(pages // PAGES_OF_A_SITE):
                    write_site(store, f"newspaper-{site}.example")
                seconds = time.monotonic() - began
                asked = ask(store, "newspaper-1.example")
            time.sleep(1.5)  # what backends have counted is published when they end
            inserted, updated, hot, *_ = connection.execute(text(COUNTS)).one()
            of_pages = text(f"{COUNTS} WHERE relname = ANY(:tables)")
            _, page_updates, page_hot, dead, vacuums = connection.execute(
                of_pages, {"tables": tables}
            ).one()
            size = "SELECT pg_database_size(current_database())"
            bytes_stored = connection.execute(text(size)).scalar_one()
        engine.dispose()
    return {
        "pages a second": round(pages / seconds),
        "rows inserted a page": round(float(inserted) / pages, 2),
        "rows updated a page": round(float(updated) / pages, 2),
        "of all updates HOT": round(float(hot / updated), 2),
        "of the page's row HOT": round(float(page_hot / page_updates), 2),
        "autovacuums of pages": int(vacuums),
        "dead rows a page": round(float(dead) / pages, 2),
        "KiB a page": round(bytes_stored / 1024 / pages, 2),
        **asked,
    }


def ask(store: Store, site: str) -> dict[str, float]:
    """Milliseconds of some questions, the median of many times."""
    questions = {
        "page found, ms": lambda: store.pages.find(f"{site}/7"),
        "site listed, ms": lambda: store.pages.lines(site),
        "site read with HTML, ms": lambda: list(store.pages.with_html(site)),
        "a page in a hundred searched, ms": lambda: store.search("7"),
    }
    return {name: round(1000 * median(times(question)), 2) for name, question in questions.items()}


def times(question: Callable[[], object]) -> Iterator[float]:
    """Seconds that a question takes, again and again."""
    for _ in range(ASKED):
        began = time.perf_counter()
        question()
        yield time.perf_counter() - began


def write_site(store: Store, site: str, *, hashed: bool = False) -> None:
    """Write the pages of a site as a crawl does, and give it a tree."""
    pages = list(made_up(site, hashed=hashed))
    for start in range(0, len(pages), 50):
        some = pages[start : start + 50]
        store.pages.write(some, method="evidence")
        store.pages.write(
            [replace(p, position=None, html=None, cleaned=cleaned(p, 0)) for p in some],
            method="evidence",
        )
    store.clusters.save_tree(
        site,
        method="evidence",
        version=1,
        tree=b"made up",
        learned=PAGES_OF_A_SITE,
        clean=lambda page: cleaned(page, 1),
    )


def made_up(site: str, *, hashed: bool = False) -> Iterator[PageRecord]:
    """Pages as they are when they come in; keys are names, or hashes as in a crawl."""
    for number in range(1, PAGES_OF_A_SITE + 1):
        url = f"https://www.{site}/archive/2025/story-number-{number}.html"
        html = f"<p>Story {number} of {site}: the ferry sails at {number} past noon.</p>" * 4
        key = sha1(url.encode()).hexdigest() if hashed else f"{site}/{number}"
        yield PageRecord(key, site, url, "0" * 32, NOON, number, html)


def cleaned(page: Any, version: int) -> Cleaned:
    """Its text by a tree version."""
    words = f"The ferry of {page.cluster} sails at {page.key} past noon, by version {version}. " * 4
    return Cleaned(f"Story {page.key}", words, (), version, 400, len(words))


if __name__ == "__main__":
    sys.exit(main())
