"""Draws the pictures of the inspector page; needs Chromium and the extra `dev`.

python docs/make_inspector_picture.py
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

from pictures.png import compact
from playwright.sync_api import Page, sync_playwright

from example_project.demo import DemoSite
from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.clusters.cluster import PageCluster
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.report import page_report, site_report
from noiseclean_scrapy.store import PageRecord, Store
from tests.support.training import train_cluster

FOLDER = Path(__file__).parent / "images"
NAME = "courier.example"
FIRST_TREE = 100
START = datetime.now(timezone.utc) - timedelta(hours=200)


def main() -> int:
    """Learn the demo newspaper, write both reports, photograph them."""
    demo = DemoSite()
    with TemporaryDirectory() as folder:
        with Store(f"sqlite:///{folder}/pictures.db", store_html=True) as store:
            site = _learn(store, demo)
            site_document = site_report(store, NAME)
        article = next(page for page in demo.pages.values() if page.template == "standard")
        clean = site.clean(build_page(article.html, url=f"https://{NAME}/story"))
        page_document = page_report(clean, article.html)
        with _opened(Path(folder), site_document, height=1300) as page:
            page.locator("[data-box]").filter(has_text="div.post-body").first.click()
            page.locator("[data-box]").filter(has_text="footer.site-footer").first.hover()
            _photograph(page, FOLDER / "inspector-site.png")
        with _opened(Path(folder), page_document, height=900) as page:
            frame = page.frame_locator("iframe")
            frame.get_by_text("Related stories").first.click()
            frame.get_by_text("Sign in").first.hover()
            _photograph(page, FOLDER / "inspector-page.png")
    return 0


def _learn(store: Store, demo: DemoSite) -> PageCluster:
    """The whole newspaper in the store: one tree version on the way, one at the end."""
    site = PageCluster(NAME, Config())
    for number, (path, source) in enumerate(demo.pages.items(), 1):
        page = build_page(source.html, url=f"https://{NAME}{path}")
        site.observe(f"{number:08x}", page)
        record = PageRecord(
            key=f"{number:08x}",
            cluster=NAME,
            url=page.url,
            body_hash="",
            fetched_at=START + timedelta(hours=number),
            position=number,
            html=source.html,
            cleaned=to_record(site.clean(page), site.version, site.config),
        )
        store.pages.write([record], method=site.config.tree_kind)
        if number == FIRST_TREE:
            train_cluster(store, site)
    train_cluster(store, site)
    return site


@contextmanager
def _opened(folder: Path, document: str, *, height: int) -> Iterator[Page]:
    file = folder / "report.html"
    file.write_text(document, encoding="utf-8")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1360, "height": height})
        page.goto(file.as_uri())
        yield page
        browser.close()


def _photograph(page: Page, target: Path) -> None:
    page.wait_for_timeout(500)
    target.write_bytes(compact(page.screenshot()))
    print(target)


if __name__ == "__main__":
    sys.exit(main())
