"""Compiled twins of the slowest parts, for installations that had a C compiler.

`nodes`, `texts` and `blocks` are None where there was none, or where the environment variable
NOISECLEAN_PURE_PYTHON is set; then the same is done in Python and numpy.
"""

from __future__ import annotations

import os
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
