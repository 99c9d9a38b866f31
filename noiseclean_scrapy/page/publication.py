"""Who published a page, and when: what it declares, marks and shows, and what libraries find."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from itertools import chain, islice
from typing import TYPE_CHECKING

from noiseclean_scrapy.page.authors import (
    byline,
    is_family_first,
    is_plain_name,
    labelled_name,
    marked_name,
    named_authors,
    split_names,
    turned,
)
from noiseclean_scrapy.page.days import LONGEST_DAY, ShownDay, read_time, read_written, shown_days
from noiseclean_scrapy.page.facts import (
    AUTHOR_MARK,
    LONGEST_LINE,
    line_of,
    reads_as_sentence,
    text_of,
)
from noiseclean_scrapy.page.found_facts import (
    EARLIEST,
    TELLS_CHANGE,
    found_author_and_date,
    is_author,
)
from noiseclean_scrapy.page.headline import SiteNames
from noiseclean_scrapy.page.linked_data import Article, plain_line
from noiseclean_scrapy.page.people import people_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_TELLS_TIME = re.compile(r"(?<!vali)date|time|publi(?!sher)|modif|created|issued")
_IS_PUBLISHED = re.compile(r"date_?published|(?:dc|dcterms):(?:created|date|issued)\b")
_AUTHOR_MARK = re.compile(f"{AUTHOR_MARK}|byline", re.IGNORECASE)
_OF_PICTURE = re.compile("caption|credit|photo", re.IGNORECASE)
_URL_DAY = re.compile(r"[/_-]\d{4}[/_-]?\d\d[/_-]?\d\d(?!\d)", re.ASCII)
_BESIDE = 4  # parts that tell of author or date, behind the headline
_BEHIND, _BEFORE = 4, 8  # lines behind the headline, and before it
_PUBLISHED = re.compile(
    r"\b(?:published|posted|veröffentlicht|erschienen|publicado|publié|pubblicato)"
    r"(?: (?:on|am|el|em|le|il))?(?: ?[:|])? ",
    re.IGNORECASE,
)
"""What stands right before the day of publication."""
_DASH = re.compile(r"\s*[-–—:|•]")
_ENDS_AS_CLOCK = re.compile(r"\b[ap]\.\s?m\.$", re.IGNORECASE)
_TIMES = (
    *("article:published_time", "og:article:published_time", "datepublished"),
    "parsely-pub-date",
)


def author_and_date(
    facts: _Element,
    article: Article,
    declared: Mapping[str, str],
    url: str,
    language: str,
    beside: Callable[[], tuple[list[str], list[str]]],
) -> tuple[str, datetime | None]:
    """What JSON-LD says of the article, then META, then its marks; and what the libraries find.

    Last the day that the page shows in what is marked, or `beside` the headline; where none is
    marked the first day of a page may be that of today. And a byline beside the headline, for the
    name of the site as well.
    """
    latest = datetime.now(timezone.utc) + timedelta(days=1)
    told_authors = named_authors("; ".join(article.authors), are_told=True)
    author = told_authors or _stated_author(facts) or _marked_author(facts)
    marked_byline = _marked_byline(facts)
    author = author or _labelled_author(facts)
    if "@" in marked_byline:  # libraries take what an address is made of for names
        author = author or named_authors(byline(marked_byline))
    stated = [article.published, *(read_time(declared.get(name)) for name in _TIMES)]
    if not any(stated):
        written = (read_written(declared.get(name)) for name in _TIMES)
        time, is_far = _stated_time(facts, declared, url)
        if is_far:  # which may be that of something else
            days = chain(_shown_days(facts, most=_BESIDE), _days_beside(beside))
            near = _first_date(days, language, latest)
            time = near if near and time and near.date() != time.date() else time
        stated += [time, article.written, *written]
    told = [time for time in stated if time and time >= EARLIEST]
    times = [time for time in told if time <= latest]
    # Of one moment told twice, that of the publisher's own clock.
    by_own_clock = (time for time in times if _is_same(times[0], time) and time.utcoffset())
    published = next(by_own_clock, times[0] if times else None)
    if not told:
        later = chain.from_iterable(map(_published_later, _lines(facts)))
        published = _first_date(later, language, latest)
    if not author or not told:
        other_author, other_published = found_author_and_date(facts, url, latest, language)
        author = author or other_author or named_authors(byline(marked_byline))
        published = published or other_published
    author = people_of(author, language)
    site = SiteNames((article.publisher, declared.get("og:site_name", "")), url)
    if not author or site.is_name(author):
        shown = named_authors(next(filter(None, map(byline, beside()[0])), ""))
        shown = people_of(shown, language)
        if not author or not site.is_name(shown):
            author = shown or author
    if not told:
        modified = _modified(article, declared, latest)
        if published is None:
            ways = (_shown_days(facts), _days_beside(beside))
            days = chain.from_iterable(ways if _is_headed(facts) else reversed(ways))
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
    metas = (plain_line(node.get("content")) for node in facts.iter("meta") if is_author(node))
    stated = {labelled_name(line) or line for line in metas}
    if not any(stated):
        links = facts.iterfind("body//a")
        stated = {
            plain_line(text_of(node)) for node in links if "author" in node.get("rel", "").split()
        }
    if len(stated) == 1 and is_family_first(*stated):
        return named_authors(*stated)
    names = {name for line in stated for name in split_names(line)}
    name = named_authors(names.pop()) if len(names) == 1 else ""
    return name if is_plain_name(name) else ""


def _marked_author(facts: _Element) -> str:
    """The author whom microdata names; of several posts that of the first.

    Several people are for the libraries to tell apart.
    """
    marked = (node for node in facts.iterfind(".//*[@itemprop]") if _has_property(node, "author"))
    names = [_marked_name(node) for node in marked]
    are_people = len(set(names)) > 1 and all(" " in name for name in names if name)
    return "" if are_people or not names else named_authors(names[0], are_told=True)


def _labelled_author(facts: _Element) -> str:
    """The author behind a word such as "Text:" in the first that is marked: libraries keep both."""
    marked = (node for node in facts.iterfind("body//*") if _AUTHOR_MARK.search(_marks(node)))
    first = next((line for node in marked if (line := plain_line(text_of(node)))), "")
    return labelled_name(first)


def _marked_byline(facts: _Element) -> str:
    """The first line that is marked as a byline right behind the headline."""
    parts = (part for number, part in _parts(facts) if 0 <= number < _BESIDE)
    lines = (plain_line(text_of(part)) for part in parts if "byline" in _marks(part))
    return next(filter(None, lines), "")


def _marks(node: _Element) -> str:
    return " ".join(node.get(name, "") for name in ("class", "id", "itemprop", "rel"))


def _marked_name(author: _Element) -> str:
    parts = author.iterfind(".//*[@itemprop]")
    name = next((part for part in parts if _has_property(part, "name")), author)
    return marked_name(plain_line(name.get("content") or text_of(name)))


def _has_property(node: _Element, name: str) -> bool:
    return name in node.get("itemprop", "").split()


def _is_cited(node: _Element) -> bool:
    return node.get("name", "").strip().lower() == "citation_author"


def _stated_time(
    facts: _Element, declared: Mapping[str, str], url: str
) -> tuple[datetime | None, bool]:
    """The only time that the page marks, or the one beside the headline; or marked as published.

    None where META or the address tells of one in its own way. And whether it stands far from the
    headline, without a TIME that is marked.
    """
    if any(_TELLS_TIME.search(name) and not TELLS_CHANGE.search(name) for name in declared):
        return None, False
    found = [
        (_mark_rank(node), not 0 <= number < _BESIDE, number, time, node.tag)
        for number, part in _parts(facts)
        for node in part.iter()
        if (time := read_time(_marked_time(node)))
    ]
    if not found:
        return None, False
    rank, is_elsewhere, number, time, tag = min(found)
    has_rivals = len({other for mark, _, _, other, _ in found if mark == rank}) > 1
    if has_rivals and (is_elsewhere or _URL_DAY.search(url)):
        return None, False
    is_far = _is_headed(facts) and not -_BESIDE <= number < _BESIDE
    return time, is_far and (rank > 0 or tag != "time")


def _marked_time(node: _Element) -> str | None:
    """The time that an element is marked with, in HTML, microdata or RDFa."""
    if node.tag == "time":
        return node.get("datetime") or node.get("content")
    marks = f"{node.get('itemprop', '')} {node.get('property', '')}".lower()
    return node.get("content") if _IS_PUBLISHED.search(marks) else None


def _parts(facts: _Element) -> list[tuple[int, _Element]]:
    """The parts of a page that tell of author or date, with their numbers after the headline.

    Those before it are last, with negative numbers; all are where none is shown.
    """
    parts = list(facts.iterfind("body/*"))
    headlines = (number for number, part in enumerate(parts) if _is_headed(part))
    first = next(headlines, len(parts))
    numbered = [(number - first, part) for number, part in enumerate(parts)]
    return numbered[first:] + numbered[:first]


def _is_headed(node: _Element) -> bool:
    """Whether a headline is shown in it."""
    return any(True for _ in node.iter("h1"))


def _mark_rank(time: _Element) -> int:
    """Low for times that are marked as those of publication, high for those of a change."""
    marks = " ".join(
        (
            *map(str, time.keys()),
            *(time.get(name, "") for name in ("class", "itemprop", "property")),
        )
    ).lower()
    is_first = "pub" in marks or "entry-date" in marks
    return 0 if is_first else 1 + bool(TELLS_CHANGE.search(marks))


def _modified(article: Article, declared: Mapping[str, str], latest: datetime) -> datetime | None:
    """When META or JSON-LD says that the page was changed, which is better than nothing."""
    told = (read_time(value) for name, value in declared.items() if TELLS_CHANGE.search(name))
    times = chain(told, [article.modified])
    return next((time for time in times if time and EARLIEST <= time <= latest), None)


def _shown_days(facts: _Element, most: int | None = None) -> Iterator[ShownDay]:
    """The days at the end of TITLE, and from the headline on in what tells of the author.

    Before it pages may show the day of today. `most` is the number of parts behind it.
    """
    titles = map(line_of, facts.iter("title"))
    ends = (day for text in titles for day in shown_days(text) if day.end == len(text))
    return chain(ends, (day for line in _lines(facts, most) for day in shown_days(line)))


def _lines(facts: _Element, most: int | None = None) -> Iterator[str]:
    """What tells of author or date and not of a picture, from the headline on."""
    parts = (part for number, part in _parts(facts) if most is None or 0 <= number < most)
    return (line_of(part) for part in parts if not _OF_PICTURE.search(part.get("class", "")))


def _published_later(line: str) -> Iterator[ShownDay]:
    """The days that are told as those of publication behind others: "Updated ... Published ..."."""
    for found in _PUBLISHED.finditer(line):
        day = next(shown_days(line[found.end() :]), None)
        if day and day.end <= LONGEST_DAY and any(shown_days(line[: found.start()])):
            yield day


def _days_beside(beside: Callable[[], Iterable[Iterable[str]]]) -> Iterator[ShownDay]:
    """The days in these lines, which are asked for with the first day.

    In a sentence only one that begins it as a line of its own would: "May 3, 2024 -- The river".
    """
    for line in chain.from_iterable(beside()):
        is_sentence = reads_as_sentence(line) and not _ENDS_AS_CLOCK.search(line)
        later = () if is_sentence else _published_later(line)
        for day in chain(later, shown_days(line)):
            if not is_sentence or (day.end <= LONGEST_DAY and _DASH.match(line, day.end)):
                yield day


def _first_date(days: Iterable[ShownDay], language: str, latest: datetime) -> datetime | None:
    """The first of the days; of one that may be turned, a later one tells the order."""
    turned_day = None
    for day in days:
        date = day.midnight(language)
        if date is None and day.may_be_turned:
            turned_day = turned_day or day
        if date is None or not EARLIEST <= date <= latest:
            continue
        if turned_day and day.is_month_first is not None:
            return turned_day.ordered(is_month_first=day.is_month_first).midnight(language)
        return date
    return None


def lines_beside(text: str, lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """The short lines of a page right behind the headline, and those before it, nearest first.

    The headline is the first line of the page that is one of the clean text as well.
    """
    kept = set(filter(None, text.splitlines()))
    before: deque[str] = deque(maxlen=_BEFORE)
    lines = iter(lines)
    for line in lines:
        if line in kept:
            return _short(islice(lines, _BEHIND)), _short(reversed(before))
        before.append(line)
    return [], []


def _short(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if len(line) <= LONGEST_LINE]
