"""Charts: the numbers of a survey as coordinates of SVG drawings."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf, sqrt
from statistics import median

from noiseclean_scrapy.report.survey import BINS, Moment
from noiseclean_scrapy.store import TreeVersionRecord

WIDTH = 1000.0
"""Width of every drawing; it is stretched to the window, without its labels and lines."""
COLUMN_HEIGHT = 180.0
NOISE_HEIGHT, FIT_TOP, FIT_HEIGHT = 170.0, 205.0, 60.0
NOISE_TICKS = {"100 %": 0.0, "50 %": NOISE_HEIGHT / 2, "0 %": NOISE_HEIGHT}
FIT_TICKS = {"100 %": FIT_TOP, "0 %": FIT_TOP + FIT_HEIGHT}
LINES = (*NOISE_TICKS.values(), *FIT_TICKS.values())
"""Labels of the two y axes with their y, and the lines through both."""

_TICKS = 6
# Least distances of labels, in the drawing's coordinates: of versions in a wide window, of versions
# and of times in a narrow one.
_WIDE, _NARROW, _NARROW_TIMES = 30.0, 110.0, 320.0
_SMOOTHING = 25
_TIME_FORMS = (
    (timedelta(minutes=10), "%H:%M:%S"),
    (timedelta(hours=24), "%H:%M"),
    (timedelta(days=3), "%b %d, %H:%M"),
    (timedelta(days=200), "%b %d"),
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the histogram: characters with importance from `low` to `high`.

    `left` and `width` are coordinates, `dropped_height` and `kept_height` those of its two parts.
    """

    low: float
    high: float
    dropped: int
    kept: int
    left: float
    width: float
    dropped_height: float
    kept_height: float


@dataclass(frozen=True, slots=True)
class Dot:
    """A page: `x`, and `noise_y` and `fit_y` in their two lanes."""

    x: float
    noise_y: float
    fit_y: float
    moment: Moment


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled place on the x axis; `dense` labels have room in wide windows only."""

    x: float
    label: str
    note: str = ""
    dense: bool = False


@dataclass(frozen=True, slots=True)
class Drift:
    """The course of time: pages in the order in which they came, and what happened meanwhile."""

    dots: list[Dot]
    noise_line: str
    fit_line: str
    ticks: list[Mark]
    versions: list[Mark]


def columns(histogram: Sequence[Sequence[int]]) -> list[Column]:
    """The histogram's columns; the square root of a count is its height, so that few are seen."""
    highest = max(sqrt(dropped + kept) for dropped, kept in histogram) or 1.0
    width = WIDTH / BINS
    found = []
    for index, (dropped, kept) in enumerate(histogram):
        height = COLUMN_HEIGHT * sqrt(dropped + kept) / highest
        share = dropped / (dropped + kept) if dropped + kept else 0.0
        found.append(
            Column(
                index / BINS,
                (index + 1) / BINS,
                dropped,
                kept,
                index * width,
                width,
                height * share,
                height * (1 - share),
            )
        )
    return found


def drift(moments: Sequence[Moment], versions: Sequence[TreeVersionRecord]) -> Drift:
    """Noise and fit of pages in the order of time, smoothed by a running median."""
    step = WIDTH / max(len(moments), 1)
    dots = [
        Dot(
            (index + 0.5) * step,
            NOISE_HEIGHT * (1 - moment.noise),
            FIT_TOP + FIT_HEIGHT * (1 - moment.fit),
            moment,
        )
        for index, moment in enumerate(moments)
    ]
    times = [moment.fetched_at for moment in moments]
    return Drift(
        dots,
        _line([dot.x for dot in dots], _smooth([dot.noise_y for dot in dots])),
        _line([dot.x for dot in dots], _smooth([dot.fit_y for dot in dots])),
        _ticks(times, step),
        _version_marks(times, step, versions),
    )


def _version_marks(
    times: Sequence[datetime], step: float, versions: Sequence[TreeVersionRecord]
) -> list[Mark]:
    """A mark where each version came into use; of several close together the newest is named."""
    places = [bisect(times, version.created_at) * step for version in versions]
    marks = []
    for place, following, version in zip(places, [*places, inf][1:], versions, strict=True):
        room = following - place
        label = f"v{version.version}" if room > _WIDE else ""
        note = f"tree version {version.version} of {version.pages} pages"
        marks.append(Mark(place, label, note, dense=room <= _NARROW))
    return marks


def _smooth(values: Sequence[float]) -> list[float]:
    half = max(2, len(values) // _SMOOTHING // 2)
    return [median(values[max(0, i - half) : i + half + 1]) for i in range(len(values))]


def _line(xs: Sequence[float], ys: Sequence[float]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))


def _ticks(times: Sequence[datetime], step: float) -> list[Mark]:
    if not times:
        return []
    span = times[-1] - times[0]
    form = next((form for longest, form in _TIME_FORMS if span < longest), "%Y-%m-%d")
    marks: dict[str, Mark] = {}
    last = -inf
    ticks = min(_TICKS, len(times))
    for number in range(ticks):
        index = int((number + 0.5) * len(times) / ticks)
        label, x = f"{times[index]:{form}}", (index + 0.5) * step
        if label not in marks:
            marks[label] = Mark(x, label, dense=x - last < _NARROW_TIMES)
            last = last if marks[label].dense else x
    return list(marks.values())
