"""Training of a page cluster: provisional pages are learned on top of its newest tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from noiseclean_scrapy.clean_page import clean_page
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.clusters.cleaning import stored_page, to_record
from noiseclean_scrapy.clusters.page_cache import PageCache
from noiseclean_scrapy.config import Config, by_domain
from noiseclean_scrapy.errors import TreeDataError
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store import Cleaned, ClusterRecord, NewTree, PageRecord, Store

logger = get_logger(__name__)


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


def as_learned(config: Config, cleaner: SiteCleaner) -> Config:
    """The settings of a tree, see `Config.of_tree`, with which pages are read as it has read them.

    That is in the form of the papers, or in ours: a tree of another method stays in its form.
    """
    if cleaner.budget.display == config.page_budget.display:
        return config
    options = {**config.method_options, "published": cleaner.budget.display}
    return replace(config, method_options=options)


def load_learner(store: Store, name: str, config: Config) -> tuple[Learner, ClusterRecord] | None:
    """The newest tree of a cluster, ready for use; None when the cluster is not stored."""
    record = store.clusters.find(name)
    if record is None:
        return None
    learner = Learner(
        record.version,
        new_cleaner(record, config.of_tree(record.method)),
        tree_bytes=len(record.tree or b""),
    )
    learner.cleaner.model()
    return learner, record


def newest_readable(store: Store, record: ClusterRecord, config: Config) -> ClusterRecord:
    """A cluster as its newest tree that can be read has it; those that cannot be are told."""
    config = config.of_tree(record.method)
    for version, tree in store.clusters.trees(record.name):
        found = replace(record, version=version, tree=tree)
        try:
            new_cleaner(found, config)
            return found
        except TreeDataError as error:
            logger.error("Tree version %d of %s: %s", version, record.name, error)
    return replace(record, version=0, tree=None)


def repair_tree(store: Store, name: str, config: Config) -> None:
    """Go on from the newest tree of a cluster that can be read, if the newest one cannot.

    What it lacks is learned again from the stored HTML.
    """
    record = store.clusters.find(name)
    if record is None:
        return
    known = newest_readable(store, record, config)
    if known.version == record.version:
        return
    tree = new_cleaner(known, config.of_tree(record.method)).to_bytes()
    pages = store.clusters.replace_damaged_tree(
        name, version=record.version, tree=tree, known_version=known.version
    )
    logger.error(
        "%s goes on from its tree version %d; %d pages are learned again",
        name,
        known.version,
        pages,
    )


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The cluster after a training, its learner, and the keys of pages that were `cleaned` again.

    `built` tells whether there is a new tree, `redesigned` whether it is the first of a new design;
    `errors` are the keys of pages that could not be learned or cleaned.
    """

    cluster: ClusterRecord
    learner: Learner | None
    cleaned: tuple[str, ...]
    built: bool
    redesigned: bool
    errors: tuple[str, ...]


@dataclass(slots=True)
class Training:
    """Brings a learner up to date in a transaction of the store, and makes the next tree of it.

    `learner` may be None or behind: what it lacks is read from the store. There is a new tree when
    at least `pages_due` pages wait. If the newest tree is `redesigned_version`, what it has learned
    counts less from now on. Pages that are `held` are not built again from their HTML.
    """

    cluster: str
    config: Config
    learner: Learner | None
    pages_due: int = 1
    redesigned_version: int | None = None
    held: PageCache = field(default_factory=PageCache)
    _config: Config = field(init=False, repr=False)  # of the cluster's tree
    _built: bool = field(default=False, init=False, repr=False)
    _errors: list[str] = field(default_factory=list, init=False, repr=False)
    _taken: dict[str, Page] = field(default_factory=dict, init=False, repr=False)

    def without_learner(self) -> Training:
        """The same for another process, which reads what is learned from its store."""
        config = replace(self.config, cluster_by=by_domain, topic=None)
        return replace(self, learner=None, config=config, held=PageCache())

    def run(self, store: Store) -> TrainingResult:
        """Train in the store; what the store refuses has changed nothing there."""
        config = self.config
        update = store.clusters.add_tree(
            self.cluster,
            method=config.tree_kind,
            limit=max(config.sample_quota, config.refresh_pages),
            train=self._train,
            holds=self._need_not_learn,
        )
        version = update.cluster.version
        return TrainingResult(
            update.cluster,
            self.learner,
            update.cleaned,
            built=self._built,
            redesigned=self._built and version - 1 == self.redesigned_version,
            errors=tuple(self._errors),
        )

    def _need_not_learn(self, record: PageRecord) -> bool:
        return bool(self.learner and record.key in self.learner.keys) or self._holds(record)

    def _holds(self, record: PageRecord) -> bool:
        """Take a held page in hand, if there is one: its HTML need not be read."""
        page = self.held.take(record)
        if page is not None:
            self._taken[record.key] = page
        return page is not None

    def _page(self, record: PageRecord) -> Page:
        page = self._taken.pop(record.key, None)
        if page is None:
            page = stored_page(record, self._config)
        return page

    def _train(
        self, newest: ClusterRecord, keys: list[str], pages: Iterator[PageRecord]
    ) -> NewTree | None:
        config = self.config.of_tree(newest.method)
        redesigned = newest.version == self.redesigned_version
        if (
            self.learner is None
            or redesigned
            or self.learner.version != newest.version
            or not self.learner.keys <= set(keys)
        ):
            self.learner = Learner(newest.version, new_cleaner(newest, config))
        self._config = as_learned(config, self.learner.cleaner)
        if not keys or len(keys) < self.pages_due:
            return None
        if redesigned:
            self.learner.cleaner.note_redesign()
        if len(self.learner.keys) < len(keys):
            self._errors = learn_pages(self.learner, pages, self._page, self.held)
        cleaner = self.learner.cleaner
        cleaner.model()
        tree = cleaner.to_bytes()
        self.learner = Learner(newest.version + 1, cleaner, tree_bytes=len(tree))
        self._built = True
        return NewTree(self._config.tree_kind, tree, self._clean, self._holds)

    def _clean(self, record: PageRecord) -> Cleaned | None:
        assert self.learner
        try:
            clean = clean_page(self.learner.cleaner.model(), self._page(record))
            return to_record(clean, self.learner.version, self._config, record.cleaned)
        except Exception as error:
            log_failure(record, "cleaned again", error)
            self._errors.append(record.key)
            return None


def learn_pages(
    learner: Learner,
    records: Iterable[PageRecord],
    read: Callable[[PageRecord], Page],
    held: PageCache | None = None,
) -> list[str]:
    """Learn the pages that are new to a learner; the keys of those that cannot be learned.

    They are in `held` afterwards, as far as there is room.
    """
    failed = []
    for record in records:
        if record.key in learner.keys:
            continue
        try:
            page = read(record)
            learner.cleaner.observe_page(page)
        except Exception as error:
            log_failure(record, "learned", error)
            failed.append(record.key)
        else:
            learner.keys.add(record.key)
            if held:
                held.add(record, page)
    return failed


def log_failure(record: PageRecord, doing: str, error: Exception) -> None:
    """Say what could not be done with a page, and why."""
    logger.error("%s could not be %s; the crawl goes on", record.url, doing, exc_info=error)
