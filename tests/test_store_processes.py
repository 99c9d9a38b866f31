"""The store among processes: one is killed, several write at once."""

from __future__ import annotations

import subprocess
import time
from datetime import datetime, timezone
from threading import Thread

import psycopg
import pytest
from psycopg.errors import LockNotAvailable

from noiseclean_scrapy.store import PageCounts, PageRecord, Store
from tests.support import databases
from tests.support.command_line import start_program
from tests.support.private_postgresql import PrivateServer

# Writes pages one by one, says so after each, and saves a tree after every tenth.
CRAWLER = """
import sys
from datetime import datetime, timezone
from noiseclean_scrapy import Block
from noiseclean_scrapy.store import Cleaned, PageRecord, Store
url, cluster, pages = sys.argv[1], sys.argv[2], int(sys.argv[3])
block = Block("Fog", "/p", "p", True, 0.5, {})
cleaned = Cleaned("t", "x" * 2000, [block], 0, 2000, 2000)
with Store(url) as store:
    for position in range(1, pages + 1):
        key = f"{cluster}-{position:06}"
        page = PageRecord(key, cluster, "http://a/", "0", datetime.now(timezone.utc), position,
                          f"<p>{position}" * 500, cleaned)
        store.pages.write([page], method="evidence")
        print(key, flush=True)
        if position % 10 == 0:
            version = position // 10
            tree = b"tree" * 1000
            again = Cleaned("t", "y" * 2000, [block], version, 2000, 2000)
            store.clusters.save_tree(cluster, method="evidence", version=version, tree=tree,
                            learned=position, clean=lambda page: again)
"""


def start_crawler(url: str, cluster: str, pages: int) -> subprocess.Popen[str]:
    return start_program(CRAWLER, url, cluster, str(pages))


@pytest.mark.slow
@pytest.mark.parametrize("reported", [1, 39, 40, 117])
def test_a_killed_crawler_loses_nothing_it_reported(database_url: str, reported: int) -> None:
    with start_crawler(database_url, "a", 100_000) as crawler:
        assert crawler.stdout is not None
        keys = {crawler.stdout.readline().strip() for _ in range(reported)}
        crawler.kill()  # SIGKILL
        keys.update(line.strip() for line in crawler.stdout if line.endswith("\n"))
    # A commit that PostgreSQL has already received may still be on its way: its row lock says so.
    databases.run_statement(database_url, "UPDATE noiseclean_cluster SET name = name")
    with Store(database_url) as store:
        pages = list(store.pages.with_text())
        found = [page.key for page in pages]
        assert len(found) == len(set(found))
        assert keys <= set(found)
        assert len(found) <= len(keys) + 1
        cluster = store.clusters.find("a")
        assert cluster is not None
        assert cluster.learned == len(found)
        covered = {page.key for page in pages if page.learned_version is not None}
        assert len(covered) == cluster.version * 10
        assert covered == {
            page.key for page in pages if page.cleaned and page.cleaned.clean_version
        }
        open_keys = [page.key for page in pages if page.key not in covered]
        assert [page.key for page in store.pages.provisional("a")] == open_keys
    html_keys = "SELECT key FROM noiseclean_page_html ORDER BY key"
    assert databases.read_rows(database_url, html_keys) == [(key,) for key in open_keys]


@pytest.mark.slow
def test_crawlers_write_at_once(database_url: str) -> None:
    clusters = ["a", "b", "c"]
    crawlers = [start_crawler(database_url, cluster, 60) for cluster in clusters]
    for crawler in crawlers:
        crawler.communicate(timeout=100)
    assert [crawler.returncode for crawler in crawlers] == [0, 0, 0]
    with Store(database_url) as store:
        assert store.pages.count() == PageCounts(pages=180, with_text=180, provisional=0)
        assert [(c.name, c.version, c.learned) for c in store.clusters.all()] == [
            (cluster, 6, 60) for cluster in clusters
        ]


_ICU = "ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
_LOCK = "SELECT name FROM noiseclean_cluster WHERE name = %s FOR UPDATE NOWAIT"
_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


@pytest.mark.services
def test_writers_lock_sites_in_one_order_whatever_the_language(
    postgresql_server: PrivateServer,
) -> None:
    # English puts the colon before digits.
    first, second = sorted(["127.0.0.1:8000", "127.0.0.10:8000"])
    plain = postgresql_server.url.replace("+psycopg", "")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE english TEMPLATE template0 {_ICU}")
    url = postgresql_server.url.rsplit("/", 1)[0] + "/english"
    now = datetime.now(timezone.utc)
    with (
        Store(url) as store,
        psycopg.connect(url.replace("+psycopg", "")) as holder,
        psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as other,
    ):
        pages = [PageRecord(key, key, "http://a/", "0", now) for key in (first, second)]
        store.pages.write(pages, method="evidence")
        by_language = other.execute("SELECT name FROM noiseclean_cluster ORDER BY name")
        assert by_language.fetchall() == [(second,), (first,)]
        assert [site.name for site in store.clusters.all()] == [first, second]
        holder.execute(_LOCK, [second])
        deleting = Thread(target=store.pages.delete, args=([first, second],))
        deleting.start()
        while other.execute(_WAITING).fetchone() == (0,):
            time.sleep(0.01)
        with pytest.raises(LockNotAvailable):
            other.execute(_LOCK, [first])
        holder.rollback()
        deleting.join()
        assert store.pages.count(first).pages == 0


@pytest.mark.services
def test_a_page_that_is_written_anew_elsewhere_locks_both_sites_in_order(
    postgresql_server: PrivateServer,
) -> None:
    plain = postgresql_server.url.replace("+psycopg", "")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute("CREATE DATABASE moving")
    url = postgresql_server.url.rsplit("/", 1)[0] + "/moving"
    now = datetime.now(timezone.utc)
    before = [PageRecord(key, key, "http://a/", "0", now) for key in ("a", "b")]
    moved = [PageRecord("a", "b", "http://a/", "0", now)]
    with (
        Store(url) as store,
        psycopg.connect(url.replace("+psycopg", "")) as holder,
        psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as other,
    ):
        store.pages.write(before, method="evidence")
        holder.execute(_LOCK, ["a"])
        options = {"method": "evidence", "rewrite": {"a"}}
        writing = Thread(target=store.pages.write, args=(moved,), kwargs=options)
        writing.start()
        while other.execute(_WAITING).fetchone() == (0,):
            time.sleep(0.01)
        assert other.execute(_LOCK, ["b"]).fetchone() == ("b",)  # nothing is held meanwhile
        holder.rollback()
        writing.join()
        assert (store.pages.count("a").pages, store.pages.count("b").pages) == (0, 2)
