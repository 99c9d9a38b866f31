"""The steps of a Spark job: learning a segment of the archives, and cleaning one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions
from pyspark.sql.pandas.types import from_arrow_schema

from noiseclean_scrapy.batch import spark_tables as tables
from noiseclean_scrapy.batch import spark_tasks as tasks
from noiseclean_scrapy.batch.spark_input import is_there
from noiseclean_scrapy.batch.spark_output import RESULTS, Output
from noiseclean_scrapy.batch.spark_report import (
    Parts,
    Told,
    bound_failures,
    missing_of,
    told_of_step,
)
from noiseclean_scrapy.service_urls import shown_url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from noiseclean_scrapy.config import Config

_SITE_ORDER = ("key", "file", "record")


@dataclass(frozen=True, slots=True)
class Steps:
    """A job on `archives`, `segment_size` of them at a time; `earlier` is the job it goes on from.

    A step that `target` holds complete is not taken again.
    """

    spark: SparkSession
    target: Output
    earlier: Output | None
    archives: Sequence[str]
    segment_size: int
    config: Config
    content: str
    partitions: int | None
    share_pages: int
    max_failed: float

    @property
    def segments(self) -> range:
        """The numbers of the segments."""
        return range(-(-len(self.archives) // self.segment_size))

    def learn(self, segment: int) -> Told:
        """Let the trees of the segment before grow; those of the last segment are the job's."""
        done = self.target.told(f"learned/{segment}")
        if done is not None:
            return done
        files = self._files(segment)
        job = self._job(len(files))
        trees = _sites(self._spread(files, job), self._trees_before(segment), job)
        self.target.write(self._trees(segment), trees)
        told = told_of_step(job.account.value, self.archives, "learn", "learn")
        bound_failures(told, "learned", self.max_failed)
        self.target.tell(f"learned/{segment}", told)
        self.target.forget(f"growing/{segment - 1}" if segment < self.segments[-1] else "growing")
        return told

    def clean(self, segment: int, learned: Told) -> Told:
        """Clean the pages of a segment with the trees of the job."""
        done = self.target.told(f"cleaned/{segment}")
        if done is not None:
            return done
        # What was missing in the first pass is in no tree.
        missing = missing_of(learned)
        files = [file for file in self._files(segment) if shown_url(file[1]) not in missing]
        job = self._job(len(files))
        pages = _pages(self._spread(files, job), self.new_trees(), job, self.share_pages)
        self.target.write(f"pages/segment={segment}", pages, by="site_hash")
        told = told_of_step(job.account.value, self.archives, "read", "clean")
        bound_failures(told, "cleaned", self.max_failed)
        return self.target.tell(f"cleaned/{segment}", told)

    def new_trees(self) -> DataFrame:
        """The trees of the sites that have pages in this job."""
        return self.target.read("sites").where("new_pages > 0")

    def forget_missing(self, report: Told) -> bool:
        """Make a finished job unfinished where an archive is there now that was missing; whether.

        One that the trees lack changes them, and with them all pages.
        """
        shown = {shown_url(path): path for path in self.archives}
        found = {path for path in missing_of(report) if is_there(shown[path])}
        learned, cleaned = (
            [segment for segment in self.segments if found & self._missing(f"{step}/{segment}")]
            for step in ("learned", "cleaned")
        )
        if learned:
            self.target.forget(*RESULTS)
        elif found:
            self.target.forget("report", *(f"cleaned/{segment}" for segment in cleaned))
        return bool(found)

    def _missing(self, name: str) -> set[str]:
        told = self.target.told(name)
        return missing_of(told) if told else set()

    def _trees(self, segment: int) -> str:
        return "sites" if segment == self.segments[-1] else f"growing/{segment}"

    def _trees_before(self, segment: int) -> DataFrame | None:
        if segment:
            return self.target.read(self._trees(segment - 1))
        if self.earlier is None:
            return None
        return self.earlier.read("sites").withColumn("new_pages", functions.lit(0).cast("long"))

    def _files(self, segment: int) -> list[tuple[int, str]]:
        start = segment * self.segment_size
        return list(enumerate(self.archives))[start : start + self.segment_size]

    def _job(self, files: int) -> tasks.Job:
        context = self.spark.sparkContext
        shards = self.partitions or max(context.defaultParallelism, files)
        return tasks.Job(self.config, self.content, shards, context.accumulator({}, Parts()))

    def _spread(self, files: Sequence[tuple[int, str]], job: tasks.Job) -> DataFrame:
        """The archives with their numbers, spread over the tasks."""
        rows = self.spark.createDataFrame(files, "file int, source string")
        return rows.repartitionById(max(1, min(job.shards, len(files))), "file")


def _sites(files: DataFrame, before: DataFrame | None, job: tasks.Job) -> DataFrame:
    """Pass one: the trees of all sites, grown on those `before`."""
    taught = _map(files, partial(tasks.learn_rows, job=job), tables.TAUGHT)
    # A large site's pages are thinned out in parts before they meet in one task.
    parts = taught.repartition(job.shards, "site", "part")
    parts = parts.sortWithinPartitions("site", "part", *_SITE_ORDER)
    size = job.config.archive_sample
    sampled = _map(parts, partial(tasks.sample_rows, size=size), tables.TAUGHT)
    if before is not None:
        sampled = sampled.unionByName(before, allowMissingColumns=True)
    whole = sampled.repartition(job.shards, "site").sortWithinPartitions("site", *_SITE_ORDER)
    return _map(whole, partial(tasks.site_rows, config=job.config), tables.SITES)


def _pages(files: DataFrame, sites: DataFrame, job: tasks.Job, share_pages: int) -> DataFrame:
    """Pass two: the pages, each cleaned where the tree of its site is."""
    large = sites.where(sites["new_pages"] > share_pages).select("site", "new_pages").collect()
    shares = {row["site"]: -(-row["new_pages"] // share_pages) for row in large}
    pages = _map(files, partial(tasks.page_rows, job=job, shares=shares), tables.PAGES)
    trees = _map(sites, partial(tasks.tree_rows, job=job, shares=shares), tables.PAGES)
    shards = pages.unionByName(trees).repartitionById(job.shards, "shard")
    shards = shards.sortWithinPartitions("shard", "site", "file", "record")
    schema = tables.cleaned_schema(job.content)
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
