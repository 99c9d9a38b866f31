"""Config: the only reader of the NOISECLEAN_* settings."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from noiseclean_scrapy.errors import ConfigurationError, UnknownMethodError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.methods import METHODS, create_method, find_method, method_parameters
from noiseclean_scrapy.page import DEFAULT_BUDGET, PageBudget
from noiseclean_scrapy.page.budget import LARGEST
from noiseclean_scrapy.page.inline import MarkupOptions
from noiseclean_scrapy.page.overrides import NO_OVERRIDES, Overrides
from noiseclean_scrapy.page.patterns import Pattern
from noiseclean_scrapy.page.urls import CLUSTERINGS, HOST_NAME, host, host_name
from noiseclean_scrapy.service_urls import database_text, database_url, object_store_url, shown_url
from noiseclean_scrapy.topic import Topic

if TYPE_CHECKING:
    from scrapy.http import Response

PREFIX = "NOISECLEAN_"
_TEMPLATES = "+templates"
METADATA_VALUES = tuple(field.name for field in fields(Metadata))
ITEM_VALUES = (
    "url",
    "title",
    "text",
    "html",
    "markdown",
    *METADATA_VALUES,
    "weights",
    "blocks",
    "cluster",
    "tree_version",
)
"""What `NOISECLEAN_FIELDS` can put into an item's field."""

ClusterBy: TypeAlias = "Callable[[Response], str | None]"

_CLUSTER_BY = (
    "'domain', 'host', 'template', or a callable (or its path), not async, that takes a response"
)
_LONGEST_NAME = 500
"""Characters in the name of a page cluster: an index of PostgreSQL takes 2,700 bytes."""


def by_domain(response: Response) -> str:
    """The site of a response, see `site_name`."""
    return CLUSTERINGS["domain"](response.url)


def _error(name: str, value: Any, expected: str) -> ConfigurationError:
    return ConfigurationError(f"{PREFIX}{name.upper()} must be {expected}, not {value!r}")


def _need(name: str, module: str, *, extra: str) -> None:
    if find_spec(module) is None:
        raise ConfigurationError(
            f"{PREFIX}{name.upper()} needs {module}: pip install 'noiseclean-scrapy[{extra}]'"
        )


def _flag(name: str, value: Any) -> bool:
    text = str(value).strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off", ""}:
        return False
    raise _error(name, value, "True or False")


def _count(name: str, value: Any) -> int:
    try:
        number = int(value)
    except (OverflowError, TypeError, ValueError):
        number = 0
    is_whole = not isinstance(value, bool) and not (isinstance(value, float) and number != value)
    if not is_whole or not 1 <= number <= LARGEST:
        raise _error(name, value, f"a whole number from 1 to {LARGEST:,}")
    return number


def _bound(name: str, value: Any) -> int:
    return 0 if str(value).strip() == "0" else _count(name, value)


def _seconds(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number <= LARGEST or isinstance(value, bool):
        raise _error(name, value, f"a number of seconds above 0, and at most {LARGEST:,}")
    return number


def _redis_urls(name: str, value: Any) -> tuple[str, ...]:
    urls = _strings(name, value)
    for url in urls:
        if not url.startswith(("redis://", "rediss://", "unix://")):
            raise _error(name, shown_url(url), "a Redis URL such as redis://host:6379/0, or a list")
    return urls


def _address(name: str, value: Any) -> tuple[str, int]:
    host_name, _, port = str(value).rpartition(":")
    if not host_name or not port.isdecimal() or int(port) > 65535:
        raise _error(name, value, "an address to listen at, such as 127.0.0.1:9410")
    return host_name, int(port)


def _topic(name: str, value: Any) -> Topic:
    return Topic.read(value)


def _strings(name: str, value: Any) -> tuple[str, ...]:
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple, set, frozenset)) or not all(
        isinstance(part, str) for part in parts
    ):
        raise _error(name, value, "a list of strings")
    return tuple(part for part in parts if part)


