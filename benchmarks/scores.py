"""Scores of a corpus: means with intervals, differences to the best peer, groups of pages.

All intervals are 95 % percentile-bootstrap intervals that draw whole sites.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from benchmarks.corpora import read_manifest
from benchmarks.extraction import NO_CLEANING

MANY_PAGES = 5
MEASURES = ("bag", "gram4", "lcs")
GROUPS = ("languages", "labels", "sites")

Scored: TypeAlias = "Mapping[str, Sequence[Any]]"
"""The scorer's pages of each text row."""


def score_texts(
    scorer: ModuleType, corpus: Path, texts: Mapping[str, Mapping[str, str]]
) -> dict[str, list[Any]]:
    """The scorer's pages of each text row."""
    return {row: scorer.score_corpus(corpus, text) for row, text in texts.items()}


def corpus_report(
    scorer: ModuleType, corpus: Path, scored: Scored, methods: Collection[str]
) -> dict[str, Any]:
    """Figures of a corpus, by part: "all" pages, and "many": sites of `MANY_PAGES` or more.

    Each part has its number of pages and sites, `texts` (measures of each row, with intervals),
    the peer of the highest bag F1, and the `differences` of our methods to it, paired by page.
    `groups` hold the F1 of each row by language and label, where the manifest tells them, and by
    site of many pages.
    """
    manifest = read_manifest(corpus)
    sizes = Counter(str(row["site"]) for row in manifest)
    many = {
        row: [page for page in pages if sizes[page.site] >= MANY_PAGES]
        for row, pages in scored.items()
    }
    return {
        "parts": {
            name: _part(scorer, part, methods)
            for name, part in (("all", scored), ("many", many))
            if any(part.values())
        },
        "groups": _groups(scorer, manifest, sizes, scored),
    }


def _part(scorer: ModuleType, scored: Scored, methods: Collection[str]) -> dict[str, Any]:
    texts = {row: _summary(scorer, pages) for row, pages in scored.items()}
    peers = [row for row in texts if row not in methods and row != NO_CLEANING]
    part: dict[str, Any] = {
        "pages": len(next(iter(scored.values()))),
        "sites": len({page.site for page in next(iter(scored.values()))}),
        "texts": texts,
    }
    if peers:
        best = max(peers, key=lambda peer: texts[peer]["bag"]["f1"])
        part["best_peer"] = best
        part["differences"] = {
            method: _rounded(scorer.compare(scored[method], scored[best], cluster_by_site=True))
            for method in methods
        }
    return part


def _summary(scorer: ModuleType, pages: Sequence[Any]) -> dict[str, dict[str, float]]:
    whole = scorer.summary(pages)
    sites = scorer.by_site(pages).values()
    result = {}
    for measure in MEASURES:
        values = [[page.scores[measure].f1 for page in site] for site in sites]
        mean, low, high = scorer.bootstrap_difference(values)
        precision, recall = whole[measure]["p"], whole[measure]["r"]
        result[measure] = {"f1": mean, "low": low, "high": high, "p": precision, "r": recall}
    return _rounded(result)


def _groups(
    scorer: ModuleType,
    manifest: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    scored: Scored,
) -> dict[str, Any]:
    """By kind and name of group: the number of pages, and the F1 of each row by measure."""
    names = {
        str(row["id"]): {
            "languages": (row.get("lang") or "").split("-")[0].lower(),
            "labels": row.get("label") or "",
            "sites": str(row["site"]) if sizes[str(row["site"])] >= MANY_PAGES else "",
        }
        for row in manifest
    }
    result: dict[str, Any] = {}
    for kind in GROUPS:
        for row, pages in scored.items():
            members: dict[str, list[Any]] = {}
            for page in pages:
                if names[page.id][kind]:
                    members.setdefault(names[page.id][kind], []).append(page)
            for name, group in sorted(members.items()):
                entry = result.setdefault(kind, {}).setdefault(name, {"texts": {}})
                entry["pages"] = len(group)
                whole = scorer.summary(group)
                entry["texts"][row] = {m: round(whole[m]["f1"], 4) for m in MEASURES}
    return result


def _rounded(figures: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {
        measure: {name: round(figure, 4) for name, figure in values.items()}
        for measure, values in figures.items()
    }
