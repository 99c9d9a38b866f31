"""Rules: what was pointed at, written into the overrides file; comments and order are kept."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomlkit
from tomlkit.items import AoT, Array, Table

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page.overrides import PAGES, RULES, TEXTS, URL, Overrides
from noiseclean_scrapy.page.urls import host, host_name, is_below
from noiseclean_scrapy.replaced import replace_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VERDICTS = (*RULES, *TEXTS)
_LONGEST = 1000
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the overrides file: what to do with what `selector` finds.

    It is a text where the verdict is for texts. `site` is the key of the table, `pattern` the
    expression that addresses must have, empty for all pages of the site.
    """

    site: str
    verdict: str
    selector: str
    pattern: str = ""

    def check(self) -> Overrides:
        """The rule alone; raises ConfigurationError where it is none."""
        if self.verdict not in VERDICTS:
            raise ConfigurationError(f"{self.verdict!r} is none of {', '.join(VERDICTS)}")
        for value in (self.site, self.selector, self.pattern):
            if len(value) > _LONGEST:
                raise ConfigurationError(f"a rule has at most {_LONGEST} characters")
            if _NO_TEXT.search(value):
                raise ConfigurationError(f"{value!r} has characters that stand in no rule")
        return _parse(with_rule("", self))


def site_key(site: str, url: str) -> str:
    """The table for a page of a stored site: the site's where that is a domain of the page.

    >>> site_key("example.com", "https://www.example.com/a"), site_key("127.0.0.1:80", "http://127.0.0.1:80/")
    ('example.com', '127.0.0.1')
    """
    name = host(url)
    domain = host(f"//{site}")
    return domain if is_below(name, domain) else name


def pattern_of(url: str) -> str:
    r"""An expression for the addresses that are made like this one.

    Words that join others by hyphens or have digits, and the last part, may be any.

    >>> pattern_of("https://example.com/news/2031/fog-closes-port.html?page=2")
    '://[^/]+/news/\\d+/[^/?]+\\.html([?#]|$)'
    """
    try:
        path = urlsplit(url).path if "://" in url else None
    except ValueError:
        path = None
    if path is None:
        return f"^{re.escape(url)}$"
    if not path:
        return r"://[^/]+/?([?#]|$)"
    *folders, last = path.split("/")[1:]
    name, dot, ending = last.rpartition(".")
    if not dot or not re.fullmatch(r"[A-Za-z]{1,5}", ending):
        name, ending = last, ""
    shape = "".join(f"{_shape(part)}/" for part in folders) + (r"[^/?]+" if name else "")
    return rf"://[^/]+/{shape}{re.escape('.' + ending) if ending else ''}([?#]|$)"


def _shape(part: str) -> str:
    if not part:
        return ""
    if part.isdecimal():
        return r"\d+"
    return re.escape(part) if re.fullmatch(r"[A-Za-z]+", part) else "[^/?]+"


def with_rule(source: str, rule: Rule) -> str:
    """The overrides file with one rule more; as it is where the rule stands there already."""
    document = _document(source)
    key = _key(document, rule.site)
    table = document.get(key)
    if table is None:
        table = tomlkit.table()
        document.append(key, table)
    if rule.pattern:
        table = _pages_table(table, rule.pattern)
    _add(table, rule)
    return _checked(document, source, rule)


def without_rule(source: str, rule: Rule) -> str:
    """The overrides file without a rule; as it is where the rule does not stand there.

    Tables that nothing is left in go, unless comments behind them would go with them.
    """
    edited = _without(source, rule, is_tidy=True)
    if _comments(edited) != _comments(source):
        edited = _without(source, rule, is_tidy=False)
    if _comments(edited) != _comments(source):
        raise ConfigurationError(
            f"the rule for {rule.site} cannot be taken out without comments: take it out by hand"
        )
    return edited


def _comments(source: str) -> list[str]:
    """The lines of a file that are comments."""
    return [line.strip() for line in source.splitlines() if line.lstrip().startswith("#")]


