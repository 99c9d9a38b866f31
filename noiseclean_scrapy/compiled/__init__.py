"""Compiled twins of the slowest parts, for installations that had a C compiler.

`nodes` reads libxml2's nodes, `texts` measures characters, `blocks` fills arrays. They are None
where there was no compiler, or where the environment variable NOISECLEAN_PURE_PYTHON is set; then
the same is done in Python and numpy, with the same results to the bit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def _load(name: str) -> Any:
    if os.environ.get("NOISECLEAN_PURE_PYTHON"):
        return None
    try:
        return import_module(f"{__name__}.{name}")
    except ImportError:
        return None


blocks = _load("blocks")
nodes = _load("nodes")
texts = _load("texts")


@contextmanager
def in_python() -> Iterator[None]:
    """Within it nothing compiled is used, in any thread: for tests and benchmarks."""
    global blocks, nodes, texts
    kept = blocks, nodes, texts
    blocks = nodes = texts = None
    try:
        yield
    finally:
        blocks, nodes, texts = kept
