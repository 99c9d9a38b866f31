"""Spark gives what `scrapy noiseclean clean` gives: real jobs on a real local Spark."""

from __future__ import annotations

import gzip
import io
import random
import shutil
import sys
import zipfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.corpora import read_corpus
from example_project.demo import DemoSite
from noiseclean_scrapy.batch.two_pass import Learning, SiteCleaners, archive_pages
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ArchiveError, ConfigurationError, JobError
from noiseclean_scrapy.page.overrides import Overrides
from tests.support.archives import warc
from tests.support.command_line import ROOT, noiseclean
from tests.support.corpora import CORPORA, needs_corpora
from tests.support.crawl_site import story
from tests.support.sparking import (
    Record,
    clean_archives,
    modified,
    response,
    run_spark,
    write_warcs,
    written_lines,
    written_rows,
    written_trees,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from scrapy.http import Response

BOMB_TYPE = "text/html\r\nContent-Encoding: gzip"


@pytest.mark.extras
def test_pyspark_finds_no_fault_with_the_pandas_of_the_extra(
    recwarn: pytest.WarningsRecorder,
) -> None:
    pandas = pytest.importorskip("pyspark.sql.pandas.utils", reason="needs the extra spark")
    pandas.require_minimum_pandas_version()
    assert not recwarn.list  # it warns of pandas 3


def demo_records() -> list[Record]:
    """Two demo newspapers, mixed; one page twice, one under two addresses, one without text."""
    records = [
        response(f"http://site{seed}.org{path}", page.html)
        for seed in range(2)
        for path, page in islice(DemoSite(articles=2, seed=seed).pages.items(), 20)
    ]
    random.Random(7).shuffle(records)
    first = records[0]
    again = response(first[1], first[3].replace(b"<p>", b"<p>Newer: "))
    copy = response(f"{first[1]}?copy=1", first[3])
    return [*records, again, copy, response("http://site1.org/empty", "<!DOCTYPE html>")]


def cleaned_lines(folder: Path, *options: str) -> bytes:
    """What `clean` makes of all archives."""
    noiseclean(folder, "clean", "all.warc.gz", "-o", "all.jsonl", *options)
    return (folder / "all.jsonl").read_bytes()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_warcs(folder, demo_records())
    return folder


@pytest.fixture(scope="module")
def output(spark: SparkSession, demo: Path) -> Path:
    """A finished job with the default settings."""
    output = demo / "output"
    inputs, base = [str(demo / "warc.paths.gz")], f"{demo}/"
    report = clean_archives(spark, inputs, str(output), base=base)
    count = len(demo_records())
    assert report == {
        "archives": 3,
        "sites": 2,
        "pages": count,
        "missing": 0,
        "damaged": 0,
        "failed": 0,
        "not_learned": 0,
        "reason": "",
        "complete": True,
        "problems": {},
    }
    return output


def test_lines_and_trees_are_those_of_the_command(demo: Path, output: Path) -> None:
    assert written_lines(output) == cleaned_lines(demo)
    (demo / "cleaners").mkdir()
    cleaners = SiteCleaners(Config(), demo / "cleaners")
    for _ in Learning(cleaners).learn(archive_pages(demo / "all.warc.gz", Config())):
        pass
    sites = [f"site{seed}.org" for seed in range(2)]
    assert written_trees(output) == {site: cleaners[site].to_bytes() for site in sites}


def test_columns_beside_those_of_the_command(demo: Path, output: Path) -> None:
    rows = written_rows(output)
    pages = list(archive_pages(demo / "all.warc.gz", Config()))
    assert [row["fetched_at"] for row in rows] == [page.fetched_at for page in pages]
    assert all(len(row["key"]) == 40 for row in rows)
    assert len({row["key"] for row in rows}) == len({row["url"] for row in rows}) == len(rows) - 1
    assert {row["tree_version"] for row in rows} == {1}
    for row in rows:
        kept = row["text"].replace("\n", "")
        assert row["kept_characters"] == len(kept) <= row["visible_characters"]
        assert 0 <= row["fit"] <= 1
    folders = {path.name for path in (output / "pages").glob("segment=0/site_hash=*")}
    assert folders == {f"site_hash={row['site_hash']}" for row in rows}


@pytest.mark.parametrize(("partitions", "share_pages"), [(1, 50_000), (5, 7)])
def test_partitions_change_nothing(
    spark: SparkSession,
    demo: Path,
    output: Path,
    tmp_path: Path,
    partitions: int,
    share_pages: int,
) -> None:
    inputs = [str(demo / f"{index}.warc.gz") for index in range(3)]
    options = {"partitions": partitions, "share_pages": share_pages}
    clean_archives(spark, inputs, str(tmp_path / "other"), **options)
    assert written_lines(tmp_path / "other") == written_lines(output)
    assert written_trees(tmp_path / "other") == written_trees(output)
    files = list((tmp_path / "other" / "pages").rglob("*.parquet"))
    assert len(files) > 2 if share_pages < 20 else len(files) == 2


def test_samples_settings_and_formats(
    spark: SparkSession,
    demo: Path,
    tmp_path: Path,
) -> None:
    overrides = tmp_path / "overrides.toml"
    overrides.write_text('["site1.org"]\ndrop = "h2"\n')
    settings = {
        "ARCHIVE_SAMPLE": "7",
        "MAX_TREE_NODES": "90",
        "OVERRIDES": str(overrides),
        "METADATA": "0",
    }
    options = [
        part for name, value in settings.items() for part in ("-s", f"NOISECLEAN_{name}={value}")
    ]
    (demo / "all.jsonl").unlink(missing_ok=True)
    expected = cleaned_lines(demo, "--method", "style-tree", "--content", "markdown", *options)
    config = Config(
        method="style-tree",
        archive_sample=7,
        max_tree_nodes=90,
        overrides=Overrides.read(overrides),
        metadata=False,
    )
    inputs = [f"file://{demo}/{index}.warc.gz" for index in range(3)]
    clean_archives(spark, inputs, str(tmp_path / "out"), config=config, content="markdown")
    assert written_lines(tmp_path / "out", "markdown") == expected
    assert expected != cleaned_lines(tmp_path_of(demo), "--method", "style-tree")


def tmp_path_of(demo: Path) -> Path:
    """A folder of its own with the same archives, for another output."""
    folder = demo / "other"
    folder.mkdir(exist_ok=True)
    shutil.copy(demo / "all.warc.gz", folder)
    return folder


def test_broken_input_is_counted_and_left_out(spark: SparkSession, tmp_path: Path) -> None:
    records = [response(f"http://a.org/{n}", story(n)) for n in range(6)]
    whole = warc(*records[:3])
    (tmp_path / "0.warc.gz").write_bytes(whole)
    cut = warc(*records[3:], zipped=False)
    (tmp_path / "1.warc").write_bytes(cut[:-200])
    (tmp_path / "3.warc.gz").write_bytes(b"no archive")
    (tmp_path / "4.wacz").write_bytes(b"no package")
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as members:
        members.writestr("archive/a.warc.gz", warc(response("http://b.org/", story(7))))
        members.writestr("archive/b.warc.gz", whole[:100])
    (tmp_path / "5.wacz").write_bytes(package.getvalue())

    def cluster_by(response: Response) -> str:
        if response.url.endswith("/4"):
            raise ValueError("a callable of the user")
        return response.url.split("/")[2]

    names = ("0.warc.gz", "1.warc", "2.warc.gz", "3.warc.gz", "4.wacz", "5.wacz")
    inputs = [str(tmp_path / name) for name in names]
    config = Config(cluster_by=cluster_by)
    report = clean_archives(spark, inputs, str(tmp_path / "out"), config=config, partitions=2)
    assert [row["url"] for row in written_rows(tmp_path / "out")] == [
        *(f"http://a.org/{n}" for n in range(4)),
        "http://b.org/",
    ]
    problems = report.pop("problems")
    assert report == {
        "archives": 6, "sites": 2, "pages": 5, "missing": 1, "damaged": 5, "failed": 0,
        "not_learned": 0, "reason": "", "complete": False,
    }  # fmt: skip
    assert problems == {
        inputs[1]: {"pages": 1, "missing": 0, "damaged": 2},
        inputs[2]: {"pages": 0, "missing": 1, "damaged": 0},
        inputs[3]: {"pages": 0, "missing": 0, "damaged": 1},
        inputs[4]: {"pages": 0, "missing": 0, "damaged": 1},
        inputs[5]: {"pages": 1, "missing": 0, "damaged": 1},
    }


def test_a_finished_job_is_left_and_an_interrupted_one_goes_on(
    spark: SparkSession,
    demo: Path,
    output: Path,
    tmp_path: Path,
) -> None:
    copy = tmp_path / "output"
    shutil.copytree(output, copy)
    inputs, base = [str(demo / "warc.paths.gz")], f"{demo}/"
    before, expected = modified(copy), written_lines(copy)
    report = clean_archives(spark, inputs, str(copy), base=base)
    assert report["pages"] == len(demo_records())
    assert modified(copy) == before

    shutil.rmtree(copy / "report")
    shutil.rmtree(copy / "cleaned")
    next((copy / "pages").rglob("*.parquet")).unlink()
    assert clean_archives(spark, inputs, str(copy), base=base) == report
    assert written_lines(copy) == expected
    assert modified(copy / "sites").items() <= before.items()


def test_what_was_missing_is_read_when_it_is_there(
    spark: SparkSession,
    demo: Path,
    output: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first run lacks an archive, the second finds it, also where it comes between passes."""
    monkeypatch.chdir(tmp_path)
    for index in range(3):
        shutil.copy(demo / f"{index}.warc.gz", tmp_path)
    Path("1.warc.gz").rename("later")
    inputs, out = [f"{index}.warc.gz" for index in range(3)], str(tmp_path / "out")
    report = clean_archives(spark, inputs, out)
    absent = str(tmp_path / "1.warc.gz")
    assert not report["complete"]
    assert report["problems"] == {absent: {"pages": 0, "missing": 1, "damaged": 0}}
    before = modified(tmp_path / "out")
    assert clean_archives(spark, inputs, out) == report
    assert modified(tmp_path / "out") == before

    shutil.rmtree(f"{out}/report")  # as if it had come after the first pass of an interrupted run
    Path("later").rename("1.warc.gz")
    assert clean_archives(spark, inputs, out) == report
    report = clean_archives(spark, inputs, out)
    assert report["complete"]
    assert report["pages"] == len(demo_records())
    assert [row["text"] for row in written_rows(tmp_path / "out")] == [
        row["text"] for row in written_rows(output)
    ]


def test_pages_that_fail_end_a_job(spark: SparkSession, demo: Path, tmp_path: Path) -> None:
    inputs = [str(demo / "0.warc.gz")]
    out = str(tmp_path / "out")
    with pytest.raises(JobError, match=r"the driver cannot learn and clean a page: .*'nonsense'"):
        clean_archives(spark, inputs, out, config=Config(method="nonsense"))

    class Rules(Overrides):
        def rules_for(self, url: str) -> Any:
            if "probe" not in url:
                raise ValueError("a rule of the user")
            return Overrides.rules_for(self, url)

    broken = Config(overrides=Rules({}))
    with pytest.raises(JobError, match=r"could not be learned, .*a rule of the user"):
        clean_archives(spark, inputs, out, config=broken, overwrite=True)
    with pytest.raises(JobError, match=r"could not be learned"):
        clean_archives(spark, inputs, out, config=broken)
    report = clean_archives(spark, inputs, out, config=broken, max_failed=1.0)
    assert report["failed"] == report["not_learned"] == report["pages"] > 0
    assert "a rule of the user" in report["reason"]


def test_memory_of_a_worker_is_lost_with_a_page_alone(tmp_path: Path, java: None) -> None:
    """Bombs in an archive, and workers that may not have more than Spark gives them."""
    bomb = gzip.compress(b"<html>" + b"x" * (1 << 30), 1)
    packed = [("response", f"http://a.org/bomb{n}", BOMB_TYPE, bomb) for n in range(2)]
    good = [response(f"http://a.org/{n}", story(n)) for n in range(4)]
    write_warcs(tmp_path, [good[0], packed[0], *good[1:], packed[1]], 1)
    submit = (sys.executable, "-m", "noiseclean_scrapy.batch.spark")
    memory = {"PYSPARK_SUBMIT_ARGS": "--conf spark.executor.pyspark.memory=1g pyspark-shell"}
    told = run_spark(
        *submit,
        "0.warc.gz",
        "-o",
        "out",
        "--method",
        "style-tree",
        folder=tmp_path,
        environment=memory,
    )
    assert "6 pages of 1 site cleaned" in told
    assert [row["url"] for row in written_rows(tmp_path / "out")] == [
        record[1] for record in (good[0], packed[0], *good[1:], packed[1])
    ]


def test_the_package_may_be_a_zip(tmp_path: Path, java: None) -> None:
    """As `--py-files`, where nothing of it is installed on the workers."""
    import pyspark

    package = tmp_path / "noiseclean.zip"
    with zipfile.ZipFile(package, "w") as files:
        for path in (ROOT / "noiseclean_scrapy").rglob("*"):
            if path.suffix in (".py", ".npz", ".json", ".jinja", ".css", ".js"):
                files.write(path, path.relative_to(ROOT))
    write_warcs(tmp_path, [response(f"http://a.org/{n}", story(n)) for n in range(4)], 1)
    (tmp_path / "job.py").write_text(
        "import sys, noiseclean_scrapy\n"
        "assert 'noiseclean.zip' in noiseclean_scrapy.__file__\n"
        "from noiseclean_scrapy.batch.spark import main\n"
        "sys.exit(main())\n"
    )
    submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    command = [submit, "--master", "local[1]", "--py-files", str(package), "job.py"]
    run_spark(*command, "0.warc.gz", "-o", "out", folder=tmp_path, environment={"PYTHONPATH": ""})
    assert written_lines(tmp_path / "out") == cleaned_lines(tmp_path)


def test_another_job_is_refused_unless_it_may_overwrite(
    spark: SparkSession,
    demo: Path,
    output: Path,
    tmp_path: Path,
) -> None:
    copy = tmp_path / "output"
    shutil.copytree(output, copy)
    before = modified(copy)
    inputs = [str(demo / "0.warc.gz")]
    for config in (Config(), Config(method="style-tree")):
        with pytest.raises(ConfigurationError, match="the output of another job"):
            clean_archives(spark, inputs, str(copy), config=config)
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "monday.txt").write_text("Rain")
    with pytest.raises(ConfigurationError, match="something else"):
        clean_archives(spark, inputs, str(tmp_path / "diary"))
    assert modified(copy) == before
    clean_archives(spark, inputs, str(copy), overwrite=True, config=Config(metadata=False))
    assert {row["source"] for row in written_rows(copy)} == set(inputs)


def test_output_that_was_hardly_begun_is_no_obstacle(spark: SparkSession, tmp_path: Path) -> None:
    write_warcs(tmp_path, [response(f"http://a.org/{n}", story(n)) for n in range(3)], 1)
    inputs = [str(tmp_path / "0.warc.gz")]
    (tmp_path / "empty").mkdir()
    (tmp_path / "begun" / "job" / "_temporary").mkdir(parents=True)
    for name in ("empty", "begun"):
        clean_archives(spark, inputs, str(tmp_path / name), config=Config(metadata=False))
        assert len(written_rows(tmp_path / name)) == 3
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "job").write_text("Baker")
    with pytest.raises(ConfigurationError, match="something else"):
        clean_archives(spark, inputs, str(tmp_path / "other"))
    assert (tmp_path / "other" / "job").read_text() == "Baker"


@pytest.mark.parametrize("name", ["out[1]", "out{1}", "out*", "out?"])
def test_paths_with_wildcards_of_spark_are_refused(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    with pytest.raises(ConfigurationError, match="wildcards"):
        clean_archives(spark, ["a.warc"], str(tmp_path / name))
    assert not list(tmp_path.iterdir())


def test_inputs_that_are_none(spark: SparkSession, tmp_path: Path) -> None:
    for written, message in (("a.html\n", "expected .warc"), ("# None\n", "name no archive")):
        (tmp_path / "list.txt").write_text(written)
        with pytest.raises(ArchiveError, match=message):
            clean_archives(spark, [str(tmp_path / "list.txt")], str(tmp_path / "out"))
    with pytest.raises(ArchiveError, match="cannot be read"):
        clean_archives(spark, [str(tmp_path / "gone.txt")], str(tmp_path / "out"))
    (tmp_path / "pages").mkdir()
    with pytest.raises(ArchiveError, match="it is a folder, give the files in it"):
        clean_archives(spark, [str(tmp_path / "pages")], str(tmp_path / "out"))
    with pytest.raises(ArchiveError, match="no name in UTF-8"):
        clean_archives(spark, ["x\udcff.warc.gz"], str(tmp_path / "out"))
    with pytest.raises(ConfigurationError, match="content='pdf' is none of text, markdown, html"):
        clean_archives(spark, ["a.warc"], str(tmp_path / "out"), content="pdf")
    assert not (tmp_path / "out").exists()


def test_command_lines(java: None, tmp_path: Path) -> None:
    import pyspark

    import noiseclean_scrapy.batch.spark as script

    write_warcs(tmp_path, [response(f"http://a.org/{n}", story(n)) for n in range(4)], 2)
    expected = cleaned_lines(tmp_path, "--method", "style-tree")
    arguments = ["0.warc.gz", "1.warc.gz", "--method", "style-tree", "--partitions", "2"]
    command = [sys.executable, "-m", "noiseclean_scrapy.batch.spark", *arguments]
    told = run_spark(*command, "-o", "python", folder=tmp_path)
    assert "4 pages of 1 site cleaned, written to python (0 missing, 0 damaged, 0 failed)" in told
    assert written_lines(tmp_path / "python") == expected
    submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    run_spark(
        submit, "--master", "local[1]", script.__file__, *arguments, "-o", "submit", folder=tmp_path
    )
    assert written_lines(tmp_path / "submit") == expected
    wrong = [*command, "-o", "out", "-s", "NOISECLEAN_METHODE=x"]
    assert "did you mean NOISECLEAN_METHOD" in run_spark(*wrong, folder=tmp_path, code=2)


@pytest.mark.night
def test_archives_in_a_bucket(java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from moto.server import ThreadedMotoServer
    from pyarrow.fs import FileSystem

    folder = tmp_path / "archives"
    write_warcs(folder, [response(f"http://a.org/{n}", story(n)) for n in range(4)], 2)
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "anyone")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "anything")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        store, _ = FileSystem.from_uri("s3://crawl/?allow_bucket_creation=true")
        store.create_dir("crawl")
        for path in folder.iterdir():
            with store.open_output_stream(f"crawl/{path.name}", compression=None) as stream:
                stream.write(path.read_bytes())
        module = (sys.executable, "-m", "noiseclean_scrapy.batch.spark")
        arguments = ("s3a://crawl/warc.paths.gz", "--base", "s3://crawl/", "-o", "out")
        told = run_spark(*module, *arguments, folder=tmp_path)
    finally:
        server.stop()
    assert "4 pages of 1 site cleaned, written to out (0 missing, 0 damaged, 0 failed)" in told
    assert written_lines(tmp_path / "out") == cleaned_lines(folder)


@pytest.mark.slow
@needs_corpora
def test_real_pages(spark: SparkSession, tmp_path: Path) -> None:
    records = [
        response(page.url or f"http://{page.site}/{page.id}", page.html)
        for corpus, first in (("cleanportaleval", 20), ("zh-cold-dev", 0))
        for page in read_corpus(CORPORA / corpus)[first : first + 20]
    ]
    random.Random(3).shuffle(records)
    write_warcs(tmp_path, records, 4)
    inputs = [str(tmp_path / f"{index}.warc.gz") for index in range(4)]
    clean_archives(spark, inputs, str(tmp_path / "out"), partitions=3)
    lines = cleaned_lines(tmp_path)
    assert written_lines(tmp_path / "out") == lines
    assert len(lines.splitlines()) == len(records)
