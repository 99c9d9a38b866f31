"""Days and times: as machines write them, and as pages show them, in several languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from noiseclean_scrapy.page import solar_calendar

_LONGEST = 300
_OFFSET = re.compile(r"(:\S*[+-]\d\d)(\d\d)?$")
_LATE_YEAR = re.compile(r"^2[4-9]\d\d(?=-)", re.ASCII)
_SOLAR_DAY = re.compile(r"^(1[34]\d\d)-(\d\d)-(\d\d)(?!\d)", re.ASCII)
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
_MONTH_NAME = r"(?:كانون|تشرين)\s\w{5,6}|[^\s\d.,،;()/_-]{2,15}"
_SIGNS = r"\u0900-\u0963\u0970-\u0dff"  # vowel signs of India's scripts, which are no letters
_LETTER = rf"(?:[^\W\d_]|(?!\d)[{_SIGNS}])"
_ERAS = {"令和": 2018, "平成": 1988, "民國": 1911, "民国": 1911}
"""Years before the first ones of Japan's eras, and of Taiwan's."""
_SLASH = r"[\u200e\u200f\u061c]?[/／]"  # Arabic has marks of direction there
_WRITTEN_DAYS = (
    ("dmy", r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{2})(?![\d.]\d)(?!\d)"),
    ("dmy", r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?![\d.]\d)(?!\d)"),
    (
        "ymd",
        rf"(?<!\d)(\d{{4}}|(?:{'|'.join(_ERAS)})\s?(?:\d{{1,3}}|元))"
        r"\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日号일]",
    ),
    (
        "dmy",
        r"(?<![\d.])(\d{1,2})(?:-|(?:\.|º|er|st|nd|rd|th)?\s(?:(?:de|of)\s)?)"
        rf"({_MONTH_NAME})(?:/(?:{_MONTH_NAME}))?[.,،]?\s(?:(?:del?|พ\.ศ\.|ماه)\s)?(\d{{4}})(?!\d)",
    ),
    ("dmy", r"(?<![\d.])(\d{1,2})\s[Tt]háng\s(\d{1,2}),?\s(?:năm\s)?(\d{4})(?!\d)"),
    ("dmy", r"(?<![\d.])(\d{1,2})\s((?:[\u0e00-\u0e7f]{1,3}\.){2})\s?(\d{4})(?!\d)"),
    ("dmy", r"(?<![\d./-])(\d{1,2})-([A-Za-z]{3,9})-(\d{4})(?![\d/-])"),
    ("ydm", rf"(?<![\d.])(\d{{4}})\.\s?gada\s(\d{{1,2}})\.\s({_LETTER}{{3,15}})"),
    (
        "ymd",
        r"(?<![\d.])(\d{4})(?:\.|\sm\.)\s([^\s\d.,;()/_-]{2,15})\.?\s(\d{1,2})(?:\.|\sd\.)",
    ),
    (
        "mdy",
        rf"(?<![^\W_])(?<![{_SIGNS}])({_LETTER}{{3,15}})\.?\s(\d{{1,2}})(?:st|nd|rd|th)?[,،]?\s(\d{{4}})(?!\d)",
    ),
)
_DAYS_OF_NUMBERS = (
    ("ymd", r"(?<![\d./-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\d/-])"),
    ("ymd", rf"(?<![\d./-])(\d{{4}}){_SLASH}(\d{{1,2}}){_SLASH}(\d{{1,2}})(?![\d/-])"),
    ("ymd", r"(?<![\d./-])(\d{4})\.\s?(\d{1,2})\.\s?(\d{1,2})(?![\d/-]|\.\d)"),
    ("d?m?y", r"(?<![\d./-])(\d{1,2})-(\d{1,2})-(\d{4})(?![\d/-])"),
    ("d?m?y", rf"(?<![\d./-])(\d{{1,2}}){_SLASH}(\d{{1,2}}){_SLASH}(\d{{4}})(?![\d/-])"),
)
"""How days are written, and the order of the three groups of each; two of numbers may be turned."""
_FORMS = {False: _WRITTEN_DAYS, True: _WRITTEN_DAYS + _DAYS_OF_NUMBERS}
_DAYS = {
    numbers: re.compile("|".join(form for _, form in forms)) for numbers, forms in _FORMS.items()
}
_OTHER_MONTHS = {
    "ar": "كانون الثاني,جانفي|شباط,فيفري|آذار|نيسان,أفريل|أيار,ماي|حزيران,جوان|تموز,جويلية,يوليوز|"
    "آب,أوت,غشت|أيلول,شتنبر|تشرين الأول|تشرين الثاني,نونبر|كانون الأول,دجنبر",
    "lv": "janvārī|februārī|martā|aprīlī|maijā|jūnijā|jūlijā|augustā|septembrī|oktobrī|novembrī|"
    "decembrī",
}
"""Those of the Levant and of the Maghreb, and of "on", which the libraries do not have."""
_BUDDHIST = 543
"""Years that Thailand is ahead."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_AS_IN_AMERICA = frozenset({"", "en"})
_YEAR_FIRST = frozenset({"hu", "ja", "ko", "zh"})  # also a year of two digits
NOT_DAY_FIRST = _AS_IN_AMERICA | _YEAR_FIRST
"""Languages in which numbers may mean another day than most read in them."""
_LAST_MONTH, _LAST_YEAR = 12, 2400
_MOST_DAYS = 20  # that are looked at in one text
_BEFORE_NUMBER = 20  # more characters than the name of a month, with which a day may begin
LONGEST_DAY = 20
"""Characters up to the end of a day with which a text begins."""


