"""What all subcommands share: their face, their options, and the way to the database."""

from __future__ import annotations

import argparse
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar

from noiseclean_scrapy.batch.addresses import is_web_address
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError, NotStoredError, StoreError
from noiseclean_scrapy.methods import METHODS, create_method, find_method
from noiseclean_scrapy.page.characters import inert
from noiseclean_scrapy.page.urls import host_name, site_name, stored_addresses
from noiseclean_scrapy.service_urls import database_url, shown_url, sqlite_url

if TYPE_CHECKING:
    from scrapy.settings import Settings
    from typing_extensions import Self

    from noiseclean_scrapy.store import ClusterRecord, PageRecord, Store

DEFAULT_SETTINGS = {"LOG_LEVEL": "WARNING"}
"""What holds unless the project or the command line says otherwise."""
_MOST_FILES = 20
_MOST_DIGITS = 18  # a database counts to 2^63


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a subcommand: its options, and the settings with the options put in.

    The settings are all of Scrapy's, or, outside of projects, those given alone.
    """

    opts: argparse.Namespace
    settings: Settings | dict[str, Any]
    config: Config

    @classmethod
    def of(cls, opts: argparse.Namespace, settings: Settings | dict[str, Any]) -> Self:
        """Read the settings; raises ConfigurationError where one of them is wrong."""
        given = {
            f"NOISECLEAN_{name.upper()}": value
            for name in ("database_url", "cluster_by")
            if (value := getattr(opts, name, None))
        }
        if isinstance(settings, dict):
            settings.update(given)
        else:
            settings.setdict(given, priority="cmdline")
        return cls(opts, settings, _with_method(Config.from_settings(settings), opts))

    def crawl_settings(self) -> Settings:
        """All settings, for a crawl, and the log as they want it."""
        if not isinstance(self.settings, dict):
            return self.settings
        from scrapy.settings import Settings

        settings = Settings(DEFAULT_SETTINGS, priority="command")
        put_in(settings, self.settings)
        return with_log(settings)

    def nothing_stored(self, what: str) -> str:
        """What to say where the database has no site, or no page."""
        return (
            f"No {what} is stored in {self.config.display_url}: crawl first, or name another "
            f"database with --database."
        )

    def open_store(self, *, write: bool = False) -> Store:
        """The database, which must be there already, to read or to write as well."""
        from noiseclean_scrapy.store import Store

        url = database_url(self.config.database_url)
        is_file = url.get_backend_name() == "sqlite" and "uri" not in url.query
        if is_file and url.database and not Path(url.database).is_file():
            raise StoreError(_no_database(Path(url.database)))
        options = self.config.store_options
        return Store(self.config.database_url, read_only=not write, create=False, **options)

    def create_store(self) -> Store:
        """The database to write, made where there is none."""
        from noiseclean_scrapy.store import Store

        return Store(self.config.database_url, **self.config.store_options)

    def find_site(self, store: Store, name: str) -> ClusterRecord:
        """The site and its newest tree; raises NotStoredError where it is not stored."""
        site = self.known_site(store, name)
        if site is None:
            known = [cluster.name for cluster in store.clusters.all()]
            raise NotStoredError.site(name, self.config.display_url, known)
        return site

    def known_site(self, store: Store, name: str) -> ClusterRecord | None:
        """The site of a name as it is given, or as it is stored, see `crawled_name`."""
        return store.clusters.find(name) or store.clusters.find(crawled_name(name))

    def find_page(self, store: Store, url: str) -> PageRecord:
        """The page last fetched from `url`; raises NotStoredError where it is not stored."""
        addresses = stored_addresses(url) if is_web_address(url) else [url]
        page = next(filter(None, map(store.pages.find_url, addresses)), None)
        if page is None:
            hint = "; noiseclean search finds pages by their words"
            if not is_web_address(url):
                hint = "; an address begins with http:// or https://"
            raise NotStoredError(f"there is no page {url} in {self.config.display_url}{hint}")
        return page


class Subcommand(ABC):
    """One command below `scrapy noiseclean`.

    `summary` stands in the list of commands, `details` on its own page of help.
    """

    name: ClassVar[str]
    syntax: ClassVar[str] = "[options]"
    summary: ClassVar[str]
    details: ClassVar[str] = ""

    @abstractmethod
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Arguments and options of this command, beside Scrapy's global ones."""

    def prepare(self, arguments: Sequence[str]) -> Sequence[str]:
        """The arguments as they are to be parsed."""
        return arguments

    @abstractmethod
    def run(self, call: Call) -> bool:
        """Do the work; whether there was something to do. Raises NoiseCleanError."""


