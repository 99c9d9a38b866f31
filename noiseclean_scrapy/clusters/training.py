"""How the tree of a page cluster grows: provisional pages are learned on top of the newest tree."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from noiseclean_scrapy.clean_page import clean_page
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.clusters.cleaning import stored_page, to_record
from noiseclean_scrapy.clusters.page_cache import HeldPages
from noiseclean_scrapy.config import Config, by_domain
from noiseclean_scrapy.errors import TreeDataError
from noiseclean_scrapy.store import Cleaned, ClusterRecord, Growth, NewTree, PageRecord, Store

logger = logging.getLogger(__name__)

REDESIGN_DECAY = 0.25
"""What each page learned before a redesign counts after it."""


@dataclass(slots=True)
class Learner:
    """The tree of `version`, stored in `tree_bytes`, and the pages of `keys` learned on top."""

    version: int
    cleaner: SiteCleaner
    keys: set[str] = field(default_factory=set)
    tree_bytes: int = 0


def new_cleaner(record: ClusterRecord | None, config: Config) -> SiteCleaner:
    """What the newest tree of a cluster has learned; untaught without a tree."""
    if record and record.tree is not None:
        return SiteCleaner.from_bytes(record.tree, **config.all_method_options)
    return SiteCleaner(config.method, templates=config.templates, **config.all_method_options)


def load_learner(store: Store, name: str, config: Config) -> tuple[Learner, ClusterRecord] | None:
    """The newest tree of a cluster, ready for use; None when the cluster is not stored."""
    record = store.cluster(name)
    if record is None:
        return None
    learner = Learner(
        record.version,
        new_cleaner(record, config.of_tree(record.method)),
        tree_bytes=len(record.tree or b""),
    )
    learner.cleaner.model()
    return learner, record


def repair_tree(store: Store, name: str, config: Config) -> None:
    """Go on from the newest tree of a cluster that can be read, if the newest one cannot.

    What it lacks is learned again from the stored HTML.
    """
    record = store.cluster(name)
    if record is None:
        return
    config = config.of_tree(record.method)
    known, cleaner = 0, new_cleaner(None, config)
    for version, tree in store.trees(name):
        try:
            known, cleaner = version, new_cleaner(replace(record, tree=tree), config)
            break
        except TreeDataError as error:
            logger.error("Tree version %d of %s: %s", version, name, error)
    if known == record.version:
        return
    pages = store.replace_damaged_tree(
        name, version=record.version, tree=cleaner.to_bytes(), known_version=known
    )
    logger.error(
        "%s goes on from its tree version %d; %d pages are learned again", name, known, pages
    )


@dataclass(slots=True)
class Grower:
    """Brings a learner up to date in a transaction of the store, and makes the next tree of it.

    `learner` may be None or behind: what it lacks is read from the store. There is a new tree when
    at least `pages_due` pages wait; `built` tells whether there was. If the newest tree is
    `redesigned_version`, what it has learned counts less from now on. `errors` are the pages that
    could not be learned or cleaned. Pages that are `held` are not built again from their HTML.
    """

    cluster: str
    config: Config
    learner: Learner | None
    pages_due: int = 1
    redesigned_version: int | None = None
    built: bool = False
    errors: list[str] = field(default_factory=list)
    held: HeldPages = field(default_factory=HeldPages)

    def without_learner(self) -> Grower:
        """The same for another process, which reads what is learned from its store."""
        config = replace(self.config, cluster_by=by_domain, topic=None)
        return replace(self, learner=None, config=config, held=HeldPages())

    def run(self, store: Store) -> Growth:
        """Let the store's tree grow; what the store refuses has changed nothing there."""
        config = self.config
        return store.grow_tree(
            self.cluster,
            method=config.tree_kind,
            limit=max(config.sample_quota, config.refresh_pages),
            grow=self.grow,
        )

    def grow(
        self, newest: ClusterRecord, keys: list[str], pages: Iterator[PageRecord]
    ) -> NewTree | None:
        """The next tree, as `Store.grow_tree` asks for it."""
        self.config = self.config.of_tree(newest.method)
        redesigned = newest.version == self.redesigned_version
        if (
            self.learner is None
            or redesigned
            or self.learner.version != newest.version
            or not self.learner.keys <= set(keys)
        ):
            self.learner = Learner(newest.version, new_cleaner(newest, self.config))
        if not keys or len(keys) < self.pages_due:
            return None
        if redesigned:
            self.learner.cleaner.decay(REDESIGN_DECAY)
        if len(self.learner.keys) < len(keys):
            self.errors = learn_pages(self.learner, pages, self.config, self.held)
        cleaner = self.learner.cleaner
        cleaner.model()
        tree = cleaner.to_bytes()
        self.learner = Learner(newest.version + 1, cleaner, tree_bytes=len(tree))
        self.built = True
        return NewTree(self.config.tree_kind, tree, self._clean)

    def _clean(self, record: PageRecord) -> Cleaned | None:
        assert self.learner
        try:
            page = self.held.take(record) or stored_page(record, self.config)
            clean = clean_page(self.learner.cleaner.model(), page)
            return to_record(clean, self.learner.version, record.cleaned)
        except Exception as error:
            _log(record, "cleaned again", error)
            self.errors.append(record.key)
            return None


def learn_pages(
    learner: Learner,
    pages: Iterable[PageRecord],
    config: Config,
    held: HeldPages | None = None,
) -> list[str]:
    """Learn the pages that are new to a learner; the keys of those that cannot be learned.

    They are in `held` afterwards, as far as there is room.
    """
    held = held or HeldPages(room=0)
    failed = []
    for record in pages:
        if record.key in learner.keys:
            continue
        try:
            page = held.take(record) or stored_page(record, config)
            learner.cleaner.observe_page(page)
        except Exception as error:
            _log(record, "learned", error)
            failed.append(record.key)
        else:
            learner.keys.add(record.key)
            held.add(record, page)
    return failed


def _log(record: PageRecord, doing: str, error: Exception) -> None:
    logger.error("%s could not be %s; the crawl goes on", record.url, doing, exc_info=error)
