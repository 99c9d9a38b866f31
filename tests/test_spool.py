"""The spool: pages wait in files of their own, and what is damaged costs itself."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from noiseclean_scrapy import Block
from noiseclean_scrapy.crawl.spool import Spool, Spooled
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import Cleaned, PageRecord, Store
from tests.support.databases import read_rows
from tests.support.fault_points import PAGES, close, errors, open_crawl, see

NOON = datetime(2031, 5, 21, 12, tzinfo=timezone.utc)
BLOCKS = (Block("Fog", "/html[1]", "html", True, 0.5, {}, "body"),)
PAGE = PageRecord(
    "1",
    "a.example",
    "http://a.example/\ud800",
    "0",
    NOON,
    1,
    "<p>Fog\x00\ud800",
    Cleaned("Fog", "Fog\nsailed", BLOCKS, 1, 3, 3, 0.5),
    None,
    Metadata("Ann", NOON, "en", "http://a.example/", ""),
)
TEXT_ONLY = replace(PAGE, key="2", html=None, position=None)
BARE = replace(TEXT_ONLY, key="3", cleaned=None, metadata=None)


async def crawl_one(url: str, **settings: Any) -> None:
    """A crawl of one page."""
    crawl = open_crawl(url, settings)
    await see(crawl, 0)
    await close(crawl)


def test_what_waits_comes_back_as_it_was(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    assert (spool.pages, spool.read(9, 1 << 20)) == (0, [])
    spool.add([TEXT_ONLY, PAGE, BARE])
    again = Spool(tmp_path / "spool")
    found = again.read(9, 1 << 20)
    assert [page for page, _ in found] == [TEXT_ONLY, BARE, PAGE]
    again.remove(found)
    assert (again.pages, list(again.path.iterdir())) == (0, [])


def test_what_a_later_page_leaves_out_is_kept_from_before(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.add([PAGE])
    spool.add([replace(BARE, key=PAGE.key, url="http://a.example/new")])
    assert [page for page, _ in spool.read(9, 1 << 20)] == [
        replace(PAGE, url="http://a.example/new")
    ]


def test_a_page_that_says_something_else_keeps_nothing_from_before(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.add([PAGE])
    other = replace(BARE, key=PAGE.key, body_hash="1", html="<p>Sun", position=2)
    spool.add([other])
    assert [page for page, _ in spool.read(9, 1 << 20)] == [other]
    # Nor does its text get the HTML of another one, which would be cleaned in its place.
    text_only = replace(TEXT_ONLY, key=PAGE.key, body_hash="2")
    spool.add([text_only])
    assert [page for page, _ in spool.read(9, 1 << 20)] == [text_only]


def test_what_was_added_before_the_folder_refused_waits(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.add([BARE])
    (path,) = spool.path.iterdir()
    path.unlink()
    path.mkdir()  # where a file cannot be
    added: list[PageRecord] = []
    with pytest.raises(StoreError, match="refused"):
        spool.add([PAGE, BARE, TEXT_ONLY], added.append)
    assert (added, spool.pages) == ([PAGE], 1)
    path.rmdir()
    assert [page for page, _ in Spool(spool.path).read(9, 1 << 20)] == [PAGE]


def test_crawls_of_one_process_share_a_spool(tmp_path: Path) -> None:
    pages = [replace(PAGE, key=str(number)) for number in range(20)]
    spools = [Spool(tmp_path / "spool") for _ in range(4)]
    with ThreadPoolExecutor(len(spools)) as pool:
        for _ in range(5):
            assert [*pool.map(lambda spool: spool.add(pages), spools)] == [None] * len(spools)
    assert len(Spool(tmp_path / "spool").read(99, 1 << 20)) == len(pages)
    assert {path.suffix for path in (tmp_path / "spool").iterdir()} == {".page"}


def test_a_page_of_which_more_has_come_is_not_removed(tmp_path: Path) -> None:
    spool, other = Spool(tmp_path / "spool"), Spool(tmp_path / "spool")
    spool.add([BARE])
    found = spool.read(9, 1 << 20)
    other.add([replace(BARE, cleaned=PAGE.cleaned)])
    spool.remove(found)
    assert [page.cleaned for page, _ in spool.read(9, 1 << 20)] == [PAGE.cleaned]


def test_a_flipped_bit_costs_one_page(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(1)
    spool = Spool(tmp_path / "spool")
    for number in range(20):
        spool.add([replace(PAGE, key=str(number)) for number in range(3)])
        path = chance.choice(sorted(spool.path.glob("*.page")))
        data = bytearray(path.read_bytes())
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        # A file may be cut off as well, or be empty.
        path.write_bytes(data if number % 3 else data[: chance.randrange(len(data))])
        found = spool.read(9, 1 << 20)
        assert len(found) == spool.pages == 2
        assert [replace(page, key="") for page, _ in found] == [replace(PAGE, key="")] * 2
        assert len(list(spool.path.glob("*.damaged*"))) == number + 1
        spool.remove(found)
        assert spool.pages == 0
    assert len(errors(caplog)) == 20
    assert errors(caplog)[0].startswith(f"A page in the spool {spool.path} cannot be read: ")


def test_a_file_in_the_place_of_the_spool_is_set_aside(
    sqlite_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "noiseclean.db-spool"
    path.write_bytes(b"garbage")

    asyncio.run(crawl_one(sqlite_url))
    assert read_rows(sqlite_url, "SELECT count(*) FROM noiseclean_page") == [(1,)]
    [said] = errors(caplog)
    assert said == f"The spool {path} is no folder; it is now {path}.damaged"
    assert Path(f"{path}.damaged").read_bytes() == b"garbage"


@pytest.mark.parametrize("name", ["noiseclean.db-spool", "noiseclean.db-spool/1.page"])
def test_a_crawl_that_only_reads_leaves_the_spool_alone(
    sqlite_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    Store(sqlite_url).close()
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"garbage")

    asyncio.run(crawl_one(sqlite_url, NOISECLEAN_READ_ONLY=True))
    assert path.read_bytes() == b"garbage"
    assert errors(caplog) == []


def test_texts_without_html_are_written(sqlite_url: str, tmp_path: Path) -> None:
    Spool(tmp_path / "noiseclean.db-spool").add([TEXT_ONLY, BARE])

    async def run() -> None:
        crawl = open_crawl(sqlite_url, {})
        assert crawl.waiting == 2
        await asyncio.wait_for(crawl.close(), 60)
        assert crawl.waiting == 0
        crawl.writer.store.close()

    asyncio.run(run())
    query = "SELECT key, text FROM noiseclean_page ORDER BY key"
    assert read_rows(sqlite_url, query) == [("2", "Fog\nsailed"), ("3", None)]


def test_a_crawl_ends_though_its_spool_does_not_empty(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Spool(tmp_path / "noiseclean.db-spool").add([TEXT_ONLY])
    # A file system that turned read-only lets nothing go.
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)

    async def run() -> None:
        crawl = open_crawl(sqlite_url, {})
        await asyncio.wait_for(crawl.close(), 60)
        assert crawl.waiting == 1
        crawl.writer.store.close()

    asyncio.run(run())
    assert read_rows(sqlite_url, "SELECT key FROM noiseclean_page") == [("2",)]


def test_what_cannot_be_read_keeps_no_other_page_from_being_written(
    sqlite_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = Spool(tmp_path / "noiseclean.db-spool")
    spool.add([TEXT_ONLY])
    (spool.path / "00aa.page").mkdir()  # where a file should be

    asyncio.run(crawl_one(sqlite_url))
    assert read_rows(sqlite_url, "SELECT count(*) FROM noiseclean_page") == [(2,)]
    assert [path.name for path in spool.path.iterdir()] == ["00aa.page"]
    assert errors(caplog) == [
        f"A page in the spool {spool.path} cannot be read: Is a directory; 00aa.page is left as it "
        f"is"
    ]


class OwnedByAnother(Spool):
    """A spool in a folder of another user: it may be read, and nothing in it removed."""

    def remove(self, pages: Sequence[Spooled]) -> None:
        user = os.geteuid()
        self.path.chmod(0o555)
        if user == 0:
            os.seteuid(65534)  # root may do all
        try:
            super().remove(pages)
        finally:
            os.seteuid(user)
            self.path.chmod(0o755)


def test_pages_that_cannot_be_removed_are_written_once(caplog: pytest.LogCaptureFixture) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        crawl = open_crawl(f"sqlite:///{folder}/noiseclean.db", {})
        spool = crawl._pages.spool = OwnedByAnother(folder / "noiseclean.db-spool")
        spool.add([replace(PAGE, url="http://a.example/"), TEXT_ONLY])

        async def run() -> None:
            await see(crawl, 0)
            await close(crawl)

        asyncio.run(run())
        query = "SELECT count(*), count(learned_version) FROM noiseclean_page"
        assert read_rows(f"sqlite:///{folder}/noiseclean.db", query) == [(3, 2)]
        assert errors(caplog) == [
            f"Pages of the spool {spool.path} are stored, but cannot be removed from it: "
            f"Permission denied"
        ]
        stats = crawl.stats.get_stats()
        assert (stats["noiseclean/pages/learned"], stats["noiseclean/pages/spooled"]) == (2, 0)
        assert "noiseclean/pages/lost" not in stats
        assert Spool(spool.path).pages == 2


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own with little room."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small file system can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_full_disks_that_are_freed_one_after_the_other(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "database", "2m") as database,
        small_disk(tmp_path / "spool", "1m") as spool,
    ):
        url = f"sqlite:///{database / 'noiseclean.db'}"
        settings = {"NOISECLEAN_SPOOL": str(spool / "pages"), "NOISECLEAN_BATCH_SIZE": 1}

        async def run() -> None:
            crawl = open_crawl(url, settings)
            crawl._pages.room = 0
            await see(crawl, 0)
            await crawl._flush()
            fill(database / "ballast")
            fill(spool / "ballast")
            for number in range(1, PAGES - 1):
                crawl._last_flush = 0
                await see(crawl, number)
            # There is no room for pages, so that some have lost their HTML.
            assert None in [record.html for record in crawl._pages._records.values()]
            (spool / "ballast").unlink()
            crawl._last_flush = 0
            await see(crawl, PAGES - 1)
            assert crawl._pages.spool.pages > 0
            (database / "ballast").unlink()
            await asyncio.wait_for(crawl.close(), 60)
            assert crawl.waiting == 0
            crawl.writer.store.close()

        asyncio.run(run())
        query = "SELECT count(*), count(text) FROM noiseclean_page"
        assert read_rows(url, query) == [(PAGES, PAGES)]


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            return