class HelpFormatter(argparse.HelpFormatter):
    """Help in which no name is cut at its hyphens."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in self._split_lines(text, width - len(indent)))


def put_in(settings: Settings, given: Mapping[str, Any]) -> None:
    """Put in what a command line gives; raises ConfigurationError where Scrapy cannot read it."""
    try:
        for name, value in given.items():
            settings.set(name, value, priority="cmdline")
    except ValueError as error:
        raise ConfigurationError(f"{name}={value!r} cannot be read: {error}") from error


def with_log(settings: Settings) -> Settings:
    """The settings, once the log is as they want it; raises ConfigurationError for a wrong level.

    Nothing in a line of it, such as the name of an archive's page, steers a terminal.
    """
    from scrapy.utils.log import configure_logging, get_scrapy_root_handler

    level = settings.get("LOG_LEVEL")
    if isinstance(level, str):
        if not isinstance(logging.getLevelName(level.upper()), int):
            raise ConfigurationError(f"LOG_LEVEL={level!r} is no log level such as INFO")
        settings.set("LOG_LEVEL", level.upper(), priority="cmdline")
    configure_logging(settings)
    handler = get_scrapy_root_handler()
    if handler is not None:
        formatter = handler.formatter or logging.Formatter()
        handler.format = lambda record: inert(formatter.format(record))  # type: ignore[method-assign]
    return settings


def crawled_name(name: str) -> str:
    """A site as crawls name it: the host in small letters, or the site of an address.

    >>> crawled_name("News.Example"), crawled_name("https://news.example.com/a")
    ('news.example', 'example.com')
    """
    return site_name(name) if is_web_address(name) else host_name(name)


def add_output_option(parser: argparse.ArgumentParser, default: str = "stdout") -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help=f"where to write, - for stdout (default {default})",
    )


def add_database_option(
    parser: argparse.ArgumentParser, action: str | type[argparse.Action] = "store"
) -> None:
    parser.add_argument(
        "--database",
        dest="database_url",
        action=action,
        metavar="URL",
        type=database_address,
        help="database URL or SQLite file (default NOISECLEAN_DATABASE_URL)",
    )


def add_json_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_setting_option(parser: argparse.ArgumentParser) -> None:
    """`-s NAME=VALUE`, as Scrapy has it; `opts.set` holds the pairs."""
    parser.add_argument(
        "-s",
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=name_and_value,
        help="change a setting (may be repeated)",
    )


def add_method_options(parser: argparse.ArgumentParser, default: str) -> None:
    """`--method` and `--option`; `Call.config` holds what they say."""
    parser.add_argument(
        "--method",
        metavar="NAME",
        type=_method,
        help=f"{', '.join(METHODS)}, or the path of a class (default {default})",
    )
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_option,
        help="option of the method, such as lean=precision (may be repeated)",
    )


def _no_database(path: Path) -> str:
    files = sorted(path.parent.glob("*.db"))[:_MOST_FILES]
    beside = [str(file) for file in files if _is_ours(file)]
    # What is no URL by one slash is taken for a path, its password with it.
    name = shown_url(str(path))
    return (
        f"there is no database {name!r}: crawl first, or name another one with --database"
        + f" (there is {', '.join(beside)})" * bool(beside)
    )


def _is_ours(path: Path) -> bool:
    """Whether an SQLite file has the tables of a store."""
    import sqlite3

    # Immutable: SQLite leaves no file beside it.
    uri = f"{path.absolute().as_uri()}?immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as database:
            names = database.execute("SELECT name FROM sqlite_master").fetchall()
    except sqlite3.Error:
        return False
    return ("noiseclean_page",) in names


def _with_method(config: Config, opts: argparse.Namespace) -> Config:
    method = getattr(opts, "method", None) or config.method
    given = dict(getattr(opts, "option", ()))
    # Options in the settings are meant for the method there.
    options = given if method != config.method else {**config.method_options, **given}
    config = replace(config, method=method, method_options=options)
    create_method(method, **config.all_method_options)
    return config


def whole_number(text: str) -> int:
    """A number from 1 on, as an option gives it."""
    text = text.strip()
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, not {text!r}")
    return int(text)


def _method(name: str) -> str:
    if "." in name:  # a class, which is found once the project's modules are
        return name
    try:
        find_method(name)
    except ConfigurationError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return name


def name_and_value(text: str) -> tuple[str, str]:
    """`NAME=VALUE`, as an option gives it."""
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, not {text!r}")
    return name, value


def _option(text: str) -> tuple[str, Any]:
    name, value = name_and_value(text)
    try:
        return name, json.loads(value.lower() if value in ("True", "False") else value)
    except ValueError:
        return name, value


def database_address(text: str) -> str:
    """A database URL, as one or as the path of an SQLite file."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(
            f"{text!a} has letters that the locale lacks: LC_ALL=C.UTF-8 has them"
        ) from None
    if "://" in text:
        return text
    if text in ("", ":memory:"):
        raise argparse.ArgumentTypeError(f"expected a file or a database URL, not {text!r}")
    return sqlite_url(text)
