"""What goes to the terminal with colours: tables, progress."""

from __future__ import annotations

import sys

from rich import box
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from noiseclean_scrapy.commands.output import need_stdout, tolerate_encoding
from noiseclean_scrapy.terminal import Terminal

_PIPE_WIDTH = 1000


def stdout_console() -> Terminal:
    """Where results go: coloured on a terminal; plain and never cut off in a pipe."""
    need_stdout()
    tolerate_encoding(sys.stdout)
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Terminal(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def new_table(*columns: str, right: frozenset[str] = frozenset()) -> Table:
    """A table with a line below its heads; columns in `right` hold numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left")
    return table


def natural_width(table: Table) -> int:
    """Columns of a terminal that a table needs to break nothing."""
    # Without a height Rich takes a dumb terminal to be 80 wide, whatever it is told.
    console = Terminal(width=_PIPE_WIDTH, height=1)
    return console.measure(table).maximum


def new_progress() -> Progress:
    """A bar on stderr that vanishes when it is done; nothing where stderr is no terminal."""
    console = Terminal(stderr=True)
    console.quiet = not console.is_terminal  # a disabled bar ends with an empty line before rich 15
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        disable=console.quiet,
    )
