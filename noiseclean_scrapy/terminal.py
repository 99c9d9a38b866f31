"""What reaches a terminal: text that shows what it is, and steers nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.segment import Segment

from noiseclean_scrapy.page.characters import inert

if TYPE_CHECKING:
    from rich.console import ConsoleOptions


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
