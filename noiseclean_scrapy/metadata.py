"""What a page tells of itself: who wrote it, when, in which language, where it belongs."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from noiseclean_scrapy.languages import ranking, text_language
from noiseclean_scrapy.page import Html, build_page
from noiseclean_scrapy.page.authors import byline, is_plain_name, named_authors, split_names, turned
from noiseclean_scrapy.page.characters import without_controls
from noiseclean_scrapy.page.days import ShownDay, months, read_time, shown_days
from noiseclean_scrapy.page.facts import language_code, page_facts, text_of
from noiseclean_scrapy.page.linked_data import Article, plain_line, read_article, read_documents
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
_TELLS_TIME = re.compile("date|time|publi|modif|created|issued")
_TELLS_CHANGE = re.compile("modif|updated")
_OF_PICTURE = re.compile("caption|credit|photo", re.IGNORECASE)
_URL_DAY = re.compile(r"[/_-]\d{4}[/_-]?\d\d[/_-]?\d\d(?!\d)", re.ASCII)
_BESIDE = 4  # parts that tell of author or date, behind the headline
_BEHIND, _BEFORE = 5, 8  # texts from the headline on, and before it
_LONGEST_LINE = 150
_META_NAMES = ("name", "property", "itemprop", "http-equiv")
_DECLARATIONS = {
    "meta": (_META_NAMES, "content"),
    "link": (("rel",), "href"),
}
_IMAGES = (
    *("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"),
    *("image_src", "image"),
)
_TIMES = ("article:published_time", "og:article:published_time", "datepublished")
_LANGUAGE_NAMES = ("lang", "content-language", "og:locale", "dc.language", "language")


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


def extract_metadata(
    source: Html,
    *,
    url: str,
    text: str = "",
    language: Callable[[str, str], str] = text_language,
    lines: Sequence[str] | None = None,
) -> Metadata:
    """The facts that a page tells of itself.

    `text` is the clean text: of it `language`, which is given what is declared as well, tells the
    language, and beside its beginning day and byline may stand unmarked. `lines` are the texts of
    all blocks, where they are at hand. Never raises and never changes `source`. Without the extra
    `metadata` author and date are what JSON-LD, META and the page's own marks say, names of months
    are English ones, and the language is the declared one.

    >>> page = "<html lang=pt><link rel=canonical href=/flood><p>O rio subiu.</p>"
    >>> facts = extract_metadata(page, url="https://news.example.com/flood?page=1")
    >>> facts.language, facts.canonical_url
    ('pt', 'https://news.example.com/flood')
    """
    root = parse_html(source).root
    return read_facts(
        page_facts(root),
        url=url,
        text=text,
        language=language,
        lines=lambda: build_page(root).table.texts if lines is None else lines,
    )


def read_facts(
    facts: _Element,
    *,
    url: str,
    text: str,
    language: Callable[[str, str], str],
    lines: Callable[[], Sequence[str]],
) -> Metadata:
    """What `page_facts` took from a page tells, and the `text`; see `extract_metadata`.

    `lines` gives the texts of all blocks: it is asked where no mark tells of the author or the day.
    """
    declared = _declared(facts)
    article = read_article(read_documents(facts.iter("script")))
    spoken = language(text, _declared_language(declared))
    beside = cache(lambda: _beside(text, lines() if text else ()))
    author, published = _author_and_date(facts, article, declared, url, spoken, beside)
    images = (*(declared.get(name, "") for name in _IMAGES), article.image)
    address = partial(_address, _address(url, declared.get("base", "")) or url)
    return Metadata(
        author=author,
        published=published,
        language=spoken,
        canonical_url=address(declared.get("canonical") or declared.get("og:url", "")),
        image=next(filter(None, map(address, images)), ""),
    )


def has_libraries() -> bool:
    """Whether the libraries are installed; they are not loaded."""
    return all(find_spec(name) for name in ("py3langid", "trafilatura"))


@cache
def load_libraries() -> bool:
    """Load libraries and language model now; it takes about a second, which no page should wait.

    Whether they are installed.
    """
    rank = ranking()
    if rank:
        rank("")
    months("en")
    return rank is not None and _document_reader() is not None


@cache
def _document_reader() -> Callable[..., Any] | None:
    """What the extra `metadata` brings: it takes longer to import than all else of this package."""
    try:
        from trafilatura.metadata import extract_metadata as read_document
    except ImportError:
        return None
    reader: Callable[..., Any] = read_document
    return reader


def _author_and_date(
    facts: _Element,
    article: Article,
    declared: Mapping[str, str],
    url: str,
    language: str,
    beside: Callable[[], tuple[list[str], list[str]]],
) -> tuple[str, datetime | None]:
    """What JSON-LD says of the article, then META, then its marks; and what the libraries find.

    Last the day that the page shows in what is marked, or `beside` the headline; where none is
    marked the first day of a page may be that of today. And a byline beside the headline.
    """
    latest = datetime.now(timezone.utc) + timedelta(days=1)
    author = named_authors("; ".join(article.authors)) or _stated_author(facts)
    stated = [article.published, *(read_time(declared.get(name)) for name in _TIMES)]
    if not any(stated):
        stated.append(_stated_time(facts, declared, url))
    told = [time for time in stated if time and time >= _EARLIEST]
    times = [time for time in told if time <= latest]
    # Of one moment told twice, that of the publisher's own clock.
    by_own_clock = (time for time in times if _is_same(times[0], time) and time.utcoffset())
    published = next(by_own_clock, times[0] if times else None)
    if not author or not told:
        other_author, other_published = _found_author_and_date(facts, url, latest)
        author, published = author or other_author, published or other_published
    if not author:
        author = named_authors(next(filter(None, map(byline, beside()[0])), ""))
    if published is None:
        modified = _modified(declared, latest)
        ways = (_shown_days(facts), _days_beside(beside))
        is_headed = any(True for _ in facts.iter("h1"))
        days = chain.from_iterable(ways if is_headed else reversed(ways))
        published = _first_date(days, language, latest) or modified
        if published and modified and _is_same(published, modified):
            published = modified  # with its hour
    return author, published


def _is_same(first: datetime, time: datetime) -> bool:
    """Whether two times are one moment, of which the first may lack the offset or the hour."""
    if first == time or first.utcoffset():
        return first == time
    is_day = first.time() == datetime.min.time()
    return first.date() == time.date() and (is_day or first.time() == time.time())


def _stated_author(facts: _Element) -> str:
    """The one author of META, or of the links that are marked so; empty where it is no plain name.

    All authors where META cites them one by one, as for papers.

    Several names, those of agencies and of accounts are for the libraries to tell apart.
    """
    cited = [node.get("content", "") for node in facts.iter("meta") if _is_cited(node)]
    if cited:
        return named_authors("; ".join(dict.fromkeys(map(turned, map(plain_line, cited)))))
    stated = {plain_line(node.get("content")) for node in facts.iter("meta") if _is_author(node)}
    if not any(stated):
        links = facts.iterfind("body//a")
        stated = {
            plain_line(text_of(node)) for node in links if "author" in node.get("rel", "").split()
        }
    names = {name for line in stated for name in split_names(line)}
    name = named_authors(names.pop()) if len(names) == 1 else ""
    return name if is_plain_name(name) else ""


def _is_cited(node: _Element) -> bool:
    return node.get("name", "").strip().lower() == "citation_author"


def _is_author(node: _Element) -> bool:
    return "author" in {node.get(name, "").lower() for name in ("name", "property")}


def _stated_time(facts: _Element, declared: Mapping[str, str], url: str = "") -> datetime | None:
    """The only time that the page marks, or the one beside the headline; or marked as published.

    None where META or the address tells of one in its own way.
    """
    if any(_TELLS_TIME.search(name) and not _TELLS_CHANGE.search(name) for name in declared):
        return None
    found = [
        (_mark_rank(node), not 0 <= number < _BESIDE, number, time)
        for number, part in _parts(facts)
        for node in part.iter("time")
        if (time := read_time(node.get("datetime")))
    ]
    if not found:
        return None
    rank, is_elsewhere, _, time = min(found)
    has_rivals = len({other for mark, *_, other in found if mark == rank}) > 1
    return None if has_rivals and (is_elsewhere or _URL_DAY.search(url)) else time


def _parts(facts: _Element) -> list[tuple[int, _Element]]:
    """The parts of a page that tell of author or date, with their numbers after the headline.

    Those before it are last, with negative numbers; all are where none is shown.
    """
    parts = list(facts.iterfind("body/*"))
    headlines = (number for number, part in enumerate(parts) if any(True for _ in part.iter("h1")))
    first = next(headlines, len(parts))
    numbered = [(number - first, part) for number, part in enumerate(parts)]
    return numbered[first:] + numbered[:first]


def _mark_rank(time: _Element) -> int:
    """Low for times that are marked as those of publication, high for those of a change."""
    marks = " ".join(
        (*map(str, time.keys()), time.get("class", ""), time.get("itemprop", ""))
    ).lower()
    is_first = "pub" in marks or "entry-date" in marks
    return 0 if is_first else 1 + bool(_TELLS_CHANGE.search(marks))


def _modified(declared: Mapping[str, str], latest: datetime) -> datetime | None:
    """When META says that the page was changed, which is better than nothing."""
    times = (read_time(value) for name, value in declared.items() if _TELLS_CHANGE.search(name))
    return next((time for time in times if time and _EARLIEST <= time <= latest), None)


def _without_changes(facts: _Element) -> _Element:
    """Facts without what libraries take for the day of publication: that of the last change.

    A copy where there is such a META.

    >>> from lxml.html import document_fromstring
    >>> head = '<meta name=author content=A><meta name=last-modified content=2024-05-03>'
    >>> [node.get("name") for node in _without_changes(document_fromstring(head)).iter("meta")]
    ['author']
    """
    if not any(map(_tells_change, facts.iterfind("head/meta"))):
        return facts
    copy = deepcopy(facts)
    for head in copy.iterfind("head"):
        for node in filter(_tells_change, head.findall("meta")):
            head.remove(node)
    return copy


def _tells_change(meta: _Element) -> bool:
    return any(_TELLS_CHANGE.search(meta.get(name, "").lower()) for name in _META_NAMES)


def _shown_days(facts: _Element) -> Iterator[ShownDay]:
    """The days at the end of TITLE, and from the headline on in what tells of the author.

    Before it pages may show the day of today.
    """
    titles = (" ".join(text_of(node).split()) for node in facts.iter("title"))
    ends = (day for text in titles for day in shown_days(text) if day.end == len(text))
    own = (part for _, part in _parts(facts) if not _OF_PICTURE.search(part.get("class", "")))
    lines = (" ".join(text_of(part).split()) for part in own)
    return chain(ends, (day for line in lines for day in shown_days(line)))


def _beside(text: str, lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The short lines of a page right behind the headline, and those before it, nearest first.

    The headline is the first line of the page that is one of the clean text as well.
    """
    kept = set(filter(None, text.splitlines()))
    first = next((number for number, line in enumerate(lines) if line in kept), None)
    if first is None:
        return [], []
    parts = lines[first + 1 : first + _BEHIND], lines[max(first - _BEFORE, 0) : first][::-1]
    behind, before = ([line for line in part if len(line) <= _LONGEST_LINE] for part in parts)
    return behind, before


