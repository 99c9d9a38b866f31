"""Commands in processes of their own, forked from one that has imported all they need."""

from __future__ import annotations

import gc
import io
import os
import runpy
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Timer

from tests.support.crawling import PROCESSES


def run_forked(
    folder: Path, module: str, arguments: Sequence[str], stdin: str, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """As `python -W error -m MODULE ARGUMENTS` in a folder, with these variables and UTF-8."""
    (given, write), (read_out, out), (read_err, err) = (PROCESSES.Pipe(False) for _ in range(3))
    process = PROCESSES.Process(
        target=_run, args=(folder, module, arguments, variables, (given, out, err))
    )
    process.start()
    for connection in (given, out, err):
        connection.close()
    timer = Timer(300, process.kill)
    timer.start()
    with ThreadPoolExecutor(3) as pool:
        pool.submit(_write, write, stdin)
        printed, told = pool.map(_read, (read_out, read_err))
    process.join()
    timer.cancel()
    return subprocess.CompletedProcess([module, *arguments], process.exitcode, printed, told)


def _write(connection: Connection, text: str) -> None:
    try:
        with open(os.dup(connection.fileno()), "w", encoding="utf-8", newline="") as stream:
            connection.close()
            stream.write(text)
    except BrokenPipeError:
        pass  # It has not read all, which it need not.


def _read(connection: Connection) -> str:
    with open(os.dup(connection.fileno()), encoding="utf-8") as stream:
        connection.close()
        return stream.read()


def _run(
    folder: Path,
    module: str,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    streams: Sequence[Connection],
) -> None:
    for number, connection in enumerate(streams):
        os.dup2(connection.fileno(), number)
        connection.close()
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8")
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(number, "w", closefd=False)),
            "utf-8",
            errors,
            line_buffering=number == 2,
        )
        for number, errors in ((1, "strict"), (2, "backslashreplace"))
    )
    os.chdir(folder)
    gc.freeze()  # what was imported before is not searched for garbage
    os.environ.clear()
    os.environ.update(variables)
    sys.path.insert(0, str(folder))
    sys.argv = [module, *arguments]
    sys.warnoptions[:] = ["error"]
    warnings.resetwarnings()
    warnings.simplefilter("error")
    runpy.run_module(module, run_name="__main__", alter_sys=True)
