"""Millions of page rows in PostgreSQL, copied by SQL from a hundred that our own code wrote.

Sites have sizes by the Pareto law of `benchmarks.plan`, and the pages of all of them are mixed up
in the table, as a long crawl leaves them. Keys are hashes, like those of requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from statistics import median
from typing import Any

from sqlalchemy import Connection, create_engine, text

from benchmarks.distributed import own_database
from benchmarks.plan import RATES, site_sizes
from noiseclean_scrapy.store import Store

TEMPLATE = "s0000000.example"
TABLES = ("noiseclean_page", "noiseclean_page_html", "noiseclean_search")
PAGES_OF_A_SITE = 100
ASKED = 30
GROWING = 10
"""Of so many of the largest sites the last twentieth of the pages waits for a tree."""
_URL = "'https://www.' || c.site || '/archive/2025/story-number-' || c.number || '.html'"
# As long as a fingerprint in hexadecimal digits.
_OWN = {
    "key": f"md5({_URL}) || left(md5(c.site), 8)",
    "cluster": "c.site",
    "url": _URL,
    "position": "c.number",
    "learned_version": "CASE WHEN c.number <= c.covered THEN 1 END",
    "text": f"replace(t.text, '{TEMPLATE}', c.site)",
    "terms": f"replace(t.terms, '{TEMPLATE[:8]}', left(c.site, 8))::tsvector",
}


def measure_filled(copies: int, pages: int, write_site: Callable[..., None]) -> dict[str, float]:
    """The figures of a database that has `copies` pages before `pages` are written."""
    with own_database() as url:
        engine = create_engine(url)
        with engine.connect() as connection:
            with Store(url, store_html=True) as store:
                write_site(store, TEMPLATE, hashed=True)
            fill(connection, copies)
            figures = sizes(connection, copies)
            figures |= written(connection, url, pages, write_site)
            figures |= asked(connection, url, copies)
            figures |= vacuumed(connection)
        engine.dispose()
    return figures


def sizes(connection: Connection, copies: int) -> dict[str, float]:
    """KiB that a page takes, in each of the tables with their indexes."""
    names = ("row", "HTML", "search")
    size = text("SELECT pg_total_relation_size(CAST(:name AS regclass))")
    found = [connection.execute(size, {"name": name}).scalar_one() for name in TABLES]
    return {
        f"KiB a page: {name}": round(found / 1024 / copies, 2)
        for name, found in zip(names, found, strict=True)
    }


def written(
    connection: Connection, url: str, pages: int, write_site: Callable[..., None]
) -> dict[str, float]:
    """What writing pages of new sites costs, as a crawl does it."""
    before = counts(connection)
    began = time.monotonic()
    with Store(url, store_html=True) as store:
        for site in range(pages // PAGES_OF_A_SITE):
            write_site(store, f"newspaper-{site}.example", hashed=True)
        seconds = time.monotonic() - began
    updates, hot, wal, scanned = (n - b for n, b in zip(counts(connection), before, strict=True))
    return {
        "pages a second": round(pages / seconds),
        "updates a page": round(updates / pages, 2),
        "of the updates HOT": round(hot / updates, 2),
        "WAL KiB a page": round(wal / 1024 / pages, 1),
        "rows scanned, writing": int(scanned),
    }


def counts(connection: Connection) -> list[float]:
    """Updates, those that were HOT, bytes of WAL, rows read by scans of whole tables of pages."""
    time.sleep(1.5)  # what backends have counted is published when they end, or a second later
    connection.execute(text("SELECT 1"))
    connection.commit()
    query = (
        "SELECT sum(n_tup_upd), sum(n_tup_hot_upd), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'), "
        "sum(seq_tup_read) FILTER (WHERE relname = ANY(:tables)) FROM pg_stat_user_tables"
    )
    found = connection.execute(text(query), {"tables": list(TABLES)}).one()
    connection.commit()
    return [float(value) for value in found]


def asked(connection: Connection, url: str, copies: int) -> dict[str, float]:
    """Milliseconds of questions, each time another page or site; and the rows that they scan."""
    after = text("SELECT key FROM noiseclean_page WHERE key > :start ORDER BY key LIMIT 1")
    starts = (f"{8 * number:02x}" for number in range(ASKED))
    keys = [connection.execute(after, {"start": start}).scalar_one() for start in starts]
    middle = copies // PAGES_OF_A_SITE // 2
    sites = [site_name(rank) for rank in range(middle, middle + ASKED)]
    # A page's title has the key of the page that it is a copy of.
    titles = text("SELECT title FROM noiseclean_page WHERE cluster = :site LIMIT 1")
    title = connection.execute(titles, {"site": sites[0]}).scalar_one()
    connection.commit()
    now = datetime.now(timezone.utc)
    before = counts(connection)
    with Store(url, read_only=True) as store:
        questions: dict[str, tuple[Callable[[Any], object], Sequence[Any]]] = {
            "page found": (store.pages.find, keys),
            "site listed": (store.pages.lines, sites),
            "largest site listed": (store.pages.lines, [site_name(1)] * 3),
            "site read with HTML": (lambda site: list(store.pages.with_html(site)), sites),
            "a site's word searched": (lambda site: store.search(site[:8]), sites),
            "a hundred pages searched": (store.search, ["7"] * ASKED),  # newspaper-7.example
            "a page in a hundred searched": (store.search, [title.split()[-1]] * 3),
            "idle sites": (store.clusters.idle, [now] * 3),
        }
        figures = {
            f"{name}, ms": round(1000 * median(times(question, given)), 2)
            for name, (question, given) in questions.items()
        }
    return {**figures, "rows scanned, asking": int(counts(connection)[3] - before[3])}


def times(question: Callable[[Any], object], given: Sequence[Any]) -> Iterator[float]:
    """Seconds that a question takes for each value."""
    for value in given:
        began = time.perf_counter()
        question(value)
        yield time.perf_counter() - began


def vacuumed(connection: Connection) -> dict[str, float]:
    """Seconds of a vacuum of the pages after this crawl, and with a fifth of them dead."""
    connection.commit()
    figures = {"vacuum, s": vacuum(connection)}
    # Keys are hexadecimal hashes.
    connection.execute(text("UPDATE noiseclean_page SET fit = fit WHERE key < '33'"))
    connection.commit()
    return figures | {"vacuum of a fifth, s": vacuum(connection)}


def vacuum(connection: Connection, table: str = TABLES[0]) -> float:
    """Seconds that it takes."""
    began = time.monotonic()
    with connection.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as own:
        own.execute(text(f"VACUUM (ANALYZE) {table}"))
    return round(time.monotonic() - began, 1)


def site_name(rank: int) -> str:
    """The name of a site that is copied; 1 is the largest."""
    return f"s{rank:07}.example"


def fill(connection: Connection, pages: int) -> None:
    """Put copies of the template's pages in the place of all that the database has.

    In one transaction, without indexes and foreign keys until the end. A server with
    `wal_level = minimal` writes no WAL for it.
    """
    sizes = site_sizes(pages, pages / PAGES_OF_A_SITE, RATES["pareto"]).round().clip(1)
    with connection.begin():
        templates = (
            "CREATE TEMP TABLE templates AS SELECT page.*, html, terms::text AS terms, "
            "row_number() OVER () - 1 AS number FROM noiseclean_page AS page "
            "JOIN noiseclean_page_html USING (key) JOIN noiseclean_search USING (key)"
        )
        connection.execute(text(templates))
        with _without_indexes(connection):
            connection.execute(
                text("TRUNCATE noiseclean_cluster, " + ", ".join(TABLES) + " CASCADE")
            )
            sites = (
                "INSERT INTO noiseclean_cluster (name, method, version, learned, covered) "
                "SELECT 's' || lpad(rank::text, 7, '0') || '.example', 'evidence', 1, size, "
                f"size - CASE WHEN rank <= {GROWING} THEN size / 20 ELSE 0 END "
                "FROM unnest(CAST(:sizes AS int[])) WITH ORDINALITY AS made (size, rank)"
            )
            connection.execute(text(sites), {"sizes": sizes.astype(int).tolist()})
            copies = (
                "CREATE TEMP TABLE copies AS SELECT name AS site, covered, number "
                "FROM noiseclean_cluster, generate_series(1, learned) AS number ORDER BY random()"
            )
            connection.execute(text(copies))
            for table in TABLES:
                _copy(connection, table)
    connection.execute(text("DROP TABLE templates, copies"))
    connection.commit()
    for table in TABLES:
        vacuum(connection, table)


def _copy(connection: Connection, table: str) -> None:
    """Fill a table with the columns of the templates, those of each copy its own."""
    columns = connection.execute(
        text(
            "SELECT attname FROM pg_attribute WHERE attrelid = CAST(:t AS regclass) AND attnum > 0"
        ),
        {"t": table},
    ).scalars()
    names = list(columns)
    values = ", ".join(_OWN.get(name, f"t.{name}") for name in names)
    connection.execute(
        text(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM copies AS c "
            f"JOIN templates AS t ON t.number = c.number % (SELECT count(*) FROM templates)"
        )
    )


@contextmanager
def _without_indexes(connection: Connection) -> Iterator[None]:
    """Drop the indexes and constraints of the tables of pages, and create them again."""
    tables = {"tables": list(TABLES)}
    constraints = connection.execute(
        text(
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) "
            "FROM pg_constraint WHERE conrelid::regclass::text = ANY(:tables) "
            "ORDER BY contype DESC"  # primary keys before foreign keys
        ),
        tables,
    ).all()
    indexes = connection.execute(
        text(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(:tables) "
            "AND schemaname = current_schema() "
            "AND indexname NOT IN (SELECT conname FROM pg_constraint)"
        ),
        tables,
    ).all()
    for table, name, _ in reversed(constraints):
        connection.execute(text(f"ALTER TABLE {table} DROP CONSTRAINT {name}"))
    for name, _ in indexes:
        connection.execute(text(f"DROP INDEX {name}"))
    yield
    for table, name, definition in constraints:
        connection.execute(text(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"))
    for _, definition in indexes:
        connection.execute(text(definition))
