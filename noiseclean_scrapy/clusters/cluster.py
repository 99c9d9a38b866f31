"""The page clusters of a crawl: what each has learned, and when its tree is due.

Everything here is plain and synchronous; the crawl decides in which thread it runs.
"""

from __future__ import annotations

from functools import partial

from noiseclean_scrapy.clean_page import CleanPage, clean_page
from noiseclean_scrapy.clusters import fit_watch
from noiseclean_scrapy.clusters.cleaning import stored_page
from noiseclean_scrapy.clusters.training import (
    Learner,
    Training,
    as_learned,
    learn_pages,
    new_cleaner,
)
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.methods import Model
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.store import ClusterRecord, Store

_INTERIM_GROWTH = 1.3
_OWN_PAGES = 10_000
"""Keys that a cluster remembers, 130 bytes each, instead of asking the store."""
_PAGE_BYTES = 3000
"""What a page adds to a stored tree, at most, as long as the tree is small."""


class PageCluster:
    """One page cluster: the model in use, and what the store knows of the cluster.

    `settings` are those of the crawl, `config` has the method of the cluster's tree in their place.
    `learned` pages have been given a position, by whichever process; the tree of `version` covers
    `covered` of them; `unwritten` are pages to be learned that wait to be written. The model in use
    is that version's, before the first version an interim one. While a thread has the `learner`
    (`busy`) there is none here: pages seen meanwhile are learned from the store. `own` are the
    pages written from here, as long as the store can have no others and they are few; else None.
    """

    def __init__(self, name: str, config: Config, record: ClusterRecord | None = None) -> None:
        self.name = name
        self.settings = config
        self.version, self.learned, self.covered = 0, 0, 0
        self.unwritten: set[str] = set()
        self.own: set[str] | None = None
        if record:
            self.note(record)
            self.version = record.version
        self._tree_bytes = len(record.tree or b"") if record else 0
        own = config.of_tree(record.method) if record else config
        cleaner = new_cleaner(record, own)
        self.config = as_learned(own, cleaner)
        # A record of a listing has no tree: what it has learned is read when it is needed.
        is_known = record is None or not record.version or record.tree is not None
        self.learner: Learner | None = Learner(self.version, cleaner) if is_known else None
        self.busy = False
        self.model: Model = cleaner.model()
        self._interim_pages = 0.0
        self._watch = fit_watch.FitWatch()
        self._pages_per_version = config.refresh_pages

    def note(self, record: ClusterRecord) -> None:
        """Take note of how many pages the cluster has in the store."""
        self.learned, self.covered = record.learned, record.covered
        if self.own is not None:
            on_their_way = len(self.unwritten - self.own)
            if self.learned > len(self.own) + on_their_way:
                self.own = None

    def note_written(self, key: str) -> None:
        """Take note of a page that is in the store now."""
        self.unwritten.discard(key)
        if self.own is not None:
            self.own.add(key)
            if len(self.own) > _OWN_PAGES:
                self.own = None

    def is_new(self, key: str) -> bool:
        """Whether the store is known not to have a page; it need not be asked."""
        return self.own is not None and key not in self.own

    def observe(self, key: str, page: Page) -> None:
        """Learn a page ahead of the tree that will cover it, unless a thread has the learner.

        Once: while the store refuses, nobody can tell that it comes again.
        """
        if self.learner is None or key in self.learner.keys:
            return
        if self.version and self.config.writer_process:
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
        cleaned = clean_page(self.model, page, markup=self.config.markup)
        self._watch.note(cleaned.fit)
        return cleaned

    @property
    def redesigned(self) -> bool:
        """Whether the pages have stopped fitting the tree."""
        return self.version > 0 and self._watch.sees_redesign

    @property
    def pages(self) -> int:
        """Number of pages learned or to be learned: those of the store and those on their way."""
        return self.learned + len(self.unwritten)

    @property
    def size(self) -> int:
        """Bytes of the tree as stored; in memory it takes ten to forty times as much."""
        return self._tree_bytes or _PAGE_BYTES * self.pages

    @property
    def due(self) -> bool:
        """Whether the tree should be built or rebuilt now."""
        return not self.busy and self.pages - self.covered >= self._pages_due

    @property
    def _pages_due(self) -> int:
        if self.covered < self.config.sample_quota:
            return self.config.sample_quota - self.covered
        return fit_watch.PAGES if self.redesigned else self._pages_per_version

    @property
    def interim_due(self) -> bool:
        """Whether the interim model is out of date."""
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

    def training(self, *, pages_due: int | None = None) -> Training:
        """What makes the next tree in a thread; it has the learner until `adopt`."""
        least = self._pages_due if pages_due is None else pages_due
        redesigned_version = self.version if self.redesigned else None
        return Training(self.name, self.settings, self.take_learner(), least, redesigned_version)

    def adopt(self, learner: Learner, record: ClusterRecord) -> None:
        """Take over a learner that a thread has brought up to the store's newest version."""
        self.note(record)
        self.config = as_learned(self.settings.of_tree(record.method), learner.cleaner)
        self.give_back(learner)
        if learner.version == self.version:
            return
        was_redesigned = self.redesigned
        self.version, self.model = learner.version, learner.cleaner.model()
        self._tree_bytes = learner.tree_bytes
        self._watch = fit_watch.FitWatch()
        self._pages_per_version = self.config.refresh_pages
        if was_redesigned:
            # Of the new design few pages have been seen: the next version follows soon.
            self._pages_per_version = min(self.config.sample_quota, self.config.refresh_pages)


def load_cluster(store: Store, name: str, config: Config) -> PageCluster:
    """The cluster as the store knows it; without a tree, what its provisional pages teach."""
    record = store.clusters.find(name)
    cluster = PageCluster(name, config, record)
    if record is None:
        cluster.own = set()
    if not cluster.version and cluster.learned:
        learner = cluster.take_learner()
        assert learner
        learn_pages(
            learner, store.pages.provisional(name), partial(stored_page, config=cluster.config)
        )
        learner.cleaner.model()
        cluster.adopt_interim(learner)
    return cluster
