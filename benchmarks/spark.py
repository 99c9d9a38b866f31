"""Spark on one machine: pages a second by cores, bytes shuffled a page, bytes a tree; one month.

Archives are written from corpora of real pages, and cleaned by local Spark with one core and more,
and by the code of `scrapy noiseclean clean` without Spark. A paper calculation takes the figures
to one month of Common Crawl.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora import ROOT, SHARED, CorpusPage, environment, read_corpus
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.tables import Table
from noiseclean_scrapy.batch.addresses import slug
from noiseclean_scrapy.batch.two_pass import (
    Learning,
    SiteCleaners,
    archive_pages,
    clean_source_page,
)
from noiseclean_scrapy.config import Config

CORPORA = ("cleanportaleval", "big9-dev", "blogs-dev")
CODECS = ("lz4", "zstd")
MONTH = {"pages": 2.6e9, "archives": 90_000, "archive_bytes": 1.0e9, "sites": 38e6}
"""One month of Common Crawl, rounded: its pages, WARC files, their gzipped size, its domains."""
_TREE_CLASSES = ((1, 1), (2, 9), (10, 29), (30, 999))
_TICKS = os.sysconf("SC_CLK_TCK")


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = report_parser(__doc__, "spark")
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--cores", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--archives", type=int, default=8, help="WARC files that are written")
    parser.add_argument("--run", nargs=3, metavar=("FOLDER", "CORES", "CODEC"), help="one job only")
    opts = parser.parse_args(argv)
    if opts.run:
        print(json.dumps(run_job(Path(opts.run[0]), int(opts.run[1]), opts.run[2])))
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = [
            page for corpus in opts.corpora for page in read_corpus(SHARED / "corpora" / corpus)
        ]
        archives = write_archives(folder, pages, opts.archives)
        figures = {
            **environment(["pyspark", "pyarrow", "scrapy"]),
            "corpora": list(opts.corpora),
            "input": {
                "pages": len(pages),
                "archives": len(archives),
                "html_bytes": sum(len(page.html) for page in pages),
                "archive_bytes": sum(path.stat().st_size for path in archives),
            },
            "alone": run_alone(folder, archives),
            "spark": [
                in_own_process(folder, cores, codec)
                for cores, codec in [(n, CODECS[0]) for n in opts.cores]
                + [(opts.cores[-1], CODECS[1])]
            ],
            "trees": tree_sizes(folder / "output"),
        }
    figures["month"] = month(figures)
    publish_figures(opts, tables(figures), figures)
    return 0


def write_archives(folder: Path, pages: Sequence[CorpusPage], number: int) -> list[Path]:
    """The pages as gzipped WARC files, dealt out in turn: each site is in all of them."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    paths = [folder / f"{index}.warc.gz" for index in range(number)]
    for index, path in enumerate(paths):
        with path.open("wb") as stream:
            writer = WARCWriter(stream, gzip=True)
            for page in pages[index::number]:
                url = page.url or f"http://{slug(page.site)}.invalid/{page.id}"
                headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], "HTTP/1.1")
                body = io.BytesIO(page.html)
                record = writer.create_warc_record(url, "response", body, http_headers=headers)
                writer.write_record(record)
    return paths


def run_alone(folder: Path, archives: Sequence[Path]) -> dict[str, float]:
    """The same pages in this process, without Spark; CPU milliseconds a page of each pass."""
    config = Config()
    (folder / "cleaners").mkdir()
    cleaners = SiteCleaners(config, folder / "cleaners", sites_in_memory=1000)

    def pages() -> Iterator[Any]:
        for path in archives:
            yield from archive_pages(path, config)

    first = next(pages())
    clean_source_page(first, cleaners[first.site].model(), config)  # load models and libraries
    start = time.process_time()
    count = sum(1 for _ in Learning(cleaners).learn(pages()))
    learned = time.process_time()
    for page in pages():
        clean_source_page(page, cleaners[page.site].model(), config)
    cleaned = time.process_time()
    return {
        "learn_ms": round(1e3 * (learned - start) / count, 2),
        "clean_ms": round(1e3 * (cleaned - learned) / count, 2),
    }


