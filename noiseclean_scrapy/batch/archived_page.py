"""One stored page, and the account of what in an archive could not be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from w3lib.encoding import http_content_type_encoding

from noiseclean_scrapy.page.decoding import is_utf8
from noiseclean_scrapy.page.logs import get_logger

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse

logger = get_logger(__name__)

ProblemKind = Literal["missing", "damaged"]
_LONGEST_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A page as it was stored; ``body`` is the HTML's bytes, not yet decoded.

    ``headers`` holds at least ``Content-Type`` where it is known. ``row`` is the page's row of the
    manifest, with its original URL; empty for archives without one. ``fetched_at`` is in UTC, None
    where the archive does not tell.
    """

    id: str
    url: str
    body: bytes
    headers: Mapping[str, str]
    status: int = 200
    row: Mapping[str, Any] = field(default_factory=dict)
    fetched_at: datetime | None = None

    @property
    def site(self) -> str:
        """The site by the manifest, else the host of the URL."""
        return str(self.row["site"]) if "site" in self.row else urlsplit(self.url).hostname or ""

    @property
    def encoding(self) -> str | None:
        """UTF-8 where no header names a charset and the bytes are that, whatever META says."""
        named = http_content_type_encoding(self.headers.get("Content-Type", ""))
        return "utf-8" if named is None and is_utf8(self.body) else None

    def response(self, url: str = "") -> HtmlResponse:
        """The page as Scrapy would have it, at its own address or at `url`."""
        from scrapy.http import HtmlResponse

        headers = dict(self.headers)
        return HtmlResponse(
            url or self.url, self.status, headers, self.body, encoding=self.encoding
        )


MOST_WARNINGS = 1000


@dataclass(slots=True)
class ProblemLog:
    """Warns of each page or part that is left out, and tells ``on_problem`` its kind.

    An archive of a few kilobytes can hold a million: after a thousand they are only counted.
    """

    on_problem: Callable[[ProblemKind], None] | None = None
    reported: int = 0
    records: int = 0
    """How many records of a WARC or WACZ file have been read, pages and others."""

    def warn(self, message: str) -> None:
        """Tell what nothing is left out for."""
        # Names and reasons come from the archive.
        message = "".join(c if c.isprintable() else "\ufffd" for c in message[:_LONGEST_MESSAGE])
        logger.warning("%s", message)

    def report(self, kind: ProblemKind, message: str) -> None:
        self.reported += 1
        if self.reported <= MOST_WARNINGS:
            self.warn(message)
        elif self.reported == MOST_WARNINGS + 1:
            self.warn("More is left out, and counted from here on without a warning for each")
        if self.on_problem is not None:
            self.on_problem(kind)
