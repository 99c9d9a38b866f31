"""What goes into a pipe or to the terminal as it is: JSON, bytes, sentences."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from noiseclean_scrapy.page.characters import inert

_UNESCAPED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def tell(message: str) -> None:
    """A sentence for the user, beside the results."""
    tolerate_encoding(sys.stderr)
    print(inert(message), file=sys.stderr)


def print_json(value: Any) -> None:
    """One JSON document, UTF-8 whatever the terminal's encoding."""
    write_bytes(json_bytes(value, indent=2) + b"\n")


def print_text(text: str) -> None:
    """A text as it is, UTF-8 whatever the terminal's encoding; on a terminal it steers nothing."""
    shown = inert(text) if sys.stdout.isatty() else text
    write_bytes(shown.encode("utf-8", "replace") + b"\n" * (not shown.endswith("\n")))


def for_stdout(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """The pieces of a document in UTF-8; on a terminal nothing in them steers it."""
    if not sys.stdout.isatty():
        return pieces
    return (inert(piece.decode("utf-8", "replace")).encode() for piece in pieces)


def json_bytes(value: Any, *, indent: int | None = None) -> bytes:
    """JSON with times in ISO 8601; lone surrogates become question marks."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=datetime.isoformat)
    # Of what steers a terminal, JSON itself escapes the characters below the blank only.
    text = _UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "replace")


def write_bytes(data: bytes) -> None:
    """Bytes to stdout, after what was printed before."""
    need_stdout()
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode())
    else:
        buffer.write(data)


def need_stdout() -> None:
    """Raise OSError where standard output was closed by who has started this: nobody reads there.

    A device that takes everything stands in its place, for what prints without asking.
    """
    if getattr(sys.stdout, "name", None) == os.devnull:
        raise OSError("standard output is closed")


def tolerate_encoding(stream: Any) -> None:
    """Let a letter that the terminal's encoding lacks not cost the whole output."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
