"""A real `noiseclean serve` for tests, and what one asks it."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote, urlsplit

from tests.support.command_line import console_command, environment


@dataclass(frozen=True)
class Answer:
    """The answer to a request."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Served:
    """A running server: its address, its token, its process."""

    url: str
    token: str
    process: subprocess.Popen[str]

    @property
    def entrance(self) -> str:
        return f"{self.url}/open?token={self.token}"

    def ask(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        *,
        method: str = "GET",
        body: bytes | None = None,
    ) -> Answer:
        """One request as it is written."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.ask(path)
        assert answer.status == 200, answer
        return answer.json

    def post(self, path: str, value: object) -> Answer:
        """A request with the token."""
        known = {"Authorization": f"Bearer {self.token}"}
        return self.ask(path, known, method="POST", body=json.dumps(value).encode())

    def page(self, url: str) -> str:
        """The key of the page of an address."""
        site = self.get("/api/sites")["sites"][0]["name"]
        pages = self.get(f"/api/pages?limit=1000&site={quote(site)}")["pages"]
        return next(str(page["key"]) for page in pages if page["url"] == url)

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait(30)


@contextmanager
def serving(
    folder: Path,
    *arguments: str,
    database: str | None = "noiseclean.db",
    opens: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Iterator[Served]:
    """`noiseclean serve` on a port that is free; it must end well when it is interrupted."""
    given = [] if database is None else [database]
    quiet = [] if opens else ["--no-open"]
    command = console_command("serve", *given, *quiet, "--port", "0", *arguments)
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment() | dict(environ or {}),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        line = process.stderr.readline()
        found = re.search(r"(http://\S+)/open\?token=(\S+)", line)
        if not found:
            process.kill()
            raise AssertionError(line + process.stderr.read())
        try:
            yield Served(found[1], found[2], process)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                _, told = process.communicate(timeout=60)
                assert "Traceback" not in told, told


def wait_for(read: Any, until: Any, seconds: float = 120) -> Any:
    """What is read, as soon as it is as wanted."""
    deadline = monotonic() + seconds
    while not until(found := read()):
        assert monotonic() < deadline, found
        sleep(0.05)
    return found
