"""The full-text index among processes: one is killed, several write the same pages at once."""

from __future__ import annotations

import subprocess

import pytest

from noiseclean_scrapy.store import Store
from tests.support import databases
from tests.support.command_line import start_program
from tests.test_search import indexed

# Writes the same pages again and again, each text with words of its own, saves trees, cleans again,
# deletes, and says what it has done last. A `step` of -1 goes through the pages backwards.
WRITER = """
import sys
from dataclasses import replace
from tests.support import searching
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.store import Store
url, cluster, step, turns = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with Store(url, store_html=True) as store:
    store.outbox.register("x")
    for turn in range(1, turns + 1):
        pages = [searching.page(f"p{n:02}", f"{cluster}{turn}page{n} ferry", cluster=cluster,
                                position=n, html="<p>") for n in range(1, 13)][::step]
        store.pages.write(pages[:6], method="x")
        store.pages.write(pages[6:], method="x")
        again = lambda page: replace(page.cleaned, text=page.cleaned.text + " again")
        stored = store.clusters.find(cluster)
        version = stored.version + 1 if stored else 1
        try:
            store.clusters.save_tree(cluster, method="x", version=version, tree=b"1", learned=turn,
                            clean=again)
        except StoreError as error:
            # Another writer of the cluster was faster.
            if "too old to save" not in str(error):
                raise
        list(store.pages.clean_again(cluster, again))
        store.pages.delete([f"p{n:02}" for n in range(1, 13, 5)][::step])
        store.outbox.acknowledge(store.outbox.changes("x", limit=5)[::step])
        print(turn, flush=True)
"""


def start_writer(url: str, cluster: str, step: int, turns: int) -> subprocess.Popen[str]:
    return start_program(WRITER, url, cluster, str(step), str(turns))


def check_index(url: str) -> None:
    """Each page is found by the words of its text, and by nothing else."""
    # A commit that PostgreSQL has already received may still be on its way: its row lock says so.
    databases.run_statement(url, "UPDATE noiseclean_cluster SET name = name")
    with Store(url) as store:
        pages = {page.key: page.cleaned for page in store.pages.with_text()}
        assert indexed(url) == len(pages)
        found = {hit.key: hit for hit in store.search("ferry", limit=100).hits}
        assert found.keys() == pages.keys()
        for key, cleaned in pages.items():
            assert cleaned is not None
            assert found[key].marked("", "") == cleaned.text
            (word, *_) = cleaned.text.split()
            assert [hit.key for hit in store.search(word).hits] == [key]
        waiting = {change.key: change.page for change in store.outbox.changes("x")}
        for key, page in waiting.items():
            assert (page and page.cleaned) == pages.get(key)


@pytest.mark.slow
@pytest.mark.parametrize("turns", [1, 3])
def test_a_killed_writer_leaves_no_stale_row(database_url: str, turns: int) -> None:
    for _ in range(2):
        with start_writer(database_url, "a", 1, 100_000) as writer:
            assert writer.stdout is not None
            for _ in range(turns):
                assert writer.stdout.readline()
            writer.kill()  # SIGKILL
        check_index(database_url)


@pytest.mark.slow
def test_writers_of_the_same_pages_do_not_deadlock(database_url: str) -> None:
    writers = [
        start_writer(database_url, cluster, step, 4) for cluster in ("a", "b") for step in (1, -1)
    ]
    for writer in writers:
        writer.communicate(timeout=500)
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    check_index(database_url)
