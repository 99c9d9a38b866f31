"""Cleaning archives of any size with Spark: the pages and texts of `scrapy noiseclean clean`.

Runs with `spark-submit` and with `python -m noiseclean_scrapy.batch.spark`; see `clean_archives`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.accumulators import AccumulatorParam
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from noiseclean_scrapy.batch import spark_tasks as tasks
from noiseclean_scrapy.batch.spark_input import is_there, list_archives
from noiseclean_scrapy.batch.spark_output import Output, describe
from noiseclean_scrapy.batch.two_pass import CONTENTS
from noiseclean_scrapy.commands.base import (
    Call,
    add_method_options,
    add_setting_option,
    whole_number,
)
from noiseclean_scrapy.commands.output import counted, tell
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError, JobError, NoiseCleanError
from noiseclean_scrapy.service_urls import shown_url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHARE_PAGES = 50_000
"""Pages of one site that one task cleans; a larger site is cleaned by several."""
MAX_FAILED = 0.01
"""The share of the pages that may fail in a job that ends well."""
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
    max_failed: float = MAX_FAILED,
) -> dict[str, Any]:
    """Clean the pages of WARC and WACZ files, each with the tree of its site; counts of the job.

    `inputs` are paths of archives, or of lists of paths, before each of which goes `base`. Below
    the path `output` stand `sites` (the trees), `pages` (the texts, by site hash) and `report`.
    What is written does not depend on `partitions`, the number of tasks in a stage (default: one an
    archive, and no fewer than Spark has cores), nor on `share_pages`, the most pages of one site in
    a task of the second pass.

    A job that `output` holds complete is not run again; one that was interrupted goes on, with the
    trees if they are there; one from which archives were missing reads them if they are there now.
    Broken records and files, and pages that fail, are counted and left out.

    Raises ConfigurationError where `output` holds another job, unless `overwrite`; ArchiveError
    where a list cannot be read; JobError where a page cannot be learned and cleaned here or on a
    worker, or where a share above `max_failed` of the pages failed; Spark's errors where a task
    fails, among others because an archive is there and cannot be read.
    """
    config = config or Config()
    if content not in CONTENTS:
        raise ConfigurationError(f"content={content!r} is none of {', '.join(CONTENTS)}")
    archives = list_archives(inputs, base=base)
    target = Output(spark, output)
    report = target.begin(describe(archives, config, content), overwrite=overwrite)
    if report is not None and not _forget_missing(target, report, archives):
        return report
    slots = spark.sparkContext.defaultParallelism
    account = spark.sparkContext.accumulator({}, _Parts())
    job = tasks.Job(config, content, partitions or max(slots, len(archives)), account)
    with _settings(spark):
        _check(spark, config)
        learned = target.told("learned")
        if learned is None:
            target.write("sites", _sites(_files(spark, enumerate(archives), job), job))
            learned = _sums(account.value, "learn", archives)
            _bound(learned, "learned", max_failed)
            target.tell("learned", learned)
        sites = target.read("sites")
        # What was missing in the first pass is in no tree.
        missing = _missing(learned)
        there = [(n, path) for n, path in enumerate(archives) if shown_url(path) not in missing]
        pages = _pages(_files(spark, there, job), sites, job, share_pages)
        target.write("pages", pages, by="site_hash")
        report = _report(account.value, archives, learned, sites.count())
        _bound(report, "cleaned", max_failed)
        return target.tell("report", report)


def _check(spark: SparkSession, config: Config) -> None:
    """Load all that pages need once in the driver and once on a worker."""

    def on_worker(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            tasks.check(config)
            yield batch

    try:
        place = "the driver"
        tasks.check(config)
        place = "a worker"
        spark.range(1).mapInArrow(on_worker, "id long").collect()
    except Exception as error:
        raise JobError(f"{place} cannot learn and clean a page: {short_reason(error)}") from error


def _forget_missing(target: Output, report: Mapping[str, Any], archives: Sequence[str]) -> bool:
    """Make a finished job unfinished where an archive is there now that was missing; whether."""
    missing = _missing(report)
    found = {shown_url(path) for path in archives if shown_url(path) in missing and is_there(path)}
    if found & _missing(target.told("learned") or {}):
        target.forget("report", "pages", "learned", "sites")
    elif found:
        target.forget("report", "pages")
    return bool(found)


def _missing(told: Mapping[str, Any]) -> set[str]:
    problems = told.get("problems", {})
    return {path for path, counts in problems.items() if counts["missing"]}


def _bound(told: Mapping[str, Any], what: str, max_failed: float) -> None:
    failed, pages = told["failed"], told["pages"]
    if failed > max_failed * pages:
        raise JobError(
            f"{failed} of {counted(pages, 'page')} could not be {what}, more than the share of "
            f"{max_failed:g} that may fail; the first: {told['reason']}"
        )


def short_reason(error: Exception) -> str:
    """The line of Spark's many that says what went wrong."""
    lines = [line.strip() for line in str(error).splitlines()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception): ", line)]
    return (named or lines or [repr(error)])[-1 if named else 0][:300]


