"""Real crawls for tests: Scrapy in a process of its own, to its end or until it is killed."""

from __future__ import annotations

import asyncio
import gc
import importlib
import inspect
import json
import logging
import multiprocessing
import os
import warnings
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor

from tests.support.crawl_site import Pages, serve

ROOT = Path(__file__).resolve().parents[2]
ADDON = {"noiseclean_scrapy.addon.Addon": 300}
ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
SELECT = "twisted.internet.selectreactor.SelectReactor"
NO_REACTOR = ""

# Crawls and commands have processes of their own, forked from one that imported all but a reactor.
PROCESSES: Any = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    """
    pytest pydantic aiohttp aiohttp.web dateparser.date dateparser.languages.loader
    sqlalchemy.dialects.sqlite sqlalchemy.dialects.postgresql noiseclean_scrapy.addon
    noiseclean_scrapy.batch.fetching noiseclean_scrapy.batch.replay
    noiseclean_scrapy.commands.clean noiseclean_scrapy.commands.console
    noiseclean_scrapy.commands.crawling noiseclean_scrapy.commands.inspect
    noiseclean_scrapy.commands.scrapy_command noiseclean_scrapy.commands.sites
    noiseclean_scrapy.crawl.writer noiseclean_scrapy.focus.potential
    noiseclean_scrapy.methods.evidence py3langid pytz rich.progress scrapy.cmdline
    scrapy.commands.shell scrapy.contracts scrapy.crawler scrapy.core.engine
    scrapy.core.downloader.contextfactory scrapy.core.downloader.handlers.datauri
    scrapy.core.downloader.handlers.file scrapy.core.downloader.handlers.http11
    scrapy.downloadermiddlewares.cookies scrapy.downloadermiddlewares.httpcache
    scrapy.downloadermiddlewares.httpcompression scrapy.downloadermiddlewares.httpproxy
    scrapy.downloadermiddlewares.redirect scrapy.downloadermiddlewares.retry
    scrapy.downloadermiddlewares.robotstxt scrapy.extensions.feedexport
    scrapy.extensions.memusage scrapy.extensions.telnet scrapy.extensions.throttle
    scrapy.pqueues scrapy.robotstxt scrapy.spidermiddlewares.httperror scrapy.squeues
    tests.support.crawl_site tldextract trafilatura twisted.web.client tzlocal
    """.split()
)


@dataclass(frozen=True)
class Plan:
    """One crawl: a spider class of a test module, settings and spider arguments."""

    spider: type[scrapy.Spider]
    settings: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Crawled:
    """What a crawl left: its feed, stats and log; the exception that kept it from starting."""

    items: list[dict[str, Any]]
    stats: dict[str, Any]
    log: str
    error: str

    @property
    def ours(self) -> dict[str, Any]:
        """The stats of noiseclean, without the prefix."""
        head = "noiseclean/"
        return {k[len(head) :]: v for k, v in self.stats.items() if k.startswith(head)}

    def lines(self, level: str, logger: str = "noiseclean_scrapy") -> list[str]:
        """The messages of a level from a logger."""
        head = f"{level} {logger}"
        found = [line for line in self.log.splitlines() if line.startswith(head)]
        return [line.split(": ", 1)[1] for line in found]


def crawl(
    folder: Path, *plans: Plan, reactor: str = ASYNCIO, addons: Mapping[str, int] | None = None
) -> list[Crawled]:
    """Run crawls one after the other in a new process, in which every warning is an error."""
    path = _write_plans(folder, plans, reactor, addons)
    process = PROCESSES.Process(target=run_crawls, args=(path,))
    process.start()
    process.join(300)
    assert process.exitcode == 0, path.with_suffix(".stderr").read_text()
    assert path.with_suffix(".stderr").read_text() == ""
    return _read_results(path)


def crawl_pages(
    folder: Path,
    spider: type[scrapy.Spider],
    pages: Pages,
    settings: Mapping[str, Any] | None = None,
    *,
    reactor: str = ASYNCIO,
    addons: Mapping[str, int] | None = None,
    **arguments: Any,
) -> Crawled:
    """One crawl of pages that are served for it; its spider gets the `url`, and all `paths`."""
    with serve(pages) as server:
        given = {"url": server.url, "paths": list(pages), **arguments}
        plan = Plan(spider, settings or {}, given)
        (crawled,) = crawl(folder, plan, reactor=reactor, addons=addons)
    return crawled


def never(line: str) -> bool:
    """No line of the log is the one at which a crawl is to be killed."""
    return False


def crawl_together(
    folder: Path, plans: Sequence[Plan], killed: Callable[[str], bool] = never
) -> list[tuple[list[str], Crawled | None]]:
    """Run crawls at the same time as `crawl_until` does; the first is `killed` when it is told."""

    def run(number: int) -> tuple[list[str], Crawled | None]:
        own = folder / str(number)
        own.mkdir(parents=True)
        return crawl_until(own, plans[number], never if number else killed)

    with ThreadPoolExecutor(len(plans)) as pool:
        return list(pool.map(run, range(len(plans))))


