"""Scores of a corpus: against gold text, against segments, and what its sites repeat.

All intervals are 95 % percentile-bootstrap intervals that draw whole sites.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import read_manifest
from benchmarks.extraction import NO_CLEANING, scored_rows

MANY_PAGES = 5
MEASURES = ("bag", "gram4", "lcs")
GROUPS = ("languages", "labels", "sites")
GOLD = "gold"
REPEATED_SHARE = 0.3
"""Share of a site's pages that show a repeated line."""
RECIPE_LINES = {"ingredients": "ingredients", "steps": "instructions"}
"""What is counted of recipes, and where it stands in a manifest."""
LONG_WORD = 3
KEPT_SHARE = 0.9
"""A line of a recipe is kept with this share of its words of `LONG_WORD` letters or more."""
AHEAD = 0.05
"""Bag F1 by which another tool's text of a page is clearly better."""
ROUNDS = 2000
_DIGITS = re.compile(r"\d+")

Scored: TypeAlias = "Mapping[str, Sequence[Any]]"
"""The scorer's pages of each text row."""
Counts: TypeAlias = "NDArray[Any]"
"""One line a site, or a draw of sites; one column a thing that is counted or summed."""
Values: TypeAlias = "NDArray[np.float64]"


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
            name: part_report(scorer, part, methods)
            for name, part in (("all", scored), ("many", many))
            if any(part.values())
        },
        "groups": _groups(scorer, manifest, sizes, scored),
    }


def segment_report(
    rows: Sequence[Mapping[str, Any]],
    texts: Mapping[str, Mapping[str, str]],
    methods: Collection[str],
) -> dict[str, Any]:
    """Figures over all segments of a manifest's rows.

    `texts` hold the counts of each row (see `count_segments`), its precision, recall, accuracy and
    F1, with the interval of F1; the `differences` of our methods are those to the peer of the
    highest F1.
    """
    sites = {site: line for line, site in enumerate(sorted({str(row["site"]) for row in rows}))}
    figures = {}
    f1 = {}
    for name, text in texts.items():
        counts = np.zeros((len(sites), 4), np.int64)
        for row in rows:
            counts[sites[str(row["site"])]] += count_segments(row, text.get(str(row["id"]), ""))
        f1[name] = draw_sites(counts, _segment_f1)
        figures[name] = {
            **_segment_figures(*counts.sum(axis=0).tolist()),
            **with_interval("f1", f1[name]),
        }
    report: dict[str, Any] = {
        "pages": len(rows),
        "sites": len(sites),
        "with": sum(len(row.get("with") or ()) for row in rows),
        "without": sum(len(row.get("without") or ()) for row in rows),
        "texts": figures,
    }
    best = _best_peer({name: values[0] for name, values in f1.items()}, methods)
    if best:
        report["best_peer"] = best
        report["differences"] = {
            method: with_interval("f1_difference", f1[method] - f1[best]) for method in methods
        }
    return report


def partial_report(
    scorer: ModuleType,
    rows: Sequence[Mapping[str, Any]],
    texts: Mapping[str, Mapping[str, str]],
    methods: Collection[str],
) -> dict[str, Any]:
    """Figures of a corpus without gold text: of recipes, else of segments."""
    if all(lines in rows[0] for lines in RECIPE_LINES.values()):
        return {"recipes": recipe_report(scorer, rows, texts)}
    return {"segments": segment_report(rows, texts, methods)}


