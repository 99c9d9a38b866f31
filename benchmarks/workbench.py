"""The workbench on a large database: how long the first page of each view takes, and its memory.

    python -m benchmarks.workbench --markdown workbench.md
    python -m benchmarks.workbench --pages 1000

The pages are those of the demo newspaper, again and again under other addresses, as sites of a
thousand pages. A real server answers over the loopback interface; each view is asked for five
times. Its memory is read before the first request and after all of them.
"""

from __future__ import annotations

import http.client
import logging
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from hashlib import sha1
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep
from typing import Any
from urllib.parse import urlsplit

from benchmarks.corpora import environment
from benchmarks.measuring import resident_mib
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.store import Cleaned, PageRecord, Store

PAGES, PAGES_OF_SITE = 100_000, 1000
ROUNDS = 5
VIEWS = {
    "sites": "/",
    "one site": "/sites/0.example",
    "search, a rare word": "/search?q=monastery",
    "search, a common word": "/search?q=harbour",
    "a page": "/pages/{key}",
    "a page's frame": "/frames/{key}",
    "where a part stands": "/api/pages/{key}/places?block=3",
    "review": "/review",
    "rules": "/rules",
}
VERSIONS = ("noiseclean-scrapy", "starlette", "uvicorn", "sqlalchemy")
_START = datetime(2031, 1, 1, tzinfo=timezone.utc)


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = report_parser(__doc__, "workbench")
    parser.add_argument("--pages", type=int, default=PAGES)
    args = parser.parse_args(argv)
    logging.disable(logging.INFO)
    with TemporaryDirectory() as folder:
        database = Path(folder, "large.db")
        fill(database, args.pages)
        figures = {**environment(VERSIONS), "pages": args.pages, **measure(database)}
    publish_figures(args, [table(figures)], figures)
    return 0


def fill(database: Path, pages: int) -> None:
    """Store so many pages, and a tree for each thousand of them."""
    config = Config(store_html=True)
    cleaner = SiteCleaner()
    demo = [(path, page.html) for path, page in DemoSite().pages.items()]
    for path, html in demo:
        cleaner.observe(html, url=f"https://0.example{path}")
    made = [
        (path, html, to_record(cleaner.clean(html, url=f"https://0.example{path}"), 1, config))
        for path, html in demo
    ]
    tree = cleaner.to_bytes()
    with Store(f"sqlite:///{database}", store_html=True) as store:
        for first in range(0, pages, PAGES_OF_SITE):
            site = f"{first // PAGES_OF_SITE}.example"
            numbers = range(first, min(first + PAGES_OF_SITE, pages))
            records = [_record(site, number, *made[number % len(made)]) for number in numbers]
            store.pages.write(records, method="evidence")
            learned = len(records)
            store.clusters.save_tree(
                site, method="evidence", version=1, tree=tree, learned=learned, clean=lambda _: None
            )


def _record(site: str, number: int, path: str, html: str, cleaned: Cleaned) -> PageRecord:
    return PageRecord(
        key=sha1(str(number).encode()).hexdigest(),
        cluster=site,
        url=f"https://{site}{path}?{number}",
        body_hash=f"{number}",
        fetched_at=_START + timedelta(minutes=number),
        position=number % PAGES_OF_SITE + 1,
        html=html,
        cleaned=cleaned,
    )


def measure(database: Path) -> dict[str, Any]:
    """Seconds of each view, and megabytes of the server before and after."""
    command = [*(sys.executable, "-m", "noiseclean_scrapy", "serve", str(database))]
    command += ["--no-open", "--port", "0", "--read-only"]
    started = monotonic()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        found = re.search(r"http://(\S+)/open", process.stderr.readline())
        assert found
        start = monotonic() - started
        try:
            address = urlsplit(f"//{found[1]}").netloc
            before = resident_mib(process.pid)
            key = str(ask(address, "/api/pages?limit=1&site=0.example")[1]).split('"key": "')[1]
            key = key.partition('"')[0]
            while '"is_ready": false' in ask(address, "/api/review")[1]:
                sleep(0.5)
            seconds = {
                name: [ask(address, path.format(key=key))[0] for _ in range(ROUNDS)]
                for name, path in VIEWS.items()
            }
            after = resident_mib(process.pid)
        finally:
            process.terminate()
    return {"start": start, "seconds": seconds, "megabytes": {"before": before, "after": after}}


def ask(address: str, path: str) -> tuple[float, str]:
    """Seconds until the whole answer is there, and the answer."""
    started = perf_counter()
    connection = http.client.HTTPConnection(address, timeout=600)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 200, (path, text)
    connection.close()
    return perf_counter() - started, text


def table(figures: Any) -> Table:
    """Milliseconds of each view: the first answer, and the slowest of those after it."""
    rows = [
        [name, f"{1000 * first:.0f} ms", f"{1000 * max(rest):.0f} ms"]
        for name, (first, *rest) in figures["seconds"].items()
    ]
    before, after = (figures["megabytes"][name] for name in ("before", "after"))
    rows.append(["memory of the server", f"{before:.0f} MB", f"{after:.0f} MB"])
    title = f"The workbench on {figures['pages']:,} stored pages"
    return Table(title, ["view", "first answer", "later answers"], rows)


if __name__ == "__main__":
    sys.exit(main())
