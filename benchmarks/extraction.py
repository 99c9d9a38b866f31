"""Texts to score: from a crawl of a corpus with the add-on, and from other extractors."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpora import ROOT
from noiseclean_scrapy.store import Store

NO_CLEANING = "no cleaning"
PEERS = {
    "trafilatura": "trafilatura",
    "trafilatura-title": "trafilatura",
    "readability": "readability-lxml",
    "readability-title": "readability-lxml",
    "resiliparse": "resiliparse",
    "justext": "justext",
    "deboiler": "deboiler",
}
"""Peers that `--peers` runs, with their distributions; `-title` puts their own title first."""


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
        return {NO_CLEANING: visible, method: cleaned}


def run_peer(peer: str, corpus: Path, runner: Path, texts: Path | None) -> dict[str, str]:
    """Texts of another extractor by page id; those in the folder `texts` are taken as they are."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = (texts or Path(temporary)) / corpus.name
        folder.mkdir(parents=True, exist_ok=True)
        out = folder / f"{peer}.jsonl"
        if not out.exists():
            part, stats = Path(temporary, "part.jsonl"), Path(temporary, "stats.json")
            command = [sys.executable, str(runner), "--peer", peer, "--corpus", str(corpus)]
            subprocess.run([*command, "--out", str(part), "--stats", str(stats)], check=True)
            # Written only now: a run that was stopped leaves no half file to be taken.
            out.write_bytes(part.read_bytes())
        with out.open(encoding="utf-8") as lines:
            return {row["id"]: row["text"] for row in map(json.loads, lines)}
