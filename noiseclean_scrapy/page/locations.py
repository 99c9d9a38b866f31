"""Where elements stand: their paths, made when they are asked for.

Those of all blocks of a page, held at once, would take the blocks' number times the page's depth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

_LONGEST_PLACE = 2000
_TO_BRACKET = re.compile(r"([^\[\]]*)([\[\]]?)")
_STEP_NUMBER = re.compile(r"\[\d+\]")


class Elements(Protocol):
    """Elements as columns, see `PageTable`."""

    @property
    def parents(self) -> Sequence[int]: ...
    @property
    def node_tests(self) -> Sequence[str]: ...
    @property
    def numbers(self) -> Sequence[int]: ...
    @property
    def labels(self) -> Sequence[str]: ...


def xpath(elements: Elements, element: int) -> str:
    """Location of an element, as the parser numbers elements."""
    steps = []
    while element >= 0:
        steps.append(f"/{elements.node_tests[element]}[{elements.numbers[element]}]")
        element = elements.parents[element]
    return "".join(reversed(steps))


def place(elements: Elements, element: int) -> str:
    """The labels from BODY down to an element, no more than the last 2,000 characters of them."""
    labels: list[str] = []
    length = 0
    while element >= 0 and length <= _LONGEST_PLACE:
        labels.append(elements.labels[element])
        length += len(labels[-1]) + 1
        element = elements.parents[element]
    return "/".join(reversed(labels))[-_LONGEST_PLACE:]


def steps_of(place: str) -> list[str]:
    """The labels that a place is made of; attributes in them may hold slashes.

    >>> steps_of("body/div[itemprop=http://schema.org/articleBody]/p")
    ['body', 'div[itemprop=http://schema.org/articleBody]', 'p']
    """
    steps = [""]
    for text, bracket in _TO_BRACKET.findall(place):
        first, *others = [text] if bracket == "]" else text.split("/")
        steps[-1] += first
        steps += others
        steps[-1] += bracket
    return steps


def place_of_xpath(path: str) -> str:
    """The tags from BODY down to the element at a path, for blocks whose labels are not known.

    >>> place_of_xpath("/html[1]/body[1]/div[2]/p[1]")
    'body/div/p'
    """
    return _STEP_NUMBER.sub("", path).removeprefix("/html").strip("/")
