"""Rules: what was pointed at, written into the overrides file; comments and order are kept."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomlkit
from tomlkit.exceptions import TOMLKitError
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
    rules, added = _rules(source), _counted(rule)
    if added <= rules:
        return source
    table = document.get(key)
    if table is None:
        table = tomlkit.table()
        document.append(key, table)
    with suppress(AttributeError, TOMLKitError):  # of keys with dots
        if rule.pattern:
            table = _pages_table(table, rule.pattern)
        _add(table, rule)
        edited = tomlkit.dumps(document)
        if _says(edited, rules + added):
            return edited
    raise ConfigurationError(
        f"the rule for {rule.site} cannot be written into this file: add it by hand"
    )


def without_rule(source: str, rule: Rule) -> str:
    """The overrides file without a rule; as it is where the rule does not stand there.

    Tables that nothing is left in go, unless comments behind them would go with them.
    """
    _parse(source)
    rules, removed = _rules(source), _counted(rule)
    if not removed <= rules:
        return source
    for is_tidy in (True, False):
        edited = _without(source, rule, is_tidy=is_tidy)
        if _comments(edited) == _comments(source) and _says(edited, rules - removed):
            return edited
    raise ConfigurationError(
        f"the rule for {rule.site} cannot be taken out of this file: take it out by hand"
    )


def _comments(source: str) -> list[str]:
    """The lines of a file that are comments."""
    return [line.strip() for line in source.splitlines() if line.lstrip().startswith("#")]


def _without(source: str, rule: Rule, *, is_tidy: bool) -> str:
    document = _document(source)
    key = _key(document, rule.site)
    site: Any = document[key]
    pages = site.get(PAGES, [])
    for number, table in enumerate(list(pages) if rule.pattern else [site]):
        value = table.get(rule.verdict, [])
        values = _values(value)
        if table.get(URL, "") != rule.pattern or rule.selector not in values:
            continue
        if len(values) == 1:
            del table[rule.verdict]
        else:
            del value[values.index(rule.selector)]
        if is_tidy and rule.pattern and set(table) == {URL}:
            del pages[number]
        break
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


def _rules(source: str) -> Counter[Rule]:
    """What a file says: each of its rules, and how often."""
    found: Counter[Rule] = Counter()
    for site, table in tomllib.loads(source).items():
        for part in (table, *table.get(PAGES, [])):
            for verdict in VERDICTS:
                for selector in _values(part.get(verdict, [])):
                    found.update(_counted(Rule(site, verdict, selector, part.get(URL, ""))))
    return found


def _values(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _counted(rule: Rule) -> Counter[Rule]:
    return Counter([replace(rule, site=host_name(rule.site))])


def _says(text: str, rules: Counter[Rule]) -> bool:
    """Whether a file says just these rules."""
    with suppress(tomllib.TOMLDecodeError):
        return _rules(text) == rules
    return False
