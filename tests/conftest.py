"""Fixtures of all tests, and what the two speeds leave out.

A plain `pytest` runs what needs nothing but Python and does not take long. Tests marked `slow` and
`services` run with `pytest -m ""` (all) or `pytest -m slow`; a test that uses one of the fixtures
for a server, for Java or for a browser is marked `services` by it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from noiseclean_scrapy import kernels
from noiseclean_scrapy.store import Store
from tests.support.browsing import open_browser
from tests.support.command_line import DemoCrawl, copy_demo
from tests.support.databases import KINDS, new_database, postgresql_schema
from tests.support.private_postgresql import PrivateServer, private_postgresql
from tests.support.sparking import need_spark, open_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.redis_queues import Queue

# A default run is the same each time; `--hypothesis-profile=night` looks at new examples.
_ANY_TIME: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("day", derandomize=True, **_ANY_TIME)
settings.register_profile("night", print_blob=True, **_ANY_TIME)
settings.load_profile("day")

SERVICES = {"postgresql_url", "postgresql_server", "redis_queue", "java", "browser"}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what uses a service."""
    if not SERVICES.isdisjoint(getattr(item, "fixturenames", ())):
        item.add_marker("services")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what the default selection leaves out, and why."""
    if config.option.markexpr == "not slow and not services and not night":
        terminalreporter.write_line(
            "Left out: slow tests (-m slow; -m night) and those that need PostgreSQL, Redis, Java "
            "or Chromium (-m services); all: -m ''"
        )


@pytest.fixture(autouse=True)
def log_again() -> Iterator[None]:
    """Some benchmarks switch logging off, which would hold for all tests after theirs."""
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """URL of an SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'noiseclean.db'}"


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    """URL of an empty schema of a PostgreSQL server."""
    with postgresql_schema() as url:
        yield url


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of an empty database, once for each kind of database."""
    with new_database(request.param, tmp_path) as url:
        yield url


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """An empty store in each kind of database."""
    with Store(database_url) as store:
        yield store


@pytest.fixture
def postgresql_server() -> Iterator[PrivateServer]:
    """A PostgreSQL server of the test's own, which may be killed."""
    with private_postgresql() as server:
        yield server


@pytest.fixture
def redis_queue() -> Iterator[Queue]:
    """Keys of the test's own in a Redis server."""
    from tests.support import redis_queues

    with redis_queues.redis_queue() as queue:
        yield queue


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    with open_browser() as chromium:
        yield chromium


@pytest.fixture(scope="session")
def java() -> None:
    """For tests that start Spark in processes of their own."""
    need_spark()


@pytest.fixture(scope="module")
def spark(java: None) -> Iterator[SparkSession]:
    """A Spark session on two cores."""
    with open_spark() as session:
        yield session


@pytest.fixture
def demo(tmp_path: Path) -> DemoCrawl:
    """The crawled demo newspaper, in a copy of its own."""
    return copy_demo(tmp_path)


@pytest.fixture(params=["compiled", "in Python"])
def reader(request: pytest.FixtureRequest) -> Iterator[None]:
    """Pages are read once by what is compiled, and once in Python."""
    if request.param == "compiled":
        yield
    else:
        with kernels.in_python():
            yield
