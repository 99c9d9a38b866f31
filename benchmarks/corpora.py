"""The corpora, the scorer and the peers' runner of the folder `shared` beside the repository."""

from __future__ import annotations

import gzip
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from noiseclean_scrapy import kernels

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
WHOLE_SITES = ("cleanportaleval", "big9-dev", "blogs-dev", "daniel-dev")
"""Corpora with several pages of a site, on which no weight is fitted."""
LEFT_OUT = ("wcxb-dev", "wcxb-train", "segments-train", "fundus-dev", "recipes-dev")
"""Corpora that weights are fitted on, measured by weights that have not seen the page's site."""


@dataclass(frozen=True)
class CorpusPage:
    """A page of a corpus; `gold` is None where there is no gold text, `row` its manifest line."""

    id: str
    site: str
    url: str
    html: bytes
    gold: str | None
    row: dict[str, Any]


def read_corpus(corpus: Path) -> list[CorpusPage]:
    """All pages of a corpus, in the order of its manifest."""
    return [
        CorpusPage(
            id=str(row["id"]),
            site=str(row["site"]),
            url=row.get("url") or "",
            html=gzip.decompress((corpus / row["html"]).read_bytes()),
            gold=(corpus / row["gold"]).read_text(encoding="utf-8") if row.get("gold") else None,
            row=row,
        )
        for row in read_manifest(corpus)
    ]


def read_manifest(corpus: Path) -> list[dict[str, Any]]:
    """The rows of a corpus's manifest."""
    with (corpus / "manifest.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def by_site(pages: Iterable[CorpusPage]) -> dict[str, list[CorpusPage]]:
    """The pages of each site, sites in the order of their first page."""
    sites: dict[str, list[CorpusPage]] = {}
    for page in pages:
        sites.setdefault(page.site, []).append(page)
    return sites


def load_scorer(shared: Path) -> ModuleType:
    """The scorer as a module."""
    return load_module(shared / "bench/score.py")


@lru_cache
def load_module(path: Path) -> ModuleType:
    """A module of the folder, by its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def environment(distributions: Iterable[str]) -> dict[str, Any]:
    """Versions, the machine's size, whether our slowest parts are compiled: a report's head."""
    return {
        "versions": {name: importlib.metadata.version(name) for name in distributions},
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "compiled": kernels.blocks is not None,
    }
