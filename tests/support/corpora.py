"""The corpora of real pages beside the repository, where they are, and corpora made for a test."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpora import SHARED

CORPORA = SHARED / "corpora"
needs_corpora = pytest.mark.skipif(
    not CORPORA.is_dir(), reason="the corpora are not beside the repository"
)
needs_scorer = pytest.mark.skipif(
    not (SHARED / "bench/score.py").is_file(), reason="the scorer is not beside the repository"
)


def write_corpus(folder: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """A corpus for `read_corpus`, of the rows of its manifest: `html` and `gold` are the texts."""
    folder.mkdir(parents=True)
    lines = []
    for row in rows:
        html, gold = f"{row['id']}.html.gz", f"{row['id']}.txt"
        (folder / html).write_bytes(gzip.compress(row["html"].encode()))
        row = row | {"html": html}
        if row.get("gold"):
            (folder / gold).write_text(row["gold"], encoding="utf-8")
            row["gold"] = gold
        lines.append(json.dumps(row))
    (folder / "manifest.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder
