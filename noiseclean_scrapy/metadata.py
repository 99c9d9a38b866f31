"""What a page tells of itself: who wrote it, when, in which language, where it belongs."""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Callable, Container, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache, lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urljoin, urlsplit

from lxml import etree, html

from noiseclean_scrapy.page import Html
from noiseclean_scrapy.page.characters import without_controls
from noiseclean_scrapy.page.linked_data import read_article, read_documents, read_time
from noiseclean_scrapy.page.parse import parse_html

if TYPE_CHECKING:
    from lxml.etree import _Element

LIBRARIES_MISSING = (
    "authors, dates and the language of texts need libraries that are not installed: "
    "pip install 'noiseclean-scrapy[metadata]', or set NOISECLEAN_METADATA = False"
)

logger = logging.getLogger(__name__)

_EARLIEST = datetime(1990, 1, 1, tzinfo=timezone.utc)
_DATE_FORMAT = "%Y-%m-%dT%H:%M:%S%z"
_LONGEST_AUTHOR = 200
_BODIES = etree.XPath("//body[not(ancestor::body)]")
_MARKS = ("class", "id", "itemprop", "rel")
_TELLING_TAGS = frozenset({"time", "abbr", "h1"})
_TELLING = re.compile(
    r"author|byl(?:ine)?\b|writer|journalist|screenname|posted|publish|submitted|date|time|fecha"
    r"|article.?info|post.?info|post.?meta|entry.?meta|source|zuozhe|bianji",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"comment|related|sidebar|footer|widget|teaser", re.IGNORECASE)
_ELSEWHERE_TAGS = frozenset({"aside", "footer", "nav", "form", "select"})
_DAY = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})(?![\d.]\d)(?!\d)", re.ASCII)
_LAST_DAY = re.compile(rf"{_DAY.pattern}\s*$", re.ASCII)
_MOST_PARTS = 200
_MOST_TELLING = 40
_MOST_DESCENDANTS = 40
_LONGEST_PART = 500
_LONGEST_MARK = 1000
_LONGEST_SCRIPT = 200_000
_MOST_UNREADABLE = 5_000
_DECLARATIONS = {
    "meta": (("name", "property", "itemprop", "http-equiv"), "content"),
    "link": (("rel",), "href"),
}
_IMAGES = ("og:image", "og:image:secure_url", "twitter:image", "twitter:image:src", "image_src")
_TIMES = ("article:published_time", "og:article:published_time", "datepublished")
_LANGUAGE_NAMES = ("lang", "content-language", "og:locale", "dc.language", "language")
_LANGUAGE_ATTRIBUTES = ("lang", "xml:lang", "{http://www.w3.org/XML/1998/namespace}lang")
_PLAIN_NAME = re.compile(r"[a-z][\w.-]*", re.IGNORECASE | re.ASCII)
_LANGUAGE_CODE = re.compile(r"(?!utf)([a-z]{2,3})(?:[-_]|$)")
_LANGUAGE_SAMPLE = 1000
_SHORTEST_SAMPLE = 50
_NEAR_TIE = 10.0
# Cantonese and Wu have no code of two letters; in writing they are seldom meant.
_MACROLANGUAGES = {"yue": "zh", "wuu": "zh", "zxx": ""}


@dataclass(frozen=True, slots=True)
class Metadata:
    """Facts about a page; empty (`None` for the date) where the page does not tell.

    `author` is a name or several, with `; ` between them. `published` is aware, by the publisher's
    own clock where the page tells its offset, else in UTC; midnight where it gives a day only.
    `language` is an ISO 639-1 code (639-3 where there is none). `canonical_url` and `image` are
    absolute.
    """

    author: str = ""
    published: datetime | None = None
    language: str = ""
    canonical_url: str = ""
    image: str = ""


def extract_metadata(source: Html, *, url: str, text: str = "") -> Metadata:
    """The facts that a page, or what `page_facts` took from it, tells of itself.

    `text` is the clean text, whose language is identified. Never raises and never changes
    `source`. Without the extra `metadata` author and date are what JSON-LD and
    `article:published_time` say, and the language is the declared one.

    >>> page = "<html lang=pt><link rel=canonical href=/flood><p>O rio subiu.</p>"
    >>> facts = extract_metadata(page, url="https://news.example.com/flood?page=1")
    >>> facts.language, facts.canonical_url
    ('pt', 'https://news.example.com/flood')
    """
    facts = page_facts(source)
    declared = _declared(facts)
    author, published = _author_and_date(facts, declared, url)
    address = partial(_address, _address(url, declared.get("base", "")) or url)
    return Metadata(
        author=author,
        published=published,
        language=_language(text, declared),
        canonical_url=address(declared.get("canonical") or declared.get("og:url", "")),
        image=address(next((declared[name] for name in _IMAGES if name in declared), "")),
    )


def load_libraries() -> bool:
    """Load libraries and language model now; it takes about a second, which no page should wait.

    Whether they are installed.
    """
    libraries = _libraries()
    if libraries:
        libraries.rank_languages("")
    return libraries is not None


@dataclass(frozen=True, slots=True)
class _Libraries:
    rank_languages: Callable[[str], list[tuple[str, float]]]
    read_document: Callable[..., Any]


@cache
def _libraries() -> _Libraries | None:
    """What the extra `metadata` brings: it takes longer to import than all else of this package."""
    try:
        import py3langid
        from trafilatura.metadata import extract_metadata as read_document
    except ImportError:
        return None
    return _Libraries(py3langid.rank, read_document)


def page_facts(source: Html) -> _Element:
    """A small document of what tells facts: META, LINK, JSON-LD, short parts marked as such.

    It is a copy, bounded in size, so that nobody changes the page, and no page takes long.
    """
    root = parse_html(source).root
    facts: _Element = html.Element("html", {"lang": _html_language(root)})
    head, body = html.Element("head"), html.Element("body")
    facts.extend([head, body])
    head.extend(map(_copy, _head_parts(root)))
    body.extend(map(_copy, _telling_parts(root)))
    return facts


def _copy(node: _Element) -> _Element:
    copy = deepcopy(node)
    name = _name(node)
    copy.tag, copy.tail = name if _PLAIN_NAME.fullmatch(name) else "div", None
    return copy


def _head_parts(root: _Element) -> Iterator[_Element]:
    left, unreadable = _MOST_PARTS, _MOST_UNREADABLE
    # What JSON-LD says goes first, however many others there are.
    others = root.iter("{*}base", "{*}link", "{*}meta", "{*}title")
    for node in chain(root.iter("{*}script"), others):
        is_script = _name(node) == "script"
        if is_script and "ld+json" not in node.get("type", "").lower():
            continue
        if is_script and len(node.text or "") > _LONGEST_SCRIPT:
            continue
        if is_script and not _is_json(node.text or ""):
            # It is searched by expressions that take quadratic time.
            unreadable -= len(node.text or "")
            if unreadable < 0:
                continue
        yield node
        left -= 1
        if not left:
            return


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _telling_parts(root: _Element) -> Iterator[_Element]:
    """Short elements outside asides and comments whose tag or class tells of author or date."""
    chosen: set[_Element] = set()
    covered: dict[_Element, bool] = {}
    bodies = cast("list[_Element]", _BODIES(root))
    for node in chain.from_iterable(body.iter("*") for body in bodies):
        if not _is_telling(node) or not _is_short(node):
            continue
        if not _is_covered(node, chosen, covered):
            above = node.getparent()
            if above is not None and _name(above) != "body" and _is_dated(above):
                node = above  # a day beside the author
            chosen.add(node)
            yield node
            if len(chosen) == _MOST_TELLING:
                return


def _is_telling(node: _Element) -> bool:
    # Asked of every element of a page: a list of its attributes would take twice the time.
    return node.tag in _TELLING_TAGS or any(
        _tells(value[:_LONGEST_MARK]) for name in _MARKS if (value := node.get(name))
    )


def _is_dated(node: _Element) -> bool:
    """Whether an element is one short line with a day."""
    return _is_short(node) and bool(_DAY.search(_text(node)))


def _text(node: _Element) -> str:
    return " ".join(cast("Iterator[str]", node.itertext()))


def _is_covered(node: _Element, chosen: Container[_Element], covered: dict[_Element, bool]) -> bool:
    """Whether an element above is chosen or elsewhere; `covered` remembers it by parent.

    Elements come in document order: nothing above a node that was asked for is chosen later.
    """
    passed: list[_Element] = []
    found = False
    for above in node.iterancestors():
        if above in covered:
            found = covered[above]
            break
        passed.append(above)
        if above in chosen or _is_elsewhere(above):
            found = True
            break
    covered.update(dict.fromkeys(passed, found))
    return found


def _is_elsewhere(node: _Element) -> bool:
    name = _name(node)
    if name in _ELSEWHERE_TAGS:
        return True
    return name != "body" and (
        _leads_away(node.get("class", "")[:_LONGEST_MARK])
        or _leads_away(node.get("id", "")[:_LONGEST_MARK])
    )


@lru_cache(maxsize=10_000)
def _tells(mark: str) -> bool:
    return bool(_TELLING.search(mark))


@lru_cache(maxsize=10_000)
def _leads_away(mark: str) -> bool:
    return bool(_ELSEWHERE.search(mark))


def _is_short(node: _Element) -> bool:
    length = 0
    for number, part in enumerate(node.iter()):
        length += len(part.text or "") + len(part.tail or "")
        if number > _MOST_DESCENDANTS or length > _LONGEST_PART:
            return False
    return True


