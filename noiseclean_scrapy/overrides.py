"""Overrides: what users say, in a TOML file, to keep or drop on the pages of a site."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lxml.cssselect import CSSSelector, SelectorError

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page.parse import document_roots
from noiseclean_scrapy.site.cluster import host

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from lxml.etree import _Element

    from noiseclean_scrapy.page import Rule, Rules

# Of the rules that name one element, the last counts.
_RULES: tuple[Rule, ...] = ("drop", "keep", "title")
_PAGES = "pages"
_URL = "url"
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?")


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Selectors that hold on the pages whose URL `pattern` is found in (None: on all)."""

    selectors: tuple[tuple[Rule, CSSSelector], ...]
    pattern: re.Pattern[str] | None = None

    def holds(self, url: str) -> bool:
        return self.pattern is None or self.pattern.search(url) is not None

    def __reduce__(self) -> tuple[Any, ...]:
        # Compiled selectors do not travel between processes; what they were written as does.
        written = tuple((rule, cast(Any, selector).css) for rule, selector in self.selectors)
        return _compiled, (written, self.pattern)


@dataclass(frozen=True, slots=True)
class Overrides:
    """Rule sets by site, a site being a host name; they hold on its sub-domains too.

    A site's first rule set holds on all its pages.
    """

    sites: Mapping[str, tuple[RuleSet, ...]]

    @classmethod
    def read(cls, path: str | Path) -> Overrides:
        """Read a TOML file; raises ConfigurationError that names file, site and key."""
        try:
            source = Path(path).read_text("utf-8")
            return cls({site.lower(): _read_site(site, t) for site, t in _tables(source).items()})
        except OSError as error:
            reason = error.strerror or error
            raise ConfigurationError(f"{path}: the overrides cannot be read: {reason}") from None
        except (ConfigurationError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigurationError(f"{path}: {error}") from None

    def rules_for(self, url: str) -> Rules | None:
        """What `build_page` is to do on the page of `url`; None where nothing is overridden.

        Where two rules name one element, the more special one counts: of a sub-domain before its
        domain, of a URL pattern before the whole site, of a later pattern before an earlier one;
        in one table `title` before `keep` before `drop`.
        """
        rule_sets = [
            rule_set
            for site in _domains(host(url))
            for rule_set in self.sites.get(site, ())
            if rule_set.selectors and rule_set.holds(url)
        ]
        return (lambda root: _match(root, rule_sets)) if rule_sets else None


NO_OVERRIDES = Overrides({})


def _domains(name: str) -> list[str]:
    """A host name with its parent domains, the widest first.

    >>> _domains("news.example.com")
    ['com', 'example.com', 'news.example.com']
    """
    parts = name.split(".")
    return [".".join(parts[start:]) for start in reversed(range(len(parts)))]


def _match(root: _Element, rule_sets: Iterable[RuleSet]) -> dict[_Element, Rule]:
    found: dict[_Element, Rule] = {}
    for rule_set in rule_sets:
        for rule, selector in rule_set.selectors:
            for part in document_roots(root):
                elements = cast("list[_Element]", selector(part))
                found.update(dict.fromkeys(elements, rule))
    return found


def _tables(source: str) -> dict[str, Any]:
    tables = tomllib.loads(source)
    for site, table in tables.items():
        if not isinstance(table, dict):
            raise ConfigurationError(f'{site!r} stands outside a site: begin with ["example.com"]')
        if not _HOST.fullmatch(site):
            raise ConfigurationError(f"{site!r} is no site: give a host name such as example.com")
    return tables


def _read_site(site: str, table: dict[str, Any]) -> tuple[RuleSet, ...]:
    pages = table.get(_PAGES, [])
    if not isinstance(pages, list) or not all(isinstance(page, dict) for page in pages):
        raise ConfigurationError(f'{site}: write [["{site}".{_PAGES}]] with two brackets')
    every_page = {key: value for key, value in table.items() if key != _PAGES}
    return (
        RuleSet(_selectors(site, every_page, (*_RULES, _PAGES))),
        *(_read_pages(f"{site}, {_PAGES} {number}", t) for number, t in enumerate(pages, 1)),
    )


def _read_pages(where: str, table: dict[str, Any]) -> RuleSet:
    pattern = table.get(_URL)
    if not isinstance(pattern, str):
        raise ConfigurationError(f"{where}: {_URL} must be a regular expression, not {pattern!r}")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigurationError(
            f"{where}, {_URL}: {pattern!r} is no regular expression: {error}"
        ) from None
    rest = {key: value for key, value in table.items() if key != _URL}
    return RuleSet(_selectors(where, rest, (*_RULES, _URL)), compiled)


def _selectors(
    where: str, table: dict[str, Any], known: tuple[str, ...]
) -> tuple[tuple[Rule, CSSSelector], ...]:
    for key, value in table.items():
        if key in _RULES:
            continue
        if isinstance(value, dict):
            name = ".".join([where, key, *_dotted(value)])
            raise ConfigurationError(f'{name}: the name of a site needs quotes: ["{name}"]')
        nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.0)[0]
        raise ConfigurationError(f"{where}: there is no key {key!r}; did you mean {nearest!r}?")
    return tuple(
        (rule, _selector(f"{where}, {rule}", selector))
        for rule in _RULES
        for selector in _list(f"{where}, {rule}", table.get(rule, []))
    )


def _dotted(table: dict[str, Any]) -> list[str]:
    """The rest of a site's name that TOML took for tables in tables."""
    parts = []
    while len(table) == 1 and isinstance(next(iter(table.values())), dict):
        ((part, table),) = table.items()
        parts.append(part)
    return parts


def _list(where: str, value: Any) -> list[str]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise ConfigurationError(f"{where}: give a CSS selector or a list of them, not {value!r}")
    return values


def _compiled(written: Iterable[tuple[Rule, str]], pattern: re.Pattern[str] | None) -> RuleSet:
    selectors = tuple((rule, CSSSelector(css, translator="html")) for rule, css in written)
    return RuleSet(selectors, pattern)


def _selector(where: str, selector: str) -> CSSSelector:
    try:
        return CSSSelector(selector, translator="html")
    except SelectorError as error:
        raise ConfigurationError(f"{where}: {selector!r} is no CSS selector: {error}") from None
