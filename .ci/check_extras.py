"""Every extra alone, and those that belong together, is resolved by an old pip and by the newest.

Nothing is installed but the two pips. Takes long; `.ci/nightly` runs it. Needs `build`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIPS = ("pip==23.2.1", "pip")  # the one that a stock Python 3.11 brings, and the newest
TOGETHER = "dev,bench,train"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        failed = []
        for number, pip in enumerate(PIPS):
            python = make_environment(Path(folder, f"pip-{number}"), pip)
            for extras in (*names_of_extras(wheel), TOGETHER):
                command = [python, "-m", "pip", "install", "-q", "--dry-run", f"{wheel}[{extras}]"]
                found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                print(f"{pip:12} [{extras}] {'fails' if found.returncode else 'ok'}", flush=True)
                if found.returncode:
                    failed.append(extras)
                    print(found.stdout.decode(errors="replace"), flush=True)
    if failed:
        sys.exit(f"these extras cannot be installed: {', '.join(failed)}")


def build_wheel(folder: Path) -> Path:
    """The wheel without anything compiled: what is resolved is the same, and it is made at once."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    environment = {**os.environ, "CC": "no-compiler"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, env=environment, check=True, **quiet)
    (wheel,) = folder.glob("*.whl")
    return wheel


def make_environment(folder: Path, pip: str) -> str:
    """The Python of a new environment with this pip."""
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "-U", pip], check=True)
    return python


def names_of_extras(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(files.read(name).decode())
    return metadata.get_all("Provides-Extra", [])


if __name__ == "__main__":
    main()
