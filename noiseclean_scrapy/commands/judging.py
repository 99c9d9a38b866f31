"""Verdicts on one page, stored or in a file, for the commands that show them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from noiseclean_scrapy.batch.unpacking import read_unzipped
from noiseclean_scrapy.clusters.cleaning import judge_record
from noiseclean_scrapy.clusters.maintenance import load_stored_model
from noiseclean_scrapy.clusters.training import new_cleaner
from noiseclean_scrapy.commands.files import FileError, read_file
from noiseclean_scrapy.errors import NotStoredError
from noiseclean_scrapy.page.decoding import decode
from noiseclean_scrapy.store import PageRecord

if TYPE_CHECKING:
    from noiseclean_scrapy.clean_page import CleanPage
    from noiseclean_scrapy.commands.base import Call
    from noiseclean_scrapy.store import Store


@dataclass(frozen=True, slots=True)
class Judgement:
    """A page with its verdicts, its HTML, and what judged it; `version` 0 is no tree."""

    page: CleanPage
    html: str
    site: str
    method: str
    version: int


def judge(store: Store, record: PageRecord, call: Call) -> Judgement:
    """A stored page, judged by what its site has learned; raises NotStoredError without HTML."""
    html = stored_html(store, record)
    stored = load_stored_model(store, call.find_site(store, record.cluster), call.config)
    page = stored.judge(replace(record, html=html))
    return Judgement(page, html, record.cluster, stored.method, stored.version)


def judge_file(path: Path, call: Call, site: str | None) -> Judgement:
    """An HTML file, judged by a stored site's tree, or by itself alone."""
    html = decode(_unzipped(path, call.config.page_budget.markup + 1))
    now = datetime.now(timezone.utc)
    if site is None:
        config = call.config
        record = PageRecord("", "", "", "", now, html=html)
        page = judge_record(record, new_cleaner(None, config).model(), config)
        return Judgement(page, html, "", config.method, 0)
    with call.open_store() as store:
        stored = load_stored_model(store, call.find_site(store, site), call.config)
    site = stored.cluster
    # With an address of the site, whose overrides hold for the file as well.
    record = PageRecord("", site, f"http://{site}/", "", now, html=html)
    page = replace(stored.judge(record), url="")
    return Judgement(page, html, site, stored.method, stored.version)


def _unzipped(path: Path, most: int) -> bytes:
    """The first bytes of a file, which may be gzipped."""
    try:
        return read_unzipped(BytesIO(read_file(path)), most)
    except (EOFError, OSError, zlib.error) as error:
        raise FileError(f"{path} cannot be unpacked: {error}") from error


def stored_html(store: Store, record: PageRecord) -> str:
    """The HTML of a stored page; raises NotStoredError where it was not kept."""
    html = store.pages.html(record.key)
    if html is None:
        raise NotStoredError(
            f"the HTML of {record.url} is not stored: crawl with NOISECLEAN_STORE_HTML"
        )
    return html
