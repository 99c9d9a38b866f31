"""What reaches a terminal: text that shows what it is, and steers nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.segment import Segment

if TYPE_CHECKING:
    from rich.console import ConsoleOptions

# Control characters but tab and newline; what turns the direction of what follows.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def inert(text: str) -> str:
    """The text without characters that steer a terminal, or turn the order of others.

    >>> inert("Fog\\x1b[2J\\tcloses\\u202e the port\\n")
    'Fog[2J\\tcloses the port\\n'
    """
    return _STEERING.sub("", text)


class Terminal(Console):
    """A console to which texts of pages may be printed: only its own styles steer it.

    It leaves a reader that goes away to the caller, where Rich would end the process with 1.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(inert(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
