"""The README's picture: an article of the demo newspaper, its blocks tinted by verdict."""

from __future__ import annotations

from lxml import html

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.report.inert import VERDICT, mark
from pictures.scene import Scene

HEIGHT = 1500
STYLE = (
    f"[{VERDICT}=kept]{{background:#c8e6cf!important;outline:1px solid #2ea043}}"
    f"[{VERDICT}=dropped]{{background:#f6cfcd!important;outline:1px solid #da3633;"
    "color:#1f2328!important}"
    # It would stand before the text.
    ".cookie{position:static!important}"
    ".legend{padding:10px 20px;font:16px sans-serif;background:#fff;border-bottom:1px solid #999}"
    ".legend span{padding:2px 8px;margin-right:14px}"
)
LEGEND = (
    f"<div class='legend'><span {VERDICT}='kept'>kept</span>"
    f"<span {VERDICT}='dropped'>left out</span></div>"
)


def draw(scene: Scene) -> str:
    """The article with a coloured background behind every text block."""
    cleaner = SiteCleaner()
    for page in scene.site.pages.values():
        cleaner.observe(page.html)
    root = html.document_fromstring(scene.article.html)
    mark(root, cleaner.clean(root).blocks)
    style = html.Element("style")
    style.text = STYLE
    root.find("head").append(style)
    root.find("head").insert(0, html.Element("base", href=scene.url))
    root.find("body").insert(0, html.fragment_fromstring(LEGEND))
    return str(html.tostring(root, encoding="unicode", doctype="<!doctype html>"))
