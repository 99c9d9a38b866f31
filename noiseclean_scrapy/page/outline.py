"""The elements around a text block that give it its form: headings, lists, quotes, tables."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from noiseclean_scrapy.page.page import PageTable

HEADINGS = {f"h{level}": level for level in range(1, 7)}
LISTS = {"ul": {"li"}, "menu": {"li"}, "ol": {"li"}, "dl": {"dt", "dd"}}
NUMBERED = "numbered"
"""What an item is whose style shows its number, see `PageTable.roles`."""
_BULLETED = frozenset({"ul", "menu"})
ITEMS = frozenset({"li", "dt", "dd"})
_NESTING = frozenset({"ul", "menu", "ol"})
_LONGEST_HEADING, _MOST_LOOKED_AT = 200, 20  # characters and blocks of those by their role
CELLS = frozenset({"td", "th"})
_TELLING = ITEMS | CELLS | {*HEADINGS, *LISTS}
_TELLING |= {"blockquote", "pre", "textarea", "table", "caption", "tfoot", "tr"}


class Step(NamedTuple):
    """An element above a block. `number` is what a list item shows, of a list how it counts."""

    element: int
    tag: str
    number: int = 0


Path: TypeAlias = Sequence[Step]
"""The elements above a block, the outermost first."""


class Paths:
    """The elements on the way to another one that give a text its form, the outermost first.

    Blocks share what they have in common: deep paths of many blocks would fill the memory.
    """

    def __init__(self, table: PageTable) -> None:
        self._parents, self._tags = table.parents, table.tags
        roles = _roles(table)
        numbers = _item_numbers(table, roles)
        self._steps = {
            element: Step(element, "ul" if tag == "menu" else tag, numbers.get(element, 0))
            for element, tag in enumerate(table.tags)
            if tag in _TELLING
        }
        for element, tag in roles.items():
            if tag == "ol" or element not in self._steps:
                self._steps[element] = Step(element, tag, numbers.get(element, 0))
        self._items = _items_of_lists(table)

    def __call__(self, element: int) -> Path:
        steps = []
        # What MAIN stands in, such as the items of a menu that nothing ends, is around the page.
        while element >= 0 and self._tags[element] != "main":
            if (step := self._steps.get(element)) is not None:
                steps.append(step)
            if (item := self._items.get(element)) is not None:
                steps.append(self._steps[item])
            element = self._parents[element]
        return steps[::-1]


def _items_of_lists(table: PageTable) -> dict[int, int]:
    """The item before each list that stands right in another one: it is shown as a part of it."""
    last: dict[int, int] = {}  # by list
    found: dict[int, int] = {}
    for element, tag in enumerate(table.tags):
        parent = table.parents[element]
        if tag == "li":
            last[parent] = element
        elif tag in _NESTING and parent in last and table.tags[parent] in _NESTING:
            found[element] = last[parent]
    return found


def _roles(table: PageTable) -> dict[int, str]:
    """What elements are to readers, where their tags do not say it: see `PageTable.roles`.

    A list is numbered where all of its items are.
    """
    roles = table.roles
    found = {
        element: role
        for element, role in roles.items()
        if role == "ol" or (role in HEADINGS and _is_one_line(table, element))
    }
    numbered = Counter(table.parents[element] for element in roles if roles[element] == NUMBERED)
    if numbered:
        items = Counter(p for p, tag in zip(table.parents, table.tags, strict=True) if tag == "li")
        lists = (element for element, count in numbered.items() if count == items[element])
        found |= {element: "ol" for element in lists if table.tags[element] in _BULLETED}
    return found


def _is_one_line(table: PageTable, element: int) -> bool:
    """Whether one short text that is no paragraph is all in an element.

    Some pages give comments the role of headings.
    """
    texts: list[str] = []
    first = bisect_left(table.opened, element + 1)
    for block in range(first, min(first + _MOST_LOOKED_AT, len(table.texts))):
        inside = owner = table.owners[block]
        while inside > element:
            inside = table.parents[inside]
        if inside != element or len(texts) > 1:
            break
        if text := table.texts[block]:
            if owner != element and table.tags[owner] == "p":
                return False
            texts.append(text)
    return len(texts) == 1 and len(texts[0]) <= _LONGEST_HEADING


def _item_numbers(table: PageTable, roles: Mapping[int, str]) -> dict[int, int]:
    """What items of numbered lists show: by their places, or as `start` and `value` say.

    Of the lists themselves whether they count up (1) or down (-1).
    """
    ahead: dict[int, int] = {}  # by list, of the items' places
    found: dict[int, int] = {}
    for element, tag in enumerate(table.tags):
        if "ol" in (tag, roles.get(element)):
            start = table.starts.get(element, 1)
            found[element] = -1 if start < 0 else 1
            ahead[element] = abs(start) - found[element]
        elif tag == "li" and (parent := table.parents[element]) in ahead:
            place = found[parent] * table.numbers[element]
            if element in table.starts:
                ahead[parent] = table.starts[element] - place
            found[element] = max(place + ahead[parent], 0)
    return found