def _domains(name: str, value: Any) -> tuple[str, ...]:
    """Host names; a leading dot, as cookies have one, is left out."""
    found = tuple(part.lstrip(".") for part in _strings(name, value))
    if not all(map(HOST_NAME.fullmatch, found)):
        raise _error(name, value, "a list of host names such as example.com")
    return tuple(map(host_name, found))


def _patterns(name: str, value: Any) -> tuple[Pattern, ...]:
    # A comma may be part of a pattern, so one string is one pattern.
    sources = [value] if isinstance(value, (str, re.Pattern)) else value
    try:
        return tuple(map(Pattern, sources))
    except (TypeError, re.error) as error:
        raise _error(name, value, f"a list of regular expressions ({error})") from None


def _dict(name: str, value: Any, expected: str) -> dict[str, Any]:
    """A dict with names as keys; on a command line it is written in JSON, as in Scrapy."""
    found = value
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except ValueError:
            raise _error(name, value, expected) from None
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise _error(name, value, expected)
    return dict(found)


def _fields(name: str, value: Any) -> Mapping[str, str]:
    fields = _dict(name, value, "a dict of item field to value name")
    for source in fields.values():
        if source not in ITEM_VALUES:
            raise _error(name, source, f"made of the values {', '.join(ITEM_VALUES)}")
    return fields


def _overrides(name: str, value: Any) -> Overrides:
    if not isinstance(value, (str, PathLike)):
        raise _error(name, value, "the path of a TOML file")
    return Overrides.read(Path(value))


def _path(name: str, value: Any) -> str:
    if not isinstance(value, (str, PathLike)):
        raise _error(name, value, "the path of a file")
    return str(value)


def _html_store(name: str, value: Any) -> str:
    try:
        return object_store_url(value) if value else ""
    except ValueError as error:
        expected = f"a URL that fsspec knows, such as s3://bucket/prefix ({error})"
        given = shown_url(value) if isinstance(value, str) else value
        raise _error(name, given, expected) from None


def _method(name: str, value: Any) -> str:
    if isinstance(value, type):
        value = f"{value.__module__}.{value.__qualname__}"
    try:
        find_method(value)
    except ConfigurationError as error:
        reason = f" ({error})" * ("." in str(value))  # of a path; the names stand here already
        expected = f"one of {', '.join(sorted(METHODS))}, or the path of a class{reason}"
        raise _error(name, value, expected) from None
    return str(value)


def _options(name: str, value: Any) -> Mapping[str, Any]:
    return _dict(name, value, "a dict of option name to value")


def _database_url(name: str, value: Any) -> str:
    try:
        return database_text(database_url(value))
    except ValueError as error:
        expected = f"a database URL such as sqlite:///noiseclean.db ({error})"
        given = shown_url(value) if isinstance(value, str) else value
        raise _error(name, given, expected) from None


def _cluster_by(name: str, value: Any) -> ClusterBy:
    # The templates of a domain are told apart by the cleaner.
    if isinstance(value, str) and (value in CLUSTERINGS or value == "template"):
        by_url = CLUSTERINGS.get(value, CLUSTERINGS["domain"])
        return lambda response: by_url(response.url)
    if isinstance(value, str):
        from scrapy.utils.misc import load_object

        try:
            loaded = load_object(value)
        except (ImportError, NameError, TypeError, ValueError) as error:
            raise _error(name, value, f"{_CLUSTER_BY} ({error})") from error
    else:
        loaded = value
    if not callable(loaded) or inspect.iscoroutinefunction(loaded):
        raise _error(name, value, _CLUSTER_BY)
    return CheckedNames(loaded)


