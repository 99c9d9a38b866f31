"""Spark jobs by segments, killed between them, and jobs that learn onto the trees of others."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from example_project.demo import DemoSite
from noiseclean_scrapy.batch.two_pass import (
    SiteCleaners,
    archive_pages,
    build_source_page,
    clean_source_page,
)
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError
from tests.support.sparking import (
    Record,
    clean_archives,
    modified,
    response,
    spark_environment,
    write_warcs,
    written_lines,
    written_rows,
    written_trees,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MONTH = "crawl-data/CC-MAIN-2026-10/segments/1767{0}.1/warc/CC-MAIN-0000{0}.warc.gz"
"""Paths as Common Crawl has them."""


def newspaper(seed: int, first: int, last: int) -> list[Record]:
    """Pages of a demo newspaper."""
    pages = islice(DemoSite(articles=2, seed=seed).pages.items(), first, last)
    return [response(f"http://site{seed}.org{path}", page.html) for path, page in pages]


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five archives with mixed pages of two newspapers."""
    folder = tmp_path_factory.mktemp("month")
    records = newspaper(0, 0, 16) + newspaper(1, 0, 16)
    random.Random(5).shuffle(records)
    write_warcs(folder, records, 5, MONTH)
    return folder


def clean_month(spark: SparkSession, month: Path, output: Path, **options: Any) -> dict[str, Any]:
    inputs, base = [str(month / "warc.paths.gz")], f"{month}/"
    return clean_archives(spark, inputs, str(output), base=base, **options)


@pytest.fixture(scope="module")
def whole(spark: SparkSession, month: Path) -> Path:
    """The month in one go."""
    output = month / "whole"
    assert clean_month(spark, month, output)["complete"]
    return output


@pytest.fixture(scope="module")
def segmented(spark: SparkSession, month: Path) -> Path:
    """The month in three segments."""
    output = month / "segmented"
    assert clean_month(spark, month, output, segment_size=2)["complete"]
    return output


def test_segments_change_nothing(whole: Path, segmented: Path) -> None:
    assert written_lines(segmented) == written_lines(whole)
    assert written_trees(segmented) == written_trees(whole)
    assert {row["tree_version"] for row in written_rows(segmented)} == {1}
    assert {row["segment"] for row in written_rows(segmented)} == {0, 1, 2}
    assert not (segmented / "growing").exists()
    reports = [next((output / "report").glob("*.txt")) for output in (whole, segmented)]
    assert reports[0].read_text() == reports[1].read_text()


def test_only_the_segment_that_lacked_an_archive_is_cleaned_again(
    spark: SparkSession, month: Path, whole: Path, segmented: Path, tmp_path: Path
) -> None:
    output = tmp_path / "output"
    shutil.copytree(segmented, output)
    for step in ("report", "cleaned/1"):
        shutil.rmtree(output / step)
    archive = month / MONTH.format(2)
    archive.rename(month / "later")
    try:
        report = clean_month(spark, month, output, segment_size=2)
    finally:
        (month / "later").rename(archive)
    assert list(report["problems"]) == [str(archive)]
    before = modified(output)
    assert clean_month(spark, month, output, segment_size=2)["complete"]
    assert written_lines(output) == written_lines(whole)
    for kept in ("sites", "learned", "pages/segment=0", "pages/segment=2"):
        assert modified(output / kept).items() <= before.items()


@pytest.mark.slow
def test_a_kill_costs_the_segment_under_way(java: None, month: Path, whole: Path) -> None:
    """`kill -9` after the first segment that is learned, and after the first that is cleaned."""
    output = month / "killed"
    command = [sys.executable, "-m", "noiseclean_scrapy.batch.spark", "warc.paths.gz"]
    command += ["--base", f"{month}/", "-o", str(output), "--segment-size", "1"]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            cwd=month,
            env=spark_environment(),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    done: dict[str, int] = {}
    for step in ("learned", "cleaned"):
        job = start()
        while not (output / step / "0" / "_SUCCESS").exists():
            assert job.poll() is None
            time.sleep(0.02)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        assert modified(output).items() >= done.items(), "a finished segment was done again"
        assert not (output / step / "4" / "_SUCCESS").exists()
        done = modified(output / "learned") | modified(output / "cleaned")
    assert start().wait() == 0
    assert modified(output).items() >= done.items()
    assert written_lines(output) == written_lines(whole)
    assert written_trees(output) == written_trees(whole)


@pytest.mark.parametrize(("method", "segment_size"), [("evidence", None), ("style-tree", 1)])
def test_trees_of_an_earlier_job_go_on_learning(
    spark: SparkSession, tmp_path: Path, method: str, segment_size: int | None
) -> None:
    """As `SiteCleaner` does that observes the pages of both jobs in their order."""
    config = Config(method=method)
    first = newspaper(0, 0, 8) + newspaper(1, 0, 8)
    second = newspaper(1, 8, 16) + newspaper(2, 0, 8)
    outputs = [tmp_path / "first-cleaned", tmp_path / "second-cleaned"]
    options: dict[str, Any] = {"config": config, "segment_size": segment_size}
    for name, records, output in zip(("first", "second"), (first, second), outputs, strict=True):
        paths = write_warcs(tmp_path / name, records, 2)
        report = clean_archives(
            spark, [str(paths)], str(output), base=f"{paths.parent}/", **options
        )
        assert (report["sites"], report["pages"]) == (2, 16)
        options["trees"] = str(output)
    cleaners = SiteCleaners(config, tmp_path)
    for name in ("first", "second"):
        for page in archive_pages(tmp_path / name / "all.warc.gz", config):
            cleaners[page.site].observe_page(build_source_page(page, config))
    sites = [f"site{seed}.org" for seed in range(3)]
    assert written_trees(outputs[1]) == {site: cleaners[site].to_bytes() for site in sites}
    texts = [
        clean_source_page(page, cleaners[page.site].model(), config).page.text
        for page in archive_pages(tmp_path / "second/all.warc.gz", config)
    ]
    rows = written_rows(outputs[1])
    assert [row["text"] for row in rows] == texts
    assert {(row["site"], row["tree_version"]) for row in rows} == {(sites[1], 2), (sites[2], 1)}

    table = spark.read.parquet(str(outputs[1] / "sites")).drop("tree").collect()
    assert {row["site"]: (row["pages"], row["new_pages"]) for row in table} == {
        sites[0]: (8, 0), sites[1]: (16, 8), sites[2]: (8, 8)
    }  # fmt: skip
    assert {row["learned_pages"] for row in table} == {8, 16}


def test_trees_that_cannot_go_on_learning(
    spark: SparkSession, month: Path, whole: Path, tmp_path: Path
) -> None:
    output, given = tmp_path / "output", {"trees": str(whole)}
    with pytest.raises(ConfigurationError, match="holds no finished job"):
        clean_month(spark, month, output, trees=str(tmp_path / "gone"))
    with pytest.raises(ConfigurationError, match="have method='evidence', and cannot go on"):
        clean_month(spark, month, output, config=Config(method="style-tree"), **given)
    with pytest.raises(ConfigurationError, match="both the output and what its trees"):
        clean_month(spark, month, whole, overwrite=True, trees=f"file:{whole}/")
    with pytest.raises(ConfigurationError, match="segment_size=0 is not"):
        clean_month(spark, month, output, segment_size=0)
    assert not output.exists()
    assert SiteCleaner.from_bytes(written_trees(whole)["site0.org"]).pages == 16