def _files(spark: SparkSession, archives: Iterable[tuple[int, str]], job: tasks.Job) -> DataFrame:
    """The archives with their numbers, spread over the tasks."""
    rows = list(archives)
    files = spark.createDataFrame(rows, "file int, source string")
    return files.repartitionById(max(1, min(job.shards, len(rows))), "file")


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


def _sums(
    parts: Mapping[tasks.Part, tasks.Counts], kind: str, archives: Sequence[str]
) -> dict[str, Any]:
    """The sums over the archives in one pass, and those in which something was missing."""
    read = {part: counts for (of, part), counts in sorted(parts.items()) if of == kind}
    names = ("pages", "missing", "damaged")
    return {
        **{name: sum(getattr(counts, name) for counts in read.values()) for name in names},
        **_failures(read.values()),
        "problems": {
            shown_url(archives[part]): {name: getattr(counts, name) for name in names}
            for part, counts in read.items()
            if counts.missing or counts.damaged
        },
    }


def _failures(parts: Iterable[tasks.Counts]) -> dict[str, Any]:
    failed = [counts for counts in parts if counts.failed]
    reason = failed[0].reason if failed else ""
    return {"failed": sum(counts.failed for counts in failed), "reason": reason}


def _report(
    parts: Mapping[tasks.Part, tasks.Counts],
    archives: Sequence[str],
    learned: Mapping[str, Any],
    sites: int,
) -> dict[str, Any]:
    """What became of the archives and of their pages."""
    sums = _sums(parts, "read", archives)
    cleaned = _failures(counts for (of, _), counts in sorted(parts.items()) if of == "clean")
    absent = {path: learned["problems"][path] for path in _missing(learned)}
    missing = sums["missing"] + len(absent)
    return {
        "archives": len(archives),
        "sites": sites,
        **sums,
        "missing": missing,
        "not_learned": learned["failed"],
        **cleaned,
        "complete": not missing,
        "problems": {**absent, **sums["problems"]},
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
    """The command line; its exit code: 2 for wrong options, 1 where the job is not complete."""
    opts = _parser().parse_args(arguments)
    try:
        return _run(opts)
    except ConfigurationError as error:
        tell(f"{opts.prog}: {error}")
        return 2
    except NoiseCleanError as error:
        tell(f"{opts.prog}: {error}")
    except (Py4JError, PySparkException) as error:
        tell(f"{opts.prog}: Spark gave up, run it again to go on: {short_reason(error)}")
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
            max_failed=opts.max_failed,
        )
    finally:
        spark.stop()
    left_out = ", ".join(f"{report[name]} {name}" for name in ("missing", "damaged", "failed"))
    pages, sites = counted(report["pages"], "page"), counted(report["sites"], "site")
    tell(f"{pages} of {sites} cleaned, written to {opts.output} ({left_out})")
    if report["missing"]:
        tell("What is missing keeps the job from being complete: run it again when it is there")
    return 0 if report["pages"] and not report["missing"] else 1


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
        "--max-failed",
        metavar="SHARE",
        type=_share,
        default=MAX_FAILED,
        help=f"share of the pages that may fail (default {MAX_FAILED})",
    )
    add_setting_option(parser)
    add_method_options(parser, "NOISECLEAN_METHOD")
    parser.add_argument("--cluster-by", metavar="WHAT", help="domain, host, template or a callable")
    return parser


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, not {text!r}")
    return share


if __name__ == "__main__":
    sys.exit(main())