def _without(source: str, rule: Rule, *, is_tidy: bool) -> str:
    document = _document(source)
    key = _key(document, rule.site)
    site = document.get(key)
    if site is None:
        return source
    pages = site.get(PAGES, [])
    tables = [t for t in pages if t.get(URL) == rule.pattern] if rule.pattern else [site]
    for table in tables:
        value = table.get(rule.verdict, [])
        if value == rule.selector or list(value) == [rule.selector]:
            del table[rule.verdict]
        elif rule.selector in value and not isinstance(value, str):
            del value[list(value).index(rule.selector)]
        if is_tidy and rule.pattern and set(table) == {URL}:
            del pages[[t.get(URL) for t in pages].index(rule.pattern)]
    if is_tidy and not site.get(PAGES, True):
        del site[PAGES]
    if is_tidy and not site:
        document.remove(key)
    return tomlkit.dumps(document)


def read_source(path: Path) -> str:
    """What stands in the overrides file; nothing where there is none yet."""
    try:
        return path.read_bytes().decode("utf-8-sig")  # with the line ends that it has
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: the overrides cannot be read: {error}") from None


def write_source(path: Path, source: str) -> None:
    """Write the overrides file, all of it or nothing."""
    _parse(source)
    try:
        replace_file(path, source.encode())
    except OSError as error:
        raise ConfigurationError(f"{path}: the overrides cannot be written: {error}") from None


def _key(tables: Iterable[str], site: str) -> str:
    """How the file spells a site, where it has a table of it."""
    name = host_name(site)
    return next((key for key in tables if host_name(key) == name), site)


def _document(source: str) -> tomlkit.TOMLDocument:
    _parse(source)
    return tomlkit.parse(source)


def _parse(source: str) -> Overrides:
    try:
        return Overrides.parse(source)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"the overrides are no TOML: {error}") from None


def _pages_table(table: Any, pattern: str) -> Any:
    pages = table.get(PAGES)
    if pages is None:
        pages = tomlkit.aot()
        table.append(PAGES, pages)
    for found in pages:
        if found.get(URL) == pattern:
            return found
    made = tomlkit.table()
    made.append(URL, tomlkit.string(pattern, literal="'" not in pattern))
    pages.append(made)
    return pages[-1]


def _add(table: Any, rule: Rule) -> None:
    value = table.get(rule.verdict)
    if isinstance(value, Array):
        if rule.selector not in value:
            value.append(rule.selector)
    elif value is None:
        _insert(table, rule.verdict, [rule.selector])
    elif value != rule.selector:
        table[rule.verdict] = [value, rule.selector]


def _insert(table: Any, key: str, value: list[str]) -> None:
    """A new key stands before the tables inside: behind them it would be the last one's."""
    inner = [name for name, item in table.items() if isinstance(item, (AoT, Table))]
    moved = [(name, table.pop(name)) for name in inner]
    table[key] = value
    for name, item in moved:
        table[name] = item


def _checked(document: tomlkit.TOMLDocument, source: str, rule: Rule) -> str:
    """The document as text, in which nothing but the rule is new; raises ConfigurationError."""
    text = tomlkit.dumps(document)
    with suppress(tomllib.TOMLDecodeError):
        if tomllib.loads(text) == _with_rule_in_values(tomllib.loads(source), rule):
            return text
    raise ConfigurationError(
        f"the rule for {rule.site} cannot be written into this file: add it by hand"
    )


def _with_rule_in_values(tables: dict[str, Any], rule: Rule) -> dict[str, Any]:
    table = tables.setdefault(_key(tables, rule.site), {})
    if rule.pattern:
        pages = table.setdefault(PAGES, [])
        found = [page for page in pages if page.get(URL) == rule.pattern]
        table = found[0] if found else {URL: rule.pattern}
        pages += [] if found else [table]
    value = table.get(rule.verdict, [])
    values = [value] if isinstance(value, str) else value
    if values != [rule.selector] and rule.selector not in values:
        values = [*values, rule.selector]
        table[rule.verdict] = values
    return tables
