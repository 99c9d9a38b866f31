"""The README's first command, and every console block after it, as a new user types them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.tutorial import console_commands

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="for a POSIX shell")

README = (ROOT / "README.md").read_text("utf-8")
FIRST = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[0].strip()


class NewUser:
    """Somebody in a fresh clone; what stands for an address or a site is taken from the output."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone
        self.printed = ""
        # What is read is read in this folder alone; nothing opens a browser.
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "SCRAPY_SETTINGS_MODULE", "VIRTUAL_ENV")
        } | {"BROWSER": "true %s", "COLUMNS": "100"}

    def type(self, command: str) -> str:
        for name, pattern in (("URL", r"^http://\S+$"), ("SITE", r"^127\.0\.0\.1:\d+")):
            if re.search(rf"\b{name}\b", command):
                found = re.search(pattern, self.printed, re.MULTILINE)
                assert found, (command, self.printed)
                command = re.sub(rf"\b{name}\b", found[0], command)
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail\n{command}"],
            cwd=self.clone,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert done.stdout or done.stderr, command
        assert "Traceback" not in done.stderr, (command, done.stderr)
        self.printed += done.stdout
        return done.stdout


@pytest.fixture
def user(tmp_path: Path) -> NewUser:
    """A clone of what is committed, with what is changed since."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    changed = subprocess.run(
        ["git", "diff", "HEAD", "--name-only", "--diff-filter=d"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in changed.stdout.splitlines():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    return NewUser(clone)


def follow(user: NewUser, first: str) -> None:
    assert "Pages with clean text" in user.type(first)
    commands = console_commands(README)
    assert len(commands) >= 4
    outputs = {command.split()[1]: user.type(command) for command in commands}
    assert "127.0.0.1" in outputs["sites"]
    assert "visible characters" in outputs["explain"]
    assert (user.clone / outputs["inspect"].strip()).read_text("utf-8").lower().startswith("<!doc")
    assert len((user.clone / "texts.csv").read_text("utf-8").splitlines()) > 186


@pytest.mark.night
@pytest.mark.slow
def test_everything_works_in_a_new_environment(user: NewUser) -> None:
    follow(user, FIRST)


@pytest.mark.slow
def test_everything_after_the_installation_works(user: NewUser) -> None:
    """The same with the packages that are here: the clone's own code, nothing compiled."""
    environment = user.clone / ".venv"
    venv.create(environment, with_pip=False, symlinks=True)
    (site,) = environment.glob("lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (site / "others.pth").write_text("\n".join(map(str, [user.clone, *others])) + "\n")
    for name in ("scrapy", "noiseclean"):
        script = environment / "bin" / name
        module = {"scrapy": "scrapy", "noiseclean": "noiseclean_scrapy"}[name]
        script.write_text(f'#!/bin/sh\nexec "$(dirname "$0")/python" -m {module} "$@"\n')
        script.chmod(0o755)
    follow(user, FIRST.rpartition("&& ")[2])
