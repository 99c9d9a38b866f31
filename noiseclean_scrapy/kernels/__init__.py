"""Compiled twins of the slowest parts, for installations that had a C compiler.

`nodes` reads libxml2's nodes, `texts` measures characters, `blocks` sums arrays and scores trees.
They are None where there was no compiler, or where the environment variable NOISECLEAN_PURE_PYTHON
is set; then the same is done in Python and numpy, with the same results to the bit. `nodes` knows
how lxml and libxml2 keep a document in memory, and is None for any version but those that it was
built for.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from lxml import etree

logger = logging.getLogger(__name__)


def _load(name: str) -> Any:
    if os.environ.get("NOISECLEAN_PURE_PYTHON"):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Cython warns of a struct that has grown
            module = import_module(f"{__name__}.{name}")
        reason = staleness(module) or misfit(*getattr(module, "BUILT_FOR", installed_lxml()))
    except ModuleNotFoundError:
        return None
    except Exception as error:
        reason = str(error)
    if reason:
        logger.warning("Python does what is compiled in %s: %s", name, reason)
        return None
    return module


def staleness(module: Any) -> str:
    """Why a module is not what its source would be compiled to."""
    source = Path(__file__).with_name(f"{module.__name__.rpartition('.')[2]}.pyx")
    digest = sha256(source.read_bytes()).hexdigest()
    if getattr(module, "SOURCE", None) == digest:
        return ""
    return f"{source.name} has changed since; `pip install -e .` compiles it again"


def installed_lxml() -> tuple[str, str]:
    """The versions of lxml, and of the libxml2 that it runs with."""
    return etree.__version__, ".".join(map(str, etree.LIBXML_VERSION))


def misfit(lxml: str, libxml2: str) -> str:
    """Why what was built for these versions must not read the documents of those installed."""
    installed = installed_lxml()
    if installed == (lxml, libxml2):
        return ""
    return (
        f"it was built for lxml {lxml} with libxml2 {libxml2}, but lxml {installed[0]} with "
        f"libxml2 {installed[1]} is installed; results are the same. Install lxml {lxml}, or "
        f"noiseclean-scrapy again, for speed"
    )


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
