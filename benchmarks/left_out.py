"""`evidence` on sites that its model has not seen, beside other extractors.

    python benchmarks/train_evidence.py --left-out texts    # writes the texts of evidence
    python benchmarks/left_out.py --texts texts             # scores them, and the peers'

The corpora that the weights were fitted on cannot be scored with these weights. In the
cross-validation every page is cleaned by a model of the other folds, through the same code as in a
crawl that has seen this one page of the site; folds are made of whole sites.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.corpora import LEFT_OUT, SHARED, environment, load_scorer, read_manifest
from benchmarks.extraction import (
    NO_CLEANING,
    PEERS,
    is_installed,
    peer_distributions,
    run_peer,
    scored_rows,
)
from benchmarks.quality import RESULTS, RUNNER, VERSIONS, publish
from benchmarks.scores import part_report, partial_report, score_texts
from benchmarks.tables import (
    Table,
    difference,
    hundredths,
    measures,
    precision_recall,
    quality_tables,
)

LEANS = ("evidence", "evidence-precision", "evidence-recall")
"""Rows of the model: its default, and what leans to precision and to recall."""
EVERY_KIND = "all"


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--texts", type=Path, required=True, help="texts by corpus and extractor")
    parser.add_argument("--corpus", action="append", help=f"default: {', '.join(LEFT_OUT)}")
    parser.add_argument("--peer", action="append", help=f"default: {', '.join(PEERS)}")
    parser.add_argument("--out", type=Path, default=RESULTS / "left_out.json")
    parser.add_argument("--markdown", type=Path, help="the tables as Markdown")
    args = parser.parse_args(argv)
    scorer = load_scorer(args.shared)
    distributions = peer_distributions(args.shared / RUNNER)
    peers = [peer for peer in args.peer or PEERS if is_installed(distributions.get(peer, peer))]
    results = {}
    for name in args.corpus or LEFT_OUT:
        corpus = args.shared / "corpora" / name
        texts = {
            row: read_texts(args.texts / name / f"{row}.jsonl") for row in (NO_CLEANING, *LEANS)
        }
        for peer in peers:
            texts[peer] = run_peer(peer, corpus, args.shared / RUNNER, args.texts)
        results[name] = corpus_figures(scorer, corpus, texts)
    versions = dict.fromkeys([*VERSIONS, *sorted({distributions[peer] for peer in peers})])
    figures = {**environment(versions), "results": results}
    publish(tables(results), figures, args.markdown, args.out)
    return 0


def corpus_figures(
    scorer: ModuleType, corpus: Path, texts: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Of a corpus with gold the figures by type of page, of others those of partial gold."""
    rows = scored_rows(read_manifest(corpus))
    if not rows[0].get("gold"):
        return partial_report(scorer, rows, texts, LEANS)
    labels = {str(row["id"]): str(row.get("label") or "") for row in rows}
    scored = score_texts(scorer, corpus, texts)
    kinds = {}
    for kind in (EVERY_KIND, *sorted(set(labels.values()) - {""})):
        pages = {
            row: [page for page in found if kind in (EVERY_KIND, labels[page.id])]
            for row, found in scored.items()
        }
        kinds[kind] = part_report(scorer, pages, LEANS)
    return {"kinds": kinds}


def read_texts(path: Path) -> dict[str, str]:
    """Texts by page id from JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return {row["id"]: row["text"] for row in map(json.loads, lines)}


def tables(results: Mapping[str, Any]) -> Iterator[Table]:
    """By type of page where there is gold, then those of partial gold."""
    for corpus, report in results.items():
        kinds = report.get("kinds", {})
        if not kinds:
            continue
        header = ["text", *(f"{kind}\n{part['pages']} pages" for kind, part in kinds.items())]
        rows = next(iter(kinds.values()))["texts"]
        yield Table(
            f"{corpus}, left-out sites: F1 (bag / 4-gram / LCS) and the interval of bag",
            header,
            [[row, *(measures(part["texts"][row]) for part in kinds.values())] for row in rows],
        )
        yield Table(
            f"{corpus}, left-out sites: bag F1 minus that of the best peer",
            header,
            [["best peer", *(part["best_peer"] for part in kinds.values())]]
            + [
                [lean, *(difference(part["differences"][lean]) for part in kinds.values())]
                for lean in LEANS
            ],
        )
        yield Table(
            f"{corpus}, left-out sites: pages in a hundred of which a peer's is better by 0.05",
            header,
            [[lean, *(hundredths(part, lean) for part in kinds.values())] for lean in LEANS],
        )
        yield Table(
            f"{corpus}, left-out sites: bag precision / recall",
            header,
            [
                [row, *(precision_recall(part["texts"][row]) for part in kinds.values())]
                for row in rows
            ],
        )
    yield from quality_tables(results)


if __name__ == "__main__":
    sys.exit(main())
