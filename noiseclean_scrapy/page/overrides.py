"""Overrides: what users say, in a TOML file, to keep or drop on the pages of a site."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lxml import etree
from lxml.cssselect import CSSSelector, SelectorError

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page.characters import ZERO_WIDTH
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.parse import document_roots
from noiseclean_scrapy.page.patterns import Pattern
from noiseclean_scrapy.page.urls import HOST_NAME, host, host_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from lxml.etree import _Element

    from noiseclean_scrapy.page import Rule, Rules

    class _Written(CSSSelector):
        """What a selector was written as, and what it became."""

        css: str
        path: str


logger = get_logger(__name__)

_BLANKS = re.compile(rf"[\s{''.join(ZERO_WIDTH)}]+")
_OTHER_TEXTS = {"br": " ", "script": "", "style": ""}

# Of the rules that name one element, the last counts.
RULES: tuple[Rule, ...] = ("drop", "keep", "title")
TEXTS: Mapping[str, Rule] = {"drop_text": "drop", "keep_text": "keep"}
"""Rules that name elements by their whole text."""
PAGES = "pages"
URL = "url"
_MOST_STEPS = 4_000_000_000
"""On one page a selector takes some seconds for so many."""
_MOST_STEPS_INSIDE = 10_000_000
"""The same in the brackets of a selector (`:has`, `:not`)."""
_AXES = re.compile(r"[\[\]]|descendant|ancestor")
_STRING = re.compile(r"""'[^']*'|"[^"]*\"""")
_AMONG_SIBLINGS = re.compile(r"sibling|parent::")


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Selectors that hold on the pages whose URL `pattern` is found in (None: on all).

    `texts` are those of elements with a rule of their own, white space as single spaces.
    """

    selectors: tuple[tuple[Rule, CSSSelector], ...]
    pattern: Pattern | None = None
    texts: tuple[tuple[str, Rule], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.selectors or self.texts)

    def holds(self, url: str) -> bool:
        return self.pattern is None or self.pattern.is_found(url)

    def __reduce__(self) -> tuple[Any, ...]:
        # Compiled selectors do not travel between processes; what they were written as does.
        written = tuple((rule, cast(Any, selector).css) for rule, selector in self.selectors)
        return _compiled, (written, self.pattern, self.texts)


@dataclass(frozen=True, slots=True)
class Overrides:
    """Rule sets by site, a site being a host name; they hold on its sub-domains too.

    A site's first rule set holds on all its pages.
    """

    sites: Mapping[str, tuple[RuleSet, ...]]
    path: Path | None = field(default=None, compare=False)
    """The file that they were read from."""

    @classmethod
    def read(cls, path: str | Path) -> Overrides:
        """Read a TOML file; raises ConfigurationError that names file, site and key."""
        try:
            return cls.parse(Path(path).read_text("utf-8-sig"), Path(path))
        except OSError as error:
            reason = error.strerror or error
            where = Path(path).absolute()
            raise ConfigurationError(f"{where}: the overrides cannot be read: {reason}") from None
        except (ConfigurationError, ValueError) as error:
            raise ConfigurationError(f"{path}: {error}") from None

    @classmethod
    def parse(cls, source: str, path: Path | None = None) -> Overrides:
        """Read TOML, which came from `path`; raises ConfigurationError or TOMLDecodeError."""
        sites: dict[str, tuple[RuleSet, ...]] = {}
        for site, table in _tables(source).items():
            name = host_name(site)
            if name in sites:
                raise ConfigurationError(f"{site!r}: another table is of the same site, {name}")
            sites[name] = _read_site(site, table)
        return cls(sites, path)

    def rules_for(self, url: str) -> Rules | None:
        """What `build_page` is to do on the page of `url`; None where nothing is overridden.

        Where two rules name one element, or two find a title, the more special one counts: of a
        sub-domain before its domain, of a URL pattern before the whole site, of a later pattern
        before an earlier one; in one table `title` before `keep` before `drop`.
        """
        rule_sets = [
            rule_set
            for site in _domains(host(url))
            for rule_set in self.sites.get(site, ())
            if rule_set and rule_set.holds(url)
        ]
        return (lambda root: _match(url, root, rule_sets)) if rule_sets else None


NO_OVERRIDES = Overrides({})


def _domains(name: str) -> list[str]:
    """A host name with its parent domains, the widest first.

    >>> _domains("news.example.com")
    ['com', 'example.com', 'news.example.com']
    """
    parts = name.split(".")
    return [".".join(parts[start:]) for start in reversed(range(len(parts)))]


def _match(url: str, root: _Element, rule_sets: Iterable[RuleSet]) -> dict[_Element, Rule]:
    found: dict[_Element, Rule] = {}
    for part in document_roots(root):
        shape = _Shape.of(part)
        for rule_set in rule_sets:
            own: dict[_Element, Rule] = {}
            for rule, selector in rule_set.selectors:
                written = cast("_Written", selector)
                if not shape.is_matched_soon(_STRING.sub("", written.path)):
                    logger.warning("%s is too large for the selector %r", url, written.css)
                    continue
                own.update(dict.fromkeys(cast("list[_Element]", selector(part)), rule))
            own.update(_match_texts(part, dict(rule_set.texts)))
            if "title" in own.values():  # a more special one, which is the page's
                found = {element: rule for element, rule in found.items() if rule != "title"}
            found.update(own)
    return found


def _match_texts(root: _Element, texts: Mapping[str, Rule]) -> dict[_Element, Rule]:
    """The elements whose whole text has a rule; no longer texts than those are put together."""
    if not texts:
        return {}
    longest = max(map(len, texts))
    found: dict[_Element, Rule] = {}
    known: dict[_Element, str | None] = {}  # text of the elements that have ended; None: too long
    for _, element in etree.iterwalk(root, events=("end",)):
        if element.tag in _OTHER_TEXTS:
            known[element] = _OTHER_TEXTS[element.tag]
            continue
        pieces = [element.text or ""]
        for child in element:
            pieces += [known.pop(child, ""), child.tail or ""]
        known[element] = text = _joined(pieces, longest)
        if text is not None and text.strip() in texts:
            found[element] = texts[text.strip()]
    return found


def _joined(pieces: Iterable[str | None], longest: int) -> str | None:
    """Pieces as one text, white space as single spaces; None where it is too long."""
    text = ""
    for piece in filter(lambda piece: piece != "", pieces):
        if piece is None:
            return None
        text = _BLANKS.sub(" ", text + piece)
        if len(text) > longest + 2:  # blanks at its ends
            return None
    return text


@dataclass(frozen=True, slots=True)
class _Shape:
    """How long selectors take on a document: `sizes` of its levels, siblings three by three."""

    sizes: tuple[int, ...]
    triples: int

    @classmethod
    def of(cls, root: _Element) -> _Shape:
        sizes, triples = [], 0
        level = [root]
        while level:
            sizes.append(len(level))
            triples += sum(len(element) ** 3 for element in level)
            level = [child for element in level for child in element]
        return cls(tuple(sizes), triples)

    def is_matched_soon(self, path: str) -> bool:
        """Whether an XPath takes seconds at most, as libxml2 goes about it.

        It compares what it finds below several elements in pairs, and siblings three by three. What
        stands in brackets is looked for from each element, up or down, once more for each axis.
        """
        if self.triples > _MOST_STEPS and _AMONG_SIBLINGS.search(path):
            return False
        pairs = sum(self.sizes) * self._steps(1)
        if pairs > _MOST_STEPS and path.count("descendant") > 1:
            return False
        axes = depth = 0
        for sign in _AXES.findall(path):
            depth += {"[": 1, "]": -1}.get(sign, 0)
            axes += depth > 0 and sign not in "[]"
        return not axes or self._steps(axes) <= _MOST_STEPS_INSIDE

    def _steps(self, power: int) -> int:
        return sum(size * depth**power for depth, size in enumerate(self.sizes, 1))


def _tables(source: str) -> dict[str, Any]:
    tables = tomllib.loads(source)
    for site, table in tables.items():
        if not isinstance(table, dict):
            raise ConfigurationError(f'{site!r} stands outside a site: begin with ["example.com"]')
        if not HOST_NAME.fullmatch(site):
            raise ConfigurationError(
                f"{site!r} is no site: give a host name such as example.com, without a port"
            )
    return tables


def _read_site(site: str, table: dict[str, Any]) -> tuple[RuleSet, ...]:
    pages = table.get(PAGES, [])
    if not isinstance(pages, list) or not all(isinstance(page, dict) for page in pages):
        raise ConfigurationError(f'{site}: write [["{site}".{PAGES}]] with two brackets')
    every_page = {key: value for key, value in table.items() if key != PAGES}
    return (
        RuleSet(_selectors(site, every_page, (*RULES, PAGES)), None, _texts(site, every_page)),
        *(_read_pages(f"{site}, {PAGES} {number}", t) for number, t in enumerate(pages, 1)),
    )


def _read_pages(where: str, table: dict[str, Any]) -> RuleSet:
    pattern = table.get(URL)
    if not isinstance(pattern, str):
        raise ConfigurationError(f"{where}: {URL} must be a regular expression, not {pattern!r}")
    try:
        compiled = Pattern(pattern)
    except re.error as error:
        raise ConfigurationError(
            f"{where}, {URL}: {pattern!r} is no regular expression: {error}"
        ) from None
    rest = {key: value for key, value in table.items() if key != URL}
    return RuleSet(_selectors(where, rest, (*RULES, URL)), compiled, _texts(where, rest))


def _texts(where: str, table: dict[str, Any]) -> tuple[tuple[str, Rule], ...]:
    return tuple(
        (" ".join(text.split()), rule)
        for key, rule in TEXTS.items()
        for text in _list(f"{where}, {key}", table.get(key, []), "a text")
    )


def _selectors(
    where: str, table: dict[str, Any], known: tuple[str, ...]
) -> tuple[tuple[Rule, CSSSelector], ...]:
    for key, value in table.items():
        if key in RULES or key in TEXTS:
            continue
        if isinstance(value, dict):
            name = ".".join([where, key, *_dotted(value)])
            raise ConfigurationError(f'{name}: the name of a site needs quotes: ["{name}"]')
        nearest = difflib.get_close_matches(key, [*known, *TEXTS], n=1, cutoff=0.0)[0]
        raise ConfigurationError(f"{where}: there is no key {key!r}; did you mean {nearest!r}?")
    return tuple(
        (rule, _selector(f"{where}, {rule}", selector))
        for rule in RULES
        for selector in _list(f"{where}, {rule}", table.get(rule, []))
    )


def _dotted(table: dict[str, Any]) -> list[str]:
    """The rest of a site's name that TOML took for tables in tables."""
    parts = []
    while len(table) == 1 and isinstance(next(iter(table.values())), dict):
        ((part, table),) = table.items()
        parts.append(part)
    return parts


def _list(where: str, value: Any, kind: str = "a CSS selector") -> list[str]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise ConfigurationError(f"{where}: give {kind} or a list of them, not {value!r}")
    return values


def _compiled(
    written: Iterable[tuple[Rule, str]],
    pattern: Pattern | None,
    texts: tuple[tuple[str, Rule], ...],
) -> RuleSet:
    selectors = tuple((rule, CSSSelector(css, translator="html")) for rule, css in written)
    return RuleSet(selectors, pattern, texts)


def _selector(where: str, selector: str) -> CSSSelector:
    try:
        compiled = CSSSelector(selector, translator="html")
    except SelectorError as error:
        raise ConfigurationError(f"{where}: {selector!r} is no CSS selector: {error}") from None
    path = _STRING.sub("", cast("_Written", compiled).path)
    if ":" in path.replace("::", ""):
        # lxml finds the function of the one on some documents only, and the other on none.
        raise ConfigurationError(
            f"{where}: {selector!r}: neither ':contains' nor a namespace can be used"
        )
    return compiled
