"""What running crawls say of themselves, at the addresses of their `NOISECLEAN_METRICS`."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from threading import Timer
from time import monotonic
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from noiseclean_scrapy.crawl.metrics import HISTOGRAM
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.report.templating import number, percent
from noiseclean_scrapy.service_urls import shown_url
from noiseclean_scrapy.web.growth import Growth
from noiseclean_scrapy.web.refreshing import Refreshing

FIGURES: Mapping[str, tuple[str, Callable[[float], str]]] = MappingProxyType(
    {
        "noiseclean/pages/seen": ("Pages seen", number),
        "noiseclean/pages/learned": ("Pages learned", number),
        "noiseclean/pages/provisional": ("Pages that no tree has learned", number),
        "noiseclean/pages/waiting": ("Pages waiting in memory", number),
        "noiseclean/pages/spooled": ("Pages waiting in the spool", number),
        "noiseclean/frontier/pending": ("Requests pending in Redis", number),
        "noiseclean/frontier/sites": ("Sites of this process", number),
        "noiseclean/trees/built": ("Trees built", number),
        "noiseclean/trees/redesigns": ("Redesigns noticed (drift)", number),
        "noiseclean/store/seconds": ("Seconds of database writes, with locks", number),
        "noiseclean/store/errors": ("Refusals of the database", number),
        "noiseclean/errors": ("Errors", number),
        "noiseclean/focus/harvest_rate": ("Harvest rate of the focus", percent),
        "noiseclean/focus/mean_relevance": ("Mean relevance to the topic", percent),
    }
)
"""The stats that are shown: their words, and how a value is written."""

_SECONDS = 2.0
_ANSWER_SECONDS = 3.0
_MOST_BYTES = 1 << 20
_CHUNK = 1 << 16
_LONGEST_PROBLEM = 200


@dataclass(frozen=True, slots=True)
class CrawlState:
    """A crawl's stats, those that grow a minute, and its pages by relevance to the topic.

    `problem` says why they are not known.
    """

    url: str
    problem: str = ""
    spider: str = "No answer"
    stats: Mapping[str, float] = field(default_factory=dict)
    a_minute: Mapping[str, float] = field(default_factory=dict)
    histogram: tuple[int, ...] = ()

    def cells(self) -> Iterator[tuple[str, str, str, str]]:
        """Each of `FIGURES`: the stat, its words, its value, how much it grows a minute."""
        for stat, (words, shown) in FIGURES.items():
            value, growth = self.stats.get(stat), self.a_minute.get(stat)
            yield (
                stat,
                words,
                "–" if value is None else shown(value),
                "" if growth is None else f"+{shown(growth)}",
            )

    def told(self) -> dict[str, str]:
        """What changes in the view, by the names that its parts have there."""
        found = {"problem": self.problem, "spider": self.spider}
        for stat, _, value, growth in self.cells():
            found |= {stat: value, f"{stat} growth": growth}
        return found


class CrawlWatch:
    """Asks one crawl for its metrics, in the background while somebody looks.

    An answer is waited for three seconds, and read up to a megabyte; redirects are not followed.
    `url` is the whole address, or the host and port that NOISECLEAN_METRICS has. Raises
    ConfigurationError for an address that cannot be asked, and without prometheus_client.
    """

    def __init__(self, url: str) -> None:
        is_whole = "://" in url
        asked = url if is_whole else f"http://{url}/metrics"
        try:
            parts = urlsplit(asked)
            self._port = parts.port
            is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_web = False
        if not is_web or not (is_whole or self._port):
            raise ConfigurationError(
                f"{shown_url(url)!r} is no address of metrics such as 127.0.0.1:9410"
            )
        try:
            from prometheus_client.parser import text_string_to_metric_families
        except ImportError as error:
            raise ConfigurationError(
                f"reading metrics needs {error.name}: pip install 'noiseclean-scrapy[prometheus]'"
            ) from error
        self._parse: Callable[[str], Any] = text_string_to_metric_families
        self._parts = parts
        self._growth = Growth()
        self.state = Refreshing(self._read, seconds=_SECONDS)

    def _read(self) -> CrawlState:
        url = shown_url(self._parts.geturl())
        try:
            families = list(self._parse(self._ask()))
        except (OSError, http.client.HTTPException, ValueError) as error:
            return CrawlState(url, str(error)[:_LONGEST_PROBLEM] or type(error).__name__)
        stats, growing, spider = {}, {}, "A crawl"
        histogram: tuple[int, ...] = ()
        for family in families:
            if family.documentation == HISTOGRAM:
                histogram = _counts(family)
            elif family.samples and isfinite(family.samples[0].value):
                sample = family.samples[0]
                stats[family.documentation] = sample.value
                spider = sample.labels.get("spider", spider)
                if family.type == "counter":
                    growing[family.documentation] = sample.value
        if not any(stat.startswith("noiseclean/") for stat in stats):
            return CrawlState(url, "what answers there is no crawl of noiseclean")
        if self._growth.has_fallen(growing):
            self._growth = Growth()  # of another crawl
        return CrawlState(url, "", spider, stats, self._growth.a_minute(growing), histogram)

    def _ask(self) -> str:
        parts = self._parts
        is_https = parts.scheme == "https"
        kind = http.client.HTTPSConnection if is_https else http.client.HTTPConnection
        connection = kind(parts.hostname or "", self._port, timeout=_ANSWER_SECONDS)
        deadline = monotonic() + _ANSWER_SECONDS
        connection.connect()
        # A head that comes drop by drop renews the timeout with each of them.
        end = Timer(_ANSWER_SECONDS, connection.sock.shutdown, [socket.SHUT_RDWR])
        end.start()
        body = b""
        try:
            connection.request("GET", parts._replace(scheme="", netloc="").geturl() or "/")
            answer = connection.getresponse()
            if answer.status != 200:
                raise ValueError(f"it answers {answer.status} {answer.reason}")
            while chunk := answer.read1(_CHUNK):
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise ValueError("its answer is too long")
        except (OSError, http.client.HTTPException):
            if monotonic() <= deadline:
                raise  # else it was cut off here
        finally:
            end.cancel()
            connection.close()
        if monotonic() > deadline:
            raise ValueError("its answer takes too long")
        return body.decode("utf-8", "replace")


def _counts(family: Any) -> tuple[int, ...]:
    """The numbers in the bins of a histogram, which Prometheus sums up from the left."""
    sums = [0, *(s.value for s in family.samples if s.name.endswith("_bucket"))][:-1]
    if not all(map(isfinite, sums)):
        return ()
    return tuple(int(above - below) for below, above in pairwise(sums))
