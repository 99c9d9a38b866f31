"""The page clusters of a crawl: what each has learned, and when its tree is due.

Everything here is plain and synchronous; the crawl decides in which thread it runs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from noiseclean_scrapy.clean_page import Block, CleanPage, clean_page
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.config import Config, by_domain
from noiseclean_scrapy.errors import TreeDataError
from noiseclean_scrapy.methods import Model
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.store import (
    Cleaned,
    ClusterRecord,
    Growth,
    NewTree,
    PageRecord,
    Store,
)

logger = logging.getLogger(__name__)

_INTERIM_GROWTH = 1.3
_REDESIGN_FIT = 0.5
_REDESIGN_PAGES = 10
_REDESIGN_DECAY = 0.25
_TEMPLATES = "+templates"
_PAGES_HELD = 4_000_000
"""Characters of HTML whose pages are kept parsed between learning and cleaning them."""


@dataclass(slots=True)
class Learner:
    """The tree of `version` and, learned on top of it, the pages of `keys`."""

    version: int
    cleaner: SiteCleaner
    keys: set[str] = field(default_factory=set)


class Site:
    """One page cluster: the model in use, and what the store knows of the cluster.

    `learned` pages have been given a position, by whichever process; the tree of `version` covers
    `covered` of them; `unwritten` are pages to be learned that wait to be written. The model in use
    is that version's, before the first version an interim one. While a thread has the `learner`
    (`busy`) there is none here: pages seen meanwhile are learned from the store.
    """

    def __init__(self, name: str, config: Config, record: ClusterRecord | None = None) -> None:
        self.name = name
        self.config = config_of(record.method, config) if record else config
        self.version, self.learned, self.covered = 0, 0, 0
        if record:
            self.note(record)
            self.version = record.version
        cleaner = new_cleaner(record, self.config)
        # A record of a listing has no tree: what it has learned is read when it is needed.
        is_known = record is None or not record.version or record.tree is not None
        self.learner: Learner | None = Learner(self.version, cleaner) if is_known else None
        self.unwritten: set[str] = set()
        self.busy = False
        self.model: Model = cleaner.model()
        self._interim_pages = 0.0
        self._fit = 1.0
        self._judged = 0
        self._pages_per_version = config.refresh_pages

    def note(self, record: ClusterRecord) -> None:
        """Take note of how many pages the site has in the store."""
        self.learned, self.covered = record.learned, record.covered

    def observe(self, key: str, page: Page) -> None:
        """Learn a page ahead of the tree that will cover it, unless a thread has the learner."""
        if self.learner is None or (self.version and self.config.writer_process):
            return
        try:
            self.learner.cleaner.observe_page(page)
        except BaseException:
            # Half a page may have been counted: what is not known here is learned from the store.
            self.learner = None
            raise
        self.learner.keys.add(key)

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
    def pages(self) -> int:
        """Number of pages learned or to be learned: those of the store and those on their way."""
        return self.learned + len(self.unwritten)

    @property
    def due(self) -> bool:
        """Whether the tree should be built (anew) now."""
        return not self.busy and self.pages - self.covered >= self._pages_due

    @property
    def _pages_due(self) -> int:
        if not self.version:
            return self.config.sample_quota
        return _REDESIGN_PAGES if self.redesigned else self._pages_per_version

    @property
    def interim_due(self) -> bool:
        """Whether the interim model should be made anew."""
        return (
            not self.version
            and self.learner is not None
            and self.learner.cleaner.pages >= max(1.0, _INTERIM_GROWTH * self._interim_pages)
        )

    def take_learner(self) -> Learner | None:
        """Hand the learner to a thread, which gives it back."""
        learner, self.learner, self.busy = self.learner, None, True
        return learner

    def give_back(self, learner: Learner | None) -> None:
        """Take the learner back as it was; without one the next tree is learned from the store."""
        self.learner, self.busy = learner, False

    def adopt_interim(self, learner: Learner) -> None:
        """Take the learner back, and its model into use."""
        self.give_back(learner)
        self.model = learner.cleaner.model()
        self._interim_pages = learner.cleaner.pages

    def grower(self, *, pages_due: int | None = None) -> Grower:
        """What makes the next tree in a thread; it has the learner until `adopt`."""
        least = self._pages_due if pages_due is None else pages_due
        redesigned_version = self.version if self.redesigned else None
        return Grower(self.name, self.config, self.take_learner(), least, redesigned_version)

    def adopt(self, learner: Learner, record: ClusterRecord) -> None:
        """Take over a learner that a thread has brought up to the store's newest version."""
        self.note(record)
        self.config = config_of(record.method, self.config)
        self.give_back(learner)
        if learner.version == self.version:
            return
        was_redesigned = self.redesigned
        self.version, self.model = learner.version, learner.cleaner.model()
        self._fit, self._judged = 1.0, 0
        self._pages_per_version = self.config.refresh_pages
        if was_redesigned:
            # Of the new design few pages have been seen: the next version follows soon.
            self._pages_per_version = min(self.config.sample_quota, self.config.refresh_pages)


