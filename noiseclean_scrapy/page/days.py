"""Days and times: as machines write them, and as pages show them, in several languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

_LONGEST = 300
_OFFSET = re.compile(r"(:\S*[+-]\d\d)(\d\d)?$")
_BASIC_DAY = re.compile(r"^(\d{4})(\d\d)(\d\d)(?=$|T\d)", re.ASCII)
_BASIC_TIME = re.compile(r"(?<=^\d{4}-\d\d-\d\dT)(\d\d)(\d\d)(\d\d)?(?!\d|:)", re.ASCII)
_ZONE = re.compile(r"(\d)\s*(?:\[[\w/+-]*\]|([A-Z]{2,4}))$")
_ZONES = {"UT": 0, "GMT": 0, "UTC": 0, "WET": 0, "BST": 1, "CET": 1, "MEZ": 1, "CEST": 2}
_ZONES |= {"MESZ": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11}
_ZONES |= {"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}
"""Hours that zones are ahead of UTC, by their names."""
_ZULU = re.compile(r"(?<![A-Z])Z(?=$|\s*\[)")
_MAIL_TIME = re.compile(r"(?:[A-Z][a-z]{2}, ?)?\d{1,2} [A-Z][a-z]{2} \d{4} \d", re.ASCII)
_WRITTEN_DAY = re.compile(
    r"(?:[A-Z][a-z]+, )?(?:[A-Z][a-z]+ \d{1,2}|\d{1,2} [A-Z][a-z]+),? \d{4}", re.ASCII
)
_EPOCH = re.compile(r"(1\d{9})(?:\d{3})?", re.ASCII)  # in seconds or milliseconds, 2001 to 2033
_CLOCK = re.compile(
    r"(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:\s?([ap])\.?m\b\.?)?"
    r"(?:\s?(?:GMT|UTC)?([+-]\d\d):?(\d\d)(?!\d)|\s?([A-Z]{1,4})\b)?",
    re.IGNORECASE | re.ASCII,
)
_LONGEST_TIME = 80
_NUMBER = re.compile(r"\d+")
_HALF_DAY = re.compile(r"\d\s?[AaPp]\.?[Mm]\.?$")
_MONTH = re.compile(r"\d{4}-\d\d", re.ASCII)
_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d{1,6})\d*")
MONTHS = (
    "january february march april may june july august september october november december".split()
)
_DAY = (
    r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})(?![\d.]\d)(?!\d)"
    r"|(?<!\d)(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日号일]"
    r"|(?<![\d.])(\d{1,2})(?:\.|º|er|st|nd|rd|th)?\s(?:(?:de|of)\s)?"
    r"((?:كانون|تشرين)\s\w{5,6}|[^\s\d.,;()/_-]{2,15})[.,،]?\s(?:del?\s)?(\d{4})(?!\d)"
    r"|(?<![\d.])(\d{1,2})\s[Tt]háng\s(\d{1,2}),?\s(?:năm\s)?(\d{4})(?!\d)"
    r"|(?<![\d.])(\d{1,2})\s((?:[\u0e00-\u0e7f]{1,3}\.){2})\s?(\d{4})(?!\d)"
    r"|(?<![\d./-])(\d{1,2})-([A-Za-z]{3,9})-(\d{4})(?![\d/-])"
    r"|(?<![\d.])(\d{4})(?:\.|\sm\.)\s([^\s\d.,;()/_-]{2,15})\.?\s(\d{1,2})(?:\.|\sd\.)"
    r"|(?<![^\W_])([^\W\d_]{3,15})\.?\s(\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})(?!\d)"
)
_DAY_OF_NUMBERS = (
    r"(?<![\d./-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\d/-])"
    r"|(?<![\d./-])(\d{4})/(\d{1,2})/(\d{1,2})(?![\d/-])"
    r"|(?<![\d./-])(\d{4})\.(\d{1,2})\.(\d{1,2})(?![\d/-]|\.\d)"
    r"|(?<![\d./-])(\d{1,2})-(\d{1,2})-(\d{4})(?![\d/-])"
    r"|(?<![\d./-])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/-])"
)
_DAYS = {False: re.compile(_DAY), True: re.compile(f"{_DAY}|{_DAY_OF_NUMBERS}")}
_ARABIC_MONTHS = (
    "كانون الثاني,جانفي|شباط,فيفري|آذار|نيسان,أفريل|أيار,ماي|حزيران,جوان|تموز,جويلية,يوليوز|"
    "آب,أوت,غشت|أيلول,شتنبر|تشرين الأول|تشرين الثاني,نونبر|كانون الأول,دجنبر"
)
"""Those of the Levant and of the Maghreb, which the libraries do not have."""
_BUDDHIST = 543
"""Years that Thailand is ahead."""
_DAY_FIRST = re.compile(r"\d+[/-]\d+[/-]\d{4}")
_LAST_MONTH, _LAST_YEAR = 12, 2400
_MOST_DAYS = 20  # that are looked at in one text
LONGEST_DAY = 20
"""Characters up to the end of a day with which a text begins."""


class ShownDay(NamedTuple):
    """A day as a text shows it, and where it ends there; the month is a number or a name.

    Of one that `may_be_turned` day and month may be the other way round, as in America. One of
    numbers that cannot tells whether the month `is_month_first`.
    """

    year: int
    month: str
    day: int
    end: int
    may_be_turned: bool = False
    is_month_first: bool | None = None

    def ordered(self, *, is_month_first: bool) -> ShownDay:
        """One that may be turned, read as another day tells.

        >>> ShownDay(2026, "2", 3, 0, may_be_turned=True).ordered(is_month_first=True)[:4]
        (2026, '3', 2, 0)
        """
        month, day = self.month, self.day
        if is_month_first:
            month, day = str(day), int(month)
        return self._replace(month=month, day=day, may_be_turned=False)

    def midnight(self, language: str) -> datetime | None:
        """Its begin in UTC, None where the month has no such day, or no such name in a language.

        And where English may mean another day.

        >>> ShownDay(2026, "2", 28, 0).midnight(""), ShownDay(2026, "2", 30, 0).midnight("")
        (datetime.datetime(2026, 2, 28, 0, 0, tzinfo=datetime.timezone.utc), None)
        """
        if self.may_be_turned and language in {"", "en"}:
            return None
        name = self.month.casefold().replace(".", "")  # Thai ones have dots
        month = int(name) if name.isdecimal() else months(language).get(name, 0)
        try:
            return datetime(self.year, month, self.day, tzinfo=timezone.utc)
        except ValueError:
            return None


def read_time(value: object) -> datetime | None:
    """A time as ISO 8601, a header of a mail or a clock has it, aware; without an offset in UTC.

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
    if found := _EPOCH.fullmatch(str(value).strip() if isinstance(value, (str, int)) else ""):
        return datetime.fromtimestamp(int(found[1]), timezone.utc)
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    value = value.strip()
    if _HALF_DAY.search(value):
        return None
    is_day = _WRITTEN_DAY.fullmatch(value)
    # What Python 3.10 does not read: Z, fractions of other lengths, offsets without a colon or
    # minutes, days and times without what parts them.
    text = _BASIC_DAY.sub(r"\1-\2-\3", _ZULU.sub("+00:00", value))
    text = _BASIC_TIME.sub(lambda found: ":".join(filter(None, found.groups())), text)
    text = _FRACTION.sub(lambda found: f".{found[1]:0<6}", text)
    text = _OFFSET.sub(lambda found: f"{found[1]}:{found[2] or '00'}", text)
    # And what no Python reads: names of zones, months.
    text = _ZONE.sub(_with_offset, text) + "-01" * bool(_MONTH.fullmatch(text))
    try:
        if is_day or _MAIL_TIME.match(value):
            # Of the names of zones it knows the American ones alone.
            mail = _ZONE.sub(lambda zone: _with_offset(zone, " {:+03}00"), value)
            time = parsedate_to_datetime(f"{value} 00:00" if is_day else mail)
        else:
            time = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def read_written(value: object) -> datetime | None:
    """A time as people write it, in English words, where it can be read in one way only.

    With halves of a day it is American, and the month comes first.

    >>> read_written("5/3/2024 8:30 PM").isoformat(), read_written("5/3/2024 20:30")
    ('2024-05-03T20:30:00+00:00', None)
    >>> read_written("Fri May 03 2024 08:00:00 GMT+0200 (CEST)").isoformat()
    '2024-05-03T08:00:00+02:00'
    """
    if not isinstance(value, str) or len(value) > _LONGEST_TIME:
        return None
    days = list(shown_days(value))
    if len(days) != 1:
        return None
    day, clock = days[0], _CLOCK.search(value)
    numbers = _NUMBER.findall(_CLOCK.sub(" ", value, count=1))
    if len(numbers) > 2 + day.month.isdecimal():  # there is more than a day and a time
        return None
    hour, minute, second, half, ahead, minutes_ahead, zone = clock.groups("") if clock else [""] * 7
    if half and day.may_be_turned:
        day = day.ordered(is_month_first=True)
    time = day.midnight("en")
    if time is None or not hour:
        return time
    hours = int(hour) % 12 + 12 * (half in {"p", "P"}) if half else int(hour)
    offset = timedelta(hours=_ZONES.get(zone.upper(), 0))
    if ahead:
        offset = timedelta(hours=int(ahead), minutes=int(f"{ahead[0]}{minutes_ahead}"))
    try:
        return time.replace(
            hour=hours, minute=int(minute), second=int(second or 0), tzinfo=timezone(offset)
        )
    except ValueError:
        return time


