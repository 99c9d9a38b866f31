"""What hostile pages cost: time and peak memory of each, from bytes to text, markup and metadata.

    python benchmarks/hostile.py
    python benchmarks/hostile.py --method style-tree --out style-tree.json

Every page is somewhat longer than what is read of it, and is read in a process of its own, which
measures itself; that needs Linux. Time is CPU time.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.corpora import environment
from benchmarks.hostile_pages import HOSTILE
from benchmarks.measuring import peak_mib
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.metadata import extract_metadata, load_libraries
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.page import DEFAULT_BUDGET

LIMIT = 120
"""Seconds after which a page is given up."""
VERSIONS = ("noiseclean-scrapy", "lxml", "parsel", "trafilatura")


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; the exit status is 1 where a page was given up or raised an exception."""
    parser = report_parser(__doc__, "hostile")
    parser.add_argument("--page", action="append", choices=HOSTILE, help="default: all")
    parser.add_argument("--method", choices=METHODS, default="evidence")
    args = parser.parse_args(argv)
    figures: dict[str, Any] = environment(VERSIONS)
    measure(args.method, None, 0)  # what is loaded once is loaded before
    figures["ordinary"] = ordinary = in_own_process(args.method, None, 0)
    rows: dict[str, Any] = {}
    figures["pages"] = rows
    for name in args.page or HOSTILE:
        rows[name] = in_own_process(args.method, name, size_of(name))
        publish_figures(args, (), figures)
    publish_figures(args, [_table(rows, most=10 if args.markdown else len(rows))], figures)
    done = [row for row in rows.values() if row]
    print(f"ordinary page: {ordinary['seconds']:.3f} s, {ordinary['mib']:.0f} MiB")
    print(
        f"{len(done)} of {len(rows)} pages; worst: {max(row['seconds'] for row in done):.1f} s, "
        f"{max(row['mib'] for row in done):.0f} MiB"
    )
    return any("seconds" not in row for row in rows.values())


def size_of(name: str) -> int:
    """The size at which a page is a fifth longer than what is read of it."""
    make = HOSTILE[name]
    unit = (len(make(2000)) - len(make(1000))) / 1000
    return int(min(2_000_000, 1.2 * DEFAULT_BUDGET.markup / max(unit, 1)))


def in_own_process(method: str, name: str | None, size: int) -> dict[str, Any]:
    """`measure` in a new process; empty where it took too long or failed."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=lambda: theirs.send(measure(method, name, size)))
    process.start()
    theirs.close()
    try:
        found: dict[str, Any] = ours.recv() if ours.poll(LIMIT) else {}
    except EOFError:
        found = {}
    process.kill()
    process.join()
    return found


def measure(method: str, name: str | None, size: int) -> dict[str, Any]:
    """Learn and clean one page after an ordinary one: CPU seconds by step, and MiB beyond it."""
    ordinary = next(page.html for page in DemoSite().pages.values() if "article" in page.html)
    data = HOSTILE[name](size) if name else ordinary.encode()
    cleaner = SiteCleaner(method)
    load_libraries()
    cleaner.observe(ordinary)
    extract_metadata(ordinary, url="", text=cleaner.clean(ordinary).text)
    before = peak_mib()
    times = [time.process_time()]
    cleaner.observe(data)
    times.append(time.process_time())
    clean = cleaner.clean(data)
    text = clean.text
    times.append(time.process_time())
    _ = clean.html, clean.markdown, clean.blocks
    times.append(time.process_time())
    extract_metadata(data, url="", text=text)
    times.append(time.process_time())
    cleaner.to_bytes()
    times.append(time.process_time())
    steps = ("learn", "clean", "markup", "metadata", "save")
    return {
        "bytes": len(data),
        "blocks": len(clean.blocks),
        "truncated": clean.truncated,
        "characters_lost": clean.characters_lost,
        **{step: round(b - a, 4) for step, a, b in zip(steps, times, times[1:], strict=False)},
        "seconds": round(times[-1] - times[0], 3),
        "mib": round(peak_mib() - before, 1),
    }


def _table(rows: dict[str, Any], most: int) -> Table:
    """The pages that cost most."""
    order = sorted(rows, key=lambda name: -rows[name].get("seconds", LIMIT))
    columns = ("MB", "blocks", "cut", "learn", "clean", "markup", "metadata", "seconds", "MiB")
    lines = [(name, *_cells(rows[name])) for name in order[:most]]
    return Table("Hostile pages, the worst first", ["page", *columns], lines)


def _cells(row: dict[str, Any]) -> list[str]:
    if not row:
        return ["", "", "", "", "", "", "", "given up", ""]
    steps = [f"{row[step]:.2f}" for step in ("learn", "clean", "markup", "metadata", "seconds")]
    size, cut = f"{row['bytes'] / 1e6:.1f}", "yes" if row["truncated"] else ""
    return [size, str(row["blocks"]), cut, *steps, f"{row['mib']:.0f}"]


if __name__ == "__main__":
    sys.exit(main())
