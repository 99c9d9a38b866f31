"""A real headless Chromium for tests, and everything that a document does in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.servers import Request, serving
from tests.support.services import give_up

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox"]
"""Without them Chromium does not start as root."""


@contextmanager
def open_browser() -> Iterator[Any]:
    """Headless Chromium."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        give_up("playwright is not installed: pip install -e '.[dev]'")
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    with sync_playwright() as playwright:
        try:
            chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:
            give_up(f"no Chromium: apt-get install chromium, or playwright install: {error}")
        yield chromium
        chromium.close()


@dataclass
class Tab:
    """A tab of the browser: what its document wrote to the console and what it asked for."""

    page: Any
    folder: Path
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def open(self, document: str) -> None:
        """Open a document from a file, as a user would."""
        file = self.folder / "report.html"
        file.write_text(document, encoding="utf-8")
        self.page.goto(file.as_uri())
        assert self.requests.pop(0) == file.as_uri()

    def dismiss(self, dialog: Any) -> None:
        """Remember what was asked."""
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def assert_quiet(self) -> None:
        """Nothing was complained about, nothing was asked for, nobody was asked."""
        assert (self.console, self.requests, self.dialogs) == ([], [], [])


@contextmanager
def opening(browser: Any, folder: Path) -> Iterator[Tab]:
    """An empty tab; `folder` is for the documents that it opens."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(60_000)
    tab = Tab(page, folder)
    page.on("console", lambda message: tab.console.append(message.text))
    page.on("pageerror", lambda error: tab.console.append(str(error)))
    page.on("request", lambda request: tab.requests.append(request.url))
    page.on("dialog", tab.dismiss)
    try:
        yield tab
    finally:
        page.close()


@contextmanager
def opened(browser: Any, document: str, folder: Path) -> Iterator[Tab]:
    """A tab with a document."""
    with opening(browser, folder) as tab:
        tab.open(document)
        yield tab


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the paths that it was asked for."""
    asked: list[str] = []

    def respond(request: Request) -> None:
        asked.append(request.path)
        request.send_response(204)
        request.end_headers()

    with serving(respond) as port:
        yield f"http://127.0.0.1:{port}", asked
