"""Draws the pictures of the workbench page; needs Chromium and the extra `dev`.

python docs/make_workbench_picture.py
"""

from __future__ import annotations

import io
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from make_inspector_picture import FOLDER, NAME, _learn
from pictures.png import compact
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from example_project.demo import DemoSite
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.store import Store
from noiseclean_scrapy.web.serving import serve
from noiseclean_scrapy.web.workbench import Workbench


def main() -> int:
    """Serve the demo newspaper, walk through the views, photograph them."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        url = f"sqlite:///{folder}/pictures.db"
        with Store(url, store_html=True) as store:
            _learn(store, DemoSite())
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        with Store(url, read_only=True) as store:
            bench = Workbench(
                store, Config(), Path(folder, "overrides.toml"), lambda: Store(url, store_html=True)
            )
            with _served(bench) as entrance:
                _photograph_all(browser, entrance, bench)
        browser.close()
    return 0


def _photograph_all(browser: Browser, entrance: str, bench: Workbench) -> None:
    lines = bench.store.pages.lines(NAME, limit=500)
    front = next(line for line in lines if line.url == f"https://{NAME}/")
    address = entrance.partition("/open")[0]
    with _window(browser, entrance, "light", 1280) as page:
        page.wait_for_timeout(500)
        _save([page.screenshot(clip=_top(page, 330))], "workbench-sites")
    with _window(browser, entrance, "dark", 1280) as page:
        page.goto(f"{address}/pages/{front.key}")
        frame = page.frame_locator("iframe")
        frame.locator("[data-verdict=kept]", has_text=" · ").first.click()
        page.locator("[data-selector]:not(:empty)").wait_for()
        _save([page.screenshot()], "workbench-page")
        page.get_by_role("button", name="Always drop this").click()
        page.locator("[data-done=yes]").wait_for()
        page.emulate_media(color_scheme="light")
        _save([page.screenshot()], "workbench-proposal")
    with _window(browser, entrance, "light", 390) as page:
        page.goto(f"{address}/review")
        page.locator(".queue").wait_for()
        review = page.screenshot()
        page.goto(f"{address}/pages/{front.key}")
        page.frame_locator("iframe").locator("h1").first.wait_for()
        page.wait_for_timeout(500)
        _save([review, page.screenshot()], "workbench-narrow")


@contextmanager
def _served(bench: Workbench) -> Iterator[str]:
    """The address of the running server, with its token."""
    started = threading.Event()
    found: list[str] = []

    def on_start(url: str) -> None:
        found.append(url)
        started.set()

    options = {"host": "127.0.0.1", "port": 0, "on_start": on_start}
    thread = threading.Thread(target=serve, args=(bench,), kwargs=options, daemon=True)
    thread.start()
    started.wait(60)
    yield found[0]


@contextmanager
def _window(browser: Browser, entrance: str, scheme: Any, width: int) -> Iterator[Page]:
    size: Any = {"width": width, "height": 844}
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    page.goto(entrance)
    yield page
    context.close()


def _top(page: Page, height: int) -> Any:
    return {"x": 0, "y": 0, "width": 1280, "height": height}


def _save(pictures: list[bytes], name: str) -> None:
    """The pictures side by side as one."""
    images = [Image.open(io.BytesIO(picture)) for picture in pictures]
    whole = Image.new("RGB", (sum(i.width for i in images), max(i.height for i in images)))
    left = 0
    for image in images:
        whole.paste(image, (left, 0))
        left += image.width
    target = io.BytesIO()
    whole.save(target, "PNG")
    path = FOLDER / f"{name}.png"
    path.write_bytes(compact(target.getvalue()))
    print(path)


if __name__ == "__main__":
    sys.exit(main())
