"""Text blocks to plain HTML and to Markdown: headings, lists, quotes, code and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, takewhile, zip_longest
from typing import NamedTuple

from noiseclean_scrapy.page.code_language import language_of
from noiseclean_scrapy.page.inline import Inline, MarkupOptions
from noiseclean_scrapy.page.inline_html import inline_html
from noiseclean_scrapy.page.inline_markdown import code_of_cell, inline_markdown
from noiseclean_scrapy.page.outline import HEADINGS, ITEMS, LISTS, Path, Paths, Step
from noiseclean_scrapy.page.page import PageTable
from noiseclean_scrapy.page.tabular import Cell, grids, is_caption, rows_of
from noiseclean_scrapy.page.thematic import ThematicBreaks

_SIGNS = {"ul": ("-", "*"), "ol": (".", ")")}
_LARGEST_NUMBER = 999_999_999  # of an item in CommonMark
_DEEPEST = 12
_MOST_INDENTED = 200_000
"""Lines of a page's parts, but the first, times their containers, which indent each of them.

A part that would bring more stands in none.
"""


_WRITTEN_TAG = re.compile(
    r"</?(?:h[1-6r]|p|[uod]l|li|d[td]|blockquote|pre|table|t[rhd]|br|strong|em|code|kbd|samp|del|ins"
    r'|su[bp]|q|mark|ruby|r[tp]|a|img)(?: (?:href|src|alt|start)="[^"]*")*(?: reversed)?>'
)


def is_written(html: str) -> bool:
    """Whether HTML may be what `to_html` writes: it has no other tags and attributes.

    >>> is_written('<p><a href="/a">A &lt; B</a></p>'), is_written("<p class=lead>A</p>")
    (True, False)
    """
    return "<" not in _WRITTEN_TAG.sub("", html)


class Source(NamedTuple):
    """A text block: its content, its number and its element's, and whether it is the headline.

    The headline is a heading, and stands in no list, quote or table.
    """

    content: Inline
    block: int
    element: int
    is_headline: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """What is written at once: a paragraph, heading, lines of code, rows of a table, or a break.

    `containers` are the quotes, lists and list items around it. `rows` are those of a table, each
    part of any other has a row of its own. `language` is that of code, where the page tells.
    """

    tag: str
    containers: tuple[Step, ...]
    rows: tuple[tuple[Cell, ...], ...]
    language: str = ""

    @property
    def lines(self) -> str:
        """All of what is no table as plain text."""
        lines = (content.lines for (cell,) in self.rows for content in cell.contents)
        return "\n".join(lines).strip("\n")

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
    stack: Sequence[Step] = ()
    for part in _parts(blocks, table):
        opened = _common(stack, part.containers)
        pieces += _close(stack[opened:])
        new = part.containers[opened:]
        pieces += _open(new)
        begins_item = bool(new) and new[-1].tag in ITEMS and part.tag == "p"
        pieces.append(
            inline_html(part.content, options) if begins_item else _element(part, options)
        )
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
    stack: Sequence[Step] = ()
    signs: list[str] = []
    indented = 0
    for part in _parts(blocks, table):
        containers, written = part.containers, _markdown_lines(part, options)
        further = (len(written) - 1) * len(containers)
        if indented + further > _MOST_INDENTED:
            containers = ()
        else:
            indented += further
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
    """All parts, with a thematic break where the page has one between two of them."""
    breaks = ThematicBreaks(table)
    before: tuple[_Part, int] | None = None
    for part, sources in _parts_of_blocks(blocks, table):
        if before is not None and breaks.between(before[1], sources[0].block):
            around = part.containers[: _common(before[0].containers, part.containers)]
            if not around or around[-1].tag not in LISTS:  # not between two items
                yield _Part("hr", around, ())
        yield part
        before = None if sources[-1].is_headline else (part, sources[-1].block)


def _parts_of_blocks(
    blocks: Iterable[Source], table: PageTable
) -> Iterator[tuple[_Part, Sequence[Source]]]:
    path = Paths(table)
    placed = [(block, path(block.element)) for block in blocks]
    tables = grids([steps for _, steps in placed], table)
    numbered = enumerate(placed)
    headed: set[int] = set()  # headings that have begun

    def unit(entry: tuple[int, tuple[Source, Path]]) -> int:
        number, (block, steps) = entry
        if block.is_headline:
            return ~number
        wholes = {} if is_caption(steps) else tables
        whole = (s.element for s in steps if s.tag == "pre" or s.element in wholes)
        return next(whole, ~number)

    for element, group in groupby(numbered, unit):
        members = [entry for _, entry in group]
        sources = [block for block, _ in members]
        block, steps = members[0]
        if element in tables:
            cells = ((block.content, steps) for block, steps in members)
            rows = rows_of(cells, tables[element])
            yield _Part("table", _containers(steps, element), rows), sources
            continue
        tags = {table.tags[block.element], *(step.tag for step in steps)}
        lines = tuple((Cell((block.content,)),) for block in sources)
        if block.is_headline:
            tag = next((tag for tag in HEADINGS if tag in tags), "h1")
            yield _Part(tag, (), lines), sources
        else:
            tag = next((tag for tag in ("pre", *HEADINGS) if tag in tags), "p")
            tag = "pre" if block.content.is_verbatim else tag
            heading = next((step.element for step in steps if step.tag in HEADINGS), -1)
            if heading in headed and table.tags[block.element] == "button":
                tag = "p"  # a control behind the heading's words
            if heading >= 0 and any(map(str.isalpha, block.content.text)):
                headed.add(heading)
            language = language_of(table, block.element) if tag == "pre" else ""
            yield _Part(tag, _containers(steps, element), lines, language), sources


def _containers(steps: Iterable[Step], end: int) -> tuple[Step, ...]:
    """The quotes, lists and items above `end`; an item counts where it stands in a list."""
    found: list[Step] = []
    above: Step | None = None
    for step in steps:
        if step.element == end:
            break
        if above is not None and {above.tag, step.tag} <= {"dt", "dd"} and found[-1:] == [above]:
            found[-1] = step  # the one above has no end tag
        elif above is not None and step.tag in LISTS.get(above.tag, ()):
            found += [above, step]
        elif step.tag == "blockquote":
            found.append(step)
        above = step
    return tuple(found[:_DEEPEST])


def _common(before: Sequence[Step], after: Sequence[Step]) -> int:
    """How many containers stay open from one part to the next."""
    pairs = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


# HTML


def _open(steps: Sequence[Step]) -> Iterator[str]:
    for step, below in zip_longest(steps, steps[1:]):
        number = below.number if step.tag == "ol" and below is not None else 1
        start = f' start="{number}"' if number != 1 else ""
        start += " reversed" if step.tag == "ol" and step.number < 0 else ""
        yield f"<{step.tag}{start}>" if step.tag in ITEMS else f"<{step.tag}{start}>\n"


def _close(steps: Sequence[Step]) -> list[str]:
    return [f"</{step.tag}>\n" for step in reversed(steps)]


def _element(part: _Part, options: MarkupOptions) -> str:
    if part.tag == "pre":
        # HTML leaves out a line break at the beginning.
        return f"<pre>{escape(part.lines, quote=False)}</pre>\n"
    if part.tag == "hr":
        return "<hr>\n"
    if part.tag != "table":
        return f"<{part.tag}>{inline_html(part.content, options)}</{part.tag}>\n"
    rows = ["".join(_html_cell(cell, options) for cell in row) for row in part.rows]
    return "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in rows) + "</table>\n"


def _html_cell(cell: Cell, options: MarkupOptions) -> str:
    tag = "th" if cell.is_header else "td"
    parts = (
        f"<pre>{escape(part.plain, quote=False)}</pre>"
        if part.is_verbatim
        else inline_html(part, options)
        for part in cell.contents
    )
    return f"<{tag}>{'<br>'.join(parts)}</{tag}>"


# Markdown


def _is_next_item(before: Sequence[Step], after: Sequence[Step], opened: int) -> bool:
    """Whether the next part begins an item of an open list, or a list in an open item.

    A list that does not begin with 1 would be taken for a line of the paragraph before.
    """
    new = after[opened:]
    is_item = bool(new) and new[0].tag == "li"
    is_list = len(new) > 1 and new[1].tag == "li" and opened == len(before) > 0
    return is_item or (is_list and (new[0].tag == "ul" or new[1].number == 1))


def _signs(
    before: Sequence[Step], known: Sequence[str], after: Sequence[Step], opened: int
) -> list[str]:
    """What begins the lines of containers, of which `opened` are those before; of a list its sign.

    A list right behind another one has another sign, else both would be one. So has an item that
    does not show the next number.
    """
    signs = list(known[:opened])
    for index, step in enumerate(after[opened:], opened):
        if step.tag in _SIGNS:
            first, other = _SIGNS[step.tag]
            indent = _indent(signs)
            is_beside = any(
                old.tag == step.tag and sign == first and _indent(known[:at]) == indent
                for at, (old, sign) in enumerate(zip(before, known, strict=True))
                if at >= opened
            )
            signs.append(other if is_beside else first)
        elif step.tag == "blockquote":
            signs.append("> ")
        elif step.tag == "li":
            is_numbered = after[index - 1].tag == "ol"
            number = min(step.number, _LARGEST_NUMBER) if is_numbered else ""
            goes_on = is_numbered and index == opened < len(before) and before[index].tag == "li"
            if goes_on and step.number != before[index].number + 1:
                # CommonMark counts up by one: it is another list for it.
                first, other = _SIGNS["ol"]
                signs[-1] = other if signs[-1] == first else first
            signs.append(f"{number}{signs[-1]} ")
        else:
            signs.append("")
    return signs


def _indent(signs: Iterable[str]) -> str:
    return "".join(sign if sign == "> " else " " * len(sign) for sign in signs if len(sign) > 1)


def _markdown_lines(part: _Part, options: MarkupOptions) -> list[str]:
    if part.tag == "pre":
        text = part.lines
        fence = "`" * (1 + max([2, *map(len, re.findall("`+", text))]))
        return [fence + part.language, *text.split("\n"), fence]
    if part.tag == "hr":
        return ["---"]
    if part.tag == "table":
        rows = [
            f"| {' | '.join(_markdown_cell(cell, options) for cell in row)} |" for row in part.rows
        ]
        return [rows[0], "|" + " --- |" * len(part.rows[0]), *rows[1:]]
    if level := HEADINGS.get(part.tag, 0):
        return [f"{'#' * level} {inline_markdown(part.content, options, line_break=' ')}"]
    is_term = bool(part.containers) and part.containers[-1].tag == "dt"
    content = part.content.bold if is_term else part.content
    return inline_markdown(content, options).split("\n")


def _markdown_cell(cell: Cell, options: MarkupOptions) -> str:
    return " ".join(
        code_of_cell(part.plain)
        if part.is_verbatim
        else inline_markdown(part, options, line_break=" ", in_cell=True)
        for part in cell.contents
    )
