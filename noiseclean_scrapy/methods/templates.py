"""Page clusters by template: pages of one domain told apart by structure, each kind learned apart.

A page's structure is the set of its (parent label, child label) pairs, as hashes. Pages with the
same least hash (min-wise hashing, Broder 1997) are learned together; before cleaning, such parts
are joined where their structures agree. Both steps depend on the pages alone, not on their order,
as long as there are no more parts than `PART_LIMIT`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any, TypeAlias

from noiseclean_scrapy.methods.base import Method, Model, PageVerdict
from noiseclean_scrapy.methods.trees.counts import FORGOTTEN, more_frequent_half, read_number
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.hashes import hash64, hash_name, read_hash

PART_LIMIT = 32
"""Most parts of one cluster; a page that would open one more joins the nearest part."""
SAME_TEMPLATE = 0.6
"""Jaccard index of two parts' typical structures from which on they are one template."""
MOST_PAIRS = 5000
"""Label pairs of a page that are looked at, those of the least hashes; a part has twice as many."""

Structure: TypeAlias = frozenset[int]
_TYPICAL = 0.5


class TemplateMethod(Method):
    """Learns every template of a cluster with a method of its own, made by `create`."""

    def __init__(self, create: Callable[[], Method]) -> None:
        self._create = create
        self._parts: dict[str, _Part] = {}

    @property
    def pages(self) -> float:
        return sum(part.method.pages for part in self._parts.values())

    def observe(self, page: Page) -> None:
        structure = page_structure(page)
        part = self._part(_min_hash(structure), structure)
        part.method.observe(page)
        part.add(dict.fromkeys(structure, 1.0))

    def merge(self, other: TemplateMethod) -> None:
        for signature in sorted(other._parts):
            part = other._parts[signature]
            own = self._part(signature, part.typical())
            own.method.merge(part.method)
            own.add(part.structure)

    def decay(self, factor: float) -> None:
        for part in self._parts.values():
            part.method.decay(factor)
            part.fade(factor)
        self._drop_forgotten()

    def note_redesign(self) -> None:
        for part in self._parts.values():
            before = part.method.pages
            part.method.note_redesign()
            part.fade(part.method.pages / before if before else 1.0)
        self._drop_forgotten()

    def _drop_forgotten(self) -> None:
        """Free parts of too few pages, of which no label pair is left, for new templates."""
        self._parts = {k: p for k, p in self._parts.items() if p.method.pages >= FORGOTTEN}

    def model(self) -> TemplateModel:
        templates = []
        for group in self._templates():
            method = self._create()
            for part in group:
                method.merge(part.method)
            templates.append((_typical(group), method.model()))
        return TemplateModel(templates, self._create().model())

    def state(self) -> dict[str, Any]:
        return {
            signature: [
                part.method.state(),
                {hash_name(pair): n for pair, n in sorted(part.structure.items())},
            ]
            for signature, part in sorted(self._parts.items())
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        if len(state) > PART_LIMIT:
            raise ValueError(f"a cluster has at most {PART_LIMIT} parts, not {len(state)}")
        parts = {}
        for signature, (learned, structure) in state.items():
            part = parts[signature] = _Part(self._create())
            part.method.restore(learned)
            part.add({read_hash(pair): read_number(n) for pair, n in structure.items()})
        self._parts = parts

    def _part(self, signature: str, structure: Structure) -> _Part:
        if signature not in self._parts:
            if len(self._parts) >= PART_LIMIT:
                return max(
                    (self._parts[key] for key in sorted(self._parts)),
                    key=lambda part: _jaccard(part.typical(), structure),
                )
            self._parts[signature] = _Part(self._create())
        return self._parts[signature]

    def _templates(self) -> list[list[_Part]]:
        """Parts that show one template, together; the largest part of each comes first."""
        order = sorted(self._parts, key=lambda key: (-self._parts[key].method.pages, key))
        groups: list[list[_Part]] = []
        for key in order:
            part = self._parts[key]
            for group in groups:
                # Two parts without label pairs are alike in nothing.
                if part.typical() and _jaccard(group[0].typical(), part.typical()) >= SAME_TEMPLATE:
                    group.append(part)
                    break
            else:
                groups.append([part])
        return groups


class TemplateModel(Model):
    """The models of a cluster's templates; a page is judged by that of the nearest structure."""

    def __init__(self, templates: list[tuple[Structure, Model]], untaught: Model) -> None:
        self.templates = templates
        self._untaught = untaught

    def judge(self, page: Page) -> PageVerdict:
        if not self.templates:
            return self._untaught.judge(page)
        structure = page_structure(page)
        _, model = max(self.templates, key=lambda known: _jaccard(known[0], structure))
        return model.judge(page)


@dataclass(slots=True)
class _Part:
    """Pages with one signature: what was learned of them, and how many have each label pair."""

    method: Method
    structure: Counter[int] = field(default_factory=Counter)
    _known: Structure | None = None

    def add(self, counts: Mapping[int, float]) -> None:
        """Count pages that have each of some label pairs; of too many the rarer are forgotten."""
        self.structure.update(counts)
        if len(self.structure) > 2 * MOST_PAIRS:
            self.structure = Counter(more_frequent_half(self.structure, 2 * MOST_PAIRS))
        self._known = None

    def typical(self) -> Structure:
        if self._known is None:
            self._known = _typical([self])
        return self._known

    def fade(self, factor: float) -> None:
        """Let every page so far count `factor` of a page in the structure, as in the method."""
        faded = {pair: n * factor for pair, n in self.structure.items()}
        self.structure = Counter({pair: n for pair, n in faded.items() if n >= FORGOTTEN})
        self._known = None


def page_structure(page: Page) -> Structure:
    """The (parent label, child label) pairs of a page, each the hash of `parent>child`."""
    labels = [element.label for element in page.elements]
    pairs = {f"{labels[element.parent]}>{element.label}" for element in page.elements[1:]}
    hashes = map(hash64, pairs)
    return frozenset(nsmallest(MOST_PAIRS, hashes) if len(pairs) > MOST_PAIRS else hashes)


def _typical(parts: list[_Part]) -> Structure:
    """The label pairs that at least half of the pages have."""
    pages = sum(part.method.pages for part in parts)
    counts: Counter[int] = sum((part.structure for part in parts), Counter())
    return frozenset(pair for pair, count in counts.items() if count >= _TYPICAL * pages)


def _min_hash(structure: Structure) -> str:
    return hash_name(min(structure)) if structure else ""


def _jaccard(one: Structure, other: Structure) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 1.0
