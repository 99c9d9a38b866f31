"""What the content of a text block consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple


class Token(NamedTuple):
    """A piece of text, a formula, an image, a line break, or the begin or end of an element.

    `value` is the text, that of the image, or the tag; `detail` the number of the details.
    """

    kind: Literal["text", "formula", "image", "break", "begin", "end"]
    value: str = ""
    detail: int = -1


def plain_text(token: Token) -> str:
    """What a token shows as text."""
    if token.kind == "formula":
        return f"${token.value}$"
    return {"text": token.value, "break": "\n"}.get(token.kind, "")


def text_within(content: Sequence[Token], begin: int) -> str:
    """The text of the element that begins there."""
    depth = 0
    pieces: list[str] = []
    for index in range(begin, len(content)):
        token = content[index]
        depth += (token.kind == "begin") - (token.kind == "end")
        if not depth:
            break
        pieces.append(plain_text(token))
    return "".join(pieces)
