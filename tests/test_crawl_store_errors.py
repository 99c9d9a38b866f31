"""The store fails, at the start or in the middle of a crawl."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import Response

from noiseclean_scrapy.store import Store
from tests.support import crawl_site, crawling
from tests.support.crawl_site import ChainSpider, PageServer, story
from tests.support.crawling import Crawled, Plan
from tests.support.databases import read_rows, run_statement
from tests.support.searching import page, write

PATHS = [f"/{number}" for number in range(12)]


class TroubleSpider(ChainSpider):
    """Breaks the database at its fourth page, and may mend it at its eighth."""

    name = "trouble"
    database: str
    trouble: str

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        if number == 3:
            self.connection = sqlite3.connect(self.database, isolation_level=None)
            for statement in self.trouble.split(";"):
                self.connection.execute(statement)
        if number == 8 and self.trouble.startswith("BEGIN"):
            self.connection.execute("ROLLBACK")
        yield from super().parse(response, number)

    def closed(self, reason: str) -> None:
        self.connection.close()


@pytest.fixture(scope="module")
def site() -> Iterator[PageServer]:
    pages = {path: story(number) for number, path in enumerate(PATHS)}
    with crawl_site.serve(pages) as server:
        yield server


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"DATABASE_URL": "sqlite:////no/such/folder/a.db"}, "cannot open the database"),
        ({"DATABASE_URL": "sqlite:///missing.db", "READ_ONLY": True}, "no database file"),
        ({"DATABASE_URL": "mysql://user:secret@db.example/a"}, "no store for the database 'mysql'"),
        (
            {"DATABASE_URL": "postgresql://user:secret@127.0.0.1:1/a"},
            "cannot open the database postgresql://user:***@127.0.0.1:1/a",
        ),
    ],
)
def test_without_a_store_the_crawl_does_not_start(
    tmp_path: Path, site: PageServer, settings: dict[str, Any], message: str
) -> None:
    named = {f"NOISECLEAN_{name}": value for name, value in settings.items()}
    site.requests.clear()
    plan = Plan(ChainSpider, named, {"url": site.url, "paths": PATHS})
    (crawled,) = crawling.crawl(tmp_path, plan)
    assert crawled.stats["finish_reason"] == "noiseclean_store_error"
    (line,) = crawled.lines("ERROR", logger="")
    assert message in line
    assert "Traceback" not in crawled.log
    assert "secret" not in crawled.log
    assert not crawled.items
    assert not site.requests
    assert not list(tmp_path.glob("*.db"))


def test_text_of_the_database_forges_no_line_of_the_log(tmp_path: Path, site: PageServer) -> None:
    url = f"sqlite:///{tmp_path / 'noiseclean.db'}"
    with Store(url) as store:
        write(store, page("k", "Fog"))
    forged = "'x' || char(27) || ']0;owned' || char(7, 10) || '2026-01-01 [fake] ERROR: forged'"
    run_statement(url, f"UPDATE noiseclean_cluster SET method = {forged}")
    arguments = {"url": site.url, "paths": PATHS[:2]}
    plan = Plan(ChainSpider, {"NOISECLEAN_DATABASE_URL": url}, arguments)
    (crawled,) = crawling.crawl(tmp_path, plan)
    assert any("x]0;owned 2026-01-01 [fake]" in line for line in crawled.lines("ERROR"))
    assert "\x1b" not in crawled.log
    assert "\n2026-01-01 [fake]" not in crawled.log


@pytest.mark.slow
def test_a_site_stays_with_the_method_that_learned_it(tmp_path: Path, site: PageServer) -> None:
    arguments = {"url": site.url, "paths": PATHS}
    other = {
        "NOISECLEAN_CLUSTER_BY": "template",
        "NOISECLEAN_METHOD": "style-tree",
        "NOISECLEAN_SAMPLE_QUOTA": 2,
    }
    first = Plan(ChainSpider, {"NOISECLEAN_SAMPLE_QUOTA": 2}, {**arguments, "paths": PATHS[:6]})
    with crawl_site.serve({"/new": story(1)}) as elsewhere:
        new = {"url": elsewhere.url.replace("127.0.0.1", "localhost"), "paths": ["/new"]}
        plans = [first, Plan(ChainSpider, other, arguments), Plan(ChainSpider, other, new)]
        _, second, third = crawling.crawl(tmp_path, *plans)
    (line,) = second.lines("WARNING")
    assert "has learned by evidence stay with it; only new ones are learned by style-tree" in line
    assert "reclean SITE --method style-tree" in line
    assert second.ours["pages/learned"] == 6
    assert third.ours["pages/learned"] == 1
    url = f"sqlite:///{tmp_path}/noiseclean.db"
    trees = read_rows(url, "SELECT DISTINCT cluster, method FROM noiseclean_tree ORDER BY cluster")
    new_site = elsewhere.site.replace("127.0.0.1", "localhost")
    assert trees == [(site.site, "evidence"), (new_site, "style-tree+templates")]
    assert read_rows(url, "SELECT count(*) FROM noiseclean_page WHERE learned_version IS NULL") == [
        (0,)
    ]


def crawl_with_trouble(folder: Path, site: PageServer, trouble: str) -> Crawled:
    database = folder / "noiseclean.db"
    settings = {
        "CONCURRENT_REQUESTS": 1,
        "NOISECLEAN_BATCH_SIZE": 2,
        "NOISECLEAN_SAMPLE_QUOTA": 6,
        "NOISECLEAN_DATABASE_URL": f"sqlite:///{database}?timeout=0.05",
    }
    arguments = {
        "url": site.url,
        "paths": PATHS,
        "database": str(database),
        "trouble": trouble,
    }
    (crawled,) = crawling.crawl(folder, Plan(TroubleSpider, settings, arguments))
    # Whatever happens to the store: the crawl ends as planned, and all items have a text.
    assert crawled.stats["finish_reason"] == "finished"
    assert [item["path"] for item in crawled.items] == PATHS
    assert all(item["text"].startswith("Story ") for item in crawled.items)
    assert crawled.ours["items/cleaned"] == len(PATHS)
    assert crawled.ours["store/errors"] >= 1
    assert "errors" not in crawled.ours
    assert "Traceback" not in crawled.log
    return crawled


@pytest.mark.slow
def test_a_store_that_is_locked_for_a_while_gets_all_pages(
    tmp_path: Path, site: PageServer
) -> None:
    crawled = crawl_with_trouble(tmp_path, site, "BEGIN IMMEDIATE")
    (line,) = crawled.lines("ERROR")
    assert line.endswith(
        "refused: database is locked; the crawl goes on, its pages wait for the next try"
    )
    assert crawled.ours["pages/learned"] == len(PATHS)
    query = "SELECT position, learned_version IS NULL, text IS NULL FROM noiseclean_page"
    rows = read_rows(f"sqlite:///{tmp_path}/noiseclean.db", f"{query} ORDER BY position")
    assert rows == [(position, 0, 0) for position in range(1, len(PATHS) + 1)]


@pytest.mark.parametrize(
    "table",
    ["noiseclean_page_html", pytest.param("noiseclean_page", marks=pytest.mark.slow)],
)
def test_a_store_without_a_table_stops_nothing(
    tmp_path: Path, site: PageServer, table: str
) -> None:
    crawled = crawl_with_trouble(tmp_path, site, f"ALTER TABLE {table} RENAME TO gone")
    refused, lost = crawled.lines("ERROR")
    assert f"no such table: {table}" in refused
    assert "pages could not be stored; they wait in" in lost
    assert lost.endswith("noiseclean.db-spool for the next crawl with this database")
    # Whether a page is learned is for the store to say.
    assert crawled.ours["pages/learned"] == 4
