"""Cleaning stored pages in two passes: learn every site, then clean each page with all of it."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.request import fingerprint

from noiseclean_scrapy.batch.archive import ArchivedPage, ProblemKind, read_archive
from noiseclean_scrapy.clean_page import CleanPage, clean_page
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.metadata import Metadata, extract_metadata
from noiseclean_scrapy.page import Page, build_page

if TYPE_CHECKING:
    from noiseclean_scrapy.config import Config

SITES_IN_MEMORY = 64
_SEEN_BYTES = 8


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page to clean: `id` in its source, the `site` it belongs to, its decoded HTML."""

    id: str
    url: str
    site: str
    html: str


@dataclass(frozen=True, slots=True)
class CleanedPage:
    """A source page without its noise, and what it tells of itself."""

    source: SourcePage
    page: CleanPage
    metadata: Metadata


def archive_pages(
    source: str | Path,
    config: Config,
    *,
    on_problem: Callable[[ProblemKind], None] | None = None,
) -> Iterator[SourcePage]:
    """The pages of an archive that the settings let through, in its order; see `read_archive`."""
    pages = read_archive(source, on_problem=on_problem)
    return filter(None, (_source_page(page, config) for page in pages))


def learn_pages(pages: Iterable[SourcePage], cleaners: SiteCleaners) -> Iterator[SourcePage]:
    """Let each page's site learn it, once a request fingerprint as in a crawl; gives them back.

    Eight bytes a page are remembered, and the cleaners: memory stays small on large archives.
    """
    seen: set[bytes] = set()
    for source in pages:
        key = fingerprint(Request(source.url))[:_SEEN_BYTES]
        page = _build(source, cleaners.config)
        if key not in seen and page.blocks:
            seen.add(key)
            cleaners[source.site].observe_page(page)
        yield source


def clean_source_page(source: SourcePage, cleaners: SiteCleaners) -> CleanedPage:
    """The page as the newest tree of a crawl would clean it."""
    model = cleaners[source.site].model()
    page = clean_page(model, _build(source, cleaners.config))
    metadata = Metadata()
    if cleaners.config.metadata:
        metadata = extract_metadata(source.html, url=source.url, text=page.text)
    return CleanedPage(source, page, metadata)


class SiteCleaners:
    """The cleaner of each site; those not needed for longest wait as files in `folder`."""

    def __init__(
        self, config: Config, folder: Path, *, sites_in_memory: int = SITES_IN_MEMORY
    ) -> None:
        self.config = config
        self.folder = folder
        self.sites_in_memory = sites_in_memory
        self._cleaners: OrderedDict[str, SiteCleaner] = OrderedDict()
        self._pages_in_files: dict[str, float] = {}

    def __getitem__(self, site: str) -> SiteCleaner:
        if site not in self._cleaners:
            self._cleaners[site] = self._load(site)
            if len(self._cleaners) > self.sites_in_memory:
                self._put_away(*self._cleaners.popitem(last=False))
        self._cleaners.move_to_end(site)
        return self._cleaners[site]

    def __len__(self) -> int:
        return len(self._cleaners.keys() | self._pages_in_files.keys())

    def _load(self, site: str) -> SiteCleaner:
        if site in self._pages_in_files:
            return SiteCleaner.from_bytes(self._file(site).read_bytes())
        config = self.config
        return SiteCleaner(config.method, templates=config.templates, **config.all_method_options)

    def _put_away(self, site: str, cleaner: SiteCleaner) -> None:
        if cleaner.pages != self._pages_in_files.get(site):
            self._file(site).write_bytes(cleaner.to_bytes())
            self._pages_in_files[site] = cleaner.pages

    def _file(self, site: str) -> Path:
        name = hashlib.blake2b(site.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return self.folder / name


def _source_page(page: ArchivedPage, config: Config) -> SourcePage | None:
    response = HtmlResponse(
        page.url, status=page.status, headers=dict(page.headers), body=page.body
    )
    site = config.cluster_by(response) if config.wants(page.url) else None
    return SourcePage(page.id, page.url, site, response.text) if site else None


def _build(source: SourcePage, config: Config) -> Page:
    rules = config.overrides.rules_for(source.url)
    return build_page(source.html, url=source.url, rules=rules)
