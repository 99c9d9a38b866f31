"""An lxml element to a Page, in one pass without recursion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from lxml import etree

from noiseclean_scrapy.page.labels import element_label
from noiseclean_scrapy.page.metadata import declared_body, description
from noiseclean_scrapy.page.model import Element, Page, TextBlock
from noiseclean_scrapy.page.parse import Html, inner_text, parse_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml.etree import _Element

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big blink br cite code data del dfn em font i img ins kbd label "
    "mark nobr picture q rb rp rt rtc ruby s samp small source span strike strong sub sup time tt "
    "u var wbr input".split()
)
_SKIPPED = frozenset(
    "script style template noscript iframe noembed noframes object applet embed svg canvas audio "
    "video select textarea datalist head title meta link base param map area dialog".split()
)
_IMAGE_SOURCES = ("src", "data-src", "data-original")
_LANGUAGE = ("lang", "xml:lang", "{http://www.w3.org/XML/1998/namespace}lang")
_ZERO_WIDTH = ("\u200b", "\ufeff")
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_XPATH_NAME = re.compile(r"[a-z_][\w-]*", re.IGNORECASE | re.ASCII)


def build_page(source: Html, *, url: str = "", text: str | None = None) -> Page:
    """The page model of `source`; see `parse_html` for what it may be and for `text`.

    Never raises on any input: what is not HTML gives a page without blocks or a best-effort one.

    >>> page = build_page("<title>News</title><h1>Flood</h1><p>The <a href=/r>river</a> rose.")
    >>> page.title, page.text
    ('News', 'Flood\\nThe river rose.')
    >>> page.xpath(page.blocks[1]), page.blocks[1].links
    ('/html[1]/body[1]/p[1]', ('/r',))
    """
    parsed = parse_html(source, text=text)
    page = _Builder(parsed.root, url, _SKIPPED).build()
    # Some forums and picture galleries keep all they have in NOSCRIPT.
    if _fallback_length(parsed.root) > len(page.text):
        page = _Builder(parsed.root, url, _SKIPPED - {"noscript"}).build()
    page.description = description(parsed.root)
    page.declared_body = declared_body(parsed.root)
    page.characters_lost = parsed.characters_lost
    return page


class _Builder:
    """The state of one pass over one document."""

    def __init__(self, root: _Element, url: str, skipped: frozenset[str]) -> None:
        self.root = root
        self.body = next(root.iter("{*}body"), root)
        self.skipped = skipped
        self.page = Page(url, _title(root), _language(root, self.body), [], [])
        self.breaks = False
        self.open: list[int] = []  # indices of the open block-level elements
        self.anchors: list[str] = []  # targets of the open anchors
        self.steps = {self.body: _path(self.body)}
        self._start_run()

    def build(self) -> Page:
        self._walk(self.body)
        if self.body is not self.root:
            self._add(self.body.tail)
        for step, part in _after_body(self.body, self.root):
            if step:
                self.steps[part] = step
                self._walk(part)
            self._add(part.tail)
        self._flush()
        return self.page

    def _walk(self, top: _Element) -> None:
        blocks = self._block_level(top)
        walk = etree.iterwalk(top, events=("start", "end", "comment", "pi"))
        for event, node in walk:
            if event == "start":
                if _name(node) in self.skipped and node is not self.body:
                    walk.skip_subtree()
                    continue
                if node in blocks:
                    self._open_element(node, blocks)
                self._open_inline(node)
                self._add(node.text)
                continue
            if event == "end" and (_name(node) not in self.skipped or node is self.body):
                self._close(node, node in blocks)
            if node is not top:
                self._add(node.tail)

    def _block_level(self, top: _Element) -> set[_Element]:
        """Elements that are block-level by tag or because they hold one that is."""
        blocks = {self.body}
        for node in reversed(list(top.iter(etree.Element))):
            name = _name(node)
            if node in blocks or (name not in _INLINE and name not in self.skipped):
                blocks.add(node)
                parent = node.getparent()
                if parent is not None and node is not top:
                    blocks.add(parent)
        return blocks

    def _open_element(self, node: _Element, blocks: set[_Element]) -> None:
        self._flush()
        index = len(self.page.elements)
        parent = self.open[-1] if self.open else -1
        name = _name(node)
        attributes = cast("Mapping[str, str]", node.attrib)
        label = name if node is self.body else element_label(name, attributes)
        element = Element(index, parent, name, label, self.steps.pop(node))
        element.hidden = _is_hidden(attributes)
        self.page.elements.append(element)
        if parent >= 0:
            self.page.elements[parent].content.append(index)
        self.open.append(index)
        self.steps.update(_child_steps(node, blocks))

    def _open_inline(self, node: _Element) -> None:
        name = _name(node)
        if name == "a":
            if href := node.get("href"):
                self.anchors.append(href)
                self.links.append(href)
        elif name == "img":
            self.images += [source for key in _IMAGE_SOURCES if (source := node.get(key))][:1]
        elif name == "br":
            if self.breaks:
                self._flush()
            else:
                self.pieces.append(" ")
                self.breaks = True

    def _close(self, node: _Element, block_level: bool) -> None:
        if block_level:
            self._flush()
            if node is not self.body:  # what the parser put after BODY still belongs to it
                self.open.pop()
        if _name(node) == "a" and node.get("href"):
            self.anchors.pop()
            if block_level:
                self._start_run()

    def _add(self, text: str | None) -> None:
        if text:
            self.pieces.append(text)
            if self.anchors:
                self.linked.append(text)
            if not text.isspace():
                self.breaks = False

    def _flush(self) -> None:
        """End the current run of inline content."""
        text = _collapse(self.pieces)
        if (text or self.images) and self.open:
            index = len(self.page.blocks)
            element = self.page.elements[self.open[-1]]
            linked = min(len(_collapse(self.linked)), len(text))
            images, links = tuple(self.images), tuple(self.links)
            self.page.blocks.append(TextBlock(index, element.index, text, linked, images, links))
            element.content.append(~index)
        self._start_run()

    def _start_run(self) -> None:
        self.pieces: list[str] = []
        self.linked: list[str] = []  # those of the pieces that are anchor text
        self.images: list[str] = []
        self.links = self.anchors[-1:]  # an anchor may span several runs
        self.breaks = False


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    style = attributes.get("style")
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(style and _HIDING.search(style))
    )


def _fallback_length(root: _Element) -> int:
    walk = etree.iterwalk(root, events=("start",), tag="noscript")
    length = 0
    for _, node in walk:
        length += len(_collapse([inner_text(node)]))
        walk.skip_subtree()
    return length


def _after_body(body: _Element, root: _Element) -> Iterator[tuple[str, _Element]]:
    """What the parser put behind BODY, and behind HTML on pages with end tags in excess.

    With each node comes its XPath seen from BODY, none with a comment.
    """
    climb = ""
    node = body
    while True:
        if node is root and node.getparent() is not None:  # the middle of a document
            return
        number = 0
        for sibling in node.itersiblings():
            if isinstance(sibling.tag, str):
                number += 1
                yield f"{climb}/following-sibling::*[{number}]", sibling
            else:
                yield "", sibling
        parent = node.getparent()
        if node is root or parent is None:
            return
        climb += "/.."
        node = parent


def _path(node: _Element) -> str:
    """Absolute XPath of an element."""
    steps = []
    for element in (node, *node.iterancestors()):
        test = _node_test(element)
        siblings = element.itersiblings(etree.Element if test == "*" else test, preceding=True)
        steps.append(f"/{test}[{1 + sum(1 for _ in siblings)}]")
    return "".join(reversed(steps))


def _child_steps(parent: _Element, wanted: set[_Element]) -> Iterator[tuple[_Element, str]]:
    """The last step of the XPath of each wanted child."""
    numbers: Counter[str] = Counter()
    for child in parent.iterchildren(etree.Element):
        test = _node_test(child)
        numbers["*"] += 1
        if test != "*":
            numbers[test] += 1
        if child in wanted:
            yield child, f"/{test}[{numbers[test]}]"


def _node_test(node: _Element) -> str:
    """The tag, or `*` where it cannot stand in an XPath: namespaces, `<o:p>`, broken names."""
    return node.tag if _XPATH_NAME.fullmatch(node.tag) else "*"


def _name(node: _Element) -> str:
    return node.tag.rpartition("}")[2]


def _collapse(pieces: Iterable[str]) -> str:
    text = "".join(pieces)
    for character in _ZERO_WIDTH:
        text = text.replace(character, " ")
    return " ".join(text.split())


def _title(root: _Element) -> str:
    node = root.find(".//{*}head/{*}title")
    if node is None:
        node = root.find(".//{*}title")  # of a page without HEAD; in SVG, where there is no other
    return _collapse([inner_text(node)]) if node is not None else ""


def _language(root: _Element, body: _Element) -> str:
    values = (node.get(name, "").strip() for node in (root, body) for name in _LANGUAGE)
    return next(filter(None, values), "")
