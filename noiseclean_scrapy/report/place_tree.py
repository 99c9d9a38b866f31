"""PlaceTree: the text of many pages by its place in the layout, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from noiseclean_scrapy.page.characters import shortened
from noiseclean_scrapy.page.locations import steps_of

EXAMPLES = 4
"""Most example texts of one place."""

_EXAMPLE_LENGTH = 240


@dataclass(frozen=True, slots=True)
class Example:
    """A text that stands at a place, and the page that shows it."""

    text: str
    kept: bool
    page_title: str
    page_key: str


@dataclass(frozen=True, slots=True)
class PlacedText:
    """What a page shows at one place: `importance` is the sum over its characters.

    `position` is the mean position of the text on the page, in [0, 1].
    """

    place: str
    blocks: int
    characters: int
    kept_characters: int
    importance: float
    position: float
    example: Example


@dataclass(slots=True)
class Place:
    """A place in the layout with all that stands in it, the places below included.

    `own` are the characters of the text that stands right here.
    """

    label: str
    pages: int = 0
    blocks: int = 0
    characters: int = 0
    own: int = 0
    kept_characters: int = 0
    importance: float = 0.0
    position: float = 0.0
    examples: list[Example] = field(default_factory=list)
    below: dict[str, Place] = field(default_factory=dict)
    _last_page: int = 0

    @property
    def mean_importance(self) -> float:
        """Importance of a character, on average, in [0, 1]."""
        return self.importance / self.characters if self.characters else 0.0

    @property
    def kept_share(self) -> float:
        """Share of the characters that were kept."""
        return self.kept_characters / self.characters if self.characters else 0.0

    def children(self) -> list[Place]:
        """The places right below, in the order in which they stand on the pages."""
        return sorted(self.below.values(), key=lambda child: child.position / max(child.blocks, 1))

    def all_examples(self) -> list[Example]:
        """Examples of this place and, as far as there is room, of the largest places below."""
        found: list[Example] = []
        waiting = [self]
        while waiting and len(found) < EXAMPLES:
            place = waiting.pop()
            found += place.examples
            waiting += sorted(place.below.values(), key=lambda child: child.characters)
        return found[:EXAMPLES]

    def _add(self, text: PlacedText, page: int) -> None:
        if self._last_page != page:
            self._last_page = page
            self.pages += 1
        self.blocks += text.blocks
        self.characters += text.characters
        self.kept_characters += text.kept_characters
        self.importance += text.importance
        self.position += text.position * text.blocks


class PlaceTree:
    """Places by the label paths of blocks, each path written like `body/main/p`.

    Above `limit` places the larger half is kept; what stood at the others still counts for the
    places above them.
    """

    def __init__(self, limit: int = 20_000) -> None:
        self.root = Place("")
        self.pages = 0
        self._limit = limit
        self._size = 0

    def add_page(self, texts: Iterable[PlacedText]) -> None:
        """Count what one page shows, one entry a place."""
        self.pages += 1
        for text in texts:
            place = self.root
            place._add(text, self.pages)
            for label in steps_of(text.place):
                if label not in place.below:
                    place.below[label] = Place(label)
                    self._size += 1
                place = place.below[label]
                place._add(text, self.pages)
            place.own += text.characters
            _remember(place.examples, text.example)
        if self._size > self._limit:
            self._prune()

    def _prune(self) -> None:
        # The sort is stable: of a place and the only one in it, the outer stays first.
        places = sorted(below(self.root), key=lambda place: -place.characters)
        kept = {id(place) for place in places[: self._limit // 2]}
        for place in [self.root, *places]:
            place.below = {name: child for name, child in place.below.items() if id(child) in kept}
        self._size = len(kept)


def below(root: Place) -> Iterator[Place]:
    """All places below `root`, each after the one that holds it."""
    waiting = [*root.below.values()]
    while waiting:
        place = waiting.pop()
        yield place
        waiting += place.below.values()


def _remember(examples: list[Example], example: Example) -> None:
    if len(examples) >= EXAMPLES:
        return
    text = shortened(example.text, _EXAMPLE_LENGTH)
    if all(known.text != text for known in examples):
        examples.append(replace(example, text=text))