def _days_beside(beside: Callable[[], Iterable[Iterable[str]]]) -> Iterator[ShownDay]:
    """The days in these lines, which are asked for with the first day."""
    for line in chain.from_iterable(beside()):
        yield from shown_days(line)


def _first_date(days: Iterable[ShownDay], language: str, latest: datetime) -> datetime | None:
    dates = filter(None, (day.midnight(language) for day in days))
    return next((date for date in dates if _EARLIEST <= date <= latest), None)


def _found_author_and_date(
    facts: _Element, url: str, latest: datetime
) -> tuple[str, datetime | None]:
    read_document = _document_reader()
    if read_document is None:
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
            found = read_document(
                _without_changes(facts), default_url=url or None, extensive=False, date_config=dates
            )
    except Exception:  # the libraries raise all kinds of errors on damaged pages
        logger.debug("The author and date of %s could not be read", url, exc_info=True)
        return "", None
    return named_authors(found.author), _date(found.date, latest)


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


def _declared(facts: _Element) -> dict[str, str]:
    """Values by name: of META by name or property, of LINK by relation, the base, the language.

    An element may have several names, such as `rel="canonical nofollow"`.
    """
    found = {"lang": facts.get("lang", "")}
    for node in facts.iterfind("head/*"):
        names, value = _DECLARATIONS.get(node.tag, ((), ""))
        text = node.get(value, "").strip() if names else ""
        for name in " ".join(node.get(name, "") for name in names).lower().split() if text else ():
            found.setdefault(name, text)
        if node.tag == "base":
            found.setdefault("base", node.get("href", "").strip())
    return {name: value for name, value in found.items() if value}


def _declared_language(declared: Mapping[str, str]) -> str:
    codes = (language_code(declared.get(name, "")) for name in _LANGUAGE_NAMES)
    return next(filter(None, codes), "")


def _address(base: str, link: str) -> str:
    """An absolute web address, empty where `link` gives none."""
    try:
        address = without_controls(urljoin(base, link)) if link else ""
        return address if urlsplit(address).scheme in {"http", "https"} else ""
    except ValueError:
        return ""
