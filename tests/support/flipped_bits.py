"""Databases in which one bit is another, or a part of the file is gone: whoever uses them goes on.

    python -m tests.support.flipped_bits [DATABASES] [SEED]

makes so many (200) and does with each what a user may do. Every call does what it should or raises
one of the package's own errors; the crawl ends, and each of its pages has its text.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from noiseclean_scrapy.clusters.maintenance import load_stored_model
from noiseclean_scrapy.clusters.training import repair_tree
from noiseclean_scrapy.commands.check import damaged_trees
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import NoiseCleanError
from noiseclean_scrapy.output.rows import page_row
from noiseclean_scrapy.report.survey import SiteSurvey
from noiseclean_scrapy.store import Store
from tests.support.databases import run_statement
from tests.support.fault_points import PAGES, crawl_all

SITE = "a.example"


def make_database(path: Path) -> bytes:
    """A database with all kinds of rows, in one file."""
    url = f"sqlite:///{path}"
    with Store(url) as store:
        store.outbox.register("index")
    asyncio.run(crawl_all(url, {}))
    run_statement(url, "PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


def damage(data: bytes, chance: random.Random) -> bytes:
    """The file with a flipped bit; one of ten is cut off instead."""
    if chance.random() < 0.1:
        return data[: chance.randrange(len(data))]
    changed = bytearray(data)
    changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def uses(url: str) -> Iterator[Callable[[], object]]:
    """What a user may do with a database, the last a crawl and a repair."""

    def with_store(use: Callable[[Store], object], **options: Any) -> Callable[[], object]:
        def run() -> object:
            with Store(url, **options) as store:
                return use(store)

        return run

    def explain(store: Store) -> None:
        site = store.clusters.find(SITE)
        assert site
        model = load_stored_model(store, site, Config())
        for page in store.pages.with_html(SITE):
            model.judge(page)

    def survey(store: Store) -> None:
        found = SiteSurvey()
        for page in store.pages.with_text(SITE):
            found.add(page)
        found.gallery()

    def look_up(store: Store) -> None:
        for number in range(PAGES):
            store.pages.find_url(f"http://{SITE}/{number}")
            store.pages.html(f"{SITE}{number:04}")

    def feed(store: Store) -> None:
        store.outbox.acknowledge(store.outbox.changes("index"))

    def reclean(store: Store) -> None:
        site = store.clusters.find(SITE)
        assert site
        list(store.pages.clean_again(SITE, load_stored_model(store, site, Config()).clean))

    def repair(store: Store) -> None:
        for site in store.clusters.damaged():
            store.clusters.mend(site)
        store.pages.forget_damaged([page.key for page in store.pages.damaged()])
        for site, _ in list(damaged_trees(store)):
            repair_tree(store, site, Config())
        assert not list(store.pages.damaged())
        assert not list(damaged_trees(store))

    yield with_store(
        lambda store: [page_row(page) for page in store.pages.with_text()], read_only=True
    )
    yield with_store(lambda store: store.clusters.summaries(), read_only=True)
    yield with_store(lambda store: store.search("the OR fog OR story"), read_only=True)
    yield with_store(lambda store: store.clusters.tree_versions(SITE), read_only=True)
    yield with_store(explain, read_only=True)
    yield with_store(survey, read_only=True)
    yield with_store(look_up, read_only=True)
    yield with_store(feed)
    yield with_store(reclean)
    # All have their texts, whatever the database says.
    pages = (0, 5, PAGES - 1, PAGES)
    yield lambda: asyncio.run(crawl_all(url, {}, pages, is_known=True))
    yield with_store(repair)


def use(folder: Path, data: bytes) -> Counter[str]:
    """Do all that with a database; which errors of the package came up."""
    raised: Counter[str] = Counter()
    path = folder / "damaged.db"
    for old in folder.glob("damaged.db*"):
        if old.is_file():
            old.unlink()
    path.write_bytes(data)
    for step in uses(f"sqlite:///{path}"):
        raised.update(error_of(step))
    return raised


def error_of(step: Callable[[], object]) -> list[str]:
    """The name of the package's error that a step has raised."""
    try:
        step()
    except NoiseCleanError as error:
        return [type(error).__name__]
    return []


def main(databases: int = 200, seed: int = 1) -> None:
    """Damage, use, and count."""
    logging.disable(logging.CRITICAL)
    chance = random.Random(seed)
    raised: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = make_database(folder / "whole.db")
        for number in range(databases):
            changed = damage(data, chance)
            try:
                raised += use(folder, changed)
            except BaseException:
                print(f"database {number} of seed {seed}")
                raise
    print(f"{databases} damaged databases: nothing but documented errors, {dict(raised)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
