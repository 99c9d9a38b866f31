"""Features of a block itself: its text, its links, and what its elements are called.

Each group is a function below the names of what it yields, one row for each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from noiseclean_scrapy.methods.evidence_model.features import FeatureTable, Rows, told
from noiseclean_scrapy.methods.evidence_model.measures import ANY, LONG, NEAR, OWN, PageMeasures
from noiseclean_scrapy.methods.evidence_model.text_features import FIELDS
from noiseclean_scrapy.methods.evidence_model.tree_index import Floats, Integers, bit_rows
from noiseclean_scrapy.methods.evidence_model.vocabulary import CLASS_GROUPS, NAMES, TAG_GROUPS
from noiseclean_scrapy.page.words import page_words, words

PAGE = FeatureTable[PageMeasures]()
"""The features of a page alone."""

_DECLARED, _LEAST_DECLARED = 40, 20  # characters of a text that are looked for; of the shortest
_END = 160  # characters in which these are found
_MOST_SEARCHED = 100_000_000  # characters of what is declared, once for each text
_PLACES = {OWN: ("own", "its element"), NEAR: ("near", "elements near above")}
_PLACES[ANY] = "any", "elements above"
_OWN_TAGS = ("p", "heading", "li", "button", "div")
_CALLED = {"c": "class names of ", "x": "class names that mean ", "r": "roles of "}


@PAGE.group("text", "page", FIELDS)
def _text(page: PageMeasures) -> Rows:
    yield page.texts.features


@PAGE.group("wording", "page", {"wording": "worded like content"})
def _wording(page: PageMeasures) -> Rows:
    yield 0.0 if page.wording is None else page.wording.score(page.page.table.texts)


@PAGE.group(
    "naming",
    "page",
    {
        "named_near": "class names near by like those of content, beyond the page's mean",
        "named_around": "class names around like those of content, beyond the page's mean",
    },
)
def _naming(page: PageMeasures) -> Rows:
    naming = page.naming
    yield (
        np.zeros((2, len(page.lengths)))
        if naming is None
        else naming.score(page.arrays, page.lengths)
    )


@PAGE.group("links", "page", told("{}", "{}", "links", "link_share"))
def _links(page: PageMeasures) -> Rows:
    yield _sizes(page.page.table.links)
    yield page.link_share


def _sizes(tuples: Sequence[tuple[str, ...]]) -> Integers:
    return np.fromiter(map(len, tuples), np.int64, len(tuples))


@PAGE.group(
    "text", "page", {"images": "images", "repeated_here": "times that the text is on this page"}
)
def _occurrences(page: PageMeasures) -> Rows:
    table = page.page.table
    times = Counter(table.texts)
    yield _sizes(table.images)
    yield np.fromiter(map(times.__getitem__, table.texts), np.int64, len(table.texts))


@PAGE.group(
    "title and metadata",
    "page",
    {
        "in_title": "share of words that are in the title",
        "in_description": "share of words that are in the description",
        "declared": "stands in the text that the page declares",
    },
)
def _metadata(page: PageMeasures) -> Rows:
    texts, declared = page.page.table.texts, page.page.declared
    yield page.in_title
    found, _, *described = page_words(page.page)
    yield np.where(found > 3, described[0] / np.maximum(found, 1), 0.0) if described else -1.0
    body, parts = (" ".join(words(text)) for text in (declared.body, declared.parts))
    yield _stated(texts, body if len(body) > LONG else "", parts)


def _stated(texts: Sequence[str], body: str, parts: str) -> Floats | float:
    """Whether each text stands in what the page declares; -1 where that is not known."""
    if not body and not parts:
        return -1.0
    declared = f"{body}\n{parts}"
    most = _MOST_SEARCHED // len(declared)
    stated = np.zeros(len(texts), dtype=bool)
    stated[:most] = [any(end in declared for end in _ends(text)) for text in texts[:most]]
    return np.where(stated, 1.0, 0.0 if body else -1.0)


def _ends(text: str) -> Iterator[str]:
    """The words at both ends of a text, by which it is found; none of a short text."""
    if len(text) < _LEAST_DECLARED and text.isascii():
        return
    begin = " ".join(words(text[:_END]))
    if len(begin) >= _LEAST_DECLARED:
        yield begin[:_DECLARED]
    end = begin if len(text) <= _END else " ".join(words(text[-_END:]))
    if len(end) >= _LEAST_DECLARED:
        yield end[-_DECLARED:]


def _enter_groups(family: str, asked: Sequence[tuple[int, str]]) -> None:
    """Features that tell whether an element of a block belongs to a group of tags or names."""
    where = np.array([place for place, _ in asked])
    bits = np.array([NAMES.index(group) for _, group in asked])
    names = {}
    for place, group in asked:
        prefix, words = _PLACES[place]
        called = _CALLED[group[0]] + group[2:] if group[1:2] == "_" else group
        names[f"{prefix}:{group}"] = f"{words}: {called}"

    @PAGE.group(family, "page", names)
    def _groups(page: PageMeasures) -> Rows:
        yield bit_rows(page.groups, where, bits)


_enter_groups("tags", [*((OWN, name) for name in _OWN_TAGS), *((ANY, name) for name in TAG_GROUPS)])
_enter_groups(
    "class names and roles",
    [
        *((place, name) for name in CLASS_GROUPS for place in (NEAR, ANY)),
        (ANY, "hidden"),
    ],
)