class ShownDay(NamedTuple):
    """A day as a text shows it, and where it ends there; the month is a number or a name.

    Of one that `may_be_turned` day and month may be the other way round, as in America. One of
    numbers that cannot tells whether the month `is_month_first`. Where the year `is_short`, it
    stands first in some languages.
    """

    year: int
    month: str
    day: int
    end: int
    may_be_turned: bool = False
    is_month_first: bool | None = None
    is_short: bool = False

    def ordered(self, *, is_month_first: bool) -> ShownDay:
        """One that may be turned, read as another day tells.

        >>> ShownDay(2026, "2", 3, 0, may_be_turned=True).ordered(is_month_first=True)[:4]
        (2026, '3', 2, 0)
        """
        month, day = self.month, self.day
        if is_month_first:
            month, day = str(day), int(month)
        return self._replace(month=month, day=day, may_be_turned=False)

    def is_doubtful(self, language: str) -> bool:
        """Whether a language may mean another day by the same numbers."""
        is_american = self.may_be_turned and language in _AS_IN_AMERICA
        return is_american or (self.is_short and language in _YEAR_FIRST)

    def midnight(self, language: str) -> datetime | None:
        """Its begin in UTC, None where the month has no such day, or no such name in a language.

        And where English may mean another day.

        >>> ShownDay(2026, "2", 28, 0).midnight(""), ShownDay(2026, "2", 30, 0).midnight("")
        (datetime.datetime(2026, 2, 28, 0, 0, tzinfo=datetime.timezone.utc), None)
        """
        year, day = self.year, self.day
        if self.is_doubtful(language):
            if self.may_be_turned:
                return None
            year, day = 2000 + day, year % 100
        name = self.month.casefold().replace(".", "")  # Thai ones have dots
        is_solar = year in solar_calendar.YEARS and language in solar_calendar.LANGUAGES
        if name.isdecimal():
            month = int(name)
        elif is_solar:
            month = solar_calendar.month_number(name)
        else:
            month = _month_number(name, language)
        try:
            if is_solar:
                year, month, day = solar_calendar.common_day(year, month, day).timetuple()[:3]
            return datetime(year, month, day, tzinfo=timezone.utc)
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
    >>> read_time("2567-02-29T08:00:00+07:00").isoformat()  # of Thailand
    '2024-02-29T08:00:00+07:00'
    >>> read_time("1403-02-31T08:00:00+03:30").isoformat()  # of Iran
    '2024-05-20T08:00:00+03:30'
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
    text = _LATE_YEAR.sub(lambda found: str(_year(found[0])), text)
    text = _SOLAR_DAY.sub(_in_common_years, text)
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
    >>> read_written("5.3.2024 20:30").isoformat(), read_written("5.3.24")
    ('2024-03-05T20:30:00+00:00', None)
    >>> read_written("Fri May 03 2024 08:00:00 GMT+0200 (CEST)").isoformat()
    '2024-05-03T08:00:00+02:00'
    """
    if not isinstance(value, str) or len(value) > _LONGEST_TIME:
        return None
    days = list(shown_days(value))
    if len(days) != 1 or days[0].is_short:
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


def _in_common_years(day: re.Match[str]) -> str:
    """A day of Iran's calendar, whose years no page of the common one is as old as."""
    try:
        return solar_calendar.common_day(*map(int, day.groups())).isoformat()
    except ValueError:
        return day[0]


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
    number = _NUMBER.search(text)
    if number is None:
        return
    start = max(0, number.start() - _BEFORE_NUMBER)
    for found in islice(_DAYS[numbers].finditer(text, start), _MOST_DAYS):
        form = (found.lastindex or 0) // 3 - 1  # each form has three groups
        order = _FORMS[numbers][form][0]
        parts = dict(zip(order.replace("?", ""), filter(None, found.groups()), strict=True))
        year, month, day = _year(parts["y"]), parts["m"], int(parts["d"])
        is_month_first = None
        may_be_turned = False
        if "?" in order:
            if int(month) > _LAST_MONTH:
                month, day = str(day), int(month)
                is_month_first = True
            elif day > _LAST_MONTH:
                is_month_first = False
            may_be_turned = day <= _LAST_MONTH and int(month) != day
        is_short = len(parts["y"]) == 2
        yield ShownDay(year, month, day, found.end(), may_be_turned, is_month_first, is_short)


def _year(text: str) -> int:
    """A year of two or four digits, of an era or of Thailand.

    >>> _year("26"), _year("2569"), _year("令和8"), _year("2026")
    (2026, 2026, 2026, 2026)
    """
    if text[:2] in _ERAS:
        return _ERAS[text[:2]] + int(text[2:].replace("元", "1"))
    year = int(text)
    return year - _BUDDHIST * (year > _LAST_YEAR) + 2000 * (year < 100)


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
    if language in _OTHER_MONTHS:
        for number, others in enumerate(_OTHER_MONTHS[language].split("|"), 1):
            found.update(dict.fromkeys(others.split(","), number))
    for name, number in list(found.items()):
        found.setdefault(_bare(name), number)
    return found


def _month_number(name: str, language: str) -> int:
    known = months(language)
    return known.get(name) or known.get(_bare(name), 0)


def _bare(name: str) -> str:
    """A name in small letters without accents and Turkish dots, which its capitals may lack.

    Persian letters stand for Arabic ones.

    >>> _bare("νοεμβρίου"), _bare("EKİM".casefold()), _bare("kasım")
    ('νοεμβριου', 'ekim', 'kasim')
    """
    letters = unicodedata.normalize("NFD", name).replace("ı", "i")
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", letters))
    return bare.translate(solar_calendar.PERSIAN_LETTERS)
