"""Tables that are tabular, and where their cells stand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from noiseclean_scrapy.page.inline import Inline
from noiseclean_scrapy.page.outline import CELLS, HEADINGS, LISTS, Path
from noiseclean_scrapy.page.page import PageTable

_NOT_IN_CELLS = frozenset({*HEADINGS, *LISTS, "blockquote", "pre", "table"})
_LINES = frozenset({*LISTS, "pre"})
"""What may stand in cells of tables with headers: each item is a line of its cell."""
_WIDEST = 50
_MOST_EMPTY, _FEW_CELLS = 4, 1000
"""A table has at most so many places for each cell, and some more: the others would be empty."""

Grid: TypeAlias = "dict[int, tuple[int, int]]"
"""The row of each cell, and its column."""


class Cell(NamedTuple):
    """A cell of a table, with the contents of its blocks."""

    contents: Sequence[Inline] = ()
    is_header: bool = False


def is_caption(steps: Path) -> bool:
    return bool(steps) and steps[-1].tag == "caption"


def grids(paths: Sequence[Path], table: PageTable) -> dict[int, Grid]:
    """The cells of tables of short rows and columns.

    What other tables hold is laid out in them, not tabular. `paths` are those of what is kept: of
    a table that may be a part.
    """
    cells: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    others: set[int] = set()
    headed = {
        step.element for steps in paths if any(step.tag == "th" for step in steps) for step in steps
    }
    for steps in paths:
        tables = [index for index, step in enumerate(steps) if step.tag == "table"]
        others.update(steps[index].element for index in tables[:-1])  # they hold a table
        for index in tables[-1:] if not is_caption(steps) else ():
            below = steps[index + 1 :]
            cell = [step.element for step in below if step.tag in CELLS]
            row = [step.element for step in below if step.tag == "tr"]
            unfit = _NOT_IN_CELLS - (_LINES if steps[index].element in headed else set())
            is_laid_out = any(step.tag in unfit for step in below)
            if is_laid_out or len(cell) != 1 or [table.parents[cell[0]]] != row:
                others.add(steps[index].element)
            else:
                cells[steps[index].element][row[0]].add(cell[0])
    found = {
        element: (_grid(table, element), list(map(len, rows.values())))
        for element, rows in cells.items()
        if element not in others
    }
    return {element: grid for element, (grid, kept) in found.items() if _is_tabular(grid, kept)}


def _is_tabular(grid: Grid, kept: Sequence[int]) -> bool:
    """Whether two rows have two cells: of those that are kept, or of all where most are kept.

    `kept` are how many are kept of the rows that have any; one of them has two in any case.
    """
    of_rows = Counter(row for row, _ in grid.values()).values()
    rows = of_rows if 2 * sum(kept) > len(grid) else kept
    return bool(grid) and max(kept) > 1 and sum(cells > 1 for cells in rows) > 1


def _grid(table: PageTable, element: int) -> Grid:
    """Row and column of each cell of a table, as HTML lays them out.

    Empty for one that is too wide, or mostly has no cells.
    """
    grid: Grid = {}
    taken: list[int] = []  # of each column, the first row that is free
    row, place, column = -1, -1, 0
    for cell in range(element + 1, len(table.tags)):
        parent = table.parents[cell]
        if parent < element:
            break  # what is in an element follows it
        if table.tags[cell] not in CELLS or table.tags[parent] != "tr":
            continue
        if parent != row:
            if _table_of(table, parent) != element:
                continue  # of a table in a cell
            row, place, column = parent, place + 1, 0
        while column < len(taken) and taken[column] > place:
            column += 1
        grid[cell] = (row, column)
        width, height = table.spans.get(cell, (1, 1))
        if column + width > _WIDEST:
            return {}
        taken += [0] * (column + width - len(taken))
        taken[column : column + width] = [place + height] * width
        column += width
    places = (place + 1) * (1 + max((column for _, column in grid.values()), default=0))
    return grid if places <= _MOST_EMPTY * len(grid) + _FEW_CELLS else {}


def _table_of(table: PageTable, element: int) -> int:
    while element >= 0 and table.tags[element] != "table":
        element = table.parents[element]
    return element


def rows_of(members: Iterable[tuple[Inline, Path]], grid: Grid) -> tuple[tuple[Cell, ...], ...]:
    """The rows of a table, from the contents of its blocks and the ways to them.

    Those of TFOOT are the last ones, wherever they stand.
    """
    rows: defaultdict[int, dict[int, Cell]] = defaultdict(dict)
    last: set[int] = set()
    for content, steps in members:
        cell = next(step for step in reversed(steps) if step.tag in CELLS)
        row, column = grid[cell.element]
        if _is_footer(steps):
            last.add(row)
        before = rows[row].get(column, Cell())
        rows[row][column] = Cell((*before.contents, content), cell.tag == "th")
    width = max(max(row) for row in rows.values()) + 1
    ordered = sorted(rows, key=last.__contains__)
    return tuple(tuple(rows[row].get(column, Cell()) for column in range(width)) for row in ordered)


def _is_footer(steps: Path) -> bool:
    """Whether a cell stands in the footer of the innermost table."""
    inside = takewhile(lambda step: step.tag != "table", reversed(steps))
    return any(step.tag == "tfoot" for step in inside)
