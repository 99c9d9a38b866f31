"""JSON-LD: the objects in a page, and what they say of its article."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.page.parse import unescape

if TYPE_CHECKING:
    from lxml.etree import _Element

_DEEPEST = 20
_LONGEST = 300
_MOST_AUTHORS = 30
_ARTICLE = re.compile(r"(?:Article|Posting|Report|Review|Recipe)$")
# Below these stand other articles, and the authors of other things.
_ELSEWHERE = frozenset(
    "itemListElement liveBlogUpdate hasPart isPartOf comment citation mentions review image video "
    "associatedMedia relatedLink".split()
)
_LISTED = re.compile(r"\s*[;|、]\s*")
_AND = r"(?:and|und|y|et|e|og|och|en|&)\s+"
_JOINED = re.compile(rf"\s*,\s+(?:{_AND})?|\s+{_AND}")
_SIGN = re.compile(r"(?<=\S)\s+\([^()]{1,20}\)$")
_BY = re.compile(
    r"(?:(?:(?:written|posted|published|story|words|text) )?by|von|par|por|di|door|av)"
    r"\s+(?=[^\W\d_])",
    re.IGNORECASE,
)
_ORGANISATION = re.compile(
    r"\b(?:administration|agency|associat(?:ion|es)|cent(?:er|re)s?|commission|committee|council|"
    r"department|foundation|institute|ministry|office|services|society|trust|university)$",
    re.IGNORECASE,
)
_PART_OF_NAME = re.compile(r"\s(?:of|for)\s", re.IGNORECASE)
_ROLE = re.compile(
    r"\b(?:analyst|author|columnist|contributor|correspondent|critic|director|editor|journalist|"
    r"photographer|producer|professor|reporter|staff|writer|ph\.?d|m\.?d)"
    r"(?:\.?$|\s(?:at|for|in|of)\s|-in-chief)",
    re.IGNORECASE,
)
_NO_NAME = re.compile(r"https?:|www\.|@|^\W*(?:\d+\W*)?$")
_OFFSET = re.compile(r"(:\S*[+-]\d\d)(\d\d)$")
_ZONE = re.compile(r"(\d)\s*(?:\[[\w/+-]*\]|([A-Z]{2,4}))$")
_ZONES = {"UT": 0, "GMT": 0, "UTC": 0, "WET": 0, "BST": 1, "CET": 1, "MEZ": 1, "CEST": 2}
_ZONES |= {"MESZ": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11}
_ZONES |= {"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}
"""Hours that zones are ahead of UTC, by their names."""
_MAIL_TIME = re.compile(r"(?:[A-Z][a-z]{2}, ?)?\d{1,2} [A-Z][a-z]{2} \d{4} \d", re.ASCII)
_WRITTEN_DAY = re.compile(
    r"(?:[A-Z][a-z]+, )?(?:[A-Z][a-z]+ \d{1,2}|\d{1,2} [A-Z][a-z]+),? \d{4}", re.ASCII
)
_MONTH = re.compile(r"\d{4}-\d\d", re.ASCII)
_FRACTION = re.compile(r"\.(\d{1,6})\d*")


@dataclass(frozen=True, slots=True)
class Article:
    """What JSON-LD says of the page's article; empty, None for the time, where it says nothing.

    `published` is aware and keeps its offset; without one it is in UTC.
    """

    headline: str = ""
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    publisher: str = ""
    image: str = ""


def read_documents(scripts: Iterable[_Element]) -> Iterator[Any]:
    """The values in a page's JSON-LD; scripts that cannot be read are left out."""
    for node in scripts:
        if node.get("type", "").partition(";")[0].strip().lower() == "application/ld+json":
            try:
                yield json.loads(node.text or "", strict=False)
            except (ValueError, RecursionError):
                continue


