"""The page clusters of a crawl: what each has learned, and when its tree is due.

Everything here is plain and synchronous; the crawl decides in which thread it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from noiseclean_scrapy.clean_page import Block, CleanPage, clean_page
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.methods import Model
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.store import Cleaned, ClusterRecord, PageRecord, Store

_INTERIM_GROWTH = 1.3
_REDESIGN_FIT = 0.5
_REDESIGN_PAGES = 10
_REDESIGN_DECAY = 0.25


class Site:
    """One page cluster: its learner, the model in use, and how far the store's tree reaches.

    `learned` pages have been given a position; the tree of `version` covers the first `covered` of
    them. The model in use is the last version's, before the first version an interim one.
    """

    def __init__(self, name: str, config: Config, record: ClusterRecord | None = None) -> None:
        self.name = name
        self.config = config
        self.version = record.version if record else 0
        self.cleaner = self._cleaner(record)
        self.learned = self.covered = int(record.learned if record else 0)
        self.model: Model = self.cleaner.model()
        self._interim_pages = self.cleaner.pages
        self._fit = 1.0
        self._judged = 0
        self._pages_per_version = config.refresh_pages

    def _cleaner(self, record: ClusterRecord | None) -> SiteCleaner:
        if record and record.tree:
            return SiteCleaner.from_bytes(record.tree, **self.config.all_method_options)
        config = self.config
        return SiteCleaner(config.method, templates=config.templates, **config.all_method_options)

    def restore(self, provisional: list[Page], covered: int) -> None:
        """Learn the pages again that the stored tree does not cover yet."""
        self.covered = covered
        for page in provisional:
            self.cleaner.observe_page(page)
        if not self.version:
            self._use_interim_model()

    def observe(self, page: Page) -> int:
        """Learn a page; its position in the cluster."""
        self.cleaner.observe_page(page)
        self.learned += 1
        if not self.version and self.cleaner.pages >= _INTERIM_GROWTH * self._interim_pages:
            self._use_interim_model()
        return self.learned

    def clean(self, page: Page) -> CleanPage:
        """Clean a page with the model in use, and watch how well it fits."""
        cleaned = clean_page(self.model, page)
        self._judged += 1
        self._fit += (cleaned.fit - self._fit) / min(self._judged, _REDESIGN_PAGES)
        return cleaned

    @property
    def redesigned(self) -> bool:
        """Whether the pages have stopped fitting the tree."""
        return self.version > 0 and self._judged >= _REDESIGN_PAGES and self._fit < _REDESIGN_FIT

    @property
    def due(self) -> bool:
        """Whether the tree should be built (anew) now."""
        waiting = self.learned - self.covered
        if not self.version:
            return self.learned >= self.config.sample_quota
        return waiting >= self._pages_per_version or (
            self.redesigned and waiting >= _REDESIGN_PAGES
        )

    def build(self) -> TreeVersion:
        """Take what has been learned into use as a new version, which the caller then saves."""
        self._pages_per_version = self.config.refresh_pages
        if self.redesigned:
            self.cleaner.decay(_REDESIGN_DECAY)
            # Of the new design few pages have been seen: the next version follows soon.
            self._pages_per_version = min(self.config.sample_quota, self.config.refresh_pages)
        self.model = self.cleaner.model()
        self.version += 1
        self.covered = self.learned
        self._fit, self._judged = 1.0, 0
        tree = self.cleaner.to_bytes()
        return TreeVersion(self.name, self.version, self.covered, self.model, tree, self.config)

    def _use_interim_model(self) -> None:
        self.model = self.cleaner.model()
        self._interim_pages = self.cleaner.pages


@dataclass(frozen=True, slots=True)
class TreeVersion:
    """A built tree on its way into the store: the pages up to position `learned` are in it."""

    cluster: str
    version: int
    learned: int
    model: Model
    tree: bytes
    config: Config

    def save(self, store: Store) -> list[str]:
        """Save the tree and clean the pages again that it newly covers; their keys."""
        return store.save_tree(
            self.cluster,
            method=self.config.tree_kind,
            version=self.version,
            tree=self.tree,
            learned=self.learned,
            clean=self._clean,
        )

    def _clean(self, record: PageRecord) -> Cleaned:
        return clean_record(record, self.model, self.version, self.config)


def load_site(store: Store, name: str, config: Config) -> Site:
    """The cluster as the store knows it: newest tree and provisional pages, or untaught."""
    site = Site(name, config, store.cluster(name))
    pages = [stored_page(record, config) for record in store.provisional(name)]
    versions = store.tree_versions(name)
    site.restore(pages, versions[-1].pages if versions else 0)
    return site


def stored_page(record: PageRecord, config: Config) -> Page:
    """The page of a record that has its HTML, with the overrides of `config`."""
    rules = config.overrides.rules_for(record.url)
    return build_page(record.html or "", url=record.url, rules=rules)


def judge_record(record: PageRecord, model: Model, config: Config) -> CleanPage:
    """The verdict on a page that has its HTML."""
    return clean_page(model, stored_page(record, config))


def clean_record(record: PageRecord, model: Model, version: int, config: Config) -> Cleaned:
    """What the store is to keep of a page that has its HTML, cleaned by the tree of `version`."""
    return to_record(judge_record(record, model, config), version)


def to_record(page: CleanPage, version: int) -> Cleaned:
    """What the store keeps of a cleaned page."""
    return Cleaned(
        title=page.title,
        text=page.text,
        blocks=tuple(map(_block_record, page.blocks)),
        clean_version=version,
        visible_characters=page.visible_characters,
        kept_characters=page.kept_characters,
        fit=page.fit,
    )


def _block_record(block: Block) -> dict[str, Any]:
    record = {
        "text": block.text,
        "xpath": block.xpath,
        "place": block.place,
        "kept": block.kept,
        "score": round(block.score, 4),
    }
    return {**record, "rule": block.rule} if block.rule else record
