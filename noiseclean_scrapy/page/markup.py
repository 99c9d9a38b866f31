"""Text blocks to plain HTML and to Markdown: headings, lists, quotes, code and tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import dropwhile, groupby, islice, takewhile
from typing import NamedTuple

from noiseclean_scrapy.page.inline import Inline, MarkupOptions
from noiseclean_scrapy.page.inline_markdown import inline_markdown

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = {"ul": {"li"}, "ol": {"li"}, "dl": {"dt", "dd"}}
_ITEMS = frozenset({"li", "dt", "dd"})
_CELLS = frozenset({"td", "th"})
_NOT_IN_CELLS = frozenset({*_HEADINGS, *_LISTS, "blockquote", "pre", "table"})
_SIGNS = {"ul": ("-", "*"), "ol": (".", ")")}
_DEEPEST = 12
_WIDEST = 50
_MOST_STEPS = 100
_STEP = re.compile(
    r"/(h[1-6]|[oud]l|li|d[td]|blockquote|pre|textarea|table|caption|tr|td|th)\[(\d+)\]"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A text block: its content, and the XPath and tag of its element."""

    content: Inline
    xpath: str
    tag: str


@dataclass(frozen=True, slots=True)
class _Step:
    """One element above a block; `identity` is the hash of its XPath, which may be long."""

    tag: str
    number: int
    identity: int


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


def to_html(blocks: Iterable[Source], options: MarkupOptions) -> str:
    """HTML in which nothing is active: without attributes but for addresses and their texts.

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
    for part in _parts(blocks):
        opened = _common(stack, part.containers)
        pieces += _close(stack[opened:])
        new = part.containers[opened:]
        pieces += [f"<{step.tag}>" if step.tag in _ITEMS else f"<{step.tag}>\n" for step in new]
        begins_item = bool(new) and new[-1].tag in _ITEMS and part.tag == "p"
        pieces.append(part.content.html(options) if begins_item else _element(part, options))
        stack = part.containers
    return "".join([*pieces, *_close(stack)]).rstrip("\n")


def to_markdown(blocks: Iterable[Source], options: MarkupOptions) -> str:
    r"""Markdown as CommonMark defines it, tables as GitHub does. All text is escaped.

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
    for part in _parts(blocks):
        opened = _common(stack, part.containers)
        signs = _signs(stack, signs, part.containers, opened)
        around = _indent(signs[:opened])
        if lines and not _is_next_item(stack, part.containers, opened):
            lines.append(around.rstrip())
        first = around + "".join(sign for sign in signs[opened:] if len(sign) > 1)
        for line in _markdown_lines(part, options):
            lines.append((first + line).rstrip())
            first = _indent(signs)
        stack = part.containers
    return "\n".join(lines)


# From blocks to parts


def _parts(blocks: Iterable[Source]) -> Iterator[_Part]:
    known: dict[int, _Step] = {}
    placed = [(block, _steps(block.xpath, known)) for block in blocks]
    tables = _data_tables(placed)
    numbered = enumerate(placed)

    def unit(entry: tuple[int, tuple[Source, list[_Step]]]) -> int:
        number, (_, steps) = entry
        wholes = () if _is_caption(steps) else tables
        whole = (s.identity for s in steps if s.tag == "pre" or s.identity in wholes)
        return next(whole, ~number)

    for identity, group in groupby(numbered, unit):
        members = [entry for _, entry in group]
        block, steps = members[0]
        if identity in tables:
            yield _Part("table", _containers(steps, identity), _rows(members, identity))
        else:
            tags = {block.tag, *(step.tag for step in steps)}
            tag = next((tag for tag in ("pre", *_HEADINGS) if tag in tags), "p")
            tag = "pre" if block.content.is_verbatim else tag
            lines = tuple((_Cell((block.content,)),) for block, _ in members)
            yield _Part(tag, _containers(steps, identity), lines)


def _steps(xpath: str, known: dict[int, _Step]) -> list[_Step]:
    """The elements on the way that give a text its form, the outermost first.

    Blocks share what they have in common: deep paths of many blocks would fill the memory.
    """
    steps = []
    for match in islice(_STEP.finditer(xpath), _MOST_STEPS):
        identity = abs(hash(xpath[: match.end()]))
        step = known.get(identity)
        if step is None:
            step = known[identity] = _Step(match[1], int(match[2]), identity)
        steps.append(step)
    return steps


def _containers(steps: Iterable[_Step], end: int) -> tuple[_Step, ...]:
    """The quotes, lists and items above `end`; an item counts where it stands in a list."""
    found: list[_Step] = []
    above: _Step | None = None
    for step in steps:
        if step.identity == end:
            break
        if above is not None and {above.tag, step.tag} <= {"dt", "dd"} and found:
            found[-1] = step  # the one above has no end tag
        elif above is not None and step.tag in _LISTS.get(above.tag, ()):
            found += [above, step]
        elif step.tag == "blockquote":
            found.append(step)
        above = step
    return tuple(found[:_DEEPEST])


def _is_caption(steps: Sequence[_Step]) -> bool:
    return bool(steps) and steps[-1].tag == "caption"


def _data_tables(placed: Iterable[tuple[Source, list[_Step]]]) -> set[int]:
    """Tables of short rows and columns; what others hold is laid out in them, not tabular."""
    cells: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    others: set[int] = set()
    for _, steps in placed:
        tables = [index for index, step in enumerate(steps) if step.tag == "table"]
        others.update(steps[index].identity for index in tables[:-1])  # they hold a table
        for index in tables[-1:] if not _is_caption(steps) else ():
            table, below = steps[index].identity, steps[index + 1 :]
            cell = [step for step in below if step.tag in _CELLS]
            row = [step for step in below if step.tag == "tr"]
            is_laid_out = any(step.tag in _NOT_IN_CELLS for step in below)
            if is_laid_out or len(cell) != 1 or len(row) != 1 or cell[0].number > _WIDEST:
                others.add(table)
            else:
                cells[table][row[0].identity].add(cell[0].identity)
    return {
        table
        for table, rows in cells.items()
        if table not in others and sum(len(row) > 1 for row in rows.values()) > 1
    }


def _rows(
    members: Iterable[tuple[Source, list[_Step]]], table: int
) -> tuple[tuple[_Cell, ...], ...]:
    rows: defaultdict[int, dict[int, _Cell]] = defaultdict(dict)
    headers: defaultdict[int, int] = defaultdict(int)
    for block, steps in members:
        below = list(dropwhile(lambda step: step.identity != table, steps))
        row = next(step.identity for step in below if step.tag == "tr")
        cell = next(step for step in below if step.tag in _CELLS)
        if cell.tag == "th":
            headers[row] = max(headers[row], cell.number)
        column = cell.number + (headers[row] if cell.tag == "td" else 0)
        before = rows[row].get(column, _Cell())
        rows[row][column] = _Cell((*before.contents, block.content), cell.tag == "th")
    width = max(max(row) for row in rows.values())
    return tuple(
        tuple(row.get(column, _Cell()) for column in range(1, width + 1)) for row in rows.values()
    )


def _common(before: Sequence[_Step], after: Sequence[_Step]) -> int:
    """How many containers stay open from one part to the next."""
    pairs = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


# HTML


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