def _author_and_date(
    facts: _Element, declared: Mapping[str, str], url: str
) -> tuple[str, datetime | None]:
    """What JSON-LD says of the article; what that does not say, as META and the libraries do."""
    latest = datetime.now(timezone.utc) + timedelta(days=1)
    article = read_article(read_documents(facts.iter("script")))
    author = _author("; ".join(article.authors))
    told = (article.published, *(read_time(declared.get(name)) for name in _TIMES))
    times = [time for time in told if time and _EARLIEST <= time <= latest]
    # Of one moment told twice, that of the publisher's own clock.
    by_own_clock = (time for time in times if time == times[0] and time.utcoffset())
    published = next(by_own_clock, times[0] if times else None)
    if not author or published is None:
        other_author, other_published = _found_author_and_date(facts, url, latest)
        author, published = author or other_author, published or other_published
    return author, published or _shown_day(facts, latest)


def _shown_day(facts: _Element, latest: datetime) -> datetime | None:
    """The day at the end of TITLE, or the first in what tells of the author, as 31.1.2026."""
    ends = (found for node in facts.iter("title") if (found := _LAST_DAY.search(_text(node))))
    days = (found for part in facts.iterfind("body/*") for found in _DAY.finditer(_text(part)))
    for found in chain(ends, days):
        day, month, year = map(int, found.groups())
        try:
            date = datetime(year + 2000 * (year < 100), month, day, tzinfo=timezone.utc)
        except ValueError:
            continue
        if _EARLIEST <= date <= latest:
            return date
    return None


def _found_author_and_date(
    facts: _Element, url: str, latest: datetime
) -> tuple[str, datetime | None]:
    libraries = _libraries()
    if libraries is None:
        return "", None
    dates = {
        "original_date": True,
        "extensive_search": False,
        "outputformat": _DATE_FORMAT,
        "deferred_url_extractor": True,  # META has the time of day, a URL at most the day
        "min_date": _EARLIEST.date().isoformat(),
        "max_date": latest.date().isoformat(),
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as of unknown time zones
            found = libraries.read_document(
                facts, default_url=url or None, extensive=False, date_config=dates
            )
    except Exception:  # the libraries raise all kinds of errors on damaged pages
        logger.debug("The author and date of %s could not be read", url, exc_info=True)
        return "", None
    return _author(found.author), _date(found.date, latest)


def _author(found: str | None) -> str:
    author = " ".join(without_controls(found or "").split())
    return author if len(author) <= _LONGEST_AUTHOR else ""


def _date(found: str | None, latest: datetime) -> datetime | None:
    try:
        date = datetime.strptime(found or "", _DATE_FORMAT)
    except ValueError:
        try:
            date = datetime.strptime(found or "", _DATE_FORMAT.removesuffix("%z"))
        except ValueError:
            return None
        date = date.replace(tzinfo=timezone.utc)
    return date if _EARLIEST <= date <= latest else None


def _language(text: str, declarations: Mapping[str, str]) -> str:
    """The language of the text; the declared one where the text is short or it is nearly a tie."""
    declared = _declared_language(declarations)
    sample = text[:_LANGUAGE_SAMPLE]
    libraries = _libraries()
    if libraries is None or len(sample) < _SHORTEST_SAMPLE:
        return declared
    ranking = libraries.rank_languages(sample)
    best, score = ranking[0]
    if dict(ranking).get(declared, -float("inf")) > score - _NEAR_TIE:
        return declared
    return _MACROLANGUAGES.get(best, best) or declared


def _declared(facts: _Element) -> dict[str, str]:
    """Values by name: of META by name or property, of LINK by relation, the base, the language."""
    found = {"lang": facts.get("lang", "")}
    for node in facts.iterfind("head/*"):
        names, value = _DECLARATIONS.get(node.tag, ((), ""))
        for name in filter(None, map(node.get, names)):
            found.setdefault(name.strip().lower(), node.get(value, "").strip())
        if node.tag == "base":
            found.setdefault("base", node.get("href", "").strip())
    return {name: value for name, value in found.items() if value}


def _declared_language(declared: Mapping[str, str]) -> str:
    codes = (_language_code(declared.get(name, "")) for name in _LANGUAGE_NAMES)
    return next(filter(None, codes), "")


def _html_language(root: _Element) -> str:
    body = root.find("{*}body")
    nodes = (root,) if body is None else (root, body)
    codes = (_language_code(node.get(key, "")) for node in nodes for key in _LANGUAGE_ATTRIBUTES)
    return next(filter(None, codes), "")


def _language_code(value: str) -> str:
    """The language of a tag such as `pt-BR`; empty where it is none.

    >>> _language_code("pt-BR"), _language_code("utf-8")
    ('pt', '')
    """
    match = _LANGUAGE_CODE.match(value.strip().lower())
    return match[1] if match else ""


def _address(base: str, link: str) -> str:
    """An absolute web address, empty where `link` gives none."""
    try:
        address = without_controls(urljoin(base, link)) if link else ""
        return address if urlsplit(address).scheme in {"http", "https"} else ""
    except ValueError:
        return ""


def _name(node: _Element) -> str:
    return node.tag.rpartition("}")[2]
