"""HTML in an object store: a folder, and a bucket of a real S3 server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

pytest.importorskip("fsspec", reason="needs the extra object-store")

from fsspec.core import url_to_fs

from noiseclean_scrapy.errors import ConfigurationError, DamagedError, StoreError
from noiseclean_scrapy.store import Store
from tests.support import crawling
from tests.support.command_line import noiseclean
from tests.support.crawl_site import ChainSpider, story, story_text
from tests.support.databases import read_rows
from tests.support.fault_points import (
    PAGES,
    check_point,
    close,
    crawl_all,
    errors,
    open_crawl,
    result,
    run_until,
    see,
)
from tests.support.object_stores import BUCKET, KINDS, S3Server, folder_url, s3_server
from tests.test_config import config

pytestmark = pytest.mark.extras
SITE = "a.example"
KEY = f"{SITE}0003"


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server() as found:
        yield found


@pytest.fixture(params=KINDS)
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty object store, once for each kind."""
    if request.param == "file":
        return folder_url(tmp_path / "objects")
    request.getfixturevalue("server")
    return f"s3://{BUCKET}/{token_hex(4)}"


def settings(objects: str) -> dict[str, Any]:
    return {"NOISECLEAN_HTML_STORE": objects}


def names(objects: str) -> list[str]:
    """The paths of all objects."""
    files, root = url_to_fs(objects)
    files.invalidate_cache()
    return sorted(files.find(root))


def object_of(url: str, objects: str, key: str) -> tuple[Any, str]:
    """The object of a page: its file system and its path."""
    query = f"SELECT html FROM noiseclean_page_html WHERE key = '{key}'"
    [(value,)] = read_rows(url, query)
    files, root = url_to_fs(objects)
    return files, f"{root}/{bytes(value).decode().removeprefix('object:')}"


def test_all_is_as_with_html_in_rows(database_url: str, tmp_path: Path, objects: str) -> None:
    plain = f"sqlite:///{tmp_path / 'plain.db'}"
    asyncio.run(crawl_all(plain, {}))
    asyncio.run(crawl_all(database_url, settings(objects)))
    assert result(database_url) == result(plain)
    [(longest,)] = read_rows(database_url, "SELECT max(length(html)) FROM noiseclean_page_html")
    assert longest < 80
    assert len(names(objects)) == PAGES
    with Store(plain) as rows, Store(database_url, store_html=True, html_store=objects) as store:
        pages = list(store.pages.with_html(SITE))
        assert [page.html for page in pages] == [page.html for page in rows.pages.with_html(SITE)]
        assert len(pages) == PAGES
        for page, known in zip(store.pages.with_text(), rows.pages.with_text(), strict=True):
            assert page.cleaned
            assert known.cleaned
            assert list(page.cleaned.blocks) == list(known.cleaned.blocks)
            assert page.cleaned.blocks[0].text
        assert list(store.pages.clean_again(SITE, lambda page: page.cleaned)) == [PAGES]
        assert not list(store.pages.damaged())
    asyncio.run(crawl_all(database_url, settings(objects)))
    assert len(names(objects)) == PAGES


@pytest.mark.parametrize("damage", [None, b"", b"x", b"(\xb5/\xfd and no more"])
def test_an_object_that_cannot_be_read_is_one_damaged_page(
    sqlite_url: str, objects: str, caplog: pytest.LogCaptureFixture, damage: bytes | None
) -> None:
    asyncio.run(crawl_all(sqlite_url, settings(objects)))
    files, path = object_of(sqlite_url, objects, KEY)
    files.rm(path)
    if damage is not None:
        files.pipe_file(path, damage)
    with Store(sqlite_url, store_html=True, html_store=objects) as store:
        assert [page.key for page in store.pages.damaged()] == [KEY]
        with pytest.raises(DamagedError, match=r"its object .* is (missing|damaged)"):
            store.pages.html(KEY)
        assert len(list(store.pages.with_html(SITE))) == PAGES - 1
        assert list(store.pages.clean_again(SITE, lambda page: page.cleaned)) == [PAGES - 1]
        assert len(errors(caplog)) == 1
        assert store.pages.html(KEY) is None
    asyncio.run(crawl_all(sqlite_url, settings(objects), [3]))
    with Store(sqlite_url, store_html=True, html_store=objects) as store:
        assert "<html" in (store.pages.html(KEY) or "")
        assert len(list(store.pages.with_html(SITE))) == PAGES


