"""One crawl by several processes: scrapy-redis, PostgreSQL, and what both have to do.

    python benchmarks/distributed.py --markdown
    python benchmarks/distributed.py --pages 1000 --processes 2 --web many

Made-up newspapers are served by a process of their own. Processes of a crawl share their requests
in Redis by scrapy-redis, and what they learn in PostgreSQL. Each crawl begins with a new database
and new keys. What it has stored is compared with what the first crawl of the same web stored:
addresses, trees, texts. With `--kill` the first process is killed (SIGKILL) in the middle.

Results of several runs, with one part each, are kept together in the results file.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import secrets
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.http import Response, TextResponse
from scrapy_redis.spiders import RedisSpider
from sqlalchemy import Connection, create_engine, make_url, text

from benchmarks.corpora import ROOT, environment
from benchmarks.loopback import serve
from benchmarks.measuring import peak_mib
from benchmarks.reporting import earlier_figures, publish_figures, report_parser
from benchmarks.tables import Table
from benchmarks.web import Newspapers
from noiseclean_scrapy.clusters.maintenance import load_stored_model
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.store import Store
from tests.support.databases import POSTGRESQL_URL
from tests.support.redis_queues import REDIS_URL

WEBS = {"one": 1, "many": 10}
"""Number of sites."""
VERSIONS = ("noiseclean-scrapy", "scrapy", "scrapy-redis", "redis", "sqlalchemy", "psycopg")
IDLE_SECONDS = 8
START_SECONDS = 60
"""So long a process waits for its first page: of one site, one process takes the first address."""
OTHER_PAGES = 90
"""Pages of a newspaper that are no articles, about."""
COLUMNS = {
    "pages": "pages",
    "pages_per_second": "pages a second",
    "crawler_cpu_ms": "CPU ms a page, crawlers",
    "database_cpu_ms": "database",
    "transactions": "transactions a page",
    "statements": "statements a page",
    "rows": "rows written a page",
    "wal_kib": "WAL KiB a page",
    "stored_kib": "stored KiB a page",
    "lock_share": "time in lock waits",
    "peak_mib": "peak MiB of a process",
    "versions": "tree versions",
    "same": "same pages / trees / texts / texts cleaned again",
}


@dataclass(frozen=True, slots=True)
class Task:
    """What a process of a crawl needs to know."""

    name: str
    proxy: str
    database: str
    hosts: tuple[str, ...]


class SharedSpider(RedisSpider):  # type: ignore[misc]
    """Follows all links within the made-up web, with an item for each page."""

    first_page = last_page = idle_since = 0.0

    def __init__(self, task: Task) -> None:
        super().__init__(task.name)
        self.allowed_domains = list(task.hosts)
        self.started = time.time()

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        self.last_page = time.time()
        self.first_page = self.first_page or self.last_page
        # scrapy-redis counts the time since the last first address.
        self.spider_idle_start_time = int(self.last_page)
        yield {"url": response.url}
        yield from response.follow_all(css="a")

    def spider_idle(self) -> None:
        self.idle_since = time.time()
        if not self.first_page and self.idle_since < self.started + START_SECONDS:
            self.spider_idle_start_time = int(self.idle_since)
        super().spider_idle()


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = report_parser(__doc__, "distributed")
    parser.add_argument("--web", choices=WEBS, action="append", help="one site or many; both")
    parser.add_argument("--pages", type=int, default=5000, help="of the web, about")
    parser.add_argument("--processes", type=int, action="append", help="default 1, 2 and 4")
    parser.add_argument("--kill", action="store_true", help="kill a process at 40 percent")
    parser.add_argument("--texts", type=Path, default=ROOT / "build/distributed-texts.json")
    args = parser.parse_args(argv)
    crawls = earlier_figures(args).get("crawls", {})
    for kind in args.web or list(WEBS):
        sites = WEBS[kind]
        web = Newspapers(sites, max(args.pages // sites - OTHER_PAGES, 5))
        for processes in args.processes or [1, 2, 4]:
            with serve(web) as proxy, own_database() as database, own_keys() as keys:
                task = Task(keys, proxy, database, tuple(web.hosts))
                figures = crawl(task, processes, kill=args.kill, pages=args.pages)
                texts = args.texts.with_suffix(f".{kind}-{args.pages}.json")
                ending = ", one killed" if args.kill else ""
                name = f"{sites} / {args.pages} / {processes}{ending}"
                crawls[name] = figures | {"same": compare(database, texts)}
            figures = {**environment(VERSIONS), "crawls": crawls}
            publish_figures(args, (), figures)
    publish_figures(args, [table(crawls)], {**environment(VERSIONS), "crawls": crawls})
    return 0


def table(crawls: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each crawl."""
    rows = [[n, *(str(r.get(c, "")) for c in COLUMNS)] for n, r in crawls.items()]
    header = ["sites / pages asked for / processes", *COLUMNS.values()]
    return Table("One crawl, several processes", header, rows)


