"""Cleaning archives of any size with Spark: the pages and texts of `scrapy noiseclean clean`.

Runs with `spark-submit` and with `python -m noiseclean_scrapy.batch.spark`; see `clean_archives`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from noiseclean_scrapy.batch import spark_tasks as tasks
from noiseclean_scrapy.batch.spark_input import list_archives
from noiseclean_scrapy.batch.spark_output import Output, describe
from noiseclean_scrapy.batch.two_pass import CONTENTS
from noiseclean_scrapy.commands.base import Call, add_method_options, setting, whole_number
from noiseclean_scrapy.commands.output import counted, tell
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError, NoiseCleanError
from noiseclean_scrapy.urls import shown_url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHARE_PAGES = 50_000
"""Pages of one site that one task cleans; a larger site is cleaned by several."""
_SESSION = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
_SITE_ORDER = ("key", "file", "record")


def clean_archives(
    spark: SparkSession,
    inputs: Sequence[str],
    output: str,
    *,
    config: Config | None = None,
    content: str = "text",
    base: str = "",
    partitions: int | None = None,
    share_pages: int = SHARE_PAGES,
    overwrite: bool = False,
) -> dict[str, int]:
    """Clean the pages of WARC and WACZ files, each with the tree of its site; counts of the job.

    `inputs` are paths of archives, or of lists of paths, before each of which goes `base`. Below
    the path `output` stand `sites` (the trees), `pages` (the texts, by site hash) and `report`.
    What is written does not depend on `partitions`, the number of tasks in a stage (default: one an
    archive, and no fewer than Spark has cores), nor on `share_pages`, the most pages of one site in
    a task of the second pass.

    A job that `output` holds complete is not run again; one that was interrupted goes on, with the
    trees if they are there. Raises ConfigurationError where `output` holds another job, unless
    `overwrite`, and ArchiveError where a list cannot be read. Broken records and files are counted
    and left out.
    """
    config = config or Config()
    if content not in CONTENTS:
        raise ConfigurationError(f"content={content!r} is none of {', '.join(CONTENTS)}")
    archives = list_archives(inputs, base=base)
    target = Output(spark, output)
    report = target.begin(describe(archives, config, content), overwrite=overwrite)
    if report is not None:
        return report
    slots = spark.sparkContext.defaultParallelism
    account = spark.sparkContext.accumulator({}, _Parts())
    job = tasks.Job(config, content, partitions or max(slots, len(archives)), account)
    with _settings(spark):
        files = _files(spark, archives, job.shards)
        if not target.has("sites"):
            target.write("sites", _sites(files, job))
        sites = target.read("sites")
        target.write("pages", _pages(files, sites, job, share_pages), by="site_hash")
        return target.finish(_report(account.value, archives, sites.count()))


def _files(spark: SparkSession, archives: Sequence[str], partitions: int) -> DataFrame:
    """The archives, spread over the tasks."""
    rows = list(enumerate(archives))
    files = spark.createDataFrame(rows, "file int, source string")
    return files.repartitionById(min(partitions, len(rows)), "file")


def _sites(files: DataFrame, job: tasks.Job) -> DataFrame:
    """Pass one: the trees of all sites."""
    taught = _map(files, partial(tasks.learn_rows, job=job), tasks.TAUGHT)
    # A large site's pages are thinned out in parts before they meet in one task.
    parts = taught.repartition(job.shards, "site", "part")
    parts = parts.sortWithinPartitions("site", "part", *_SITE_ORDER)
    size = job.config.archive_sample
    sampled = _map(parts, partial(tasks.sample_rows, size=size), tasks.TAUGHT)
    whole = sampled.repartition(job.shards, "site").sortWithinPartitions("site", *_SITE_ORDER)
    return _map(whole, partial(tasks.site_rows, config=job.config), tasks.SITES)


def _pages(files: DataFrame, sites: DataFrame, job: tasks.Job, share_pages: int) -> DataFrame:
    """Pass two: the pages, each cleaned where the tree of its site is."""
    large = sites.where(sites["pages"] > share_pages).select("site", "pages").collect()
    shares = {row["site"]: -(-row["pages"] // share_pages) for row in large}
    pages = _map(files, partial(tasks.page_rows, job=job, shares=shares), tasks.PAGES)
    trees = _map(sites, partial(tasks.tree_rows, job=job, shares=shares), tasks.PAGES)
    shards = pages.unionByName(trees).repartitionById(job.shards, "shard")
    shards = shards.sortWithinPartitions("shard", "site", "file", "record")
    schema = tasks.cleaned_schema(job.content)
    return _map(shards, partial(tasks.clean_rows, job=job), schema)


def _map(
    rows: DataFrame,
    function: Callable[[tasks.Batches], Iterator[pa.RecordBatch]],
    schema: pa.Schema,
) -> DataFrame:
    # Spark looks at the function's name and annotations, which a partial has not.
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return function(batches)

    return rows.mapInArrow(run, from_arrow_schema(schema))


def _report(
    parts: Mapping[tuple[str, int], Mapping[str, int]], archives: Sequence[str], sites: int
) -> dict[str, Any]:
    """The sums, and the archives in which something was missing or damaged."""
    read = {part: counts for (kind, part), counts in parts.items() if kind == "read"}
    failed = sum(counts["failed"] for (kind, _), counts in parts.items() if kind == "clean")
    names = ("pages", "missing", "damaged")
    sums = {name: sum(counts[name] for counts in read.values()) for name in names}
    problems = {
        shown_url(archives[part]): {name: counts[name] for name in names}
        for part, counts in sorted(read.items())
        if counts["missing"] or counts["damaged"]
    }
    return {
        "archives": len(archives),
        "sites": sites,
        **sums,
        "failed": failed,
        "problems": problems,
    }


class _Parts(AccumulatorParam[dict[Any, Any]]):
    """Counts by part of a job: a task that runs twice is counted once."""

    def zero(self, value: dict[Any, Any]) -> dict[Any, Any]:
        return {}

    def addInPlace(  # noqa: N802
        self, value1: dict[Any, Any], value2: dict[Any, Any]
    ) -> dict[Any, Any]:
        value1.update(value2)
        return value1


@contextmanager
def _settings(spark: SparkSession) -> Iterator[None]:
    """The session's settings that this job needs; those of before afterwards."""
    before = {name: spark.conf.get(name, None) for name in _SESSION}
    try:
        for name, value in _SESSION.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; its exit code: 0, 1 where nothing was cleaned, 2 for wrong options."""
    opts = _parser().parse_args(arguments)
    try:
        return _run(opts)
    except ConfigurationError as error:
        tell(f"{opts.prog}: {error}")
        return 2
    except NoiseCleanError as error:
        tell(f"{opts.prog}: {error}")
        return 1


def _run(opts: argparse.Namespace) -> int:
    from scrapy.utils.project import get_project_settings

    settings = get_project_settings()
    settings.setdict(dict(opts.set), priority="cmdline")
    config = Call.of(opts, settings).config
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # not started by spark-submit
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("noiseclean").getOrCreate()
    try:
        report = clean_archives(
            spark,
            opts.inputs,
            opts.output,
            config=config,
            content=opts.content,
            base=opts.base,
            partitions=opts.partitions,
            overwrite=opts.overwrite,
        )
    finally:
        spark.stop()
    left_out = ", ".join(f"{report[name]} {name}" for name in ("missing", "damaged", "failed"))
    pages, sites = counted(report["pages"], "page"), counted(report["sites"], "site")
    tell(f"{pages} of {sites} cleaned, written to {opts.output} ({left_out})")
    return 0 if report["pages"] else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="noiseclean_scrapy.batch.spark",
        description="Clean WARC and WACZ files with Spark: every site is learned from its pages, "
        "then each page is cleaned; the texts go to Parquet.",
    )
    parser.set_defaults(prog=parser.prog)
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="+", help=".warc, .warc.gz, .wacz, or a list of such paths"
    )
    parser.add_argument("-o", "--output", metavar="PATH", required=True, help="where to write")
    parser.add_argument(
        "--base", metavar="PREFIX", default="", help="what goes before each path of a list"
    )
    parser.add_argument(
        "--partitions",
        metavar="N",
        type=whole_number,
        help="tasks in a stage (default one an archive)",
    )
    parser.add_argument(
        "--content", choices=CONTENTS, default="text", help="what to write of the content"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace what the output holds of another job"
    )
    parser.add_argument(
        "-s",
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=setting,
        help="a setting, as in Scrapy (may be repeated)",
    )
    add_method_options(parser, "NOISECLEAN_METHOD")
    parser.add_argument("--cluster-by", metavar="WHAT", help="domain, host, template or a callable")
    return parser


if __name__ == "__main__":
    sys.exit(main())
