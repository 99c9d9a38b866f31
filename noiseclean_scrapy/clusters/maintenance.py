"""Looking after stored clusters: judging their pages, learning them again, trees from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.clusters.cleaning import clean_record, judge_record, stored_page
from noiseclean_scrapy.clusters.cluster import load_cluster
from noiseclean_scrapy.clusters.training import as_learned, new_cleaner
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import NotStoredError, TreeDataError, UnknownMethodError
from noiseclean_scrapy.metadata import Metadata, extract_metadata, load_libraries
from noiseclean_scrapy.page.logs import get_logger

if TYPE_CHECKING:
    from noiseclean_scrapy.clean_page import CleanPage
    from noiseclean_scrapy.methods import Model
    from noiseclean_scrapy.store import Cleaned, ClusterRecord, PageRecord, Store

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a cluster's pages taught: the tree of `version`; without one (0), provisional pages.

    `method` is the kind of the tree; `config` has the settings that go with it.
    """

    cluster: str
    method: str
    version: int
    model: Model
    config: Config

    def judge(self, page: PageRecord) -> CleanPage:
        """The verdict on a page, which must have its HTML."""
        return judge_record(page, self.model, self.config)

    def clean(self, page: PageRecord) -> Cleaned:
        """What the store is to keep of a page, which must have its HTML."""
        return clean_record(page, self.model, self.version, self.config)

    def describe(self, page: PageRecord) -> Metadata:
        """What a page, which must have its HTML and its text, tells of itself."""
        text = page.cleaned.text if page.cleaned else ""
        return extract_metadata(page.html or "", url=page.url, text=text)


@contextmanager
def reading_tree(site: str) -> Iterator[None]:
    """What is read within is the tree of a site: a TreeDataError says so."""
    try:
        yield
    except UnknownMethodError as error:
        raise UnknownMethodError(f"{site}: {error}") from error
    except TreeDataError as error:
        raise TreeDataError(
            f"the tree of {site} cannot be read ({error}): `noiseclean check --repair` builds "
            f"another"
        ) from error


def load_stored_model(store: Store, cluster: ClusterRecord, config: Config) -> StoredModel:
    """The model with which the cluster's pages are to be cleaned now.

    Raises TreeDataError, with the cluster's name, where its tree cannot be read.
    """
    config = config.of_tree(cluster.method)
    if cluster.tree is None:
        model = load_cluster(store, cluster.name, config).model
    else:
        with reading_tree(cluster.name):
            cleaner = new_cleaner(cluster, config)
        model, config = cleaner.model(), as_learned(config, cleaner)
    return StoredModel(cluster.name, cluster.method, cluster.version, model, config)


def clean_again(store: Store, model: StoredModel) -> Iterator[int]:
    """Clean a cluster's stored pages with what is known now; the number of those done so far.

    Metadata is read again where it is wanted, and as much of it can be found as a crawl has found.
    """
    can_describe = model.config.metadata and load_libraries()
    return store.pages.clean_again(
        model.cluster, model.clean, model.describe if can_describe else None
    )


def relearn(
    store: Store, cluster: ClusterRecord, config: Config, on_page: Callable[[], object]
) -> StoredModel:
    """Learn a cluster from its stored HTML, by the method of `config`, and save a new tree version.

    `on_page` is called after each page. Raises NotStoredError, with nothing changed, where no HTML
    is stored of the pages that the cluster's tree has learned.
    """
    cleaner = new_cleaner(None, config)
    count = learned = 0
    for record in store.pages.with_html(cluster.name):
        # Later pages are a running crawl's, which gives them positions above.
        if record.position is not None and record.position <= cluster.learned:
            cleaner.observe_page(stored_page(record, config))
            count += 1
            learned += record.learned_version is not None
        on_page()
    if not (learned if cluster.version else count):
        raise NotStoredError(
            f"no HTML of {cluster.name} is stored to learn from: "
            "crawl it with NOISECLEAN_STORE_HTML"
        )
    if count < cluster.learned:
        message = "%s: %d of its %d pages are learned again: of the others no HTML is stored"
        logger.warning(message, cluster.name, count, cluster.learned)
    return save_cleaner(store, cluster.name, cleaner, config, learned=cluster.learned)


def import_cleaner(store: Store, name: str, cleaner: SiteCleaner, config: Config) -> StoredModel:
    """Save what a cleaner has learned elsewhere as the newest tree of a cluster, new or known.

    Pages that the cluster's tree has not learned yet stay provisional: this one has not either.
    """
    config = as_learned(config.of_tree(tree_kind(cleaner)), cleaner)
    return save_cleaner(store, name, cleaner, config, learned=0)


def save_cleaner(
    store: Store, name: str, cleaner: SiteCleaner, config: Config, *, learned: int
) -> StoredModel:
    """Save a tree that has learned the pages up to position `learned`; cleans those new to it."""
    cluster = store.clusters.find(name)
    version = cluster.version + 1 if cluster else 1
    saved = StoredModel(name, tree_kind(cleaner), version, cleaner.model(), config)
    store.clusters.save_tree(
        name,
        method=saved.method,
        version=version,
        tree=cleaner.to_bytes(),
        learned=learned,
        clean=saved.clean,
    )
    return saved


def tree_kind(cleaner: SiteCleaner) -> str:
    """What kind of tree a cleaner's knowledge makes in the store."""
    return Config(method=cleaner.method, templates=cleaner.templates).tree_kind
