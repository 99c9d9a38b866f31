"""PostgreSQL answers a crawl's questions by indexes, not by reading whole tables of pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any

import pytest
from sqlalchemy import create_engine, event

from benchmarks.row_copies import TABLES, TEMPLATE, fill, site_name
from benchmarks.rows import write_site
from noiseclean_scrapy.store import Store

NOW = datetime.now(timezone.utc)
SITE = site_name(50)
QUESTIONS: dict[str, Callable[[Store], object]] = {
    "cluster": lambda store: store.clusters.find(SITE),
    "find": lambda store: store.pages.find("00"),
    "find_url": lambda store: store.pages.find_url("https://www.example/"),
    "html": lambda store: store.pages.html("00"),
    "idle_clusters": lambda store: store.clusters.idle(NOW),
    "page_lines": lambda store: store.pages.lines(SITE),
    "fits": lambda store: store.clusters.fits([SITE], 20),
    "count_pages": lambda store: store.pages.count(SITE),
    "pages": lambda store: list(store.pages.with_text(SITE)),
    "all pages": lambda store: next(store.pages.with_text()),
    "pages_with_html": lambda store: list(store.pages.with_html(SITE)),
    "provisional": lambda store: list(store.pages.provisional(site_name(5))),
    "search": lambda store: store.search(SITE[:8]),
    "search in a site": lambda store: store.search("ferry", site=SITE),
    "write, save_tree": lambda store: write_site(store, "newspaper.example", hashed=True),
    "clean_stored": lambda store: list(store.pages.clean_again(SITE, lambda page: page.cleaned)),
    "delete_pages": lambda store: store.pages.delete(["00"]),
    "delete_cluster": lambda store: store.clusters.delete(SITE),
}


@contextmanager
def plans(store: Store) -> Iterator[list[str]]:
    """The plans of all statements meanwhile."""
    found: list[str] = []

    def explain(
        connection: Any, cursor: Any, statement: str, given: Any, context: Any, many: bool
    ) -> None:
        if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)", statement):
            cursor.execute(f"EXPLAIN {statement}", given[0] if many else given)
            found.append("\n".join([statement, *(row[0] for row in cursor.fetchall())]))

    engines = {store._database._engine, store._database._writing_engine}
    for engine in engines:
        event.listen(engine, "before_cursor_execute", explain)
    try:
        yield found
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", explain)


@pytest.mark.slow
def test_no_question_reads_a_whole_table(postgresql_url: str) -> None:
    with Store(postgresql_url, store_html=True) as store:
        write_site(store, TEMPLATE)
        engine = create_engine(postgresql_url)
        with engine.connect() as connection:
            fill(connection, 30_000)
        engine.dispose()
        found = {}
        for name, question in QUESTIONS.items():
            with plans(store) as found[name]:
                question(store)
    whole = re.compile(rf"Seq Scan on ({'|'.join(TABLES)})\b")
    assert all(found.values())
    assert not [plan for some in found.values() for plan in some if whole.search(plan)]
    # Each process asks now and then: not for all pages of a site that is growing.
    assert "noiseclean_page_by_cluster" not in found["idle_clusters"][0]
    assert "noiseclean_page_provisional" in found["idle_clusters"][0]
