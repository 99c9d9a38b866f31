"""The solar calendar of Iran and Afghanistan, whose years begin at the equinox of March."""

from __future__ import annotations

from datetime import date, timedelta

YEARS = range(1300, 1501)
"""Of 1921 to 2122, in which leap years come by the rule of 33 years."""
LANGUAGES = frozenset({"fa", "ps"})
_MONTHS = (
    ("فروردین", "حمل"),
    ("اردیبهشت", "ثور"),
    ("خرداد", "جوزا"),
    ("تیر", "سرطان"),
    ("مرداد", "امرداد", "اسد"),
    ("شهریور", "سنبله"),
    ("مهر", "میزان"),
    ("آبان", "ابان", "عقرب"),
    ("آذر", "اذر", "قوس"),
    ("دی", "جدی"),
    ("بهمن", "دلو"),
    ("اسفند", "حوت"),
)
"""By their names in Iran, and last in Afghanistan."""
_NUMBERS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
PERSIAN_LETTERS = str.maketrans("يىك", "ییک", "\u200c")
"""Those of Persian in place of Arabic ones that look like them, and nothing to keep them apart."""
_MONTH_WORD = "ماه"
_LONG_MONTHS, _LONG, _SHORT = 6, 31, 30  # the first six have 31 days
_FIRST_DAY = date(1921, 3, 21)  # of 1300


def month_number(name: str) -> int:
    """The number of a month, 0 where a name is none; the word for "month" may stand behind it.

    >>> month_number("اسفند"), month_number("اسفندماه"), month_number("حوت"), month_number("May")
    (12, 12, 12, 0)
    """
    plain = name.translate(PERSIAN_LETTERS)
    return _NUMBERS.get(plain) or _NUMBERS.get(plain.removesuffix(_MONTH_WORD), 0)


def common_day(year: int, month: int, day: int) -> date:
    """The day in the common calendar; raises ValueError where the month has no such day.

    >>> common_day(1403, 1, 1).isoformat(), common_day(1399, 12, 30).isoformat()
    ('2024-03-20', '2021-03-20')
    """
    length = _LONG if month <= _LONG_MONTHS else _SHORT
    if month == len(_MONTHS):
        length -= not _is_leap(year)
    if year not in YEARS or not 1 <= month <= len(_MONTHS) or not 1 <= day <= length:
        raise ValueError(f"no day of the solar calendar: {year}-{month}-{day}")
    leap_days = sum(map(_is_leap, range(YEARS.start, year)))
    months = _SHORT * (month - 1) + min(month - 1, _LONG_MONTHS)
    return _FIRST_DAY + timedelta(365 * (year - YEARS.start) + leap_days + months + day - 1)


def _is_leap(year: int) -> bool:
    return (25 * year + 11) % 33 < 8
