"""Config: the only reader of the NOISECLEAN_* settings."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from noiseclean_scrapy.config import readers
from noiseclean_scrapy.config.readers import PREFIX, ClusterBy, by_domain
from noiseclean_scrapy.errors import ConfigurationError, UnknownMethodError
from noiseclean_scrapy.methods import METHODS, create_method, method_parameters
from noiseclean_scrapy.page import DEFAULT_BUDGET, PageBudget
from noiseclean_scrapy.page.inline import MarkupOptions
from noiseclean_scrapy.page.overrides import NO_OVERRIDES, Overrides
from noiseclean_scrapy.page.patterns import Pattern
from noiseclean_scrapy.page.urls import host, is_below
from noiseclean_scrapy.service_urls import database_text, database_url, shown_url
from noiseclean_scrapy.topic import Topic

_TEMPLATES = "+templates"
_PLACES = ("host", "port", "options")
"""What in the query of a database URL says where pages go: its servers, and the schema."""


def _setting(read: Callable[[str, Any], Any]) -> Mapping[str, object]:
    """What a setting says of itself: what reads it, and that it alters what an archive gives."""
    return {"read": read, "alters_batches": True}


def _of_crawls(read: Callable[[str, Any], Any]) -> Mapping[str, object]:
    """The same of a setting for crawls, which alters nothing of that."""
    return {"read": read, "alters_batches": False}


@dataclass(frozen=True, slots=True)
class Config:
    """The add-on's settings, each under `NOISECLEAN_` and its name in capitals.

    `sample_quota` pages of a cluster are learned before its first tree is built, `refresh_pages`
    further ones before each new version; of an archive `archive_sample` pages of a site are learned
    at most. A site that had no new page for `idle_seconds` gets a tree of the pages that it has.
    `method_options` go to the method.

    `allow` and `deny` are regular expressions searched in URLs. `cluster_by` gives the name of a
    response's page cluster, or None to leave the page alone. `templates` tells whether pages of one
    cluster are told apart by their structure.

    `fields` maps item fields to what goes into them (see `ITEM_VALUES`). `metadata` tells whether
    author, date, language, address and image of pages are looked for; `overrides` are rules of the
    user, read from the file that the setting names. `hidden_text` keeps text that the page's markup
    hides from readers. `include_links`, `include_images` and `include_formatting` say what HTML and
    Markdown hold beside the text.

    `batch_size` pages are written in one transaction, fewer after `batch_seconds`, the time between
    two looks at the database and at pending pages. `html_store` is the URL of the object store that
    has the HTML of pages; without one rows have. `search` keeps the full-text index; without it
    pages are indexed by a command, later. `writer_process` lets another process write, index and
    clean again what is stored. `spool` is the folder in which pages wait while the database does
    not answer; without it the folder's name is made of the database's. `final_feeds` writes local
    feeds once more when they are closed, with the final texts. All responses go to WARC files in
    the folder `warc`.

    `live` shows the crawl's progress on a terminal. At the address `metrics` the crawl's stats are
    given to Prometheus. `topic` focuses the crawl: of each site at most `site_budget` pages are
    fetched (0: no bound), and hub pages are revisited `revisits` times in all, each of them every
    `revisit_seconds` at most. `frontier` are the Redis servers of a crawl of several processes, one
    for each part of the sites; a process works for the part of number `frontier_part`, from 0 on,
    and what it has waits again `frontier_lease_seconds` after it has died.
    """

    enabled: bool = field(default=True, metadata=_of_crawls(readers.read_flag))
    database_url: str = field(
        default="sqlite:///noiseclean.db",
        metadata=_of_crawls(readers.read_database_url),
        repr=False,
    )
    method: str = field(default="evidence", metadata=_setting(readers.read_method))
    method_options: Mapping[str, Any] = field(
        default_factory=dict, metadata=_setting(readers.read_options)
    )
    cluster_by: ClusterBy = field(default=by_domain, metadata=_setting(readers.read_cluster_by))
    templates: bool = field(default=False, metadata={"alters_batches": True})
    sample_quota: int = field(default=100, metadata=_of_crawls(readers.read_count))
    refresh_pages: int = field(default=500, metadata=_of_crawls(readers.read_count))
    archive_sample: int = field(default=1000, metadata=_setting(readers.read_count))
    allow_domains: tuple[str, ...] = field(default=(), metadata=_setting(readers.read_domains))
    deny_domains: tuple[str, ...] = field(default=(), metadata=_setting(readers.read_domains))
    allow: tuple[Pattern, ...] = field(default=(), metadata=_setting(readers.read_patterns))
    deny: tuple[Pattern, ...] = field(default=(), metadata=_setting(readers.read_patterns))
    fields: Mapping[str, str] = field(
        default_factory=lambda: {"title": "title", "text": "text"},
        metadata=_of_crawls(readers.read_fields),
    )
    store_html: bool = field(default=True, metadata=_of_crawls(readers.read_flag))
    html_store: str = field(default="", metadata=_of_crawls(readers.read_html_store), repr=False)
    search: bool = field(default=True, metadata=_of_crawls(readers.read_flag))
    metadata: bool = field(default=True, metadata=_setting(readers.read_flag))
    overrides: Overrides = field(default=NO_OVERRIDES, metadata=_setting(readers.read_overrides))
    batch_size: int = field(default=50, metadata=_of_crawls(readers.read_count))
    batch_seconds: float = field(default=5.0, metadata=_of_crawls(readers.read_seconds))
    idle_seconds: float = field(default=600.0, metadata=_of_crawls(readers.read_seconds))
    max_tree_nodes: int = field(default=50_000, metadata=_setting(readers.read_count))
    max_page_bytes: int = field(
        default=DEFAULT_BUDGET.markup, metadata=_setting(readers.read_count)
    )
    max_page_elements: int = field(
        default=DEFAULT_BUDGET.elements, metadata=_setting(readers.read_count)
    )
    hidden_text: bool = field(default=False, metadata=_setting(readers.read_flag))
    include_links: bool = field(default=False, metadata=_setting(readers.read_flag))
    include_images: bool = field(default=False, metadata=_setting(readers.read_flag))
    include_formatting: bool = field(default=True, metadata=_setting(readers.read_flag))
    read_only: bool = field(default=False, metadata=_of_crawls(readers.read_flag))
    live: bool = field(default=False, metadata=_of_crawls(readers.read_flag))
    topic: Topic | None = field(default=None, metadata=_of_crawls(readers.read_topic))
    site_budget: int = field(default=0, metadata=_of_crawls(readers.read_bound))
    revisits: int = field(default=0, metadata=_of_crawls(readers.read_bound))
    revisit_seconds: float = field(default=900.0, metadata=_of_crawls(readers.read_seconds))
    writer_process: bool = field(default=False, metadata=_of_crawls(readers.read_flag))
    spool: str = field(default="", metadata=_of_crawls(readers.read_folder))
    final_feeds: bool = field(default=False, metadata=_of_crawls(readers.read_flag))
    warc: str = field(default="", metadata=_of_crawls(readers.read_folder))
    metrics: tuple[str, int] | None = field(default=None, metadata=_of_crawls(readers.read_address))
    frontier: tuple[str, ...] = field(
        default=(), metadata=_of_crawls(readers.read_redis_urls), repr=False
    )
    frontier_part: int = field(default=0, metadata=_of_crawls(readers.read_bound))
    frontier_lease_seconds: float = field(default=60.0, metadata=_of_crawls(readers.read_lease))

    def require_libraries(self) -> None:
        """Refuse settings of a crawl that need a library of an extra that is not installed."""
        if self.frontier:
            readers.need("frontier", "redis", extra="redis")
            for url in self.frontier:
                readers.need_redis_url("frontier", url)
        if self.warc:
            readers.need("warc", "warcio", extra="warc")

    @classmethod
    def from_settings(cls, settings: Mapping[Any, Any]) -> Config:
        """Read and check the settings; raises ConfigurationError that names the wrong one."""
        given = {
            _known_name(name): value
            for name, value in settings.items()
            if isinstance(name, str) and name.startswith(PREFIX) and value is not None
        }
        # On a command line an empty value switches off what is off without it.
        given = {name: value for name, value in given.items() if value != "" or name not in _OFF}
        values = {name: _READERS[name](name, value) for name, value in given.items()}
        if given.get("cluster_by") == "template":
            values["templates"] = True
        config = cls(**values)
        if "published" in method_parameters(config.method):
            # A tree in the other form is learned again, but not one of another method.
            wanted = {"published": False, **config.method_options}
            config = replace(config, method_options=wanted)
        with readers.naming("method_options"):
            create_method(config.method, **config.all_method_options)
        if config.frontier_part >= max(1, len(config.frontier)):
            expected = f"below the number of parts in {PREFIX}FRONTIER"
            raise readers.wrong("frontier_part", config.frontier_part, expected)
        if config.html_store and not config.store_html:
            raise readers.wrong("store_html", False, f"True with {PREFIX}HTML_STORE")
        return config

    @property
    def all_method_options(self) -> dict[str, Any]:
        """Options of the method, with the bound of its tree where it has one."""
        bound = {"max_tree_nodes": self.max_tree_nodes}
        known = method_parameters(self.method)
        return {**{k: v for k, v in bound.items() if k in known}, **self.method_options}

    @property
    def store_options(self) -> dict[str, Any]:
        """What a store of pages is to be opened with, beside its address."""
        return {"store_html": self.store_html, "search": self.search, "html_store": self.html_store}

    @property
    def of_batches(self) -> dict[str, Any]:
        """The settings that alter what is made of an archive, by name."""
        return {
            setting.name: getattr(self, setting.name)
            for setting in fields(self)
            if setting.metadata["alters_batches"]
        }

    @property
    def page_budget(self) -> PageBudget:
        """How much of one page is read."""
        display = bool(self.method_options.get("published"))
        return PageBudget(self.max_page_bytes, self.max_page_elements, self.hidden_text, display)

    @property
    def markup(self) -> MarkupOptions:
        """What HTML and Markdown hold beside the text."""
        return MarkupOptions(self.include_links, self.include_images, self.include_formatting)

    @property
    def address_field(self) -> str:
        """The field of an item that has the address of its page."""
        return next((name for name, source in self.fields.items() if source == "url"), "url")

    @property
    def tree_kind(self) -> str:
        """What kind of tree the store keeps under these settings; kinds do not mix."""
        return self.method + _TEMPLATES if self.templates else self.method

    def knows(self, kind: str) -> bool:
        """Whether trees of a kind can be used: nobody else's class is imported for a database."""
        method = kind.removesuffix(_TEMPLATES)
        return method in METHODS or method == self.method

    def of_tree(self, kind: str) -> Config:
        """These settings with the method of a tree; options hold for their own method only.

        Raises UnknownMethodError for a class that nobody has named: no database has one imported.
        """
        method = kind.removesuffix(_TEMPLATES)
        if not self.knows(kind):
            raise UnknownMethodError(
                f"the tree is of the method {method!r}: name it in NOISECLEAN_METHOD"
            )
        options = self.method_options if method == self.method else {}
        templates = kind.endswith(_TEMPLATES)
        return replace(self, method=method, templates=templates, method_options=options)

    @property
    def display_url(self) -> str:
        """The database URL without what is secret in it."""
        return shown_url(self.database_url)

    @property
    def spool_path(self) -> Path:
        """The folder in which pages wait for a database that does not answer."""
        url = database_url(self.database_url)
        if self.spool:
            return Path(self.spool).absolute()
        if url.get_backend_name() == "sqlite" and url.database and "uri" not in url.query:
            return Path(f"{url.database}-spool").absolute()
        # Not how it is connected to: another spelling of the URL finds the same pages.
        place = f"{url.host} {url.port or 5432} {url.database}"
        place += "".join(f" {key}={url.query[key]}" for key in _PLACES if key in url.query)
        name = hashlib.blake2b(place.encode(), digest_size=4).hexdigest()
        return Path(f"noiseclean-{name}.db-spool").absolute()

    def with_absolute_paths(self) -> Config:
        """These settings with a database and a spool that stay where the process is now."""
        url = database_url(self.database_url)
        is_file = url.database not in (None, "", ":memory:") and "uri" not in url.query
        if url.get_backend_name() == "sqlite" and is_file:
            url = url.set(database=str(Path(str(url.database)).absolute()))
        return replace(self, database_url=database_text(url), spool=str(self.spool_path))

    def wants(self, url: str) -> bool:
        """Whether the URL passes the allow and deny lists."""
        if self.allow_domains and not _is_below(url, self.allow_domains):
            return False
        if _is_below(url, self.deny_domains):
            return False
        if self.allow and not any(pattern.is_found(url) for pattern in self.allow):
            return False
        return not any(pattern.is_found(url) for pattern in self.deny)


def _is_below(url: str, domains: tuple[str, ...]) -> bool:
    # Scrapy's url_is_from_any_domain takes the port for a part of the host.
    name = host(url)
    return any(is_below(name, domain) for domain in domains)


def _known_name(setting: str) -> str:
    """The field of a setting; raises ConfigurationError for an unknown one."""
    name = setting[len(PREFIX) :].lower()
    if setting != setting.upper() or name not in _READERS:
        nearest = difflib.get_close_matches(name, _READERS, n=1)
        raise ConfigurationError(
            f"there is no setting {setting}"
            + "".join(f"; did you mean {PREFIX}{known.upper()}?" for known in nearest)
        )
    return name


_OFF = {
    setting.name
    for setting in fields(Config)
    if not (setting.default if setting.default_factory is MISSING else setting.default_factory())
}
_READERS: dict[str, Callable[[str, Any], Any]] = {
    setting.name: setting.metadata["read"]
    for setting in fields(Config)
    if "read" in setting.metadata
}
