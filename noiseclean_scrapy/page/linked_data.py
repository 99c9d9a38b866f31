"""JSON-LD: the objects in a page, and what they say of its article."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.page.authors import split_names
from noiseclean_scrapy.page.characters import one_line
from noiseclean_scrapy.page.days import read_time, read_written
from noiseclean_scrapy.page.parse import unescape

if TYPE_CHECKING:
    from lxml.etree import _Element

_DEEPEST = 20
LONGEST_VALUE = 300
"""Characters of the longest value that may tell something."""
_MOST_IMAGES = 20
_MOST_AUTHORS = 30
_WRAPPING = re.compile(r"[\s/*]*(?:<!--|<!\[CDATA\[)(?:<!--|<!\[CDATA\[|-->|[\s/*>])*")
_TAG = re.compile("<[^<>]*>")
_ARTICLE = re.compile(r"(?:Article|Posting|Report|Review|Recipe)$")
OTHERS = frozenset(
    "itemListElement liveBlogUpdate hasPart isPartOf comment citation mentions review reviews "
    "video associatedMedia relatedLink".split()
)
"""Below these stand other articles, and the authors and days of other things."""
_NAMES_OTHERS = re.compile(rf'"(?:{"|".join(sorted(OTHERS))})"\s*:')
_STRING_OR_COMMA = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|,(?=\s*[\]}])',
    re.DOTALL,  # a string without an end goes up to that of the text: no place is read twice
)
_ESCAPE = re.compile(r"\\(?:[\"\\/bfnrtu]|(.))", re.DOTALL)
_BETWEEN_VALUES = re.compile(r"[\s;,]*")
_MOST_VALUES = 20  # in one script
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_LONG_STRING = re.compile(rf'"(?:[^"\\]|\\.){{{LONGEST_VALUE - 1}}}', re.DOTALL)
_ELSEWHERE = OTHERS | {"image"}


@dataclass(frozen=True, slots=True)
class Article:
    """What JSON-LD says of the page's article; empty, None for the time, where it says nothing.

    `published` is aware and keeps its offset; without one it is in UTC. So is `written`, the same
    as people write it. `modified` is the time of the last change of the article or of the page.
    """

    headline: str = ""
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    written: datetime | None = None
    modified: datetime | None = None
    publisher: str = ""
    image: str = ""


def read_documents(
    scripts: Iterable[_Element], damaged: list[_Element] | None = None
) -> Iterator[Any]:
    """The values in a page's JSON-LD; scripts that cannot be read are added to the `damaged`."""
    for node in filter(is_json_ld, scripts):
        values = _values(node.text or "")
        yield from values
        if not values and damaged is not None:
            damaged.append(node)


def _values(text: str) -> list[Any]:
    """The value in JSON-LD; none where it cannot be read."""
    with suppress(ValueError, RecursionError):
        return [read_json(text)]
    return []


def read_damaged_documents(scripts: Iterable[_Element]) -> Iterator[Any]:
    """The values in such scripts, as far as they can be told."""
    for node in scripts:
        with suppress(ValueError):
            yield read_damaged_json(node.text or "")


def is_json_ld(script: _Element) -> bool:
    """Whether a SCRIPT says that it holds JSON-LD."""
    return "ld+json" in script.get("type", "").lower()


def is_wrapped(text: str) -> bool:
    """Whether JSON stands in a comment or CDATA of HTML."""
    return _WRAPPING.match(text) is not None


def read_json(text: str) -> Any:
    """The value of JSON, wrapped or not; raises ValueError or RecursionError for other text."""
    wrapped = _WRAPPING.match(text)
    if wrapped:
        return json.JSONDecoder(strict=False).raw_decode(text, wrapped.end())[0]
    return json.loads(text, strict=False)


def read_damaged_json(text: str) -> Any:
    """The object or list of JSON that hands have written, a list of several; raises ValueError.

    There may be a comma or a semicolon too many, signs that need no backslash, values behind the
    first.

    >>> read_damaged_json('{"author": "Ana Lima", "tags": ["a",],}; {"name": "B"}')
    [{'author': 'Ana Lima', 'tags': ['a']}, {'name': 'B'}]
    """
    wrapped = _WRAPPING.match(text)
    text = _STRING_OR_COMMA.sub(_mended, text[wrapped.end() :] if wrapped else text)
    decoder, end = json.JSONDecoder(strict=False), 0
    values: list[Any] = []
    with suppress(ValueError, RecursionError):
        while len(values) < _MOST_VALUES:
            between = _BETWEEN_VALUES.match(text, end)
            value, end = decoder.raw_decode(text, between.end() if between else end)
            values.append(value)
    if not isinstance(next(iter(values), None), (dict, list)):
        raise ValueError("no JSON, not even a damaged one")
    return values[0] if len(values) == 1 else values


