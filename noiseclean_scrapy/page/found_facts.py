"""What libraries find of a page's author and day where it does not tell them plainly."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from copy import deepcopy
from datetime import datetime, timezone
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.page.authors import as_shown, named_authors, without_by
from noiseclean_scrapy.page.days import NOT_DAY_FIRST, shown_days
from noiseclean_scrapy.page.facts import LONGEST_LINE, text_of
from noiseclean_scrapy.page.logs import get_logger

if TYPE_CHECKING:
    from lxml.etree import _Element

logger = get_logger(__name__)

META_NAMES = ("name", "property", "itemprop", "http-equiv")
"""The attributes in which META says what its content is."""
TELLS_CHANGE = re.compile("modif|updated")
EARLIEST = datetime(1990, 1, 1, tzinfo=timezone.utc)
"""No page is older."""
_DATE_FORMAT = "%Y-%m-%dT%H:%M:%S%z"
_OTHER_TIME = re.compile(
    r'"(?!date(?:Published|Created|Posted)"|uploadDate")\w+"\s*:\s*"\d{4}-\d\d[^"\\]*"'
)


def found_author_and_date(
    facts: _Element, url: str, latest: datetime, language: str
) -> tuple[str, datetime | None]:
    """The author and the day that the libraries find; nothing without them.

    A day that they may have misread is none.
    """
    read_document = document_reader()
    if read_document is None:
        return "", None
    dates = {
        "original_date": True,
        "extensive_search": False,
        "outputformat": _DATE_FORMAT,
        "deferred_url_extractor": True,  # META has the time of day, a URL at most the day
        "min_date": EARLIEST.date().isoformat(),
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
    names = (without_by(name.strip()) for name in (found.author or "").split(";"))
    author = as_shown(named_authors("; ".join(names)), partial(_told_of_authors, facts))
    date = _date(found.date, latest)
    return author, None if date and _may_be_misread(facts, url, date, language) else date


def _without_changes(facts: _Element) -> _Element:
    """Facts without what libraries take for the day of publication: that of the last change.

    And any other in JSON-LD, as that of an event. A copy where META or JSON-LD tells of one.

    >>> from lxml.html import document_fromstring
    >>> head = '<meta name=author content=A><meta name=last-modified content=2024-05-03>'
    >>> [node.get("name") for node in _without_changes(document_fromstring(head)).iter("meta")]
    ['author']
    """
    scripts = (script.text or "" for script in facts.iterfind("head/script"))
    is_told = any(map(_OTHER_TIME.search, scripts))
    if not is_told and not any(map(_tells_change, facts.iterfind("head/meta"))):
        return facts
    copy = deepcopy(facts)
    for script in copy.iterfind("head/script"):
        script.text = _OTHER_TIME.sub('"other": ""', script.text or "")
    for head in copy.iterfind("head"):
        for node in filter(_tells_change, head.findall("meta")):
            head.remove(node)
    return copy


def _tells_change(meta: _Element) -> bool:
    return any(TELLS_CHANGE.search(meta.get(name, "").lower()) for name in META_NAMES)


def _told_of_authors(facts: _Element) -> str:
    """What META says of the author, and the text of what tells of author or date."""
    stated = (node.get("content", "") for node in facts.iter("meta") if is_author(node))
    return " ".join((*stated, *map(text_of, facts.iterfind("body"))))


def is_author(node: _Element) -> bool:
    """Whether a META says that it names the author."""
    return "author" in {node.get(name, "").lower() for name in ("name", "property")}


def _may_be_misread(facts: _Element, url: str, found: datetime, language: str) -> bool:
    """Whether a day was read from numbers that say another one, and from nothing else.

    Libraries take the day first, which America and, with a year of two digits, others do not.
    """
    if language not in NOT_DAY_FIRST:
        return False
    values = [str(v) for node in facts.iter() for v in (*node.values(), node.text or "")]
    values.append(url)
    if any(found.strftime(form) in value for value in values for form in ("%Y-%m-%d", "%Y/%m/%d")):
        return False
    ours = found.year, found.month, found.day
    return any(
        (day.year, int(day.month), day.day) == ours
        for value in values
        if len(value) <= LONGEST_LINE
        for day in shown_days(value)
        if day.is_doubtful(language)
    )


def _date(found: str | None, latest: datetime) -> datetime | None:
    try:
        date = datetime.strptime(found or "", _DATE_FORMAT)
    except ValueError:
        try:
            date = datetime.strptime(found or "", _DATE_FORMAT.removesuffix("%z"))
        except ValueError:
            return None
        date = date.replace(tzinfo=timezone.utc)
    return date if EARLIEST <= date <= latest else None


@cache
def document_reader() -> Callable[..., Any] | None:
    """What the extra `metadata` brings: it takes longer to import than all else of this package."""
    try:
        from trafilatura.metadata import extract_metadata as read_document
    except ImportError:
        return None
    reader: Callable[..., Any] = read_document
    return reader
