"""The compiled parts under the address and undefined-behaviour sanitizers, over all hostile pages.

They are compiled into a copy of the checkout, in a temporary folder. Needs gcc, and Linux.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLAGS = "-O1 -g -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=undefined"
PROGRAM = """
from benchmarks.hostile_pages import HOSTILE
from noiseclean_scrapy import SiteCleaner, kernels

assert None not in (kernels.blocks, kernels.nodes, kernels.texts), "not compiled"
for name, make in HOSTILE.items():
    print(name, flush=True)
    for size in (1, 15, 2000):
        cleaner = SiteCleaner()
        cleaner.observe(make(size))
        cleaner.clean(make(size))
print(f"{len(HOSTILE)} hostile pages: nothing found in {kernels.nodes.__file__}")
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("noiseclean_scrapy", "benchmarks"):
            ignored = shutil.ignore_patterns("*.so", "*.c", "__pycache__", "results")
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        for file in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / file, folder)
        build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        environment = {**os.environ, "NOISECLEAN_COMPILE_FLAGS": FLAGS, "LDFLAGS": "-lasan -lubsan"}
        subprocess.run(build, cwd=folder, env=environment, check=True)
        libraries = [library("libasan.so"), library("libubsan.so")]
        environment |= {
            "LD_PRELOAD": " ".join(libraries),
            "ASAN_OPTIONS": "detect_leaks=0",  # of the interpreter, which frees little at its end
            "PYTHONMALLOC": "malloc",  # each object for itself, so that none hides its neighbour
            "PYTHONPATH": str(folder),
        }
        program = [sys.executable, "-c", PROGRAM]
        sys.exit(subprocess.run(program, cwd=folder, env=environment).returncode)


def library(name: str) -> str:
    return subprocess.check_output(["gcc", f"-print-file-name={name}"], encoding="utf-8").strip()


if __name__ == "__main__":
    main()
