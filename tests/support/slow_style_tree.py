"""The site style tree by definition, all pages kept: slow, from the paper, for tests only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from noiseclean_scrapy.page.presentation import Layout

GAMMA = 0.9
LAMBDA = 0.85
LOCAL = 0.01
MERGED_SHARE = 0.75

Sequence = tuple[str, ...]
Path = tuple[tuple[Sequence, int], ...]


@dataclass(frozen=True)
class Visit:
    """What one page shows at one element node: the DOM elements that stand there."""

    layout: Layout
    contents: tuple[int, ...]

    def leaves(self) -> tuple[int, ...]:
        return tuple(c for c in self.contents if self.layout.is_leaf(c))

    def features(self) -> set[str]:
        """Every feature anywhere below."""
        blocks = [block for c in self.contents for block in self.layout.blocks(c)]
        return {feature for block in blocks for feature in self.layout.features[block.index]}

    def occurrences(self) -> Counter[str]:
        """How often each feature occurs in what is a leaf here."""
        counts: Counter[str] = Counter()
        for content in self.leaves():
            for block in self.layout.blocks(content):
                counts += self.layout.features[block.index]
        return counts

    def sequences(self) -> set[Sequence]:
        return {self._sequence(c) for c in self.contents if not self.layout.is_leaf(c)}

    def at(self, sequence: Sequence, place: int) -> Visit:
        """What the page shows at one place of one of its styles."""
        members: list[int] = []
        for content in self.contents:
            if not self.layout.is_leaf(content) and self._sequence(content) == sequence:
                members.extend(self.layout.slots(content)[place].members)
        return Visit(self.layout, tuple(members))

    def _sequence(self, content: int) -> Sequence:
        return tuple(slot.label for slot in self.layout.slots(content))


@dataclass(frozen=True)
class Candidate:
    """A place in a style below one parent, with the pages that have it."""

    sequence: Sequence
    place: int
    visits: tuple[Visit, ...]

    @property
    def label(self) -> str:
        return self.sequence[self.place]

    def characteristic(self) -> set[str]:
        frequency = Counter(feature for visit in self.visits for feature in visit.features())
        return {f for f, number in frequency.items() if number >= LAMBDA * len(self.visits)}


@dataclass
class SlowElement:
    """An element node (several where they were merged), with every page's visit to it."""

    path: Path
    visits: tuple[Visit, ...]
    styles: dict[Sequence, list[SlowElement]] = field(default_factory=dict)

    @property
    def pages(self) -> int:
        return len(self.visits)

    def style_pages(self, sequence: Sequence) -> int:
        return sum(sequence in visit.sequences() for visit in self.visits)

    def leaf_visits(self) -> list[Visit]:
        return [visit for visit in self.visits if visit.leaves()]

    def style_order(self) -> list[Sequence]:
        return sorted(self.styles, key=lambda s: (-self.style_pages(s), s))

    def below(self) -> Iterator[SlowElement]:
        """Every different element below, at any depth."""
        children = {c.path: c for style in self.styles.values() for c in style}
        for child in children.values():
            yield child
            yield from child.below()

    def node_importance(self) -> float:
        """NodeImp (Def. 3); the leaf case is one more style."""
        m = self.pages
        if m == 1:
            return 1.0
        numbers = [self.style_pages(sequence) for sequence in self.styles]
        numbers += [len(self.leaf_visits())] if self.leaf_visits() else []
        return _entropy([n / sum(numbers) for n in numbers], m)

    @cached_property
    def entropies(self) -> dict[str, float]:
        """H of every feature over the pages on which the element is a leaf."""
        counts = [visit.occurrences() for visit in self.leaf_visits()]
        found: dict[str, float] = {}
        for feature in {feature for page in counts for feature in page}:
            total = sum(page[feature] for page in counts)
            shares = [page[feature] / total for page in counts if feature in page]
            found[feature] = _entropy(shares, len(counts))
        return found

    def leaf_importance(self) -> float:
        """CompImp of a leaf (Def. 5)."""
        if len(self.leaf_visits()) == 1 or not self.entropies:
            return 1.0
        return 1.0 - math.fsum(self.entropies.values()) / len(self.entropies)

    @cached_property
    def importance(self) -> float:
        """CompImp (Def. 4 and 5)."""
        if not self.styles:
            return self.leaf_importance()
        cases = [
            (self.style_pages(sequence), math.fsum(c.importance for c in style) / len(style))
            for sequence, style in self.styles.items()
        ]
        if self.leaf_visits():
            cases.append((len(self.leaf_visits()), self.leaf_importance()))
        total = sum(number for number, _ in cases)
        weight = GAMMA ** len(cases)
        inner = math.fsum(number / total * value for number, value in cases)
        return (1 - weight) * self.node_importance() + weight * inner

    def supported(self) -> float:
        """The importance as far as m - 1 comparisons out of m pages support it."""
        return self.importance / self.pages * (self.pages - 1) + 1 / self.pages

    def noisy(self, threshold: float) -> bool:
        return self.supported() < threshold and all(
            element.supported() < threshold for element in self.below()
        )

    def meaningful(self, threshold: float) -> bool:
        return not self.noisy(threshold) and not any(e.noisy(threshold) for e in self.below())

    def locally_noisy(self, feature: str) -> bool:
        known = len(self.leaf_visits()) > 1 and feature in self.entropies
        return known and 1 - self.entropies[feature] < LOCAL


