"""What people install works: the sdist, from it the wheel, from that a new environment.

The sdist must hold each file that git tracks, the wheel each one of the package.
`.ci/use_installed.py` then uses it far from the checkout, and with the extra web the workbench is
opened. At last lxml becomes another one than what is compiled was built for: Python must do the
work, and one line must say so. Needs git and `build`.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "noiseclean_scrapy"
OTHER_LXML = ("6.1.0", "6.1.1")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
        made = subprocess.run(build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode:
            sys.exit(made.stdout.decode(errors="replace"))
        (wheel,) = folder.glob("*.whl")
        (source,) = folder.glob("*.tar.gz")
        with tarfile.open(source) as files:
            packed = {name.partition("/")[2] for name in files.getnames()}
        compare(source, packed, ".")
        with zipfile.ZipFile(wheel) as files:
            packed = {name for name in files.namelist() if name.startswith(f"{PACKAGE}/")}
        added = compare(wheel, packed, PACKAGE)
        if unknown := sorted(name for name in added if not name.endswith((".so", ".pyd"))):
            sys.exit(f"{wheel.name} has what git does not track: {', '.join(unknown)}")
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
        subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True)
        use(python, folder)
        serve(python, wheel, folder)
        change_lxml(python, folder)


def compare(archive: Path, packed: set[str], folder: str) -> set[str]:
    """What an archive holds besides the files that git tracks in a folder, which it must hold."""
    listed = subprocess.check_output(["git", "ls-files", folder], cwd=ROOT, encoding="utf-8")
    tracked = set(listed.splitlines())
    if missing := sorted(tracked - packed):
        sys.exit(f"{archive.name} lacks {', '.join(missing)}")
    print(f"{archive.name} holds all {len(tracked)} files", flush=True)
    return packed - tracked


def use(python: str, folder: Path) -> None:
    """Run the script in an empty folder, with an empty home and nothing on the path but this."""
    for name in ("home", "empty"):
        (folder / name).mkdir()
    kept = ("PATH", "SYSTEMROOT", "TEMP", "TMP")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"HOME": str(folder / "home"), "PYTHONUTF8": "1"}
    script = ROOT / ".ci" / "use_installed.py"
    command = [python, "-I", script]
    subprocess.run(command, cwd=folder / "empty", env=environment, check=True)


def serve(python: str, wheel: Path, folder: Path) -> None:
    """The workbench on the database that was made before, which no argument names."""
    subprocess.run([python, "-m", "pip", "install", "-q", f"{wheel}[web]"], check=True)
    (database,) = folder.glob("empty/**/noiseclean.db")
    command = [python, "-I", "-m", PACKAGE, "serve", "--no-open", "--port", "0"]
    with subprocess.Popen(
        command, cwd=database.parent, stderr=subprocess.PIPE, encoding="utf-8"
    ) as server:
        try:
            assert server.stderr
            line = server.stderr.readline()
            found = re.search(r"http://[^/]+", line)
            if not found:
                sys.exit(f"serve: {line}{server.stderr.read()}")
            view = _asked(found[0], "/")
            parts = re.findall(r'(?:src|href)="(/[^"]+\.(?:css|js))"', view)
            seen = [
                view,
                _asked(found[0], "/search?q=ferry"),
                *(_asked(found[0], p) for p in parts),
            ]
        finally:
            server.terminate()
    if not parts or not all(seen):
        sys.exit(f"the workbench shows {view[:2000]}")
    print(f"The workbench serves its views, with {', '.join(parts)}", flush=True)


def _asked(server: str, path: str) -> str:
    with urlopen(f"{server}{path}", timeout=30) as answer:
        text: str = answer.read().decode()
    return text


def change_lxml(python: str, folder: Path) -> None:
    """Clean a page with another lxml than the one of the build."""
    clean = (
        "from noiseclean_scrapy import SiteCleaner, kernels\n"
        "print(SiteCleaner().clean('<h1>Fog</h1><p>Fog closes the port.').text)\n"
        "print(kernels.nodes is None)\n"
    )
    version = next(other for other in OTHER_LXML if other != importlib.metadata.version("lxml"))
    install = [python, "-m", "pip", "install", "-q", f"lxml=={version}"]
    subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
    done = subprocess.run(
        [python, "-I", "-c", clean], cwd=folder, capture_output=True, encoding="utf-8", check=True
    )
    is_compiled = any(folder.glob("venv/**/kernels/nodes.*[od]"))
    told = f"built for lxml {importlib.metadata.version('lxml')}" in done.stderr
    if done.stdout.split()[-1] != "True" or told is not is_compiled:
        sys.exit(f"with lxml {version}: {done.stdout}{done.stderr}")
    print(f"With lxml {version} Python does the work: {done.stderr.strip()}", flush=True)


if __name__ == "__main__":
    main()
