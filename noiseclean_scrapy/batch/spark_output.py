"""Where a Spark job writes, and how it knows what of it is complete."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.config import Config
from noiseclean_scrapy.config.readers import CheckedNames
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page.hashes import digest
from noiseclean_scrapy.page.overrides import Overrides, RuleSet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_VERSION = 3
_WILDCARD = re.compile(r"[\[\]{}*?]")
RESULTS = ("report", "cleaned", "pages", "learned", "growing", "sites")
"""What a job writes after `job`, the last first."""
_OF_TREES = ("method", "method_options", "cluster_by", "templates", "max_tree_nodes")
"""Settings that trees which go on learning have to agree on."""


class Output:
    """A folder of tables, each complete or absent, on any file system that Spark writes to.

    `job` says what is computed; it is written first, `learned` after the trees of each segment,
    `cleaned` after its pages, `report` last. Raises ConfigurationError for a path that Spark would
    read otherwise than it writes it.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        if _WILDCARD.search(path):
            raise ConfigurationError(f"{path!r}: Spark reads [ ] {{ }} * ? as wildcards")
        self._spark = spark
        self.path = path.rstrip("/")

    def begin(self, job: str, *, overwrite: bool) -> dict[str, Any] | None:
        """Make room for a job; its report if it is done already.

        Raises ConfigurationError where something else is there, unless `overwrite`.
        """
        found = self._read_text("job") if self.has("job") else ""
        if found == job and not overwrite:
            return self.told("report")
        if not overwrite and (found or self._is_used()):
            raise ConfigurationError(
                f"{self.path!r} holds something else, or the output of another job: give another "
                f"path, or --overwrite"
            )
        self.forget(*RESULTS, "job")
        self._write_text("job", job)
        return None

    def finished(self, config: Config) -> str:
        """What is written of a finished job whose trees can go on learning with these settings.

        Raises ConfigurationError where it is not finished, or its trees are of other settings.
        """
        report, job = self.told("report"), self.told("job")
        if report is None or job is None:
            raise ConfigurationError(f"{self.path!r} holds no finished job, whose trees go on")
        then, now = job["settings"], json.loads(describe((), config, ""))["settings"]
        for name in _OF_TREES:
            if then.get(name) != now[name]:
                raise ConfigurationError(
                    f"the trees in {self.path!r} have {name}={then.get(name)!r}, "
                    f"and cannot go on learning with {now[name]!r}"
                )
        return json.dumps([job, report], sort_keys=True)

    def forget(self, *names: str) -> None:
        """Delete what is there under these names."""
        for name in names:
            self._delete(name)

    def tell(self, name: str, value: dict[str, Any]) -> dict[str, Any]:
        """Write a line of JSON: what it tells of is done."""
        self._write_text(name, json.dumps(value, ensure_ascii=False))
        return value

    def told(self, name: str) -> dict[str, Any] | None:
        """What `tell` has written; None where that is not complete."""
        value: dict[str, Any] | None = json.loads(self._read_text(name)) if self.has(name) else None
        return value

    def has(self, name: str) -> bool:
        """Whether a table is complete."""
        return self._exists(f"{name}/_SUCCESS")

    def read(self, name: str) -> DataFrame:
        return self._spark.read.parquet(f"{self.path}/{name}")

    def write(self, name: str, rows: DataFrame, *, by: str | None = None) -> None:
        """Write a table, over what an interrupted run has left of it."""
        writer = rows.write.mode("overwrite").option("compression", "zstd")
        writer = writer.option("partitionOverwriteMode", "static")
        with self._described(f"noiseclean: {name}"):
            (writer.partitionBy(by) if by else writer).parquet(f"{self.path}/{name}")

    @contextmanager
    def _described(self, description: str) -> Iterator[None]:
        """What Spark's pages and its event log call the jobs within."""
        context: Any = self._spark.sparkContext
        context.setJobDescription(description)
        try:
            yield
        finally:
            context.setJobDescription(None)

    def _read_text(self, name: str) -> str:
        rows = self._spark.read.text(f"{self.path}/{name}", wholetext=True).collect()
        return "".join(row["value"] for row in rows).removesuffix("\n")

    def _write_text(self, name: str, text: str) -> None:
        rows = self._spark.createDataFrame([(text,)], "value string").coalesce(1)
        rows.write.mode("overwrite").text(f"{self.path}/{name}")

    def _exists(self, name: str) -> bool:
        path, system = self._hadoop(name)
        return bool(system.exists(path))

    def _is_used(self) -> bool:
        """Whether anything is there but a `job` that was interrupted while it was written."""
        path, system = self._hadoop("")
        if not system.exists(path):
            return False
        entries = list(system.listStatus(path))
        return any(entry.getPath().getName() != "job" or entry.isFile() for entry in entries)

    def _delete(self, name: str) -> None:
        path, system = self._hadoop(name)
        system.delete(path, True)

    @property
    def place(self) -> str:
        """The path in full: the same place has the same."""
        path, system = self._hadoop("")
        return str(system.makeQualified(path))

    def _hadoop(self, name: str) -> tuple[Any, Any]:
        """Hadoop's path and file system: the ones that Spark writes with."""
        context: Any = self._spark.sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path(f"{self.path}/{name}".rstrip("/"))
        return path, path.getFileSystem(context._jsc.hadoopConfiguration())


def describe(
    archives: Sequence[str],
    config: Config,
    content: str,
    *,
    segment_size: int | None = None,
    earlier: str | None = None,
) -> str:
    """What a job computes, as a line of JSON: equal jobs have equal lines."""
    described = {
        "version": _VERSION,
        "archives": len(archives),
        "digest": _digest("\n".join(archives)),
        "segment_size": segment_size,
        "earlier": _digest(earlier) if earlier else None,
        "content": content,
        "settings": config.of_batches,
    }
    return json.dumps(described, default=_written, sort_keys=True)


def _digest(text: str) -> str:
    return digest(text.encode()).hex()


def _written(value: Any) -> Any:
    """A setting's value by what it says, not by where it lies in memory."""
    if isinstance(value, re.Pattern):
        return [value.pattern, value.flags]
    if isinstance(value, Overrides):
        return value.sites
    if isinstance(value, RuleSet):
        return value.__reduce__()[1]
    if isinstance(value, CheckedNames):
        return _written(value.name_of)
    if callable(value) and hasattr(value, "__qualname__"):
        cells = getattr(value, "__closure__", None) or ()
        return [f"{value.__module__}.{value.__qualname__}", *(c.cell_contents for c in cells)]
    return repr(value)