def _mended(part: re.Match[str]) -> str:
    """A string without backslashes that JSON does not know; nothing in place of a comma."""
    return "" if part[0] == "," else _ESCAPE.sub(lambda sign: sign[1] or sign[0], part[0])


def own_json(text: str) -> str | None:
    """JSON-LD without reviews and the like: others wrote them, on other days; None if no JSON."""
    is_plain = not is_wrapped(text)
    try:
        value = read_json(text)
    except (ValueError, RecursionError):
        is_plain = False
        try:
            value = read_damaged_json(text)
        except ValueError:
            return None
    return text if is_plain and not _NAMES_OTHERS.search(text) else json.dumps(_own(value, 0))


def _own(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        return {name: _own(part, depth + 1) for name, part in value.items() if name not in OTHERS}
    return [_own(part, depth + 1) for part in value] if isinstance(value, list) else value


def without_long_strings(data: str) -> str:
    """JSON with empty strings in place of long ones.

    >>> without_long_strings('{"author": "Ana \\\\"Sousa", "articleBody": "%s"}' % ("x" * 999))
    '{"author": "Ana \\\\"Sousa", "articleBody": ""}'
    """
    if not _LONG_STRING.search(data):
        return data
    return _STRING.sub(lambda found: found[0] if len(found[0]) <= LONGEST_VALUE else '""', data)


def things(documents: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """All objects in a page's JSON-LD, outer ones first."""
    for value in documents:
        yield from _objects(value, 0, frozenset())


def read_article(documents: Iterable[Any]) -> Article:
    """The first article that stands for itself, not in a list or as part of another one.

    Without one, the question that the page is about.

    >>> author = {"@type": "Person", "name": "Ana Sousa"}
    >>> found = read_article([{"@type": "NewsArticle", "headline": "Fog", "author": [author]}])
    >>> found.headline, found.authors
    ('Fog', ('Ana Sousa',))
    """
    found = [thing for value in documents for thing in _objects(value, 0, _ELSEWHERE)]
    article = next(filter(_is_article, found), None)
    if article is None:
        headed = (thing for thing in found if isinstance(thing.get("headline"), str))
        article = next(chain(headed, _questions(found)), {})
    known: dict[str, dict[str, Any]] = {}
    for thing in found:  # of which some only refer to others
        if isinstance(name := thing.get("@id"), str):
            known.setdefault(name, {}).update(thing)
    authors = _names(article.get("author") or article.get("creator"), known, 0)
    published = article.get("datePublished") or article.get("datePosted")  # the latter of a job
    changes = (read_time(thing.get("dateModified")) for thing in (article, *found))
    return Article(
        headline=plain_line(article.get("headline") or _own_name(article)),
        authors=tuple(dict.fromkeys(authors))[:_MOST_AUTHORS],
        published=read_time(published),
        written=read_written(published),
        modified=next(filter(None, changes), None),
        publisher=next(iter(_names(article.get("publisher"), known, 0)), ""),
        image=_image(article.get("image"), known),
    )


def plain_line(value: object) -> str:
    """A text of metadata without references and line breaks; empty where it is too long for one."""
    text = value if isinstance(value, str) and len(value) <= 4 * LONGEST_VALUE else ""
    line = " ".join(unescape(unescape(text)).split())
    return line if len(line) <= LONGEST_VALUE else ""


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


def _questions(found: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What pages of a question and its answers are about; not the questions that others list."""
    for thing in found:
        if "QAPage" in type_names(thing):
            yield from _objects(thing.get("mainEntity"), 0, _ELSEWHERE)


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
        line = plain_line(value)
        if line[:1] == "<" and line[-1:] == ">":  # HTML
            line = one_line(_TAG.sub(" ", line))
        yield from split_names(line)


def _described(
    thing: Mapping[str, Any], name: str, known: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """An object, or the one elsewhere on the page that it refers to for what it does not say."""
    key = thing.get("@id")
    return thing if name in thing or not isinstance(key, str) else known.get(key, thing)


def _image(value: Any, known: Mapping[str, Mapping[str, Any]], depth: int = 0) -> str:
    """The address of an image, of the first one in a list that has one."""
    if depth > 3:
        return ""
    if isinstance(value, list):
        found = (_image(part, known, depth + 1) for part in value[:_MOST_IMAGES])
        return next(filter(None, found), "")
    if isinstance(value, dict):
        described = _described(value, "url", known)
        return _image(described.get("url") or described.get("contentUrl"), known, depth + 1)
    return value if isinstance(value, str) else ""