def in_own_process(folder: Path, cores: int, codec: str) -> dict[str, Any]:
    """`run_job` in a new process, with a Java machine of its own."""
    command = [sys.executable, "-m", "benchmarks.spark", "--run", str(folder), str(cores), codec]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_job(folder: Path, cores: int, codec: str) -> dict[str, Any]:
    """One job with warm workers: pages a second, CPU of Java and of Python, bytes shuffled.

    Pages a second hold for a machine with that load, pages a core and second for any.
    """
    from pyspark.sql import SparkSession

    from noiseclean_scrapy.batch.spark import clean_archives

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    os.environ["PYTHONPATH"] = str(ROOT)
    events = folder / f"events-{cores}-{codec}"
    events.mkdir()
    spark = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.io.compression.codec", codec)
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.compress", "false")
        .config("spark.eventLog.rolling.enabled", "false")
        .config("spark.eventLog.dir", events.as_uri())
        .getOrCreate()
    )
    archives = sorted(map(str, folder.glob("*.warc.gz")))
    # Java compiles and the workers import in the first job.
    clean_archives(spark, archives[:cores], str(folder / "warm"), overwrite=True)
    shutil.rmtree(folder / "output", ignore_errors=True)
    cpu, start = _cpu_seconds(), time.perf_counter()
    pages = clean_archives(spark, archives, str(folder / "output"))["pages"]
    seconds, used = time.perf_counter() - start, _cpu_seconds()
    spark.stop()
    spent = {name: used[name] - cpu[name] for name in used}
    return {
        "load": round(os.getloadavg()[0], 1),
        "cores": cores,
        "codec": codec,
        "pages": pages,
        "seconds": round(seconds, 1),
        "pages_a_second": round(pages / seconds, 1),
        "python_ms": round(1e3 * spent["python"] / pages, 2),
        "java_ms": round(1e3 * spent["java"] / pages, 2),
        "pages_a_core_second": round(pages / (spent["python"] + spent["java"]), 1),
        "output_bytes": round(_size(folder / "output" / "pages") / pages),
        **{f"{name}_shuffle_bytes": round(n / pages) for name, n in _shuffled(events).items()},
    }


def tree_sizes(output: Path) -> dict[str, Any]:
    """Bytes of the sites' trees, by the number of pages that each has learned."""
    import pyarrow.dataset

    rows = pyarrow.dataset.dataset(output / "sites").to_table().to_pylist()
    classes = {}
    for least, most in _TREE_CLASSES:
        chosen = [row for row in rows if least <= row["learned_pages"] <= most]
        if chosen:
            pages = sum(row["learned_pages"] for row in chosen)
            sizes = [len(row["tree"]) for row in chosen]
            classes[f"{least} to {most}"] = {
                "sites": len(chosen),
                "pages": round(pages),
                "bytes_a_site": round(statistics.mean(sizes)),
                "largest": max(sizes),
                "bytes_a_page": round(sum(sizes) / pages),
            }
    return classes


def month(report: Mapping[str, Any]) -> dict[str, float]:
    """The figures taken to one month of Common Crawl, on paper.

    Time, taught trees and texts go by the page. What is shuffled of the HTML goes by the bytes of
    the archives, since pages differ in size from one collection to the other. A site's tree is
    taken to cost as much a page as those of sites of 10 pages and more do.
    """
    job = report["spark"][-1]
    given = report["input"]
    pages, archives = MONTH["pages"], MONTH["archives"]
    stored = archives * MONTH["archive_bytes"]
    share = job["pages_shuffle_bytes"] * given["pages"] / given["archive_bytes"]
    large = [row for row in report["trees"].values() if row["pages"] / row["sites"] >= 10]
    tree = sum(r["bytes_a_page"] * r["pages"] for r in large) / sum(r["pages"] for r in large)
    cpu = (job["python_ms"] + job["java_ms"]) / 1e3
    return {
        "core_hours": round(pages * cpu / 3600),
        "hours_on_1000_cores": round(pages * cpu / 3600 / 1000, 1),
        "read_tb": round(2 * stored / 1e12, 1),
        "taught_shuffle_tb": round(pages * job["sites_shuffle_bytes"] / 1e12, 1),
        "html_shuffle_tb": round(stored * share / 1e12, 1),
        "trees_tb": round(pages * tree / 1e12, 1),
        "output_tb": round(pages * job["output_bytes"] / 1e12, 1),
        "pages_a_task": round(pages / archives),
        "task_minutes": round(pages / archives * cpu / 2 / 60, 1),
        "shard_mb": round(stored * share / archives / 1e6),
    }


