"""The compiled twins of the slowest parts; without a compiler the package works without them."""

import hashlib
import os
import sys
from pathlib import Path

import lxml
from lxml import etree
from setuptools import Extension, setup

COMPILED = Path("noiseclean_scrapy", "kernels")
SOURCES = sorted(COMPILED.glob("*.pyx"))
# The same sums as numpy's: nothing is contracted or reordered.
FLAGS = "" if sys.platform == "win32" else "-O3 -g0 -ffp-contract=off"


def built_for() -> str:
    """A header that tells what is compiled, and for which lxml; where it changes all is compiled.

    So a file that is no longer that of its source, or of the lxml beside it, can be told.
    """
    lines = [f"// lxml {etree.__version__}, libxml2 {etree.LIBXML_VERSION}"]
    for source in SOURCES:
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        lines.append(f'#define SOURCE_{source.stem.upper()} "{digest}"')
    text = "\n".join([*lines, ""])
    header = COMPILED / "built_for.h"
    if not header.is_file() or header.read_text(encoding="utf-8") != text:
        header.write_text(text, encoding="utf-8")
    return header.as_posix()


setup(
    # An editable installation puts the clone itself on the path, so that the benchmarks, the fuzzer
    # and the example are found as well. (A `package-dir` of "." does too, but loses data files.)
    options={"editable_wheel": {"mode": "compat"}},
    ext_modules=[
        Extension(
            f"noiseclean_scrapy.kernels.{source.stem}",
            [source.as_posix()],
            depends=[built_for()],
            include_dirs=lxml.get_include(),
            extra_compile_args=os.environ.get("NOISECLEAN_COMPILE_FLAGS", FLAGS).split(),
            optional=True,
        )
        for source in SOURCES
    ],
)
