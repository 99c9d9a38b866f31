"""The corpora of real pages beside the repository, where they are."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
needs_corpora = pytest.mark.skipif(
    not CORPORA.is_dir(), reason="the corpora are not beside the repository"
)


def rows(corpus: str) -> Iterator[tuple[str, bytes, str]]:
    """Site, HTML and gold text (empty where there is none) of every page."""
    folder = CORPORA / corpus
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        gold = (folder / row["gold"]).read_text(encoding="utf-8") if row.get("gold") else ""
        yield row["site"], gzip.decompress((folder / row["html"]).read_bytes()), gold
