"""Text blocks to plain HTML and to Markdown: headings, lists, quotes, code and tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import dropwhile, groupby, islice, takewhile
from typing import Protocol

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol"})
_CELLS = frozenset({"td", "th"})
_NOT_IN_CELLS = frozenset({*_HEADINGS, *_LISTS, "blockquote", "pre", "table"})
_DEEPEST = 12
_WIDEST = 50
_MOST_STEPS = 100
_STEP = re.compile(r"/(h[1-6]|ul|ol|li|blockquote|pre|table|tr|td|th)\[(\d+)\]")
_SPECIAL = re.compile(
    r"[\\`*\[\]<|~]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # inside a word it means nothing
    r"|&(?=#?\w+;)"
    r"|(?<!\S)#"
    r"|^(?:>|[-+=](?=[-+=\s]|$))"
    r"|^\d{1,9}(?P<end>[.)])(?=\s|$)"
)


class Source(Protocol):
    """What is needed of a block: its text, and the XPath and tag of its element."""

    @property
    def text(self) -> str: ...
    @property
    def xpath(self) -> str: ...
    @property
    def tag(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Step:
    """One element above a block; `identity` is the hash of its XPath, which may be long."""

    tag: str
    number: int
    identity: int


@dataclass(frozen=True, slots=True)
class _Part:
    """What is written at once: a paragraph, a heading, lines of code, or the rows of a table.

    `containers` are the quotes, lists and list items around it.
    """

    tag: str
    containers: tuple[_Step, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        """All of it but for tables, one line a row."""
        return "\n".join(row[0] for row in self.rows)


def to_html(blocks: Iterable[Source]) -> str:
    """HTML without attributes.

    >>> from noiseclean_scrapy import SiteCleaner
    >>> page = SiteCleaner().clean("<h1>Tea</h1><ol><li>Boil <b>water</b></li><li>Wait</li></ol>")
    >>> print(to_html(page.blocks))
    <h1>Tea</h1>
    <ol>
    <li>Boil water</li>
    <li>Wait</li>
    </ol>
    """
    pieces: list[str] = []
    stack: Sequence[_Step] = ()
    for part in _parts(blocks):
        opened = _common(stack, part.containers)
        pieces += _close(stack[opened:])
        new = part.containers[opened:]
        pieces += [f"<{step.tag}>" if step.tag == "li" else f"<{step.tag}>\n" for step in new]
        begins_item = bool(new) and new[-1].tag == "li" and part.tag == "p"
        pieces.append(escape(part.text, quote=False) if begins_item else _element(part))
        stack = part.containers
    return "".join([*pieces, *_close(stack)]).rstrip("\n")


def to_markdown(blocks: Iterable[Source]) -> str:
    r"""Markdown as CommonMark defines it, tables as GitHub does. All text is escaped.

    >>> from noiseclean_scrapy import SiteCleaner
    >>> page = SiteCleaner().clean("<h1>Tea</h1><ol><li>Boil *water*</li><li>Wait</li></ol>")
    >>> print(to_markdown(page.blocks))
    # Tea
    <BLANKLINE>
    1. Boil \*water\*
    2. Wait
    """
    lines: list[str] = []
    stack: Sequence[_Step] = ()
    for part in _parts(blocks):
        opened = _common(stack, part.containers)
        if lines and not _is_next_item(stack, part.containers, opened):
            lines.append(_indent(part.containers[:opened]).rstrip())
        first = _indent(part.containers[:opened]) + _open(part.containers, opened)
        for line in _markdown_lines(part):
            lines.append((first + line).rstrip())
            first = _indent(part.containers)
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
        whole = (s.identity for s in steps if s.tag == "pre" or s.identity in tables)
        return next(whole, ~number)

    for identity, group in groupby(numbered, unit):
        members = [entry for _, entry in group]
        block, steps = members[0]
        if identity in tables:
            yield _Part("table", _containers(steps, identity), _rows(members, identity))
        else:
            tags = {block.tag, *(step.tag for step in steps)}
            tag = next((tag for tag in ("pre", *_HEADINGS) if tag in tags), "p")
            lines = tuple((block.text,) for block, _ in members)
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
        if step.tag == "li" and above is not None and above.tag in _LISTS:
            found += [above, step]
        elif step.tag == "blockquote":
            found.append(step)
        above = step
    return tuple(found[:_DEEPEST])


def _data_tables(placed: Iterable[tuple[Source, list[_Step]]]) -> set[int]:
    """Tables of short rows and columns; what others hold is laid out in them, not tabular."""
    cells: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    others: set[int] = set()
    for _, steps in placed:
        tables = [index for index, step in enumerate(steps) if step.tag == "table"]
        others.update(steps[index].identity for index in tables[:-1])  # they hold a table
        for index in tables[-1:]:
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


def _rows(members: Iterable[tuple[Source, list[_Step]]], table: int) -> tuple[tuple[str, ...], ...]:
    rows: defaultdict[int, defaultdict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    headers: defaultdict[int, int] = defaultdict(int)
    for block, steps in members:
        below = list(dropwhile(lambda step: step.identity != table, steps))
        row = next(step.identity for step in below if step.tag == "tr")
        cell = next(step for step in below if step.tag in _CELLS)
        if cell.tag == "th":
            headers[row] = max(headers[row], cell.number)
        rows[row][cell.number + (headers[row] if cell.tag == "td" else 0)].append(block.text)
    width = max(max(row) for row in rows.values())
    return tuple(
        tuple(" ".join(row.get(column, [])) for column in range(1, width + 1))
        for row in rows.values()
    )


def _common(before: Sequence[_Step], after: Sequence[_Step]) -> int:
    """How many containers stay open from one part to the next."""
    pairs = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


# HTML


def _close(steps: Sequence[_Step]) -> list[str]:
    return [f"</{step.tag}>\n" for step in reversed(steps)]


def _element(part: _Part) -> str:
    if part.tag != "table":
        return f"<{part.tag}>{escape(part.text, quote=False)}</{part.tag}>\n"
    cells = ["".join(f"<td>{escape(text, quote=False)}</td>" for text in row) for row in part.rows]
    return "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in cells) + "</table>\n"


# Markdown


def _is_next_item(before: Sequence[_Step], after: Sequence[_Step], opened: int) -> bool:
    """Whether the next part begins an item of an open list, or a list in an open item.

    A list that does not begin with 1 would be taken for a line of the paragraph before.
    """
    new = after[opened:]
    is_item = bool(new) and new[0].tag == "li"
    is_list = bool(new) and new[0].tag in _LISTS and opened == len(before) > 0
    return is_item or (is_list and (new[0].tag == "ul" or new[1].number == 1))


def _open(containers: Sequence[_Step], opened: int) -> str:
    return "".join(_marker(containers, index) for index in range(opened, len(containers)))


def _indent(containers: Sequence[_Step]) -> str:
    markers = (_marker(containers, index) for index in range(len(containers)))
    return "".join(marker if marker == "> " else " " * len(marker) for marker in markers)


def _marker(containers: Sequence[_Step], index: int) -> str:
    step = containers[index]
    if step.tag == "blockquote":
        return "> "
    if step.tag != "li":
        return ""
    return "- " if containers[index - 1].tag == "ul" else f"{step.number}. "


def _markdown_lines(part: _Part) -> list[str]:
    if part.tag == "pre":
        fence = "`" * (1 + max([2, *map(len, re.findall("`+", part.text))]))
        return [fence, *part.text.split("\n"), fence]
    if part.tag == "table":
        rows = [f"| {' | '.join(map(_escaped, row))} |" for row in part.rows]
        return [rows[0], "|" + " --- |" * len(part.rows[0]), *rows[1:]]
    level = _HEADINGS.get(part.tag, 0)
    return [f"{'#' * level} {_escaped(part.text)}" if level else _escaped(part.text)]


def _escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> print(_escaped("1. *Not* a_list & <b>"))
    1\. \*Not\* a_list & \<b>
    """
    return _SPECIAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    if match["end"]:
        return f"{match[0][:-1]}\\{match['end']}"
    return f"\\{match[0]}"
