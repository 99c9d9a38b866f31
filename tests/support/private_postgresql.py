"""A PostgreSQL server of a test's own, which may be killed and started again."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.services import give_up

_DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


class PrivateServer:
    """A cluster in a folder of its own; `url` is its database."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.programs = programs
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"
        self._run("initdb", "-A", "trust", "-U", "postgres", "--no-sync", "-D", str(folder))

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder}"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder), "-w", "-l", log, "-o", options, "start")

    def kill(self) -> None:
        """End the server as a crash would: no goodbye, recovery at the next start."""
        self._run("pg_ctl", "-D", str(self.folder), "-m", "immediate", "-w", "stop")

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let no process of the server run: it neither answers nor refuses."""
        main = int((self.folder / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        processes = [main, *map(int, children)]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        owner = "postgres" if os.geteuid() == 0 else None
        subprocess.run(
            command, user=owner, check=True, stdout=subprocess.DEVNULL, cwd=self.folder.parent
        )


@contextmanager
def private_postgresql() -> Iterator[PrivateServer]:
    """A running server."""
    found = shutil.which("initdb")
    programs = Path(found).parent if found else (_DEBIAN[-1] if _DEBIAN else None)
    if programs is None:
        give_up("PostgreSQL's initdb is not installed here")
    with tempfile.TemporaryDirectory(prefix="noiseclean-postgresql-") as name:
        outer = Path(name)
        if os.geteuid() == 0:
            # The server refuses to run as root.
            user = pwd.getpwnam("postgres")
            os.chown(outer, user.pw_uid, user.pw_gid)
        server = PrivateServer(outer / "data", programs)
        server.start()
        try:
            yield server
        finally:
            subprocess.run(
                [programs / "pg_ctl", "-D", server.folder, "-m", "immediate", "stop"],
                user="postgres" if os.geteuid() == 0 else None,
                check=False,
                capture_output=True,
                cwd=outer,
            )
