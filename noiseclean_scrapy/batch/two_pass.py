"""Cleaning stored pages in two passes: learn every site, then clean each page with all of it."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.batch.addresses import FolderHosts
from noiseclean_scrapy.batch.archive import ArchivedPage, ProblemKind, read_archive
from noiseclean_scrapy.batch.sampling import SiteSample, sampling_key
from noiseclean_scrapy.clean_page import CleanPage, clean_page
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.config import METADATA_VALUES
from noiseclean_scrapy.metadata import Metadata, extract_metadata
from noiseclean_scrapy.methods import Model
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.hashes import digest

if TYPE_CHECKING:
    from noiseclean_scrapy.config import Config

WRITTEN = ("text", "markdown", "html")
"""What can be written of the content."""
SITES_IN_MEMORY = 64


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page to clean: `id` in its source, the `site` it belongs to, its decoded HTML.

    `fetched_at` is aware; None where the source does not tell.
    """

    id: str
    url: str
    site: str
    html: str
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CleanedPage:
    """A source page without its noise, and what it tells of itself."""

    source: SourcePage
    page: CleanPage
    metadata: Metadata


def archive_pages(
    source: str | Path,
    config: Config,
    hosts: FolderHosts | None = None,
    on_problem: Callable[[ProblemKind], None] | None = None,
) -> Iterator[SourcePage]:
    """The pages of an archive that the settings let through, in its order; see `read_archive`."""
    pages = read_archive(source, on_problem=on_problem, budget=config.page_budget, hosts=hosts)
    return wanted_pages(pages, config)


def wanted_pages(pages: Iterable[ArchivedPage], config: Config) -> Iterator[SourcePage]:
    """The pages that the settings let through, decoded, each with its site."""
    return filter(None, (_source_page(page, config) for page in pages))


class Learning:
    """Lets every site learn its pages, each once a request fingerprint as in a crawl.

    The first of a page's records counts. Of a site with more than `Config.archive_sample` pages
    those with the least fingerprints are learned, in the order of the archive, which is read once
    more for them.
    """

    def __init__(self, cleaners: SiteCleaners) -> None:
        self.cleaners = cleaners
        size = cleaners.config.archive_sample
        self._samples: defaultdict[str, SiteSample] = defaultdict(partial(SiteSample, size))

    def learn(self, pages: Iterable[SourcePage]) -> Iterator[SourcePage]:
        """Learn the pages, and give them back; their keys are remembered, a sample of each site."""
        for source in pages:
            sample = self._samples[source.site]
            if sample.add(sampling_key(source.url)) and not sample.is_exceeded:
                self.cleaners.observe(source)
            yield source

    @property
    def needs_samples(self) -> bool:
        """Whether a site had so many pages that its sample was known too late."""
        return any(sample.is_exceeded for sample in self._samples.values())

    def learn_samples(self, pages: Iterable[SourcePage]) -> None:
        """Learn the samples of the large sites from the same pages, read again."""
        missing = {
            (site, key)
            for site, sample in self._samples.items()
            if sample.is_exceeded
            for key in sample.keys
        }
        for site, _ in missing:
            self.cleaners.forget(site)
        for source in pages:
            page = source.site, sampling_key(source.url)
            if page in missing:
                missing.remove(page)
                self.cleaners.observe(source)


def clean_source_page(source: SourcePage, model: Model, config: Config) -> CleanedPage:
    """The page as the newest tree of a crawl would clean it; `model` is that of its site."""
    read_metadata = partial(extract_metadata, source.html, url=source.url)
    page = clean_page(
        model,
        build_source_page(source, config),
        markup=config.markup,
        read_metadata=read_metadata,
    )
    return CleanedPage(source, page, page.metadata if config.metadata else Metadata())


def cleaned_row(cleaned: CleanedPage, content: str) -> dict[str, Any]:
    """What is written of a page; `content` is one of `WRITTEN` and names the last field."""
    source, page = cleaned.source, cleaned.page
    return {
        "id": source.id,
        "url": source.url,
        "site": source.site,
        "title": page.title,
        **asdict(cleaned.metadata),
        content: getattr(page, content),
    }


def cleaned_columns(content: str) -> tuple[str, ...]:
    """The names in a row of `cleaned_row`."""
    return ("id", "url", "site", "title", *METADATA_VALUES, content)


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

    def observe(self, source: SourcePage) -> None:
        """Let the site of a page learn it."""
        page = build_source_page(source, self.config)
        if page.blocks:
            self[source.site].observe_page(page)

    def forget(self, site: str) -> None:
        """Begin again with a site."""
        self._cleaners.pop(site, None)
        self._pages_in_files.pop(site, None)

    def __len__(self) -> int:
        return len(self._cleaners.keys() | self._pages_in_files.keys())

    def _load(self, site: str) -> SiteCleaner:
        if site in self._pages_in_files:
            return SiteCleaner.from_bytes(self._file(site).read_bytes())
        return untaught_cleaner(self.config)

    def _put_away(self, site: str, cleaner: SiteCleaner) -> None:
        if cleaner.pages != self._pages_in_files.get(site):
            self._file(site).write_bytes(cleaner.to_bytes())
            self._pages_in_files[site] = cleaner.pages

    def _file(self, site: str) -> Path:
        name = digest(site.encode("utf-8", "surrogatepass")).hex()
        return self.folder / name


def untaught_cleaner(config: Config, **options: Any) -> SiteCleaner:
    """A cleaner as the settings want it; `options` of the method go before theirs."""
    options = {**config.all_method_options, **options}
    return SiteCleaner(config.method, templates=config.templates, **options)


def build_source_page(source: SourcePage, config: Config) -> Page:
    """The page with the user's overrides."""
    rules = config.overrides.rules_for(source.url)
    return build_page(source.html, url=source.url, rules=rules, budget=config.page_budget)


def _source_page(page: ArchivedPage, config: Config) -> SourcePage | None:
    from noiseclean_scrapy.crawl.bounded import read_part

    response = page.response()
    site = config.cluster_by(response) if config.wants(page.url) else None
    text = read_part(response, config.page_budget).text
    return SourcePage(page.id, page.url, site, text, page.fetched_at) if site else None
