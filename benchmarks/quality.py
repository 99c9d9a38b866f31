"""Clean text against gold text: crawls each corpus with the add-on and scores what was stored.

    python benchmarks/quality.py                       # the four corpora of many pages a site
    python benchmarks/quality.py --corpus big9-dev --peer trafilatura --peer readability
    python benchmarks/quality.py --setting NOISECLEAN_CLUSTER_BY=host --worst 10

Every corpus goes through `scrapy crawl archive`, that is through the middleware and the pipeline.
The corpora, the scorer and the peers' runner are those of the folder `shared` beside the
repository; peers need `pip install "noiseclean-scrapy[bench]"`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.corpora import ROOT, SHARED, environment, load_scorer, read_manifest
from noiseclean_scrapy.store import Store

CORPORA = ("cleanportaleval", "big9-dev", "blogs-dev", "daniel-dev")
MANY_PAGES = 5
MEASURES = ("bag", "gram4", "lcs")
VERSIONS = ("noiseclean-scrapy", "scrapy", "lxml", "parsel", "sqlalchemy")
PEER_VERSIONS = ("trafilatura", "readability-lxml", "resiliparse", "justext")


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--corpus", action="append", help=f"default: {', '.join(CORPORA)}")
    parser.add_argument("--method", action="append", help="default: style-tree")
    parser.add_argument("--peer", action="append", default=[], help="a peer of peers.py --list")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--worst", type=int, default=0, help="print the N worst pages a corpus")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/quality.json")
    args = parser.parse_args(argv)
    if not (args.shared / "corpora").is_dir():
        parser.error(f"no corpora in {args.shared}: name the folder with --shared")

    scorer = load_scorer(args.shared)
    results: dict[str, Any] = {}
    for name in args.corpus or CORPORA:
        corpus = args.shared / "corpora" / name
        texts: dict[str, dict[str, str]] = {}
        for method in args.method or ["style-tree"]:
            texts |= crawl(corpus, method, args.setting)
        for peer in args.peer:
            texts[peer] = run_peer(peer, corpus, args.shared / "bench/peers.py")
        results[name] = {row: score(scorer, corpus, text) for row, text in texts.items()}
        for method in args.method or ["style-tree"]:
            print_worst(f"{name} {method}", results[name][method], args.worst)
    print_tables(results)
    write_report(args.out, results, args.setting)
    return 0


def crawl(corpus: Path, method: str, settings: Sequence[str]) -> dict[str, dict[str, str]]:
    """Texts by page id: all visible text, and the final clean text, as the store has them."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/noiseclean.db"
        items = Path(folder, "items.jsonl")
        command = [sys.executable, "-m", "scrapy", "crawl", "archive", "-L", "WARNING"]
        command += ["-a", f"source={corpus.resolve()}", "-O", f"{items}:jsonlines"]
        ours = [f"NOISECLEAN_DATABASE_URL={database}", f"NOISECLEAN_METHOD={method}"]
        for setting in [*ours, *settings]:
            command += ["-s", setting]
        subprocess.run(command, cwd=ROOT, check=True)
        with items.open(encoding="utf-8") as lines:
            ids = {row["url"]: row["id"] for row in map(json.loads, lines)}
        visible: dict[str, str] = {}
        cleaned: dict[str, str] = {}
        with Store(database, read_only=True) as store:
            for page in store.pages():
                assert page.cleaned
                visible[ids[page.url]] = "\n".join(b["text"] for b in page.cleaned.blocks)
                cleaned[ids[page.url]] = page.cleaned.text
        return {"no cleaning": visible, method: cleaned}


def run_peer(peer: str, corpus: Path, runner: Path) -> dict[str, str]:
    """Texts of another extractor by page id."""
    with tempfile.TemporaryDirectory() as folder:
        out, stats = Path(folder, "texts.jsonl"), Path(folder, "stats.json")
        command = [sys.executable, str(runner), "--peer", peer, "--corpus", str(corpus)]
        subprocess.run([*command, "--out", str(out), "--stats", str(stats)], check=True)
        with out.open(encoding="utf-8") as lines:
            return {row["id"]: row["text"] for row in map(json.loads, lines)}


def score(scorer: ModuleType, corpus: Path, texts: Mapping[str, str]) -> dict[str, Any]:
    """Scores of a corpus: all pages, sites of many pages, every site, every page."""
    pages = scorer.score_corpus(corpus, texts)
    sizes = Counter(str(row["site"]) for row in read_manifest(corpus))
    many = [page for page in pages if sizes[page.site] >= MANY_PAGES]
    return {
        "pages": len(pages),
        "all": _summary(scorer, pages),
        "many_pages": len(many),
        "sites_of_many_pages": _summary(scorer, many),
        "sites": {
            site: {"pages": len(group), **_summary(scorer, group)}
            for site, group in scorer.by_site(many).items()
        },
        "per_page": {page.id: round(page.scores["bag"].f1, 4) for page in pages},
    }


def _summary(scorer: ModuleType, pages: Sequence[Any]) -> dict[str, dict[str, float]]:
    whole = scorer.summary(pages)
    return {m: {k: round(whole[m][k], 4) for k in ("f1", "p", "r")} for m in MEASURES}


def print_tables(results: Mapping[str, Any]) -> None:
    """Tables of the corpora, and one of the sites."""
    console = Console()
    for part, title in (
        ("sites_of_many_pages", f"Sites of {MANY_PAGES} pages or more: F1"),
        ("all", "All pages: F1"),
    ):
        table = Table("corpus", "text", *MEASURES, "bag P", "bag R", title=title)
        for corpus, rows in results.items():
            for row, scores in rows.items():
                here = scores[part]
                figures = [here[m]["f1"] for m in MEASURES] + [here["bag"]["p"], here["bag"]["r"]]
                table.add_row(corpus, row, *(f"{figure:.3f}" for figure in figures))
        console.print(table)
    texts = list(next(iter(results.values())))
    table = Table("corpus", "site", "pages", *texts, title="bag F1 by site")
    for corpus, rows in results.items():
        for site, scores in rows["no cleaning"]["sites"].items():
            figures = [rows[text]["sites"][site]["bag"]["f1"] for text in texts]
            table.add_row(corpus, site, str(scores["pages"]), *(f"{f:.3f}" for f in figures))
    console.print(table)


def print_worst(corpus: str, scores: Mapping[str, Any], count: int) -> None:
    """The pages with the lowest bag F1."""
    for page in sorted(scores["per_page"], key=scores["per_page"].__getitem__)[:count]:
        print(f"{scores['per_page'][page]:.3f}  {corpus}  {page}")


def write_report(path: Path, results: Mapping[str, Any], settings: Sequence[str]) -> None:
    """The figures as JSON, with versions and the machine's size."""
    for rows in results.values():
        for scores in rows.values():
            del scores["per_page"]
    names = [*VERSIONS, *(PEER_VERSIONS if any(len(r) > 2 for r in results.values()) else ())]
    report = {**environment(names), "settings": list(settings), "results": results}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
