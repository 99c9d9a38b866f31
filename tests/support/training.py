"""Page clusters that are trained right away, as a crawl does in a thread."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone

from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.clusters.cluster import PageCluster, load_cluster
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.store import PageRecord, Store

SITE = "news.example"
NOON = datetime(2031, 3, 1, 12, tzinfo=timezone.utc)


def train_cluster(store: Store, cluster: PageCluster) -> None:
    """Make a tree of all provisional pages, if there are any, and take it into use."""
    result = cluster.training(pages_due=1).run(store)
    assert result.learner
    cluster.adopt(result.learner, result.cluster)


def learn_site(store: Store, config: Config, numbers: Iterable[int], menu: str = "News") -> None:
    """Store small pages of `SITE` with their texts, and their tree; the keys are `k1` and so on."""
    cluster = load_cluster(store, SITE, config)
    for number in numbers:
        html = (
            f"<title>Story {number}</title><body><ul class=menu><li><a href=/>{menu}</a></ul>"
            f"<p class=text>Story number {number} tells about fog in the harbour</p></body>"
        )
        page = build_page(html, url=f"http://{SITE}/{number}", budget=cluster.config.page_budget)
        cleaned = to_record(cluster.clean(page), cluster.version, cluster.config)
        record = PageRecord(
            key=f"k{number}",
            cluster=SITE,
            url=page.url,
            body_hash=f"h{number}",
            fetched_at=NOON,
            position=number,
            html=html,
            cleaned=cleaned,
        )
        store.pages.write([record], method=config.tree_kind)
    train_cluster(store, cluster)
