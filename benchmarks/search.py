"""Search in what a crawl stored: what menus and related boxes cost it, what cleaning gives back.

    python benchmarks/search.py
    python benchmarks/search.py --corpus cleanportaleval --peer readability
    python benchmarks/search.py --postgresql postgresql://user@host/database

The pages with gold text of all corpora go into one store a text: all visible text, the clean text
of a real crawl (see `quality.py`), the text of peers, and the gold text, which is what perfect
cleaning would give. Titles stay empty: it is the texts that are compared. Each store answers the
same queries with `Store.search`; `queries.py` says how they are drawn.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import SHARED, environment, read_corpus
from benchmarks.extraction import NO_CLEANING, crawl, run_peer
from benchmarks.indexes import build_index, empty_database
from benchmarks.quality import CURVE_CORPORA, RUNNER, installed_peers
from benchmarks.queries import (
    KINDS,
    TOPIC,
    Document,
    Query,
    draw_pages,
    known_items,
    template_words,
    topics,
)
from benchmarks.ranking import ALL, CUT, ndcg, precision, reciprocal_rank, summarise
from benchmarks.reporting import publish_figures, report_parser
from benchmarks.scores import GOLD
from benchmarks.tables import Table, interval, signed
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.store import Store

"""Those with gold text that the weights of `evidence` were not fitted on."""
PEERS = ("trafilatura-title",)
"""With its own title first: without it few titles would find their pages."""
PAGES = 150
"""Of each corpus, to draw queries from."""
LANGUAGE = "en"
"""Of the corpora whose manifests tell none."""
VERSIONS = ("noiseclean-scrapy", "scrapy", "sqlalchemy")


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = _parser()
    args = parser.parse_args(argv)
    if not (args.shared / "corpora").is_dir():
        parser.error(f"no corpora in {args.shared}: name the folder with --shared")
    runner = args.shared / RUNNER
    peers = installed_peers(parser, args.peer, runner)
    documents: list[Document] = []
    for name in args.corpus or CURVE_CORPORA:
        corpus = args.shared / "corpora" / name
        texts = crawl(corpus, args.method, args.setting)
        texts |= {peer: run_peer(peer, corpus, runner, args.texts) for peer in peers}
        documents += read_documents(corpus, texts)
    figures = measure(documents, args.postgresql, args.pages)
    versions = dict.fromkeys([*VERSIONS, *sorted(set(peers.values()))])
    publish_figures(args, search_tables(figures), {**environment(versions), **figures})
    return 0


def read_documents(corpus: Path, texts: Mapping[str, Mapping[str, str]]) -> list[Document]:
    """The pages with gold text; a page that a row has no text of has an empty one."""
    return [
        Document(
            key=f"{corpus.name}/{page.id}",
            corpus=corpus.name,
            site=f"{corpus.name}/{page.site}",
            language=page.row.get("lang") or LANGUAGE,
            title=page.row.get("title") or page.gold.partition("\n")[0],
            texts={**{row: text.get(page.id, "") for row, text in texts.items()}, GOLD: page.gold},
        )
        for page in read_corpus(corpus)
        if page.gold
    ]


def measure(
    documents: Sequence[Document], postgresql: str | None = None, most: int = PAGES
) -> dict[str, Any]:
    """Sizes of the indexes, measures of the queries by kind and corpus, and template words.

    Queries are drawn from `most` pages of each corpus.
    """
    rows = list(documents[0].texts)
    with ExitStack() as stack:
        urls = {row: stack.enter_context(empty_database(postgresql)) for row in rows}
        index = {row: build_index(url, documents, row) for row, url in urls.items()}
        stores = {row: stack.enter_context(Store(url, read_only=True)) for row, url in urls.items()}
        pages = draw_pages(documents, most)
        queries = [*known_items(documents, pages), *topics(pages, stores[GOLD])]
        answers = {
            row: np.array([_answer(store, query) for query in queries])
            for row, store in stores.items()
        }
        return {
            "backend": "postgresql" if postgresql else "sqlite",
            "pages": len(documents),
            "sites": len({document.site for document in documents}),
            "drawn_from": len(pages),
            "index": index,
            "kinds": {
                kind: summarise(queries, answers, kind)
                for kind in KINDS
                if any(query.kind == kind for query in queries)
            },
            "template_words": [
                _count_false(stores, language, query, len(documents))
                for language, query in template_words()
            ],
        }


def search_tables(figures: Mapping[str, Any]) -> Iterator[Table]:
    """Sizes, means and differences over all corpora, means by corpus, words of templates."""
    rows = list(figures["index"])
    raw = figures["index"][NO_CLEANING]["bytes"]
    yield Table(
        f"Index of {figures['pages']} pages of {figures['sites']} sites ({figures['backend']})",
        ["text", "million characters", "index, MB", "% of no cleaning"],
        [
            [
                row,
                f"{size['characters'] / 1e6:.2f}",
                f"{size['bytes'] / 1e6:.2f}",
                f"{100 * size['bytes'] / raw:.0f}",
            ]
            for row, size in figures["index"].items()
        ],
    )
    kinds = figures["kinds"]
    counts = [f"{kind}\n{groups[ALL]['queries']} queries" for kind, groups in kinds.items()]
    yield Table(
        f"First right page (MRR@{CUT}; topic: precision@{CUT}) / nDCG@{CUT}, and pages found",
        ["text", *counts],
        [
            [row, *(_cell(groups[ALL]["texts"][row], kind) for kind, groups in kinds.items())]
            for row in rows
        ],
    )
    yield Table(
        f"The first of them minus that of {NO_CLEANING}",
        ["text", *counts],
        [
            [
                row,
                *(
                    signed(_values(groups[ALL]["differences"][row][_first(kind)]))
                    for kind, groups in kinds.items()
                ),
            ]
            for row in rows
            if row != NO_CLEANING
        ],
    )
    for kind, groups in kinds.items():
        corpora = {corpus: part for corpus, part in groups.items() if corpus != ALL}
        yield Table(
            f"The same for {kind} by corpus",
            ["text", *(f"{corpus}\n{part['queries']} queries" for corpus, part in corpora.items())],
            [
                [row, *(_cell(part["texts"][row], kind) for part in corpora.values())]
                for row in rows
            ],
        )
    yield Table(
        "Words of templates: pages found, and of them those whose gold text lacks the words",
        ["language", "query", *rows],
        [
            *(
                [entry["language"], entry["query"], *_counts([entry], rows)]
                for entry in figures["template_words"]
            ),
            ["", "all of them", *_counts(figures["template_words"], rows)],
        ],
    )


def _parser() -> argparse.ArgumentParser:
    parser = report_parser(__doc__, "search")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--corpus", action="append", help=f"default: {', '.join(CURVE_CORPORA)}")
    parser.add_argument("--method", choices=METHODS, default="evidence")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--peer", nargs="*", default=PEERS, help=f"default: {PEERS[0]}")
    parser.add_argument("--texts", type=Path, help="folder that keeps the peers' texts for reuse")
    parser.add_argument("--pages", type=int, default=PAGES, help="to draw queries from, a corpus")
    parser.add_argument("--postgresql", metavar="URL", help="index there instead of in SQLite")
    return parser


def _answer(store: Store, query: Query) -> tuple[float, float, float, float]:
    """The measures of a query, in their order in `MEASURES`."""
    found = store.search(query.text, limit=CUT)
    ranked = [hit.key for hit in found.hits]
    return (
        reciprocal_rank(ranked, query.right),
        ndcg(ranked, query.right),
        precision(ranked, query.right),
        found.total,
    )


def _count_false(
    stores: Mapping[str, Store], language: str, query: str, pages: int
) -> dict[str, Any]:
    """How many of all pages each row finds, and how many of them the gold texts do not."""
    found = {
        row: {hit.key for hit in store.search(query, limit=pages).hits}
        for row, store in stores.items()
    }
    texts = {
        row: {"found": len(keys), "false": len(keys - found[GOLD])} for row, keys in found.items()
    }
    return {"language": language, "query": query, "texts": texts}


def _cell(measures: Mapping[str, Mapping[str, float]], kind: str) -> str:
    mean, _, bounds = interval(_values(measures[_first(kind)])).partition("\n")
    return (
        f"{mean} / {measures['ndcg']['mean']:.3f}\n{bounds}\n{measures['pages']['mean']:.1f} pages"
    )


def _counts(entries: Sequence[Mapping[str, Any]], rows: Sequence[str]) -> Iterator[str]:
    for row in rows:
        yield " / ".join(
            str(sum(entry["texts"][row][count] for entry in entries))
            for count in ("found", "false")
        )


def _first(kind: str) -> str:
    return "precision" if kind == TOPIC else "reciprocal_rank"


def _values(figures: Mapping[str, float]) -> list[float]:
    return list(figures.values())


if __name__ == "__main__":
    sys.exit(main())
