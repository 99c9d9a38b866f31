"""The README's picture: an article of the demo newspaper, its blocks tinted by verdict."""

from __future__ import annotations

from lxml import html

from noiseclean_scrapy import SiteCleaner
from pictures.scene import Scene

HEIGHT = 1500
TINTS = {True: "rgba(46,160,67,.25)", False: "rgba(218,54,51,.22)"}
LEGEND = (
    "<div style='position:fixed;right:24px;top:16px;z-index:9;background:#fff;padding:10px 16px;"
    "border:1px solid #999;border-radius:6px;font:16px sans-serif'>"
    "<span style='background:{kept}'>&nbsp;kept&nbsp;</span> &nbsp; "
    "<span style='background:{dropped}'>&nbsp;left out&nbsp;</span></div>"
)


def draw(scene: Scene) -> str:
    """The article with a coloured background behind every text block."""
    cleaner = SiteCleaner()
    for page in scene.site.pages.values():
        cleaner.observe(page.html)
    root = html.document_fromstring(scene.article.html)
    places = [(root.xpath(block.xpath)[0], block) for block in cleaner.clean(root).blocks]
    outer = {ancestor for element, _ in places for ancestor in element.iterancestors()}
    for element, block in places:
        if element not in outer:
            style = f"background:{TINTS[block.kept]} !important;"
            element.set("style", element.get("style", "") + ";" + style)
    root.find("head").insert(0, html.Element("base", href=scene.url))
    legend = LEGEND.format(kept=TINTS[True], dropped=TINTS[False])
    root.find("body").append(html.fragment_fromstring(legend))
    return str(html.tostring(root, encoding="unicode", doctype="<!doctype html>"))