def new_cleaner(record: ClusterRecord | None, config: Config) -> SiteCleaner:
    """What the newest tree of a cluster has learned; untaught without a tree."""
    if record and record.tree:
        return SiteCleaner.from_bytes(record.tree, **config.all_method_options)
    return SiteCleaner(config.method, templates=config.templates, **config.all_method_options)


def grow_site(store: Store, site: Site) -> Growth:
    """Make a tree of all that waits, if anything does, and take it into use."""
    grower = site.grower(pages_due=1)
    growth = grower.run(store)
    assert grower.learner
    site.adopt(grower.learner, growth.cluster)
    return growth


def load_learner(store: Store, name: str, config: Config) -> tuple[Learner, ClusterRecord] | None:
    """The newest tree of a cluster, ready for use; None when the cluster is not stored."""
    record = store.cluster(name)
    if record is None:
        return None
    learner = Learner(record.version, new_cleaner(record, config_of(record.method, config)))
    learner.cleaner.model()
    return learner, record


def repair_tree(store: Store, name: str, config: Config) -> None:
    """Go on from the newest tree of a cluster that can be read, if the newest one cannot.

    What it lacks is learned again from the stored HTML.
    """
    record = store.cluster(name)
    if record is None:
        return
    config = config_of(record.method, config)
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


def load_site(store: Store, name: str, config: Config) -> Site:
    """The cluster as the store knows it; without a tree, what its provisional pages teach."""
    site = Site(name, config, store.cluster(name))
    if not site.version and site.learned:
        learner = site.take_learner()
        assert learner
        _learn(learner, store.provisional(name), site.config)
        learner.cleaner.model()
        site.adopt_interim(learner)
    return site


@dataclass(slots=True)
class Grower:
    """Brings a learner up to date in a transaction of the store, and makes the next tree of it.

    `learner` may be None or behind: what it lacks is read from the store. There is a new tree when
    at least `pages_due` pages wait; `built` tells whether there was. If the newest tree is
    `redesigned_version`, what it has learned counts less from now on. `errors` are the pages that
    could not be learned or cleaned.
    """

    cluster: str
    config: Config
    learner: Learner | None
    pages_due: int = 1
    redesigned_version: int | None = None
    built: bool = False
    errors: list[str] = field(default_factory=list)
    _held: dict[str, Page] = field(default_factory=dict)

    def without_learner(self) -> Grower:
        """The same for another process, which reads what is learned from its store."""
        config = replace(self.config, cluster_by=by_domain, topic=None)
        return replace(self, learner=None, config=config, _held={})

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
        self.config = config_of(newest.method, self.config)
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
            self.learner.cleaner.decay(_REDESIGN_DECAY)
        if len(self.learner.keys) < len(keys):
            self.errors = _learn(self.learner, pages, self.config, self._held)
        cleaner = self.learner.cleaner
        cleaner.model()
        self.learner, self.built = Learner(newest.version + 1, cleaner), True
        return NewTree(self.config.tree_kind, cleaner.to_bytes(), self._clean)

    def _clean(self, record: PageRecord) -> Cleaned | None:
        assert self.learner
        try:
            page = self._held.pop(record.key, None) or stored_page(record, self.config)
            return to_record(clean_page(self.learner.cleaner.model(), page), self.learner.version)
        except Exception as error:
            _log(record, "cleaned again", error)
            self.errors.append(record.key)
            return None


def _learn(
    learner: Learner,
    pages: Iterator[PageRecord],
    config: Config,
    held: dict[str, Page] | None = None,
) -> list[str]:
    """Learn the pages that are new to a learner; the keys of those that cannot be learned.

    Pages are kept in `held` as long as there is room.
    """
    room = _PAGES_HELD
    failed = []
    for record in pages:
        if record.key in learner.keys:
            continue
        try:
            page = stored_page(record, config)
            learner.cleaner.observe_page(page)
        except Exception as error:
            _log(record, "learned", error)
            failed.append(record.key)
        else:
            learner.keys.add(record.key)
            room -= len(record.html or "")
            if held is not None and room > 0:
                held[record.key] = page
    return failed


def _log(record: PageRecord, doing: str, error: Exception) -> None:
    logger.error("%s could not be %s; the crawl goes on", record.url, doing, exc_info=error)


def config_of(kind: str, config: Config) -> Config:
    """The settings with the method of a tree; their options hold for their own method only."""
    method = kind.removesuffix(_TEMPLATES)
    templates = kind.endswith(_TEMPLATES)
    options = config.method_options if method == config.method else {}
    return replace(config, method=method, templates=templates, method_options=options)


def stored_page(record: PageRecord, config: Config) -> Page:
    """The page of a record that has its HTML, with the overrides of `config`."""
    rules = config.overrides.rules_for(record.url)
    budget = config.page_budget
    return build_page(record.html or "", url=record.url, rules=rules, budget=budget)


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
