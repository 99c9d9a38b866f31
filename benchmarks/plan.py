"""What a crawl of many machines needs, and what breaks first: arithmetic from stated rates.

    python -m benchmarks.plan                          # a billion pages in 30 days
    python -m benchmarks.plan --pages 1e8 --parts 1 --set crawler_cores=8
    python -m benchmarks.plan --segment-size 9000 --segment-size 1000  # Spark, a month of archives

Nothing is measured here: costs of a page are those of `docs/scale.md`, and whatever is assumed is a
rate with a name, which `--set NAME=VALUE` changes. Sites have sizes by a Pareto law: most are small
and a few are huge. A row is a resource: what it is asked for, what there is, and the share in use;
above 100 % it breaks. With --segment-size: what Spark shuffles, all archives at once and by
segment.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.tables import Table

DAY = 86_400
KIB, GIB, TB = 2**10, 2**30, 1e12
RATES: Mapping[str, float] = {
    # The crawl
    "days": 30,
    "sites": 1e7,
    "pareto": 1.1,  # exponent of the sizes of sites: P(pages > n) falls as n ** -pareto
    "delay": 1.0,  # s between two requests of a site
    "left": 0.05,  # share of the pages that may be left over
    "failures": 0.15,  # requests that give no page
    "seen": 5,  # different addresses seen for each page fetched
    "links": 23,  # links pushed for each page, known ones included
    "kib": 25,  # of a page over the network, compressed
    "hosts": 1.5,  # names to resolve for each site
    # Costs of a page, see docs/scale.md
    "crawler_ms": 80,
    "database_ms": 3.2,
    # 74, and what rows cost more among ten million pages (benchmarks/rows.py --filled)
    "wal_kib": 100,
    "stored_kib": 50,
    "updates": 6.1,
    "vacuum_s": 27,  # of a million pages, a fifth of them dead; by the same
    "transactions": 2.4,
    # By benchmarks/frontier.py with ten million requests
    "seen_bytes": 76,
    "waiting_bytes": 274,  # beside its address
    "known_pushes": 60_000,  # a second by one Redis, and new ones
    "new_pushes": 18_900,
    "waiting": 0.1,  # share of the addresses seen that wait, at most
    # What there is, of one part
    "crawler_cores": 5,
    "sites_at_once": 100,  # of one process (CONCURRENT_REQUESTS)
    "database_cores": 8,
    "disk_tb": 8,
    "wal_mib_s": 100,
    "redis_gib": 64,
    "redis_copies": 2,  # a fork that saves, and a replica on a machine of its own: 2 here
    "connections": 100,
    "connections_each": 15,
    "dead_share": 0.2,  # of the pages, when autovacuum clears them away
    "transaction_ids": 2e8,  # autovacuum_freeze_max_age
    "freeze_days": 3,  # between two runs of autovacuum that freeze all tables
    "mbit_s": 1000,
    "dns_s": 500,  # answers of the resolver
    "backup_mib_s": 200,
    # Spark on a month of Common Crawl, see docs/archives.md, Sizing
    "archives": 90_000,
    "html_mb": 800,  # shuffled of an archive, with zstd
    "trees_tb": 3.3,  # of all sites
}


class Need(NamedTuple):
    """A resource of one part: its need and what there is, in one unit."""

    name: str
    need: float
    there: float
    unit: str

    @property
    def share(self) -> float:
        return self.need / self.there


class Shuffles(NamedTuple):
    """What Spark shuffles in segments of some archives each."""

    segments: int
    at_once: float  # blocks of the largest shuffle: a segment's map tasks by its reduce tasks
    blocks: float  # of these shuffles of all segments
    block_kb: float  # HTML in a block
    trees_tb: float  # of both passes: each segment shuffles all the trees that there are


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=float, default=1e9, help="to be stored")
    parser.add_argument("--parts", type=int, default=10, help="of Redis, PostgreSQL, crawlers")
    parser.add_argument("--no-search", action="store_true", help="NOISECLEAN_SEARCH = False")
    parser.add_argument("--segment-size", type=int, action="append", help="archives; for Spark")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a rate")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    args = parser.parse_args(argv)
    rates = dict(RATES)
    for given in args.set:
        name, _, value = given.partition("=")
        if name not in rates:
            parser.error(f"there is no rate {name!r}: {', '.join(rates)}")
        rates[name] = float(value)
    if args.segment_size:
        table = shuffles_table([int(rates["archives"]), *args.segment_size], rates)
        print(table.to_markdown()) if args.markdown else Console().print(table.to_rich())
        return 0
    if args.no_search:
        rates["stored_kib"] *= 0.5
    needs = sorted(plan(args.pages, args.parts, rates), key=lambda need: -need.share)
    rows = [
        [n.name, f"{n.need:,.4g} {n.unit}", f"{n.there:,.4g} {n.unit}", f"{n.share:.0%}"]
        for n in needs
    ]
    title = f"{args.pages:,.0f} pages in {rates['days']:g} days, {args.parts} parts: one part"
    table = Table(title, ["resource", "needed", "there", "in use"], rows)
    print(table.to_markdown()) if args.markdown else Console().print(table.to_rich())
    broken = [need.name for need in needs if need.share > 1]
    print(f"Breaks first: {broken[0]}" if broken else "Nothing breaks.")
    return 1 if broken else 0


def plan(pages: float, parts: int, rates: Mapping[str, float]) -> list[Need]:
    """What one of the parts needs."""
    r = dict(rates)
    pages, sites = pages / parts, r["sites"] / parts
    seconds = r["days"] * DAY
    rate = pages / seconds
    requests = rate / (1 - r["failures"])
    processes = max(1.0, r["crawler_cores"])
    # A process holds a site for each request that waits for its delay.
    at_once = requests * r["delay"]
    seen = pages * r["seen"]
    redis = seen * (r["seen_bytes"] + r["waiting"] * r["waiting_bytes"]) * r["redis_copies"]
    new = rate * r["seen"]
    pushing = new / r["new_pushes"] + (rate * r["links"] - new) / r["known_pushes"]
    stored = pages * r["stored_kib"] * KIB
    transactions = pages * r["transactions"]
    left = late(pages, sites, r)
    return [
        Need("pages of sites too large for their delay", left, r["left"] * pages, "pages"),
        Need("crawlers' processor", requests * r["crawler_ms"] / 1e3, r["crawler_cores"], "cores"),
        Need("sites at a time", at_once, processes * r["sites_at_once"], ""),
        Need("database's processor", rate * r["database_ms"] / 1e3, r["database_cores"], "cores"),
        Need("database's disk", stored / TB, r["disk_tb"], "TB"),
        Need("WAL", rate * r["wal_kib"] / KIB, r["wal_mib_s"], "MiB/s"),
        Need("vacuum", rate * r["updates"] / r["dead_share"] / 1e6 * r["vacuum_s"], 1, "workers"),
        Need(
            "transaction ids between two freezes",
            transactions / r["days"] * r["freeze_days"],
            r["transaction_ids"],
            "",
        ),
        Need("database connections", processes * r["connections_each"], r["connections"], ""),
        Need("Redis's memory, with its copies", redis / GIB, r["redis_gib"], "GiB"),
        Need("Redis's processor (pushes)", pushing, 1, "cores"),
        Need("bandwidth", requests * r["kib"] * KIB * 8 / 1e6, r["mbit_s"], "Mbit/s"),
        Need("names resolved", sites * r["hosts"] / seconds, r["dns_s"], "/s"),
        Need("backup in a day", stored / 2**20 / r["backup_mib_s"] / DAY, 1, "days"),
    ]


def shuffles_table(sizes: Sequence[int], rates: Mapping[str, float]) -> Table:
    """A row for each size of a segment."""
    columns = ["archives a segment", "segments", "blocks at once", "blocks in all"]
    rows = []
    for size in sizes:
        of = shuffles(int(rates["archives"]), size, rates)
        row = [size, of.segments, of.at_once, of.blocks, of.block_kb, of.trees_tb]
        rows.append([f"{value:,.4g}" if value < 1000 else f"{value:,.0f}" for value in row])
    title = f"What Spark shuffles of {rates['archives']:,.0f} archives"
    return Table(title, [*columns, "HTML a block, kB", "trees shuffled, TB"], rows)


def shuffles(archives: int, size: int, rates: Mapping[str, float]) -> Shuffles:
    """A task and a shard for each archive of a segment, as the Spark job has them.

    When k of n segments are learned there are k / n of the trees: the next one learns on those, and
    each segment is cleaned with all of them.
    """
    size = min(size, archives)
    segments = -(-archives // size)
    last = archives - (segments - 1) * size
    blocks = (segments - 1) * size**2 + last**2
    trees = rates["trees_tb"] * (segments + (segments - 1) / 2)
    return Shuffles(segments, size**2, blocks, rates["html_mb"] * 1000 / size, trees)


def late(pages: float, sites: float, rates: Mapping[str, float]) -> float:
    """Pages that their sites' delays leave over when the time is up."""
    most = rates["days"] * DAY / rates["delay"]
    return float(np.maximum(site_sizes(pages, sites, rates["pareto"]) - most, 0.0).sum())


def site_sizes(pages: float, sites: float, pareto: float) -> NDArray[np.float64]:
    """The pages of each site, the largest first.

    The site of rank r of n has ((r - 0.5) / n) ** (-1 / pareto) pages, scaled to their number.
    """
    sizes = (np.arange(1, int(sites) + 1) - 0.5) ** (-1 / pareto)
    return np.asarray(sizes * (pages / float(sizes.sum())), dtype=np.float64)


if __name__ == "__main__":
    sys.exit(main())
