"""Two texts beside each other: the lines that differ, and those next to them on both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from noiseclean_scrapy.page.characters import shortened

_LINES, _LINE = 40, 400
"""Lines of a text that are shown at most, and characters of a line."""
_UNCHANGED = 3

_Numbered: TypeAlias = Sequence[tuple[str, "int | None"]]
"""Lines with their numbers among those that both texts have; None for one that changed."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text; `is_changed` tells that the other text has no such line."""

    text: str
    is_changed: bool


def beside(
    old: Sequence[str], new: Sequence[str], gone: Counter[str], come: Counter[str]
) -> tuple[list[Line], list[Line]]:
    """What is shown of two texts; `gone` and `come` count the lines that one of them alone has.

    What is left out between the lines, and behind the last ones, is told by "…".

    >>> before, after = beside(["a", "b", "c", "d"], ["a", "c", "d"], Counter("b"), Counter())
    >>> [line.text for line in before], [line.text for line in after]
    (['a', 'b', 'c', '…'], ['a', 'c', '…'])
    """
    sides = (_numbered(old, gone), _numbered(new, come))
    near = set().union(*map(_near, sides)) or set(range(_UNCHANGED))  # only the titles differ
    end = min(_end(side, near) for side in sides)
    before, after = (list(_shown(side, near, end)) for side in sides)
    return before, after


def _numbered(lines: Sequence[str], changed: Counter[str]) -> _Numbered:
    left, same = changed.copy(), count()
    found: list[tuple[str, int | None]] = []
    for text in lines:
        found.append((text, None if left[text] > 0 else next(same)))
        left[text] -= 1
    return found


def _near(side: _Numbered) -> Iterator[int]:
    """The numbers of the lines next to one that changed."""
    for index, (_, number) in enumerate(side):
        around = side[max(index - 1, 0) : index + 2]
        if number is not None and any(other is None for _, other in around):
            yield number


def _end(side: _Numbered, near: Collection[int]) -> int:
    """The number of the last line that both texts have and that is shown, as far as there is room.

    The other text is shown no further.
    """
    shown = [number for _, number in side if number is None or number in near]
    if len(shown) <= _LINES:
        return len(side)
    return max((number for number in shown[:_LINES] if number is not None), default=-1)


def _shown(side: _Numbered, near: Collection[int], end: int) -> Iterator[Line]:
    chosen = (
        index
        for index, (_, number) in enumerate(side)
        if number is None or (number in near and number <= end)
    )
    last = -1
    for index in list(chosen)[:_LINES]:
        text, number = side[index]
        if index > last + 1:
            yield Line("…", False)
        yield Line(shortened(text, _LINE), number is None)
        last = index
    if last + 1 < len(side):
        yield Line("…", False)
