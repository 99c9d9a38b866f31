"""Block: one text block of a page with the verdict on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from noiseclean_scrapy.page.locations import Elements, place, xpath


@dataclass(frozen=True, slots=True)
class Block:
    """One text block of a page, kept or not.

    `text` is one line: the methods read white space as one blank.
    `score` is the importance in [0, 1] that the method gives it; `evidence` is what led to the
    verdict, by name, empty for blocks of the store. `xpath` locates the element that holds the
    text, `place` is where that stands in the layout: the labels from BODY down, such as
    `body/div.main/article/p` (the last 2,000 characters of it). `rule` is the user's override that
    decided (`keep`, `drop`, `title`), empty where the method did. `hidden` tells that it was left
    out since the page's markup hides it from readers.
    """

    text: str
    xpath: str
    tag: str
    kept: bool
    score: float
    evidence: Mapping[str, float] = field(hash=False)
    place: str = ""
    rule: str = ""
    hidden: bool = False

    def to_dict(self) -> dict[str, Any]:
        """All but the evidence, as plain values."""
        names = (part.name for part in fields(Block) if part.name != "evidence")
        return {name: getattr(self, name) for name in names}


class LocatedBlock(Block):
    """A block that makes its XPath and its place when they are asked for; else a `Block`.

    `values` are the block's other fields, all of them.
    """

    __slots__ = ("_element", "_elements")
    _element: int
    _elements: Elements

    def __init__(self, elements: Elements, element: int, **values: Any) -> None:
        for name, value in {"_elements": elements, "_element": element, **values}.items():
            object.__setattr__(self, name, value)

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # what is compared, shown or copied is a `Block`
        return Block

    @property
    def xpath(self) -> str:
        return xpath(self._elements, self._element)

    @property
    def place(self) -> str:
        return place(self._elements, self._element)

    def __reduce__(self) -> tuple[type[Block], tuple[Any, ...]]:
        """Its own values: the page that it is of stays where it is."""
        values = {part.name: getattr(self, part.name) for part in fields(Block)}
        return Block, tuple({**values, "evidence": dict(self.evidence)}.values())
