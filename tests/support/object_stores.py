"""Object stores for tests: a folder, and a bucket of a real S3 server on the loopback interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

KINDS = ("file", "s3")
BUCKET = "crawl"


class S3Server:
    """A server that may be stopped and started again, and keeps what it has."""

    def __init__(self, port: int = 0) -> None:
        from moto.server import ThreadedMotoServer

        self._server: Any = ThreadedMotoServer("127.0.0.1", port)

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    @property
    def port(self) -> int:
        return int(self._server.get_host_and_port()[1])


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A server with one empty bucket, which s3fs finds by the variables of the environment."""
    pytest.importorskip("s3fs", reason="needs s3fs")
    pytest.importorskip("moto", reason="needs the extra dev")
    from s3fs import S3FileSystem

    server = S3Server()
    server.start()
    environment = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}",
        "AWS_ACCESS_KEY_ID": "anyone",
        "AWS_SECRET_ACCESS_KEY": "anything",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with patch.dict("os.environ", environment):
        S3FileSystem.clear_instance_cache()
        S3FileSystem().mkdir(BUCKET)
        try:
            yield server
        finally:
            server.stop()


def folder_url(path: Path) -> str:
    """The URL of a new folder."""
    path.mkdir()
    return path.as_uri()
