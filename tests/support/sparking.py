"""A real local Spark for tests, and what its jobs write, as the lines of `clean`."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from noiseclean_scrapy.commands.output import json_bytes
from tests.support.command_line import ROOT
from tests.support.services import give_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Record = tuple[str, str, str, bytes]
LINE = ("id", "url", "site", "title", "author", "published", "language", "canonical_url", "image")


def need_spark() -> None:
    """Give up where Java or PySpark is missing."""
    java = shutil.which("java", path=_path())
    missing = "PySpark" if find_spec("pyspark") is None else "" if java else "Java"
    if missing:
        give_up(f"{missing} is missing: the extra `spark`, and Java 17 or newer")


def spark_environment() -> dict[str, str]:
    """For Spark's processes: this Python, the package as it stands here, the loopback only."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
        # Short jobs spend most of their time on compiling and on threads that collect garbage.
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }


@contextmanager
def open_spark() -> Iterator[SparkSession]:
    """A session on two cores."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        for name, value in spark_environment().items():
            patch.setenv(name, value)
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
        yield session
        session.stop()


def run_spark(
    *command: str, folder: Path, code: int = 0, environment: dict[str, str] | None = None
) -> str:
    """A command line in a process of its own, whose exit code must be `code`; its stderr."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**spark_environment(), **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == code, done.stderr[-3000:]
    return done.stderr


def clean_archives(*arguments: Any, **options: Any) -> dict[str, Any]:
    """The function of the package, which cannot be imported without PySpark."""
    from noiseclean_scrapy.batch.spark import clean_archives

    return clean_archives(*arguments, **options)


def response(url: str, html: str | bytes) -> Record:
    """A record of a page."""
    return "response", url, "text/html", html if isinstance(html, bytes) else html.encode()


def write_warcs(
    folder: Path, records: Sequence[Record], number: int = 3, name: str = "{}.warc.gz"
) -> Path:
    """The records in so many archives, and a list of these; `all.warc.gz` holds them in a row."""
    from tests.support.archives import warc  # needs the extra warc

    size = -(-len(records) // number)
    parts = [warc(*records[start : start + size]) for start in range(0, len(records), size)]
    names = [name.format(index) for index in range(len(parts))]
    for path, part in zip(names, parts, strict=True):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(part)
    (folder / "all.warc.gz").write_bytes(b"".join(parts))
    paths = folder / "warc.paths.gz"
    paths.write_bytes(gzip.compress("".join(f"{path}\n" for path in names).encode()))
    return paths


def written_rows(output: Path) -> list[dict[str, Any]]:
    """The rows of a job, in the order of the archives' names and of their records."""
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(output / "pages", partitioning="hive").to_table()
    return sorted(table.to_pylist(), key=lambda row: (row["source"], row["record"]))


def written_lines(output: Path, content: str = "text") -> bytes:
    """The rows of a job as `clean` would have written them."""
    rows = written_rows(output)
    return b"".join(
        json_bytes({name: row[name] for name in (*LINE, content)}) + b"\n" for row in rows
    )


def written_trees(output: Path) -> dict[str, bytes]:
    """The trees of a job, by site."""
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(output / "sites").to_table()
    return {row["site"]: row["tree"] for row in table.to_pylist()}


def modified(folder: Path) -> dict[str, int]:
    """When each file below the folder was written, in nanoseconds."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def _path() -> str:
    home = os.environ.get("JAVA_HOME", "")
    return os.pathsep.join([str(Path(home, "bin"))] * bool(home) + [os.environ.get("PATH", "")])