def _with_offset(zone: re.Match[str], form: str = "{:+03}:00") -> str:
    digit, name = zone.groups()
    if name is None:  # of a zone in brackets, which follows its offset
        return digit
    return digit + form.format(_ZONES[name]) if name in _ZONES else zone[0]


def shown_days(text: str, *, numbers: bool = True) -> Iterator[ShownDay]:
    """The days in a text: 31.1.2026, 2026年1月31日, 31 January 2026, 31 de enero de 2026 and so on.

    Unless without `numbers`, also as 2026-01-31, 2026/1/31, 31/1/2026 or 1/31/2026.

    >>> [day[:3] for day in shown_days("31.1.26, 2026年2月1日; 3 March 2026 (April 5, 2026)")]
    [(2026, '1', 31), (2026, '2', 1), (2026, 'March', 3), (2026, 'April', 5)]
    >>> [day[:3] for day in shown_days("2026-01-31 12:00, 31/1/2026, 1/31/2026")]
    [(2026, '01', 31), (2026, '1', 31), (2026, '1', 31)]
    """
    for found in islice(_DAYS[numbers].finditer(text), _MOST_DAYS):
        first, second, third = filter(None, found.groups())
        is_of_numbers = bool(_DAY_FIRST.fullmatch(found[0]))
        is_month_first = None
        if not first[0].isdecimal():  # a name, which may have other digits, as in CO₂
            first, second = second, first
        elif len(first) == 4:
            first, third = third, first
        elif is_of_numbers and int(second) > _LAST_MONTH:
            first, second = second, first
            is_month_first = True
        elif is_of_numbers and int(first) > _LAST_MONTH:
            is_month_first = False
        may_be_turned = is_of_numbers and int(first) <= _LAST_MONTH and first != second
        year = int(third)
        year -= _BUDDHIST * (year > _LAST_YEAR)
        year += 2000 * (year < 100)
        yield ShownDay(year, second, int(first), found.end(), may_be_turned, is_month_first)


@lru_cache(maxsize=100)
def months(language: str) -> Mapping[str, int]:
    """The months by their names in English, and in a language that the libraries have.

    >>> months("en")["december"], months("en")["sept"]
    (12, 9)
    """
    numbered = list(enumerate(MONTHS, 1))
    found = {name: number for number, month in numbered for name in (month, month[:3])}
    found["sept"] = found["sep"]
    try:
        from dateparser.languages.loader import default_loader

        names = default_loader.get_locale({"no": "nb"}.get(language, language)).info
    except (ImportError, ValueError):
        return found
    for number, month in numbered:
        found.update((name.casefold(), number) for name in names.get(month, ()))
    if language == "ar":
        for number, others in enumerate(_ARABIC_MONTHS.split("|"), 1):
            found.update(dict.fromkeys(others.split(","), number))
    return found
