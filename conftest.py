"""Modules that need an extra are skipped where it is missing; other imports must work."""

from __future__ import annotations

from collections.abc import Generator
from importlib.util import find_spec

import pytest

OF_EXTRAS = {"pyarrow", "pyspark", "redis", "starlette", "tomlkit", "uvicorn"}
"""What whole modules are of no use without."""
WEB = ("starlette", "tomlkit", "uvicorn")
collect_ignore = [] if all(map(find_spec, WEB)) else ["noiseclean_scrapy/web"]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a module whose optional dependency is missing; any other failing import is an error."""
    report = yield
    call = getattr(report, "call", None)
    error = call.excinfo.value.__cause__ if call and call.excinfo else None
    missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    if missing.partition(".")[0] in OF_EXTRAS:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 1, f"Skipped: {missing} is not installed")
    return report


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name gzipped bytes by their parameter: they hold the time, and all workers must agree."""
    return argname if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None
