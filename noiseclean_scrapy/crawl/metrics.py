"""The stats of a crawl for Prometheus, from a web server of the crawl's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from noiseclean_scrapy.crawl.starting import config_of, is_trial
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.service_urls import host_in_url

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = get_logger(__name__)

HISTOGRAM = "noiseclean/focus/histogram"
GAUGES = {
    "noiseclean/clusters",
    "noiseclean/focus/bound",
    "noiseclean/focus/harvest_rate",
    "noiseclean/focus/hubs",
    "noiseclean/focus/mean_relevance",
    "noiseclean/frontier/pending",
    "noiseclean/frontier/sites",
    "noiseclean/pages/provisional",
    "noiseclean/pages/spooled",
    "noiseclean/pages/waiting",
}
"""Our stats that may fall; all others of ours only grow."""


class CrawlMetrics:
    """Extension: answers `GET /metrics` with the crawl's stats, ours and Scrapy's.

    `noiseclean/pages/seen` is the counter `noiseclean_pages_seen_total`; Scrapy's
    `downloader/response_count` is `scrapy_downloader_response_count`. All have the label `spider`.
    """

    def __init__(self, crawler: Crawler, address: tuple[str, int]) -> None:
        self.crawler = crawler
        self.address = address
        self._server: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        config = config_of(crawler)
        if not config.enabled or not config.metrics or is_trial(crawler):
            raise NotConfigured("NOISECLEAN_METRICS is not set")
        metrics = cls(crawler, config.metrics)
        crawler.signals.connect(metrics.spider_opened, signals.spider_opened)
        crawler.signals.connect(metrics.spider_closed, signals.spider_closed)
        return metrics

    def spider_opened(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, start_http_server

            registry = CollectorRegistry()
            registry.register(self)
            host, port = self.address
            self._server, _ = start_http_server(port, host, registry)
        except (ImportError, OSError) as error:
            extra = "; pip install 'noiseclean-scrapy[prometheus]'" * isinstance(error, ImportError)
            logger.error("No metrics: %s (NOISECLEAN_METRICS)%s; the crawl goes on", error, extra)
        else:
            port = self._server.server_port
            logger.info("Metrics: http://%s:%d/metrics", host_in_url(host), port)

    def spider_closed(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()

    def collect(self) -> Iterator[Metric]:
        """What the stats say now; asked by the server's thread."""
        spider = self.crawler.spider
        if self.crawler.stats and spider:
            yield from stat_metrics(dict(self.crawler.stats.get_stats()), spider.name)


def stat_metrics(stats: Mapping[str, Any], spider: str) -> Iterator[Metric]:
    """The stats that are numbers, as metrics; the rest has no place there."""
    from prometheus_client import core

    for stat, value in sorted(stats.items()):
        ours = stat.startswith("noiseclean/")
        name = re.sub(r"\W", "_", stat if ours else f"scrapy_{stat}", flags=re.ASCII)
        if stat == HISTOGRAM:
            histogram = core.HistogramMetricFamily(name, stat, labels=["spider"])
            counts = list(accumulate(value))
            bounds = [f"{(n + 1) / len(value):g}" for n in range(len(value))]
            buckets = [*zip(bounds, counts, strict=True), ("+Inf", counts[-1])]
            mean = stats.get("noiseclean/focus/mean_relevance", 0.0)
            histogram.add_metric([spider], buckets, sum_value=mean * counts[-1])
            yield histogram
        elif isinstance(value, (int, float)):
            grows = ours and stat not in GAUGES
            kind = core.CounterMetricFamily if grows else core.GaugeMetricFamily
            metric = kind(name, stat, labels=["spider"])
            metric.add_metric([spider], value)
            yield metric
