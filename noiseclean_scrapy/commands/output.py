"""What goes to the terminal or into a pipe: tables, JSON, progress."""

from __future__ import annotations

import io
import json
import re
import sys
from datetime import datetime
from typing import Any

from rich import box
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from noiseclean_scrapy.terminal import Terminal, inert

_PIPE_WIDTH = 1000
_UNESCAPED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def stdout_console() -> Terminal:
    """Where results go: coloured on a terminal; plain and never cut off in a pipe."""
    _tolerate_encoding(sys.stdout)
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Terminal(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def tell(message: str) -> None:
    """A sentence for the user, beside the results."""
    _tolerate_encoding(sys.stderr)
    print(inert(message), file=sys.stderr)


def counted(number: int, thing: str) -> str:
    """A number of things, in words.

    >>> counted(1, "page"), counted(2, "page")
    ('1 page', '2 pages')
    """
    return f"{number} {thing}{'s' * (number != 1)}"


def print_json(value: Any) -> None:
    """One JSON document, UTF-8 whatever the terminal's encoding."""
    write_bytes(json_bytes(value, indent=2) + b"\n")


def print_text(text: str) -> None:
    """A text as it is, UTF-8 whatever the terminal's encoding; on a terminal it steers nothing."""
    shown = inert(text) if sys.stdout.isatty() else text
    write_bytes(shown.encode("utf-8", "replace") + b"\n" * (not shown.endswith("\n")))


def json_bytes(value: Any, *, indent: int | None = None) -> bytes:
    """JSON with times in ISO 8601; lone surrogates become question marks."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_json_value)
    # Of what steers a terminal, JSON itself escapes the characters below the blank only.
    text = _UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "replace")


def write_bytes(data: bytes) -> None:
    """Bytes to stdout, after what was printed before."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode())
    else:
        buffer.write(data)


def new_table(*columns: str, right: frozenset[str] = frozenset()) -> Table:
    """A table with a line below its heads; columns in `right` hold numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left")
    return table


def new_progress() -> Progress:
    """A bar on stderr that vanishes when it is done; nothing where stderr is no terminal."""
    console = Terminal(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        disable=not console.is_terminal,
    )


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"no JSON for {type(value).__name__}")


def _tolerate_encoding(stream: Any) -> None:
    if isinstance(stream, io.TextIOWrapper):
        # A letter that the terminal's encoding lacks must not cost the whole output.
        stream.reconfigure(errors="replace")
