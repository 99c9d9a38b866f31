"""The published methods to the letter, from the papers' text, all pages kept: for tests only.

No method, tree or counter of the package is used: a page is a tree of tags with leaves of text,
images and links. What the papers leave open is done as docs/methods.md tells.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, TypeAlias

import snowballstemmer  # type: ignore[import-untyped]
import stopwordsiso
from lxml import html as lxml_html

from noiseclean_scrapy.page import Page

INLINE = {"a", "b", "i", "img"}
DISPLAY = ("bgcolor", "border", "height", "width")


@dataclass(eq=False)
class Leaf:
    """Text, images and links that stand together in one tag; `number` counts them on the page."""

    number: int
    text: str
    images: tuple[str, ...]
    links: tuple[str, ...]
    anchor_characters: int

    @property
    def label(self) -> str:
        return "#text"

    plain_label = label

    def words(self) -> list[str]:
        return words(self.text)

    def features(self) -> Counter[str]:
        images = [f"src:{source}" for source in self.images]
        return Counter([*self.words(), *images, *(f"href:{link}" for link in self.links)])

    def leaves(self) -> list[Leaf]:
        return [self]


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


@dataclass(eq=False)
class Tag:
    """A tag with its display attributes (`plain_label`), in `label` those of inline CSS as well."""

    name: str
    label: str
    plain_label: str
    children: list[Tag | Leaf] = field(default_factory=list)

    def leaves(self) -> list[Leaf]:
        return [leaf for child in self.children for leaf in child.leaves()]

    def tags(self) -> list[Tag]:
        return [child for child in self.children if isinstance(child, Tag)]


Node: TypeAlias = "Tag | Leaf"


@dataclass(eq=False)
class LiteralPage:
    title: str
    body: Tag

    @property
    def root(self) -> Tag:
        """The virtual root above BODY."""
        return Tag("root", "root", "root", [self.body])


def read(source: str) -> LiteralPage:
    """A page of block-level tags, in which the tags of `INLINE` hold no others."""
    document: Any = lxml_html.document_fromstring(source)
    numbers = iter(range(10_000))
    body = _tag(document.find("body"), numbers)
    return LiteralPage(document.findtext("head/title") or "", body)


def _tag(node: Any, numbers: Iterator[int]) -> Tag:
    shown = "".join(f"[{name}={node.get(name)}]" for name in DISPLAY if node.get(name))
    css = ";".join(sorted(part.strip() for part in node.get("style", "").split(";") if part))
    plain = node.tag + shown
    tag = Tag(node.tag, plain + (f"{{{css}}}" if css else ""), plain)
    pieces: list[str] = [node.text or ""]
    anchors: list[str] = []
    images: list[str] = []
    links: list[str] = []

    def end() -> None:
        text, anchor = (" ".join("".join(part).split()) for part in (pieces, anchors))
        if text or images:
            leaf = Leaf(next(numbers), text, tuple(images), tuple(links), len(anchor))
            tag.children.append(leaf)
        for part in (pieces, anchors, images, links):
            part.clear()

    for child in node:
        if child.tag in INLINE:
            for inline in child.iter():
                images.extend(filter(None, [inline.get("src")]))
                links.extend(filter(None, [inline.get("href")]))
                anchors.append(inline.text_content() if inline.tag == "a" else "")
            pieces.append(child.text_content())
        else:
            end()
            below = _tag(child, numbers)
            if below.leaves():
                tag.children.append(below)
        pieces.append(child.tail or "")
    end()
    return tag


def read_built(page: Page) -> LiteralPage:
    """A page that was read with the `display` of its budget."""
    tags = [Tag(e.tag, e.label, e.label.partition("{")[0]) for e in page.elements]
    leaves = [Leaf(b.index, b.text, b.images, b.links, b.link_characters) for b in page.blocks]
    for tag, element in reversed(list(zip(tags, page.elements, strict=True))):
        below = [tags[c] if c >= 0 else leaves[~c] for c in element.content]
        tag.children = [child for child in below if child.leaves()]
    return LiteralPage(page.title, tags[0])


def entropy(shares: Sequence[float], m: int) -> float:
    """-sum p log_m p; 0 for m = 1."""
    return -math.fsum(p * math.log(p, m) for p in shares) if m > 1 else 0.0


def feature_entropies(counts: Sequence[Counter[str]]) -> dict[str, float]:
    """H(a_i) over the pages, or tag nodes, of one place."""
    totals = sum(counts, Counter())
    return {
        feature: entropy([c[feature] / total for c in counts if feature in c], len(counts))
        for feature, total in totals.items()
    }


# What both trees share: growing from the top, and merging of like child nodes.


@dataclass(eq=False)
class Element:
    """An element node: the tag nodes that merged into it, and its styles."""

    visits: list[Node]
    leaf_visits: list[Node]
    styles: dict[tuple[str, ...], list[Element]] = field(default_factory=dict)
    uses: dict[tuple[str, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.m = len(self.visits)
        self.entropies = feature_entropies([_features(visit) for visit in self.leaf_visits])

    def leaf_importance(self) -> float:
        """1 - mean H over the features of a leaf; 1 on one page."""
        if len(self.leaf_visits) == 1 or not self.entropies:
            return 1.0
        return 1 - math.fsum(self.entropies.values()) / len(self.entropies)

    def node_importance(self) -> float:
        """-sum p_i log_m p_i over the styles; being a leaf is one more."""
        if self.m == 1:
            return 1.0
        numbers = [*self.uses.values(), *filter(None, [len(self.leaf_visits)])]
        return entropy([number / self.m for number in numbers], self.m)


@dataclass(eq=False)
class Group:
    """Child nodes of one label that merged, and their places."""

    members: list[Node]
    places: list[tuple[tuple[str, ...], int]]

    def characteristic(self) -> set[str]:
        frequency = Counter(feature for node in self.members for feature in _features(node))
        return {f for f, n in frequency.items() if n >= 0.85 * len(self.members)}


def grow(
    visits: list[Node],
    is_leaf: Callable[[Node], bool],
    label: Callable[[Node], str],
    one_a_style: bool,
) -> Element:
    """The element node of these tag nodes, and all below it."""
    element = Element(visits, [visit for visit in visits if is_leaf(visit)])
    with_style: dict[tuple[str, ...], list[Tag]] = defaultdict(list)
    for visit in visits:
        if isinstance(visit, Tag) and not is_leaf(visit):
            with_style[tuple(map(label, visit.children))].append(visit)
    groups = [
        Group([tag.children[place] for tag in tags], [(style, place)])
        for style, tags in sorted(with_style.items())
        for place in range(len(style))
    ]
    element.uses = {style: len(tags) for style, tags in with_style.items()}
    children = {}
    for group in merge(groups, one_a_style):
        child = grow(group.members, is_leaf, label, one_a_style)
        children.update(dict.fromkeys(group.places, child))
    for style in with_style:
        element.styles[style] = [children[style, place] for place in range(len(style))]
    return element


def merge(groups: list[Group], one_a_style: bool) -> list[Group]:
    """Merged until no two are alike: equal sets first, then the larger to their most alike."""
    equal: list[Group] = []
    for group in groups:
        near = (o for o in equal if _may_merge(o, group, one_a_style) and _likeness(o, group) == 1)
        _join(equal, group, next(near, None))
    left = sorted(equal, key=lambda group: (-len(group.members), group.places))
    done: list[Group] = []
    while left:
        group = left.pop(0)
        alike = [o for o in done if _may_merge(o, group, one_a_style)]
        best = max(alike, key=lambda other: _likeness(other, group), default=None)
        if best is None or _likeness(best, group) < 0.85:
            done.append(group)
        else:
            done.remove(best)
            left.insert(0, Group(group.members + best.members, group.places + best.places))
    return done


def _join(groups: list[Group], group: Group, near: Group | None) -> None:
    if near is None:
        groups.append(Group(group.members, group.places))
    else:
        near.members, near.places = near.members + group.members, near.places + group.places


def _may_merge(one: Group, other: Group, one_a_style: bool) -> bool:
    (style, place), (other_style, other_place) = one.places[0], other.places[0]
    if style[place] != other_style[other_place]:
        return False
    return not one_a_style or {s for s, _ in one.places}.isdisjoint(s for s, _ in other.places)


def _likeness(one: Group, other: Group) -> float:
    left, right = one.characteristic(), other.characteristic()
    return len(left & right) / len(left | right) if left and right else 0.0


def _features(node: Node) -> Counter[str]:
    return sum((leaf.features() for leaf in node.leaves()), Counter())


# Site style tree (Yi, Liu & Li 2003).


class StyleTree:
    """`kept` and `importances` of the leaves of a page, `weights` of its features."""

    def __init__(self, pages: Sequence[LiteralPage], threshold: float) -> None:
        def is_leaf(node: Node) -> bool:
            return isinstance(node, Leaf) or not node.tags()

        self._is_leaf = is_leaf
        self._threshold = threshold
        roots: list[Node] = [page.root for page in pages if page.body.leaves()]
        self.root = grow(roots, is_leaf, lambda node: node.plain_label, one_a_style=True)
        self._known: dict[Element, tuple[float, bool]] = {}

    def clean(self, page: LiteralPage) -> tuple[list[bool], list[float | None], Counter[str]]:
        leaves = page.body.leaves()
        self._kept = [True] * len(leaves)
        self._importances: list[float | None] = [None] * len(leaves)
        self._weights: Counter[str] = Counter()
        if leaves:
            self._map(self.root, page.root)
        return self._kept, self._importances, self._weights

    def measure(self, element: Element) -> tuple[float, bool]:
        """CompImp, and whether the element is noisy (Def. 6)."""
        if element not in self._known:
            children = [child for below in element.styles.values() for child in below]
            importance = self._importance(element)
            noisy = importance < self._threshold and all(self.measure(c)[1] for c in children)
            self._known[element] = importance, noisy
        return self._known[element]

    def _importance(self, element: Element) -> float:
        """Def. 4 and 5."""
        cases = [
            (element.uses[style], math.fsum(self.measure(child)[0] for child in below) / len(below))
            for style, below in element.styles.items()
        ]
        if element.leaf_visits:
            cases.append((len(element.leaf_visits), element.leaf_importance()))
        if not element.styles:
            return cases[0][1]
        attenuation = 0.9 ** len(cases)
        below = math.fsum(number / element.m * value for number, value in cases)
        return (1 - attenuation) * element.node_importance() + attenuation * below

    def _map(self, element: Element, node: Node) -> None:
        """MapSST: noisy is deleted, what no style matches is possibly meaningful and kept."""
        if self.measure(element)[1]:
            self._end(element, node, noisy=True)
        elif self._is_leaf(node):
            self._end(element, node, noisy=False)
        elif isinstance(node, Tag):
            style = element.styles.get(tuple(child.plain_label for child in node.children))
            if style is None:
                for leaf in node.leaves():
                    self._weights.update(leaf.features())
                return
            for child, below in zip(style, node.children, strict=True):
                self._map(child, below)

    def _end(self, element: Element, node: Node, *, noisy: bool) -> None:
        importance, _ = self.measure(element)
        local = {f for f, h in element.entropies.items() if 1 - h < 0.01}
        local = local if len(element.leaf_visits) > 1 else set()
        for leaf in node.leaves():
            features = leaf.features()
            gone = noisy or (features and features.keys() <= local)
            self._kept[leaf.number] = not gone
            self._importances[leaf.number] = importance
            if not gone:
                self._weights.update({f: n for f, n in features.items() if f not in local})


# Compressed structure tree (Yi & Liu 2003).


class StructureTree:
    """The weights of the pages' features."""

    def __init__(self, pages: Sequence[LiteralPage]) -> None:
        def is_leaf(node: Node) -> bool:
            """Virtual leaves are the grandparents of the actual leaf nodes."""
            return isinstance(node, Leaf) or not any(child.tags() for child in node.tags())

        with_content: list[Node] = [page.root for page in pages if page.body.leaves()]
        self.root = grow(with_content, is_leaf, lambda node: node.label, one_a_style=False)
        self.weights: dict[Leaf, dict[str, float]] = {}
        self._weigh(self.root, 1.0)

    def page_weights(self, page: LiteralPage) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for leaf in page.body.leaves():
            for feature, weight in self.weights[leaf].items():
                found[feature] += weight
        return dict(found)

    def _weigh(self, element: Element, product: float) -> None:
        """`product` is that of 1 - NodeImp along the path to the element (equation 4)."""
        if element.styles:
            product *= 1 - element.node_importance()
        leaf_product = product * (1 - element.leaf_importance())
        for visit in element.leaf_visits:
            for leaf in visit.leaves():
                self.weights[leaf] = {
                    feature: (1 - leaf_product) * (1 - element.entropies[feature]) * n
                    for feature, n in leaf.features().items()
                }
        for child in {id(c): c for below in element.styles.values() for c in below}.values():
            self._weigh(child, product)