def recipe_report(
    scorer: ModuleType,
    rows: Sequence[Mapping[str, Any]],
    texts: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    """What is kept of recipes: of each row of texts the shares, with intervals, and the length.

    `ingredients` and `steps` are shares of all lines of the manifest's rows (see `count_lines`),
    `characters` is the mean length of a text.
    """
    sites = {site: line for line, site in enumerate(sorted({str(row["site"]) for row in rows}))}
    figures: dict[str, dict[str, Any]] = {}
    for name, text in texts.items():
        figures[name] = {}
        for kind, lines in RECIPE_LINES.items():
            counts = np.zeros((len(sites), 2), np.int64)
            for row in rows:
                found = text.get(str(row["id"]), "")
                counts[sites[str(row["site"])]] += count_lines(scorer, row[lines], found)
            figures[name][kind] = with_interval("share", draw_sites(counts, _share))
        characters = [len(text.get(str(row["id"]), "")) for row in rows]
        figures[name]["characters"] = round(float(np.mean(characters)))
    kinds = {kind: sum(len(row[lines]) for row in rows) for kind, lines in RECIPE_LINES.items()}
    return {"pages": len(rows), "sites": len(sites), **kinds, "texts": figures}


def count_lines(scorer: ModuleType, lines: Sequence[str], text: str) -> tuple[int, int]:
    """How many of the lines are kept in the text, and how many there are.

    Kept is a line if 90 % of its words of three letters or more stand in the text; of one without
    such words all words count.
    """
    found = set(scorer.tokens(text))
    kept = 0
    for line in lines:
        words = scorer.tokens(line)
        words = [word for word in words if len(word) >= LONG_WORD] or words
        kept += sum(word in found for word in words) >= KEPT_SHARE * len(words)
    return kept, len(lines)


def count_segments(row: Mapping[str, Any], text: str) -> tuple[int, int, int, int]:
    """A page's segments: true and false positives, false and true negatives.

    Found is a segment that is a part of the text, with white space normalised and case as it is:
    `with` segments found are true positives, `without` segments found are false ones. trafilatura's
    own evaluation counts so (its tests/eval_common.py).

    >>> row = {"with": ["the council met", "on Monday"], "without": ["Read more", "Menu"]}
    >>> count_segments(row, "Menu\\nThe council met\\non   Monday")
    (1, 1, 1, 1)
    """
    text = _normal_space(text)
    wanted, unwanted = (
        [_normal_space(segment) in text for segment in row.get(kind) or ()]
        for kind in ("with", "without")
    )
    kept, noise = sum(wanted), sum(unwanted)
    return kept, noise, len(wanted) - kept, len(unwanted) - noise


def _segment_figures(tp: int, fp: int, fn: int, tn: int) -> dict[str, float]:
    return {
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
        "p": round(tp / max(tp + fp, 1), 4),
        "r": round(tp / max(tp + fn, 1), 4),
        "accuracy": round((tp + tn) / (tp + fp + fn + tn), 4),
    }


def repetition_report(
    corpus: Path, texts: Mapping[str, Mapping[str, str]]
) -> dict[str, Any] | None:
    """The share of repeated characters of each row, and of the gold text, with intervals.

    Of the sites with `MANY_PAGES` pages with gold or more, together; None if there is none.
    """
    sites: dict[str, list[str]] = {}
    gold = {}
    for row in scored_rows(read_manifest(corpus)):
        sites.setdefault(str(row["site"]), []).append(str(row["id"]))
        gold[str(row["id"])] = (corpus / row["gold"]).read_text(encoding="utf-8")
    large = [pages for pages in sites.values() if len(pages) >= MANY_PAGES]
    if not large:
        return None
    figures = {}
    for name, text in {GOLD: gold, **texts}.items():
        counts = [repeated_characters([text.get(page, "") for page in site]) for site in large]
        figures[name] = with_interval("share", draw_sites(np.array(counts), _share))
    return {"pages": sum(map(len, large)), "sites": len(large), "texts": figures}


def repeated_characters(texts: Sequence[str]) -> tuple[int, int]:
    """Characters of a site's texts in lines that `REPEATED_SHARE` of them have, and in all lines.

    Lines are compared whole, with white space normalised and digits masked. Of five pages or more,
    a repeated line stands on two at least.

    >>> repeated_characters(["Page 1\\na", "Page 22\\nb", "c\\nc", "", "d"])
    (12, 17)
    """
    on_pages: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for text in texts:
        lines = [_DIGITS.sub("0", _normal_space(line)) for line in text.splitlines()]
        on_pages.update(set(lines))
        for line in lines:
            characters[line] += len(line)
    repeated = sum(
        count for line, count in characters.items() if on_pages[line] / len(texts) >= REPEATED_SHARE
    )
    return repeated, characters.total()


def draw_sites(counts: Counts, measure: Callable[[Counts], Values]) -> Values:
    """The measure of all sites together, then of each bootstrap draw: the same draws each time."""
    sites = len(counts)
    draws = np.random.default_rng(0).multinomial(sites, np.full(sites, 1 / sites), ROUNDS)
    return measure(np.vstack([counts.sum(axis=0), draws @ counts]))


def with_interval(name: str, values: Values) -> dict[str, float]:
    """The first value, and the interval of those of the draws that follow it."""
    low, high = np.quantile(values[1:], (0.025, 0.975))
    figures = {name: values[0], "low": low, "high": high}
    return {key: round(float(value), 4) for key, value in figures.items()}


def _segment_f1(counts: Counts) -> Values:
    tp, fp, fn, _ = counts.T
    f1: Values = 2 * tp / np.maximum(2 * tp + fp + fn, 1)
    return f1


def _share(counts: Counts) -> Values:
    part, whole = counts.T
    share: Values = part / np.maximum(whole, 1)
    return share


def _normal_space(text: str) -> str:
    return " ".join(text.split())


def _best_peer(f1: Mapping[str, float], methods: Collection[str]) -> str | None:
    peers = [row for row in f1 if row not in methods and row != NO_CLEANING]
    return max(peers, key=lambda peer: f1[peer], default=None)


def part_report(scorer: ModuleType, scored: Scored, methods: Collection[str]) -> dict[str, Any]:
    """Figures of a part of a corpus: measures of each row, and differences to the best peer."""
    texts = {row: _summary(scorer, pages) for row, pages in scored.items()}
    part: dict[str, Any] = {
        "pages": len(next(iter(scored.values()))),
        "sites": len({page.site for page in next(iter(scored.values()))}),
        "texts": texts,
    }
    best = _best_peer({row: text["bag"]["f1"] for row, text in texts.items()}, methods)
    if best:
        part["best_peer"] = best
        part["differences"] = {
            method: _rounded(scorer.compare(scored[method], scored[best], cluster_by_site=True))
            for method in methods
        }
        part["behind"] = {method: behind(scored, method, methods) for method in methods}
    return part


def behind(scored: Scored, method: str, methods: Collection[str]) -> float:
    """The share of pages of which another tool's text has a bag F1 higher by AHEAD or more."""
    best: dict[str, float] = {}
    for row, pages in scored.items():
        if row not in methods and row != NO_CLEANING:
            for page in pages:
                best[page.id] = max(best.get(page.id, 0.0), page.scores["bag"].f1)
    pages = scored[method]
    ahead = [page for page in pages if best[page.id] >= page.scores["bag"].f1 + AHEAD]
    return round(len(ahead) / max(len(pages), 1), 4)


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
