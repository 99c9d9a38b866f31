"""Draws the README's picture: an article of the demo newspaper, its blocks tinted by verdict.

python docs/make_picture.py     # needs Chromium on the PATH
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lxml import html

from example_project.demo import DemoServer, DemoSite
from noiseclean_scrapy import SiteCleaner

PICTURE = Path(__file__).parent / "images/verdicts.png"
SIZE = (1120, 1500)
TINTS = {True: "rgba(46,160,67,.25)", False: "rgba(218,54,51,.22)"}
LEGEND = (
    "<div style='position:fixed;right:24px;top:16px;z-index:9;background:#fff;padding:10px 16px;"
    "border:1px solid #999;border-radius:6px;font:16px sans-serif'>"
    "<span style='background:{kept}'>&nbsp;kept&nbsp;</span> &nbsp; "
    "<span style='background:{dropped}'>&nbsp;left out&nbsp;</span></div>"
)


def main() -> int:
    """Learn the demo newspaper, tint one article, and take its picture."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("Chromium is not on the PATH", file=sys.stderr)
        return 1
    site = DemoSite()
    cleaner = SiteCleaner()
    for page in site.pages.values():
        cleaner.observe(page.html)
    article = next(page for page in site.pages.values() if page.template == "standard")
    with DemoServer(site) as server, tempfile.TemporaryDirectory() as folder:
        tinted = Path(folder, "page.html")
        tinted.write_text(tint(article.html, cleaner, server.url), encoding="utf-8")
        PICTURE.parent.mkdir(exist_ok=True)
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={folder}/profile", f"--screenshot={PICTURE}"]
        command += [f"--window-size={SIZE[0]},{SIZE[1]}", tinted.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
    print(PICTURE)
    return 0


def tint(source: str, cleaner: SiteCleaner, base_url: str) -> str:
    """The page with a coloured background behind every text block."""
    root = html.document_fromstring(source)
    places = [(root.xpath(block.xpath)[0], block) for block in cleaner.clean(root).blocks]
    outer = {ancestor for element, _ in places for ancestor in element.iterancestors()}
    for element, block in places:
        if element not in outer:
            style = f"background:{TINTS[block.kept]} !important;"
            element.set("style", element.get("style", "") + ";" + style)
    root.find("head").insert(0, html.Element("base", href=base_url))
    legend = LEGEND.format(kept=TINTS[True], dropped=TINTS[False])
    root.find("body").append(html.fragment_fromstring(legend))
    return str(html.tostring(root, encoding="unicode", doctype="<!doctype html>"))


if __name__ == "__main__":
    sys.exit(main())
