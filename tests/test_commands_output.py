"""Where commands write: ordinary files are replaced, links followed, devices and pipes kept."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from noiseclean_scrapy.commands.files import FileError, is_replaced, new_file, write_file
from noiseclean_scrapy.store import Store
from tests.support.archives import warc
from tests.support.command_line import (
    DemoCrawl,
    console_command,
    environment,
    noiseclean,
    run_console,
)
from tests.support.crawl_site import story, write_pages

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs devices and pipes of POSIX")


class Fifo:
    """A named pipe, and what comes out of it."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._read = b""
        self._reader = threading.Thread(target=self._drain)
        self._reader.start()

    def _drain(self) -> None:
        self._read = self.path.read_bytes()

    def content(self) -> bytes:
        self._reader.join(60)
        assert stat.S_ISFIFO(self.path.stat().st_mode)
        return self._read


@pytest.fixture
def null(tmp_path: Path) -> Path:
    """A device that nobody else needs; who may not make one cannot replace /dev/null either."""
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        device.symlink_to("/dev/null")
    return device


@pytest.fixture
def news(tmp_path: Path) -> Path:
    return write_pages(tmp_path / "news", map(story, range(3)))


COMMANDS = [
    ("export",),
    ("export", "--format", "csv"),
    pytest.param(("export", "--format", "parquet"), marks=pytest.mark.extras),
    ("export-tree", "SITE"),
    ("inspect", "SITE", "--no-open"),
    ("clean", "news"),
    ("clean", "news", "--format", "jsonl"),
]


@pytest.fixture(params=COMMANDS, ids=" ".join)
def command(request: pytest.FixtureRequest, demo: DemoCrawl) -> tuple[str, ...]:
    return tuple(demo.site if word == "SITE" else word for word in request.param)


def reference(folder: Path, command: tuple[str, ...]) -> bytes:
    """What the command writes into an ordinary file."""
    if "parquet" in command:
        pytest.importorskip("pyarrow")
    noiseclean(folder, *command, "-o", "reference")
    data = (folder / "reference").read_bytes()
    assert data
    return data


@pytest.mark.slow
def test_devices_and_links_to_them_stay(
    tmp_path: Path, demo: DemoCrawl, news: Path, null: Path, command: tuple[str, ...]
) -> None:
    reference(tmp_path, command)
    link = tmp_path / "link"
    link.symlink_to(null)
    for target in (null, link):
        noiseclean(tmp_path, *command, "-o", target)
        assert stat.S_ISCHR(target.stat().st_mode)
    assert link.is_symlink()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.slow
def test_pipes_get_what_files_get(
    tmp_path: Path, demo: DemoCrawl, news: Path, command: tuple[str, ...]
) -> None:
    expected = reference(tmp_path, command)
    fifo = Fifo(tmp_path / "fifo")
    noiseclean(tmp_path, *command, "-o", fifo.path)
    assert fifo.content() == expected


def test_a_dash_is_stdout(
    tmp_path: Path, demo: DemoCrawl, news: Path, command: tuple[str, ...]
) -> None:
    expected = reference(tmp_path, command)
    done = subprocess.run(
        console_command(*command, "-o", "-"),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=True,
    )
    assert done.stdout == expected
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "-").exists()
    assert b" -." not in done.stderr


@pytest.mark.slow
def test_ordinary_files_keep_mode_and_links_are_followed(
    tmp_path: Path, demo: DemoCrawl, news: Path, command: tuple[str, ...]
) -> None:
    expected = reference(tmp_path, command)
    (tmp_path / "there").mkdir()
    old, link = tmp_path / "there" / "old", tmp_path / "link"
    old.touch(mode=0o640)
    old.chmod(0o640)
    link.symlink_to(old)
    noiseclean(tmp_path, *command, "-o", link)
    assert link.is_symlink()
    assert old.read_bytes() == expected
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert [path.name for path in old.parent.iterdir()] == ["old"]
    # A link may lead to what is not there yet.
    old.unlink()
    noiseclean(tmp_path, *command, "-o", link)
    assert old.read_bytes() == expected