def test_no_row_names_an_object_that_is_not_written(
    sqlite_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An object store that is away is a database that is away: the crawl goes on, pages wait."""
    folder = tmp_path / "objects"
    objects = folder_url(folder)

    async def run() -> dict[str, Any]:
        crawl = open_crawl(sqlite_url, settings(objects))
        await see(crawl, 0)
        await crawl._flush()
        folder.rename(tmp_path / "away")
        for number in range(1, 8):
            await see(crawl, number)
        assert crawl.waiting
        assert read_rows(sqlite_url, "SELECT count(*) FROM noiseclean_page") == [(1,)]
        assert not folder.exists()
        (tmp_path / "away").rename(folder)
        for number in range(8, PAGES):
            await see(crawl, number)
        await close(crawl)
        stats: dict[str, Any] = crawl.stats.get_stats()
        return stats

    stats = asyncio.run(run())
    [line] = errors(caplog)
    assert line.startswith(f"the object store {objects} refused: ")
    assert stats["noiseclean/store/errors"] >= 1
    assert read_rows(sqlite_url, "SELECT count(text) FROM noiseclean_page") == [(PAGES,)]
    with Store(sqlite_url, html_store=objects) as store:
        assert not list(store.pages.damaged())
        assert len(list(store.pages.with_html(SITE))) == PAGES


def test_a_tree_waits_for_objects_that_are_away(
    sqlite_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "objects"
    later = {**settings(folder_url(folder)), "NOISECLEAN_SAMPLE_QUOTA": 99}

    async def run(end: str, *numbers: int) -> None:
        crawl = open_crawl(sqlite_url, later)
        for number in numbers:
            await see(crawl, number)
        await crawl._flush()
        if end == "away":
            folder.rename(tmp_path / "away")
        if end != "killed":
            await crawl.close()  # the tree is due
        crawl.writer.store.close()

    asyncio.run(run("killed", 0, 1, 2))
    asyncio.run(run("away", 3))
    (tmp_path / "away").rename(folder)
    [line] = set(errors(caplog))  # at each try
    assert "refused" in line
    learned = "SELECT count(*) FROM noiseclean_page WHERE learned_version IS NOT NULL"
    assert read_rows(sqlite_url, learned) == [(0,)]
    asyncio.run(run("ended", 4))
    assert read_rows(sqlite_url, learned) == [(5,)]


def test_a_bucket_that_does_not_answer(
    sqlite_url: str, server: S3Server, caplog: pytest.LogCaptureFixture
) -> None:
    objects = f"s3://{BUCKET}/away"

    async def run() -> None:
        crawl = open_crawl(sqlite_url, settings(objects))
        for number in range(4):
            await see(crawl, number)
        server.stop()
        await see(crawl, 4)
        await crawl._flush()
        assert crawl.waiting
        S3Server.__init__(server, server.port)
        server.start()
        for number in range(5, PAGES):
            await see(crawl, number)
        await close(crawl)

    asyncio.run(run())
    [line] = errors(caplog)
    assert line.startswith(f"the object store {objects} refused: ")
    with Store(sqlite_url, html_store=objects) as store:
        assert len(list(store.pages.with_html(SITE))) == PAGES


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.1, 0.4, 0.8])
def test_a_crawl_that_is_killed_has_lost_no_object(
    database_url: str, tmp_path: Path, part: float
) -> None:
    through = f"sqlite:///{tmp_path / 'through.db'}"
    options = settings(folder_url(tmp_path / "through"))
    points, expected = run_until(through, **options), result(through)
    objects = folder_url(tmp_path / "objects")
    check_point(database_url, round(points * part), expected, **settings(objects))
    with Store(database_url, html_store=objects) as store:
        assert not list(store.pages.damaged())
        assert len(list(store.pages.with_html(SITE))) == PAGES
    assert len(names(objects)) == PAGES


@pytest.mark.slow
@pytest.mark.parametrize("process", [False, True])
def test_a_whole_crawl(sqlite_url: str, tmp_path: Path, process: bool) -> None:
    objects = folder_url(tmp_path / "objects")
    pages = {f"/{number}": story(number) for number in range(PAGES)}
    options = {
        **settings(objects),
        "NOISECLEAN_DATABASE_URL": sqlite_url,
        "NOISECLEAN_WRITER_PROCESS": process,
    }
    crawled = crawling.crawl_pages(tmp_path, ChainSpider, pages, options)
    assert not crawled.lines("ERROR", "")
    assert len(names(objects)) == PAGES
    with Store(sqlite_url, html_store=objects) as store:
        [found] = store.clusters.all()
        assert len(list(store.pages.with_html(found.name))) == PAGES


def test_nothing_is_forgotten_where_the_setting_is_missing_or_wrong(
    sqlite_url: str, tmp_path: Path, objects: str
) -> None:
    asyncio.run(crawl_all(sqlite_url, settings(objects)))
    with Store(sqlite_url, store_html=True) as store:
        with pytest.raises(StoreError, match="NOISECLEAN_HTML_STORE is to say where"):
            store.pages.html(KEY)
        with pytest.raises(StoreError, match="NOISECLEAN_HTML_STORE"):
            list(store.pages.clean_again(SITE, lambda page: page.cleaned))
    wrong = f"{objects}-wrong"
    for is_of_others in (False, True):
        if is_of_others:
            files, root = url_to_fs(wrong)
            files.makedirs(f"{root}/site=b.example", exist_ok=True)
            files.pipe_file(f"{root}/site=b.example/0.zst", b"")
        with Store(sqlite_url, read_only=True, html_store=wrong) as store:
            with pytest.raises(StoreError, match=r"the object store .* refused"):
                store.pages.html(KEY)
            assert len(list(store.pages.with_text())) == PAGES
    refuses = pytest.raises(StoreError, match=r"the object store .* refused")
    with Store(sqlite_url, store_html=True, html_store=wrong) as store, refuses:
        list(store.pages.clean_again(SITE, lambda page: page.cleaned))
    with Store(sqlite_url, html_store=objects) as store:
        assert len(list(store.pages.with_html(SITE))) == PAGES


def test_an_object_store_that_is_not_there_is_refused_at_the_start(
    sqlite_url: str, tmp_path: Path, server: S3Server
) -> None:
    for url in ((tmp_path / "nowhere").as_uri(), "s3://nowhere/prefix"):
        with pytest.raises(StoreError, match=r"refused: there is no .*nowhere"):
            Store(sqlite_url, html_store=url)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("objects", "it is no URL"),
        (5, "it is no URL"),
        ("nowhere://bucket", "Protocol not known"),
        ("s3://bucket/[a]", "wildcards"),
    ],
)
def test_a_setting_that_is_no_object_store(url: object, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=f"NOISECLEAN_HTML_STORE .*{reason}"):
        config(html_store=url)


def test_html_that_is_not_kept_has_no_store() -> None:
    with pytest.raises(ConfigurationError, match="STORE_HTML must be True with NOISECLEAN_HTML"):
        config(html_store="memory://x", store_html=False)


def test_commands_find_the_html(sqlite_url: str, tmp_path: Path) -> None:
    objects = folder_url(tmp_path / "objects")
    asyncio.run(crawl_all(sqlite_url, settings(objects)))
    where = ("--database", sqlite_url, "-s", f"NOISECLEAN_HTML_STORE={objects}")
    page = f"http://{SITE}/3"
    assert "<html" in noiseclean(tmp_path, "show", page, "--raw", *where).stdout
    assert story_text(3).split()[0] in noiseclean(tmp_path, "explain", page, *where).stdout
    noiseclean(tmp_path, "inspect", page, *where)
    noiseclean(tmp_path, "reclean", SITE, *where)
    noiseclean(tmp_path, "check", *where)
    files, path = object_of(sqlite_url, objects, KEY)
    files.rm(path)
    done = noiseclean(tmp_path, "check", *where, code=1)
    assert done.stdout.startswith(f"page {KEY}: its object site={SITE}/")