def crawl_until(
    folder: Path, plan: Plan, is_time: Callable[[str], bool] = never
) -> tuple[list[str], Crawled | None]:
    """Run a crawl that is killed (SIGKILL) when `is_time` says so of a line of its log.

    Gives the messages logged until then, and what the crawl left unless it was killed.
    """
    path = _write_plans(folder, [plan], ASYNCIO, None)
    ours, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=run_crawls, args=(path, theirs))
    process.start()
    theirs.close()
    lines: list[str] = []
    try:
        while True:
            lines.append(ours.recv())
            if process.is_alive() and is_time(lines[-1]):
                process.kill()
    except (EOFError, OSError):
        process.join(300)
    assert process.exitcode in (0, -9), path.with_suffix(".stderr").read_text()
    return lines, _read_results(path)[0] if process.exitcode == 0 else None


def _write_plans(
    folder: Path, plans: Sequence[Plan], reactor: str, addons: Mapping[str, int] | None
) -> Path:
    path = folder / f"crawls-{len(list(folder.glob('crawls-*.json')))}.json"
    crawls = []
    for number, plan in enumerate(plans):
        settings = {
            "ADDONS": ADDON if addons is None else addons,
            "FEEDS": {str(path.with_suffix(f".{number}.jsonl")): {"format": "jsonlines"}},
            "TELNETCONSOLE_ENABLED": False,
            "TWISTED_REACTOR": reactor or None,
            "TWISTED_REACTOR_ENABLED": bool(reactor),
            **plan.settings,
        }
        file = Path(inspect.getfile(plan.spider)).resolve()
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        crawls.append((module, plan.spider.__name__, settings, dict(plan.arguments)))
    path.write_text(json.dumps({"reactor": reactor, "crawls": crawls}))
    return path


def _read_results(path: Path) -> list[Crawled]:
    results = []
    for number, result in enumerate(json.loads(path.with_suffix(".result").read_text())):
        feed = path.with_suffix(f".{number}.jsonl")
        text = feed.read_text() if feed.exists() else ""
        results.append(Crawled([json.loads(line) for line in text.splitlines()], **result))
    return results


class _Sender(logging.Handler):
    def __init__(self, connection: Any) -> None:
        super().__init__()
        self.connection = connection

    def emit(self, record: logging.LogRecord) -> None:
        self.connection.send(record.getMessage())


def run_crawls(path: Path, connection: Any = None) -> None:
    """The crawling process: run what the file says, write what came of it next to the file."""
    stderr = os.open(path.with_suffix(".stderr"), os.O_WRONLY | os.O_CREAT)
    os.dup2(stderr, 2)
    os.chdir(path.parent)
    gc.freeze()  # what was imported before is not searched for garbage
    warnings.simplefilter("error")
    configure_logging({"LOG_INSTALL_ROOT_HANDLER": False})
    logging.getLogger().setLevel(logging.DEBUG)
    if connection is not None:
        logging.getLogger().addHandler(_Sender(connection))
    work = json.loads(path.read_text())
    results: list[dict[str, Any]] = []

    async def run_all() -> None:
        for number, one in enumerate(work["crawls"]):
            log = path.with_suffix(f".{number}.log")
            results.append(await _crawl_once(log, *one))

    if work["reactor"] == NO_REACTOR:
        asyncio.run(run_all())
    else:
        _run_with_reactor(run_all, work["reactor"])
    path.with_suffix(".result").write_text(json.dumps(results, default=str))


def _run_with_reactor(run_all: Callable[[], Coroutine[Any, Any, None]], path: str) -> None:
    install_reactor(path)
    from twisted.internet import reactor

    running: Any = reactor
    failures: list[Any] = []
    done = deferred_from_coro(run_all())
    done.addErrback(failures.append)
    done.addBoth(lambda _: running.callLater(0, running.stop))
    running.run()
    for failure in failures:
        failure.raiseException()


async def _crawl_once(
    log: Path, module: str, name: str, settings: dict[str, Any], arguments: dict[str, Any]
) -> dict[str, Any]:
    spider = getattr(importlib.import_module(module), name)
    handler = logging.FileHandler(log)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    error, stats = "", {}
    try:
        crawler = Crawler(spider, settings)
        if settings["TWISTED_REACTOR"] == SELECT:
            await crawler.crawl(**arguments)
        else:
            await crawler.crawl_async(**arguments)
        stats = crawler.stats.get_stats()
    except Exception as exception:
        error = f"{type(exception).__name__}: {exception}"
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    return {"stats": stats, "log": log.read_text(), "error": error}