def crawl(task: Task, processes: int, *, kill: bool, pages: int) -> dict[str, Any]:
    """Run the processes of one crawl to their end, and say what it took."""
    server = redis.Redis.from_url(REDIS_URL)
    starts = [json.dumps({"url": f"http://{host}/"}) for host in task.hosts]
    server.rpush(f"{task.name}:start_urls", *starts)
    context = multiprocessing.get_context("spawn")
    results: Any = context.SimpleQueue()
    engine = create_engine(task.database, isolation_level="AUTOCOMMIT")
    # Looking on from another database does not count there.
    watching = create_engine(POSTGRESQL_URL, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection, watching.connect() as observer:
        before = database_load(connection)
        crawlers = [context.Process(target=_crawl, args=(task, results)) for _ in range(processes)]
        for crawler in crawlers:
            crawler.start()
        samples = waits = 0
        stored_at_kill: set[str] = set()
        while any(crawler.is_alive() for crawler in crawlers):
            time.sleep(0.2)
            samples += 1
            waits += lock_waits(observer, make_url(task.database).database)
            if kill and not stored_at_kill and count_pages(connection) >= 0.4 * pages:
                crawlers[0].kill()
                crawlers[0].join()
                stored_at_kill = stored_keys(connection)
        done = [results.get() for _ in range(processes - bool(stored_at_kill))]
        time.sleep(1.5)  # what backends have counted is published when they end
        after = database_load(connection)
        state = final_state(connection, stored_at_kill)
    engine.dispose()
    watching.dispose()
    start, end = min(one["first"] for one in done), max(one["last"] for one in done)
    seconds = end - start + max(one["closing"] for one in done)
    pages = state["pages"]
    load = {key: round((after[key] - before[key]) / pages, 2) for key in before}
    cpu = 1e3 * sum(one["cpu"] for one in done) / pages
    return {
        **state,
        "seconds": round(seconds, 1),
        "pages_per_second": round(pages / seconds, 1),
        "crawler_cpu_ms": round(cpu, 1),
        **load,
        "lock_share": f"{waits / samples / processes:.0%}",
        "peak_mib": round(max(one["peak"] for one in done)),
    }


def _crawl(task: Task, results: Any) -> None:
    os.environ["http_proxy"] = task.proxy
    # scrapy-redis 0.9 calls methods of Scrapy that are deprecated.
    warnings.simplefilter("ignore", ScrapyDeprecationWarning)
    settings = {
        "ADDONS": {"noiseclean_scrapy.addon.Addon": 300},
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "LOG_LEVEL": "ERROR",
        "MAX_IDLE_TIME_BEFORE_CLOSE": IDLE_SECONDS,
        "NOISECLEAN_DATABASE_URL": task.database,
        "REDIS_URL": REDIS_URL,
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_PERSIST": True,
        "TELNETCONSOLE_ENABLED": False,
    }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(SharedSpider)
    process.crawl(crawler, task)
    begun = time.process_time()
    process.start()
    spider = crawler.spider
    assert isinstance(spider, SharedSpider)
    results.put(
        {
            "first": spider.first_page or time.time(),
            "last": spider.last_page,
            "closing": time.time() - spider.idle_since,
            "cpu": time.process_time() - begun,
            "peak": peak_mib(),
        }
    )


@contextmanager
def own_database(prepare: Callable[[str], object] | None = None) -> Iterator[str]:
    """The URL of a new database with the tables, or what `prepare` makes there; dropped later."""
    name = f"noiseclean_bench_{secrets.token_hex(4)}"
    engine = create_engine(POSTGRESQL_URL, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
        url = make_url(POSTGRESQL_URL).set(database=name).render_as_string(hide_password=False)
        if prepare is None:
            Store(url).close()
        else:
            prepare(url)
        try:
            yield url
        finally:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@contextmanager
def own_keys() -> Iterator[str]:
    """The name of a spider whose keys in Redis are deleted afterwards."""
    name = f"noiseclean-bench-{secrets.token_hex(4)}"
    try:
        yield name
    finally:
        server = redis.Redis.from_url(REDIS_URL)
        for key in server.scan_iter(f"{name}:*"):
            server.delete(key)


def database_load(connection: Connection) -> dict[str, float]:
    """What the database has done since it began: sums."""
    row = connection.execute(
        text(
            "SELECT xact_commit, tup_inserted + tup_updated + tup_deleted, "
            "pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') / 1024, "
            "pg_database_size(current_database()) / 1024.0 "
            "FROM pg_stat_database WHERE datname = current_database()"
        )
    ).one()
    load = dict(
        zip(("transactions", "rows", "wal_kib", "stored_kib"), map(float, row), strict=True)
    )
    if connection.execute(
        text("SELECT current_setting('shared_preload_libraries') ~ 'pg_stat_statements'")
    ).scalar():
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_stat_statements"))
        calls = "SELECT sum(calls) FROM pg_stat_statements JOIN pg_database ON oid = dbid "
        calls += "WHERE datname = current_database()"
        load["statements"] = float(connection.execute(text(calls)).scalar() or 0)
    backend = connection.execute(text("SELECT pg_backend_pid()")).scalar()
    if (seconds := server_seconds(Path(f"/proc/{backend}/stat"))) is not None:
        load["database_cpu_ms"] = 1e3 * seconds
    return load


def server_seconds(backend: Path) -> float | None:
    """Processor time of a local server and its children, from one of its backends; else None."""
    if not backend.exists():
        return None
    server = process_stat(backend)[1]
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, parent, own, children = process_stat(path)
        except (OSError, ValueError):
            continue
        if pid == server:
            ticks += own + children
        elif parent == server:
            ticks += own
    return ticks / os.sysconf("SC_CLK_TCK")


def process_stat(path: Path) -> tuple[int, int, int, int]:
    """Number and parent of a process, its ticks and those of its children that have ended."""
    head, _, rest = path.read_text().rpartition(")")
    values = rest.split()
    own, children = int(values[11]) + int(values[12]), int(values[13]) + int(values[14])
    return int(head.split(" ", 1)[0]), int(values[1]), own, children


def lock_waits(connection: Connection, database: str | None) -> int:
    """How many clients of a database wait for a lock now."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = :database "
        "AND wait_event_type = 'Lock'"
    )
    return int(connection.execute(text(query), {"database": database}).scalar_one())


def count_pages(connection: Connection) -> int:
    return int(connection.execute(text("SELECT count(*) FROM noiseclean_page")).scalar_one())


def stored_keys(connection: Connection) -> set[str]:
    return set(connection.execute(text("SELECT key FROM noiseclean_page")).scalars())


def final_state(connection: Connection, stored_at_kill: set[str]) -> dict[str, Any]:
    """What the crawl has left in the database."""
    query = (
        "SELECT count(*) AS pages, count(*) FILTER (WHERE learned_version IS NULL) AS provisional, "
        "(SELECT count(*) FROM noiseclean_tree) AS versions, "
        "(SELECT round(max(size) / 1024.0)::int FROM noiseclean_tree) AS largest_tree_kib, "
        "round(pg_total_relation_size('noiseclean_page_html') / 1024.0 / count(*))::int "
        "AS html_kib "
        "FROM noiseclean_page"
    )
    state = dict(connection.execute(text(query)).mappings().one())
    if stored_at_kill:
        state["stored_at_kill"] = len(stored_at_kill)
        state["lost_of_these"] = len(stored_at_kill - stored_keys(connection))
    return state


def compare(database: str, first: Path) -> str:
    """Pages, trees and texts against those of the first crawl of this web, which are kept.

    The last share is that of the texts once all pages have been cleaned by their newest tree.
    """
    with Store(database, store_html=True) as store:
        state = {"texts": _texts(store), "trees": {}}
        for record in store.clusters.all():
            cluster = store.clusters.find(record.name)
            assert cluster
            state["trees"][record.name] = _digest(cluster.tree or b"")
            model = load_stored_model(store, cluster, Config())
            for _ in store.pages.clean_again(record.name, model.clean):
                pass
        state["cleaned again"] = _texts(store)
    if not first.exists():
        first.parent.mkdir(parents=True, exist_ok=True)
        first.write_text(json.dumps(state))
        return "the first"
    other = json.loads(first.read_text())
    missing = len(state["texts"].keys() ^ other["texts"].keys())
    pages = "all" if not missing else f"{missing} differ"
    trees = sum(other["trees"].get(name) == tree for name, tree in state["trees"].items())
    shares = [f"{_equal(state[which], other[which]):.2%}" for which in ("texts", "cleaned again")]
    return " / ".join([pages, f"{trees} of {len(state['trees'])}", *shares])


def _texts(store: Store) -> dict[str, str]:
    return {
        p.url: _digest((p.cleaned.text if p.cleaned else "").encode())
        for p in store.pages.with_text()
    }


def _equal(texts: Mapping[str, str], others: Mapping[str, str]) -> float:
    both = texts.keys() & others.keys()
    return sum(texts[url] == others[url] for url in both) / max(len(both), 1)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
