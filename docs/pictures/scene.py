"""What all pictures show: one article of the demo newspaper, and a method that learned the site."""

from __future__ import annotations

from html import escape

from lxml import etree, html

from example_project.demo import DemoSite
from noiseclean_scrapy.methods import Method, create_method
from noiseclean_scrapy.page import Page, build_page

GREEN, RED, GREY, INK, SOFT = "#1a7f37", "#cf222e", "#8b949e", "#1f2328", "#59636e"
PAGE_WIDTH = 960
SCALE = 0.6
FRAME_HEIGHT = 1388

# The whole page in one picture: nothing floats above it, and its photograph is lower.
_STYLE = """
html{overflow:hidden} .cookie{position:static!important} .site-footer{margin-top:10px!important}
figure img{height:135px;width:100%;object-fit:cover}
"""
_NOTES = """
addEventListener("load", () => {
  for (const part of document.querySelectorAll("[data-note]")) {
    const box = part.getBoundingClientRect(), note = document.createElement("div");
    note.textContent = part.dataset.note;
    note.style.cssText = "position:absolute;z-index:99;white-space:nowrap;border-radius:4px;" +
      "padding:1px 6px;color:#fff;font:600 15px/1.25 system-ui,sans-serif;background:" +
      part.dataset.colour;
    document.body.append(note);
    const left = Math.min(box.right, innerWidth - 4) - note.offsetWidth;
    note.style.left = Math.max(0, left) + "px";
    note.style.top = Math.max(0, box.top - (box.height < 60 ? 10 : 0)) + "px";
  }
});
"""


class Scene:
    """The demo newspaper, its pages as the methods see them, and the article in the pictures."""

    def __init__(self, site: DemoSite, url: str) -> None:
        self.url = url
        self.site = site
        self.article = next(page for page in site.pages.values() if page.template == "standard")
        self._pages = [build_page(page.html) for page in site.pages.values()]

    def learn(self, name: str) -> Method:
        """A method that has learned every page of the newspaper."""
        method = create_method(name)
        for page in self._pages:
            method.observe(page)
        return method

    def canvas(self) -> Canvas:
        """A fresh copy of the article to draw on."""
        return Canvas(self.article.html, self.url)


class Canvas:
    """The article as a document that outlines and notes are added to."""

    def __init__(self, source: str, url: str) -> None:
        self.root = html.document_fromstring(source)
        self.page: Page = build_page(self.root)
        self._url = url
        # Looked up before anything is drawn: drawing may add elements.
        self.elements = [
            self.root.xpath("".join(reversed([e.step for e in self.page.path(element.index)])))[0]
            for element in self.page.elements
        ]

    def style(self, element: int, declarations: str) -> None:
        """Add style declarations to an element of the page model."""
        node = self.elements[element]
        node.set("style", node.get("style", "") + ";" + declarations)

    def outline(self, element: int, colour: str, note: str = "", *, width: int = 2) -> None:
        """Outline and tint an element; the note stands in its upper right corner."""
        self.style(
            element,
            f"outline:{width}px solid {colour};outline-offset:1px;"
            f"box-shadow:inset 0 0 0 9999px {colour}1f",
        )
        if note:
            self.elements[element].set("data-note", note)
            self.elements[element].set("data-colour", colour)

    def frame(self, height: int = FRAME_HEIGHT) -> str:
        """The article as an inline frame of `height` pixels on the picture."""
        head = self.root.find("head")
        head.insert(0, html.Element("base", href=self._url))
        style = etree.SubElement(head, "style")
        style.text = _STYLE
        etree.SubElement(self.root.find("body"), "script").text = _NOTES
        source = html.tostring(self.root, encoding="unicode", doctype="<!doctype html>")
        return (
            f"<div class='frame' style='width:{PAGE_WIDTH * SCALE:.0f}px;height:{height}px'>"
            f"<iframe srcdoc='{escape(source)}' style='width:{PAGE_WIDTH}px;"
            f"height:{height / SCALE:.0f}px;transform:scale({SCALE})'></iframe></div>"
        )


def bar(value: float, colour: str, width: int = 90, mark: float | None = None) -> str:
    """A horizontal bar for a value in [0, 1], with a mark at a threshold."""
    tick = f"<b style='left:{mark * width:.0f}px'></b>" if mark is not None else ""
    filled = min(1.0, max(0.0, value)) * width
    return (
        f"<span class='bar' style='width:{width}px'>"
        f"<i style='width:{filled:.1f}px;background:{colour}'></i>{tick}</span>"
    )


def short_label(label: str, limit: int = 30) -> str:
    """An element's label as HTML, cut where it is long."""
    return escape(label if len(label) <= limit else label[: limit - 1] + "…")
