"""Measuring processes: one of its own for each figure, and the memory that it takes (Linux)."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def in_new_process(
    function: Callable[Arguments, Result], *arguments: Arguments.args, **options: Arguments.kwargs
) -> Result:
    """What a function gives in a process that has done nothing else."""
    context = multiprocessing.get_context("spawn")
    # Not Pool: it ends its workers by a signal, which Scrapy catches.
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments, **options).result()


def peak_mib() -> float:
    """The most memory that this process has had."""
    # Not ru_maxrss: a new process takes that over from the one that started it.
    return round(_mib("VmHWM", "self"), 1)


def resident_mib(process: int | str = "self") -> float:
    """The memory that a process has now."""
    return _mib("VmRSS", process)


def _mib(field: str, process: int | str) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    (kib,) = re.findall(rf"^{field}:\s+(\d+) kB$", status, flags=re.MULTILINE)
    return int(kib) / 1024
