"""Cleaning archives of any size with Spark: the pages and texts of `scrapy noiseclean clean`.

Runs with `spark-submit` and with `python -m noiseclean_scrapy.batch.spark`; see `clean_archives`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

try:
    import pyarrow as pa
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession
except ModuleNotFoundError as error:
    hint = f"{error}: pip install 'noiseclean-scrapy[spark]'"
    if __name__ == "__main__":
        sys.exit(hint)
    raise ModuleNotFoundError(hint, name=error.name) from error

from noiseclean_scrapy.batch import spark_tasks as tasks
from noiseclean_scrapy.batch.spark_input import list_archives
from noiseclean_scrapy.batch.spark_output import Output, describe
from noiseclean_scrapy.batch.spark_report import report_of, short_reason
from noiseclean_scrapy.batch.spark_steps import Steps
from noiseclean_scrapy.batch.two_pass import WRITTEN
from noiseclean_scrapy.commands.base import (
    Call,
    HelpFormatter,
    add_method_options,
    add_setting_option,
    put_in,
    whole_number,
)
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError, JobError, NoiseCleanError
from noiseclean_scrapy.page.characters import counted

SHARE_PAGES = 50_000
"""Pages of one site that one task cleans; a larger site is cleaned by several."""
MAX_FAILED = 0.01
"""The share of the pages that may fail in a job that ends well."""
_SESSION = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


def clean_archives(
    spark: SparkSession,
    inputs: Sequence[str],
    output: str,
    *,
    config: Config | None = None,
    content: str = "text",
    base: str = "",
    trees: str = "",
    segment_size: int | None = None,
    partitions: int | None = None,
    share_pages: int = SHARE_PAGES,
    overwrite: bool = False,
    max_failed: float = MAX_FAILED,
) -> dict[str, Any]:
    """Clean the pages of WARC and WACZ files, each with the tree of its site; counts of the job.

    `inputs` are paths of archives, or of lists of paths, before each of which goes `base`. Below
    the path `output` stand `sites` (the trees), `pages` (the texts, by segment and site hash) and
    `report`. What is written does not depend on `partitions`, the number of tasks in a stage
    (default: one an archive, and no fewer than Spark has cores), nor on `share_pages`, the most
    pages of one site in a task of the second pass.

    `trees` is the output of an earlier job, onto whose trees this one learns; those of sites that
    have no page here are carried over. `segment_size` archives at a time (default: all) are
    learned, and then as many at a time are cleaned; each segment is complete before the next.

    A job that `output` holds complete is not run again; one that was interrupted goes on with the
    first segment that is not complete; one from which archives were missing reads them if they are
    there now. Broken records and files, and pages that fail, are counted and left out.

    Raises ConfigurationError where `output` holds another job, unless `overwrite`, and where
    `trees` holds no finished job, or one of other settings; ArchiveError where a list cannot be
    read; JobError where a page cannot be learned and cleaned here or on a worker, or where a share
    above `max_failed` of a segment's pages failed; Spark's errors where a task fails, among others
    because an archive is there and cannot be read.
    """
    config = config or Config()
    _check_values(content, segment_size)
    archives = list_archives(inputs, base=base)
    target = Output(spark, output)
    earlier = Output(spark, trees) if trees else None
    if earlier and earlier.place == target.place:
        raise ConfigurationError(f"{output!r} is both the output and what its trees are taken from")
    before = earlier.finished(config) if earlier else None
    described = describe(archives, config, content, segment_size=segment_size, earlier=before)
    report = target.begin(described, overwrite=overwrite)
    steps = Steps(
        spark=spark,
        target=target,
        earlier=earlier,
        archives=archives,
        segment_size=segment_size or len(archives),
        config=config,
        content=content,
        partitions=partitions,
        share_pages=share_pages,
        max_failed=max_failed,
    )
    if report is not None and not steps.forget_missing(report):
        return report
    with _settings(spark):
        _check(spark, config)
        learned = [steps.learn(segment) for segment in steps.segments]
        cleaned = [steps.clean(segment, told) for segment, told in enumerate(learned)]
        sites = steps.new_trees().count()
        return target.tell("report", report_of(len(archives), sites, learned, cleaned))


def _check_values(content: str, segment_size: int | None) -> None:
    if content not in WRITTEN:
        raise ConfigurationError(f"content={content!r} is none of {', '.join(WRITTEN)}")
    if segment_size is not None and segment_size < 1:
        raise ConfigurationError(f"segment_size={segment_size!r} is not a whole number from 1 on")


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
    put_in(settings, dict(opts.set))
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
            trees=opts.trees,
            segment_size=opts.segment_size,
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
        prog="python -m noiseclean_scrapy.batch.spark",
        description="Clean WARC and WACZ files with Spark: every site is learned from its pages, "
        "then each page is cleaned; the texts go to Parquet.",
        formatter_class=HelpFormatter,
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
        "--trees",
        metavar="PATH",
        default="",
        help="the output of an earlier job, whose trees go on learning",
    )
    parser.add_argument(
        "--segment-size",
        metavar="N",
        type=whole_number,
        help="archives that are learned, and cleaned, at a time (default all)",
    )
    parser.add_argument(
        "--partitions",
        metavar="N",
        type=whole_number,
        help="tasks in a stage (default one an archive)",
    )
    parser.add_argument(
        "--content",
        choices=WRITTEN,
        default="text",
        help="what to write of the content (default text)",
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
