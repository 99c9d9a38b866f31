"""The tutorial and the commands' outputs, run: files are written, commands run, outputs replaced.

In a document, fenced `console` blocks hold commands after "$ " and what they print. A comment
before a block says what else it is: `<!-- file: PATH -->` and `<!-- append: PATH -->` for what the
reader writes, `<!-- in another terminal -->` for a command that goes on running, `<!-- not run -->`
for one that only the reader can run.

python -m tests.support.tutorial    # writes what is printed now into the documents
"""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (ROOT / "docs" / "tutorial.md", ROOT / "docs" / "commands.md")
PORT = 8000
"""The port of the newspaper in the documents; a run takes one that is free."""

_BLOCK = re.compile(
    r"(?P<head>(?:<!-- (?P<note>[^>]+) -->\n\n?)?```(?P<language>\w+)\n)(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_VOLATILE = (
    (r"20\d\d-\d\d-\d\d \d\d:\d\d\b", "2031-04-01 09:00"),
    # Keys of pages: they depend on the port.
    (r"\b[0-9a-f]{40}\b", "07b5d3d3c6e7f1a2949c0f4b8a6e5d1c2f3e4a5b"),
    (r"'[^']*/scrapy/templates/project'", "'.../scrapy/templates/project'"),
)
_SECONDS = 600


class Reader:
    """Somebody who follows the document in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self._home = folder.resolve()
        self._folder = self._home
        self._running: list[subprocess.Popen[str]] = []
        self._port = free_port()
        self._environment = {
            **{name: value for name, value in os.environ.items() if name != "FORCE_COLOR"},
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "COLUMNS": "100",
            "PYTHONIOENCODING": "utf-8",
            "TZ": "UTC",
        }

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def follow(self, document: str) -> str:
        """The document with the outputs of this run."""
        return _BLOCK.sub(self._follow_block, document)

    def _follow_block(self, block: re.Match[str]) -> str:
        note, body = block["note"] or "", block["body"]
        kind, _, path = note.partition(": ")
        if kind in ("file", "append"):
            with (self._folder / path).open("w" if kind == "file" else "a") as file:
                file.write(self._with_own_port(body))
        elif block["language"] == "console" and note != "not run":
            run = self._start if note == "in another terminal" else self._run
            body = "".join(f"$ {command}\n{run(command)}" for command in _commands(body))
        return f"{block['head']}{body}```"

    def _run(self, command: str) -> str:
        if command.startswith("cd "):
            self._folder = self._folder / command[3:]
            return ""
        process = self._open(command, self._folder)
        output, _ = process.communicate(timeout=_SECONDS)
        assert process.returncode == 0, f"{command}\n{output}"
        return self._normalised(output)

    def _start(self, command: str) -> str:
        """Start a command at the root of the clone; its first line says that it is ready."""
        process = self._open(f"{command} {PORT}", ROOT)
        assert process.stdout
        return self._normalised(process.stdout.readline())

    def _open(self, command: str, folder: Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            ["/bin/bash", "-c", self._with_own_port(command)],
            cwd=folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            # A group of its own: what the shell has started ends with it.
            start_new_session=True,
        )
        self._running.append(process)
        return process

    def _with_own_port(self, text: str) -> str:
        return re.sub(rf"\b{PORT}\b", str(self._port), text)

    def _normalised(self, output: str) -> str:
        output = output.replace(str(self._home), "/home/you")
        output = re.sub(rf"\b{self._port}\b", str(PORT), output)
        for pattern, constant in _VOLATILE:
            output = re.sub(pattern, constant, output)
        lines = [line.rstrip() for line in output.splitlines()]
        return "".join(f"{line}\n" for line in lines)


def console_commands(document: str) -> list[str]:
    """The commands of all console blocks."""
    blocks = (block for block in _BLOCK.finditer(document) if block["language"] == "console")
    return [command for block in blocks for command in _commands(block["body"])]


def _commands(body: str) -> list[str]:
    """The commands of a console block; a backslash at the end of a line continues one."""
    return re.findall(r"^\$ ((?:.*\\\n)*.*)$", body, re.MULTILINE)


def free_port() -> int:
    """A free port with as many digits as the document's: tables are as wide then."""
    for port in random.sample(range(PORT + 1, 10_000), 100):
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port of four digits is free")


def main() -> None:
    """Write the outputs of a run into the documents."""
    for document in DOCUMENTS:
        with tempfile.TemporaryDirectory() as folder, Reader(Path(folder)) as reader:
            document.write_text(reader.follow(document.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
