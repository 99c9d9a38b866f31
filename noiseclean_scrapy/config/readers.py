"""What reads the settings: for each kind of value a function of the setting's name and value.

Each raises ConfigurationError that names the setting, and says what it must be.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.methods import METHODS, find_method
from noiseclean_scrapy.page.budget import LARGEST
from noiseclean_scrapy.page.overrides import NO_OVERRIDES, Overrides
from noiseclean_scrapy.page.patterns import Pattern
from noiseclean_scrapy.page.urls import CLUSTERINGS, HOST_NAME, host_name, is_port
from noiseclean_scrapy.service_urls import database_text, database_url, object_store_url, shown_url
from noiseclean_scrapy.topic import Topic

if TYPE_CHECKING:
    from scrapy.http import Response

_SHORTEST_LEASE = 2.0  # it is extended four times a second, where Redis answers at once
_BETWEEN_URLS = re.compile(r",(?=\s*(?:rediss?|unix)://)")
_LISTS = (list, tuple, set, frozenset)  # not a dict, whose values would be passed over
_REDIS_URL = "a Redis URL such as redis://host:6379/0, or a list"

PREFIX = "NOISECLEAN_"
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


def wrong(name: str, value: Any, expected: str) -> ConfigurationError:
    return ConfigurationError(f"{PREFIX}{name.upper()} must be {expected}, not {value!r}")


@contextmanager
def naming(name: str) -> Iterator[None]:
    """What goes wrong within is wrong in the value of a setting: a ConfigurationError says so."""
    try:
        yield
    except ConfigurationError as error:
        raise ConfigurationError(f"{PREFIX}{name.upper()}: {error}") from None


def need(name: str, module: str, *, extra: str) -> None:
    if find_spec(module) is None:
        raise ConfigurationError(
            f"{PREFIX}{name.upper()} needs {module}: pip install 'noiseclean-scrapy[{extra}]'"
        )


def read_flag(name: str, value: Any) -> bool:
    text = str(value).strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off", ""}:
        return False
    raise wrong(name, value, "True or False")


def read_count(name: str, value: Any, least: int = 1) -> int:
    try:
        number = int(value)
    except (OverflowError, TypeError, ValueError):
        number = -1
    is_whole = not isinstance(value, bool) and not (isinstance(value, float) and number != value)
    if not is_whole or not least <= number <= LARGEST:
        raise wrong(name, value, f"a whole number from {least} to {LARGEST:,}")
    return number


def read_bound(name: str, value: Any) -> int:
    return read_count(name, value, least=0)


def read_seconds(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number <= LARGEST or isinstance(value, bool):
        raise wrong(name, value, f"a number of seconds above 0, and at most {LARGEST:,}")
    return number


def read_lease(name: str, value: Any) -> float:
    seconds = read_seconds(name, value)
    if seconds < _SHORTEST_LEASE:
        raise wrong(name, value, f"a number of seconds from {_SHORTEST_LEASE:g} on")
    return seconds


def read_redis_urls(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and _listed(value) is None:  # a comma may be part of a password
        value = [part.strip(" ,") for part in _BETWEEN_URLS.split(value)]
    urls = read_strings(name, value)
    for url in urls:
        place = url.partition("?")[0].rpartition("@")[2]
        if not url.startswith(("redis://", "rediss://", "unix://")) or "," in place:
            raise wrong(name, shown_url(url), _REDIS_URL)
        try:
            _ = urlsplit(url).port
        except ValueError as error:
            raise wrong(name, shown_url(url), f"{_REDIS_URL}; its port is no number") from error
    return urls


def need_redis_url(name: str, url: str) -> None:
    """Refuse a URL with options that no connection has; nothing is asked of Redis."""
    from redis import Redis, RedisError

    try:
        Redis.from_url(url).connection_pool.make_connection()
    except (RedisError, TypeError, ValueError) as error:
        raise wrong(name, shown_url(url), f"{_REDIS_URL} ({error})") from None


def read_address(name: str, value: Any) -> tuple[str, int]:
    host_name, _, port = str(value).rpartition(":")
    host_name = host_name.removeprefix("[").removesuffix("]")  # as IPv6 is written in URLs
    if not host_name or not is_port(port):
        raise wrong(name, value, "an address to listen at, such as 127.0.0.1:9410")
    return host_name, int(port)


def read_topic(name: str, value: Any) -> Topic:
    return Topic.read(value)


def read_strings(name: str, value: Any) -> tuple[str, ...]:
    parts = value
    if isinstance(value, str):
        listed = _listed(value)
        parts = [part.strip() for part in value.split(",")] if listed is None else listed
    if not isinstance(parts, _LISTS) or not all(isinstance(part, str) for part in parts):
        raise wrong(name, value, "a list of strings")
    return tuple(part for part in parts if part)


def _listed(value: str) -> list[str] | None:
    """The list of strings that a command line gives in JSON; None where it gives another text."""
    with suppress(ValueError, RecursionError):
        found = json.loads(value)
        if isinstance(found, list) and all(isinstance(part, str) for part in found):
            return found
    return None


def read_domains(name: str, value: Any) -> tuple[str, ...]:
    """Host names; a leading dot, as cookies have one, is left out."""
    found = tuple(part.lstrip(".") for part in read_strings(name, value))
    if not all(map(HOST_NAME.fullmatch, found)):
        raise wrong(name, value, "a list of host names such as example.com")
    return tuple(map(host_name, found))


def read_patterns(name: str, value: Any) -> tuple[Pattern, ...]:
    if value == "":
        return ()
    sources = [value] if isinstance(value, (str, re.Pattern)) else value
    if isinstance(value, str):
        # A comma may be part of a pattern, so a string is one pattern or a list in JSON, which
        # would be the pattern of one letter.
        listed = _listed(value)
        sources = sources if listed is None else listed
    if not isinstance(sources, _LISTS):
        raise wrong(name, value, "a list of regular expressions")
    try:
        return tuple(Pattern(source) for source in sources if source != "")
    except (TypeError, re.error) as error:
        raise wrong(name, value, f"a list of regular expressions ({error})") from None


def read_dict(name: str, value: Any, expected: str) -> dict[str, Any]:
    """A dict with names as keys; on a command line it is written in JSON, as in Scrapy."""
    found = value
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except ValueError:
            raise wrong(name, value, expected) from None
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise wrong(name, value, expected)
    return dict(found)


def read_fields(name: str, value: Any) -> Mapping[str, str]:
    fields = read_dict(name, value, "a dict of item field to value name")
    for source in fields.values():
        if source not in ITEM_VALUES:
            raise wrong(name, source, f"made of the values {', '.join(ITEM_VALUES)}")
    return fields


def read_overrides(name: str, value: Any) -> Overrides:
    if not isinstance(value, (str, PathLike)):
        raise wrong(name, value, "the path of a TOML file")
    with naming(name):
        return Overrides.read(Path(value)) if value else NO_OVERRIDES


def read_folder(name: str, value: Any) -> str:
    """The path of a folder, which may have to be made; nothing else may be in its place."""
    if not isinstance(value, (str, PathLike)):
        raise wrong(name, value, "the path of a folder")
    path = str(value)
    try:
        os.lstat(path)
    except FileNotFoundError:
        return path
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise wrong(name, value, f"the path of a folder ({reason})") from None
    if not os.path.isdir(path):
        raise wrong(name, value, "the path of a folder: what is there is none, and stays as it is")
    return path


def read_html_store(name: str, value: Any) -> str:
    try:
        return object_store_url(value) if value else ""
    except ValueError as error:
        expected = f"a URL that fsspec knows, such as s3://bucket/prefix ({error})"
        given = shown_url(value) if isinstance(value, str) else value
        raise wrong(name, given, expected) from None


def read_method(name: str, value: Any) -> str:
    if isinstance(value, type):
        value = f"{value.__module__}.{value.__qualname__}"
    try:
        find_method(value)
    except ConfigurationError as error:
        reason = f" ({error})" * ("." in str(value))  # of a path; the names stand here already
        expected = f"one of {', '.join(sorted(METHODS))}, or the path of a class{reason}"
        raise wrong(name, value, expected) from None
    return str(value)


def read_options(name: str, value: Any) -> Mapping[str, Any]:
    return read_dict(name, value, "a dict of option name to value")


def read_database_url(name: str, value: Any) -> str:
    try:
        return database_text(database_url(value))
    except ValueError as error:
        expected = f"a database URL such as sqlite:///noiseclean.db ({error})"
        given = shown_url(value) if isinstance(value, str) else value
        raise wrong(name, given, expected) from None


def read_cluster_by(name: str, value: Any) -> ClusterBy:
    # The templates of a domain are told apart by the cleaner.
    if isinstance(value, str) and (value in CLUSTERINGS or value == "template"):
        by_url = CLUSTERINGS.get(value, CLUSTERINGS["domain"])
        return lambda response: by_url(response.url)
    if isinstance(value, str):
        from scrapy.utils.misc import load_object

        try:
            loaded = load_object(value)
        except (ImportError, NameError, TypeError, ValueError) as error:
            raise wrong(name, value, f"{_CLUSTER_BY} ({error})") from error
    else:
        loaded = value
    if not callable(loaded) or inspect.iscoroutinefunction(loaded):
        raise wrong(name, value, _CLUSTER_BY)
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