@dataclass(frozen=True, slots=True)
class CheckedNames:
    """What names a response's page cluster by a callable of the user."""

    name_of: Callable[[Response], object]

    def __call__(self, response: Response) -> str | None:
        """The name or None; raises ConfigurationError for anything else."""
        name = self.name_of(response)
        if name is not None and not (isinstance(name, str) and len(name) <= _LONGEST_NAME):
            raise ConfigurationError(
                f"{PREFIX}CLUSTER_BY gave {name!r:.200} for {response.url}, expected None or a "
                f"name of at most {_LONGEST_NAME} characters"
            )
        return name


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
    at most. `method_options` go to the method. `allow` and `deny` are
    regular expressions searched in URLs. `fields` maps item fields to what goes into them (see
    `ITEM_VALUES`). `cluster_by` gives the name of a response's page cluster, or None to leave the
    page alone. `templates` tells whether pages of one cluster are told apart by their structure.
    `batch_size` pages are written in one transaction, fewer after `batch_seconds`, the time between
    two looks at the database and at pending pages. A site that had no new page for `idle_seconds`
    gets a tree of the pages that it has.
    `html_store` is the URL of the object store that has the HTML of pages; without one rows have.
    `search` keeps the full-text index; without it pages are indexed by a command, later.
    `metadata` tells whether author, date, language, address and image of pages are looked for;
    `overrides` are rules of the user, read from the file that the setting names. `hidden_text`
    keeps text that the page's markup hides from readers. `include_links`, `include_images` and
    `include_formatting` say what HTML and Markdown hold beside the text. `live` shows the
    crawl's progress on a terminal. `topic` focuses the crawl: of each site at most `site_budget`
    pages are fetched (0: no bound), and hub pages are revisited `revisits` times in all, each of
    them every `revisit_seconds` at most. `writer_process` lets another process write, index and
    clean again what is stored. `spool` is the folder in which pages wait while the database does
    not answer; without it the folder's name is made of the database's. `final_feeds` writes local
    feeds once more when they are closed, with the final texts. All responses go to WARC files in
    the folder `warc`. At the address `metrics` the crawl's stats are given to Prometheus.
    `frontier` are the Redis servers of a crawl of several processes, one for each part of the
    sites; a process works for the part of number `frontier_part`, from 0 on, and what it has waits
    again `frontier_lease_seconds` after it has died.
    """

    enabled: bool = field(default=True, metadata=_of_crawls(_flag))
    database_url: str = field(
        default="sqlite:///noiseclean.db",
        metadata=_of_crawls(_database_url),
        repr=False,
    )
    method: str = field(default="evidence", metadata=_setting(_method))
    method_options: Mapping[str, Any] = field(default_factory=dict, metadata=_setting(_options))
    cluster_by: ClusterBy = field(default=by_domain, metadata=_setting(_cluster_by))
    templates: bool = field(default=False, metadata={"alters_batches": True})
    sample_quota: int = field(default=100, metadata=_of_crawls(_count))
    refresh_pages: int = field(default=500, metadata=_of_crawls(_count))
    archive_sample: int = field(default=1000, metadata=_setting(_count))
    allow_domains: tuple[str, ...] = field(default=(), metadata=_setting(_domains))
    deny_domains: tuple[str, ...] = field(default=(), metadata=_setting(_domains))
    allow: tuple[Pattern, ...] = field(default=(), metadata=_setting(_patterns))
    deny: tuple[Pattern, ...] = field(default=(), metadata=_setting(_patterns))
    fields: Mapping[str, str] = field(
        default_factory=lambda: {"title": "title", "text": "text"},
        metadata=_of_crawls(_fields),
    )
    store_html: bool = field(default=True, metadata=_of_crawls(_flag))
    html_store: str = field(default="", metadata=_of_crawls(_html_store), repr=False)
    search: bool = field(default=True, metadata=_of_crawls(_flag))
    metadata: bool = field(default=True, metadata=_setting(_flag))
    overrides: Overrides = field(default=NO_OVERRIDES, metadata=_setting(_overrides))
    batch_size: int = field(default=50, metadata=_of_crawls(_count))
    batch_seconds: float = field(default=5.0, metadata=_of_crawls(_seconds))
    idle_seconds: float = field(default=600.0, metadata=_of_crawls(_seconds))
    max_tree_nodes: int = field(default=50_000, metadata=_setting(_count))
    max_page_bytes: int = field(default=DEFAULT_BUDGET.markup, metadata=_setting(_count))
    max_page_elements: int = field(default=DEFAULT_BUDGET.elements, metadata=_setting(_count))
    hidden_text: bool = field(default=False, metadata=_setting(_flag))
    include_links: bool = field(default=False, metadata=_setting(_flag))
    include_images: bool = field(default=False, metadata=_setting(_flag))
    include_formatting: bool = field(default=True, metadata=_setting(_flag))
    read_only: bool = field(default=False, metadata=_of_crawls(_flag))
    live: bool = field(default=False, metadata=_of_crawls(_flag))
    topic: Topic | None = field(default=None, metadata=_of_crawls(_topic))
    site_budget: int = field(default=0, metadata=_of_crawls(_bound))
    revisits: int = field(default=0, metadata=_of_crawls(_bound))
    revisit_seconds: float = field(default=900.0, metadata=_of_crawls(_seconds))
    writer_process: bool = field(default=False, metadata=_of_crawls(_flag))
    spool: str = field(default="", metadata=_of_crawls(_path))
    final_feeds: bool = field(default=False, metadata=_of_crawls(_flag))
    warc: str = field(default="", metadata=_of_crawls(_path))
    metrics: tuple[str, int] | None = field(default=None, metadata=_of_crawls(_address))
    frontier: tuple[str, ...] = field(default=(), metadata=_of_crawls(_redis_urls), repr=False)
    frontier_part: int = field(default=0, metadata=_of_crawls(_bound))
    frontier_lease_seconds: float = field(default=60.0, metadata=_of_crawls(_seconds))

    def require_libraries(self) -> None:
        """Refuse settings of a crawl that need a library of an extra that is not installed."""
        if self.frontier:
            _need("frontier", "redis", extra="redis")
        if self.warc:
            _need("warc", "warcio", extra="warc")

    @classmethod
    def from_settings(cls, settings: Mapping[Any, Any]) -> Config:
        """Read and check the settings; raises ConfigurationError that names the wrong one."""
        given = {
            name[len(PREFIX) :].lower(): value
            for name, value in settings.items()
            if isinstance(name, str) and name.startswith(PREFIX) and value is not None
        }
        _refuse_unknown(given)
        values = {name: _READERS[name](name, value) for name, value in given.items()}
        if given.get("cluster_by") == "template":
            values["templates"] = True
        config = cls(**values)
        if "published" in method_parameters(config.method):
            # A tree in the other form is learned again, but not one of another method.
            wanted = {"published": False, **config.method_options}
            config = replace(config, method_options=wanted)
        create_method(config.method, **config.all_method_options)
        if config.frontier_part >= max(1, len(config.frontier)):
            expected = f"below the number of parts in {PREFIX}FRONTIER"
            raise _error("frontier_part", config.frontier_part, expected)
        if config.html_store and not config.store_html:
            raise _error("store_html", False, f"True with {PREFIX}HTML_STORE")
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

    def of_tree(self, kind: str) -> Config:
        """These settings with the method of a tree; options hold for their own method only.

        Raises UnknownMethodError for a class that nobody has named: no database has one imported.
        """
        method = kind.removesuffix(_TEMPLATES)
        if method not in METHODS and method != self.method:
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
        place = f"{url.host} {url.port} {url.database} {sorted(url.query.items())}"
        name = hashlib.blake2b(place.encode(), digest_size=4).hexdigest()
        return Path(f"noiseclean-{name}.db-spool").absolute()

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
    name = f".{host(url)}"
    return any(name.endswith(f".{domain}") for domain in domains)


def _refuse_unknown(given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in _READERS:
            nearest = difflib.get_close_matches(name, _READERS, n=1, cutoff=0.0)[0]
            raise ConfigurationError(
                f"there is no setting {PREFIX}{name.upper()}; "
                f"did you mean {PREFIX}{nearest.upper()}?"
            )


_READERS: dict[str, Callable[[str, Any], Any]] = {
    setting.name: setting.metadata["read"]
    for setting in fields(Config)
    if "read" in setting.metadata
}
