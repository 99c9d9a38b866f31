"""An lxml element to a Page, in one pass without recursion."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from noiseclean_scrapy.page.labels import element_label
from noiseclean_scrapy.page.model import Element, Page, TextBlock
from noiseclean_scrapy.page.parse import Html, parse_html

if TYPE_CHECKING:
    from lxml.etree import _Element

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big blink br cite code data del dfn em font i img ins kbd label mark nobr "
    "picture q rb rp rt rtc ruby s samp small source span strike strong sub sup time tt u var wbr "
    "button input".split()
)
_SKIPPED = frozenset(
    "script style template noscript iframe noembed noframes object applet embed svg canvas audio "
    "video select textarea datalist head title meta link base param map area dialog".split()
)
_IMAGE_SOURCES = ("src", "data-src", "data-original")
_WHITE_SPACE = re.compile(r"[\s\u200b\ufeff]+")


def build_page(source: Html, *, url: str = "", text: str | None = None) -> Page:
    """The page model of `source`; see `parse_html` for what it may be and for `text`.

    Never raises on any input: what is not HTML gives a page without blocks or a best-effort one.
    """
    parsed = parse_html(source, text=text)
    root = parsed.root
    body = root if root.tag == "body" else root.find(".//body")
    if body is None:
        body = root
    page = _Builder(root, body, url, frozenset(_SKIPPED)).build()
    # Some forums and picture galleries keep all they have in NOSCRIPT, old pages in NOFRAMES.
    fallback = _Builder(root, body, url, _SKIPPED - {"noscript", "noframes"})
    if fallback.matters(len(page.text)):
        page = fallback.build()
    page.characters_lost = parsed.characters_lost
    return page


class _Builder:
    """The state of one pass over one document."""

    def __init__(self, root: _Element, body: _Element, url: str, skipped: frozenset[str]) -> None:
        self.body = body
        self.skipped = skipped
        self.page = Page(url, _title(root), _language(root), [], [])
        self.root = root
        self.open: list[int] = []  # indices of the open block-level elements
        self._reset()

    def matters(self, characters: int) -> bool:
        """Whether NOSCRIPT and NOFRAMES hold more text than the rest of the page."""
        nodes = self.root.iter("noscript", "noframes")
        return sum(len(" ".join("".join(n.itertext()).split())) for n in nodes) > characters

    def build(self) -> Page:
        blocks = self._block_level()
        walk = etree.iterwalk(self.body, events=("start", "end", "comment", "pi"))
        for event, node in walk:
            if event == "start":
                if node.tag in self.skipped:
                    walk.skip_subtree()
                    continue
                if node in blocks:
                    self._open_element(node)
                else:
                    self._inline(node)
                self._add(node.text)
            else:
                if event == "end" and node.tag not in self.skipped:
                    if node in blocks:
                        self._flush()
                        self.open.pop()
                    elif node.tag == "a":
                        self.anchor_depth = max(0, self.anchor_depth - 1)
                if node is not self.body:
                    self._add(node.tail)
        return self.page

    def _block_level(self) -> set[_Element]:
        """Elements that are block-level by tag or because they hold one that is."""
        blocks = {self.body}
        for node in reversed(list(self.body.iter(etree.Element))):
            if node in blocks or (node.tag not in _INLINE and node.tag not in self.skipped):
                blocks.add(node)
                parent = node.getparent()
                if parent is not None and node is not self.body:
                    blocks.add(parent)
        return blocks

    def _open_element(self, node: _Element) -> None:
        self._flush()
        index = len(self.page.elements)
        parent = self.open[-1] if self.open else -1
        step = self._step(node, parent)
        label = element_label(node.tag, node.attrib) if parent >= 0 else node.tag
        self.page.elements.append(Element(index, parent, node.tag, label, step))
        if parent >= 0:
            self.page.elements[parent].content.append(index)
        self.open.append(index)

    def _step(self, node: _Element, parent: int) -> str:
        if parent < 0:
            return node.getroottree().getpath(node)
        number = 1 + sum(1 for _ in node.itersiblings(node.tag, preceding=True))
        return f"/{node.tag}[{number}]"

    def _inline(self, node: _Element) -> None:
        if node.tag == "a":
            self.anchor_depth += 1
            if href := node.get("href"):
                self.links.append(href)
        elif node.tag == "img":
            for name in _IMAGE_SOURCES:
                if source := node.get(name):
                    self.images.append(source)
                    break
        elif node.tag == "br":
            if self.breaks:
                self._flush()
            else:
                self.pieces.append(" ")
                self.breaks = True

    def _add(self, text: str | None) -> None:
        if text:
            self.pieces.append(text)
            if not text.isspace():
                self.breaks = False
                if self.anchor_depth:
                    self.link_characters += len(_WHITE_SPACE.sub(" ", text).strip())

    def _flush(self) -> None:
        """End the current run of inline content."""
        text = _WHITE_SPACE.sub(" ", "".join(self.pieces)).strip()
        if (text or self.images) and self.open:
            index = len(self.page.blocks)
            element = self.page.elements[self.open[-1]]
            self.page.blocks.append(
                TextBlock(
                    index,
                    element.index,
                    text,
                    min(self.link_characters, len(text)),
                    tuple(self.images),
                    tuple(self.links),
                )
            )
            element.content.append(~index)
        depth = getattr(self, "anchor_depth", 0)
        self._reset()
        self.anchor_depth = depth

    def _reset(self) -> None:
        self.pieces: list[str] = []
        self.images: list[str] = []
        self.links: list[str] = []
        self.link_characters = 0
        self.anchor_depth = 0
        self.breaks = False


def _title(root: _Element) -> str:
    node = root.find(".//title")
    return " ".join("".join(node.itertext()).split()) if node is not None else ""


def _language(root: _Element) -> str:
    return (
        root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    ).strip()
