"""`scrapy noiseclean` for tests, in this process and in its own, and a database of a real crawl."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest.mock import patch

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings
from scrapy.utils.log import get_scrapy_root_handler

from example_project.demo import DemoPage, DemoServer, DemoSite
from noiseclean_scrapy.page.urls import site_name
from noiseclean_scrapy.store import PageRecord, Store

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


def scrapy_command(*arguments: str) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "scrapy", *arguments]


def console_command(*arguments: str) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "noiseclean_scrapy", *arguments]


def environment(**variables: str) -> dict[str, str]:
    """Outside a project unless the folder has a scrapy.cfg; the package as it stands here."""
    outside = {name: v for name, v in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    return {**outside, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **variables}


def read_terminal(
    command: Sequence[str],
    *,
    stdout: bool = True,
    stderr: bool = True,
    hang_up_after: bytes | None = None,
    **options: Any,
) -> str:
    """All that a command sends to a terminal, which may go away after some bytes; it must end well.

    What is not sent there goes nowhere; `options` are those of `subprocess.Popen`.
    """
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        stdout=theirs if stdout else subprocess.DEVNULL,
        stderr=theirs if stderr else subprocess.DEVNULL,
        **options,
    )
    os.close(theirs)
    output = b""
    try:
        while received := os.read(ours, 65536):
            output += received
            if hang_up_after and hang_up_after in output:
                break
    except OSError:
        pass  # Linux reports the end of a terminal as an error.
    finally:
        os.close(ours)
    assert process.wait(timeout=60) == 0
    return output.decode()


def noiseclean(
    folder: Path, *arguments: str | Path, stdin: str = "", code: int = 0, encoding: str = "utf-8"
) -> Done:
    """`scrapy noiseclean` in this process, outside of any project, as if started in `folder`.

    Its exit code must be `code`. Crawls and projects need a process of their own.
    """
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), encoding, newline="\n") for _ in range(2))
    here = Path.cwd()
    with ExitStack() as stack:
        stack.callback(os.chdir, here)
        stack.callback(_forget_logging)
        stack.enter_context(redirect_stdout(stdout))
        stack.enter_context(redirect_stderr(stderr))
        given = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
        stack.enter_context(patch.object(sys, "stdin", given))
        os.chdir(folder)
        with pytest.raises(SystemExit) as exit:
            execute(["scrapy", "noiseclean", *map(str, arguments)], Settings())
    printed, told = (_content(stream, encoding) for stream in (stdout, stderr))
    assert (exit.value.code or 0) == code, (printed[-2000:], told)
    return Done(code, printed, told)


def run_noiseclean(
    folder: Path, *arguments: str | Path, stdin: str = "", code: int = 0, **variables: str
) -> Done:
    """The real `scrapy noiseclean`, in a process of its own; as `run_module`."""
    command = ("noiseclean", *map(str, arguments))
    return run_module(folder, "scrapy", *command, stdin=stdin, code=code, **variables)


def run_scrapy(folder: Path, *arguments: str, code: int = 0, **variables: str) -> Done:
    """The real `scrapy`, in a process of its own; as `run_module`."""
    return run_module(folder, "scrapy", *arguments, code=code, **variables)


def run_console(
    folder: Path, *arguments: str | Path, stdin: str = "", code: int = 0, **variables: str
) -> Done:
    """The console command, in a process of its own; as `run_module`."""
    command = ("noiseclean_scrapy", *map(str, arguments))
    return run_module(folder, *command, stdin=stdin, code=code, **variables)


def run_module(
    folder: Path, module: str, *arguments: str, stdin: str = "", code: int = 0, **variables: str
) -> Done:
    """As `run_process` runs `python -m MODULE`, but forked, unless Python reads the variables."""
    if sys.platform == "win32" or any(name.startswith(("PYTHON", "LC_")) for name in variables):
        command = (sys.executable, "-W", "error", "-m", module, *arguments)
        return run_process(folder, *command, stdin=stdin, code=code, **variables)
    from tests.support.forked import run_forked

    done = run_forked(folder, module, arguments, stdin, environment(**variables))
    return _checked(done, code)


def run_process(
    folder: Path, *command: str, stdin: str = "", code: int = 0, **variables: str
) -> Done:
    """A command whose exit code must be `code`, and that may show no traceback."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(**variables),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return _checked(done, code)


def _checked(done: subprocess.CompletedProcess[str], code: int) -> Done:
    assert done.returncode == code, (done.stdout[-2000:], done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def start_program(program: str, *arguments: str) -> subprocess.Popen[str]:
    """A Python program in a process of its own, which is read while it runs."""
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)


def _content(stream: io.TextIOWrapper, encoding: str) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    # JSON is UTF-8 whatever the encoding of the terminal.
    return stream.buffer.getvalue().decode("utf-8" if encoding == "ascii" else encoding)


def _forget_logging() -> None:
    """Scrapy's handler would go on writing to the stderr of the command."""
    logging.captureWarnings(False)
    if handler := get_scrapy_root_handler():
        logging.getLogger().removeHandler(handler)


def enter_project(folder: Path) -> None:
    """Let commands run in a folder see the example project."""
    shutil.copy(ROOT / "scrapy.cfg", folder)


@dataclass(frozen=True)
class DemoCrawl:
    """A crawl of the demo newspaper: the database it left, and the pages by URL."""

    database: Path
    pages: dict[str, DemoPage]

    @property
    def site(self) -> str:
        return site_name(next(iter(self.pages)))

    @property
    def tree_file(self) -> str:
        """What `export-tree` calls its file."""
        return f"{self.site.replace(':', '-')}.noiseclean"

    def records(self) -> Iterator[PageRecord]:
        with Store(f"sqlite:///{self.database}", read_only=True) as store:
            yield from store.pages.with_text()

    def url(self, path: str) -> str:
        return next(url for url in self.pages if url.endswith(path))

    def article(self) -> tuple[str, DemoPage]:
        """The longest article and its URL."""
        articles = [(url, page) for url, page in self.pages.items() if page.kind == "article"]
        return max(articles, key=lambda found: len(found[1].gold))


def copy_demo(folder: Path) -> DemoCrawl:
    """The crawled demo newspaper, in a copy of its own."""
    crawled = crawl_demo()
    shutil.copy(crawled.database, folder / "noiseclean.db")
    return DemoCrawl(folder / "noiseclean.db", crawled.pages)


@cache
def crawl_demo() -> DemoCrawl:
    """Crawl a small demo newspaper with the real executable, once for all tests of a session."""
    folder = Path(mkdtemp(prefix="noiseclean-demo-"))
    enter_project(folder)
    with DemoServer(DemoSite(articles=16, seed=5)) as server:
        settings: tuple[str, ...] = ("DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=0")
        settings += ("CONCURRENT_REQUESTS=1",)
        settings += ("NOISECLEAN_DATABASE_URL=sqlite:///noiseclean.db", "NOISECLEAN_STORE_HTML=1")
        settings += ("NOISECLEAN_SAMPLE_QUOTA=20", "NOISECLEAN_REFRESH_PAGES=10")
        options = [part for setting in settings for part in ("-s", setting)]
        start = ("-a", f"start_urls={server.url}/")
        run_scrapy(folder, "crawl", "newspaper", *start, *options)
        pages = {server.url + path: page for path, page in server.site.pages.items()}
    return DemoCrawl(folder / "noiseclean.db", pages)


def plain(text: str) -> str:
    """What a terminal shows, without its colours."""
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text).replace("\r", "")
