"""What a Spark job tells of its archives and pages: counts of each step, and their sums."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pyspark.accumulators import AccumulatorParam

from noiseclean_scrapy.batch.spark_tasks import Counts, Part
from noiseclean_scrapy.errors import JobError
from noiseclean_scrapy.service_urls import shown_url

Told: TypeAlias = dict[str, Any]
"""Counts by name, the `reason` of the first failure, and archives with `problems`, as JSON."""
_OF_ARCHIVES = ("pages", "missing", "damaged")


class Parts(AccumulatorParam[dict[Any, Any]]):
    """Counts by part of a step: a task that runs twice is counted once."""

    def zero(self, value: dict[Any, Any]) -> dict[Any, Any]:
        return {}

    def addInPlace(  # noqa: N802
        self, value1: dict[Any, Any], value2: dict[Any, Any]
    ) -> dict[Any, Any]:
        value1.update(value2)
        return value1


def told_of_step(
    counts: Mapping[Part, Counts],
    archives: Sequence[str],
    reading: Literal["learn", "read"],
    failing: Literal["learn", "clean"],
) -> Told:
    """The sums over a step's parts, by the kinds that read archives and that failed with pages."""
    read = {part: found for (of, part), found in sorted(counts.items()) if of == reading}
    failed = [found for (of, _), found in sorted(counts.items()) if of == failing and found.failed]
    return {
        **{name: sum(getattr(found, name) for found in read.values()) for name in _OF_ARCHIVES},
        "failed": sum(found.failed for found in failed),
        "reason": failed[0].reason if failed else "",
        "problems": {
            shown_url(archives[part]): {name: getattr(found, name) for name in _OF_ARCHIVES}
            for part, found in read.items()
            if found.missing or found.damaged
        },
    }


def report_of(archives: int, sites: int, learned: Sequence[Told], cleaned: Sequence[Told]) -> Told:
    """What became of the archives and of their pages, in all segments."""
    problems = {path: found for told in cleaned for path, found in told["problems"].items()}
    absent = {
        path: told["problems"][path]
        for told in learned
        for path in missing_of(told) - set(problems)
    }
    missing = _sum(cleaned, "missing") + len(absent)
    return {
        "archives": archives,
        "sites": sites,
        "pages": _sum(cleaned, "pages"),
        "missing": missing,
        "damaged": _sum(cleaned, "damaged"),
        "failed": _sum(cleaned, "failed"),
        "not_learned": _sum(learned, "failed"),
        "reason": next((told["reason"] for told in cleaned if told["reason"]), ""),
        "complete": not missing,
        "problems": {**absent, **problems},
    }


def missing_of(told: Told) -> set[str]:
    """The archives that were not there."""
    return {path for path, counts in told["problems"].items() if counts["missing"]}


def bound_failures(told: Told, what: str, max_failed: float) -> None:
    """Raise JobError where a share above `max_failed` of the pages failed."""
    failed, pages = told["failed"], told["pages"]
    if failed > max_failed * pages:
        raise JobError(
            f"{failed} of {pages} pages could not be {what}, more than the share of "
            f"{max_failed:g} that may fail; the first: {told['reason']}"
        )


def short_reason(error: Exception) -> str:
    """The line of Spark's many that says what went wrong."""
    lines = [line.strip() for line in str(error).splitlines()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception): ", line)]
    return (named or lines or [repr(error)])[-1 if named else 0][:300]


def _sum(told: Iterable[Told], name: str) -> int:
    return sum(counts[name] for counts in told)
