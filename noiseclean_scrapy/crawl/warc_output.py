"""The responses of a crawl as WARC files, as they came over the network."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime, timezone
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from scrapy import signals
from scrapy.exceptions import NotConfigured

from noiseclean_scrapy import __version__
from noiseclean_scrapy.crawl.starting import config_of, count, is_trial
from noiseclean_scrapy.page.logs import get_logger

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.headers import Headers
    from typing_extensions import Self

logger = get_logger(__name__)

_FILE_BYTES = 2**30
# Bodies come without it, and with a length of their own.
_OF_TRANSFER = frozenset({b"transfer-encoding", b"content-length"})
_OF_REQUESTS = _OF_TRANSFER | {b"host", b"authorization", b"cookie", b"proxy-authorization"}
"""What is not copied from requests: what is written from the URL, and what is secret."""


class WarcOutput:
    """Extension: writes each response, with its request, to files of a gigabyte.

    A process has files of its own, whose names begin with the spider's. A record is on its way to
    the disk when the response reaches the spider, so a `kill -9` leaves all but the last whole.
    """

    def __init__(self, crawler: Crawler, folder: Path) -> None:
        self.crawler = crawler
        self.folder = folder
        self._name = f"{datetime.now(timezone.utc):%Y%m%d%H%M%S}-{token_hex(4)}"
        self._files = 0
        self._file: Any = None
        self._writer: Any = None
        self._failed = False
        self._end = 0
        """Where the file's last whole record ends."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        config = config_of(crawler)
        if not config.enabled or not config.warc or is_trial(crawler):
            raise NotConfigured("NOISECLEAN_WARC is not set")
        output = cls(crawler, Path(config.warc).absolute())
        crawler.signals.connect(output.response_downloaded, signals.response_downloaded)
        crawler.signals.connect(output.spider_closed, signals.spider_closed)
        return output

    def response_downloaded(self, response: Response, request: Request) -> None:
        """Write a response before any middleware has changed it."""
        try:
            self._write(response, request)
        except Exception as error:
            count(self.crawler, "warc/errors")
            if not self._failed:
                logger.error("A response cannot be written to %s: %s", self.folder, error)
            self._failed = True
            self._cut_off()

    def spider_closed(self) -> None:
        self._close()

    def _write(self, response: Response, request: Request) -> None:
        writer = self._open()
        status = f"{response.status} {_phrase(response.status)}"
        answer = writer.create_warc_record(
            response.url,
            "response",
            payload=BytesIO(response.body),
            length=len(response.body),
            http_headers=_head(
                status,
                [*_lines(response.headers), _length(response.body)],
                protocol="HTTP/1.1",
            ),
        )
        parts = urlsplit(request.url)
        path = f"{parts.path or '/'}{'?' * bool(parts.query)}{parts.query}"
        asked = writer.create_warc_record(
            request.url,
            "request",
            payload=BytesIO(request.body),
            length=len(request.body),
            http_headers=_head(
                f"{request.method} {path} HTTP/1.1",
                [
                    ("Host", parts.netloc),
                    *_lines(request.headers, _OF_REQUESTS),
                    *[_length(request.body)] * bool(request.body),
                ],
                is_http_request=True,
            ),
        )
        writer.write_request_response_pair(asked, answer)
        self._file.flush()
        self._end = self._file.tell()
        count(self.crawler, "warc/records")
        if self._end > _FILE_BYTES:
            self._close()

    def _open(self) -> Any:
        if self._file is None:
            from warcio.warcwriter import WARCWriter

            assert self.crawler.spider
            self.folder.mkdir(parents=True, exist_ok=True)
            spider = quote(self.crawler.spider.name, safe="")
            name = f"{spider}-{self._name}-{self._files:05}.warc.gz"
            self._files += 1
            self._file, self._end = (self.folder / name).open("xb"), 0
            self._writer = WARCWriter(self._file, gzip=True)
            about = {
                "software": f"noiseclean-scrapy/{__version__}",
                "format": "WARC File Format 1.0",
            }
            self._writer.write_record(self._writer.create_warcinfo_record(name, about))
        return self._writer

    def _cut_off(self) -> None:
        """End the file behind its last whole record; one that has none goes."""
        file = self._file
        with suppress(OSError):  # of a full disk
            self._close()
        if file is not None:
            with suppress(OSError):
                os.truncate(file.name, self._end) if self._end else os.unlink(file.name)

    def _close(self) -> None:
        file, self._file = self._file, None  # whatever closing it raises
        if file is not None:
            file.close()


def _lines(headers: Headers, left_out: frozenset[bytes] = _OF_TRANSFER) -> list[tuple[str, str]]:
    """Headers, of which each may stand there several times; a line break would end its record."""
    return [
        (name.decode("latin-1"), line.decode("latin-1"))
        for name, values in headers.items()
        if name.lower() not in left_out
        for value in values
        for line in value.splitlines() or [value]
    ]


def _length(body: bytes) -> tuple[str, str]:
    return "Content-Length", str(len(body))


def _head(first_line: str, headers: list[tuple[str, str]], **kind: Any) -> Any:
    """The first line and the headers of a message, whose bytes stay what they were."""
    from warcio.statusandheaders import StatusAndHeaders

    head = StatusAndHeaders(first_line, headers, **kind)
    head.headers_buff = head.to_bytes(encoding="latin-1")
    head.compute_headers_buffer = lambda _: None  # would quote what is not ASCII
    return head


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
