"""The stats of a crawl for Prometheus, asked for while it runs; the dashboard that shows them."""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from noiseclean_scrapy.crawl.metrics import GAUGES, CrawlMetrics, stat_metrics
from tests.support import crawl_site, crawling
from tests.support.command_line import ROOT
from tests.support.crawl_site import story

pytest.importorskip("prometheus_client", reason="needs the extra prometheus")

from prometheus_client.parser import text_string_to_metric_families

pytestmark = pytest.mark.extras


class AskingSpider(crawl_site.PagesSpider):
    """Asks for the metrics of its own crawl, from a thread as Prometheus would."""

    name = "asking"
    metrics: str

    async def parse(self, response: Response) -> Any:
        from scrapy.utils.asyncio import run_in_thread

        def ask() -> str:
            with urlopen(self.metrics, timeout=10) as answer:
                return str(answer.read().decode())

        yield {"url": response.url, "metrics": await run_in_thread(ask)}


def crawl(folder: Path, address: str, **settings: Any) -> crawling.Crawled:
    pages = {f"/{number}": story(number) for number in range(6)}
    settings = {"NOISECLEAN_METRICS": address, "NOISECLEAN_TOPIC": "a story", **settings}
    metrics = f"http://{address}/metrics"
    return crawling.crawl_pages(folder, AskingSpider, pages, settings, metrics=metrics)


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def values(text: str) -> Iterator[tuple[str, float]]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert sample.labels["spider"] == "asking"
            yield sample.name, sample.value


@pytest.mark.slow
def test_prometheus_is_told_while_the_crawl_runs(tmp_path: Path) -> None:
    crawled = crawl(tmp_path, free_address())
    assert len(crawled.items) == 6
    told = dict(values(crawled.items[-1]["metrics"]))
    assert 1 <= told["noiseclean_pages_seen_total"] <= 6
    assert told["scrapy_downloader_response_count"] >= 1
    assert told["noiseclean_focus_histogram_count"] == told["noiseclean_focus_pages_total"]
    assert "noiseclean_focus_harvest_rate" in told


@pytest.mark.slow
def test_a_port_that_is_taken_costs_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = {"NOISECLEAN_METRICS": address}
        chain = crawl_site.ChainSpider
        crawled = crawling.crawl_pages(tmp_path, chain, {"/0": story(0)}, settings)
    assert len(crawled.items) == 1
    [line] = crawled.lines("ERROR", "")
    assert line.startswith("No metrics: ")


def test_an_address_of_ipv6_is_told_as_a_url(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("prometheus_client", reason="needs the extra prometheus")
    caplog.set_level("INFO")
    metrics = CrawlMetrics(get_crawler(), ("::1", 0))
    metrics.spider_opened()
    if metrics._server is None:
        pytest.skip(f"no IPv6 here: {caplog.text}")
    try:
        assert f"Metrics: http://[::1]:{metrics._server.server_port}/metrics" in caplog.text
    finally:
        metrics.spider_closed()


def test_a_missing_library_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    CrawlMetrics(get_crawler(), ("127.0.0.1", 0)).spider_opened()
    assert "pip install 'noiseclean-scrapy[prometheus]'" in caplog.text


def test_names_of_stats_become_names_of_metrics() -> None:
    stats = {"Größe/é-1": 2, "noiseclean/pages": 3, "finish_reason": "finished"}
    found = {metric.name for metric in stat_metrics(stats, "news")}
    assert found == {"scrapy_Gr__e___1", "noiseclean_pages"}


def test_the_dashboard_asks_for_stats_that_exist() -> None:
    told = (ROOT / "docs/stats.md").read_text("utf-8")
    stats: dict[str, Any] = dict.fromkeys(re.findall(r"noiseclean/[\w/]+\w", told), 1)
    assert stats.keys() >= GAUGES
    stats["noiseclean/focus/histogram"] = [1, 2]
    families = list(stat_metrics(stats, "any"))
    names = {sample.name for family in families for sample in family.samples}
    dashboard = (ROOT / "docs/static/grafana.json").read_text("utf-8")
    asked = {
        name
        for panel in json.loads(dashboard)["panels"]
        for target in panel["targets"]
        for name in re.findall(r"noiseclean_\w+", target["expr"])
    }
    assert len(asked) > 10
    assert asked <= names