# InfoDiscoverer (Lin & Ho 2002).


class InfoDiscoverer:
    """Entropies of blocks, the threshold between informative and redundant ones."""

    def __init__(self, pages: Sequence[LiteralPage]) -> None:
        self._stemmer = snowballstemmer.stemmer("porter")
        self._stop_words = stopwordsiso.stopwords("en")
        with_content = [page for page in pages if page.body.leaves()]
        terms = [sum((terms for _, terms in self.blocks(page)), Counter()) for page in with_content]
        self.entropies = feature_entropies(terms)
        found = [block for page in with_content for _, block in self.blocks(page)]
        self.threshold = self._greedy([(self.block_entropy(b), set(b)) for b in found if b])

    def blocks(self, page: LiteralPage) -> list[tuple[list[Leaf], Counter[str]]]:
        """Leaves and terms of each TABLE, of the page outside of all, and of the TITLE."""
        found: dict[int, list[Leaf]] = defaultdict(list)

        def walk(tag: Tag, table: int) -> None:
            table = id(tag) if tag.name == "table" else table
            for child in tag.children:
                if isinstance(child, Leaf):
                    found[table].append(child)
                else:
                    walk(child, table)

        walk(page.body, 0)
        blocks = [
            (leaves, self._terms([word for leaf in leaves for word in leaf.words()]))
            for leaves in found.values()
        ]
        return [*blocks, ([], self._terms(words(page.title)))]

    def block_entropy(self, terms: Counter[str]) -> float:
        """H(CB): the mean over the different terms."""
        return math.fsum(self.entropies.get(t, 0.0) for t in terms) / len(terms) if terms else 0.0

    def _terms(self, found: list[str]) -> Counter[str]:
        return Counter(self._stemmer.stemWord(w) for w in found if w not in self._stop_words)

    def _greedy(self, blocks: list[tuple[float, set[str]]]) -> float:
        """Raised from 0.1 by 0.1 until a step adds no feature to those that there are."""

        def included(tenths: int) -> set[str]:
            return {t for h, terms in blocks if h <= tenths / 10 + 1e-9 for t in terms}

        for tenths in range(1, 10):
            if included(tenths) and included(tenths) == included(tenths + 1):
                return tenths / 10
        return 1.0


