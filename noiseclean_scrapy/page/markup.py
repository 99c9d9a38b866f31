"""Text blocks to plain HTML and to Markdown: headings, lists, quotes, code and tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, takewhile, zip_longest
from typing import NamedTuple, TypeAlias

from noiseclean_scrapy.page.inline import Inline, MarkupOptions
from noiseclean_scrapy.page.inline_markdown import inline_markdown
from noiseclean_scrapy.page.page import PageTable

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = {"ul": {"li"}, "ol": {"li"}, "dl": {"dt", "dd"}}
_ITEMS = frozenset({"li", "dt", "dd"})
_CELLS = frozenset({"td", "th"})
_NOT_IN_CELLS = frozenset({*_HEADINGS, *_LISTS, "blockquote", "pre", "table"})
_LINES = frozenset({*_LISTS, "pre"})
"""What may stand in cells of tables with headers: each item is a line of its cell."""
_SIGNS = {"ul": ("-", "*"), "ol": (".", ")")}
_TELLING = _ITEMS | _CELLS | _NOT_IN_CELLS | {"textarea", "caption", "tr"}
_DEEPEST = 12
_WIDEST = 50
_MOST_INDENTED = 200_000
"""Lines of one part, times its containers, from which on it stands in none: each indents all."""


class Source(NamedTuple):
    """A text block: its content and the number of its element."""

    content: Inline
    element: int


class _Step(NamedTuple):
    """An element above a block. `number` is what a list item shows."""

    element: int
    tag: str
    number: int = 0


_Path: TypeAlias = Sequence[_Step]
_Grid: TypeAlias = "dict[int, tuple[int, int]]"  # the row of each cell, and its column


class _Cell(NamedTuple):
    """A cell of a table, with the contents of its blocks."""

    contents: Sequence[Inline] = ()
    is_header: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """What is written at once: a paragraph, a heading, lines of code, or the rows of a table.

    `containers` are the quotes, lists and list items around it. `rows` are those of a table, each
    part of any other has a row of its own.
    """

    tag: str
    containers: tuple[_Step, ...]
    rows: tuple[tuple[_Cell, ...], ...]

    @property
    def lines(self) -> str:
        """All of what is no table as plain text."""
        return "\n".join(content.plain for (cell,) in self.rows for content in cell.contents)

    @property
    def content(self) -> Inline:
        """The content of a paragraph or heading."""
        return self.rows[0][0].contents[0]


def to_html(blocks: Iterable[Source], table: PageTable, options: MarkupOptions) -> str:
    """HTML in which nothing is active.

    It has no attributes but addresses, the texts of pictures, and where lists begin. `table` has
    the elements.

    >>> from noiseclean_scrapy import SiteCleaner
    >>> page = SiteCleaner().clean("<h1>Tea</h1><ol><li>Boil <b>water</b></li><li>Wait</li></ol>")
    >>> print(page.html)
    <h1>Tea</h1>
    <ol>
    <li>Boil <strong>water</strong></li>
    <li>Wait</li>
    </ol>
    """
    pieces: list[str] = []
    stack: Sequence[_Step] = ()
    for part in _parts(blocks, table):
        opened = _common(stack, part.containers)
        pieces += _close(stack[opened:])
        new = part.containers[opened:]
        pieces += _open(new)
        begins_item = bool(new) and new[-1].tag in _ITEMS and part.tag == "p"
        pieces.append(part.content.html(options) if begins_item else _element(part, options))
        stack = part.containers
    return "".join([*pieces, *_close(stack)]).rstrip("\n")


def to_markdown(blocks: Iterable[Source], table: PageTable, options: MarkupOptions) -> str:
    r"""Markdown as CommonMark defines it, tables and what is struck out as GitHub does.

    All text is escaped.

    >>> from noiseclean_scrapy import SiteCleaner
    >>> page = SiteCleaner().clean("<h1>Tea</h1><ol><li>Boil *water*</li><li>Wait</li></ol>")
    >>> print(page.markdown)
    # Tea
    <BLANKLINE>
    1. Boil \*water\*
    2. Wait
    """
    lines: list[str] = []
    stack: Sequence[_Step] = ()
    signs: list[str] = []
    for part in _parts(blocks, table):
        containers, written = part.containers, _markdown_lines(part, options)
        if len(written) * len(containers) > _MOST_INDENTED:
            containers = ()
        opened = _common(stack, containers)
        signs = _signs(stack, signs, containers, opened)
        around = _indent(signs[:opened])
        if lines and not _is_next_item(stack, containers, opened):
            lines.append(around.rstrip())
        first = around + "".join(sign for sign in signs[opened:] if len(sign) > 1)
        for line in written:
            lines.append((first + line).rstrip())
            first = _indent(signs)
        stack = containers
    return "\n".join(lines)


# From blocks to parts


def _parts(blocks: Iterable[Source], table: PageTable) -> Iterator[_Part]:
    path = _Paths(table)
    placed = [(block, path(block.element)) for block in blocks]
    grids = _grids(placed, table)
    numbered = enumerate(placed)

    def unit(entry: tuple[int, tuple[Source, _Path]]) -> int:
        number, (_, steps) = entry
        wholes = {} if _is_caption(steps) else grids
        whole = (s.element for s in steps if s.tag == "pre" or s.element in wholes)
        return next(whole, ~number)

    for element, group in groupby(numbered, unit):
        members = [entry for _, entry in group]
        block, steps = members[0]
        if element in grids:
            yield _Part("table", _containers(steps, element), _rows(members, grids[element]))
        else:
            tags = {table.tags[block.element], *(step.tag for step in steps)}
            tag = next((tag for tag in ("pre", *_HEADINGS) if tag in tags), "p")
            tag = "pre" if block.content.is_verbatim else tag
            lines = tuple((_Cell((block.content,)),) for block, _ in members)
            yield _Part(tag, _containers(steps, element), lines)


class _Paths:
    """The elements on the way to another one that give a text its form, the outermost first.

    Blocks share what they have in common: deep paths of many blocks would fill the memory.
    """

    def __init__(self, table: PageTable) -> None:
        self._table = table
        self._numbers = _item_numbers(table)
        self._known: dict[int, _Step] = {}

    def __call__(self, element: int) -> _Path:
        steps = []
        while element >= 0:
            if self._table.tags[element] in _TELLING:
                steps.append(self._known.setdefault(element, self._step(element)))
            element = self._table.parents[element]
        return steps[::-1]

    def _step(self, element: int) -> _Step:
        return _Step(element, self._table.tags[element], self._numbers.get(element, 0))


def _item_numbers(table: PageTable) -> dict[int, int]:
    """What items of numbered lists show: by their places, or as `start` and `value` say."""
    ahead: dict[int, int] = {}  # by list, of the items' places
    found: dict[int, int] = {}
    for element, tag in enumerate(table.tags):
        if tag == "ol":
            ahead[element] = table.starts.get(element, 1) - 1
        elif tag == "li" and (parent := table.parents[element]) in ahead:
            number = table.numbers[element]
            if element in table.starts:
                ahead[parent] = table.starts[element] - number
            found[element] = number + ahead[parent]
    return found


def _containers(steps: Iterable[_Step], end: int) -> tuple[_Step, ...]:
    """The quotes, lists and items above `end`; an item counts where it stands in a list."""
    found: list[_Step] = []
    above: _Step | None = None
    for step in steps:
        if step.element == end:
            break
        if above is not None and {above.tag, step.tag} <= {"dt", "dd"} and found:
            found[-1] = step  # the one above has no end tag
        elif above is not None and step.tag in _LISTS.get(above.tag, ()):
            found += [above, step]
        elif step.tag == "blockquote":
            found.append(step)
        above = step
    return tuple(found[:_DEEPEST])


def _is_caption(steps: _Path) -> bool:
    return bool(steps) and steps[-1].tag == "caption"


def _grids(placed: Sequence[tuple[Source, _Path]], table: PageTable) -> dict[int, _Grid]:
    """The cells of tables of short rows and columns.

    What other tables hold is laid out in them, not tabular.
    """
    cells: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    others: set[int] = set()
    headed = {
        step.element
        for _, steps in placed
        if any(step.tag == "th" for step in steps)
        for step in steps
    }
    for _, steps in placed:
        tables = [index for index, step in enumerate(steps) if step.tag == "table"]
        others.update(steps[index].element for index in tables[:-1])  # they hold a table
        for index in tables[-1:] if not _is_caption(steps) else ():
            below = steps[index + 1 :]
            cell = [step.element for step in below if step.tag in _CELLS]
            row = [step.element for step in below if step.tag == "tr"]
            unfit = _NOT_IN_CELLS - (_LINES if steps[index].element in headed else set())
            is_laid_out = any(step.tag in unfit for step in below)
            if is_laid_out or len(cell) != 1 or [table.parents[cell[0]]] != row:
                others.add(steps[index].element)
            else:
                cells[steps[index].element][row[0]].add(cell[0])
    found = {
        element: _grid(table, element)
        for element, rows in cells.items()
        if element not in others and sum(len(row) > 1 for row in rows.values()) > 1
    }
    return {element: grid for element, grid in found.items() if grid}


def _grid(table: PageTable, element: int) -> _Grid:
    """Row and column of each cell of a table, as HTML lays them out; empty for a wide one."""
    grid: _Grid = {}
    taken: list[int] = []  # of each column, the first row that is free
    row, place, column = -1, -1, 0
    for cell in range(element + 1, len(table.tags)):
        parent = table.parents[cell]
        if parent < element:
            break  # what is in an element follows it
        if table.tags[cell] not in _CELLS or table.tags[parent] != "tr":
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
    return grid


def _table_of(table: PageTable, element: int) -> int:
    while element >= 0 and table.tags[element] != "table":
        element = table.parents[element]
    return element


def _rows(members: Iterable[tuple[Source, _Path]], grid: _Grid) -> tuple[tuple[_Cell, ...], ...]:
    rows: defaultdict[int, dict[int, _Cell]] = defaultdict(dict)
    for block, steps in members:
        cell = next(step for step in reversed(steps) if step.tag in _CELLS)
        row, column = grid[cell.element]
        before = rows[row].get(column, _Cell())
        rows[row][column] = _Cell((*before.contents, block.content), cell.tag == "th")
    width = max(max(row) for row in rows.values()) + 1
    return tuple(
        tuple(row.get(column, _Cell()) for column in range(width)) for row in rows.values()
    )


def _common(before: Sequence[_Step], after: Sequence[_Step]) -> int:
    """How many containers stay open from one part to the next."""
    pairs = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


# HTML


def _open(steps: Sequence[_Step]) -> Iterator[str]:
    for step, below in zip_longest(steps, steps[1:]):
        number = below.number if step.tag == "ol" and below is not None else 1
        start = f' start="{number}"' if number != 1 else ""
        yield f"<{step.tag}{start}>" if step.tag in _ITEMS else f"<{step.tag}{start}>\n"


def _close(steps: Sequence[_Step]) -> list[str]:
    return [f"</{step.tag}>\n" for step in reversed(steps)]


def _element(part: _Part, options: MarkupOptions) -> str:
    if part.tag == "pre":
        # HTML leaves out a line break at the beginning.
        return f"<pre>{escape(part.lines, quote=False)}</pre>\n"
    if part.tag != "table":
        return f"<{part.tag}>{part.content.html(options)}</{part.tag}>\n"
    rows = ["".join(_html_cell(cell, options) for cell in row) for row in part.rows]
    return "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in rows) + "</table>\n"


def _html_cell(cell: _Cell, options: MarkupOptions) -> str:
    tag = "th" if cell.is_header else "td"
    return f"<{tag}>{'<br>'.join(part.html(options) for part in cell.contents)}</{tag}>"


# Markdown


def _is_next_item(before: Sequence[_Step], after: Sequence[_Step], opened: int) -> bool:
    """Whether the next part begins an item of an open list, or a list in an open item.

    A list that does not begin with 1 would be taken for a line of the paragraph before.
    """
    new = after[opened:]
    is_item = bool(new) and new[0].tag == "li"
    is_list = len(new) > 1 and new[1].tag == "li" and opened == len(before) > 0
    return is_item or (is_list and (new[0].tag == "ul" or new[1].number == 1))


def _signs(
    before: Sequence[_Step], known: Sequence[str], after: Sequence[_Step], opened: int
) -> list[str]:
    """What begins the lines of containers, of which `opened` are those before; of a list its sign.

    A list right behind another one has another sign, else both would be one.
    """
    signs = list(known[:opened])
    for index, step in enumerate(after[opened:], opened):
        if step.tag in _SIGNS:
            first, other = _SIGNS[step.tag]
            is_beside = index == opened < len(before) and before[index].tag == step.tag
            signs.append(other if is_beside and known[index] == first else first)
        elif step.tag == "blockquote":
            signs.append("> ")
        elif step.tag == "li":
            is_numbered = after[index - 1].tag == "ol"
            signs.append(f"{step.number if is_numbered else ''}{signs[-1]} ")
        else:
            signs.append("")
    return signs


def _indent(signs: Iterable[str]) -> str:
    return "".join(sign if sign == "> " else " " * len(sign) for sign in signs if len(sign) > 1)


def _markdown_lines(part: _Part, options: MarkupOptions) -> list[str]:
    if part.tag == "pre":
        text = part.lines
        fence = "`" * (1 + max([2, *map(len, re.findall("`+", text))]))
        return [fence, *text.split("\n"), fence]
    if part.tag == "table":
        rows = [
            f"| {' | '.join(_markdown_cell(cell, options) for cell in row)} |" for row in part.rows
        ]
        return [rows[0], "|" + " --- |" * len(part.rows[0]), *rows[1:]]
    if level := _HEADINGS.get(part.tag, 0):
        return [f"{'#' * level} {inline_markdown(part.content, options, line_break=' ')}"]
    is_term = bool(part.containers) and part.containers[-1].tag == "dt"
    content = part.content.bold if is_term else part.content
    return inline_markdown(content, options).split("\n")


def _markdown_cell(cell: _Cell, options: MarkupOptions) -> str:
    return " ".join(
        inline_markdown(part, options, line_break=" ", in_cell=True) for part in cell.contents
    )
