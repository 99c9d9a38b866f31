"""Texts to score: from a crawl of a corpus with the add-on, and from other extractors."""

from __future__ import annotations

import importlib.metadata
import json
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora import ROOT, read_manifest
from noiseclean_scrapy.store import Store

NO_CLEANING = "no cleaning"
PEERS = (
    "trafilatura",
    "trafilatura-title",
    "trafilatura-fast",
    "trafilatura-precision",
    "readability",
    "readability-title",
    "resiliparse",
    "newspaper4k-title",
    "justext",
    "deboiler",
)
"""Peers that `--peers` runs; `-title` puts their own title first."""


def scored_rows(manifest: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows with gold text; of a corpus that has none, those with segments."""
    with_gold = [row for row in manifest if row.get("gold")]
    return with_gold or [row for row in manifest if row.get("with") or row.get("without")]


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
            for page in store.pages.with_text():
                assert page.cleaned
                visible[ids[page.url]] = "\n".join(b.text for b in page.cleaned.blocks)
                cleaned[ids[page.url]] = page.cleaned.text
        return {NO_CLEANING: visible, method: cleaned}


def peer_distributions(runner: Path) -> dict[str, str]:
    """All peers of the runner, with the distribution of each."""
    names = runpy.run_path(str(runner))
    peers = {**names["PAGE_PEERS"], **names["SITE_PEERS"]}
    return {peer: distribution for peer, (_, distribution) in peers.items()}


def is_installed(distribution: str) -> bool:
    """Whether the distribution is there to be imported."""
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def run_peer(peer: str, corpus: Path, runner: Path, texts: Path | None) -> dict[str, str]:
    """Texts of another extractor by page id; those in the folder `texts` are taken as they are."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = (texts or Path(temporary)) / corpus.name
        folder.mkdir(parents=True, exist_ok=True)
        out = folder / f"{peer}.jsonl"
        if not out.exists():
            part, stats = Path(temporary, "part.jsonl"), Path(temporary, "stats.json")
            source = _corpus_for_runner(corpus, Path(temporary))
            command = [sys.executable, str(runner), "--peer", peer, "--corpus", str(source)]
            subprocess.run([*command, "--out", str(part), "--stats", str(stats)], check=True)
            # Written only now: a run that was stopped leaves no half file to be taken.
            out.write_bytes(part.read_bytes())
        with out.open(encoding="utf-8") as lines:
            return {row["id"]: row["text"] for row in map(json.loads, lines)}


def _corpus_for_runner(corpus: Path, folder: Path) -> Path:
    """The corpus as its manifest alone; every page to score has gold, as the runner asks for."""
    manifest = read_manifest(corpus)
    scored = {row["id"] for row in scored_rows(manifest)}
    with (folder / "manifest.jsonl").open("w", encoding="utf-8") as lines:
        for row in manifest:
            source = str((corpus / row["html"]).resolve())
            gold = "not read" if row["id"] in scored else None
            lines.write(json.dumps({**row, "html": source, "gold": gold}) + "\n")
    return folder
