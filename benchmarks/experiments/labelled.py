"""Pages with a class and a site, and their feature vectors with and without cleaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.corpora import read_corpus
from benchmarks.extraction import NO_CLEANING
from example_project.shops import shop_pages
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.words import block_features

SHOPS = "shops"
CONTROLS = ("recurring features only", "no recurring features")
"""Texts of no method: features on half of the pages of their site or more, and all others."""

Matrix = npt.NDArray[np.float64]
Vector = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page, the site it is learned with, and its class."""

    site: str
    label: str
    page: Page


def read_labelled(name: str, shared: Path) -> list[LabelledPage]:
    """`shops`, the name of a corpus of `shared`, or a folder whose manifest holds `label`."""
    if name == SHOPS:
        return [
            LabelledPage(page.site, page.category, build_page(page.html, url=page.url))
            for page in shop_pages()
        ]
    named = shared / "corpora" / name
    folder = named if named.is_dir() else Path(name)
    return [
        LabelledPage(page.site, str(page.row["label"]), build_page(page.html, url=page.url))
        for page in read_corpus(folder)
        if page.row.get("label")
    ]


def feature_vectors(pages: Sequence[LabelledPage], setting: str, **options: Any) -> list[Vector]:
    """A vector a page: the weights that a method gives, learned on all pages of each site.

    Without cleaning, the counts of all features of all blocks. `options` are the method's.
    """
    if setting == NO_CLEANING:
        return [sum((block_features(b) for b in page.page.blocks), Counter()) for page in pages]
    cleaners: dict[str, SiteCleaner] = {}
    for page in pages:
        cleaners.setdefault(page.site, SiteCleaner(setting, **options)).observe_page(page.page)
    return [cleaners[page.site].model().judge(page.page).weights for page in pages]


def controls(vectors: Sequence[Vector], sites: Sequence[str]) -> dict[str, list[Vector]]:
    """The `CONTROLS`, out of the vectors without cleaning: what recurrence alone tells."""
    pages = Counter(sites)
    frequency: dict[str, Counter[str]] = {site: Counter() for site in pages}
    for vector, site in zip(vectors, sites, strict=True):
        frequency[site].update(vector.keys())
    parts: tuple[list[Vector], list[Vector]] = ([], [])
    for vector, site in zip(vectors, sites, strict=True):
        recurring = {f: w for f, w in vector.items() if 2 * frequency[site][f] >= pages[site]}
        parts[0].append(recurring)
        parts[1].append({f: w for f, w in vector.items() if f not in recurring})
    return dict(zip(CONTROLS, parts, strict=True))


def to_matrix(vectors: Sequence[Vector]) -> Matrix:
    """The vectors as rows; a column a feature, in alphabetical order."""
    names = {name: i for i, name in enumerate(sorted({f for vector in vectors for f in vector}))}
    matrix = np.zeros((len(vectors), len(names)))
    for row, vector in zip(matrix, vectors, strict=True):
        for name, weight in vector.items():
            row[names[name]] = weight
    return matrix


def only_words(vectors: Sequence[Vector]) -> list[Vector]:
    """The vectors without image files and link targets."""
    return [
        {name: w for name, w in vector.items() if not name.startswith(("src:", "href:"))}
        for vector in vectors
    ]


def unit_rows(matrix: Matrix) -> Matrix:
    """Rows scaled to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(lengths > 0, lengths, 1))


def inverse_document_frequency(matrix: Matrix) -> Matrix:
    """Columns multiplied by ln(n / document frequency)."""
    frequency = np.maximum((matrix > 0).sum(axis=0), 1)
    return np.asarray(matrix * np.log(len(matrix) / frequency))
