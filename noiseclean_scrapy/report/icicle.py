"""The icicle: a tree of places laid out as boxes, depth to the right, text as height."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from noiseclean_scrapy.report.place_tree import Place, PlaceTree, below

BOXES = 700
"""Most boxes of one drawing."""

_MOST_LEVELS = 7
_SEEN = 0.02
_SMALLEST = 0.0015
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Box:
    """A place in the drawing: `top` and `height` as shares of the whole, `level` from 0.

    `label` joins the places of a chain that hold nothing but each other; `path` is the last one's.
    `place` is None for a box that stands for `merged` small places.
    """

    number: int
    parent: int
    level: int
    top: float
    height: float
    label: str
    path: str
    importance: float
    place: Place | None = None
    merged: int = 0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A place to be drawn, or several small ones that share a box."""

    places: list[Place]
    merged: bool
    above: str
    parent: int
    level: int
    top: float


def lay_out(tree: PlaceTree) -> list[Box]:
    """The boxes of a tree, each after the one that holds it; none for a tree without text."""
    total = tree.root.characters
    if not total:
        return []
    smallest = max(total * _SMALLEST, _nth_largest(tree.root, BOXES))
    boxes: list[Box] = []
    waiting = _row(tree.root, 0, total, "", -1, 0, 0.0)
    while waiting:
        item = waiting.pop()
        if item.merged:
            boxes.append(_merged_box(item, len(boxes), total))
            continue
        labels, place = _chain(item.places[0])
        path = "/".join(filter(None, [item.above, *labels]))
        box = Box(
            number=len(boxes),
            parent=item.parent,
            level=item.level,
            top=item.top,
            height=place.characters / total,
            label=" / ".join(labels),
            path=path,
            importance=place.mean_importance,
            place=place,
        )
        boxes.append(box)
        if item.level < _DEEPEST:
            waiting += _row(place, smallest, total, path, box.number, item.level + 1, item.top)
    return boxes


def _row(
    place: Place, smallest: float, total: int, path: str, parent: int, level: int, top: float
) -> list[_Waiting]:
    """What stands right below a place, the last first; the small ones share the lowest box."""
    found = []
    for child in place.children():
        if child.characters >= smallest:
            found.append(_Waiting([child], False, path, parent, level, top))
            top += child.characters / total
    small = [child for child in place.below.values() if child.characters < smallest]
    if small:
        found.append(_Waiting(small, True, path, parent, level, top))
    return found[::-1]


def _merged_box(item: _Waiting, number: int, total: int) -> Box:
    small = item.places
    characters = sum(place.characters for place in small)
    return Box(
        number=number,
        parent=item.parent,
        level=item.level,
        top=item.top,
        height=characters / total,
        label=f"{len(small)} small places" if len(small) > 1 else small[0].label,
        path="",
        importance=sum(place.importance for place in small) / max(characters, 1),
        merged=len(small),
    )


def levels(boxes: Sequence[Box]) -> int:
    """Levels to draw side by side; deeper ones come into sight by zooming."""
    deepest = max((box.level for box in boxes if box.height >= _SEEN), default=0)
    return min(deepest + 1, _MOST_LEVELS)


def _chain(place: Place) -> tuple[list[str], Place]:
    """The labels of a place and of those that hold all of its text; the innermost of them."""
    labels = [place.label]
    while len(place.below) == 1 and not place.own:
        (child,) = place.below.values()
        if child.characters != place.characters:
            break
        labels.append(child.label)
        place = child
    return labels, place


def _nth_largest(root: Place, count: int) -> int:
    """The characters of the `count`-th largest place, 0 with fewer places."""
    sizes = sorted((place.characters for place in below(root)), reverse=True)
    return sizes[count - 1] if len(sizes) >= count else 0