def tables(report: Mapping[str, Any]) -> Iterator[Table]:
    """The report's tables."""
    given, alone = report["input"], report["alone"]
    what = f"{given['pages']} pages, {given['archives']} archives of "
    what += f"{given['archive_bytes'] / given['archives'] / 1e6:.1f} MB"
    costs = ("pages_a_second", "load", "pages_a_core_second", "python_ms", "java_ms")
    names = [*costs, "sites_shuffle_bytes", "pages_shuffle_bytes"]
    both = round(alone["learn_ms"] + alone["clean_ms"], 2)
    yield Table(
        f"Spark on one machine ({what})",
        ["", *(name.replace("_", " ") for name in names)],
        [
            ["without Spark", "", "", str(round(1e3 / both, 1)), str(both), "", "", ""],
            *(
                [f"{job['cores']} cores, {job['codec']}", *(str(job[name]) for name in names)]
                for job in report["spark"]
            ),
        ],
    )
    columns = ("sites", "bytes_a_site", "largest", "bytes_a_page")
    yield Table(
        "Trees by pages learned",
        ["pages of a site", *(name.replace("_", " ") for name in columns)],
        [[name, *(str(row[c]) for c in columns)] for name, row in report["trees"].items()],
    )
    yield Table(
        "One month of Common Crawl, on paper",
        ["figure", "value"],
        [[name.replace("_", " "), f"{value:,}"] for name, value in report["month"].items()],
    )


def _shuffled(events: Path) -> dict[str, int]:
    """Bytes that tasks wrote for other tasks, by the part of the last job; from the event log."""
    written = {"sites": 0, "pages": 0}
    parts: dict[int, str] = {}
    for event in _events(events):
        if event["Event"] == "SparkListenerJobStart":
            name = (event.get("Properties") or {}).get("spark.job.description", "")
            part = name.removeprefix("noiseclean: ")
            if part == "sites" and "pages" in parts.values():
                written, parts = {"sites": 0, "pages": 0}, {}  # the warm-up is over
            if part in written:
                parts.update(dict.fromkeys(event["Stage IDs"], part))
        elif event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in parts:
            metrics = (event.get("Task Metrics") or {}).get("Shuffle Write Metrics", {})
            written[parts[event["Stage ID"]]] += metrics.get("Shuffle Bytes Written", 0)
    return written


def _events(folder: Path) -> Iterator[dict[str, Any]]:
    for path in folder.iterdir():
        data = path.read_bytes()
        text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        yield from map(json.loads, text.splitlines())


def _cpu_seconds() -> dict[str, float]:
    """CPU seconds of the processes below this one, Java's apart from Python's (Linux)."""
    parents, used = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                text = (folder / "stat").read_text()
            except OSError:
                continue
            name, rest = text.partition("(")[2].rsplit(")", 1)
            values = rest.split()
            parents[int(folder.name)] = int(values[1])
            used[int(folder.name)] = (name, sum(map(int, values[11:15])) / _TICKS)
    sums = {"python": 0.0, "java": 0.0}
    for process in _below(os.getpid(), parents):
        name, seconds = used[process]
        sums["java" if name.startswith("java") else "python"] += seconds
    return sums


def _below(process: int, parents: Mapping[int, int]) -> Iterable[int]:
    found = [process]
    for above in found:
        found.extend(child for child, parent in parents.items() if parent == above)
    return found[1:]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


if __name__ == "__main__":
    sys.exit(main())