def things(documents: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """All objects in a page's JSON-LD, outer ones first."""
    for value in documents:
        yield from _objects(value, 0, frozenset())


def read_article(documents: Iterable[Any]) -> Article:
    """The first article that stands for itself, not in a list or as part of another one.

    >>> author = {"@type": "Person", "name": "Ana Sousa"}
    >>> found = read_article([{"@type": "NewsArticle", "headline": "Fog", "author": [author]}])
    >>> found.headline, found.authors
    ('Fog', ('Ana Sousa',))
    """
    found = [thing for value in documents for thing in _objects(value, 0, _ELSEWHERE)]
    article = next(filter(_is_article, found), None)
    if article is None:
        article = next((thing for thing in found if isinstance(thing.get("headline"), str)), {})
    known = {thing["@id"]: thing for thing in found if isinstance(thing.get("@id"), str)}
    authors = _names(article.get("author") or article.get("creator"), known, 0)
    return Article(
        headline=plain_line(article.get("headline") or _own_name(article)),
        authors=tuple(dict.fromkeys(authors))[:_MOST_AUTHORS],
        published=read_time(article.get("datePublished")),
        publisher=next(iter(_names(article.get("publisher"), known, 0)), ""),
        image=_image(article.get("image"), known),
    )


def read_time(value: object) -> datetime | None:
    """A time as ISO 8601 or a header of a mail has it, aware; without an offset in UTC.

    A day is its midnight, also one that is written out in English, a month that of its first day.

    >>> read_time("2024-05-03T23:10:00.1234567+02:00").isoformat()
    '2024-05-03T23:10:00.123456+02:00'
    >>> read_time("2024-05-03T08:00Z").isoformat(), read_time("yesterday")
    ('2024-05-03T08:00:00+00:00', None)
    >>> read_time("2024-05-03 08:00:00 EST").isoformat(), read_time("2024-05").isoformat()
    ('2024-05-03T08:00:00-05:00', '2024-05-01T00:00:00+00:00')
    >>> read_time("Fri, 03 May 2024 08:00:00 PDT").isoformat()
    '2024-05-03T08:00:00-07:00'
    >>> read_time("May 3, 2024").isoformat(), read_time("Mai 3, 2024")
    ('2024-05-03T00:00:00+00:00', None)
    """
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    value = value.strip()
    is_day = _WRITTEN_DAY.fullmatch(value)
    # What Python 3.10 does not read: Z, fractions of other lengths, offsets without a colon.
    text = _FRACTION.sub(lambda found: f".{found[1]:0<6}", value.replace("Z", "+00:00"))
    text = _OFFSET.sub(r"\1:\2", text)
    # And what no Python reads: names of zones, months.
    text = _ZONE.sub(_with_offset, text) + "-01" * bool(_MONTH.fullmatch(text))
    try:
        if is_day or _MAIL_TIME.match(value):
            time = parsedate_to_datetime(f"{value} 00:00" if is_day else value)
        else:
            time = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def _with_offset(zone: re.Match[str]) -> str:
    digit, name = zone.groups()
    if name is None:  # of a zone in brackets, which follows its offset
        return digit
    return f"{digit}{_ZONES[name]:+03}:00" if name in _ZONES else zone[0]


def plain_line(value: object) -> str:
    """A text of metadata without references and line breaks; empty where it is too long for one."""
    text = value if isinstance(value, str) and len(value) <= 4 * _LONGEST else ""
    line = " ".join(unescape(unescape(text)).split())
    return line if len(line) <= _LONGEST else ""


def _objects(value: Any, depth: int, left_out: frozenset[str]) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
        value = [part for name, part in value.items() if name not in left_out]
    if isinstance(value, list):
        for part in value:
            yield from _objects(part, depth + 1, left_out)


def type_names(thing: Mapping[str, Any]) -> list[str]:
    """The types of an object."""
    own = thing.get("@type")
    return [name for name in (own if isinstance(own, list) else [own]) if type(name) is str]


def _is_article(thing: Mapping[str, Any]) -> bool:
    return any(map(_ARTICLE.search, type_names(thing)))


def _own_name(thing: Mapping[str, Any]) -> object:
    return thing.get("name") if _is_article(thing) else ""


def _names(value: Any, known: Mapping[str, Mapping[str, Any]], depth: int) -> Iterator[str]:
    if depth > 3:
        return
    if isinstance(value, list):
        for part in value[:_MOST_AUTHORS]:
            yield from _names(part, known, depth + 1)
    elif isinstance(value, dict):
        yield from _names(_described(value, "name", known).get("name"), known, depth + 1)
    else:
        yield from split_names(plain_line(value))


def _described(
    thing: Mapping[str, Any], name: str, known: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """An object, or the one elsewhere on the page that it refers to for what it does not say."""
    return thing if name in thing else known.get(str(thing.get("@id")), thing)


def _image(value: Any, known: Mapping[str, Mapping[str, Any]]) -> str:
    """The address of an image, of the first one in a list."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        described = _described(value, "url", known)
        value = described.get("url") or described.get("contentUrl")
    return value if isinstance(value, str) else ""


def split_names(text: str) -> Iterator[str]:
    """The names in a line of authors; those of people have several words.

    What people are is left out.

    >>> list(split_names("By Ana Sousa (as), Rui Melo")), list(split_names("AFP, MANILA"))
    (['Ana Sousa', 'Rui Melo'], ['AFP, MANILA'])
    >>> list(split_names("Ana Sousa, Senior Reporter, and Rui Melo, Ph.D."))
    ['Ana Sousa', 'Rui Melo']
    >>> list(split_names("Department of Health and Human Services"))
    ['Department of Health and Human Services']
    """
    for part in _LISTED.split(_BY.sub("", text, count=1) if _BY.match(text) else text):
        names = [part] if is_organisation(part) else _JOINED.split(part)
        names = without_roles(names)
        for name in names if all(" " in name for name in names) else [part]:
            name = _SIGN.sub("", name).strip()
            if name and not _NO_NAME.search(name):
                yield name


def without_roles(names: Sequence[str]) -> list[str]:
    """Names without those that only say what the ones before them are."""
    return [*names[:1], *(name for name in names[1:] if not _ROLE.search(name))]


def is_organisation(name: str) -> bool:
    """Whether a name with a word such as "and" in it is that of one organisation.

    >>> is_organisation("Bill and Melinda Gates Foundation"), is_organisation("Bill and Melinda")
    (True, False)
    """
    first, *others = _JOINED.split(name)
    return (
        bool(others)
        and "," not in name
        and bool(_PART_OF_NAME.search(first) or _ORGANISATION.search(others[-1]))
    )
