"""Drawings of boxes and arrows as SVG, legible on light and on dark pages.

All text stands in boxes with a colour of their own, and lines are of a grey between black and
white: so the drawing need not know which theme the page around it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

INK, SOFT, LINE = "#1f2328", "#4b5560", "#808890"
BLUE, GREEN, AMBER, VIOLET = "#cfe3fb", "#cdebd3", "#fbe3b6", "#e3d7f7"
GREY, WHITE = "#e6e9ed", "#ffffff"
_SANS = "system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif"
_MONO = "ui-monospace,'SF Mono','DejaVu Sans Mono',monospace"
_LINE_HEIGHT = 17
_ARROW = (
    "<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
    f"markerHeight='7' orient='auto'><path d='M0 0 8 4 0 8Z' fill='{LINE}'/></marker></defs>"
)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with a title and lines below it; a line in backticks is set as code."""

    x: int
    y: int
    width: int
    height: int
    colour: str
    title: str
    lines: Sequence[str] = ()

    @property
    def right(self) -> tuple[int, int]:
        return self.x + self.width, self.y + self.height // 2

    @property
    def left(self) -> tuple[int, int]:
        return self.x, self.y + self.height // 2

    @property
    def top(self) -> tuple[int, int]:
        return self.x + self.width // 2, self.y

    @property
    def bottom(self) -> tuple[int, int]:
        return self.x + self.width // 2, self.y + self.height

    def svg(self) -> str:
        """The box as SVG."""
        parts = [
            f"<rect x='{self.x}' y='{self.y}' width='{self.width}' height='{self.height}' rx='7' "
            f"fill='{self.colour}' stroke='{LINE}'/>",
            _text(self.x + 12, self.y + 23, self.title, "b"),
        ]
        for number, line in enumerate(self.lines):
            at = self.y + 23 + 3 + (number + 1) * _LINE_HEIGHT
            is_code = line.startswith("`")
            parts.append(_text(self.x + 12, at, line.strip("`"), "m" if is_code else "s"))
        return "".join(parts)


def arrow(*points: tuple[int, int]) -> str:
    """A line through the points with a head at its end."""
    path = " ".join(f"{x} {y}" for x, y in points)
    return (
        f"<polyline points='{path}' fill='none' stroke='{LINE}' stroke-width='2' "
        "marker-end='url(#head)'/>"
    )


def tag(x: int, y: int, text: str) -> str:
    """A word on a line, on a ground of its own; `x` is its middle."""
    width = 7 * len(text) + 14
    return (
        f"<rect x='{x - width // 2}' y='{y - 10}' width='{width}' height='20' rx='10' "
        f"fill='{GREY}' stroke='{LINE}'/><text x='{x}' y='{y + 4}' class='t' "
        f"text-anchor='middle'>{escape(text)}</text>"
    )


def drawing(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A whole SVG document; the title is what a screen reader says."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' "
        f"width='{width}' height='{height}' role='img' aria-label='{escape(title)}'>"
        f"<style>text{{font:13px {_SANS};fill:{INK}}} .b{{font-weight:600;font-size:14px}} "
        f".s{{fill:{SOFT}}} .m{{font:12.5px {_MONO};fill:{SOFT}}} .t{{font-size:12px}}</style>"
        + _ARROW
        + "\n".join(["", *parts, ""])
        + "</svg>\n"
    )


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f"<text x='{x}' y='{y}' class='{kind}'>{escape(text)}</text>"