# Satisfiable sub-trees (Qi & Sun).


def satisfiable(page: LiteralPage, g: int, alpha: float, beta: float, gamma: float) -> list[bool]:
    """Which leaves lie in a satisfiable sub-tree."""
    parents: dict[Node, Tag] = {}
    tags = [page.body]
    for tag in tags:
        tags.extend(tag.tags())
        parents.update(dict.fromkeys(tag.children, tag))

    def generations(node: Node) -> list[Tag]:
        """The ancestors of a text node, up to the g-th."""
        found: list[Tag] = []
        while node in parents and len(found) < g:
            node = parents[node]
            found.append(node)
        return found

    texts = [leaf for leaf in page.body.leaves() if leaf.text]
    roots = {generations(leaf)[-1] for leaf in texts}
    kept = [False] * len(page.body.leaves())
    for root in roots:
        longest = max(len(leaf.text) for leaf in texts if root in generations(leaf))
        total = sum(len(leaf.text) for leaf in root.leaves())
        anchors = sum(leaf.anchor_characters for leaf in root.leaves())
        if longest >= alpha and total >= beta and anchors <= gamma * total:
            for leaf in root.leaves():
                kept[leaf.number] = True
    return kept


# Template detection (Bar-Yossef & Rajagopalan 2002).


def pagelets(page: LiteralPage, k: int) -> list[Tag]:
    """Partition from the top: an element that has a child with k hyperlinks is divided."""
    found = []
    queue = [page.body]
    while queue:
        tag = queue.pop(0)
        if any(sum(len(leaf.links) for leaf in child.leaves()) >= k for child in tag.tags()):
            queue.extend(tag.tags())
        else:
            found.append(tag)
    return found


def shingle(tag: Tag) -> int | None:
    """The least hash of four words in a row."""
    all_words = [word for leaf in tag.leaves() for word in leaf.words()]
    rows = {" ".join(all_words[n : n + 4]) for n in range(max(1, len(all_words) - 3))}
    hashes = [int(blake2b(row.encode(), digest_size=8).hexdigest(), 16) for row in rows]
    return min(hashes) if all_words else None


def without_templates(pages: Sequence[LiteralPage], page: LiteralPage, k: int) -> list[bool]:
    """Which leaves are in no pagelet that two pages show."""
    shown = Counter(s for other in pages for s in {shingle(tag) for tag in pagelets(other, k)})
    kept = [True] * len(page.body.leaves())
    for tag in pagelets(page, k):
        if shingle(tag) is not None and shown[shingle(tag)] >= 2:
            for leaf in tag.leaves():
                kept[leaf.number] = False
    return kept