def slow_tree(layouts: list[Layout]) -> SlowElement:
    """The merged site style tree of pages that have content."""
    return _build((), tuple(Visit(layout, (0,)) for layout in layouts if not layout.empty))


def all_elements(tree: SlowElement) -> dict[Path, SlowElement]:
    return {tree.path: tree, **{element.path: element for element in tree.below()}}


def kept_blocks(tree: SlowElement, layout: Layout, threshold: float) -> list[bool]:
    """For every block of a page whether it survives; where none does, those of one place do."""
    blocks = layout.page.blocks
    kept = [True] * len(blocks)
    places: list[Path | None] = [None] * len(blocks)
    noisy = {path for path, e in all_elements(tree).items() if e.noisy(threshold)}
    if not layout.empty:
        _clean(tree, layout, 0, noisy, kept, places)
    if not layout.empty and not any(kept[b.index] and b.text for b in blocks):
        _clean(tree, layout, 0, set(), [True] * len(blocks), places)
        elements = all_elements(tree)
        weights = dict.fromkeys(places, 0.0)
        for block, place in zip(blocks, places, strict=True):
            importance = 1.0 if place is None else elements[place].supported()
            weights[place] += len(block.text) * importance
        best = max(weights, key=lambda place: round(weights[place], 6))
        kept = [place == best for place in places]
    return kept


def _entropy(shares: list[float], m: int) -> float:
    if m == 1:
        return 0.0
    return min(1.0, max(0.0, -math.fsum(p * math.log(p, m) for p in shares)))


def _clean(
    element: SlowElement,
    layout: Layout,
    content: int,
    noisy: set[Path],
    kept: list[bool],
    places: list[Path | None],
) -> None:
    for block in layout.blocks(content):
        places[block.index] = element.path
    if element.path in noisy:
        for block in layout.blocks(content):
            kept[block.index] = False
    elif layout.is_leaf(content):
        for block in layout.blocks(content):
            features = layout.features[block.index]
            if features and all(element.locally_noisy(feature) for feature in features):
                kept[block.index] = False
    else:
        slots = layout.slots(content)
        matching = element.styles.get(tuple(slot.label for slot in slots))
        for place, slot in enumerate(slots):
            child = matching[place] if matching else _most_seen(element, slot.label)
            for member in slot.members:
                if child is not None:
                    _clean(child, layout, member, noisy, kept, places)
                else:
                    for block in layout.blocks(member):
                        places[block.index] = None


def _most_seen(element: SlowElement, label: str) -> SlowElement | None:
    best: SlowElement | None = None
    for sequence in element.style_order():
        for place, child in enumerate(element.styles[sequence]):
            if sequence[place] == label and (best is None or child.pages > best.pages):
                best = child
    return best


def _build(path: Path, visits: tuple[Visit, ...]) -> SlowElement:
    element = SlowElement(path, visits)
    for sequence in {s for visit in visits for s in visit.sequences()}:
        element.styles[sequence] = []
    candidates = [
        Candidate(
            sequence,
            place,
            tuple(v.at(sequence, place) for v in visits if sequence in v.sequences()),
        )
        for sequence in element.style_order()
        for place in range(len(sequence))
    ]
    children: dict[tuple[Sequence, int], SlowElement] = {}
    for group in _groups(candidates, len(visits)):
        first = min((c.sequence, c.place) for c in group)
        child = _build((*path, first), tuple(v for c in group for v in c.visits))
        children.update({(c.sequence, c.place): child for c in group})
    for sequence, style in element.styles.items():
        style.extend(children[sequence, place] for place in range(len(sequence)))
    return element


def _groups(candidates: list[Candidate], parent_pages: int) -> Iterator[list[Candidate]]:
    groups: list[list[Candidate]] = []
    for candidate in candidates:
        for group in groups:
            if _joins(candidate, group):
                group.append(candidate)
                break
        else:
            groups.append([candidate])
    for group in groups:
        if len(group) > 1 and sum(len(c.visits) for c in group) < MERGED_SHARE * parent_pages:
            yield from ([candidate] for candidate in group)
        else:
            yield group


def _joins(candidate: Candidate, group: list[Candidate]) -> bool:
    if candidate.label != group[0].label:
        return False
    if candidate.sequence in {member.sequence for member in group}:
        return False
    one, other = candidate.characteristic(), group[0].characteristic()
    return bool(one | other) and len(one & other) / len(one | other) >= LAMBDA
