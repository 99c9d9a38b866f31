"""Parts of the workbench without a server: values that are read again, the review queue."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store import Store
from noiseclean_scrapy.web.refreshing import Refreshing
from noiseclean_scrapy.web.review import OF_A_SITE, QUEUE, review_queue
from noiseclean_scrapy.web.workbench import Workbench
from tests.support.searching import page
from tests.support.training import SITE, learn_site
from tests.support.workbench import wait_for


def test_the_first_value_is_waited_for_and_an_old_one_is_given_at_once() -> None:
    may_read, reads = Event(), []

    def read() -> int:
        reads.append(1)
        if len(reads) > 1:
            may_read.wait(60)
        return len(reads)

    value = Refreshing(read, seconds=3600)
    assert value.get() == 1
    assert value.get() == 1
    assert value.begin()
    value.expire()
    assert value.get() == 1  # the next one is being read
    may_read.set()


def test_what_cannot_be_read_is_told_and_the_last_value_stays() -> None:
    errors = [ValueError("damaged")]

    def read() -> str:
        if errors:
            raise errors.pop()
        return "read"

    value = Refreshing(read, seconds=0)
    with pytest.raises(ValueError, match="damaged"):
        value.get()
    wait_for(lambda: value.begin(), bool)
    assert value.get() == "read"
    errors.append(ValueError("again"))
    value.expire()
    assert value.get() == "read"


def test_an_error_that_lasts_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = []

    def read() -> str:
        if errors:
            raise errors[0]
        return "read"

    value = Refreshing(read, seconds=0)
    assert value.get() == "read"
    for error in (StoreError("it is gone"), StoreError("it is gone"), StoreError("it is locked")):
        errors[:] = [error]
        value.expire()
        assert value.get() == "read"
        wait_for(lambda: value.error, lambda found: found is errors[0])
    assert [record.getMessage() for record in caplog.records] == [
        "Could not be read: it is gone",
        "Could not be read: it is locked",
    ]
    assert not any(record.exc_info for record in caplog.records)


def test_a_page_that_two_reasons_name_is_in_the_queue_once(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'a.db'}") as store:
        for key, kept in (("both", 0), ("fit", 800)):
            record = page(key, "text", cluster="a.example")
            assert record.cleaned
            cleaned = replace(record.cleaned, visible_characters=900, kept_characters=kept, fit=0.3)
            store.pages.write([replace(record, cleaned=cleaned)], method="evidence")
        queue = review_queue(store)
    assert [(found.line.key, found.reason) for found in queue] == [
        ("both", "low fit"),
        ("fit", "low fit"),
    ]


def test_the_queue_has_a_few_pages_of_a_site_for_each_reason(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'a.db'}") as store:
        for number in range(20):
            record = page(f"{number:02}", "text", cluster=f"{number % 2}.example")
            assert record.cleaned
            fit = 0.1 if number >= 10 else 1.0
            kept = 0 if number < 10 else 10
            cleaned = replace(record.cleaned, visible_characters=900, kept_characters=kept, fit=fit)
            store.pages.write([replace(record, cleaned=cleaned)], method="evidence")
        for number in range(QUEUE):
            record = page(f"blank{number}", "", cluster="0.example")
            assert record.cleaned
            blank = replace(record.cleaned, visible_characters=0, kept_characters=0)
            store.pages.write([replace(record, cleaned=blank)], method="evidence")
        queue = review_queue(store)
        assert [site.empty for site in store.clusters.summaries()] == [5, 5]
    kinds = [(found.line.cluster, found.reason) for found in queue]
    for site in ("0.example", "1.example"):
        assert kinds.count((site, "empty text")) == OF_A_SITE
        assert kinds.count((site, "low fit")) == OF_A_SITE
    assert len({found.line.key for found in queue}) == len(queue) == 4 * OF_A_SITE


def test_a_site_that_was_forgotten_is_judged_by_its_new_tree() -> None:
    config = Config(method="style-tree")
    with Store("sqlite://", store_html=True) as store:
        bench = Workbench(store, config)
        learn_site(store, config, range(1, 9))
        first = bench.model(SITE)
        assert bench.model(SITE).model is first.model
        store.clusters.delete(SITE)
        learn_site(store, config, range(11, 19), menu="Sport")
        again = bench.model(SITE)
        assert (again.version, first.version) == (1, 1)
        assert again.model is not first.model
        bench.close()


def test_places_are_counted_again_after_a_failure(tmp_path: Path) -> None:
    config, database = Config(method="style-tree"), tmp_path / "noiseclean.db"
    with Store(f"sqlite:///{database}", store_html=True) as store:
        learn_site(store, config, range(1, 9))
    away = database.rename(tmp_path / "away.db")
    with Store(f"sqlite:///{database}") as store:  # an empty one
        bench = Workbench(store, config)
        store._database.close()
        away.replace(database)
        assert bench.site(SITE).summary.pages == 8
        database.rename(away)
        store._database.close()
        with pytest.raises(StoreError):
            bench.place_counts(SITE).result()
        store._database.close()
        away.replace(database)
        assert bench.place_counts(SITE).result().of == 8
        bench.close()


def test_no_more_pages_are_drawn_at_once_than_are_judged() -> None:
    config = Config(method="style-tree")
    with Store("sqlite://", store_html=True) as store, ThreadPoolExecutor(1) as pool:
        learn_site(store, config, range(1, 4))
        bench = Workbench(store, config)
        [first, *_] = store.pages.with_text(SITE)
        page = bench.page(first.key)
        with bench._judging, bench._judging:
            drawn = pool.submit(bench.document, page)
            assert not wait([drawn], timeout=0.5).done
        assert "data-block" in drawn.result(60)
        bench.close()
