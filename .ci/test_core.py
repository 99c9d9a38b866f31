"""The fast tests in a new environment of this Python: `--oldest`, `--no-compiler`, or plain.

`--oldest` installs the lowest versions that pyproject.toml allows, as `uv` finds them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oldest", action="store_true")
    parser.add_argument("--no-compiler", action="store_true")
    parser.add_argument("tests", nargs="*", help="arguments for pytest")
    options = parser.parse_args()
    environment = dict(os.environ)
    if options.no_compiler:
        environment["CC"] = "no-compiler"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")

        def run(*command: str) -> None:
            subprocess.run([python, "-m", *command], cwd=ROOT, env=environment, check=True)

        if options.oldest:
            run("pip", "install", "-q", "uv")
            pinned = str(folder / "oldest.txt")
            find = "uv pip compile -q --resolution lowest-direct --extra test pyproject.toml -o"
            run(*find.split(), pinned)
            run("pip", "install", "-q", "-r", pinned)
        run("pip", "install", "-q", "-e", ".[test]")
        run("pytest", "-q", *options.tests)


if __name__ == "__main__":
    main()