def test_what_is_open_already_is_written_to() -> None:
    names = ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/1", "/dev/null"]
    assert not any(is_replaced(Path(name)) for name in names)


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a RAM disk in /dev")
def test_a_ram_disk_has_ordinary_files() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        assert is_replaced(Path(folder, "pages.csv"))
        test_a_file_that_fails_leaves_the_older_one(Path(folder))


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_a_reader_may_have_seen_enough(tmp_path: Path, output: str) -> None:
    write_pages(tmp_path / "many", map(story, range(300)))
    command = console_command("clean", "many", "-o", output)
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_terminal_is_written_to(tmp_path: Path, news: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    try:
        run_console(tmp_path, "clean", "news", "-o", os.ttyname(theirs))
        assert b"==> http://news.invalid/00.html <==" in os.read(ours, 65536)
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_file_that_fails_leaves_the_older_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_file(path, b"old")
    with pytest.raises(TypeError), new_file(path) as file:
        file.writelines([b"new", "no bytes"])  # type: ignore[list-item]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_told(tmp_path: Path, news: Path) -> None:
    for target in ("no/such/file", "news"):
        done = noiseclean(tmp_path, "clean", "news", "-o", target, code=1)
        assert done.stderr.startswith(f"scrapy noiseclean clean: cannot write '{target}': ")
        assert len(done.stderr.splitlines()) == 1
    with pytest.raises(FileError, match="cannot write"):
        write_file(tmp_path, b"a folder")


def test_an_export_of_nothing_leaves_the_older_one(tmp_path: Path) -> None:
    Store(f"sqlite:///{tmp_path / 'noiseclean.db'}").close()
    for name in ("a.jsonl", "a.csv"):
        (tmp_path / name).write_text("older")
        done = noiseclean(tmp_path, "export", "-o", name, code=1)
        assert done.stderr == f"0 pages exported, nothing is written to {name}\n"
        assert (tmp_path / name).read_text() == "older"
    assert noiseclean(tmp_path, "export", "--format", "json", code=1).json == []


def test_a_source_without_pages_leaves_the_older_one(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(warc(("resource", "http://a.org/", "text/plain", b"Fog")))
    for name in ("a.jsonl", "a.csv", "a.txt"):
        (tmp_path / name).write_text("older")
        done = noiseclean(tmp_path, "clean", "a.warc", "-o", name, code=1)
        told = f"0 pages of 0 sites cleaned, nothing is written to {name}\n"
        assert done.stderr.endswith(told)
        assert (tmp_path / name).read_text() == "older"
    done = noiseclean(tmp_path, "clean", "a.warc", "--format", "json", code=1)
    assert done.json == []
    assert "nothing is written" not in done.stderr


def test_a_name_that_the_terminal_lacks_letters_of_is_printed(
    tmp_path: Path, demo: DemoCrawl
) -> None:
    report = ("inspect", demo.site, "--no-open", "-o", "Ω.html")
    done = run_console(tmp_path, *report, PYTHONIOENCODING="latin-1", PYTHONUTF8="1")
    assert done.stdout == "?.html\n"
    assert (tmp_path / "Ω.html").is_file()


def test_export_writes_what_its_name_says(tmp_path: Path, demo: DemoCrawl) -> None:
    lines = noiseclean(tmp_path, "export").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert noiseclean(tmp_path, "export", "--format", "json").json == rows
    wrong = noiseclean(tmp_path, "export", "--index", "news", code=2)
    assert "--index is for --format elasticsearch and opensearch" in wrong.stderr
    noiseclean(tmp_path, "export", "-o", "a.csv")
    table = (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert table.startswith("key,url,site,title,author,")
    assert table == noiseclean(tmp_path, "export", "--format", "csv").stdout.replace("\r\n", "\n")
    done = noiseclean(tmp_path, "export", "-o", "a.xlsx", code=2)
    assert (
        "'a.xlsx' tells no format: give a name that ends with .jsonl, .ndjson, .json, .csv, "
        in (done.stderr)
    )
    assert not (tmp_path / "a.xlsx").exists()
